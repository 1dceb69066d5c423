// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of "verbs" that are a hostile process, or one with bad luck: what it does hurts
 * nobody but itself.
 */
#define _GNU_SOURCE
#include "verbs.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_RINGS	16

/* Offsets in struct rxe_queue_buf (rdma_user_rxe.h) */
#define PRODUCER	128
#define CONSUMER	256
#define SLOTS		384

struct ring {
	uint8_t	*at;
	size_t	size;
};

static struct ring rings[MAX_RINGS];
static int nr_rings;

static uint32_t rnd_state;

static uint32_t rnd(void)
{
	rnd_state ^= rnd_state << 13;
	rnd_state ^= rnd_state >> 17;
	rnd_state ^= rnd_state << 5;
	return rnd_state;
}

static void find_rings(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long from, to;
	char line[512];

	need(maps);
	nr_rings = 0;
	while (nr_rings < MAX_RINGS && fgets(line, sizeof(line), maps))
		if (strstr(line, "uverbs") && sscanf(line, "%lx-%lx", &from, &to) == 2)
			rings[nr_rings++] = (struct ring){ (uint8_t *)from, to - from };
	fclose(maps);
	need(nr_rings);
}

/*
 * Rings
 */

/* Values that break what believes them */
static uint32_t evil(void)
{
	static const uint32_t values[] = {
		0, 1, 0x20, 0x21, 0x7f, 0x80, 0xffff, 0x10000, 0x7fffffff, 0x80000000,
		0xfffffff0, 0xffffffff,
	};

	return rnd() % 4 ? values[rnd() % ARRAY_SIZE(values)] : rnd();
}

static void *scribble(void *unused)
{
	const struct ring *r;
	size_t at;

	(void)unused;
	for (;;) {
		r = &rings[rnd() % nr_rings];
		switch (rnd() % 8) {
		case 0:
			at = PRODUCER;
			break;
		case 1:
			at = CONSUMER;
			break;
		case 2:		/* the sizes, seldom: the provider falls over them */
			at = rnd() % 20000 ? SLOTS : rnd() % 8;
			break;
		default:
			at = SLOTS + rnd() % (r->size - SLOTS);
			break;
		}
		__atomic_store_n((uint32_t *)(r->at + at / 4 * 4), evil(), __ATOMIC_RELAXED);
		if (rnd() % 64 == 0)
			usleep(rnd() % 200);
	}
	return NULL;
}

/* "There is something in the send queue": the provider would believe its indices. */
static void doorbell(struct end *e)
{
	struct ib_uverbs_post_send_resp resp;
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_post_send cmd;
	} req = {
		.hdr = {
			.command = IB_USER_VERBS_CMD_POST_SEND,
			.in_words = sizeof(req) / 4,
			.out_words = sizeof(resp) / 4,
		},
		.cmd = {
			.response = (uintptr_t)&resp,
			.qp_handle = e->qp->handle,
			.wqe_size = sizeof(struct ib_uverbs_send_wr),
		},
	};

	/* fails when the QP is in an error */
	if (write(e->ctx->cmd_fd, &req, sizeof(req)) < 0)
		need(errno == EINVAL || errno == ENOMEM);
}

static void open_again(struct end *e, const struct end *as)
{
	char gid[12];

	snprintf(gid, sizeof(gid), "%d", as->gid_index);
	end_open(e, ibv_get_device_name(as->ctx->device), gid);
}

static void post_srq(struct end *e, struct ibv_srq *srq, const struct ibv_mr *mr, size_t len)
{
	struct ibv_sge sge = sge_at(e, 0, len);
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	sge.lkey = mr->lkey;
	verb(ibv_post_srq_recv(srq, &wr, &bad));
}

/* How the QPs of a round are: RC, RC with an SRQ, UC, UD */
enum scribbled { SCRIBBLED_RC, SCRIBBLED_SRQ, SCRIBBLED_UC, SCRIBBLED_UD, NR_SCRIBBLED };

/* Something to do for the device, with the keys of @victim too */
static void post_some(struct end *from, struct end *to, const struct end *victim,
		      struct ibv_ah *ah)
{
	static const enum ibv_wr_opcode op[] = {
		IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ,
	};
	enum ibv_qp_type type = from->qp->qp_type;
	const struct end *local = rnd() % 16 ? from : victim;
	struct ibv_sge sge = sge_at(local, 0, rnd() % (ah ? 4000 : 100000));
	struct ibv_send_wr wr = send_wr(op[rnd() % (type == IBV_QPT_RC ? 4 : 3)], 0, &sge, 1,
					rnd() % 4 ? to : victim, 0);

	if (ah) {
		wr.opcode = IBV_WR_SEND;
		wr.wr.ud.ah = ah;
		wr.wr.ud.remote_qpn = to->qp->qp_num;
		wr.wr.ud.remote_qkey = QKEY;
	}
	post_wr(from, &wr);
}

