// SPDX-License-Identifier: GPL-2.0
/* Tests of "verbs" in which something has to fail, in the right way. */
#include "verbs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool all_guard(const struct end *e)
{
	size_t i;

	for (i = 0; i < e->size; i++)
		if (e->buf[i] != GUARD)
			return false;
	return true;
}

/* After a fatal error: the rest is flushed, and the QP is in ERR. */
static void want_flushed(struct end *e, uint64_t id)
{
	post_send(e, IBV_WR_SEND, id, 0, 10, NULL);
	want_wc(e->scq, id, IBV_WC_WR_FLUSH_ERR);
	need(end_get_state(e) == IBV_QPS_ERR);
}

/* WRITE and READ of what the peer has not allowed */
static void test_remote_access(struct end *a, struct end *b, const char *arg)
{
	static const struct {
		const char	*name;
		int		access;		/* of the peer's MR */
		uint32_t	rkey_xor;
		uint64_t	offset;		/* of the remote address */
		uint32_t	len;
	} cases[] = {
		{ "bad rkey", IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE, 0x100, 0, 8 },
		{ "bad key part of the rkey", IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE,
		  0x1, 0, 8 },
		{ "no right", 0, 0, 0, 8 },
		{ "beyond the end", IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE, 0,
		  65536 - 4, 8 },
		{ "beyond the end, several packets",
		  IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE, 0, 65536 - 20000, 20001 },
		{ "before the start", IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE, 0, -4, 8 },
		{ "far away", IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE, 0, 1ULL << 40, 8 },
		{ "address that wraps", IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE, 0,
		  1, 20000 },
	};
	static const enum ibv_wr_opcode op[] = {
		IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ
	};
	size_t i, j;

	(void)arg;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		for (j = 0; j < ARRAY_SIZE(op); j++) {
			struct how how = { .size = 65536 };
			struct ibv_send_wr wr;
			struct ibv_sge sge;
			struct ibv_wc wc;
			static const char *const names[] = { "WRITE", "WRITE_IMM", "READ" };

			printf("%s, %s\n", cases[i].name, names[j]);
			how.mr_access = IBV_ACCESS_LOCAL_WRITE | cases[i].access;
			pair_make(a, b, &how);
			memset(a->buf, j == 2 ? GUARD : 1, a->size);
			memset(b->buf, j == 2 ? 1 : GUARD, b->size);
			post_recv(b, 5, 0, 10);
			sge = sge_at(a, 0, cases[i].len);
			wr = send_wr(op[j], 1, &sge, 1, b, cases[i].offset);
			wr.wr.rdma.rkey ^= cases[i].rkey_xor;
			if (!strcmp(cases[i].name, "address that wraps"))
				wr.wr.rdma.remote_addr = -8ULL;
			post_wr(a, &wr);
			want_wc(a->scq, 1, IBV_WC_REM_ACCESS_ERR);
			want_flushed(a, 2);
			want_event(b, IBV_EVENT_QP_ACCESS_ERR);
			need(end_get_state(b) == IBV_QPS_ERR);
			/* an immediate may have taken it before the error */
			wc = wait_wc(b->rcq);
			need(wc.wr_id == 5 && wc.status != IBV_WC_SUCCESS);
			need(j == 1 || wc.status == IBV_WC_WR_FLUSH_ERR);
			if (!all_guard(j == 2 ? a : b))
				die("memory was changed");
			pair_unmake(a, b);
		}
	}
}

/* A QP without the right, on an MR that has it */
static void test_qp_access(struct end *a, struct end *b, const char *arg)
{
	const struct how how = { .size = 65536 };
	struct ibv_qp_attr attr = { .qp_access_flags = 0 };
	struct ibv_wc wc;

	(void)arg;
	pair_make(a, b, &how);
	verb(ibv_modify_qp(b->qp, &attr, IBV_QP_ACCESS_FLAGS));
	memset(b->buf, GUARD, b->size);
	post_send(a, IBV_WR_RDMA_WRITE, 1, 0, 10, b);
	/* what the QP does not allow is an invalid request, or as if the MR did not */
	wc = wait_wc(a->scq);
	need(wc.status == IBV_WC_REM_INV_REQ_ERR || wc.status == IBV_WC_REM_ACCESS_ERR);
	need(all_guard(b));
	pair_unmake(a, b);
}

