// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of "verbs": what rdma-core's provider gets wrong in some of its versions, and
 * what its users get all the same.
 */
#include "verbs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* 44, and not 56 */
#ifdef HAVE_WR_FLUSH
#define OLD_PROVIDER	false
#else
#define OLD_PROVIDER	true
#endif

/* The QP of end_make() becomes one that ibv_wr_start() takes. */
static struct ibv_qp_ex *use_wr_builders(struct end *e, int sges, int inline_data)
{
	struct ibv_qp_init_attr_ex init = {
		.qp_type = IBV_QPT_RC, .sq_sig_all = 1,
		.send_cq = e->scq, .recv_cq = e->rcq, .pd = e->pd,
		.cap = { 64, 64, sges, sges, inline_data },
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_WRITE,
	};

	verb(ibv_destroy_qp(e->qp));
	e->qp = ibv_create_qp_ex(e->ctx, &init);
	need(e->qp);
	return ibv_qp_to_qp_ex(e->qp);
}

/* What has been received is the first @len bytes of the stream from 0 on, and no more. */
static void want_received(struct end *a, struct end *b, uint64_t id, size_t len)
{
	struct ibv_wc wc;
	size_t i;

	want_wc(a->scq, id, IBV_WC_SUCCESS);
	wc = wait_wc(b->rcq);
	need(wc.wr_id == id && wc.status == IBV_WC_SUCCESS);
	if (wc.byte_len != len)
		die("%u bytes came, not %zu", wc.byte_len, len);
	need(same(b->buf, len, 0));
	for (i = len; i < 65536; i++)
		need(b->buf[i] == GUARD);
}

static void builder_start(struct ibv_qp_ex *qpx, struct end *b, uint64_t id, unsigned int flags)
{
	memset(b->buf, GUARD, 65536);
	post_recv(b, id, 0, 65536);
	ibv_wr_start(qpx);
	qpx->wr_id = id;
	qpx->wr_flags = IBV_SEND_SIGNALED | flags;
	ibv_wr_send(qpx);
}

/* The length of a list of unequal SGEs is wrong in the element. */
static void test_sge_list(struct end *a, struct end *b, const char *arg)
{
	static const uint32_t lens[][4] = {
		{ 1, 5000, 300, 7 }, { 20000, 1, 1, 1 }, { 0, 100, 0, 4097 }, { 9, 9, 9, 9 },
	};
	const struct how how = { };
	struct ibv_qp_ex *qpx;
	struct ibv_sge sge[4];
	size_t i, j, len, at;

	(void)arg;
	end_make(a, &how);
	end_make(b, &how);
	qpx = use_wr_builders(a, 4, 0);
	pair_connect(a, b, &how);
	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		for (j = 0, len = 0, at = 100; j < 4; j++) {
			sge[j] = sge_at(a, at, lens[i][j]);
			fill(a->buf + at, lens[i][j], len);
			len += lens[i][j];
			at += lens[i][j] + 77;
		}
		builder_start(qpx, b, i, 0);
		ibv_wr_set_sge_list(qpx, 4, sge);
		verb(ibv_wr_complete(qpx));
		want_received(a, b, i, len);
	}
	pair_unmake(a, b);
}

/* Inline data needs no flag: the setter says it all (ibv_wr_post(3)). */
static void test_inline_setters(struct end *a, struct end *b, const char *arg)
{
	static const size_t sizes[] = { 0, 1, 100, 511, 512 };
	const struct how how = { };
	uint8_t data[512];
	struct ibv_data_buf list[3] = {
		{ data, 10 }, { data + 10, 1 }, { data + 11, 100 },
	};
	struct ibv_qp_ex *qpx;
	unsigned int flags;
	struct ibv_wc wc;
	size_t i;

	(void)arg;
	end_make(a, &how);
	end_make(b, &how);
	qpx = use_wr_builders(a, 1, sizeof(data));
	pair_connect(a, b, &how);
	for (i = 0; i < 2 * ARRAY_SIZE(sizes); i++) {
		flags = i % 2 ? IBV_SEND_INLINE : 0;
		printf("%zu bytes, flags %u\n", sizes[i / 2], flags);
		fill(data, sizeof(data), 0);
		builder_start(qpx, b, i, flags);
		ibv_wr_set_inline_data(qpx, data, sizes[i / 2]);
		memset(data, 0, sizeof(data));
		verb(ibv_wr_complete(qpx));
		want_received(a, b, i, sizes[i / 2]);
	}
	/* a list has no length in the element: nothing comes, or, with a provider that
	 * fills it in, all
	 */
	fill(data, sizeof(data), 0);
	builder_start(qpx, b, 100, IBV_SEND_INLINE);
	ibv_wr_set_inline_data_list(qpx, 3, list);
	verb(ibv_wr_complete(qpx));
	want_wc(a->scq, 100, IBV_WC_SUCCESS);
	wc = wait_wc(b->rcq);
	printf("%u bytes of a list\n", wc.byte_len);
	need(wc.wr_id == 100 && wc.status == IBV_WC_SUCCESS);
	need(wc.byte_len == 0 || wc.byte_len == 111);
	need(same(b->buf, wc.byte_len, 0) && b->buf[wc.byte_len] == GUARD);
	/* and the next one is as it should be */
	builder_start(qpx, b, 101, IBV_SEND_INLINE);
	ibv_wr_set_inline_data(qpx, data, 50);
	verb(ibv_wr_complete(qpx));
	want_received(a, b, 101, 50);
	pair_unmake(a, b);
}

