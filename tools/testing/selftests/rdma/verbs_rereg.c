// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of "verbs": MRs that change (ibv_rereg_mr).
 *
 * rdma-core's rxe provider has no entry for it, so the command is written here.
 */
#include "verbs.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
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

const struct test rereg_tests[] = {
	{ "rereg", test_rereg },
	{ "rereg_busy", test_rereg_busy },
	{ }
};
