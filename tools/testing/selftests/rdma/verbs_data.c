// SPDX-License-Identifier: GPL-2.0
/* Tests of "verbs" that move data and compare every byte. */
#define _GNU_SOURCE
#include "verbs.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MI	(1 << 20)
#define MAX_SGE	32

/*
 * A message of @len bytes in @num pieces of uneven size and alignment, with
 * guard bytes before, between and behind them.
 */
struct pieces {
	int		num;
	struct ibv_sge	sge[MAX_SGE];
	size_t		end;		/* offset behind the last guard */
};

static struct pieces cut(const struct end *e, size_t len, int num, unsigned int seed)
{
	size_t offset = 1 + seed % 61, left = len, part;
	struct pieces p = { };
	size_t i;

	/* no empty piece: to some devices a length of 0 is 2^31 */
	p.num = len < (size_t)num ? len : (size_t)num;
	p.sge[0] = sge_at(e, offset, 0);
	for (i = p.num; i > 0; i--) {
		part = i == 1 ? left : left / i + seed * i % 7;
		if (part > left - (i - 1))
			part = left - (i - 1);
		p.sge[p.num - i] = sge_at(e, offset, part);
		offset += part + 1 + (seed + i * 13) % 29;
		left -= part;
	}
	p.end = offset;
	need(p.end <= e->size);
	return p;
}

static void fill_pieces(struct end *e, const struct pieces *p, size_t pos)
{
	int i;

	memset(e->buf, GUARD, p->end);
	for (i = 0; i < p->num; i++) {
		fill((void *)(uintptr_t)p->sge[i].addr, p->sge[i].length, pos);
		pos += p->sge[i].length;
	}
}

static bool is_guard(const uint8_t *data, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (data[i] != GUARD)
			return false;
	return true;
}

static void check_pieces(const struct end *e, const struct pieces *p, size_t len, size_t pos)
{
	const uint8_t *done = e->buf, *data;
	size_t total = 0, part;
	int i;

	for (i = 0; i < p->num; i++) {
		data = (void *)(uintptr_t)p->sge[i].addr;
		part = p->sge[i].length;
		if (total + part > len)
			part = len - total;
		if (!is_guard(done, data - done))
			die("bytes before piece %d of %d were written", i, p->num);
		if (!same(data, part, pos + total))
			die("piece %d of %d, %zu bytes, has other data", i, p->num, part);
		total += part;
		done = data + part;
	}
	if (!is_guard(done, e->buf + p->end - done))
		die("bytes behind the last piece were written");
	need(total == len);
}

static const struct {
	const char		*name;
	enum ibv_wr_opcode	op;
	bool			recv;		/* consumes a receive WQE */
	bool			imm;
	enum ibv_wc_opcode	done;
} ops[] = {
	{ "SEND", IBV_WR_SEND, true, false, IBV_WC_SEND },
	{ "SEND with immediate", IBV_WR_SEND_WITH_IMM, true, true, IBV_WC_SEND },
	{ "WRITE", IBV_WR_RDMA_WRITE, false, false, IBV_WC_RDMA_WRITE },
	{ "WRITE with immediate", IBV_WR_RDMA_WRITE_WITH_IMM, true, true, IBV_WC_RDMA_WRITE },
	{ "READ", IBV_WR_RDMA_READ, false, false, IBV_WC_RDMA_READ },
};

