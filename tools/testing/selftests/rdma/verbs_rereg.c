// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of "verbs": MRs that change (ibv_rereg_mr), and memory that is taken away
 * while it is used.
 *
 * rdma-core's rxe provider has no entry for it, so the command is written here.
 */
#define _GNU_SOURCE
#include "verbs.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <rdma/ib_user_verbs.h>

#define RIGHTS	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE)

/* Return: 0 or an errno; changes the keys of @mr as libibverbs would. */
static int rereg(struct ibv_mr *mr, uint32_t flags, struct ibv_pd *pd, void *addr, size_t len,
		 int access)
{
	struct ib_uverbs_rereg_mr_resp resp = { };
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_rereg_mr cmd;
	} __attribute__((packed)) msg = {
		.hdr = {
			.command = IB_USER_VERBS_CMD_REREG_MR,
			.in_words = sizeof(msg) / 4,
			.out_words = sizeof(resp) / 4,
		},
		.cmd = {
			.response = (uintptr_t)&resp,
			.mr_handle = mr->handle,
			.flags = flags,
			.start = (uintptr_t)addr,
			.length = len,
			.hca_va = (uintptr_t)addr,
			.pd_handle = pd ? pd->handle : 0,
			.access_flags = access,
		},
	};

	if (write(mr->context->cmd_fd, &msg, sizeof(msg)) != sizeof(msg))
		return errno;
	mr->lkey = resp.lkey;
	mr->rkey = resp.rkey;
	return 0;
}

static enum ibv_wc_status write_to(struct end *a, struct end *b, uint32_t rkey, size_t off)
{
	struct ibv_sge sge = sge_at(a, 0, 64);
	struct ibv_send_wr wr = send_wr(IBV_WR_RDMA_WRITE, 1, &sge, 1, b, off);

	wr.wr.rdma.rkey = rkey;
	post_wr(a, &wr);
	return wait_wc(a->scq).status;
}

static void again(struct end *a, struct end *b)
{
	const struct how how = { };

	end_state(a, IBV_QPS_RESET);
	end_state(b, IBV_QPS_RESET);
	pair_connect(a, b, &how);
}

static void test_rereg(struct end *a, struct end *b, const char *arg)
{
	const struct how how = { .size = 65536 };
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	uint32_t key;

	(void)arg;
	pair_make(a, b, &how);
	pd = ibv_alloc_pd(b->ctx);
	mr = ibv_reg_mr(b->pd, b->buf, 4096, RIGHTS);
	need(pd && mr);
	need(write_to(a, b, mr->rkey, 0) == IBV_WC_SUCCESS);

	/* rights alone */
	verb(rereg(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, IBV_ACCESS_LOCAL_WRITE));
	need(write_to(a, b, mr->rkey, 0) == IBV_WC_REM_ACCESS_ERR);
	again(a, b);
	verb(rereg(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, RIGHTS));
	need(write_to(a, b, mr->rkey, 0) == IBV_WC_SUCCESS);

	/* PD */
	verb(rereg(mr, IBV_REREG_MR_CHANGE_PD, pd, NULL, 0, 0));
	need(write_to(a, b, mr->rkey, 0) == IBV_WC_REM_ACCESS_ERR);
	again(a, b);
	need(ibv_dealloc_pd(pd) == EBUSY);
	verb(rereg(mr, IBV_REREG_MR_CHANGE_PD, b->pd, NULL, 0, 0));
	need(write_to(a, b, mr->rkey, 0) == IBV_WC_SUCCESS);
	verb(ibv_dealloc_pd(pd));

	/* memory: the old key is dead, and the old memory out of reach */
	key = mr->rkey;
	verb(rereg(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, b->buf + 8192, 8192, 0));
	need(write_to(a, b, mr->rkey, 8192) == IBV_WC_SUCCESS);
	need(write_to(a, b, mr->rkey, 0) == IBV_WC_REM_ACCESS_ERR);
	again(a, b);
	if (key != mr->rkey) {
		need(write_to(a, b, key, 0) == IBV_WC_REM_ACCESS_ERR);
		again(a, b);
	}

	/* what fails changes nothing */
	key = mr->rkey;
	need(rereg(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, NULL, 4096, 0) == EFAULT);
	need(rereg(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, b->buf, 0, 0) == EINVAL);
	need(rereg(mr, 1 << 10, NULL, NULL, 0, 0) == EOPNOTSUPP);
	need(rereg(mr, 0, NULL, NULL, 0, 0) == EINVAL);
	need(mr->rkey == key && write_to(a, b, key, 8192) == IBV_WC_SUCCESS);

	/* read-only memory becomes writable: pinned again */
	verb(ibv_dereg_mr(mr));
	mr = ibv_reg_mr(b->pd, b->buf, 4096, IBV_ACCESS_REMOTE_READ);
	need(mr);
	verb(rereg(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, RIGHTS));
	need(write_to(a, b, mr->rkey, 0) == IBV_WC_SUCCESS);
	verb(ibv_dereg_mr(mr));
	pair_unmake(a, b);
}

