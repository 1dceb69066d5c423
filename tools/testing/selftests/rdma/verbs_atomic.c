// SPDX-License-Identifier: GPL-2.0
/* Tests of "verbs": atomics, ATOMIC WRITE and FLUSH. */
#include "verbs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#define ATOMIC	(IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)
#define SKIP	4

static struct how atomic_how = {
	.size = 65536,
	.mr_access = IBV_ACCESS_LOCAL_WRITE | ATOMIC,
	.rd_atomic = 8,
};

static uint64_t *word(struct end *e, size_t offset)
{
	return (uint64_t *)(e->buf + offset);
}

static void atomic_pair(struct end *a, struct end *b)
{
	a->qp_access = ATOMIC;
	b->qp_access = ATOMIC;
	pair_make(a, b, &atomic_how);
}

/* The answer goes to offset @to of a's buffer. */
static void post_atomic(struct end *a, struct end *b, enum ibv_wr_opcode op, uint64_t id,
			size_t to, size_t at, uint64_t compare_add, uint64_t swap)
{
	struct ibv_sge sge = sge_at(a, to, 8);
	struct ibv_send_wr wr = {
		.wr_id = id, .opcode = op, .sg_list = &sge, .num_sge = 1,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.atomic = {
			.remote_addr = (uintptr_t)b->buf + at,
			.rkey = b->mr->rkey,
			.compare_add = compare_add,
			.swap = swap,
		},
	};

	post_wr(a, &wr);
}

static void test_atomics(struct end *a, struct end *b, const char *arg)
{
	struct ibv_wc wc;

	(void)arg;
	atomic_pair(a, b);
	*word(b, 8) = 100;
	post_atomic(a, b, IBV_WR_ATOMIC_FETCH_AND_ADD, 1, 0, 8, 5, 0);
	wc = wait_wc(a->scq);
	need(wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_FETCH_ADD && wc.byte_len == 8);
	need(*word(a, 0) == 100 && *word(b, 8) == 105);
	post_atomic(a, b, IBV_WR_ATOMIC_FETCH_AND_ADD, 2, 0, 8, -106ULL, 0);
	want_wc(a->scq, 2, IBV_WC_SUCCESS);
	need(*word(a, 0) == 105 && *word(b, 8) == -1ULL);

	post_atomic(a, b, IBV_WR_ATOMIC_CMP_AND_SWP, 3, 0, 8, 7, 0x1122334455667788);
	wc = wait_wc(a->scq);
	need(wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_COMP_SWAP);
	need(*word(a, 0) == -1ULL && *word(b, 8) == -1ULL);
	post_atomic(a, b, IBV_WR_ATOMIC_CMP_AND_SWP, 4, 0, 8, -1ULL, 0x1122334455667788);
	want_wc(a->scq, 4, IBV_WC_SUCCESS);
	need(*word(a, 0) == -1ULL && *word(b, 8) == 0x1122334455667788);
	need(*word(b, 0) == 0 && *word(b, 16) == 0);
	pair_unmake(a, b);
}

static void test_atomic_errors(struct end *a, struct end *b, const char *arg)
{
	struct ibv_mr *mr, *odd;

	(void)arg;
	atomic_pair(a, b);
	/*
	 * An aligned address of memory that is not, which only a zero-based MR
	 * has: librxe does not post an address that is not aligned.
	 */
	odd = ibv_reg_mr_iova(b->pd, b->buf + 4, 4096, 4,
			      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ZERO_BASED | ATOMIC);
	need(odd);
	memset(b->buf, 0, b->size);
	mr = b->mr;
	b->mr = odd;
	post_atomic(a, b, IBV_WR_ATOMIC_FETCH_AND_ADD, 1, 0, 8 - (uintptr_t)b->buf, 1, 0);
	b->mr = mr;
	want_wc(a->scq, 1, IBV_WC_REM_INV_REQ_ERR);
	want_event(b, IBV_EVENT_QP_REQ_ERR);
	need(*word(b, 8) == 0 && *word(b, 16) == 0);
	verb(ibv_dereg_mr(odd));
	pair_unmake(a, b);

	atomic_pair(a, b);
	post_atomic(a, b, IBV_WR_ATOMIC_FETCH_AND_ADD, 1, 0, b->size, 1, 0);
	want_wc(a->scq, 1, IBV_WC_REM_ACCESS_ERR);
	pair_unmake(a, b);

	b->qp_access = ATOMIC & ~IBV_ACCESS_REMOTE_ATOMIC;
	pair_make(a, b, &atomic_how);
	post_atomic(a, b, IBV_WR_ATOMIC_FETCH_AND_ADD, 1, 0, 0, 1, 0);
	want_wc(a->scq, 1, IBV_WC_REM_INV_REQ_ERR);
	need(*word(b, 0) == 0);
	pair_unmake(a, b);
}