/* a: requester */
static void transfer(struct end *a, struct end *b, size_t op, size_t len, int num)
{
	bool read = ops[op].op == IBV_WR_RDMA_READ, send = ops[op].recv && op < 2;
	unsigned int seed = len * 7 + num * 3 + op;
	struct pieces local = cut(a, len, num, seed);
	/* the remote end of WRITE and READ is one piece; a receive may be longer */
	struct pieces remote = cut(b, len + (send ? seed % 5 : 0), send ? num : 1, seed + 5);
	struct ibv_recv_wr recv = { .wr_id = 7, .sg_list = remote.sge, .num_sge = remote.num };
	struct ibv_send_wr wr = send_wr(ops[op].op, 9, local.sge, local.num, b, 0);
	struct ibv_recv_wr *bad;
	struct ibv_wc wc;

	printf("%s, %zu bytes, %d pieces\n", ops[op].name, len, num);
	wr.wr.rdma.remote_addr = remote.sge[0].addr;
	fill_pieces(read ? b : a, read ? &remote : &local, seed);
	memset(read ? a->buf : b->buf, GUARD, read ? local.end : remote.end);
	if (ops[op].op == IBV_WR_RDMA_WRITE_WITH_IMM)
		recv.num_sge = 0;
	if (ops[op].recv)
		verb(ibv_post_recv(b->qp, &recv, &bad));
	post_wr(a, &wr);

	wc = wait_wc(a->scq);
	if (wc.status != IBV_WC_SUCCESS)
		die("status '%s'", ibv_wc_status_str(wc.status));
	need(wc.wr_id == 9 && wc.opcode == ops[op].done && wc.qp_num == a->qp->qp_num);
	need(!read || wc.byte_len == len);
	if (ops[op].recv) {
		wc = wait_wc(b->rcq);
		need(wc.status == IBV_WC_SUCCESS && wc.wr_id == 7);
		need(wc.byte_len == len && wc.qp_num == b->qp->qp_num);
		need(wc.opcode == (send ? IBV_WC_RECV : IBV_WC_RECV_RDMA_WITH_IMM));
		need(!!(wc.wc_flags & IBV_WC_WITH_IMM) == ops[op].imm);
		need(!ops[op].imm || wc.imm_data == htobe32(0x1a2b3c4d));
	}
	check_pieces(read ? a : b, read ? &local : &remote, len, seed);
}

/* ARGUMENT: path MTU in bytes (default: the largest) */
static struct how matrix_how(const char *arg)
{
	struct how how = { .size = 8 * MI + 65536, .sges = MAX_SGE };
	int mtu = arg ? atoi(arg) : 0;

	for (how.mtu = 0; mtu; mtu >>= 1)
		if (mtu >= 256)
			how.mtu++;
	return how;
}

static void test_sizes(struct end *a, struct end *b, const char *arg)
{
	struct how how = matrix_how(arg);
	size_t mtu = 128 << (how.mtu ? how.mtu : a->mtu), i, op;
	const size_t sizes[] = {
		0, 1, 2, 3, 5, mtu - 1, mtu, mtu + 1, 2 * mtu, 3 * mtu + 7, 65536, MI,
	};
	const int nums[] = { 1, 3, MAX_SGE };

	pair_make(a, b, &how);
	for (op = 0; op < ARRAY_SIZE(ops); op++)
		for (i = 0; i < ARRAY_SIZE(sizes); i++)
			transfer(a, b, op, sizes[i], nums[(i + op) % ARRAY_SIZE(nums)]);
	for (op = 0; op < ARRAY_SIZE(ops); op++)
		transfer(b, a, op, mtu + 1, 2);
	pair_unmake(a, b);
}

static void test_large(struct end *a, struct end *b, const char *arg)
{
	struct how how = matrix_how(arg);

	pair_make(a, b, &how);
	transfer(a, b, 0, 8 * MI + 1, 3);
	transfer(a, b, 2, 8 * MI + 1, 1);
	transfer(a, b, 4, 8 * MI + 1, 5);
	pair_unmake(a, b);
}

/* A lot of addresses for @piece bytes of memory, again and again */
static uint8_t *repeated(size_t piece, size_t size)
{
	int fd = memfd_create("repeated", 0);
	uint8_t *at = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t i;

	need(fd >= 0 && !ftruncate(fd, piece) && at != MAP_FAILED);
	for (i = 0; i < size; i += piece)
		need(mmap(at + i, piece, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) !=
		     MAP_FAILED);
	close(fd);
	return at;
}

/*
 * ARGUMENT: MiB. One message of that length of each kind; the longest that there may be has
 * 2048.
 */