/* A process of its own: the provider may fall over what it finds in the rings. */
static void scribbler(const struct end *first, const struct end *second,
		      const struct end *victim, enum scribbled kind, unsigned int seed)
{
	static const enum ibv_qp_type types[NR_SCRIBBLED] = {
		IBV_QPT_RC, IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD
	};
	struct how how = {
		.type = types[kind], .size = 1 << 20, .timeout = 10, .retry = 1, .rnr_retry = 1
	};
	struct end a = { }, b = { };
	struct ibv_ah *ah_a = NULL, *ah_b = NULL;
	struct ibv_srq *srq = NULL;
	struct ibv_mr *srq_mr = NULL;
	pthread_t thread;
	double end;
	int i;

	rnd_state = seed;
	alarm(20);
	open_again(&a, first);
	open_again(&b, second);
	end_make(&a, &how);
	if (kind == SCRIBBLED_SRQ) {
		struct ibv_srq_init_attr init = { .attr = { .max_wr = 64, .max_sge = 4 } };
		struct ibv_pd *pd = ibv_alloc_pd(b.ctx);

		need(pd);
		srq = how.srq = ibv_create_srq(pd, &init);
		need(srq);
		end_make(&b, &how);
		srq_mr = ibv_reg_mr(pd, b.buf, b.size, IBV_ACCESS_LOCAL_WRITE);
		need(srq_mr);
	} else {
		end_make(&b, &how);
	}
	pair_connect(&a, &b, &how);
	if (kind == SCRIBBLED_UD) {
		ah_a = end_ah(&a, &b);
		ah_b = end_ah(&b, &a);
	}
	find_rings();
	for (i = 0; i < 32; i++) {
		post_recv(&a, i, 0, rnd() % 100000);
		if (srq)
			post_srq(&b, srq, srq_mr, rnd() % 100000);
		else
			post_recv(&b, i, 0, rnd() % 100000);
		post_some(&a, &b, victim, ah_a);
		post_some(&b, &a, victim, ah_b);
	}
	need(!pthread_create(&thread, NULL, scribble, NULL));
	end = seconds() + 0.3;
	while (seconds() < end) {
		doorbell(rnd() % 2 ? &a : &b);
		if (rnd() % 16 == 0)
			usleep(rnd() % 500);
	}
	/* in any order, or not at all */
	if (seed % 3 == 0)
		_exit(0);
	ibv_destroy_qp(seed % 2 ? a.qp : b.qp);
	ibv_destroy_qp(seed % 2 ? b.qp : a.qp);
	ibv_destroy_cq(a.scq);
	_exit(0);
}

/*
 * ARGUMENT: rounds.  Memory of another process, this one, on the same devices stays as
 * it is. It has no rings while it forks: they would be the child's too.
 */