static struct ibv_mr *flip_mr;
static bool flip_stop;

static void *flip(void *arg)
{
	struct ibv_pd *pd = arg;
	int i;

	for (i = 0; !__atomic_load_n(&flip_stop, __ATOMIC_RELAXED); i++)
		verb(rereg(flip_mr, i & 1 ? IBV_REREG_MR_CHANGE_ACCESS :
			   IBV_REREG_MR_CHANGE_ACCESS | IBV_REREG_MR_CHANGE_PD, pd, NULL, 0,
			   i & 1 ? RIGHTS : RIGHTS | IBV_ACCESS_MW_BIND));
	return NULL;
}

/* Rights that are in both the old and the new ones are there all the time. */
static void test_rereg_busy(struct end *a, struct end *b, const char *arg)
{
	const struct how how = { .size = 65536 };
	pthread_t thread;
	int i;

	(void)arg;
	pair_make(a, b, &how);
	flip_mr = ibv_reg_mr(b->pd, b->buf, b->size, RIGHTS);
	need(flip_mr);
	need(!pthread_create(&thread, NULL, flip, b->pd));
	for (i = 0; i < 300; i++) {
		struct ibv_sge sge = sge_at(a, 0, 30000);
		struct ibv_send_wr wr = send_wr(i & 1 ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ, i,
						&sge, 1, b, 0);

		wr.wr.rdma.rkey = flip_mr->rkey;
		post_wr(a, &wr);
		want_wc(a->scq, i, IBV_WC_SUCCESS);
	}
	__atomic_store_n(&flip_stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	verb(ibv_dereg_mr(flip_mr));
	pair_unmake(a, b);
}

enum { TAKEN_DEPTH = 32, TAKEN_LEN = 64 * 1024, TAKEN_SIZE = 512 * 1024 };

/* Message @i: other data than the messages before it, to where one of them was. */
static void taken_post(struct end *a, struct end *b, enum ibv_wr_opcode op, struct ibv_mr *mr,
		       int i)
{
	size_t from = 4099 * i, to = i * TAKEN_LEN % TAKEN_SIZE;
	struct ibv_sge sge = sge_at(a, from, TAKEN_LEN);
	struct ibv_send_wr wr = send_wr(op, i, &sge, 1, b, from);

	if (op == IBV_WR_RDMA_WRITE) {
		wr.wr.rdma.remote_addr = (uintptr_t)mr->addr + to;
		wr.wr.rdma.rkey = mr->rkey;
	} else if (op == IBV_WR_RDMA_READ) {
		sge.addr = (uintptr_t)mr->addr + to;
		sge.lkey = mr->lkey;
	}
	post_wr(a, &wr);
}

static void taken_recv(struct end *b, struct ibv_mr *mr, int i)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)mr->addr + i * TAKEN_LEN % TAKEN_SIZE,
		.length = TAKEN_LEN,
		.lkey = mr->lkey,
	};
	struct ibv_recv_wr wr = { .wr_id = i, .sg_list = &sge, .num_sge = 1 }, *bad;

	verb(ibv_post_recv(b->qp, &wr, &bad));
}

/*
 * Messages @first to @n - 1: successes, one that ends with @status, flushes.
 * Return: the one with @status.
 */
static int want_end(struct ibv_cq *cq, int first, int n, enum ibv_wc_status status)
{
	enum ibv_wc_status want = status;
	int i, at = n;

	for (i = first; i < n; i++) {
		struct ibv_wc wc = wait_wc(cq);

		if (wc.status == IBV_WC_SUCCESS && at == n && wc.wr_id == i)
			continue;
		if (wc.wr_id != i || wc.status != want)
			die("completion of %d '%s', expected %d '%s'", (int)wc.wr_id,
			    ibv_wc_status_str(wc.status), i, ibv_wc_status_str(want));
		if (at == n)
			at = i;
		want = IBV_WC_WR_FLUSH_ERR;
	}
	need(at < n);
	return at;
}