static void test_long_message(struct end *a, struct end *b, const char *arg)
{
	static const enum ibv_wr_opcode ops[] = {
		IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_SEND, IBV_WR_RDMA_READ,
	};
	const size_t piece = 2 * MI, size = (arg ? atoi(arg) : 2048) * (size_t)MI;
	uint8_t *from = repeated(piece, size), *to = repeated(piece, size);
	const struct how how = { .size = 4096 };
	struct ibv_mr *ma, *mb;
	struct ibv_recv_wr recv, *bad;
	struct ibv_send_wr wr;
	struct ibv_sge sge, at;
	struct ibv_wc wc;
	unsigned int i;
	double end;
	bool read;
	int n;

	pair_make(a, b, &how);
	ma = ibv_reg_mr(a->pd, from, size, IBV_ACCESS_REMOTE_READ);
	mb = ibv_reg_mr(b->pd, to, size, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	need(ma && mb);
	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		read = ops[i] == IBV_WR_RDMA_READ;
		fill(from, piece, i);
		sge = (struct ibv_sge){ (uintptr_t)from, size, ma->lkey };
		at = (struct ibv_sge){ (uintptr_t)to, size, mb->lkey };
		wr = send_wr(ops[i], 1, read ? &at : &sge, 1, NULL, 0);
		wr.wr.rdma.remote_addr = (uintptr_t)(read ? from : to);
		wr.wr.rdma.rkey = read ? ma->rkey : mb->rkey;
		recv = (struct ibv_recv_wr){
			.wr_id = 2, .sg_list = &at, .num_sge = ops[i] == IBV_WR_SEND,
		};
		if (!read)
			verb(ibv_post_recv(b->qp, &recv, &bad));
		post_wr(read ? b : a, &wr);
		/* 4 MiB a second at least */
		end = seconds() + 20 + size / MI / 4;
		while (!(n = ibv_poll_cq(read ? b->scq : b->rcq, 1, &wc)) && seconds() < end)
			usleep(1000);
		need(n == 1);
		need(wc.wr_id == (read ? 1 : 2) && wc.status == IBV_WC_SUCCESS);
		need(wc.byte_len == size);
		if (!read)
			want_wc(a->scq, 1, IBV_WC_SUCCESS);
		need(same(to, piece, i));
	}
	verb(ibv_dereg_mr(ma));
	verb(ibv_dereg_mr(mb));
	pair_unmake(a, b);
	munmap(from, size);
	munmap(to, size);
}

/* ARGUMENT: messages. Many at once in both directions, all kinds mixed. */
static void test_mixed(struct end *a, struct end *b, const char *arg)
{
	enum { SLOTS = 16, SLOT = 65536 };
	struct how how = { .size = 4 * SLOTS * SLOT, .depth = 2 * SLOTS };
	struct end *from, *to, *ends[2] = { a, b };
	int rounds = arg ? atoi(arg) / (2 * SLOTS) : 4, round, dir, i;
	size_t len, src, dst;

	pair_make(a, b, &how);
	for (round = 0; round < rounds; round++) {
		/* each direction has own slots for what it sends and what it changes */
		for (dir = 0; dir < 2; dir++) {
			from = ends[dir];
			to = ends[!dir];
			memset(from->buf + 2 * SLOTS * SLOT, GUARD, 2 * SLOTS * SLOT);
			for (i = 0; i < 2 * SLOTS; i++)
				fill(from->buf + i * SLOT, SLOT, round * 977 + dir * 131 + i);
			for (i = 0; i < SLOTS; i++)
				if (i % 3 == 0)
					post_recv(to, i, (2 * SLOTS + i) * SLOT, SLOT);
		}
		for (dir = 0; dir < 2; dir++) {
			from = ends[dir];
			to = ends[!dir];
			for (i = 0; i < SLOTS; i++) {
				struct ibv_sge sge;
				struct ibv_send_wr wr;

				len = (round * 7919 + i * 4099 + dir) % SLOT;
				src = i * SLOT;
				dst = (2 * SLOTS + i) * SLOT;
				/* what a READ brings goes to the requester's fourth quarter */
				sge = sge_at(from, i % 3 == 2 ? dst + SLOTS * SLOT : src, len);
				wr = send_wr(i % 3 == 0 ? IBV_WR_SEND :
					     i % 3 == 1 ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ,
					     i, &sge, 1, to, i % 3 == 1 ? dst : src);
				post_wr(from, &wr);
			}
		}
		for (dir = 0; dir < 2; dir++)
			for (i = 0; i < SLOTS; i++) {
				want_wc(ends[dir]->scq, i, IBV_WC_SUCCESS);
				if (i % 3 == 0)
					want_wc(ends[!dir]->rcq, i, IBV_WC_SUCCESS);
			}
		for (dir = 0; dir < 2; dir++) {
			from = ends[dir];
			to = ends[!dir];
			for (i = 0; i < SLOTS; i++) {
				len = (round * 7919 + i * 4099 + dir) % SLOT;
				dst = (2 * SLOTS + i) * SLOT;
				if (i % 3 == 2) {
					if (!same(from->buf + dst + SLOTS * SLOT, len,
						  round * 977 + !dir * 131 + i))
						die("round %d: READ %d has other data", round, i);
					continue;
				}
				if (!same(to->buf + dst, len, round * 977 + dir * 131 + i) ||
				    !is_guard(to->buf + dst + len, SLOT - len))
					die("round %d: message %d has other data", round, i);
			}
		}
	}
	pair_unmake(a, b);
}