static void test_short_receive(struct end *a, struct end *b, const char *arg)
{
	static const size_t lens[] = { 101, 5000, 50000 };
	const struct how how = { .size = 65536 };
	size_t i;

	(void)arg;
	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		printf("%zu bytes for 100\n", lens[i]);
		pair_make(a, b, &how);
		memset(b->buf, GUARD, b->size);
		post_recv(b, 1, 0, 100);
		post_recv(b, 2, 0, 100);
		post_send(a, IBV_WR_SEND, 3, 0, lens[i], NULL);
		want_wc(a->scq, 3, IBV_WC_REM_INV_REQ_ERR);
		want_wc(b->rcq, 1, IBV_WC_LOC_LEN_ERR);
		want_wc(b->rcq, 2, IBV_WC_WR_FLUSH_ERR);
		want_flushed(a, 4);
		memset(b->buf, GUARD, 100);
		need(all_guard(b));
		pair_unmake(a, b);
	}
}

static void test_local_protection(struct end *a, struct end *b, const char *arg)
{
	const struct how how = { .size = 65536 };
	static const enum ibv_wr_opcode op[] = {
		IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ
	};
	struct ibv_recv_wr recv, *bad;
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	size_t i;

	(void)arg;
	for (i = 0; i < 2 * ARRAY_SIZE(op); i++) {
		printf("requester, operation %d, %s\n", op[i / 2], i % 2 ? "beyond the MR" : "bad lkey");
		pair_make(a, b, &how);
		memset(b->buf, GUARD, b->size);
		post_recv(b, 1, 0, 10000);
		sge = sge_at(a, i % 2 ? a->size - 99 : 0, 100);
		if (i % 2 == 0)
			sge.lkey ^= 0x100;
		wr = send_wr(op[i / 2], 2, &sge, 1, b, 0);
		post_wr(a, &wr);
		want_wc(a->scq, 2, IBV_WC_LOC_PROT_ERR);
		want_flushed(a, 3);
		need(all_guard(b));
		pair_unmake(a, b);
	}

	for (i = 0; i < 2; i++) {
		printf("responder, %s\n", i % 2 ? "beyond the MR" : "bad lkey");
		pair_make(a, b, &how);
		memset(b->buf, GUARD, b->size);
		sge = sge_at(b, i ? b->size - 99 : 0, 100);
		if (!i)
			sge.lkey ^= 0x100;
		recv = (struct ibv_recv_wr){ .wr_id = 1, .sg_list = &sge, .num_sge = 1 };
		verb(ibv_post_recv(b->qp, &recv, &bad));
		post_send(a, IBV_WR_SEND, 2, 0, 100, NULL);
		want_wc(a->scq, 2, IBV_WC_REM_OP_ERR);
		want_wc(b->rcq, 1, IBV_WC_LOC_PROT_ERR);
		need(all_guard(b));
		pair_unmake(a, b);
	}
}

/* To a datagram QP with an AH, to others without. */
static void send_by(struct end *a, const struct end *b, struct ibv_ah *ah,
		    enum ibv_wr_opcode op, unsigned int flags, uint64_t id, struct ibv_sge sge)
{
	struct ibv_send_wr wr = send_wr(op, id, &sge, 1, b, 0);

	wr.send_flags |= flags;
	if (op == IBV_WR_ATOMIC_CMP_AND_SWP || op == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = (uintptr_t)b->buf;
		wr.wr.atomic.rkey = b->mr->rkey;
	}
	if (ah && op == IBV_WR_SEND) {
		wr.wr.ud.ah = ah;
		wr.wr.ud.remote_qpn = b->qp->qp_num;
		wr.wr.ud.remote_qkey = QKEY;
	}
	post_wr(a, &wr);
}

