// SPDX-License-Identifier: GPL-2.0
/* Tests of "verbs": states and attributes of QPs. */
#include "verbs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* SQD: what is under way ends, nothing new begins until RTS. */
static void test_sqd(struct end *a, struct end *b, const char *arg)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1 };
	const struct how how = { };
	int i;

	(void)arg;
	pair_make(a, b, &how);
	for (i = 0; i < 8; i++)
		post_send(a, IBV_WR_RDMA_WRITE, i, 0, 100000, b);
	verb(ibv_modify_qp(a->qp, &attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY));
	want_event(a, IBV_EVENT_SQ_DRAINED);
	need(end_get_state(a) == IBV_QPS_SQD);

	memset(b->buf + 500000, 0, 100);
	memset(a->buf + 500000, 1, 100);
	post_send(a, IBV_WR_RDMA_WRITE, 8, 500000, 100, b);
	usleep(100000);
	if (b->buf[500000])
		die("a WR was executed in SQD");
	end_state(a, IBV_QPS_RTS);
	for (i = 0; i < 9; i++)
		want_wc(a->scq, i, IBV_WC_SUCCESS);
	need(b->buf[500000] == 1);
	/* it still receives in SQD, and still can be put into ERR */
	verb(ibv_modify_qp(a->qp, &attr, IBV_QP_STATE));
	post_recv(a, 20, 0, 10);
	post_send(b, IBV_WR_SEND, 21, 0, 10, NULL);
	want_wc(b->scq, 21, IBV_WC_SUCCESS);
	want_wc(a->rcq, 20, IBV_WC_SUCCESS);
	end_state(a, IBV_QPS_ERR);
	pair_unmake(a, b);
}

static void test_transitions(struct end *a, struct end *b, const char *arg)
{
	const struct how how = { };
	struct ibv_recv_wr recv = { .wr_id = 1 }, *bad_recv;
	struct ibv_send_wr wr = send_wr(IBV_WR_SEND, 1, NULL, 0, NULL, 0), *bad;
	struct ibv_qp_attr attr;

	(void)arg;
	end_make(a, &how);
	end_make(b, &how);
	need(end_get_state(a) == IBV_QPS_RESET);

	/* what needs a state before */
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS };
	need(ibv_modify_qp(a->qp, &attr, IBV_QP_STATE) == EINVAL);
	/* an attribute is missing */
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_INIT, .port_num = 1 };
	need(ibv_modify_qp(a->qp, &attr, IBV_QP_STATE | IBV_QP_PORT) == EINVAL);
	attr.port_num = 2;
	need(ibv_modify_qp(a->qp, &attr, IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX |
			   IBV_QP_ACCESS_FLAGS) == EINVAL);
	need(end_get_state(a) == IBV_QPS_RESET);

	end_init(a);
	end_init(b);
	need(end_get_state(a) == IBV_QPS_INIT);
	need(ibv_post_send(a->qp, &wr, &bad));
	verb(ibv_post_recv(b->qp, &recv, &bad_recv));

	end_rtr(a, b, &how);
	end_rtr(b, a, &how);
	need(end_get_state(a) == IBV_QPS_RTR);
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_SQD };
	need(ibv_modify_qp(a->qp, &attr, IBV_QP_STATE) == EINVAL);

	/* b, in RTR, answers */
	end_rts(a, &how);
	post_wr(a, &wr);
	want_wc(a->scq, 1, IBV_WC_SUCCESS);
	want_wc(b->rcq, 1, IBV_WC_SUCCESS);
	pair_unmake(a, b);
}

/* The same QP again, after RESET: nothing of the old connection is left. */
static void test_reset(struct end *a, struct end *b, const char *arg)
{
	struct how how = { };
	int i;

	(void)arg;
	pair_make(a, b, &how);
	for (i = 0; i < 5; i++) {
		post_recv(b, 1, 0, 10000);
		post_send(a, IBV_WR_SEND, 2, 0, 10000, NULL);
		want_wc(a->scq, 2, IBV_WC_SUCCESS);
		want_wc(b->rcq, 1, IBV_WC_SUCCESS);
		/* these are gone without a completion */
		post_recv(a, 50, 0, 100);
		post_send(a, IBV_WR_SEND, 51, 0, 100, NULL);
		if (i & 1)
			end_state(a, IBV_QPS_ERR);
		end_state(a, IBV_QPS_RESET);
		end_state(b, IBV_QPS_RESET);
		while (ibv_poll_cq(a->scq, 1, &(struct ibv_wc){}) ||
		       ibv_poll_cq(a->rcq, 1, &(struct ibv_wc){}))
			;
		need(end_get_state(a) == IBV_QPS_RESET);
		how.psn = 1000 * i + 1;
		pair_connect(a, b, &how);
	}
	no_wc(a->scq, 20);
	no_wc(b->rcq, 0);
	pair_unmake(a, b);
}