/*
 * Several QPs whose peers have one word in common: as many atomics as their batches
 * hold are under way at a time.
 */
enum { QPS = 4, BATCH = 32, SHARED = 64, OWN = 128 };

struct swarm {
	struct end	a[QPS], b[QPS];
	struct end	target;
};

static void swarm_make(struct swarm *s, struct end *a, struct end *b)
{
	/* one request too many, and a responder may have forgotten what it is asked again */
	static const int rd_atomic[] = { 1, 2, 3, 8 };
	struct how how = atomic_how;
	int q;

	a->qp_access = ATOMIC;
	b->qp_access = ATOMIC;
	for (q = 0; q < QPS; q++) {
		s->a[q] = *a;
		s->b[q] = *b;
		how.rd_atomic = rd_atomic[q % 4];
		pair_make(&s->a[q], &s->b[q], &how);
	}
	/* b[0]'s word is everybody's: by MRs in each one's PD */
	s->target = s->b[0];
	for (q = 1; q < QPS; q++) {
		verb(ibv_dereg_mr(s->b[q].mr));
		s->b[q].mr = ibv_reg_mr(s->b[q].pd, s->target.buf, s->target.size,
					atomic_how.mr_access);
		need(s->b[q].mr);
	}
}

static void swarm_post(struct swarm *s, int q, enum ibv_wr_opcode op, int id, size_t at,
		       uint64_t compare_add, uint64_t swap)
{
	struct end to = s->b[q];

	to.buf = s->target.buf;
	post_atomic(&s->a[q], &to, op, id, id * 8, at, compare_add, swap);
}

/* What the word was. */
static uint64_t swarm_answer(struct swarm *s, int q, int id)
{
	want_wc(s->a[q].scq, id, IBV_WC_SUCCESS);
	return *word(&s->a[q], id * 8);
}

static void swarm_unmake(struct swarm *s)
{
	int q;

	for (q = 0; q < QPS; q++)
		pair_unmake(&s->a[q], &s->b[q]);
}

/*
 * ARGUMENT: how many. Several QPs add to one word: each addition happens once,
 * whatever is lost on the way. Each answer is one that nobody else has got.
 */
static void test_exactly_once(struct end *a, struct end *b, const char *arg)
{
	int total = arg ? atoi(arg) : 600, n = 0, i, q;
	uint8_t *seen = calloc(total + QPS * BATCH, 1);
	struct swarm s;
	uint64_t old;

	need(seen);
	swarm_make(&s, a, b);
	for (; n < total; n += QPS * BATCH) {
		for (q = 0; q < QPS; q++)
			for (i = 0; i < BATCH; i++)
				swarm_post(&s, q, IBV_WR_ATOMIC_FETCH_AND_ADD, i, SHARED, 1, 0);
		for (q = 0; q < QPS; q++)
			for (i = 0; i < BATCH; i++) {
				old = swarm_answer(&s, q, i);
				if (old >= (uint64_t)(n + QPS * BATCH) || seen[old]++)
					die("answer %llu came twice, or never can", (unsigned long long)old);
			}
	}
	if (*word(&s.target, SHARED) != (uint64_t)n)
		die("%d additions, but the word is %llu", n,
		    (unsigned long long)*word(&s.target, SHARED));
	swarm_unmake(&s);
	free(seen);
}

/*
 * ARGUMENT: how many. Every other swap turns a word of the QP's own from 0 to 1 or back:
 * one that happened twice would turn it after the next one has, and the one behind that
 * would find the wrong value. The others compete for the common word, from each number to
 * the next: each step is made by one of them, and that one is told so.
 */
