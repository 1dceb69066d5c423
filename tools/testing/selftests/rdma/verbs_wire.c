// SPDX-License-Identifier: GPL-2.0
/*
 * Two ends on two machines: wire_server PORT on one, wire_client
 * ADDRESS:PORT:TYPE:MTU:ROUNDS on the other, with TYPE rc, uc or ud, and MTU the
 * path MTU in bytes. A TCP connection tells the server of each round; what is in
 * it follows from its seed on both ends.
 */
#include "verbs.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SLOT		65536	/* one message of a round of many */
#define SLOTS		16
#define WIRE_ACCESS	(IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | \
			 IBV_ACCESS_REMOTE_ATOMIC)
#define IMM		0x1a2b3c4d

enum round { ROUND_MANY, ROUND_BIG, ROUND_ATOMIC, ROUND_END };

static const enum ibv_wr_opcode opcodes[] = {
	IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_WRITE,
	IBV_WR_RDMA_READ,
};

/* What each end has to know of the other; on the connection big-endian. */
struct who {
	uint8_t		gid[16];
	uint64_t	addr;
	uint32_t	rkey;
	uint32_t	qpn;
	uint32_t	type;
	uint32_t	mtu;
} __attribute__((packed));

struct order {
	uint32_t	round;
	uint32_t	seed;
} __attribute__((packed));

/* The other end, as far as it is known. */
struct remote {
	struct end	end;
	struct ibv_qp	qp;
	struct ibv_mr	mr;
	struct ibv_ah	*ah;
};

struct message {
	enum ibv_wr_opcode	op;
	size_t			offset;
	size_t			len;
};

static void tell(int sock, const void *data, size_t len)
{
	if (write(sock, data, len) != (ssize_t)len)
		die("the other end is gone: %s", strerror(errno));
}

static void hear(int sock, void *data, size_t len)
{
	if (recv(sock, data, len, MSG_WAITALL) != (ssize_t)len)
		die("the other end is gone");
}

static bool recv_needed(enum ibv_wr_opcode op)
{
	return op != IBV_WR_RDMA_WRITE && op != IBV_WR_RDMA_READ;
}

static bool has_imm(enum ibv_wr_opcode op)
{
	return op == IBV_WR_SEND_WITH_IMM || op == IBV_WR_RDMA_WRITE_WITH_IMM;
}

static uint32_t scramble(uint32_t x)
{
	x ^= x << 13;
	x ^= x >> 17;
	return x ^ x << 5;
}

/*
 * The messages of a round. Of UC the last one has to be received: then the others
 * have arrived.
 */
static int plan(struct message *list, const struct end *e, const struct order *order)
{
	enum ibv_qp_type type = e->qp->qp_type;
	uint32_t x = order->seed * 2654435761U + 1;
	int i;

	if (order->round == ROUND_BIG) {
		list[0].op = opcodes[order->seed % (type == IBV_QPT_UC ? 3 : ARRAY_SIZE(opcodes))];
		list[0].offset = 3;
		list[0].len = e->size - 1000 - order->seed % 1000;
		return 1;
	}
	for (i = 0; i < SLOTS; i++) {
		x = scramble(x);
		list[i].op = opcodes[x % (type == IBV_QPT_RC ? 5 : type == IBV_QPT_UC ? 4 : 2)];
		list[i].offset = i * SLOT + x / 64 % 64 + (type == IBV_QPT_UD ? GRH : 0);
		/* often short, and around the path MTU */
		list[i].len = x / 4096 % (type == IBV_QPT_UD ? (128 << e->mtu) + 1 :
					  x & 16 ? SLOT - 200 : 5000);
	}
	if (type == IBV_QPT_UC)
		list[SLOTS - 1].op = IBV_WR_SEND;
	return SLOTS;
}