/* The data of an inline WR is taken when it is posted. */
static void test_inline(struct end *a, struct end *b, const char *arg)
{
	const struct how how = { .inline_data = 512 };
	static const int sizes[] = { 0, 1, 17, 64, 95, 96, 511, 512 };
	size_t i;

	(void)arg;
	pair_make(a, b, &how);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct ibv_sge sge[2] = {
			{ .addr = (uintptr_t)a->buf, .length = sizes[i] / 3 },
			{ .addr = (uintptr_t)a->buf + 500, .length = sizes[i] - sizes[i] / 3 },
		};
		struct ibv_send_wr wr = send_wr(IBV_WR_SEND, i, sge, 2, NULL, 0);

		/* an lkey of 0: inline data needs no MR */
		wr.send_flags |= IBV_SEND_INLINE;
		fill(a->buf, sge[0].length, i);
		fill(a->buf + 500, sge[1].length, i + sge[0].length);
		memset(b->buf, GUARD, 1000);
		/* a WRITE first, so that the SEND waits a little */
		post_send(a, IBV_WR_RDMA_WRITE, 100, 1000, 100000, b);
		post_recv(b, i, 0, 1000);
		post_wr(a, &wr);
		memset(a->buf, 0, 1000);
		want_wc(a->scq, 100, IBV_WC_SUCCESS);
		want_wc(a->scq, i, IBV_WC_SUCCESS);
		want_wc(b->rcq, i, IBV_WC_SUCCESS);
		need(same(b->buf, sizes[i], i));
		need(is_guard(b->buf + sizes[i], 100));
	}
	pair_unmake(a, b);
}

/* The PSN goes from 0xffffff to 0 in the middle of a message. */
static void test_psn_wrap(struct end *a, struct end *b, const char *arg)
{
	struct how how = { .psn = 0xfffffd, .size = 2 * MI, .sges = MAX_SGE };
	size_t op;

	(void)arg;
	for (op = 0; op < ARRAY_SIZE(ops); op++) {
		pair_make(a, b, &how);
		transfer(a, b, op, 40000, 2);
		transfer(a, b, op, 40000, 2);
		pair_unmake(a, b);
	}
}

/* More READs than may be outstanding: they wait for one another. */
static void test_many_reads(struct end *a, struct end *b, const char *arg)
{
	const struct how how = { .rd_atomic = 2 };
	int i;

	(void)arg;
	pair_make(a, b, &how);
	fill(b->buf, 64 * 5000, 3);
	for (i = 0; i < 64; i++)
		post_send(a, IBV_WR_RDMA_READ, i, i * 5000, 5000, b);
	for (i = 0; i < 64; i++)
		want_wc(a->scq, i, IBV_WC_SUCCESS);
	need(same(a->buf, 64 * 5000, 3));
	pair_unmake(a, b);
}

