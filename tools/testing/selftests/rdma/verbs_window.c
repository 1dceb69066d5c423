// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of "verbs": memory windows and invalidation (IBTA 10.6.7).
 *
 * a is the peer that uses the windows, b has the memory and binds them.
 */
#include "verbs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ALL	(IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE)
#define OFF	4096		/* the usual window: [OFF, OFF + LEN) of b's buffer */
#define LEN	10000

static const struct how how = {
	.size = 65536,
	/* no remote right: what gets through does by a window */
	.mr_access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND,
};

static struct ibv_mw *make_mw(struct end *e, enum ibv_mw_type type)
{
	struct ibv_mw *mw = ibv_alloc_mw(e->pd, type);

	if (!mw)
		die("no window: %s", strerror(errno));
	return mw;
}

static struct ibv_mw_bind_info bind_info(struct end *e, size_t off, size_t len, int access)
{
	return (struct ibv_mw_bind_info){
		.mr = e->mr,
		.addr = (uintptr_t)e->buf + off,
		.length = len,
		.mw_access_flags = access,
	};
}

/* Type 1: by ibv_bind_mw(), which chooses the key. */
static enum ibv_wc_status bind1_info(struct end *e, struct ibv_mw *mw,
				     struct ibv_mw_bind_info info)
{
	struct ibv_mw_bind bind = {
		.wr_id = 77, .send_flags = IBV_SEND_SIGNALED, .bind_info = info,
	};
	struct ibv_wc wc;

	verb(ibv_bind_mw(e->qp, mw, &bind));
	wc = wait_wc(e->scq);
	need(wc.wr_id == 77 && (wc.status || wc.opcode == IBV_WC_BIND_MW));
	return wc.status;
}

static void bind1(struct end *e, struct ibv_mw *mw, size_t off, size_t len, int access)
{
	need(bind1_info(e, mw, bind_info(e, off, len, access)) == IBV_WC_SUCCESS);
}

/* Type 2: by WR, with a key of ours. */
static struct ibv_send_wr bind2_wr(struct ibv_mw *mw, uint32_t key, struct ibv_mw_bind_info info)
{
	return (struct ibv_send_wr){
		.wr_id = 78,
		.opcode = IBV_WR_BIND_MW,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_mw = { .mw = mw, .rkey = key, .bind_info = info },
	};
}

static enum ibv_wc_status bind2_info(struct end *e, struct ibv_mw *mw, uint32_t key,
				     struct ibv_mw_bind_info info)
{
	struct ibv_send_wr wr = bind2_wr(mw, key, info);
	struct ibv_wc wc;

	post_wr(e, &wr);
	wc = wait_wc(e->scq);
	need(wc.wr_id == 78 && (wc.status || wc.opcode == IBV_WC_BIND_MW));
	return wc.status;
}

static uint32_t bind2(struct end *e, struct ibv_mw *mw, size_t off, size_t len, int access)
{
	uint32_t key = ibv_inc_rkey(mw->rkey);

	need(bind2_info(e, mw, key, bind_info(e, off, len, access)) == IBV_WC_SUCCESS);
	mw->rkey = key;
	return key;
}

static enum ibv_wc_status local_inv(struct end *e, uint32_t key)
{
	struct ibv_send_wr wr = {
		.wr_id = 79, .opcode = IBV_WR_LOCAL_INV, .send_flags = IBV_SEND_SIGNALED,
		.invalidate_rkey = key,
	};
	struct ibv_wc wc;

	post_wr(e, &wr);
	wc = wait_wc(e->scq);
	need(wc.wr_id == 79 && (wc.status || wc.opcode == IBV_WC_LOCAL_INV));
	return wc.status;
}

/* What the peer gets: @off is where it goes in the buffers of both. */
static enum ibv_wc_status use_at(struct end *a, enum ibv_wr_opcode op, uint32_t key,
				 uint64_t addr, size_t off, size_t len)
{
	struct ibv_sge sge = sge_at(a, off, len);
	struct ibv_send_wr wr = send_wr(op, 5, &sge, 1, NULL, 0);

	wr.wr.rdma.remote_addr = addr;
	wr.wr.rdma.rkey = key;
	post_wr(a, &wr);
	return wait_wc(a->scq).status;
}