static void test_scribble(struct end *a, struct end *b, const char *arg)
{
	const struct how how = { .size = 1 << 20 };
	int i, status, rounds = arg ? atoi(arg) : 10, intact = 0;
	struct ibv_pd *pd = ibv_alloc_pd(a->ctx);
	struct ibv_mr *mr;
	struct end victim = *a;
	uint8_t *guarded;
	size_t j;
	pid_t pid;

	need(pd);
	guarded = mmap(NULL, how.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	need(guarded != MAP_FAILED);
	need(!madvise(guarded, how.size, MADV_DONTFORK));
	memset(guarded, GUARD, how.size);
	mr = ibv_reg_mr(pd, guarded, how.size, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
			IBV_ACCESS_REMOTE_WRITE);
	need(mr);
	victim.buf = guarded;
	victim.mr = mr;
	for (i = 1; i <= rounds; i++) {
		pid = fork();
		need(pid >= 0);
		if (!pid)
			scribbler(a, b, &victim, i % NR_SCRIBBLED, i * 2654435761u);
		need(waitpid(pid, &status, 0) == pid);
		printf("round %d: status %x\n", i, status);
		/* the provider's own fault, or a verb that failed */
		need(!WIFSIGNALED(status) || WTERMSIG(status) == SIGSEGV ||
		     WTERMSIG(status) == SIGBUS);
		intact += !WIFSIGNALED(status);
		for (j = 0; j < how.size; j++)
			need(guarded[j] == GUARD);
	}
	/* else it has tested little */
	need(intact >= rounds / 2);
	verb(ibv_dereg_mr(mr));
	verb(ibv_dealloc_pd(pd));
	/* the devices work as before */
	pair_works(a, b, &how);
}

/*
 * Keys of another process
 */

/* What the owner lets be known */
struct known {
	uint64_t	addr;
	uint32_t	lkey;
	uint32_t	rkeys[3];	/* of the MR, of windows of both types */
};

enum { KEYED_BYTES = 4096 };

/* The status of a WR of @from, of eight bytes; then both are connected anew. */
static enum ibv_wc_status keyed(struct end *from, struct end *to, enum ibv_wr_opcode op,
				uint64_t addr, uint32_t rkey, struct ibv_sge *sge)
{
	struct ibv_send_wr wr = send_wr(op, 1, sge, sge ? 1 : 0, NULL, 0);
	struct end *ends[] = { from, to };
	enum ibv_wc_status status;
	struct ibv_wc wc;
	int i;

	if (op == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = addr;
		wr.wr.atomic.compare_add = 1;
		wr.wr.atomic.rkey = rkey;
	} else if (op == IBV_WR_SEND_WITH_INV || op == IBV_WR_LOCAL_INV) {
		wr.invalidate_rkey = rkey;
	} else {
		wr.wr.rdma.remote_addr = addr;
		wr.wr.rdma.rkey = rkey;
	}
	post_wr(from, &wr);
	status = wait_wc(from->scq).status;
	for (i = 0; i < 2; i++)
		end_state(ends[i], IBV_QPS_RESET);
	for (i = 0; i < 2; i++)
		while (ibv_poll_cq(ends[i]->scq, 1, &wc) > 0 ||
		       ibv_poll_cq(ends[i]->rcq, 1, &wc) > 0)
			;
	pair_connect(from, to, &(struct how){ });
	return status;
}

/* Both QPs are its own; the memory and its keys are of another process, on the second device. */
static void key_thief(const struct end *first, const struct end *second, const struct known *known)
{
	static const enum ibv_wr_opcode remote[] = {
		IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD,
	};
	const struct how how = { .size = KEYED_BYTES };
	struct ibv_sge stolen = { .addr = known->addr, .length = 8, .lkey = known->lkey };
	struct ibv_recv_wr recv = { .wr_id = 1, .sg_list = &stolen, .num_sge = 1 }, *bad;
	struct end a = { }, b = { };
	struct ibv_sge sge;
	size_t i, k;

	open_again(&a, first);
	open_again(&b, second);
	a.qp_access = b.qp_access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
				    IBV_ACCESS_REMOTE_ATOMIC;
	pair_make(&a, &b, &how);
	sge = sge_at(&a, 0, 8);
	for (k = 0; k < ARRAY_SIZE(known->rkeys); k++) {
		for (i = 0; i < ARRAY_SIZE(remote); i++)
			need(keyed(&a, &b, remote[i], known->addr, known->rkeys[k], &sge) ==
			     IBV_WC_REM_ACCESS_ERR);
		/* nor may the keys be taken from their owner */
		post_recv(&b, 1, 0, 8);
		need(keyed(&a, &b, IBV_WR_SEND_WITH_INV, 0, known->rkeys[k], &sge) ==
		     IBV_WC_REM_ACCESS_ERR);
		need(keyed(&b, &a, IBV_WR_LOCAL_INV, 0, known->rkeys[k], NULL) !=
		     IBV_WC_SUCCESS);
	}
	/* as its own memory: what is sent, what is read into, what is received into */
	post_recv(&a, 1, 0, 8);
	need(keyed(&b, &a, IBV_WR_SEND, 0, 0, &stolen) == IBV_WC_LOC_PROT_ERR);
	need(keyed(&b, &a, IBV_WR_RDMA_READ, (uintptr_t)a.buf, a.mr->rkey, &stolen) ==
	     IBV_WC_LOC_PROT_ERR);
	verb(ibv_post_recv(b.qp, &recv, &bad));
	need(keyed(&a, &b, IBV_WR_SEND, 0, 0, &sge) == IBV_WC_REM_OP_ERR);
	/* its own keys are good for all this */
	for (i = 0; i < ARRAY_SIZE(remote) - 1; i++)
		need(keyed(&a, &b, remote[i], (uintptr_t)b.buf, b.mr->rkey, &sge) ==
		     IBV_WC_SUCCESS);
	pair_unmake(&a, &b);
	_exit(0);
}

/* Bind @mw, of type 2, to all of the memory. */
static uint32_t bind_all(struct end *e, struct ibv_mw *mw, int access)
{
	struct ibv_send_wr wr = {
		.wr_id = 2, .opcode = IBV_WR_BIND_MW, .send_flags = IBV_SEND_SIGNALED,
		.bind_mw = {
			.mw = mw,
			.rkey = ibv_inc_rkey(mw->rkey),
			.bind_info = {
				.mr = e->mr, .addr = (uintptr_t)e->buf, .length = e->size,
				.mw_access_flags = access,
			},
		},
	};

	post_wr(e, &wr);
	want_wc(e->scq, 2, IBV_WC_SUCCESS);
	return wr.bind_mw.rkey;
}

/* A process that knows address and keys of another one's memory can do nothing with them. */
static void test_foreign_keys(struct end *a, struct end *b, const char *arg)
{
	const int remote = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
			   IBV_ACCESS_REMOTE_ATOMIC;
	const struct how how = {
		.size = KEYED_BYTES,
		.mr_access = remote | IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND,
	};
	struct ibv_mw_bind bind = {
		.wr_id = 1, .send_flags = IBV_SEND_SIGNALED,
		.bind_info = { .length = KEYED_BYTES, .mw_access_flags = remote },
	};
	int pipes[2], status;
	struct ibv_mw *one, *two;
	struct known known;
	struct ibv_sge sge;
	size_t i;
	pid_t pid;

	(void)arg;
	need(!pipe(pipes));
	/* before there are rings, which would be the child's too */
	pid = fork();
	need(pid >= 0);
	if (!pid) {
		need(read(pipes[0], &known, sizeof(known)) == sizeof(known));
		key_thief(a, b, &known);
	}
	pair_make(a, b, &how);
	memset(b->buf, GUARD, b->size);
	one = ibv_alloc_mw(b->pd, IBV_MW_TYPE_1);
	two = ibv_alloc_mw(b->pd, IBV_MW_TYPE_2);
	need(one && two);
	bind.bind_info.mr = b->mr;
	bind.bind_info.addr = (uintptr_t)b->buf;
	verb(ibv_bind_mw(b->qp, one, &bind));
	want_wc(b->scq, 1, IBV_WC_SUCCESS);
	known = (struct known){
		.addr = (uintptr_t)b->buf, .lkey = b->mr->lkey,
		.rkeys = { b->mr->rkey, one->rkey, bind_all(b, two, remote) },
	};
	need(write(pipes[1], &known, sizeof(known)) == sizeof(known));
	need(waitpid(pid, &status, 0) == pid);
	need(!status);
	for (i = 0; i < b->size; i++)
		need(b->buf[i] == GUARD);
	/* for their owner they are as good as before; the last one goes with its QP's RESET */
	fill(a->buf, 8, 0);
	sge = sge_at(a, 0, 8);
	for (i = ARRAY_SIZE(known.rkeys); i-- > 0; ) {
		need(keyed(a, b, IBV_WR_RDMA_WRITE, known.addr + i * 8, known.rkeys[i], &sge) ==
		     IBV_WC_SUCCESS);
		need(same(b->buf + i * 8, 8, 0));
	}
	verb(ibv_dealloc_mw(one));
	verb(ibv_dealloc_mw(two));
	pair_unmake(a, b);
}

/*
 * Destruction
 */

enum { QP, SCQ, RCQ, MR, CHANNEL, NR_OBJECTS };

/* true: it is gone; false: something else has to go before */
static bool destroy(struct end *e, int object)
{
	int err = 0;

	switch (object) {
	case QP:
		err = ibv_destroy_qp(e->qp);
		break;
	case SCQ:
		err = ibv_destroy_cq(e->scq);
		break;
	case RCQ:
		err = ibv_destroy_cq(e->rcq);
		break;
	case MR:
		err = ibv_dereg_mr(e->mr);
		break;
	case CHANNEL:
		err = ibv_destroy_comp_channel(e->channel);
		break;
	}
	if (err && err != EBUSY)
		die("object %d: %s", object, err_name(err));
	return !err;
}

/* All orders, with messages under way */
static void orders(struct end *a, struct end *b, const char *arg, int order[], int n)
{
	const struct how how = { .size = 1 << 20, .timeout = 10, .retry = 1 };
	int i, swap, left, tries;
	bool gone[NR_OBJECTS] = { };

	if (n < NR_OBJECTS) {
		for (i = n; i < NR_OBJECTS; i++) {
			swap = order[n], order[n] = order[i], order[i] = swap;
			orders(a, b, arg, order, n + 1);
			swap = order[n], order[n] = order[i], order[i] = swap;
		}
		return;
	}
	pair_make(a, b, &how);
	for (i = 0; i < 8; i++) {
		post_recv(a, i, 0, 1 << 20);
		post_send(a, IBV_WR_RDMA_READ, i, 0, 500000, b);
		post_send(b, IBV_WR_SEND, i, 0, 1000000, NULL);
	}
	for (tries = 0, left = NR_OBJECTS; left; tries++) {
		need(tries < NR_OBJECTS);
		for (i = 0; i < NR_OBJECTS; i++) {
			if (gone[order[i]] || !destroy(a, order[i]))
				continue;
			gone[order[i]] = true;
			left--;
		}
	}
	verb(ibv_dealloc_pd(a->pd));
	munmap(a->buf, a->size);
	end_unmake(b);
}

static void test_destroy_orders(struct end *a, struct end *b, const char *arg)
{
	int order[NR_OBJECTS] = { QP, SCQ, RCQ, MR, CHANNEL };

	orders(a, b, arg, order, 0);
}

static void unmap_rings(void)
{
	int i;

	for (i = 0; i < nr_rings; i++)
		need(!munmap(rings[i].at, rings[i].size));
}

/* The rings are not mapped any more while the device works on them. */
static void test_unmap_rings(struct end *a, struct end *b, const char *arg)
{
	const struct how how = { .size = 1 << 20 };
	struct end ea = { }, eb = { };
	int i, status, round;
	pid_t pid;

	(void)arg;
	for (round = 0; round < 3; round++) {
		pid = fork();
		need(pid >= 0);
		if (pid) {
			need(waitpid(pid, &status, 0) == pid);
			need(round == 2 ? WIFSIGNALED(status) : status == 0);
			continue;
		}
		open_again(&ea, a);
		open_again(&eb, b);
		pair_make(&ea, &eb, &how);
		for (i = 0; i < 8; i++) {
			post_recv(&eb, i, 0, 1 << 20);
			post_send(&ea, IBV_WR_SEND, i, 0, 1 << 20, NULL);
			post_send(&eb, IBV_WR_RDMA_READ, i, 0, 1 << 20, &ea);
		}
		find_rings();
		unmap_rings();
		usleep(20000);
		if (round == 1)
			munmap(ea.buf, ea.size);
		if (round == 2)
			kill(getpid(), SIGKILL);
		_exit(0);
	}
}

/*
 * ARGUMENT: number of pairs of QPs, all with messages in flight when the process is
 * killed.  Prints "ready".
 */
static void test_many_die(struct end *a, struct end *b, const char *arg)
{
	int i, n = arg ? atoi(arg) : 500;
	const struct how first = { .size = 1 << 16, .cqe = 20000 };
	struct end *ea = calloc(n, sizeof(*ea)), *eb = calloc(n, sizeof(*eb));
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
		.cap = { .max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1 },
	};

	need(ea && eb);
	end_make(a, &first);
	end_make(b, &first);
	for (i = 0; i < n; i++) {
		ea[i] = *a;
		eb[i] = *b;
		init.send_cq = a->scq;
		init.recv_cq = a->rcq;
		ea[i].qp = ibv_create_qp(a->pd, &init);
		init.send_cq = b->scq;
		init.recv_cq = b->rcq;
		eb[i].qp = ibv_create_qp(b->pd, &init);
		if (!ea[i].qp || !eb[i].qp)
			die("QP %d: %s", i, strerror(errno));
		pair_connect(&ea[i], &eb[i], &first);
		post_recv(&eb[i], 1, 0, 1 << 16);
	}
	for (i = 0; i < n; i++) {
		post_send(&ea[i], IBV_WR_SEND, 1, 0, 1 << 16, NULL);
		post_send(&ea[i], IBV_WR_SEND, 2, 0, 1 << 16, NULL);	/* RNR, for ever */
		post_send(&eb[i], IBV_WR_RDMA_READ, 3, 0, 1 << 16, a);
	}
	puts("ready");
	kill(getpid(), SIGKILL);
}