/* What is not part of a message is as it was. */
static void check_guards(const struct end *e, const struct message *list, int num, bool all)
{
	size_t pos = 0;
	int i;

	for (i = 0; i <= num; i++) {
		size_t end = i < num ? list[i].offset : e->size;

		/* a UD receive has a GRH before it */
		if (i < num && e->qp->qp_type == IBV_QPT_UD && all)
			end -= GRH;
		for (; pos < end; pos++)
			if (e->buf[pos] != GUARD)
				die("byte %zu, before message %d, was written", pos, i);
		if (i < num)
			pos = list[i].offset + list[i].len;
	}
}

static void check_message(const struct end *e, const struct message *m, int i, uint32_t seed)
{
	if (!same(e->buf + m->offset, m->len, seed + i))
		die("message %d, opcode %d, %zu bytes, has other data", i, m->op, m->len);
}

static void fill_messages(struct end *e, const struct message *list, int num, uint32_t seed,
			  bool client)
{
	int i;

	memset(e->buf, GUARD, e->size);
	for (i = 0; i < num; i++)
		if ((list[i].op == IBV_WR_RDMA_READ) != client)
			fill(e->buf + list[i].offset, list[i].len, seed + i);
}

/*
 * The server's part of a round
 */

static void serve_messages(struct end *e, int sock, const struct order *order)
{
	size_t grh = e->qp->qp_type == IBV_QPT_UD ? GRH : 0;
	struct message list[SLOTS];
	int num = plan(list, e, order), i;
	struct ibv_wc wc;
	char ok = 1;

	fill_messages(e, list, num, order->seed, false);
	for (i = 0; i < num; i++)
		if (recv_needed(list[i].op))
			post_recv(e, i, list[i].offset - grh, list[i].len + grh + 1);
	tell(sock, &ok, 1);
	hear(sock, &ok, 1);
	for (i = 0; i < num; i++) {
		if (!recv_needed(list[i].op))
			continue;
		wc = wait_wc(e->rcq);
		if (wc.status || wc.wr_id != (uint64_t)i || wc.byte_len != list[i].len + grh)
			die("receive %d: %s, %u bytes of receive %d", i,
			    ibv_wc_status_str(wc.status), wc.byte_len, (int)wc.wr_id);
		need(has_imm(list[i].op) == !!(wc.wc_flags & IBV_WC_WITH_IMM));
		need(!has_imm(list[i].op) || wc.imm_data == htobe32(IMM));
	}
	for (i = 0; i < num; i++)
		check_message(e, &list[i], i, order->seed);
	check_guards(e, list, num, true);
	tell(sock, &ok, 1);
}

/*
 * The word after the first num atomics of a round: of three, one adds 1, one
 * swaps, which adds 1 too, and one compares with another value.
 */
static uint64_t atomic_result(uint64_t first, int num)
{
	return first + num - num / 3;
}

static void serve_atomics(struct end *e, int sock, const struct order *order)
{
	uint64_t value = order->seed;
	char ok = 1;

	memcpy(e->buf, &value, 8);
	tell(sock, &ok, 1);
	hear(sock, &ok, 1);
	memcpy(&value, e->buf, 8);
	if (value != atomic_result(order->seed, SLOTS))
		die("atomics made %lld of 0", (long long)(value - order->seed));
	tell(sock, &ok, 1);
}

/*
 * The client's part
 */

static void ask_messages(struct end *e, int sock, const struct remote *peer,
			 const struct order *order)
{
	struct ibv_send_wr wr[SLOTS], *bad;
	struct message list[SLOTS];
	struct ibv_sge sge[SLOTS];
	int num = plan(list, e, order), i;
	char ok = 1;

	fill_messages(e, list, num, order->seed, true);
	hear(sock, &ok, 1);
	for (i = 0; i < num; i++) {
		sge[i] = sge_at(e, list[i].offset, list[i].len);
		wr[i] = send_wr(list[i].op, i, &sge[i], list[i].len ? 1 : 0, &peer->end,
				list[i].offset);
		wr[i].next = i + 1 < num ? &wr[i + 1] : NULL;
		if (peer->ah) {
			wr[i].wr.ud.ah = peer->ah;
			wr[i].wr.ud.remote_qpn = peer->qp.qp_num;
			wr[i].wr.ud.remote_qkey = QKEY;
		}
	}
	verb(ibv_post_send(e->qp, wr, &bad));
	for (i = 0; i < num; i++)
		want_wc(e->scq, i, IBV_WC_SUCCESS);
	for (i = 0; i < num; i++)
		check_message(e, &list[i], i, order->seed);
	check_guards(e, list, num, false);
	tell(sock, &ok, 1);
	hear(sock, &ok, 1);
}

