// SPDX-License-Identifier: GPL-2.0
/*
 * Allocations that fail, and copies from and to user space, one after the other, inside
 * one verb: /proc/self/fail-nth of a kernel with CONFIG_FAULT_INJECTION.  A verb either
 * fails, and leaves nothing, or
 * works.  What it leaves shows in the script: kmemleak, and a device that goes away.
 */
#include "verbs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* More allocations than any verb here makes. */
#define MOST	400

static int fail_nth_fd = -1;
static bool armed, fired;

static void write_nth(int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%d\n", n);

	if (fail_nth_fd < 0)
		fail_nth_fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	if (fail_nth_fd < 0)
		die("fail-nth: %s", strerror(errno));
	/* EFAULT: the failure came here, where the kernel copies the text */
	while (pwrite(fail_nth_fd, text, len, 0) != len)
		if (errno != EFAULT)
			die("fail-nth: %s", strerror(errno));
}

/* The n-th allocation from here on fails. */
static void arm(int n)
{
	fired = false;
	write_nth(n);
	armed = true;
}

/* No allocation fails from here on. */
static void disarm(void)
{
	char text[16] = "";

	if (!armed)
		return;
	/* EFAULT: here, so not before */
	if (pread(fail_nth_fd, text, sizeof(text) - 1, 0) > 0)
		fired = atoi(text) == 0;
	else if (errno != EFAULT)
		die("fail-nth: %s", strerror(errno));
	write_nth(0);
	armed = false;
}

static bool has_failed(void)
{
	disarm();
	return fired;
}

/**
 * each_failing - run an operation again and again, with the first, second ... of its
 * allocations failing, until none is left
 * @what: its name
 * @e, @peer: for the operation
 * @run: true if it has worked; it takes back what it has done
 */
static void each_failing(const char *what, struct end *e, struct end *peer,
			 bool (*run)(struct end *e, struct end *peer))
{
	int n, failed = 0;
	bool works;

	/* pages of this program are there, caches filled */
	need(run(e, peer));
	for (n = 1; n < MOST; n++) {
		arm(n);
		works = run(e, peer);
		if (!has_failed()) {
			if (!works)
				die("%s: fails without a reason (%d)", what, n);
			break;
		}
		failed += !works;
	}
	need(n < MOST);
	printf("%s: %d allocations and copies, %d of them needed\n", what, n - 1, failed);
	need(failed);
	/* nothing is used up or broken */
	need(run(e, peer));
}

/* Undo what has worked with no allocation failing, so that it must work. */
static bool done(void *object, int (*undo)(void *object))
{
	if (!object)
		return false;
	disarm();
	if (undo(object))
		die("cannot be undone: %s", strerror(errno));
	return true;
}

#define UNDO(name, type, call)				\
static int undo_##name(void *object)			\
{							\
	return call((type *)object);			\
}

UNDO(pd, struct ibv_pd, ibv_dealloc_pd)
UNDO(cq, struct ibv_cq, ibv_destroy_cq)
UNDO(qp, struct ibv_qp, ibv_destroy_qp)
UNDO(mr, struct ibv_mr, ibv_dereg_mr)
UNDO(ah, struct ibv_ah, ibv_destroy_ah)

static bool alloc_pd(struct end *e, struct end *peer)
{
	(void)peer;
	return done(ibv_alloc_pd(e->ctx), undo_pd);
}

static bool create_cq(struct end *e, struct end *peer)
{
	(void)peer;
	return done(ibv_create_cq(e->ctx, 1000, NULL, e->channel, 0), undo_cq);
}

static bool reg_mr(struct end *e, struct end *peer)
{
	(void)peer;
	return done(ibv_reg_mr(e->pd, e->buf, e->size, IBV_ACCESS_LOCAL_WRITE), undo_mr);
}

static struct ibv_qp *qp_of(struct end *e, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr init = {
		.qp_type = type,
		.send_cq = e->scq,
		.recv_cq = e->rcq,
		.cap = {
			.max_send_wr = 300,
			.max_recv_wr = 300,
			.max_send_sge = 4,
			.max_recv_sge = 4,
			.max_inline_data = 200,
		},
	};

	return ibv_create_qp(e->pd, &init);
}

static bool create_rc(struct end *e, struct end *peer)
{
	(void)peer;
	return done(qp_of(e, IBV_QPT_RC), undo_qp);
}

static bool create_ud(struct end *e, struct end *peer)
{
	(void)peer;
	return done(qp_of(e, IBV_QPT_UD), undo_qp);
}

static bool create_ah(struct end *e, struct end *peer)
{
	struct ibv_ah_attr attr = {
		.is_global = 1,
		.port_num = 1,
		.grh = { .dgid = peer->gid, .sgid_index = e->gid_index, .hop_limit = 64 },
	};

	return done(ibv_create_ah(e->pd, &attr), undo_ah);
}

