// SPDX-License-Identifier: GPL-2.0
/*
 * verbs TEST DEVICE1 GID-INDEX1 [DEVICE2 GID-INDEX2] [ARGUMENT]
 *
 * Tests of the verbs between two RDMA devices (which may be one and the same),
 * both opened by this process.  Exit status 0: passed; 1: failed, and the last
 * line says why.  "verbs list" names the tests.
 */
#include "verbs.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define WAIT_SECONDS	20

int more_access;

void die_at(const char *func, int line, const char *fmt, ...)
{
	va_list args;

	printf("%s:%d: ", func, line);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	printf("\n");
	exit(1);
}

void verb_at(const char *func, int line, const char *what, int err)
{
	if (err)
		die_at(func, line, "%s: %s", what, err_name(err));
}

/* Some verbs return -1 and set errno. */
const char *err_name(int err)
{
	if (err < 0)
		err = err == -1 ? errno : -err;
	switch (err) {
	case 0: return "OK";
	case EPERM: return "EPERM";
	case EINVAL: return "EINVAL";
	case EIO: return "EIO";
	case ENODEV: return "ENODEV";
	case ENOMEM: return "ENOMEM";
	case EOPNOTSUPP: return "EOPNOTSUPP";
	}
	return strerror(err);
}

static sig_atomic_t enough;

static void on_term(int sig)
{
	(void)sig;
	__atomic_store_n(&enough, 1, __ATOMIC_RELAXED);
}

void catch_term(void)
{
	signal(SIGTERM, on_term);
}

bool told_to_end(void)
{
	return __atomic_load_n(&enough, __ATOMIC_RELAXED);
}

double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

/*
 * One end
 */

void end_open(struct end *e, const char *device, const char *gid_index)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_port_attr port;
	int i;

	if (!list)
		die("no list of devices: %s", strerror(errno));
	for (i = 0; list[i] && strcmp(ibv_get_device_name(list[i]), device); i++)
		;
	if (!list[i])
		die("there is no RDMA device %s", device);
	e->ctx = ibv_open_device(list[i]);
	if (!e->ctx)
		die("cannot open %s: %s", device, strerror(errno));
	ibv_free_device_list(list);
	fcntl(e->ctx->async_fd, F_SETFL, fcntl(e->ctx->async_fd, F_GETFL) | O_NONBLOCK);

	e->gid_index = atoi(gid_index);
	verb(ibv_query_gid(e->ctx, 1, e->gid_index, &e->gid));
	verb(ibv_query_port(e->ctx, 1, &port));
	e->mtu = port.active_mtu;
}

static int or_default(int value, int def)
{
	return value ? value : def;
}

/* As above, where NO_RETRY and NO_READS mean 0. */
static int or_none(int value, int def)
{
	return value < 0 ? 0 : or_default(value, def);
}

void end_make(struct end *e, const struct how *how)
{
	struct ibv_qp_init_attr init = {
		.qp_type = or_default(how->type, IBV_QPT_RC),
		.sq_sig_all = !how->unsignaled,
		.cap = {
			.max_send_wr = or_default(how->depth, 64),
			.max_recv_wr = or_default(how->depth, 64),
			.max_send_sge = or_default(how->sges, 4),
			.max_recv_sge = or_default(how->sges, 4),
			.max_inline_data = how->inline_data,
		},
	};

	e->size = how->size ? how->size : 1 << 20;
	e->buf = mmap(NULL, e->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	need(e->buf != MAP_FAILED);
	e->pd = ibv_alloc_pd(e->ctx);
	need(e->pd);
	e->mr = ibv_reg_mr(e->pd, e->buf, e->size, more_access |
			   or_default(how->mr_access, IBV_ACCESS_LOCAL_WRITE |
				      IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE));
	need(e->mr);
	e->channel = ibv_create_comp_channel(e->ctx);
	need(e->channel);
	e->scq = ibv_create_cq(e->ctx, or_default(how->cqe, 256), NULL, e->channel, 0);
	e->cq_lent = how->rcq;
	e->rcq = how->rcq;
	if (!e->rcq)
		e->rcq = ibv_create_cq(e->ctx, or_default(how->cqe, 256), NULL, e->channel, 0);
	need(e->scq && e->rcq);
	init.send_cq = e->scq;
	init.recv_cq = e->rcq;
	init.srq = how->srq;
	e->qp = ibv_create_qp(e->pd, &init);
	if (!e->qp)
		die("no QP: %s", strerror(errno));
}

void end_unmake(struct end *e)
{
	if (e->qp)
		verb(ibv_destroy_qp(e->qp));
	verb(ibv_destroy_cq(e->scq));
	if (!e->cq_lent)
		verb(ibv_destroy_cq(e->rcq));
	verb(ibv_destroy_comp_channel(e->channel));
	verb(ibv_dereg_mr(e->mr));
	verb(ibv_dealloc_pd(e->pd));
	munmap(e->buf, e->size);
	e->qp = NULL;
}

void end_init(struct end *e)
{
	bool ud = e->qp->qp_type == IBV_QPT_UD;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qkey = QKEY,
		.qp_access_flags = or_default(e->qp_access, IBV_ACCESS_REMOTE_READ |
					      IBV_ACCESS_REMOTE_WRITE),
	};

	verb(ibv_modify_qp(e->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			   (ud ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS)));
}