static void ask_atomics(struct end *e, int sock, const struct remote *peer,
			const struct order *order)
{
	struct ibv_send_wr wr[SLOTS], *bad;
	struct ibv_sge sge[SLOTS];
	uint64_t value;
	char ok = 1;
	int i;

	hear(sock, &ok, 1);
	for (i = 0; i < SLOTS; i++) {
		sge[i] = sge_at(e, i * SLOT, 8);
		wr[i] = send_wr(IBV_WR_ATOMIC_FETCH_AND_ADD, i, &sge[i], 1, NULL, 0);
		wr[i].wr.atomic.remote_addr = (uintptr_t)peer->end.buf;
		wr[i].wr.atomic.rkey = peer->mr.rkey;
		wr[i].wr.atomic.compare_add = 1;
		if (i % 3) {
			uint64_t now = atomic_result(order->seed, i);

			wr[i].opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
			wr[i].wr.atomic.compare_add = i % 3 == 1 ? now : now + 1;
			wr[i].wr.atomic.swap = i % 3 == 1 ? now + 1 : 0;
		}
		wr[i].next = i + 1 < SLOTS ? &wr[i + 1] : NULL;
	}
	verb(ibv_post_send(e->qp, wr, &bad));
	for (i = 0; i < SLOTS; i++) {
		want_wc(e->scq, i, IBV_WC_SUCCESS);
		memcpy(&value, e->buf + i * SLOT, 8);
		if (value != atomic_result(order->seed, i))
			die("atomic %d found %lld", i, (long long)(value - order->seed));
	}
	tell(sock, &ok, 1);
	hear(sock, &ok, 1);
}

/*
 * Connections
 */

static const struct { const char *name; enum ibv_qp_type type; } types[] = {
	{ "rc", IBV_QPT_RC }, { "uc", IBV_QPT_UC }, { "ud", IBV_QPT_UD },
};

static void make(struct end *e, struct how *how)
{
	more_access |= IBV_ACCESS_REMOTE_ATOMIC;
	e->qp_access = WIRE_ACCESS;
	if (e->mtu > how->mtu)
		e->mtu = how->mtu;
	how->size = SLOT * SLOTS;
	end_make(e, how);
	end_init(e);
}

static struct who who_is(const struct end *e, const struct how *how)
{
	struct who who = {
		.addr = htobe64((uintptr_t)e->buf),
		.rkey = htobe32(e->mr->rkey),
		.qpn = htobe32(e->qp->qp_num),
		.type = htobe32(how->type),
		.mtu = htobe32(how->mtu),
	};

	memcpy(who.gid, &e->gid, 16);
	return who;
}

static void connect_to(struct end *e, struct remote *peer, const struct who *who,
		       const struct how *how)
{
	memcpy(&peer->end.gid, who->gid, 16);
	peer->end.mtu = e->mtu;
	peer->end.buf = (void *)(uintptr_t)be64toh(who->addr);
	peer->end.qp = &peer->qp;
	peer->end.mr = &peer->mr;
	peer->qp.qp_num = be32toh(who->qpn);
	peer->mr.rkey = be32toh(who->rkey);
	end_rtr(e, &peer->end, how);
	end_rts(e, how);
	if (how->type == IBV_QPT_UD)
		peer->ah = end_ah(e, &peer->end);
}

static void end_peer(struct end *e, struct remote *peer)
{
	if (peer->ah)
		verb(ibv_destroy_ah(peer->ah));
	end_unmake(e);
}