static void test_swap_once(struct end *a, struct end *b, const char *arg)
{
	int total = arg ? atoi(arg) : 600, n, i, q;
	uint8_t *seen = calloc(total + QPS * BATCH, 1);
	uint64_t steps = 0, from = 0, old;
	struct swarm s;

	need(seen);
	swarm_make(&s, a, b);
	for (n = 0; n < total; n += QPS * BATCH) {
		for (i = 0; i < BATCH; i++)
			for (q = 0; q < QPS; q++)
				if (i & 1)
					swarm_post(&s, q, IBV_WR_ATOMIC_CMP_AND_SWP, i, OWN + 8 * q,
						   i >> 1 & 1, !(i >> 1 & 1));
				else
					swarm_post(&s, q, IBV_WR_ATOMIC_CMP_AND_SWP, i, SHARED,
						   from + i / 2, from + i / 2 + 1);
		for (q = 0; q < QPS; q++)
			for (i = 0; i < BATCH; i++) {
				old = swarm_answer(&s, q, i);
				if (i & 1) {
					if (old != (i >> 1 & 1))
						die("own word: swap %d found %llu", i,
						    (unsigned long long)old);
				} else if (old == from + i / 2) {
					if (seen[old]++)
						die("step from %llu was made twice",
						    (unsigned long long)old);
					steps++;
				}
			}
		if (*word(&s.target, SHARED) != steps)
			die("%llu steps, but the word is %llu", (unsigned long long)steps,
			    (unsigned long long)*word(&s.target, SHARED));
		for (q = 0; q < QPS; q++)
			need(*word(&s.target, OWN + 8 * q) == 0);
		from = steps;
	}
	need(steps >= BATCH / 2);
	swarm_unmake(&s);
	free(seen);
}

#define CAP_FLUSH_GLOBAL	(1ULL << 38)
#define CAP_FLUSH_PERSISTENT	(1ULL << 39)
#define CAP_ATOMIC_WRITE	(1ULL << 40)

/* Linux 6.2 and later know both ATOMIC WRITE and FLUSH, and then so has the device to. */
static void need_cap(struct end *e, uint64_t cap)
{
	struct ibv_device_attr_ex attr = { };
	struct utsname kernel;
	int major, minor;

	verb(ibv_query_device_ex(e->ctx, NULL, &attr));
	if (attr.device_cap_flags_ex & cap)
		return;
	need(!uname(&kernel) && sscanf(kernel.release, "%d.%d", &major, &minor) == 2);
	if (major > 6 || (major == 6 && minor >= 2))
		die("Linux %s, but the device has not the capability %#llx", kernel.release,
		    (unsigned long long)cap);
	printf("Linux %s has neither ATOMIC WRITE nor FLUSH\n", kernel.release);
	exit(SKIP);
}

/* Replace a's QP by one that has these builders. */
static struct ibv_qp_ex *make_ex(struct end *a, struct end *b, uint64_t ops, int access)
{
	struct ibv_qp_init_attr_ex init = {
		.qp_type = IBV_QPT_RC, .sq_sig_all = 1,
		.cap = { .max_send_wr = 64, .max_recv_wr = 64, .max_send_sge = 1,
			 .max_recv_sge = 1 },
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = ops,
	};
	struct how how = atomic_how;

	how.mr_access |= access;
	a->qp_access = b->qp_access = ATOMIC | access;
	end_make(a, &how);
	end_make(b, &how);
	verb(ibv_destroy_qp(a->qp));
	init.pd = a->pd;
	init.send_cq = a->scq;
	init.recv_cq = a->rcq;
	a->qp = ibv_create_qp_ex(a->ctx, &init);
	if (!a->qp)
		die("no extended QP: %s", strerror(errno));
	pair_connect(a, b, &how);
	return ibv_qp_to_qp_ex(a->qp);
}

static void post_atomic_write(struct ibv_qp_ex *qpx, struct end *b, uint32_t rkey, size_t at,
			      uint64_t value)
{
	ibv_wr_start(qpx);
	qpx->wr_id = 1;
	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_atomic_write(qpx, rkey, (uintptr_t)b->buf + at, &value);
	verb(ibv_wr_complete(qpx));
}

/*
 * ARGUMENT: how many, with losses on the way. Then no errors are tried: a NAK that is
 * lost does not come again, as the responder is in ERR.
 */
