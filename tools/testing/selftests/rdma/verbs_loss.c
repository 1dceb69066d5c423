// SPDX-License-Identifier: GPL-2.0
/* Tests of "verbs" for a network that loses: messages that nobody sends again. */
#include "verbs.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

#define WINDOWS		25
#define WINDOW		16
#define MESSAGES	(WINDOWS * WINDOW)
#define ENOUGH		20
#define SLOT		8192

/* The message's number is in front, and tells the rest. */
static size_t message_len(uint32_t nr, size_t most)
{
	return sizeof(nr) + nr * 613 % (most - sizeof(nr) + 1);
}

static void post_receive(struct end *to, struct ibv_srq *srq, int i)
{
	struct ibv_sge sge = sge_at(to, i * SLOT, SLOT);
	struct ibv_recv_wr wr = { .wr_id = i, .sg_list = &sge, .num_sge = 1 }, *bad;

	verb(srq ? ibv_post_srq_recv(srq, &wr, &bad) : ibv_post_recv(to->qp, &wr, &bad));
}

/* A window of messages at once, so that even a slow machine fills a short queue. */
static void send_window(struct end *from, struct end *to, struct ibv_ah *ah, uint32_t nr,
			size_t most)
{
	struct ibv_send_wr wr[WINDOW];
	struct ibv_sge sge[WINDOW];
	int i;

	for (i = 0; i < WINDOW; i++, nr++) {
		sge[i] = sge_at(from, i * SLOT, message_len(nr, most));
		fill(from->buf + i * SLOT, sge[i].length, nr);
		memcpy(from->buf + i * SLOT, &nr, sizeof(nr));
		/* each WRITE has a place of its own */
		wr[i] = !ah && nr % 3 == 2 ?
			send_wr(IBV_WR_RDMA_WRITE_WITH_IMM, nr, &sge[i], 1, to,
				(MESSAGES + nr) * SLOT) :
			send_wr(IBV_WR_SEND_WITH_IMM, nr, &sge[i], 1, NULL, 0);
		wr[i].imm_data = htobe32(nr);
		if (ah) {
			wr[i].wr.ud.ah = ah;
			wr[i].wr.ud.remote_qpn = to->qp->qp_num;
			wr[i].wr.ud.remote_qkey = QKEY;
		}
		wr[i].next = i + 1 < WINDOW ? &wr[i + 1] : NULL;
	}
	post_wr(from, wr);
}

/* Returns the message's number. */
static uint32_t check_message(const struct end *to, const struct ibv_wc *wc, bool ud, size_t most)
{
	bool write = wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM;
	size_t len = wc->byte_len - (ud ? GRH : 0);
	const uint8_t *data;
	uint32_t nr, first;

	if (wc->status != IBV_WC_SUCCESS)
		die("receive: %s", ibv_wc_status_str(wc->status));
	need(wc->wc_flags & IBV_WC_WITH_IMM);
	nr = be32toh(wc->imm_data);
	need(nr < MESSAGES);
	need(write == (!ud && nr % 3 == 2));
	if (len != message_len(nr, most))
		die("message %u has %zu bytes", nr, len);
	data = to->buf + (write ? MESSAGES + nr : wc->wr_id) * SLOT + (ud ? GRH : 0);
	memcpy(&first, data, sizeof(first));
	if (first != nr || !same(data + sizeof(nr), len - sizeof(nr), nr + sizeof(nr)))
		die("message %u has other data", nr);
	return nr;
}

/* The next completion, while the network may still bring one. */
static bool next_wc(struct ibv_cq *cq, struct ibv_wc *wc, bool first)
{
	double end = seconds() + (first ? 0.5 : 0.03);

	while (ibv_poll_cq(cq, 1, wc) <= 0) {
		if (seconds() > end)
			return false;
		sched_yield();
	}
	return true;
}

static void use_srq(struct end *e, struct how *how)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = MESSAGES, .max_sge = 1 } };
	struct ibv_qp_init_attr qp_init = {
		.qp_type = how->type, .send_cq = e->scq, .recv_cq = e->rcq,
		.cap = { .max_send_wr = 1, .max_send_sge = 1 },
	};

	how->srq = ibv_create_srq(e->pd, &init);
	need(how->srq);
	verb(ibv_destroy_qp(e->qp));
	qp_init.srq = how->srq;
	e->qp = ibv_create_qp(e->pd, &qp_init);
	need(e->qp);
}

/*
 * ARGUMENT: "uc" or "ud", the latter with "srq" for the receiver, and with "mess" the network
 * reorders and repeats, too.  Messages are lost, some: others come whole, once, in order,
 * and no receive WQE is lost with a message.
 */
static void test_unreliable(struct end *a, struct end *b, const char *arg)
{
	bool ud = arg && strstr(arg, "ud"), mess = arg && strstr(arg, "mess");
	struct how how = {
		.type = ud ? IBV_QPT_UD : IBV_QPT_UC,
		.size = 2 * MESSAGES * SLOT,
		.depth = MESSAGES,
		.cqe = MESSAGES,
	};
	size_t most = ud ? 128 << (a->mtu < b->mtu ? a->mtu : b->mtu) : SLOT;
	uint32_t sent = 0, received = 0, next = 0, lost = 0, before, nr;
	struct ibv_ah *ah = NULL;
	struct ibv_wc wc;
	int i;

	end_make(a, &how);
	end_make(b, &how);
	if (arg && strstr(arg, "srq"))
		use_srq(b, &how);
	pair_connect(a, b, &how);
	if (ud)
		ah = end_ah(a, b);
	for (i = 0; i < MESSAGES; i++)
		post_receive(b, how.srq, i);

	while (received < ENOUGH || !lost) {
		if (sent == MESSAGES)
			die("%u were sent, %u have come, %u were lost", sent, received, lost);
		send_window(a, b, ah, sent, most);
		for (i = 0; i < WINDOW; i++)
			want_wc(a->scq, sent++, IBV_WC_SUCCESS);
		before = received;
		while (next < sent && next_wc(b->rcq, &wc, received == before)) {
			need(wc.wr_id == received);
			received++;
			nr = check_message(b, &wc, ud, most);
			need(nr < sent);
			if (!mess && nr < next)
				die("message %u comes after %u", nr, next - 1);
			lost += nr > next ? nr - next : 0;
			next = nr + 1;
		}
	}
	printf("%u were sent, %u have come\n", sent, received);
	if (ah)
		verb(ibv_destroy_ah(ah));
	verb(ibv_destroy_qp(b->qp));
	b->qp = NULL;
	if (how.srq)
		verb(ibv_destroy_srq(how.srq));
	pair_unmake(a, b);
}

const struct test loss_tests[] = {
	{ "unreliable", test_unreliable },
	{ }
};