static void message_passes(struct end *a, struct end *b, struct ibv_ah *ah, uint64_t id)
{
	size_t grh = ah ? GRH : 0;

	fill(a->buf, 100, id);
	post_recv(b, id, 1000, 100 + grh);
	send_by(a, b, ah, IBV_WR_SEND, 0, id, sge_at(a, 0, 100));
	want_wc(a->scq, id, IBV_WC_SUCCESS);
	want_wc(b->rcq, id, IBV_WC_SUCCESS);
	need(same(b->buf + 1000 + grh, 100, id));
	memset(b->buf, GUARD, b->size);
}

/*
 * What a send queue cannot do ends it: RC in ERR; UC and UD in SQE, where they still
 * receive, and from where they come back.
 */
static void sq_fails(struct end *a, struct end *b, enum ibv_qp_type type,
		     enum ibv_wr_opcode op, unsigned int flags, enum ibv_wc_status status)
{
	const struct how how = { .type = type, .size = 65536, .inline_data = 64 };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS, .cur_qp_state = IBV_QPS_SQE };
	struct ibv_ah *to_b = NULL, *to_a = NULL;
	struct ibv_sge sge;

	pair_make(a, b, &how);
	if (type == IBV_QPT_UD) {
		to_b = end_ah(a, b);
		to_a = end_ah(b, a);
	}
	sge = sge_at(a, 0, status == IBV_WC_LOC_LEN_ERR ? 10000 : 8);
	if (status == IBV_WC_LOC_PROT_ERR)
		sge.lkey ^= 0x100;
	memset(b->buf, GUARD, b->size);
	message_passes(a, b, to_b, 1);
	post_recv(b, 10, 0, 100);
	send_by(a, b, to_b, op, flags, 2, sge);
	send_by(a, b, to_b, IBV_WR_SEND, 0, 3, sge_at(a, 0, 8));
	want_wc(a->scq, 2, status);
	want_wc(a->scq, 3, IBV_WC_WR_FLUSH_ERR);
	need(end_get_state(a) == (type == IBV_QPT_RC ? IBV_QPS_ERR : IBV_QPS_SQE));
	need(all_guard(b));
	if (type != IBV_QPT_RC) {
		memset(a->buf, GUARD, a->size);
		message_passes(b, a, to_a, 4);
		send_by(a, b, to_b, IBV_WR_SEND, 0, 5, sge_at(a, 0, 8));
		want_wc(a->scq, 5, IBV_WC_WR_FLUSH_ERR);
		need(end_get_state(a) == IBV_QPS_SQE);
		verb(ibv_modify_qp(a->qp, &attr, IBV_QP_STATE | IBV_QP_CUR_STATE));
		need(end_get_state(a) == IBV_QPS_RTS);
		/* the receive that nothing has come for */
		send_by(a, b, to_b, IBV_WR_SEND, 0, 6, sge_at(a, 0, 8));
		want_wc(a->scq, 6, IBV_WC_SUCCESS);
		want_wc(b->rcq, 10, IBV_WC_SUCCESS);
		message_passes(a, b, to_b, 7);
	}
	need(end_get_state(b) == IBV_QPS_RTS);
	no_wc(b->rcq, 0);
	if (to_b)
		verb(ibv_destroy_ah(to_b));
	if (to_a)
		verb(ibv_destroy_ah(to_a));
	pair_unmake(a, b);
}

/* A QP that may have no READ under way can have none at all: it fails, and does not wait. */
static void test_no_reads(struct end *a, struct end *b, const char *arg)
{
	static const enum ibv_wr_opcode ops[] = { IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD };
	const struct how how = { .rd_atomic = NO_READS };
	size_t i;

	(void)arg;
	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		pair_make(a, b, &how);
		post_send(a, IBV_WR_RDMA_WRITE, 1, 0, 100, b);
		post_send(a, ops[i], 2, 0, 8, b);
		want_wc(a->scq, 1, IBV_WC_SUCCESS);
		want_wc(a->scq, 2, IBV_WC_LOC_QP_OP_ERR);
		need(end_get_state(a) == IBV_QPS_ERR);
		pair_unmake(a, b);
	}
}

