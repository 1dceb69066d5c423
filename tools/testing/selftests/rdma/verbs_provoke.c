// SPDX-License-Identifier: GPL-2.0
/*
 * Parts of "verbs" for scripts that look at counters and tracepoints: one thing
 * goes wrong, once. Time-outs are so long that a slow machine sees no others.
 */
#include "verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LONG	22	/* 17 s: never, here */

static void make(struct end *a, struct end *b, const struct how *how)
{
	pair_make(a, b, how);
	printf("QPNs %u %u\n", a->qp->qp_num, b->qp->qp_num);
}

static void lose_peer(struct end *b)
{
	verb(ibv_destroy_qp(b->qp));
	b->qp = NULL;
}

static void provoke_sends(struct end *a, struct end *b)
{
	const struct how how = { .timeout = LONG };
	int i;

	make(a, b, &how);
	for (i = 0; i < 10; i++) {
		post_recv(b, i, 0, 100);
		post_send(a, IBV_WR_SEND, i, 0, 100, NULL);
		want_wc(a->scq, i, IBV_WC_SUCCESS);
		want_wc(b->rcq, i, IBV_WC_SUCCESS);
	}
}

static void provoke_rnr(struct end *a, struct end *b)
{
	const struct how how = { .timeout = LONG, .rnr_retry = NO_RETRY };

	make(a, b, &how);
	post_send(a, IBV_WR_SEND, 1, 0, 100, NULL);
	want_wc(a->scq, 1, IBV_WC_RNR_RETRY_EXC_ERR);
}

static void provoke_retries(struct end *a, struct end *b)
{
	const struct how how = { .timeout = 12, .retry = 2 };

	make(a, b, &how);
	lose_peer(b);
	post_send(a, IBV_WR_SEND, 1, 0, 100, NULL);
	want_wc(a->scq, 1, IBV_WC_RETRY_EXC_ERR);
}

static void provoke_send_key(struct end *a, struct end *b)
{
	const struct how how = { .timeout = LONG };
	struct ibv_send_wr wr;
	struct ibv_sge sge[2];

	make(a, b, &how);
	sge[0] = sge_at(a, 0, 8);
	sge[1] = sge_at(a, a->size - 8, 9);
	wr = send_wr(IBV_WR_RDMA_WRITE, 1, sge, 2, b, 0);
	printf("lkey 0x%x address 0x%llx\n", sge[1].lkey, (unsigned long long)sge[1].addr);
	post_wr(a, &wr);
	want_wc(a->scq, 1, IBV_WC_LOC_PROT_ERR);
}

/* Keys of a message of several packets are checked before it begins. */
static void provoke_read_key(struct end *a, struct end *b)
{
	const struct how how = { .timeout = LONG };
	struct ibv_send_wr wr;
	struct ibv_sge sge;

	make(a, b, &how);
	sge = sge_at(a, 0, 20000);
	sge.lkey ^= 0x100;
	wr = send_wr(IBV_WR_RDMA_READ, 1, &sge, 1, b, 0);
	printf("lkey 0x%x address 0x%llx\n", sge.lkey, (unsigned long long)sge.addr);
	post_wr(a, &wr);
	want_wc(a->scq, 1, IBV_WC_LOC_PROT_ERR);
}

static void provoke_recv_key(struct end *a, struct end *b)
{
	const struct how how = { .timeout = LONG, .mr_access = IBV_ACCESS_REMOTE_READ };

	make(a, b, &how);
	post_recv(b, 1, 0, 100);
	printf("lkey 0x%x address 0x%llx\n", b->mr->lkey, (unsigned long long)(uintptr_t)b->buf);
	post_send(a, IBV_WR_SEND, 2, 0, 100, NULL);
	want_wc(a->scq, 2, IBV_WC_REM_OP_ERR);
	want_wc(b->rcq, 1, IBV_WC_LOC_PROT_ERR);
}

static void provoke_remote_key(struct end *a, struct end *b)
{
	const struct how how = { .timeout = LONG, .mr_access = IBV_ACCESS_REMOTE_READ };

	make(a, b, &how);
	printf("rkey 0x%x address 0x%llx\n", b->mr->rkey, (unsigned long long)(uintptr_t)b->buf);
	post_send(a, IBV_WR_RDMA_WRITE, 1, 0, 100, b);
	want_wc(a->scq, 1, IBV_WC_REM_ACCESS_ERR);
}

static void provoke_short_receive(struct end *a, struct end *b)
{
	const struct how how = { .timeout = LONG };

	make(a, b, &how);
	post_recv(b, 1, 0, 99);
	post_send(a, IBV_WR_SEND, 2, 0, 100, NULL);
	want_wc(a->scq, 2, IBV_WC_REM_INV_REQ_ERR);
	want_wc(b->rcq, 1, IBV_WC_LOC_LEN_ERR);
}

static void provoke_opcode(struct end *a, struct end *b)
{
	const struct how how = { .type = IBV_QPT_UC };

	make(a, b, &how);
	post_send(a, IBV_WR_RDMA_READ, 7, 0, 100, b);
	want_wc(a->scq, 7, IBV_WC_LOC_QP_OP_ERR);
}