void end_rtr(struct end *e, const struct end *peer, const struct how *how)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = e->mtu < peer->mtu ? e->mtu : peer->mtu,
		.dest_qp_num = peer->qp->qp_num,
		.rq_psn = or_default(how->psn, 0x123456),
		.max_dest_rd_atomic = or_none(how->rd_atomic, 4),
		.min_rnr_timer = or_default(how->rnr_timer, 12),
		.ah_attr = {
			.is_global = 1,
			.port_num = 1,
			.grh = {
				.dgid = peer->gid,
				.sgid_index = e->gid_index,
				.hop_limit = 64,
			},
		},
	};
	int mask = IBV_QP_STATE;

	if (how->mtu)
		attr.path_mtu = how->mtu;
	if (e->qp->qp_type != IBV_QPT_UD)
		mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	if (e->qp->qp_type == IBV_QPT_RC)
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	verb(ibv_modify_qp(e->qp, &attr, mask));
}

void end_rts(struct end *e, const struct how *how)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = or_default(how->psn, 0x123456),
		.timeout = or_default(how->timeout, 14),
		.retry_cnt = or_default(how->retry, 7),
		.rnr_retry = or_none(how->rnr_retry, 7),
		.max_rd_atomic = or_none(how->rd_atomic, 4),
	};

	int mask = IBV_QP_STATE | IBV_QP_SQ_PSN;

	if (e->qp->qp_type == IBV_QPT_RC)
		mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_MAX_QP_RD_ATOMIC;
	verb(ibv_modify_qp(e->qp, &attr, mask));
}

void end_state(struct end *e, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	verb(ibv_modify_qp(e->qp, &attr, IBV_QP_STATE));
}

enum ibv_qp_state end_get_state(struct end *e)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	verb(ibv_query_qp(e->qp, &attr, IBV_QP_STATE, &init));
	return attr.qp_state;
}

struct ibv_ah *end_ah(struct end *e, const struct end *peer)
{
	struct ibv_ah_attr attr = {
		.is_global = 1,
		.port_num = 1,
		.grh = { .dgid = peer->gid, .sgid_index = e->gid_index, .hop_limit = 64 },
	};
	struct ibv_ah *ah = ibv_create_ah(e->pd, &attr);

	if (!ah)
		die("no AH: %s", strerror(errno));
	return ah;
}

/*
 * Two of them
 */

void pair_connect(struct end *a, struct end *b, const struct how *how)
{
	end_init(a);
	end_init(b);
	end_rtr(a, b, how);
	end_rtr(b, a, how);
	end_rts(a, how);
	end_rts(b, how);
}

void pair_make(struct end *a, struct end *b, const struct how *how)
{
	end_make(a, how);
	end_make(b, how);
	pair_connect(a, b, how);
}

void pair_unmake(struct end *a, struct end *b)
{
	end_unmake(a);
	end_unmake(b);
}

/* Fresh QPs carry a message: whatever came before has done no harm. */
void pair_works(struct end *a, struct end *b, const struct how *how)
{
	pair_make(a, b, how);
	fill(a->buf, 10000, 5);
	post_recv(b, 1, 0, 10000);
	post_send(a, IBV_WR_SEND, 2, 0, 10000, NULL);
	want_wc(a->scq, 2, IBV_WC_SUCCESS);
	want_wc(b->rcq, 1, IBV_WC_SUCCESS);
	need(same(b->buf, 10000, 5));
	pair_unmake(a, b);
}

/*
 * Work requests
 */

struct ibv_sge sge_at(const struct end *e, size_t offset, size_t len)
{
	return (struct ibv_sge){
		.addr = (uintptr_t)e->buf + offset,
		.length = len,
		.lkey = e->mr->lkey,
	};
}

void post_recv(struct end *e, uint64_t id, size_t offset, size_t len)
{
	struct ibv_sge sge = sge_at(e, offset, len);
	struct ibv_recv_wr wr = { .wr_id = id, .sg_list = &sge, .num_sge = 1 }, *bad;

	verb(ibv_post_recv(e->qp, &wr, &bad));
}

struct ibv_send_wr send_wr(enum ibv_wr_opcode op, uint64_t id, struct ibv_sge *sge, int num,
			   const struct end *remote, size_t remote_offset)
{
	struct ibv_send_wr wr = {
		.wr_id = id,
		.opcode = op,
		.sg_list = sge,
		.num_sge = num,
		.send_flags = IBV_SEND_SIGNALED,
		.imm_data = htobe32(0x1a2b3c4d),
	};

	if (remote) {
		wr.wr.rdma.remote_addr = (uintptr_t)remote->buf + remote_offset;
		wr.wr.rdma.rkey = remote->mr->rkey;
	}
	return wr;
}

void post_wr(struct end *e, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	verb(ibv_post_send(e->qp, wr, &bad));
}