/*
 * fork and exec
 */

static void test_fork_exec(struct end *a, struct end *b, const char *arg)
{
	const struct how how = { .size = 1 << 16 };
	struct ibv_wc wc;
	int status, i;
	pid_t pid;

	(void)arg;
	pair_make(a, b, &how);
	for (i = 0; i < 6; i++) {
		post_recv(b, i, 0, 1 << 16);
		fill(a->buf, 1 << 16, i);
		pid = fork();
		need(pid >= 0);
		if (!pid) {
			/* a child may look, and leave in any way */
			ibv_poll_cq(a->rcq, 1, &wc);
			switch (i % 3) {
			case 0:
				_exit(0);
			case 1:
				kill(getpid(), SIGKILL);
			default:
				execl("/bin/true", "true", NULL);
				_exit(1);
			}
		}
		/* what the parent had is the parent's */
		post_send(a, IBV_WR_SEND, i, 0, 1 << 16, NULL);
		want_wc(a->scq, i, IBV_WC_SUCCESS);
		want_wc(b->rcq, i, IBV_WC_SUCCESS);
		need(waitpid(pid, &status, 0) == pid);
		need(i % 3 == 1 ? WIFSIGNALED(status) : status == 0);
	}
	pair_unmake(a, b);
}

/* The parent is gone, a child keeps the device open: prints "ready PID" of the child. */
static void test_orphan(struct end *a, struct end *b, const char *arg)
{
	const struct how how = { .size = 1 << 16 };
	pid_t pid;

	(void)arg;
	pair_make(a, b, &how);
	post_recv(b, 1, 0, 1 << 16);
	pid = fork();
	need(pid >= 0);
	if (!pid) {
		sleep(60);
		_exit(0);
	}
	post_send(a, IBV_WR_SEND, 1, 0, 1 << 16, NULL);
	post_send(a, IBV_WR_SEND, 2, 0, 1 << 16, NULL);
	printf("ready %d\n", (int)pid);
	kill(getpid(), SIGKILL);
}