/* What a QP of that type does not do, where the library lets it through. */
static void test_wrong_operation(struct end *a, struct end *b, const char *arg)
{
	static const struct {
		enum ibv_qp_type	type;
		enum ibv_wr_opcode	op;
		unsigned int		flags;
	} cases[] = {
		{ IBV_QPT_RC, IBV_WR_TSO, 0 },
		{ IBV_QPT_RC, IBV_WR_DRIVER1, 0 },
		{ IBV_QPT_RC, 99, 0 },
		{ IBV_QPT_RC, IBV_WR_RDMA_READ, IBV_SEND_INLINE },
		{ IBV_QPT_RC, IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_SEND_INLINE },
		{ IBV_QPT_UC, IBV_WR_RDMA_READ, 0 },
		{ IBV_QPT_UC, IBV_WR_ATOMIC_CMP_AND_SWP, 0 },
		{ IBV_QPT_UC, IBV_WR_ATOMIC_FETCH_AND_ADD, 0 },
		{ IBV_QPT_UC, IBV_WR_SEND_WITH_INV, 0 },
		{ IBV_QPT_UC, IBV_WR_TSO, 0 },
		{ IBV_QPT_UD, IBV_WR_RDMA_WRITE, 0 },
		{ IBV_QPT_UD, IBV_WR_RDMA_WRITE, IBV_SEND_INLINE },
		{ IBV_QPT_UD, IBV_WR_RDMA_WRITE_WITH_IMM, 0 },
		{ IBV_QPT_UD, IBV_WR_RDMA_READ, 0 },
		{ IBV_QPT_UD, IBV_WR_ATOMIC_CMP_AND_SWP, 0 },
		{ IBV_QPT_UD, IBV_WR_ATOMIC_FETCH_AND_ADD, 0 },
		{ IBV_QPT_UD, IBV_WR_SEND_WITH_INV, 0 },
		{ IBV_QPT_UD, IBV_WR_LOCAL_INV, 0 },
		{ IBV_QPT_UD, IBV_WR_TSO, 0 },
	};
	size_t i;

	(void)arg;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		printf("QP type %d, operation %d, flags %#x\n", cases[i].type, cases[i].op,
		       cases[i].flags);
		sq_fails(a, b, cases[i].type, cases[i].op, cases[i].flags, IBV_WC_LOC_QP_OP_ERR);
	}
}

static void test_sqe(struct end *a, struct end *b, const char *arg)
{
	(void)arg;
	puts("UC, bad lkey");
	sq_fails(a, b, IBV_QPT_UC, IBV_WR_RDMA_WRITE, 0, IBV_WC_LOC_PROT_ERR);
	puts("UD, bad lkey");
	sq_fails(a, b, IBV_QPT_UD, IBV_WR_SEND, 0, IBV_WC_LOC_PROT_ERR);
	puts("UD, longer than the MTU");
	sq_fails(a, b, IBV_QPT_UD, IBV_WR_SEND, 0, IBV_WC_LOC_LEN_ERR);
}

/* A message has 2^31 bytes at most. */
static void test_too_long(struct end *a, struct end *b, const char *arg)
{
	static const enum ibv_wr_opcode op[] = {
		IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ
	};
	const struct how how = { .size = 65536 };
	uint32_t more;
	size_t i;

	(void)arg;
	for (i = 0; i < 2 * ARRAY_SIZE(op); i++) {
		more = i % 2;
		printf("operation %d, 2^31 + %u bytes\n", op[i / 2], more);
		pair_make(a, b, &how);
		memset(b->buf, GUARD, b->size);
		struct ibv_sge sge[3] = {
			{ (uintptr_t)a->buf, 1U << 30, a->mr->lkey },
			{ (uintptr_t)a->buf, 1U << 30, a->mr->lkey },
			{ (uintptr_t)a->buf, more, a->mr->lkey },
		};
		struct ibv_send_wr wr = send_wr(op[i / 2], 1, sge, 2 + more, b, 0);

		post_recv(b, 2, 0, 100);
		post_wr(a, &wr);
		/* the longest gets as far as the check of its memory */
		want_wc(a->scq, 1, more ? IBV_WC_LOC_LEN_ERR : IBV_WC_LOC_PROT_ERR);
		want_flushed(a, 3);
		need(all_guard(b));
		pair_unmake(a, b);
	}
}