static void test_atomic_write(struct end *a, struct end *b, const char *arg)
{
	int rounds = arg ? atoi(arg) : 100, i;
	struct ibv_qp_ex *qpx;
	struct ibv_wc wc;

	need_cap(b, CAP_ATOMIC_WRITE);
	qpx = make_ex(a, b, IBV_QP_EX_WITH_ATOMIC_WRITE, 0);
	for (i = 0; i < rounds; i++) {
		post_atomic_write(qpx, b, b->mr->rkey, 8, 0x0102030405060708 * i);
		wc = wait_wc(a->scq);
		need(wc.status == IBV_WC_SUCCESS && wc.wr_id == 1);
		need(wc.opcode == IBV_WC_ATOMIC_WRITE);
		need(*word(b, 8) == 0x0102030405060708 * i);
	}
	need(*word(b, 0) == 0 && *word(b, 16) == 0);
	/* many at once: they take turns at the responder's resources */
	for (i = 0; i < 64; i++)
		post_atomic_write(qpx, b, b->mr->rkey, 8 * i, i + 1);
	for (i = 0; i < 64; i++)
		want_wc(a->scq, 1, IBV_WC_SUCCESS);
	for (i = 0; i < 64; i++)
		need(*word(b, 8 * i) == (uint64_t)i + 1);

	if (arg) {
		pair_unmake(a, b);
		return;
	}

	post_atomic_write(qpx, b, b->mr->rkey, 4, 1);		/* not aligned */
	want_wc(a->scq, 1, IBV_WC_REM_INV_REQ_ERR);
	pair_unmake(a, b);
	qpx = make_ex(a, b, IBV_QP_EX_WITH_ATOMIC_WRITE, 0);
	post_atomic_write(qpx, b, b->mr->rkey, b->size, 1);
	want_wc(a->scq, 1, IBV_WC_REM_ACCESS_ERR);
	pair_unmake(a, b);
	qpx = make_ex(a, b, IBV_QP_EX_WITH_ATOMIC_WRITE, 0);
	post_atomic_write(qpx, b, b->mr->rkey ^ 0x100, 0, 1);
	want_wc(a->scq, 1, IBV_WC_REM_ACCESS_ERR);
	need(*word(b, 0) == 0);
	pair_unmake(a, b);
}

#ifdef HAVE_WR_FLUSH
#define FLUSH_OPS	(IBV_QP_EX_WITH_FLUSH | IBV_QP_EX_WITH_RDMA_WRITE)
#else
/* What a newer libibverbs has */
#define FLUSH_OPS			IBV_QP_EX_WITH_RDMA_WRITE
#define IBV_ACCESS_FLUSH_GLOBAL		(1 << 8)
#define IBV_ACCESS_FLUSH_PERSISTENT	(1 << 9)
#define IBV_FLUSH_GLOBAL		(1 << 0)
#define IBV_FLUSH_PERSISTENT		(1 << 1)
#define IBV_FLUSH_RANGE			0
#define IBV_FLUSH_MR			1
#define IBV_WC_FLUSH			8

/* Offsets in struct rxe_queue_buf and struct rxe_send_wqe (rdma_user_rxe.h) */
enum {
	LOG2_SIZE = 0, INDEX_MASK = 4, PRODUCER = 128, SLOTS = 384,
	WR_OPCODE = 12, WR_RKEY = 36, WR_TYPE = 40, WR_LEVEL = 41, DMA_LENGTH = 184,
};

static uint32_t *field(uint8_t *at, size_t offset)
{
	return (uint32_t *)(at + offset);
}

/* The WQE with that id which a builder has just written, and not yet handed over. */
static uint8_t *new_wqe(uint64_t id)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long from, to;
	uint8_t *ring, *wqe, *found = NULL;
	char line[512];

	need(maps);
	while (fgets(line, sizeof(line), maps)) {
		if (!strstr(line, "uverbs") || sscanf(line, "%lx-%lx", &from, &to) != 2)
			continue;
		ring = (uint8_t *)from;
		wqe = ring + SLOTS + ((size_t)(*field(ring, PRODUCER) & *field(ring, INDEX_MASK)) <<
				      *field(ring, LOG2_SIZE));
		if (wqe + WR_LEVEL < (uint8_t *)to && *(uint64_t *)wqe == id) {
			need(!found);
			found = wqe;
		}
	}
	fclose(maps);
	need(found);
	return found;
}