static enum ibv_wc_status use(struct end *a, struct end *b, enum ibv_wr_opcode op, uint32_t key,
			      size_t off, size_t len)
{
	return use_at(a, op, key, (uintptr_t)b->buf + off, off, len);
}

static void reconnect(struct end *a, struct end *b)
{
	struct ibv_wc wc;

	end_state(a, IBV_QPS_RESET);
	end_state(b, IBV_QPS_RESET);
	while (ibv_poll_cq(a->scq, 1, &wc) || ibv_poll_cq(a->rcq, 1, &wc) ||
	       ibv_poll_cq(b->scq, 1, &wc) || ibv_poll_cq(b->rcq, 1, &wc))
		;
	pair_connect(a, b, &how);
}

/* The window lets exactly this through. */
static void works(struct end *a, struct end *b, uint32_t key, size_t off, size_t len, size_t pos)
{
	memset(b->buf, GUARD, b->size);
	fill(a->buf + off, len, pos);
	need(use(a, b, IBV_WR_RDMA_WRITE, key, off, len) == IBV_WC_SUCCESS);
	need(same(b->buf + off, len, pos));
	need(b->buf[off - 1] == GUARD && b->buf[off + len] == GUARD);
	memset(a->buf, 0, a->size);
	need(use(a, b, IBV_WR_RDMA_READ, key, off, len) == IBV_WC_SUCCESS);
	need(same(a->buf + off, len, pos));
}

/* Nothing, and the connection is new afterwards (which ends type 2 bindings). */
static void refused(struct end *a, struct end *b, enum ibv_wr_opcode op, uint32_t key,
		    uint64_t addr, size_t len)
{
	enum ibv_wc_status status;
	size_t i;

	memset(b->buf, GUARD, b->size);
	status = use_at(a, op, key, addr, 0, len);
	if (status != IBV_WC_REM_ACCESS_ERR)
		die("key 0x%x, address %llx: %s", key, (unsigned long long)addr,
		    ibv_wc_status_str(status));
	for (i = 0; i < b->size; i++)
		need(b->buf[i] == GUARD);
	reconnect(a, b);
}

static void all_refused(struct end *a, struct end *b, uint32_t key)
{
	refused(a, b, IBV_WR_RDMA_WRITE, key, (uintptr_t)b->buf + OFF, 100);
	refused(a, b, IBV_WR_RDMA_READ, key, (uintptr_t)b->buf + OFF, 100);
}

static void bind_fails(struct end *a, struct end *b, struct ibv_mw *mw,
		       struct ibv_mw_bind_info info, const char *why)
{
	enum ibv_wc_status status;

	if (mw->type == IBV_MW_TYPE_1)
		status = bind1_info(b, mw, info);
	else
		status = bind2_info(b, mw, ibv_inc_rkey(mw->rkey), info);
	if (status != IBV_WC_MW_BIND_ERR)
		die("%s: %s", why, ibv_wc_status_str(status));
	need(end_get_state(b) == IBV_QPS_ERR);
	reconnect(a, b);
}