/*
 * Limits
 */

/* Memory that may not be pinned, again and again: nothing is charged for it. */
static void test_memlock(struct end *a, struct end *unused, const char *arg)
{
	enum { SMALL = 65536, LARGE = 1 << 20, LIMIT = 256 * 1024 };
	const struct rlimit limit = { LIMIT, LIMIT };
	struct ibv_pd *pd = ibv_alloc_pd(a->ctx);
	struct ibv_mr *mr[16];
	char *buf;
	int i, n;

	(void)unused;
	(void)arg;
	need(pd);
	need(!setrlimit(RLIMIT_MEMLOCK, &limit));
	buf = mmap(NULL, LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	need(buf != MAP_FAILED);
	for (i = 0; i < 50; i++) {
		errno = 0;
		need(!ibv_reg_mr(pd, buf, LARGE, IBV_ACCESS_LOCAL_WRITE) && errno == ENOMEM);
	}
	for (i = 0; i < 10; i++) {
		for (n = 0; n < 16; n++) {
			mr[n] = ibv_reg_mr(pd, buf, SMALL, IBV_ACCESS_LOCAL_WRITE);
			if (!mr[n])
				break;
		}
		need(n > 0 && n <= LIMIT / SMALL && errno == ENOMEM);
		while (n--)
			verb(ibv_dereg_mr(mr[n]));
	}
	verb(ibv_dealloc_pd(pd));
}

/* Prints "ready" when it has CQs of some 32 MiB, and sleeps. */
static void test_big_rings(struct end *a, struct end *unused, const char *arg)
{
	int i;

	(void)unused;
	(void)arg;
	for (i = 0; i < 16; i++)
		need(ibv_create_cq(a->ctx, 32767, NULL, NULL, 0));
	puts("ready");
	pause();
}

/* What takes more than the 24 MiB that this process may have */
static void too_large(struct end *e, const struct ibv_device_attr *dev)
{
	const size_t huge = 1ULL << 34;
	struct ibv_srq_init_attr srq = {
		.attr = { .max_wr = dev->max_srq_wr, .max_sge = dev->max_srq_sge },
	};
	struct ibv_qp_init_attr qp = {
		.qp_type = IBV_QPT_RC,
		.send_cq = e->scq,
		.recv_cq = e->rcq,
		.cap = {
			.max_send_wr = dev->max_qp_wr, .max_recv_wr = dev->max_qp_wr,
			.max_send_sge = dev->max_sge, .max_recv_sge = dev->max_sge,
		},
	};
	void *at = mmap(NULL, huge, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	need(at != MAP_FAILED);
	errno = 0;
	need(!ibv_create_cq(e->ctx, dev->max_cqe, NULL, NULL, 0) && errno == ENOMEM);
	need(ibv_resize_cq(e->scq, dev->max_cqe) == ENOMEM);
	errno = 0;
	need(!ibv_create_srq(e->pd, &srq) && errno == ENOMEM);
	errno = 0;
	need(!ibv_create_qp(e->pd, &qp) && errno == ENOMEM);
	errno = 0;
	need(!ibv_reg_mr(e->pd, at, huge, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND) &&
	     errno == ENOMEM);
	need(!munmap(at, huge));
}

/* Of a process that may have little: it gets an error, and all back that it was given. */
static void test_use_memory(struct end *a, struct end *unused, const char *arg)
{
	const struct how how = { .size = 1 << 16 };
	struct ibv_device_attr attr;
	int i;

	(void)unused;
	(void)arg;
	verb(ibv_query_device(a->ctx, &attr));
	end_make(a, &how);
	for (i = 0; i < 3; i++)
		too_large(a, &attr);
	end_unmake(a);
	end_make(a, &how);
	end_unmake(a);
}

/*
 * PDs until there are no more. ARGUMENT: how many the cgroup lets it have, else it is what
 * the first device promises, less some of the kernel's own; the second one has its own.
 */
static void test_use_objects(struct end *a, struct end *b, const char *arg)
{
	struct ibv_device_attr attr;
	int i, most, few = arg ? 0 : 16;
	struct ibv_pd **pds, *other;

	verb(ibv_query_device(a->ctx, &attr));
	most = arg ? atoi(arg) : attr.max_pd;
	pds = calloc(most + 1, sizeof(*pds));
	need(pds);
	errno = 0;
	for (i = 0; i <= most && (pds[i] = ibv_alloc_pd(a->ctx)); i++)
		;
	printf("%d PDs: %s\n", i, err_name(errno));
	need(i <= most && i >= most - few && errno == (arg ? EAGAIN : ENOMEM));
	other = ibv_alloc_pd(b->ctx);
	need(other);
	verb(ibv_dealloc_pd(other));
	/* one for one */
	verb(ibv_dealloc_pd(pds[0]));
	pds[0] = ibv_alloc_pd(a->ctx);
	need(pds[0]);
	need(!ibv_alloc_pd(a->ctx));
	/* the rest goes with the process */
}

/*
 * Answers that cannot be written
 */

static enum { NOTHING, DRIVER_S, CORE_S } spoil;
static int spoilt;

static void spoil_attrs(struct ib_uverbs_ioctl_hdr *hdr, void *bad)
{
	int i;

	for (i = 0; i < hdr->num_attrs; i++) {
		uint16_t id = hdr->attrs[i].attr_id;

		/* the core's: of commands of the old kind alone, as others have many */
		if ((spoil == DRIVER_S && id == UVERBS_ATTR_UHW_OUT) ||
		    (spoil == CORE_S && id == UVERBS_ATTR_CORE_OUT &&
		     hdr->object_id == UVERBS_OBJECT_DEVICE &&
		     hdr->method_id == UVERBS_METHOD_INVOKE_WRITE)) {
			hdr->attrs[i].data = (uintptr_t)bad;
			spoilt++;
		}
	}
}

/* libibverbs calls this one. */
int ioctl(int fd, unsigned long cmd, ...)
{
	static int (*real)(int fd, unsigned long cmd, ...);
	static void *bad;
	va_list args;
	void *arg;

	va_start(args, cmd);
	arg = va_arg(args, void *);
	va_end(args);
	if (!real)
		real = (typeof(real))dlsym(RTLD_NEXT, "ioctl");
	if (!bad)
		bad = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (spoil != NOTHING && cmd == RDMA_VERBS_IOCTL)
		spoil_attrs(arg, bad);
	return real(fd, cmd, arg);
}

static struct end faulty;

static void *try_cq(void)
{
	return ibv_create_cq(faulty.ctx, 100, NULL, NULL, 0);
}

static void *try_qp(void)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.send_cq = faulty.scq,
		.recv_cq = faulty.rcq,
		.cap = { .max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1 },
	};

	return ibv_create_qp(faulty.pd, &init);
}