static int accept_one(int port)
{
	struct sockaddr_in6 addr = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
	int listener = socket(AF_INET6, SOCK_STREAM, 0), one = 1, off = 0, sock;

	need(listener >= 0);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	setsockopt(listener, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	need(!bind(listener, (void *)&addr, sizeof(addr)));
	need(!listen(listener, 1));
	puts("listening");
	sock = accept(listener, NULL, NULL);
	need(sock >= 0);
	close(listener);
	return sock;
}

static int connect_one(const char *address, int port)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_port = htons(port) };
	double end = seconds() + 20;
	int sock;

	need(inet_pton(AF_INET, address, &addr.sin_addr) == 1);
	for (;;) {
		sock = socket(AF_INET, SOCK_STREAM, 0);
		need(sock >= 0);
		if (!connect(sock, (void *)&addr, sizeof(addr)))
			return sock;
		if (errno != ECONNREFUSED || seconds() > end)
			die("cannot connect to %s port %d: %s", address, port, strerror(errno));
		/* the server has not come so far */
		close(sock);
		usleep(50000);
	}
}

static void no_delay(int sock)
{
	int one = 1;

	setsockopt(sock, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

static void wire_server(struct end *e, struct end *unused, const char *port)
{
	struct remote peer = { };
	struct how how = { };
	struct order order;
	struct who who, me;
	int sock;

	(void)unused;
	need(port);
	sock = accept_one(atoi(port));
	no_delay(sock);
	hear(sock, &who, sizeof(who));
	how.type = be32toh(who.type);
	how.mtu = be32toh(who.mtu);
	make(e, &how);
	me = who_is(e, &how);
	connect_to(e, &peer, &who, &how);
	tell(sock, &me, sizeof(me));

	for (;;) {
		hear(sock, &order, sizeof(order));
		order.round = be32toh(order.round);
		order.seed = be32toh(order.seed);
		if (order.round == ROUND_END)
			break;
		if (order.round == ROUND_ATOMIC)
			serve_atomics(e, sock, &order);
		else
			serve_messages(e, sock, &order);
	}
	close(sock);
	end_peer(e, &peer);
}

static void tell_order(int sock, const struct order *order)
{
	struct order be = { htobe32(order->round), htobe32(order->seed) };

	tell(sock, &be, sizeof(be));
}

static void wire_client(struct end *e, struct end *unused, const char *arg)
{
	struct order order = { };
	struct remote peer = { };
	char address[64], type[8];
	int sock, port, mtu, rounds, i;
	struct how how = { };
	struct who who;

	(void)unused;
	need(arg && sscanf(arg, "%63[^:]:%d:%7[^:]:%d:%d", address, &port, type, &mtu,
			   &rounds) == 5);
	for (i = 0; i < (int)ARRAY_SIZE(types); i++)
		if (!strcmp(types[i].name, type))
			how.type = types[i].type;
	need(how.type);
	for (how.mtu = IBV_MTU_256; 128 << how.mtu != mtu; how.mtu++)
		need(how.mtu < IBV_MTU_4096);

	sock = connect_one(address, port);
	no_delay(sock);
	make(e, &how);
	who = who_is(e, &how);
	tell(sock, &who, sizeof(who));
	hear(sock, &who, sizeof(who));
	connect_to(e, &peer, &who, &how);

	for (i = 0; i < rounds; i++) {
		order.seed = i + 1;
		order.round = ROUND_MANY;
		if (how.type != IBV_QPT_UD && i % 4 == 1)
			order.round = ROUND_BIG;
		else if (how.type == IBV_QPT_RC && i % 4 == 3)
			order.round = ROUND_ATOMIC;
		printf("round %d, kind %d\n", i, order.round);
		tell_order(sock, &order);
		if (order.round == ROUND_ATOMIC)
			ask_atomics(e, sock, &peer, &order);
		else
			ask_messages(e, sock, &peer, &order);
	}
	order.round = ROUND_END;
	tell_order(sock, &order);
	close(sock);
	end_peer(e, &peer);
}

const struct test wire_tests[] = {
	{ "wire_server", wire_server, .lone = true },
	{ "wire_client", wire_client, .lone = true },
	{ }
};