static void test_window1(struct end *a, struct end *b, const char *arg)
{
	struct ibv_mw *mw;
	uint32_t key, old;

	(void)arg;
	pair_make(a, b, &how);
	mw = make_mw(b, IBV_MW_TYPE_1);
	all_refused(a, b, mw->rkey);	/* never bound */

	bind1(b, mw, OFF, LEN, ALL);
	key = mw->rkey;
	works(a, b, key, OFF, LEN, 1);
	refused(a, b, IBV_WR_RDMA_WRITE, key, (uintptr_t)b->buf + OFF - 1, 10);
	refused(a, b, IBV_WR_RDMA_WRITE, key, (uintptr_t)b->buf + OFF + LEN - 9, 10);
	refused(a, b, IBV_WR_RDMA_READ, key, (uintptr_t)b->buf + OFF, LEN + 1);
	refused(a, b, IBV_WR_RDMA_WRITE, key ^ 1, (uintptr_t)b->buf + OFF, 10);
	refused(a, b, IBV_WR_RDMA_WRITE, b->mr->rkey, (uintptr_t)b->buf + OFF, 10);
	works(a, b, key, OFF, LEN, 2);		/* type 1 survives the connection */

	/* bound again elsewhere: the old key is dead */
	old = key;
	bind1(b, mw, 40000, 100, ALL);
	key = mw->rkey;
	need(key != old);
	works(a, b, key, 40000, 100, 3);
	all_refused(a, b, old);
	refused(a, b, IBV_WR_RDMA_WRITE, key, (uintptr_t)b->buf + OFF, 10);

	/* rights */
	bind1(b, mw, OFF, LEN, IBV_ACCESS_REMOTE_READ);
	need(use(a, b, IBV_WR_RDMA_READ, mw->rkey, OFF, LEN) == IBV_WC_SUCCESS);
	refused(a, b, IBV_WR_RDMA_WRITE, mw->rkey, (uintptr_t)b->buf + OFF, 10);
	bind1(b, mw, OFF, LEN, IBV_ACCESS_REMOTE_WRITE);
	need(use(a, b, IBV_WR_RDMA_WRITE, mw->rkey, OFF, LEN) == IBV_WC_SUCCESS);
	refused(a, b, IBV_WR_RDMA_READ, mw->rkey, (uintptr_t)b->buf + OFF, 10);

	/* length 0 unbinds */
	bind1(b, mw, OFF, 0, 0);
	all_refused(a, b, mw->rkey);
	verb(ibv_dealloc_mw(mw));
	all_refused(a, b, key);
	pair_unmake(a, b);
}

static void test_window2(struct end *a, struct end *b, const char *arg)
{
	struct ibv_mw_bind_info info;
	struct ibv_mw *mw;
	uint32_t key, old;

	(void)arg;
	pair_make(a, b, &how);
	mw = make_mw(b, IBV_MW_TYPE_2);
	all_refused(a, b, mw->rkey);

	key = bind2(b, mw, OFF, LEN, ALL);
	works(a, b, key, OFF, LEN, 1);
	/* what is bound has to be invalidated first */
	bind_fails(a, b, mw, bind_info(b, OFF, 100, ALL), "bound twice");
	all_refused(a, b, key);			/* the connection was reset */

	old = key;
	key = bind2(b, mw, OFF, LEN, ALL);
	works(a, b, key, OFF, LEN, 2);
	refused(a, b, IBV_WR_RDMA_WRITE, old, (uintptr_t)b->buf + OFF, 10);

	key = bind2(b, mw, OFF, LEN, ALL);
	refused(a, b, IBV_WR_RDMA_READ, key, (uintptr_t)b->buf + OFF + 1, LEN);
	key = bind2(b, mw, OFF, LEN, IBV_ACCESS_REMOTE_READ);
	refused(a, b, IBV_WR_RDMA_WRITE, key, (uintptr_t)b->buf + OFF, 10);

	/* invalidated, it can be bound again at once */
	key = bind2(b, mw, OFF, LEN, ALL);
	works(a, b, key, OFF, LEN, 3);
	need(local_inv(b, key) == IBV_WC_SUCCESS);
	key = bind2(b, mw, OFF, 50, ALL);
	works(a, b, key, OFF, 50, 4);
	need(local_inv(b, key) == IBV_WC_SUCCESS);
	all_refused(a, b, key);

	/* zero-based */
	info = bind_info(b, OFF, LEN, ALL | IBV_ACCESS_ZERO_BASED);
	key = ibv_inc_rkey(mw->rkey);
	need(bind2_info(b, mw, key, info) == IBV_WC_SUCCESS);
	mw->rkey = key;
	memset(b->buf, GUARD, b->size);
	fill(a->buf, LEN, 5);
	need(use_at(a, IBV_WR_RDMA_WRITE, key, 0, 0, LEN) == IBV_WC_SUCCESS);
	need(same(b->buf + OFF, LEN, 5));
	need(b->buf[OFF - 1] == GUARD && b->buf[OFF + LEN] == GUARD);
	need(use_at(a, IBV_WR_RDMA_READ, key, 7000, 20000, 3000) == IBV_WC_SUCCESS);
	need(same(a->buf + 20000, 3000, 5 + 7000));
	refused(a, b, IBV_WR_RDMA_WRITE, key, LEN - 5, 6);

	verb(ibv_dealloc_mw(mw));
	pair_unmake(a, b);
}