static void post_singly(struct end *a, struct end *b, enum ibv_wr_opcode op, int num, int len)
{
	int i;

	fill(op == IBV_WR_RDMA_READ ? b->buf : a->buf, (size_t)num * len, num);
	memset(op == IBV_WR_RDMA_READ ? a->buf : b->buf, GUARD, (size_t)num * len + 100);
	for (i = 0; i < num && op == IBV_WR_SEND; i++)
		post_recv(b, i, (size_t)i * len, len);
	for (i = 0; i < num; i++)
		post_send(a, op, i, (size_t)i * len, len, op == IBV_WR_SEND ? NULL : b);
}

/*
 * One message after the other, each posted alone: some wait for the next one, to
 * go along with it. There is not always one.
 */
static void test_single_posts(struct end *a, struct end *b, const char *arg)
{
	static const enum ibv_wr_opcode post_ops[] = {
		IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
	};
	const struct how how = { .depth = 200, .size = 4 * MI };
	int i, num, len = arg ? atoi(arg) : 64;
	size_t op;

	pair_make(a, b, &how);
	for (num = 1; num <= 45; num++) {
		for (op = 0; op < ARRAY_SIZE(post_ops); op++) {
			post_singly(a, b, post_ops[op], num, len);
			for (i = 0; i < num; i++)
				want_wc(a->scq, i, IBV_WC_SUCCESS);
			for (i = 0; i < num && post_ops[op] == IBV_WR_SEND; i++)
				want_wc(b->rcq, i, IBV_WC_SUCCESS);
			need(same(a->buf, (size_t)num * len, num));
			need(same(b->buf, (size_t)num * len, num));
			need(is_guard(b->buf + (size_t)num * len, 100) ||
			     is_guard(a->buf + (size_t)num * len, 100));
		}
	}
	pair_unmake(a, b);
}

/* Enough of them for the driver to see that it is worth waiting. */
static void test_many_single_posts(struct end *a, struct end *b, const char *arg)
{
	const struct how how = { .depth = 500, .cqe = 500 };
	int i, round;

	(void)arg;
	pair_make(a, b, &how);
	for (round = 0; round < 20; round++) {
		post_singly(a, b, IBV_WR_RDMA_WRITE, 200, 64);
		for (i = 0; i < 200; i++)
			want_wc(a->scq, i, IBV_WC_SUCCESS);
		need(same(b->buf, 200 * 64, 200));
	}
	pair_unmake(a, b);
}

/* What waits for more does not wait for long, and not beyond the QP. */
static void test_single_posts_end(struct end *a, struct end *b, const char *arg)
{
	const struct how how = { .depth = 200 };
	int i, num, flushed;
	struct ibv_wc wc;

	(void)arg;
	for (num = 9; num < 30; num++) {
		pair_make(a, b, &how);
		post_singly(a, b, IBV_WR_RDMA_WRITE, num, 64);
		if (num % 3 == 0) {
			pair_unmake(a, b);
			continue;
		}
		end_state(a, num % 3 == 1 ? IBV_QPS_ERR : IBV_QPS_SQD);
		if (num % 3 == 2)
			end_state(a, IBV_QPS_RTS);
		/* in order: those that went, and those that came too late */
		for (i = 0, flushed = 0; i < num; i++) {
			wc = wait_wc(a->scq);
			need(wc.wr_id == (uint64_t)i);
			if (wc.status != IBV_WC_SUCCESS) {
				need(wc.status == IBV_WC_WR_FLUSH_ERR && num % 3 == 1);
				flushed++;
			}
			need(wc.status != IBV_WC_SUCCESS || !flushed);
		}
		no_wc(a->scq, 2);
		pair_unmake(a, b);
	}
}

/* A fenced SEND of what a READ brings sends the new bytes. */
static void test_fence(struct end *a, struct end *b, const char *arg)
{
	const struct how how = {};
	int i;

	(void)arg;
	pair_make(a, b, &how);
	for (i = 0; i < 8; i++) {
		struct ibv_sge sge = sge_at(a, 0, 200000);
		struct ibv_send_wr wr = send_wr(IBV_WR_SEND, 2, &sge, 1, NULL, 0);

		wr.send_flags |= IBV_SEND_FENCE;
		memset(a->buf, 0, 200000);
		fill(b->buf, 200000, i);
		post_recv(b, 3, 300000, 200000);
		post_send(a, IBV_WR_RDMA_READ, 1, 0, 200000, b);
		post_wr(a, &wr);
		want_wc(a->scq, 1, IBV_WC_SUCCESS);
		want_wc(a->scq, 2, IBV_WC_SUCCESS);
		want_wc(b->rcq, 3, IBV_WC_SUCCESS);
		need(same(b->buf + 300000, 200000, i));
	}
	pair_unmake(a, b);
}