/* The MR goes between two accesses. */
static void test_deregistered(struct end *a, struct end *b, const char *arg)
{
	const struct how how = { };
	struct ibv_send_wr wr;
	struct ibv_sge sge;

	(void)arg;
	pair_make(a, b, &how);
	post_send(a, IBV_WR_RDMA_WRITE, 1, 0, 10, b);
	want_wc(a->scq, 1, IBV_WC_SUCCESS);
	sge = sge_at(a, 0, 10);
	wr = send_wr(IBV_WR_RDMA_WRITE, 2, &sge, 1, b, 0);
	verb(ibv_dereg_mr(b->mr));
	post_wr(a, &wr);
	want_wc(a->scq, 2, IBV_WC_REM_ACCESS_ERR);
	b->mr = ibv_reg_mr(b->pd, b->buf, b->size, 0);
	need(b->mr);
	pair_unmake(a, b);
}

static void test_rnr_exceeded(struct end *a, struct end *b, const char *arg)
{
	static const int retries[] = { NO_RETRY, 1, 6 };
	double start;
	size_t i;

	(void)arg;
	for (i = 0; i < ARRAY_SIZE(retries); i++) {
		struct how how = { .rnr_retry = retries[i], .rnr_timer = 12 };

		printf("rnr_retry %d\n", retries[i] == NO_RETRY ? 0 : retries[i]);
		pair_make(a, b, &how);
		start = seconds();
		post_send(a, IBV_WR_SEND, 1, 0, 10000, NULL);
		post_send(a, IBV_WR_SEND, 2, 0, 10, NULL);
		want_wc(a->scq, 1, IBV_WC_RNR_RETRY_EXC_ERR);
		need(seconds() - start < 5);
		want_wc(a->scq, 2, IBV_WC_WR_FLUSH_ERR);
		want_flushed(a, 3);
		/* the responder is not affected */
		need(end_get_state(b) == IBV_QPS_RTS);
		pair_unmake(a, b);
	}
}

/* rnr_retry 7 is for ever. */
static void test_rnr_recovers(struct end *a, struct end *b, const char *arg)
{
	const struct how how = { .rnr_timer = 8 };
	int i;

	(void)arg;
	pair_make(a, b, &how);
	for (i = 0; i < 3; i++) {
		fill(a->buf, 20000, i);
		memset(b->buf, 0, 20000);
		post_send(a, IBV_WR_SEND, i, 0, 20000, NULL);
		no_wc(a->scq, 200);
		post_recv(b, i, 0, 20000);
		want_wc(a->scq, i, IBV_WC_SUCCESS);
		want_wc(b->rcq, i, IBV_WC_SUCCESS);
		need(same(b->buf, 20000, i));
	}
	pair_unmake(a, b);
}

/* The peer's QP is gone: an error in bounded time. */
static void test_peer_gone(struct end *a, struct end *b, const char *arg)
{
	/* 4.096 us << 12 = 17 ms, up to four times that, and 3 retries */
	const struct how how = { .timeout = 12, .retry = 3 };
	double start, took;
	int op;

	(void)arg;
	for (op = 0; op < 2; op++) {
		pair_make(a, b, &how);
		verb(ibv_destroy_qp(b->qp));
		b->qp = NULL;
		start = seconds();
		post_send(a, op ? IBV_WR_RDMA_READ : IBV_WR_SEND, 1, 0, 10000, op ? b : NULL);
		post_send(a, IBV_WR_SEND, 2, 0, 10, NULL);
		want_wc(a->scq, 1, IBV_WC_RETRY_EXC_ERR);
		took = seconds() - start;
		want_wc(a->scq, 2, IBV_WC_WR_FLUSH_ERR);
		want_flushed(a, 3);
		printf("%.0f ms\n", took * 1000);
		/* not before the first time-out and the retries, nor much later */
		need(took > 0.017 * 3 && took < 5);
		pair_unmake(a, b);
	}
}