static void ibv_wr_flush(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t address, size_t len,
			 uint8_t type, uint8_t level)
{
	uint64_t id = qpx->wr_id, mark = 0x666c757368000000ULL | id;
	uint8_t *wqe;

	qpx->wr_id = mark;
	ibv_wr_rdma_write(qpx, rkey, address);
	wqe = new_wqe(mark);
	*(uint64_t *)wqe = id;
	*field(wqe, WR_OPCODE) = 14;	/* IB_UVERBS_WR_FLUSH */
	*field(wqe, DMA_LENGTH) = len;		/* where the newer one has it, too */
	*field(wqe, WR_RKEY) = rkey;
	wqe[WR_TYPE] = type;
	wqe[WR_LEVEL] = level;
}
#endif

#define FLUSH_GLOBAL		IBV_ACCESS_FLUSH_GLOBAL

static void post_flush(struct ibv_qp_ex *qpx, struct end *b, uint32_t rkey, size_t at, size_t len,
		       uint8_t type, uint8_t level)
{
	ibv_wr_start(qpx);
	qpx->wr_id = 2;
	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_flush(qpx, rkey, (uintptr_t)b->buf + at, len, type, level);
	verb(ibv_wr_complete(qpx));
}

static void flush_fails(struct end *a, struct end *b, int qp_access, size_t at, size_t len,
			uint8_t type, uint8_t level, enum ibv_wc_status status)
{
	struct ibv_qp_ex *qpx = make_ex(a, b, FLUSH_OPS, FLUSH_GLOBAL);
	struct ibv_qp_attr attr = { .qp_access_flags = qp_access };

	printf("flush of %zu at %zu, type %u, level %u\n", len, at, type, level);
	verb(ibv_modify_qp(b->qp, &attr, IBV_QP_ACCESS_FLAGS));
	post_flush(qpx, b, b->mr->rkey, at, len, type, level);
	want_wc(a->scq, 2, status);
	pair_unmake(a, b);
}

/* ARGUMENT: as for atomic_write */
static void test_flush_global(struct end *a, struct end *b, const char *arg)
{
	int rounds = arg ? atoi(arg) : 40, i;
	struct ibv_qp_ex *qpx;
	struct ibv_wc wc;

	need_cap(b, CAP_FLUSH_GLOBAL);
	qpx = make_ex(a, b, FLUSH_OPS, FLUSH_GLOBAL);
	for (i = 0; i < rounds; i++) {
		memset(a->buf, i + 1, 20000);
		ibv_wr_start(qpx);
		qpx->wr_id = 3;
		qpx->wr_flags = IBV_SEND_SIGNALED;
		ibv_wr_rdma_write(qpx, b->mr->rkey, (uintptr_t)b->buf);
		ibv_wr_set_sge(qpx, a->mr->lkey, (uintptr_t)a->buf, 20000);
		verb(ibv_wr_complete(qpx));
		if (i & 1)
			post_flush(qpx, b, b->mr->rkey, 0, 20000, IBV_FLUSH_GLOBAL, IBV_FLUSH_RANGE);
		else	/* address and length do not count */
			post_flush(qpx, b, b->mr->rkey, 1 << 30, 1 << 30, IBV_FLUSH_GLOBAL,
				   IBV_FLUSH_MR);
		want_wc(a->scq, 3, IBV_WC_SUCCESS);
		wc = wait_wc(a->scq);
		need(wc.status == IBV_WC_SUCCESS && wc.wr_id == 2 && wc.opcode == IBV_WC_FLUSH);
		need(b->buf[0] == i + 1 && b->buf[19999] == i + 1);
	}
	pair_unmake(a, b);
	if (arg)
		return;

	flush_fails(a, b, ATOMIC | FLUSH_GLOBAL, 60000, 10000, IBV_FLUSH_GLOBAL, IBV_FLUSH_RANGE,
		    IBV_WC_REM_ACCESS_ERR);
	flush_fails(a, b, ATOMIC | FLUSH_GLOBAL | IBV_ACCESS_FLUSH_PERSISTENT, 0, 100,
		    IBV_FLUSH_PERSISTENT, IBV_FLUSH_RANGE, IBV_WC_REM_ACCESS_ERR);
	flush_fails(a, b, ATOMIC, 0, 100, IBV_FLUSH_GLOBAL, IBV_FLUSH_RANGE,
		    IBV_WC_REM_INV_REQ_ERR);
	flush_fails(a, b, ATOMIC | FLUSH_GLOBAL, 0, 100, IBV_FLUSH_PERSISTENT, IBV_FLUSH_RANGE,
		    IBV_WC_REM_INV_REQ_ERR);
	flush_fails(a, b, ATOMIC | FLUSH_GLOBAL, 0, 100, 0, IBV_FLUSH_RANGE,
		    IBV_WC_REM_INV_REQ_ERR);
	flush_fails(a, b, ATOMIC | FLUSH_GLOBAL, 0, 100, IBV_FLUSH_GLOBAL, 2,
		    IBV_WC_REM_INV_REQ_ERR);

	/* what is not persistent cannot be registered as if it were */
	end_make(a, &atomic_how);
	need(!ibv_reg_mr(a->pd, a->buf, a->size, IBV_ACCESS_LOCAL_WRITE |
			 IBV_ACCESS_FLUSH_PERSISTENT) && errno == EINVAL);
	end_unmake(a);
}