/*
 * Two lengths whose sum is 16 in 32 bits: the provider takes them, and copies until it
 * leaves the ring. It hurts nobody but its own process.
 */
static void test_inline_wrap(struct end *a, struct end *b, const char *arg)
{
	const struct how how = { .inline_data = 64 };
	size_t half = 1UL << 31;
	int status;
	pid_t pid;

	(void)arg;
	/* before there are rings, which the child would not have */
	pid = fork();
	need(pid >= 0);
	if (!pid) {
		char name[2][12];
		struct end ea = { }, eb = { };
		struct ibv_sge sge[2];
		struct ibv_send_wr wr, *bad;
		void *from;
		int err;

		snprintf(name[0], sizeof(name[0]), "%d", a->gid_index);
		snprintf(name[1], sizeof(name[1]), "%d", b->gid_index);
		end_open(&ea, ibv_get_device_name(a->ctx->device), name[0]);
		end_open(&eb, ibv_get_device_name(b->ctx->device), name[1]);
		pair_make(&ea, &eb, &how);
		/* zeros, all of them one page */
		from = mmap(NULL, half + 16, PROT_READ,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		need(from != MAP_FAILED);
		sge[0] = (struct ibv_sge){ (uintptr_t)from, half, 0 };
		sge[1] = (struct ibv_sge){ (uintptr_t)from, half + 16, 0 };
		wr = send_wr(IBV_WR_SEND, 1, sge, 2, NULL, 0);
		wr.send_flags |= IBV_SEND_INLINE;
		err = ibv_post_send(ea.qp, &wr, &bad);
		printf("%s\n", err_name(err));
		_exit(err == EINVAL ? 0 : 1);
	}
	need(waitpid(pid, &status, 0) == pid);
	printf("status %x\n", status);
	need(WIFSIGNALED(status) ? WTERMSIG(status) == SIGSEGV || WTERMSIG(status) == SIGBUS :
	     WEXITSTATUS(status) == 0);
	pair_works(a, b, &how);
}

/*
 * rdma-core 44 goes one beyond the end of the CQ when ibv_next_poll() meets it, and its
 * user does not see the completion that comes there: but the CQ is not full, and all
 * that follow are seen.
 */
static void test_next_poll(struct end *a, struct end *b, const char *arg)
{
	struct ibv_cq_init_attr_ex attr = { .cqe = 15, .wc_flags = IBV_WC_EX_WITH_BYTE_LEN };
	struct ibv_qp_attr drain = { .qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1 };
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC, .sq_sig_all = 1, .cap = { 64, 64, 1, 1, 0 },
	};
	struct ibv_poll_cq_attr poll_attr = { };
	bool beyond = false;
	const struct how how = { };
	struct ibv_cq_ex *cq;
	uint64_t id, last = 0;
	int round, i, n, err;

	(void)arg;
	end_make(a, &how);
	end_make(b, &how);
	cq = ibv_create_cq_ex(a->ctx, &attr);
	need(cq);
	verb(ibv_destroy_qp(a->qp));
	init.send_cq = ibv_cq_ex_to_cq(cq);
	init.recv_cq = a->rcq;
	a->qp = ibv_create_qp(a->pd, &init);
	need(a->qp);
	pair_connect(a, b, &how);
	for (round = 0; round < 40; round++) {
		/* one, some, and as many as there is room for */
		n = round % 4 ? round % 4 : cq->cqe;
		for (i = 0; i < n; i++)
			post_send(a, IBV_WR_RDMA_WRITE, last + i, 0, 8, b);
		verb(ibv_modify_qp(a->qp, &drain, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY));
		want_event(a, IBV_EVENT_SQ_DRAINED);
		end_state(a, IBV_QPS_RTS);
		id = last + beyond;
		last += n;
		if (id == last) {	/* the one that is not seen */
			need(ibv_start_poll(cq, &poll_attr) == ENOENT);
			beyond = false;
			continue;
		}
		verb(ibv_start_poll(cq, &poll_attr));
		do {
			if (cq->wr_id != id || cq->status != IBV_WC_SUCCESS)
				die("round %d: %llu, %s, not %llu", round,
				    (unsigned long long)cq->wr_id, ibv_wc_status_str(cq->status),
				    (unsigned long long)id);
			id++;
		} while (!(err = ibv_next_poll(cq)));
		need(err == ENOENT && id == last);
		ibv_end_poll(cq);
		beyond = OLD_PROVIDER;
	}
	need(!poll_event(a, IBV_EVENT_CQ_ERR, 100));
	need(end_get_state(a) == IBV_QPS_RTS);
	verb(ibv_destroy_qp(a->qp));
	a->qp = NULL;
	verb(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)));
	pair_unmake(a, b);
}

const struct test provider_tests[] = {
	{ "sge_list", test_sge_list },
	{ "inline_setters", test_inline_setters },
	{ "inline_wrap", test_inline_wrap },
	{ "next_poll", test_next_poll },
	{ }
};