/* Only what asks for a completion has one; it comes after those before it. */
static void test_unsignaled(struct end *a, struct end *b, const char *arg)
{
	const struct how how = { .unsignaled = true };
	int i, round;

	(void)arg;
	pair_make(a, b, &how);
	/* more than the ring holds: completions free it, signaled or not */
	for (round = 0; round < 10; round++) {
		for (i = 0; i < 16; i++) {
			struct ibv_sge sge = sge_at(a, i * 3000, 3000);
			struct ibv_send_wr wr = send_wr(IBV_WR_RDMA_WRITE, i, &sge, 1, b, i * 3000);

			if (i != 15)
				wr.send_flags = 0;
			fill(a->buf + i * 3000, 3000, round * 100 + i);
			post_wr(a, &wr);
		}
		want_wc(a->scq, 15, IBV_WC_SUCCESS);
		for (i = 0; i < 16; i++)
			need(same(b->buf + i * 3000, 3000, round * 100 + i));
	}
	no_wc(a->scq, 20);
	pair_unmake(a, b);
}

/*
 * Completion events
 */

static bool channel_event(struct end *e, int ms)
{
	struct pollfd fd = { .fd = e->channel->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *context;

	if (poll(&fd, 1, ms) != 1)
		return false;
	verb(ibv_get_cq_event(e->channel, &cq, &context));
	need(cq == e->rcq || cq == e->scq);
	ibv_ack_cq_events(cq, 1);
	return true;
}

static void test_events(struct end *a, struct end *b, const char *arg)
{
	const struct how how = {};
	int i;

	(void)arg;
	pair_make(a, b, &how);
	for (i = 0; i < 20; i++) {
		verb(ibv_req_notify_cq(b->rcq, 0));
		post_recv(b, i, 0, 100);
		post_send(a, IBV_WR_SEND, i, 0, 100, NULL);
		if (!channel_event(b, 5000))
			die("no event for message %d", i);
		want_wc(b->rcq, i, IBV_WC_SUCCESS);
		want_wc(a->scq, i, IBV_WC_SUCCESS);
	}
	/* one event for one request */
	for (i = 0; i < 3; i++) {
		post_recv(b, i, 0, 100);
		post_send(a, IBV_WR_SEND, i, 0, 100, NULL);
		want_wc(a->scq, i, IBV_WC_SUCCESS);
		want_wc(b->rcq, i, IBV_WC_SUCCESS);
	}
	need(!channel_event(b, 50));
	pair_unmake(a, b);
}

/* One message there, one back, with nothing else under way. */
static void ask_and_answer(struct end *a, struct end *b, int i, size_t len)
{
	fill(a->buf, len, i);
	post_recv(b, i, 10000, len);
	post_recv(a, i, 10000, len);
	post_send(a, IBV_WR_SEND, i, 0, len, NULL);
	want_wc(b->rcq, i, IBV_WC_SUCCESS);
	need(same(b->buf + 10000, len, i));
	/* the answer to the answer is the next message */
	if (i)
		want_wc(b->scq, i - 1, IBV_WC_SUCCESS);
	fill(b->buf, len, ~i);
	post_send(b, IBV_WR_SEND, i, 0, len, NULL);
	want_wc(a->rcq, i, IBV_WC_SUCCESS);
	need(same(a->buf + 10000, len, ~i));
	want_wc(a->scq, i, IBV_WC_SUCCESS);
}

/*
 * The ACK of a message that is always answered may wait for the answer.  When none
 * comes, it comes alone, and what ends the receiving QP does not keep it back.
 */
static void test_answers(struct end *a, struct end *b, const char *arg)
{
	static const char *const ends[] = { "nothing", "ERR", "RESET", "destroy" };
	const struct how how = { .retry = 1 };
	unsigned int end;
	int i;

	(void)arg;
	for (end = 0; end < ARRAY_SIZE(ends); end++) {
		printf("ends with %s\n", ends[end]);
		pair_make(a, b, &how);
		for (i = 0; i < 40; i++)
			ask_and_answer(a, b, i, i % 2 ? 8 : i * 100);
		want_wc(b->scq, i - 1, IBV_WC_SUCCESS);
		post_recv(b, 1000, 0, 100);
		post_send(a, IBV_WR_SEND, 1000, 0, 100, NULL);
		want_wc(b->rcq, 1000, IBV_WC_SUCCESS);
		switch (end) {
		case 1:
			end_state(b, IBV_QPS_ERR);
			break;
		case 2:
			end_state(b, IBV_QPS_RESET);
			break;
		case 3:
			verb(ibv_destroy_qp(b->qp));
			b->qp = NULL;
			break;
		}
		want_wc(a->scq, 1000, IBV_WC_SUCCESS);
		pair_unmake(a, b);
	}
}

static void test_solicited(struct end *a, struct end *b, const char *arg)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr;
	const struct how how = { .rnr_retry = NO_RETRY };

	(void)arg;
	pair_make(a, b, &how);
	verb(ibv_req_notify_cq(b->rcq, 1));
	post_recv(b, 1, 0, 100);
	post_recv(b, 2, 0, 100);
	post_send(a, IBV_WR_SEND, 1, 0, 100, NULL);
	want_wc(a->scq, 1, IBV_WC_SUCCESS);
	want_wc(b->rcq, 1, IBV_WC_SUCCESS);
	if (channel_event(b, 100))
		die("an event for an unsolicited message");

	sge = sge_at(a, 0, 100);
	wr = send_wr(IBV_WR_SEND, 2, &sge, 1, NULL, 0);
	wr.send_flags |= IBV_SEND_SOLICITED;
	post_wr(a, &wr);
	if (!channel_event(b, 5000))
		die("no event for a solicited message");
	want_wc(a->scq, 2, IBV_WC_SUCCESS);
	want_wc(b->rcq, 2, IBV_WC_SUCCESS);

	/* an error counts as solicited */
	verb(ibv_req_notify_cq(a->scq, 1));
	post_send(a, IBV_WR_SEND, 3, 0, 100, NULL);
	if (!channel_event(a, 5000))
		die("no event for a completion in error");
	want_wc(a->scq, 3, IBV_WC_RNR_RETRY_EXC_ERR);
	pair_unmake(a, b);
}