static void *try_srq(void)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 10, .max_sge = 1 } };

	return ibv_create_srq(faulty.pd, &init);
}

static void *try_ah(void)
{
	struct ibv_ah_attr attr = {
		.is_global = 1,
		.port_num = 1,
		.grh = { .dgid = faulty.gid, .sgid_index = faulty.gid_index, .hop_limit = 1 },
	};

	return ibv_create_ah(faulty.pd, &attr);
}

static void *try_resize(void)
{
	return ibv_resize_cq(faulty.scq, 500) ? NULL : faulty.scq;
}

static void *try_mr(void)
{
	return ibv_reg_mr(faulty.pd, faulty.buf, 4096, IBV_ACCESS_LOCAL_WRITE);
}

static void *try_mw(void)
{
	return ibv_alloc_mw(faulty.pd, IBV_MW_TYPE_2);
}

static void *try_pd(void)
{
	return ibv_alloc_pd(faulty.ctx);
}

#define UNDO(name, type, call)				\
static int undo_##name(void *object)			\
{							\
	return call((type *)object);			\
}

UNDO(cq, struct ibv_cq, ibv_destroy_cq)
UNDO(qp, struct ibv_qp, ibv_destroy_qp)
UNDO(srq, struct ibv_srq, ibv_destroy_srq)
UNDO(ah, struct ibv_ah, ibv_destroy_ah)
UNDO(mr, struct ibv_mr, ibv_dereg_mr)
UNDO(mw, struct ibv_mw, ibv_dealloc_mw)
UNDO(pd, struct ibv_pd, ibv_dealloc_pd)

static int undo_nothing(void *object)
{
	(void)object;
	return 0;
}