static void provoke_too_long(struct end *a, struct end *b)
{
	const struct how how = { .type = IBV_QPT_UD };
	struct ibv_send_wr wr;
	struct ibv_sge sge;

	make(a, b, &how);
	sge = sge_at(a, 0, 5000);
	wr = send_wr(IBV_WR_SEND, 8, &sge, 1, NULL, 0);
	wr.wr.ud.ah = end_ah(a, b);
	wr.wr.ud.remote_qpn = b->qp->qp_num;
	wr.wr.ud.remote_qkey = QKEY;
	post_wr(a, &wr);
	want_wc(a->scq, 8, IBV_WC_LOC_LEN_ERR);
	verb(ibv_destroy_ah(wr.wr.ud.ah));
}

static void provoke_full_cq(struct end *a, struct end *b)
{
	const struct how how = { .timeout = LONG, .cqe = 4 };
	int i;

	make(a, b, &how);
	printf("cqe %d\n", a->scq->cqe);
	for (i = 0; i <= a->scq->cqe; i++)
		post_send(a, IBV_WR_RDMA_WRITE, i, 0, 8, b);
	want_event(a, IBV_EVENT_QP_FATAL);
}

/* ARGUMENT: what.  Prints "QPNs", those of both ends, and what else the script may want. */
static void test_provoke(struct end *a, struct end *b, const char *arg)
{
	static const struct {
		const char	*name;
		void		(*run)(struct end *a, struct end *b);
	} cases[] = {
		{ "sends", provoke_sends },
		{ "rnr", provoke_rnr },
		{ "retries", provoke_retries },
		{ "send_key", provoke_send_key },
		{ "read_key", provoke_read_key },
		{ "recv_key", provoke_recv_key },
		{ "remote_key", provoke_remote_key },
		{ "short_receive", provoke_short_receive },
		{ "opcode", provoke_opcode },
		{ "too_long", provoke_too_long },
		{ "full_cq", provoke_full_cq },
	};
	size_t i;

	need(arg);
	for (i = 0; i < ARRAY_SIZE(cases) && strcmp(cases[i].name, arg); i++)
		;
	need(i < ARRAY_SIZE(cases));
	cases[i].run(a, b);
	pair_unmake(a, b);
}

/*
 * Sends one message again and again, as the peer receives none.  Prints "QPNs" and
 * "ready".
 */
static void test_hold_sender(struct end *a, struct end *b, const char *arg)
{
	const struct how how = { .timeout = LONG, .rnr_timer = 24 /* 41 ms */ };

	(void)arg;
	make(a, b, &how);
	post_send(a, IBV_WR_SEND, 1, 0, 100, NULL);
	puts("ready");
	pause();
}

/*
 * Pairs of QPs that wait for packets with PSN 0x123456, which others send to the
 * first one of each.  Prints "NAME QPN QPN" for each, and "ready".
 */
static void test_hold_pairs(struct end *a, struct end *b, const char *arg)
{
	static const struct {
		const char	*name;
		struct how	how;
	} pairs[] = {
		{ "RC", { .timeout = LONG } },
		{ "received", { .timeout = LONG } },		/* that PSN, before */
		{ "ahead", { .timeout = LONG, .psn = 0x123451 } },	/* a gap of five */
		{ "sent", { .timeout = LONG } },		/* that PSN, to nobody */
		{ "UC", { .type = IBV_QPT_UC } },
		{ "UD", { .type = IBV_QPT_UD } },
		{ "UD_short", { .type = IBV_QPT_UD } },		/* a receive of 60 bytes */
		{ "INIT", { .type = IBV_QPT_RC } },
	};
	size_t i;

	(void)arg;
	for (i = 0; i < ARRAY_SIZE(pairs); i++) {
		const char *name = pairs[i].name;
		struct end x = *a, y = *b;

		end_make(&x, &pairs[i].how);
		end_make(&y, &pairs[i].how);
		printf("%s %u %u\n", name, x.qp->qp_num, y.qp->qp_num);
		if (!strcmp(name, "INIT")) {
			end_init(&x);
			continue;
		}
		pair_connect(&x, &y, &pairs[i].how);
		if (!strcmp(name, "UD_short"))
			post_recv(&x, 1, 0, 60);
		if (!strcmp(name, "received")) {
			post_recv(&x, 1, 0, 100);
			post_send(&y, IBV_WR_SEND, 2, 0, 100, NULL);
			want_wc(y.scq, 2, IBV_WC_SUCCESS);
		}
		if (!strcmp(name, "sent")) {
			lose_peer(&y);
			post_send(&x, IBV_WR_SEND, 3, 0, 100, NULL);
		}
	}
	puts("ready");
	pause();
}

const struct test provoke_tests[] = {
	{ "provoke", test_provoke },
	{ "hold_sender", test_hold_sender },
	{ "hold_pairs", test_hold_pairs },
	{ }
};