/*
 * Datagrams
 */

static void ud_send(struct end *a, const struct end *b, struct ibv_ah *ah, uint64_t id,
		    size_t len, uint32_t qkey)
{
	struct ibv_sge sge = sge_at(a, 0, len);
	struct ibv_send_wr wr = send_wr(IBV_WR_SEND_WITH_IMM, id, &sge, len ? 1 : 0, NULL, 0);

	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = b->qp->qp_num;
	wr.wr.ud.remote_qkey = qkey;
	post_wr(a, &wr);
}

/* The type of the network header, where others have it: in the service level. */
static int network_type(const struct end *e)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	return memcmp(&e->gid, mapped, sizeof(mapped)) ? 1 : 2;
}

static void test_ud(struct end *a, struct end *b, const char *arg)
{
	const struct how how = { .type = IBV_QPT_UD };
	size_t mtu = 128 << a->mtu, i;
	const size_t sizes[] = { 0, 1, 3, 100, mtu - 1, mtu };
	struct ibv_ah *ah;
	struct ibv_wc wc;

	(void)arg;
	pair_make(a, b, &how);
	ah = end_ah(a, b);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		printf("%zu bytes\n", sizes[i]);
		fill(a->buf, sizes[i], i);
		memset(b->buf, GUARD, 8192);
		post_recv(b, i, 0, GRH + mtu);
		ud_send(a, b, ah, i, sizes[i], QKEY);
		want_wc(a->scq, i, IBV_WC_SUCCESS);
		wc = wait_wc(b->rcq);
		need(wc.wr_id == i && wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_RECV);
		need(wc.byte_len == GRH + sizes[i]);
		need(wc.src_qp == a->qp->qp_num);
		need(wc.wc_flags & IBV_WC_GRH && wc.sl == network_type(b));
		need(wc.wc_flags & IBV_WC_WITH_IMM && wc.imm_data == htobe32(0x1a2b3c4d));
		need(same(b->buf + GRH, sizes[i], i));
		need(is_guard(b->buf + GRH + sizes[i], 1000));
	}

	/* room for the GRH alone, where the MR ends */
	post_recv(b, 1, b->size - GRH, GRH);
	ud_send(a, b, ah, 1, 0, QKEY);
	want_wc(a->scq, 1, IBV_WC_SUCCESS);
	wc = wait_wc(b->rcq);
	need(wc.status == IBV_WC_SUCCESS && wc.byte_len == GRH);

	/* a wrong Q_Key, no receive: dropped, and no more than that */
	post_recv(b, 1, 0, GRH + 10);
	ud_send(a, b, ah, 1, 10, QKEY + 1);
	want_wc(a->scq, 1, IBV_WC_SUCCESS);
	no_wc(b->rcq, 100);
	ud_send(a, b, ah, 2, 10, QKEY);
	want_wc(a->scq, 2, IBV_WC_SUCCESS);
	want_wc(b->rcq, 1, IBV_WC_SUCCESS);
	ud_send(a, b, ah, 3, 10, QKEY);
	want_wc(a->scq, 3, IBV_WC_SUCCESS);
	no_wc(b->rcq, 100);

	/* An AH may go as soon as the WR is posted. */
	post_recv(b, 4, 0, GRH + 2000);
	ud_send(a, b, ah, 4, mtu < 2000 ? mtu : 2000, QKEY);
	verb(ibv_destroy_ah(ah));
	want_wc(a->scq, 4, IBV_WC_SUCCESS);
	want_wc(b->rcq, 4, IBV_WC_SUCCESS);
	pair_unmake(a, b);
}