/* Each WR is flushed, once, in order. */
static void test_flush(struct end *a, struct end *b, const char *arg)
{
	const struct how how = { };
	int i;

	(void)arg;
	pair_make(a, b, &how);
	for (i = 0; i < 20; i++)
		post_recv(a, 100 + i, 0, 10);
	/* no receive at the peer, so these wait */
	for (i = 0; i < 20; i++)
		post_send(a, IBV_WR_SEND, i, 0, 3000, NULL);
	no_wc(a->scq, 20);
	end_state(a, IBV_QPS_ERR);
	for (i = 0; i < 20; i++) {
		want_wc(a->scq, i, IBV_WC_WR_FLUSH_ERR);
		want_wc(a->rcq, 100 + i, IBV_WC_WR_FLUSH_ERR);
	}
	/* and what is sent later; a later receive waits for nobody knows what */
	want_flushed(a, 50);
	no_wc(a->scq, 20);
	no_wc(a->rcq, 0);
	pair_unmake(a, b);
}

/* ERR in the middle of messages: each receive completes once. */
static void test_error_in_message(struct end *a, struct end *b, const char *arg)
{
	struct how how = { .size = 4 << 20, .timeout = 12, .retry = 2 };
	bool seen[10], sent[10];
	struct ibv_wc wc;
	int i, round;

	(void)arg;
	for (round = 0; round < 5; round++) {
		memset(seen, 0, sizeof(seen));
		memset(sent, 0, sizeof(sent));
		pair_make(a, b, &how);
		for (i = 0; i < 10; i++)
			post_recv(b, i, 0, b->size);
		for (i = 0; i < 10; i++)
			post_send(a, IBV_WR_SEND, i, 0, 1000000, NULL);
		usleep(round * 7000);
		end_state(b, IBV_QPS_ERR);
		for (i = 0; i < 10; i++) {
			wc = wait_wc(b->rcq);
			need(wc.wr_id < 10 && !seen[wc.wr_id]);
			need(wc.wr_id == (uint64_t)i);
			seen[wc.wr_id] = true;
		}
		for (i = 0; i < 10; i++) {
			wc = wait_wc(a->scq);
			need(wc.wr_id < 10 && !sent[wc.wr_id]);
			sent[wc.wr_id] = true;
		}
		no_wc(b->rcq, 10);
		no_wc(a->scq, 0);
		pair_unmake(a, b);
	}
}

/* More completions than the CQ holds: an event, and no corruption. */
static void test_cq_overflow(struct end *a, struct end *b, const char *arg)
{
	struct how how = { .cqe = 4, .depth = 512 };
	struct ibv_wc wc;
	int i, n = 0, cqe;

	(void)arg;
	pair_make(a, b, &how);
	cqe = a->scq->cqe;
	printf("a CQ of %d entries\n", cqe);
	need(cqe >= 4 && cqe < 400);
	for (i = 0; i < cqe + 20; i++)
		post_send(a, IBV_WR_RDMA_WRITE, i, 0, 8, b);
	want_event(a, IBV_EVENT_CQ_ERR);
	while (n <= 512 && ibv_poll_cq(a->scq, 1, &wc) > 0) {
		/* what is there is intact */
		need(wc.wr_id == (uint64_t)n || wc.status != IBV_WC_SUCCESS);
		n++;
	}
	printf("%d completions\n", n);
	need(n <= cqe);
	pair_unmake(a, b);
}