/*
 * ARGUMENT: persistent memory as a device that can be mapped.  What it holds is lost.
 */
static void test_flush_persistent(struct end *a, struct end *b, const char *arg)
{
	enum { LEN = 2 << 20, ACCESS = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
	       IBV_ACCESS_FLUSH_PERSISTENT };
	struct ibv_qp_attr attr = { .qp_access_flags = ATOMIC | ACCESS | FLUSH_GLOBAL };
	struct end pmem;
	struct ibv_qp_ex *qpx;
	struct ibv_wc wc;
	uint8_t *at;
	int fd, i;

	need(arg);
	need_cap(b, CAP_FLUSH_PERSISTENT);
	qpx = make_ex(a, b, FLUSH_OPS, FLUSH_GLOBAL);
	verb(ibv_modify_qp(b->qp, &attr, IBV_QP_ACCESS_FLAGS));

	/* aligned, and with other memory behind it */
	at = mmap(NULL, 3 * LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	need(at != MAP_FAILED);
	at += LEN - (uintptr_t)at % LEN;
	fd = open(arg, O_RDWR);
	if (fd < 0 || mmap(at, LEN, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) != at)
		die("%s: %s", arg, strerror(errno));
	memset(at, GUARD, LEN);
	need(!ibv_reg_mr(b->pd, at + LEN - 4096, 8192, ACCESS) && errno == EINVAL);
	pmem = *b;
	pmem.buf = at;
	pmem.mr = ibv_reg_mr(b->pd, at, LEN, ACCESS | FLUSH_GLOBAL);
	if (!pmem.mr)
		die("no MR: %s", strerror(errno));

	for (i = 0; i < 40; i++) {
		fill(a->buf, 20000, i);
		post_send(a, IBV_WR_RDMA_WRITE, 3, 0, 20000, &pmem);
		post_flush(qpx, &pmem, pmem.mr->rkey, 0, 20000,
			   IBV_FLUSH_PERSISTENT | (i & 2 ? IBV_FLUSH_GLOBAL : 0),
			   i & 1 ? IBV_FLUSH_RANGE : IBV_FLUSH_MR);
		want_wc(a->scq, 3, IBV_WC_SUCCESS);
		wc = wait_wc(a->scq);
		need(wc.status == IBV_WC_SUCCESS && wc.wr_id == 2 && wc.opcode == IBV_WC_FLUSH);
		need(same(at, 20000, i) && at[20000] == GUARD);
	}
	post_flush(qpx, &pmem, pmem.mr->rkey, LEN - 50, 100, IBV_FLUSH_PERSISTENT,
		   IBV_FLUSH_RANGE);
	want_wc(a->scq, 2, IBV_WC_REM_ACCESS_ERR);
	verb(ibv_dereg_mr(pmem.mr));
	munmap(at, LEN);

	/* in the memory, not in the mapping */
	at = mmap(NULL, LEN, PROT_READ, MAP_SHARED, fd, 0);
	need(at != MAP_FAILED && same(at, 20000, i - 1) && at[20000] == GUARD);
	munmap(at, LEN);
	close(fd);
	pair_unmake(a, b);
}

const struct test atomic_tests[] = {
	{ "atomics", test_atomics },
	{ "atomic_errors", test_atomic_errors },
	{ "exactly_once", test_exactly_once },
	{ "swap_once", test_swap_once },
	{ "atomic_write", test_atomic_write },
	{ "flush_global", test_flush_global },
	{ "flush_persistent", test_flush_persistent },
	{ }
};