/* A little of all, in both directions: for many topologies. */
static void test_exchange(struct end *a, struct end *b, const char *arg)
{
	static const size_t sizes[] = { 1, 10001 };
	const struct how how = { }, ud = { .type = IBV_QPT_UD };
	size_t i, op, mtu = 128 << (a->mtu < b->mtu ? a->mtu : b->mtu);
	struct end *ends[] = { a, b };
	struct ibv_ah *ah;
	struct ibv_wc wc;

	(void)arg;
	pair_make(a, b, &how);
	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		for (op = 0; op < ARRAY_SIZE(ops); op++) {
			transfer(a, b, op, sizes[i], 1);
			transfer(b, a, op, sizes[i], 1);
		}
	pair_unmake(a, b);
	pair_make(a, b, &ud);
	for (i = 0; i < 2; i++) {
		printf("datagram %zu\n", i);
		ah = end_ah(ends[i], ends[!i]);
		fill(ends[i]->buf, mtu, i);
		post_recv(ends[!i], i, 10000, GRH + mtu);
		ud_send(ends[i], ends[!i], ah, i, mtu, QKEY);
		want_wc(ends[i]->scq, i, IBV_WC_SUCCESS);
		wc = wait_wc(ends[!i]->rcq);
		need(wc.status == IBV_WC_SUCCESS && wc.byte_len == GRH + mtu);
		need(same(ends[!i]->buf + 10000 + GRH, mtu, i));
		verb(ibv_destroy_ah(ah));
	}
	pair_unmake(a, b);
}

const struct test data_tests[] = {
	{ "exchange", test_exchange },
	{ "sizes", test_sizes },
	{ "large", test_large },
	{ "long_message", test_long_message },
	{ "mixed", test_mixed },
	{ "inline", test_inline },
	{ "psn_wrap", test_psn_wrap },
	{ "many_reads", test_many_reads },
	{ "single_posts", test_single_posts },
	{ "many_single_posts", test_many_single_posts },
	{ "single_posts_end", test_single_posts_end },
	{ "fence", test_fence },
	{ "unsignaled", test_unsignaled },
	{ "events", test_events },
	{ "answers", test_answers },
	{ "solicited", test_solicited },
	{ "ud", test_ud },
	{ }
};