/* Type 1: the library refuses some of it itself. */
static void bind1_fails(struct end *a, struct end *b, struct ibv_mw *mw,
			struct ibv_mw_bind_info info)
{
	struct ibv_mw_bind bind = {
		.wr_id = 77, .send_flags = IBV_SEND_SIGNALED, .bind_info = info,
	};
	int err = ibv_bind_mw(b->qp, mw, &bind);

	if (err)
		return;
	want_wc(b->scq, 77, IBV_WC_MW_BIND_ERR);
	reconnect(a, b);
}

/* What cannot be bound */
static void test_bind_rules(struct end *a, struct end *b, const char *arg)
{
	struct ibv_mr *no_bind, *read_only, *other;
	struct ibv_mw_bind_info info;
	struct ibv_mw *one, *two;
	struct ibv_pd *pd;

	(void)arg;
	pair_make(a, b, &how);
	no_bind = ibv_reg_mr(b->pd, b->buf, b->size, IBV_ACCESS_LOCAL_WRITE);
	read_only = ibv_reg_mr(b->pd, b->buf, b->size, IBV_ACCESS_MW_BIND);
	pd = ibv_alloc_pd(b->ctx);
	other = ibv_reg_mr(pd, b->buf, b->size, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	need(no_bind && read_only && other);
	one = make_mw(b, IBV_MW_TYPE_1);
	two = make_mw(b, IBV_MW_TYPE_2);

	bind_fails(a, b, two, bind_info(b, 0, b->size + 1, ALL), "more than the MR");
	bind_fails(a, b, two, bind_info(b, -1, 10, ALL), "before the MR");
	info = bind_info(b, OFF, LEN, ALL);
	info.addr = -8ULL;
	bind_fails(a, b, two, info, "address that wraps");
	bind_fails(a, b, two, bind_info(b, OFF, 0, ALL), "type 2 of length 0");
	bind_fails(a, b, two, bind_info(b, OFF, LEN, ALL | IBV_ACCESS_MW_BIND), "bind right");
	info = bind_info(b, OFF, LEN, ALL);
	info.mr = no_bind;
	bind_fails(a, b, two, info, "MR without the bind right");
	info.mr = other;
	bind_fails(a, b, two, info, "MR of another PD");
	info.mr = read_only;
	bind_fails(a, b, two, info, "remote write without local write");
	/* a local right is void, and asks nothing of the MR */
	info.mw_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_LOCAL_WRITE;
	need(bind2_info(b, two, ibv_inc_rkey(two->rkey), info) == IBV_WC_SUCCESS);
	reconnect(a, b);

	/* the index of the new key has to be the window's */
	need(bind2_info(b, two, two->rkey ^ 0x100, bind_info(b, OFF, LEN, ALL)) ==
	     IBV_WC_MW_BIND_ERR);
	reconnect(a, b);

	info = bind_info(b, OFF, LEN, ALL);
	info.mr = no_bind;
	bind1_fails(a, b, one, info);
	bind1_fails(a, b, one, bind_info(b, OFF, LEN, ALL | IBV_ACCESS_ZERO_BASED));

	verb(ibv_dealloc_mw(one));
	verb(ibv_dealloc_mw(two));
	verb(ibv_dereg_mr(no_bind));
	verb(ibv_dereg_mr(read_only));
	verb(ibv_dereg_mr(other));
	verb(ibv_dealloc_pd(pd));
	pair_unmake(a, b);
}

/* A bound MR stays, until its windows are gone, in any of the ways. */
static void test_bound_mr(struct end *a, struct end *b, const char *arg)
{
	struct ibv_mw *mw;
	struct ibv_mr *mr;
	uint32_t key;

	(void)arg;
	pair_make(a, b, &how);
	mw = make_mw(b, IBV_MW_TYPE_1);
	bind1(b, mw, OFF, LEN, ALL);
	need(ibv_dereg_mr(b->mr) == EBUSY);
	works(a, b, mw->rkey, OFF, LEN, 1);
	bind1(b, mw, OFF, 0, 0);
	verb(ibv_dereg_mr(b->mr));

	b->mr = ibv_reg_mr(b->pd, b->buf, b->size, how.mr_access);
	bind1(b, mw, OFF, LEN, ALL);
	need(ibv_dereg_mr(b->mr) == EBUSY);
	verb(ibv_dealloc_mw(mw));
	verb(ibv_dereg_mr(b->mr));

	b->mr = ibv_reg_mr(b->pd, b->buf, b->size, how.mr_access);
	mw = make_mw(b, IBV_MW_TYPE_2);
	key = bind2(b, mw, OFF, LEN, ALL);
	need(ibv_dereg_mr(b->mr) == EBUSY);
	need(local_inv(b, key) == IBV_WC_SUCCESS);
	verb(ibv_dereg_mr(b->mr));

	/* the QP goes, with its bindings */
	b->mr = ibv_reg_mr(b->pd, b->buf, b->size, how.mr_access);
	bind2(b, mw, OFF, LEN, ALL);
	mr = b->mr;
	need(ibv_dereg_mr(mr) == EBUSY);
	verb(ibv_destroy_qp(b->qp));
	b->qp = NULL;
	verb(ibv_dereg_mr(mr));
	b->mr = ibv_reg_mr(b->pd, b->buf, b->size, how.mr_access);
	verb(ibv_dealloc_mw(mw));
	pair_unmake(a, b);
}

/* A type 2 window belongs to the QP that bound it, a type 1 window to its PD. */
static void test_window_owner(struct end *a, struct end *b, const char *arg)
{
	struct end a2 = *a, b2 = *b;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct ibv_mw *one, *two;
	uint32_t key;

	(void)arg;
	pair_make(a, b, &how);
	pair_make(&a2, &b2, &how);
	one = make_mw(b, IBV_MW_TYPE_1);
	two = make_mw(b, IBV_MW_TYPE_2);
	bind1(b, one, OFF, LEN, ALL);
	key = bind2(b, two, OFF, LEN, ALL);

	/* another QP in another PD */
	need(use(&a2, b, IBV_WR_RDMA_WRITE, one->rkey, OFF, 10) == IBV_WC_REM_ACCESS_ERR);
	reconnect(&a2, &b2);
	need(use(&a2, b, IBV_WR_RDMA_WRITE, key, OFF, 10) == IBV_WC_REM_ACCESS_ERR);
	reconnect(&a2, &b2);

	/* another QP in the same PD */
	verb(ibv_query_qp(b2.qp, &attr, IBV_QP_STATE, &init));
	verb(ibv_destroy_qp(b2.qp));
	init.send_cq = b2.scq;
	init.recv_cq = b2.rcq;
	init.srq = NULL;
	b2.qp = ibv_create_qp(b->pd, &init);
	need(b2.qp);
	end_state(&a2, IBV_QPS_RESET);
	pair_connect(&a2, &b2, &how);
	need(use(&a2, b, IBV_WR_RDMA_WRITE, one->rkey, OFF, 10) == IBV_WC_SUCCESS);
	need(use(&a2, b, IBV_WR_RDMA_WRITE, key, OFF, 10) == IBV_WC_REM_ACCESS_ERR);
	end_state(&a2, IBV_QPS_RESET);
	end_state(&b2, IBV_QPS_RESET);
	pair_connect(&a2, &b2, &how);
	/* nor may it invalidate what is not its own */
	need(local_inv(&b2, key) == IBV_WC_MW_BIND_ERR);

	need(use(a, b, IBV_WR_RDMA_WRITE, key, OFF, 10) == IBV_WC_SUCCESS);
	verb(ibv_dealloc_mw(one));
	verb(ibv_dealloc_mw(two));
	pair_unmake(&a2, &b2);
	pair_unmake(a, b);
}

static void send_inv(struct end *a, uint32_t key, size_t len, int flags)
{
	struct ibv_sge sge = sge_at(a, 0, len);
	struct ibv_send_wr wr = {
		.wr_id = 9, .opcode = IBV_WR_SEND_WITH_INV, .sg_list = &sge, .num_sge = 1,
		.send_flags = IBV_SEND_SIGNALED | flags, .invalidate_rkey = key,
	};

	post_wr(a, &wr);
}

/* ARGUMENT: bytes of the message */
static void test_send_inv(struct end *a, struct end *b, const char *arg)
{
	size_t len = arg ? atoi(arg) : 100;
	struct ibv_mw *one, *two;
	struct ibv_wc wc;
	uint32_t key;

	pair_make(a, b, &how);
	one = make_mw(b, IBV_MW_TYPE_1);
	two = make_mw(b, IBV_MW_TYPE_2);
	key = bind2(b, two, OFF, LEN, ALL);
	works(a, b, key, OFF, LEN, 1);

	fill(a->buf, len, 3);
	post_recv(b, 6, 20000, len);
	send_inv(a, key, len, 0);
	want_wc(a->scq, 9, IBV_WC_SUCCESS);
	wc = wait_wc(b->rcq);
	need(wc.status == IBV_WC_SUCCESS && wc.wr_id == 6 && wc.opcode == IBV_WC_RECV);
	need(wc.byte_len == len && same(b->buf + 20000, len, 3));
	need(wc.wc_flags == IBV_WC_WITH_INV && wc.invalidated_rkey == key);
	/* free now: it can be bound without more ado, and the old key is dead */
	bind2(b, two, OFF, 100, ALL);
	all_refused(a, b, key);

	/* what a peer may not invalidate: nothing arrives as good */
	bind1(b, one, OFF, LEN, ALL);
	key = one->rkey;
	post_recv(b, 7, 20000, len);
	send_inv(a, key, len, 0);
	want_wc(a->scq, 9, IBV_WC_REM_ACCESS_ERR);
	wc = wait_wc(b->rcq);
	need(wc.wr_id == 7 && wc.status != IBV_WC_SUCCESS);
	need(end_get_state(b) == IBV_QPS_ERR);
	want_event(b, IBV_EVENT_QP_ACCESS_ERR);
	reconnect(a, b);
	works(a, b, key, OFF, LEN, 4);		/* it is still bound */

	post_recv(b, 8, 20000, len);
	send_inv(a, b->mr->rkey, len, 0);	/* a registered MR */
	want_wc(a->scq, 9, IBV_WC_REM_ACCESS_ERR);
	reconnect(a, b);
	post_recv(b, 8, 20000, len);
	send_inv(a, two->rkey, len, 0);		/* a free window */
	want_wc(a->scq, 9, IBV_WC_REM_ACCESS_ERR);
	reconnect(a, b);

	/* nor can the owner, of these */
	need(local_inv(b, one->rkey) == IBV_WC_MW_BIND_ERR);
	reconnect(a, b);
	need(local_inv(b, b->mr->lkey) == IBV_WC_MW_BIND_ERR);
	reconnect(a, b);
	need(local_inv(b, 0x12345600) == IBV_WC_MW_BIND_ERR);
	reconnect(a, b);

	verb(ibv_dealloc_mw(one));
	verb(ibv_dealloc_mw(two));
	pair_unmake(a, b);
}

/*
 * One list: bind, tell the peer, and later invalidate; nothing of it waits for
 * a completion, and completions come in order.
 */
static void test_bind_order(struct end *a, struct end *b, const char *arg)
{
	struct ibv_mw *mw;
	int i, rounds = arg ? atoi(arg) : 50;

	pair_make(a, b, &how);
	mw = make_mw(b, IBV_MW_TYPE_2);
	for (i = 0; i < rounds; i++) {
		uint32_t key = ibv_inc_rkey(mw->rkey);
		struct ibv_sge sge = sge_at(b, 0, 4);
		struct ibv_send_wr bind = bind2_wr(mw, key, bind_info(b, OFF, LEN, ALL));
		struct ibv_send_wr tell = send_wr(IBV_WR_SEND, 80, &sge, 1, NULL, 0);
		struct ibv_send_wr inv = {
			.wr_id = 81, .opcode = IBV_WR_LOCAL_INV, .send_flags = IBV_SEND_SIGNALED,
			.invalidate_rkey = key,
		};
		struct ibv_send_wr last = send_wr(IBV_WR_SEND, 82, &sge, 1, NULL, 0);

		post_recv(a, i, 0, 4);
		memcpy(b->buf, &key, 4);
		bind.next = &tell;
		post_wr(b, &bind);
		want_wc(a->rcq, i, IBV_WC_SUCCESS);
		need(!memcmp(a->buf, &key, 4));
		works(a, b, key, OFF, LEN, i);
		post_recv(a, i, 0, 4);
		inv.next = &last;
		post_wr(b, &inv);
		want_wc(b->scq, 78, IBV_WC_SUCCESS);
		want_wc(b->scq, 80, IBV_WC_SUCCESS);
		want_wc(b->scq, 81, IBV_WC_SUCCESS);
		want_wc(b->scq, 82, IBV_WC_SUCCESS);
		want_wc(a->rcq, i, IBV_WC_SUCCESS);
		mw->rkey = key;
	}
	verb(ibv_dealloc_mw(mw));
	pair_unmake(a, b);
}

/* After the completion of an invalidation nothing more is written. */
static void test_inv_under_load(struct end *a, struct end *b, const char *arg)
{
	int rounds = arg ? atoi(arg) : 20, round, i;
	uint8_t *copy = malloc(LEN);
	struct ibv_mw *mw;

	need(copy);
	pair_make(a, b, &how);
	mw = make_mw(b, IBV_MW_TYPE_2);
	for (round = 0; round < rounds; round++) {
		uint32_t key = bind2(b, mw, OFF, LEN, ALL);
		struct ibv_wc wc;

		for (i = 0; i < 32; i++) {
			struct ibv_sge sge;
			struct ibv_send_wr wr;

			memset(a->buf + i * 1000, round * 32 + i, 1000);
			sge = sge_at(a, i * 1000, LEN);
			wr = send_wr(IBV_WR_RDMA_WRITE, i, &sge, 1, b, OFF);
			wr.wr.rdma.rkey = key;
			post_wr(a, &wr);
		}
		if (round % 3 == 2)
			usleep(round * 50);
		need(local_inv(b, key) == IBV_WC_SUCCESS);
		memcpy(copy, b->buf + OFF, LEN);
		for (i = 0; i < 32; i++) {
			wc = wait_wc(a->scq);
			need(wc.status == IBV_WC_SUCCESS || wc.status == IBV_WC_REM_ACCESS_ERR ||
			     wc.status == IBV_WC_WR_FLUSH_ERR);
		}
		if (memcmp(copy, b->buf + OFF, LEN))
			die("round %d: written after the invalidation", round);
		reconnect(a, b);
	}
	verb(ibv_dealloc_mw(mw));
	pair_unmake(a, b);
	free(copy);
}

static void test_bad_window(struct end *a, struct end *b, const char *arg)
{
	struct ibv_device_attr attr;
	struct ibv_pd *pd = ibv_alloc_pd(a->ctx);

	(void)b;
	(void)arg;
	need(pd);
	verb(ibv_query_device(a->ctx, &attr));
	need(attr.max_mw > 0);
	need(attr.device_cap_flags & IBV_DEVICE_MEM_WINDOW);
	need(attr.device_cap_flags & IBV_DEVICE_MEM_WINDOW_TYPE_2B);
	need(attr.device_cap_flags & IBV_DEVICE_MEM_MGT_EXTENSIONS);
	need(!ibv_alloc_mw(pd, 0) && !ibv_alloc_mw(pd, 3));
	verb(ibv_dealloc_pd(pd));
}

const struct test window_tests[] = {
	{ "window1", test_window1 },
	{ "window2", test_window2 },
	{ "bind_rules", test_bind_rules },
	{ "bound_mr", test_bound_mr },
	{ "window_owner", test_window_owner },
	{ "send_inv", test_send_inv },
	{ "bind_order", test_bind_order },
	{ "inv_under_load", test_inv_under_load },
	{ "bad_window", test_bad_window, true },
	{ }
};