/* To RTS and back to RESET; it may stop anywhere. */
static bool modify_qp(struct end *e, struct end *peer)
{
	struct ibv_qp_attr init = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE,
	};
	struct ibv_qp_attr rtr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = peer->qp->qp_num,
		.rq_psn = 1,
		.max_dest_rd_atomic = 16,
		.min_rnr_timer = 12,
		.ah_attr = {
			.is_global = 1,
			.port_num = 1,
			.grh = { .dgid = peer->gid, .sgid_index = e->gid_index, .hop_limit = 64 },
		},
	};
	struct ibv_qp_attr rts = {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = 1,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 16,
	};

	return !ibv_modify_qp(e->qp, &init, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			      IBV_QP_ACCESS_FLAGS) &&
		!ibv_modify_qp(e->qp, &rtr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
			       IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
			       IBV_QP_MIN_RNR_TIMER) &&
		!ibv_modify_qp(e->qp, &rts, IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT |
			       IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC);
}

static bool modify_and_reset(struct end *e, struct end *peer)
{
	struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };
	bool works = modify_qp(e, peer);

	disarm();
	/* from RESET, INIT, RTR or RTS: where a failed call has left it */
	verb(ibv_modify_qp(e->qp, &reset, IBV_QP_STATE));
	return works;
}

static bool open_device(struct end *e, struct end *peer)
{
	struct ibv_context *ctx = ibv_open_device(e->ctx->device);

	(void)peer;
	return ctx && !ibv_close_device(ctx);
}

static void test_fail_create(struct end *a, struct end *b, const char *arg)
{
	static const struct how how;

	(void)arg;
	end_make(a, &how);
	end_make(b, &how);
	each_failing("open_device", a, b, open_device);
	each_failing("alloc_pd", a, b, alloc_pd);
	each_failing("create_cq", a, b, create_cq);
	each_failing("reg_mr", a, b, reg_mr);
	each_failing("create_qp RC", a, b, create_rc);
	each_failing("create_qp UD", a, b, create_ud);
	each_failing("create_ah", a, b, create_ah);
	each_failing("modify_qp", a, b, modify_and_reset);
	/* it still connects, and moves data */
	pair_connect(a, b, &how);
	post_recv(b, 1, 0, 1000);
	post_send(a, IBV_WR_SEND, 2, 0, 1000, NULL);
	want_wc(b->rcq, 1, IBV_WC_SUCCESS);
	want_wc(a->scq, 2, IBV_WC_SUCCESS);
	pair_unmake(a, b);
}

/*
 * A packet that cannot be made is lost like one on the wire: each operation completes,
 * and its data is right.
 */
static void test_fail_send(struct end *a, struct end *b, const char *arg)
{
	static const struct how how;
	const size_t len = 100000;
	struct ibv_send_wr wr, *bad;
	int n, err, failed = 0;
	struct ibv_sge sge;
	bool unheard;

	(void)arg;
	pair_make(a, b, &how);
	for (n = 1; n < 60; n++) {
		enum ibv_wr_opcode op = n % 3 == 0 ? IBV_WR_SEND :
			n % 3 == 1 ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ;
		const struct end *from = op == IBV_WR_RDMA_READ ? b : a;
		const struct end *to = op == IBV_WR_RDMA_READ ? a : b;

		fill(from->buf, len, n);
		memset(to->buf, GUARD, len);
		if (op == IBV_WR_SEND)
			post_recv(b, n, 0, len);
		sge = sge_at(a, 0, len);
		wr = send_wr(op, n, &sge, 1, op == IBV_WR_SEND ? NULL : b, 0);
		arm(1 + n / 3);
		err = ibv_post_send(a->qp, &wr, &bad);
		failed += has_failed();
		/* the WQE is in the ring, the kernel has not heard of it: it will with the next */
		unheard = err;
		if (unheard) {
			wr = send_wr(IBV_WR_RDMA_WRITE, 1000 + n, NULL, 0, b, 0);
			verb(ibv_post_send(a->qp, &wr, &bad));
		}
		want_wc(a->scq, n, IBV_WC_SUCCESS);
		if (unheard)
			want_wc(a->scq, 1000 + n, IBV_WC_SUCCESS);
		if (op == IBV_WR_SEND)
			want_wc(b->rcq, n, IBV_WC_SUCCESS);
		need(same(to->buf, len, n));
	}
	printf("%d allocations have failed\n", failed);
	need(failed);
	pair_unmake(a, b);
}

const struct test fault_tests[] = {
	{ "fail_create", test_fail_create, false },
	{ "fail_send", test_fail_send, false },
	{ NULL, NULL, false }
};