/* Each returns when nobody uses the memory any more; what they take is at @mr->addr. */
static void take_munmap(struct end *e, struct ibv_mr *mr)
{
	(void)e;
	need(!munmap(mr->addr, TAKEN_SIZE));
}

static void take_rereg(struct end *e, struct ibv_mr *mr)
{
	verb(rereg(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, e->buf, TAKEN_SIZE, 0));
}

static void take_dereg(struct end *e, struct ibv_mr *mr)
{
	(void)e;
	verb(ibv_dereg_mr(mr));
}

static const struct way {
	const char	*name;
	void		(*take)(struct end *e, struct ibv_mr *mr);
	int		access;
	bool		mr_stays;
} ways[] = {
	{ "munmap", take_munmap, RIGHTS | IBV_ACCESS_ON_DEMAND, true },
	{ "rereg", take_rereg, RIGHTS, true },
	{ "dereg", take_dereg, RIGHTS },
};

/* Return: how many messages were done when the memory went. */
static int taken_after(struct end *a, struct end *b, const struct way *way,
		       enum ibv_wr_opcode op, int n)
{
	static const enum ibv_wc_status status[] = {
		[IBV_WR_RDMA_WRITE] = IBV_WC_REM_ACCESS_ERR,
		[IBV_WR_RDMA_READ] = IBV_WC_LOC_PROT_ERR,
		[IBV_WR_SEND] = IBV_WC_REM_OP_ERR,
	};
	const struct how how = { .timeout = 18 };
	struct end *e = op == IBV_WR_RDMA_READ ? a : b;
	int fd = memfd_create("taken", 0), i, done;
	static uint8_t before[TAKEN_SIZE];
	struct ibv_mr *mr, old;
	uint8_t *map, *view;

	/* @view shows what is written to @map, also when that has gone */
	need(fd >= 0 && !ftruncate(fd, TAKEN_SIZE));
	map = mmap(NULL, TAKEN_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	view = mmap(NULL, TAKEN_SIZE, PROT_READ, MAP_SHARED, fd, 0);
	need(map != MAP_FAILED && view != MAP_FAILED);

	pair_make(a, b, &how);
	fill(a->buf, a->size, 1);
	fill(b->buf, b->size, 2);
	mr = ibv_reg_mr(e->pd, map, TAKEN_SIZE, way->access);
	need(mr);
	old = *mr;
	for (i = 0; i <= TAKEN_DEPTH && op == IBV_WR_SEND; i++)
		taken_recv(b, mr, i);
	for (i = 0; i < TAKEN_DEPTH; i++)
		taken_post(a, b, op, mr, i);
	for (i = 0; i < n; i++)
		want_wc(a->scq, i, IBV_WC_SUCCESS);

	way->take(e, mr);
	memcpy(before, view, TAKEN_SIZE);
	/* one, at least, comes too late */
	taken_post(a, b, op, &old, TAKEN_DEPTH);
	done = want_end(a->scq, n, TAKEN_DEPTH + 1, status[op]);
	if (op == IBV_WR_SEND)
		need(want_end(b->rcq, 0, TAKEN_DEPTH + 1, IBV_WC_LOC_PROT_ERR) == done);
	need(!memcmp(before, view, TAKEN_SIZE));

	if (way->mr_stays)
		verb(ibv_dereg_mr(mr));
	pair_unmake(a, b);
	if (way->take != take_munmap)
		munmap(map, TAKEN_SIZE);
	munmap(view, TAKEN_SIZE);
	close(fd);
	return done;
}

/* ARGUMENT: how memory is taken away while messages are written to it */
static void test_taken(struct end *a, struct end *b, const char *arg)
{
	static const enum ibv_wr_opcode ops[] = {
		IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_SEND
	};
	const struct way *way = ways;
	size_t i;
	int n;

	need(arg);
	while (strcmp(way->name, arg))
		need(++way < ways + ARRAY_SIZE(ways));
	for (i = 0; i < ARRAY_SIZE(ops); i++)
		for (n = 0; n < 5; n++)
			printf("operation %zu: %d of %d messages were done\n", i,
			       taken_after(a, b, way, ops[i], n), TAKEN_DEPTH);
}

const struct test rereg_tests[] = {
	{ "rereg", test_rereg },
	{ "rereg_busy", test_rereg_busy },
	{ "taken", test_taken },
	{ }
};