void post_send(struct end *e, enum ibv_wr_opcode op, uint64_t id, size_t offset, size_t len,
	       const struct end *remote)
{
	struct ibv_sge sge = sge_at(e, offset, len);
	struct ibv_send_wr wr = send_wr(op, id, &sge, 1, remote, offset);

	post_wr(e, &wr);
}

/*
 * Completions and events
 */

struct ibv_wc wait_wc(struct ibv_cq *cq)
{
	double end = seconds() + WAIT_SECONDS;
	struct ibv_wc wc;
	int n;

	while (!(n = ibv_poll_cq(cq, 1, &wc))) {
		if (seconds() > end)
			die("no completion for %d s", WAIT_SECONDS);
		sched_yield();
	}
	if (n < 0)
		die("poll_cq: %s", strerror(errno));
	return wc;
}

void want_wc(struct ibv_cq *cq, uint64_t id, enum ibv_wc_status status)
{
	struct ibv_wc wc = wait_wc(cq);

	if (wc.wr_id != id || wc.status != status)
		die("completion of %llu '%s', expected %llu '%s'",
		    (unsigned long long)wc.wr_id, ibv_wc_status_str(wc.status),
		    (unsigned long long)id, ibv_wc_status_str(status));
}

void no_wc(struct ibv_cq *cq, int ms)
{
	struct ibv_wc wc;

	usleep(ms * 1000);
	if (ibv_poll_cq(cq, 1, &wc))
		die("unexpected completion of %llu: %s", (unsigned long long)wc.wr_id,
		    ibv_wc_status_str(wc.status));
}

bool poll_event(struct end *e, enum ibv_event_type type, int ms)
{
	struct pollfd fd = { .fd = e->ctx->async_fd, .events = POLLIN };
	double end = seconds() + ms / 1e3;
	struct ibv_async_event event;

	do {
		if (ibv_get_async_event(e->ctx, &event)) {
			poll(&fd, 1, 10);
			continue;
		}
		ibv_ack_async_event(&event);
		if (event.event_type == type)
			return true;
	} while (seconds() < end);
	return false;
}

void want_event(struct end *e, enum ibv_event_type type)
{
	if (!poll_event(e, type, 5000))
		die("no event '%s'", ibv_event_type_str(type));
}

/*
 * Data
 */

#define STREAM	((1 << 20) + 13)

static const uint8_t *stream(void)
{
	static uint8_t bytes[STREAM];
	uint64_t x = 88172645463325252ULL;
	size_t i;

	if (bytes[0])
		return bytes;
	for (i = 0; i < STREAM; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		bytes[i] = x >> 32;
	}
	bytes[0] = 1;
	return bytes;
}

void fill(uint8_t *to, size_t len, size_t pos)
{
	const uint8_t *bytes = stream();
	size_t part;

	for (; len; to += part, len -= part, pos += part) {
		pos %= STREAM;
		part = len < STREAM - pos ? len : STREAM - pos;
		memcpy(to, bytes + pos, part);
	}
}

bool same(const uint8_t *data, size_t len, size_t pos)
{
	const uint8_t *bytes = stream();
	size_t part;

	for (; len; data += part, len -= part, pos += part) {
		pos %= STREAM;
		part = len < STREAM - pos ? len : STREAM - pos;
		if (memcmp(data, bytes + pos, part))
			return false;
	}
	return true;
}

/*
 * Program
 */

void run_test(const struct test *list, const char *name, struct end *a, struct end *b,
	      const char *arg)
{
	for (; list->name; list++)
		if (!strcmp(list->name, name))
			return list->run(a, b, arg);
	die("no test %s", name);
}

static const struct test *const lists[] = {
	data_tests, error_tests, qp_tests, process_tests, srq_tests, event_tests,
	window_tests, atomic_tests, rereg_tests, odp_tests, dmabuf_tests,
	huge_tests, fault_tests, wire_tests, errno_tests, memory_tests,
	hostile_tests, provoke_tests, provider_tests, loss_tests,
};

static const struct test *find_test(const char *name)
{
	const struct test *test, *found = NULL;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lists); i++) {
		for (test = lists[i]; test->name; test++) {
			if (strcmp(test->name, name))
				continue;
			if (found)
				die("two tests are called %s", name);
			found = test;
		}
	}
	return found;
}

static void list_tests(void)
{
	const struct test *test;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lists); i++)
		for (test = lists[i]; test->name; test++)
			puts(test->name);
}

int main(int argc, char **argv)
{
	struct end a = {}, b = {};
	const struct test *test;

	setlinebuf(stdout);
	if (argc == 2 && !strcmp(argv[1], "list")) {
		list_tests();
		return 0;
	}
	test = argc > 1 ? find_test(argv[1]) : NULL;
	if (!test || argc < (test->lone ? 4 : 6)) {
		fprintf(stderr, "verbs: no such test, or too few arguments\n");
		return 1;
	}
	end_open(&a, argv[2], argv[3]);
	if (!test->lone)
		end_open(&b, argv[4], argv[5]);
	test->run(&a, &b, argv[test->lone ? 4 : 6]);
	verb(ibv_close_device(a.ctx));
	if (b.ctx)
		verb(ibv_close_device(b.ctx));
	return 0;
}