/* What query_device promises holds, and no more than that is given. */
static void test_limits(struct end *a, struct end *b, const char *arg)
{
	struct ibv_device_attr attr;
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC };
	struct ibv_pd *pd = ibv_alloc_pd(a->ctx);
	struct ibv_cq *cq, *other;
	struct ibv_qp *qp;
	int i;

	(void)b;
	(void)arg;
	verb(ibv_query_device(a->ctx, &attr));
	cq = ibv_create_cq(a->ctx, attr.max_cqe, NULL, NULL, 0);
	need(pd && cq);
	need(cq->cqe >= attr.max_cqe);
	other = ibv_create_cq(a->ctx, attr.max_cqe + 1, NULL, NULL, 0);
	need(!other);
	need(!ibv_create_cq(a->ctx, 0, NULL, NULL, 0));

	init.send_cq = init.recv_cq = cq;
	for (i = 0; i < 9; i++) {
		init.cap = (struct ibv_qp_cap){
			.max_send_wr = 16, .max_recv_wr = 16,
			.max_send_sge = attr.max_sge, .max_recv_sge = attr.max_sge,
		};
		switch (i) {
		case 1:
			init.cap.max_send_sge++;
			break;
		case 2:
			init.cap.max_recv_sge++;
			break;
		case 3:
			init.cap.max_send_wr = attr.max_qp_wr + 1;
			break;
		case 4:
			init.cap.max_recv_wr = attr.max_qp_wr + 1;
			break;
		case 5:
			init.cap.max_send_wr = -1;
			break;
		case 6:
			init.cap.max_recv_sge = -1;
			break;
		case 7:
			init.cap.max_inline_data = -1;
			break;
		case 8:
			init.cap.max_send_wr = attr.max_qp_wr;
			init.cap.max_send_sge = 1;
			break;
		}
		qp = ibv_create_qp(pd, &init);
		if (i == 0 || i == 8) {
			if (!qp)
				die("case %d: %s", i, strerror(errno));
			need(init.cap.max_send_wr >= (i ? (uint32_t)attr.max_qp_wr : 16));
			verb(ibv_destroy_qp(qp));
		} else if (qp) {
			die("case %d: more than the limit was given", i);
		}
	}
	verb(ibv_destroy_cq(cq));
	verb(ibv_dealloc_pd(pd));
}

static void test_bad_mr(struct end *a, struct end *b, const char *arg)
{
	struct ibv_pd *pd = ibv_alloc_pd(a->ctx);
	struct ibv_mr *mr;
	static char buf[100];

	(void)b;
	(void)arg;
	need(pd);
	/* not mapped; wraps; not an address of a process; remote write without local write */
	need(!ibv_reg_mr(pd, (void *)0x1000, 4096, IBV_ACCESS_LOCAL_WRITE));
	need(!ibv_reg_mr(pd, (void *)-4096L, 8192, IBV_ACCESS_LOCAL_WRITE));
	need(!ibv_reg_mr(pd, (void *)(1L << 62), 4096, IBV_ACCESS_LOCAL_WRITE));
	need(!ibv_reg_mr(pd, buf, 1UL << 60, IBV_ACCESS_LOCAL_WRITE));
	need(!ibv_reg_mr(pd, buf, sizeof(buf), IBV_ACCESS_REMOTE_WRITE));
	mr = ibv_reg_mr(pd, buf + 1, 1, IBV_ACCESS_LOCAL_WRITE);
	need(mr);
	/* a PD in use stays */
	need(ibv_dealloc_pd(pd));
	verb(ibv_dereg_mr(mr));
	verb(ibv_dealloc_pd(pd));
}

const struct test error_tests[] = {
	{ "remote_access", test_remote_access },
	{ "qp_access", test_qp_access },
	{ "short_receive", test_short_receive },
	{ "local_protection", test_local_protection },
	{ "no_reads", test_no_reads },
	{ "wrong_operation", test_wrong_operation },
	{ "sqe", test_sqe },
	{ "too_long", test_too_long },
	{ "deregistered", test_deregistered },
	{ "rnr_exceeded", test_rnr_exceeded },
	{ "rnr_recovers", test_rnr_recovers },
	{ "peer_gone", test_peer_gone },
	{ "flush", test_flush },
	{ "error_in_message", test_error_in_message },
	{ "cq_overflow", test_cq_overflow },
	{ "limits", test_limits, true },
	{ "bad_mr", test_bad_mr, true },
	{ }
};