static const struct {
	const char	*name;
	void		*(*run)(void);
	int		(*undo)(void *object);
	bool		answers;	/* the driver does, beside the core */
} creates[] = {
	{ "CQ", try_cq, undo_cq, true },
	{ "QP", try_qp, undo_qp, true },
	{ "SRQ", try_srq, undo_srq, true },
	{ "AH", try_ah, undo_ah, true },
	{ "resize CQ", try_resize, undo_nothing, true },
	{ "MR", try_mr, undo_mr, false },
	{ "MW", try_mw, undo_mw, false },
	{ "PD", try_pd, undo_pd, false },
};

static void objects(char *text, size_t len)
{
	char command[200];
	FILE *out;

	snprintf(command, sizeof(command), "rdma resource show %s",
		 ibv_get_device_name(faulty.ctx->device));
	out = popen(command, "r");
	need(out);
	memset(text, 0, len);
	need(fread(text, 1, len - 1, out) > 0);
	pclose(out);
}

static void test_bad_answer(struct end *a, struct end *b, const char *arg)
{
	static char before[4096], after[4096];
	const struct how how = { .size = 65536 };
	size_t i;
	int n, bad;

	(void)b;
	(void)arg;
	end_make(a, &how);
	end_init(a);
	faulty = *a;
	objects(before, sizeof(before));
	for (bad = DRIVER_S; bad <= CORE_S; bad++) {
		for (i = 0; i < ARRAY_SIZE(creates); i++) {
			if (bad == DRIVER_S && !creates[i].answers)
				continue;
			printf("%s, %s answer\n", creates[i].name, bad == CORE_S ? "core's" : "driver's");
			for (n = 0; n < 20; n++) {
				void *made;
				int err;

				spoilt = 0;
				spoil = bad;
				errno = 0;
				made = creates[i].run();
				err = errno;
				spoil = NOTHING;
				if (!spoilt) {	/* asked for in another way */
					need(made);
					verb(creates[i].undo(made));
					break;
				}
				need(!made);
				if (err != EFAULT)
					die("%s", err_name(err));
			}
			printf("%d times\n", n);
			need(n == 20 || bad == CORE_S);
		}
		objects(after, sizeof(after));
		if (strcmp(before, after))
			die("before: %s\nafter: %s", before, after);
	}
	/* and now they work */
	for (i = 0; i < ARRAY_SIZE(creates); i++) {
		void *made = creates[i].run();

		need(made);
		verb(creates[i].undo(made));
	}
	end_unmake(a);
}

/*
 * Bystanders
 */

/*
 * SEND, WRITE and READ in both directions, every byte compared, until SIGTERM comes.
 * Prints "ready QPN" when it runs, and a line at the end.
 */
static void test_intact(struct end *a, struct end *b, const char *arg)
{
	/* retries enough for a busy machine */
	const struct how how = { .size = 1 << 18, .timeout = 17 };
	enum { HALF = 1 << 17 };
	struct end *ends[] = { a, b };
	unsigned long n;
	size_t len;

	(void)arg;
	rnd_state = 7;
	catch_term();
	pair_make(a, b, &how);
	for (n = 0; !told_to_end(); n++) {
		struct end *from = ends[n % 2], *to = ends[!(n % 2)];

		len = 1 + rnd() % (n % 8 ? 5000 : HALF);
		memset(to->buf, GUARD, len);
		fill(from->buf, len, n);
		post_recv(to, n, 0, len);
		post_send(from, IBV_WR_SEND, n, 0, len, NULL);
		want_wc(from->scq, n, IBV_WC_SUCCESS);
		want_wc(to->rcq, n, IBV_WC_SUCCESS);
		need(same(to->buf, len, n));
		fill(from->buf + HALF, len, n + 1);
		post_send(from, IBV_WR_RDMA_WRITE, n, HALF, len, to);
		want_wc(from->scq, n, IBV_WC_SUCCESS);
		need(same(to->buf + HALF, len, n + 1));
		memset(from->buf, GUARD, len);
		post_send(from, IBV_WR_RDMA_READ, n, 0, len, to);
		want_wc(from->scq, n, IBV_WC_SUCCESS);
		need(same(from->buf, len, n));
		if (n == 10)
			printf("ready %u\n", a->qp->qp_num);
	}
	printf("intact: %lu messages\n", n * 3);
	pair_unmake(a, b);
}

static void uc_connect(struct end *e, const struct end *peer)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = peer->qp->qp_num,
		.rq_psn = 0x123456,
		.ah_attr = {
			.is_global = 1,
			.port_num = 1,
			.grh = { .dgid = peer->gid, .sgid_index = e->gid_index, .hop_limit = 64 },
		},
	};

	end_init(e);
	verb(ibv_modify_qp(e->qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
			   IBV_QP_DEST_QPN | IBV_QP_RQ_PSN));
}

enum { ASKED = 2500, NEVER = 31 };

static const struct how asking = { .size = 1 << 16, .timeout = NEVER };

/* A new connection, and a request in it that @peer, which is not connected, does not answer. */
static void ask(struct end *e, struct end *peer, unsigned int n)
{
	struct ibv_sge sge = sge_at(e, 0, 8);
	struct ibv_send_wr atomic = send_wr(IBV_WR_ATOMIC_FETCH_AND_ADD, n, &sge, 1, NULL, 0);

	struct ibv_wc wc;

	end_state(e, IBV_QPS_RESET);
	while (ibv_poll_cq(e->scq, 1, &wc) > 0)
		;
	end_init(e);
	end_rtr(e, peer, &asking);
	end_rts(e, &asking);
	if (n % 3 == 2) {
		atomic.wr.atomic.remote_addr = (uintptr_t)peer->buf;
		atomic.wr.atomic.rkey = peer->mr->rkey;
		post_wr(e, &atomic);
	} else {
		post_send(e, n % 3 ? IBV_WR_SEND : IBV_WR_RDMA_READ, n, 0, ASKED, peer);
	}
}