static void test_query(struct end *a, struct end *b, const char *arg)
{
	const struct how how = { .psn = 0x654321, .rd_atomic = 3, .timeout = 15, .retry = 5,
				 .rnr_retry = 4, .rnr_timer = 20 };
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	(void)arg;
	pair_make(a, b, &how);
	verb(ibv_query_qp(a->qp, &attr, 2 * IBV_QP_DEST_QPN - 1, &init));
	need(attr.qp_state == IBV_QPS_RTS && attr.cur_qp_state == IBV_QPS_RTS);
	need(attr.path_mtu == (a->mtu < b->mtu ? a->mtu : b->mtu));
	need(attr.dest_qp_num == b->qp->qp_num);
	need(attr.rq_psn == 0x654321 && attr.sq_psn == 0x654321);
	need(attr.max_rd_atomic == 3 && attr.max_dest_rd_atomic == 3);
	need(attr.timeout == 15 && attr.retry_cnt == 5);
	need(attr.rnr_retry == 4 && attr.min_rnr_timer == 20);
	need(attr.qp_access_flags == (IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE));
	need(attr.port_num == 1 && attr.pkey_index == 0);
	need(attr.ah_attr.is_global && attr.ah_attr.port_num == 1);
	need(!memcmp(&attr.ah_attr.grh.dgid, &b->gid, sizeof(b->gid)));
	need(attr.ah_attr.grh.sgid_index == a->gid_index);
	need(attr.ah_attr.grh.hop_limit == 64);
	need(attr.cap.max_send_wr >= 64 && attr.cap.max_recv_wr >= 64);
	need(init.qp_type == IBV_QPT_RC && init.sq_sig_all);
	pair_unmake(a, b);
}

/* ARGUMENT: how many at a time */
static void test_many(struct end *a, struct end *b, const char *arg)
{
	int n = arg ? atoi(arg) : 100, i, round;
	struct end *as = calloc(n, sizeof(*as)), *bs = calloc(n, sizeof(*bs));
	const struct how how = { .size = 8192, .depth = 4, .cqe = 4 };

	need(as && bs);
	for (round = 0; round < 2; round++) {
		for (i = 0; i < n; i++) {
			as[i] = *a;
			bs[i] = *b;
			pair_make(&as[i], &bs[i], &how);
			post_recv(&bs[i], i, 0, 8192);
			fill(as[i].buf, 8192, i);
		}
		for (i = 0; i < n; i++)
			post_send(&as[i], IBV_WR_SEND, i, 0, 8192, NULL);
		for (i = 0; i < n; i++) {
			want_wc(as[i].scq, i, IBV_WC_SUCCESS);
			want_wc(bs[i].rcq, i, IBV_WC_SUCCESS);
			need(same(bs[i].buf, 8192, i));
		}
		for (i = 0; i < n; i++)
			pair_unmake(&as[i], &bs[i]);
	}
	free(as);
	free(bs);
}

/* QPs go while messages are under way in both directions. */
static void test_destroy_busy(struct end *a, struct end *b, const char *arg)
{
	const struct how how = { .timeout = 10, .retry = 1 };
	int i, round;

	(void)arg;
	for (round = 0; round < 20; round++) {
		pair_make(a, b, &how);
		for (i = 0; i < 16; i++) {
			post_recv(b, i, 0, 100000);
			post_send(a, i & 1 ? IBV_WR_RDMA_READ : IBV_WR_SEND, i, 0, 100000,
				  i & 1 ? b : NULL);
			post_send(b, IBV_WR_RDMA_WRITE, i, 0, 100000, a);
		}
		usleep(round % 5 * 1000);
		if (round & 1) {
			verb(ibv_destroy_qp(b->qp));
			b->qp = NULL;
		}
		pair_unmake(a, b);
	}
}

const struct test qp_tests[] = {
	{ "sqd", test_sqd },
	{ "transitions", test_transitions },
	{ "reset", test_reset },
	{ "query", test_query },
	{ "many", test_many },
	{ "destroy_busy", test_destroy_busy },
	{ }
};