/*
 * QPs of all kinds and states for strangers to shoot at.  Prints
 *
 *	ready ADDRESS RKEY RC RC-INIT RC-RESET RC-ERROR UC UD RC-ASKING
 *
 * with the address and the key of memory that nobody writes to and numbers of QPs; QPs
 * that end up in an error are connected anew.  The last one waits for an answer, which a
 * packet may well be.  Ends with SIGTERM.
 */
static void test_targets(struct end *a, struct end *b, const char *arg)
{
	const struct how rc = { .size = 1 << 16, .mr_access = IBV_ACCESS_LOCAL_WRITE };
	const struct how uc = { .type = IBV_QPT_UC, .size = 1 << 16 }, ud = { .type = IBV_QPT_UD };
	struct end init = *a, reset = *a, error = *a, uc_a = *a, uc_b = *b, ud_a = *a;
	struct end asks = *a, silent = *b;
	unsigned int asked = 0;
	struct ibv_mr *mr;
	uint8_t *guarded;
	struct ibv_wc wc;
	size_t i, size = 1 << 16;

	(void)arg;
	catch_term();
	pair_make(a, b, &rc);
	end_make(&init, &rc);
	end_init(&init);
	end_make(&reset, &rc);
	end_make(&error, &rc);
	end_init(&error);
	end_state(&error, IBV_QPS_ERR);
	end_make(&uc_a, &uc);
	end_make(&uc_b, &uc);
	uc_connect(&uc_a, &uc_b);
	end_make(&ud_a, &ud);
	end_init(&ud_a);
	end_rtr(&ud_a, &ud_a, &ud);
	end_make(&asks, &asking);
	end_make(&silent, &asking);
	memset(asks.buf, GUARD, asks.size);
	ask(&asks, &silent, asked);
	for (i = 0; i < 32; i++) {
		post_recv(a, i, 0, 1 << 16);
		post_recv(&uc_a, i, 0, 1 << 16);
		post_recv(&ud_a, i, 0, 1 << 13);
	}
	guarded = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	need(guarded != MAP_FAILED);
	memset(guarded, GUARD, size);
	/* may be read and written, by who knows the key */
	mr = ibv_reg_mr(a->pd, guarded, size, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			IBV_ACCESS_REMOTE_READ);
	need(mr);
	printf("ready %llu %u %u %u %u %u %u %u %u\n", (unsigned long long)(uintptr_t)guarded,
	       mr->rkey, a->qp->qp_num, init.qp->qp_num, reset.qp->qp_num, error.qp->qp_num,
	       uc_a.qp->qp_num, ud_a.qp->qp_num, asks.qp->qp_num);
	while (!told_to_end()) {
		usleep(20000);
		while (ibv_poll_cq(a->rcq, 1, &wc) > 0)
			;
		while (ibv_poll_cq(uc_a.rcq, 1, &wc) > 0)
			if (wc.status == IBV_WC_SUCCESS)
				post_recv(&uc_a, 1, 0, 1 << 16);
		while (ibv_poll_cq(ud_a.rcq, 1, &wc) > 0)
			if (wc.status == IBV_WC_SUCCESS)
				post_recv(&ud_a, 1, 0, 1 << 13);
		if (ibv_poll_cq(asks.scq, 1, &wc) > 0 || end_get_state(&asks) == IBV_QPS_ERR)
			ask(&asks, &silent, ++asked);
		if (end_get_state(a) == IBV_QPS_ERR) {
			end_state(a, IBV_QPS_RESET);
			end_init(a);
			end_rtr(a, b, &rc);
			end_rts(a, &rc);
			for (i = 0; i < 32; i++)
				post_recv(a, i, 0, 1 << 16);
		}
	}
	for (i = 0; i < size; i++)
		need(guarded[i] == GUARD);
	for (i = ASKED; i < asks.size; i++)
		need(asks.buf[i] == GUARD);
	printf("%u requests were answered somehow\n", asked);
	need(end_get_state(&init) == IBV_QPS_INIT);
	need(end_get_state(&reset) == IBV_QPS_RESET);
	need(end_get_state(&error) == IBV_QPS_ERR);
	need(end_get_state(&uc_a) == IBV_QPS_RTR);
	need(end_get_state(&ud_a) == IBV_QPS_RTR);
	puts("intact");
}

const struct test hostile_tests[] = {
	{ "scribble", test_scribble },
	{ "foreign_keys", test_foreign_keys },
	{ "destroy_orders", test_destroy_orders },
	{ "unmap_rings", test_unmap_rings },
	{ "many_die", test_many_die },
	{ "fork_exec", test_fork_exec },
	{ "orphan", test_orphan },
	{ "memlock", test_memlock, true },
	{ "big_rings", test_big_rings, true },
	{ "use_memory", test_use_memory, true },
	{ "use_objects", test_use_objects },
	{ "bad_answer", test_bad_answer, true },
	{ "intact", test_intact },
	{ "targets", test_targets },
	{ }
};
