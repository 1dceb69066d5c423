// SPDX-License-Identifier: GPL-2.0
/* Tests of "verbs": shared receive queues, and queues that change their size. */
#include "verbs.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define NR_QPS		8
#define SLOT		8192	/* bytes of the buffer for each receive WR */
#define NR_SLOTS	64

/*
 * A receiving device with one SRQ and one CQ for several QPs, each with a peer
 * that sends.
 */
struct hub {
	struct ibv_pd	*pd;
	struct ibv_cq	*cq;
	struct ibv_srq	*srq;
	struct ibv_mr	*mr;
	uint8_t		*buf;
	int		num;
	struct end	from[NR_QPS], to[NR_QPS];
};

static struct ibv_srq *create_srq(struct ibv_pd *pd, uint32_t max_wr, uint32_t max_sge)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = max_wr, .max_sge = max_sge } };

	return ibv_create_srq(pd, &init);
}

static void hub_post(struct hub *h, int slot)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)h->buf + slot * SLOT,
		.length = SLOT,
		.lkey = h->mr->lkey,
	};
	struct ibv_recv_wr wr = { .wr_id = slot, .sg_list = &sge, .num_sge = 1 }, *bad;

	verb(ibv_post_srq_recv(h->srq, &wr, &bad));
}

static void hub_make(struct hub *h, struct end *a, struct end *b, int num, uint32_t max_wr,
		     const struct how *how)
{
	struct how sender = *how, receiver = *how;
	int i;

	memset(h, 0, sizeof(*h));
	h->num = num;
	h->pd = ibv_alloc_pd(b->ctx);
	h->cq = ibv_create_cq(b->ctx, 1024, NULL, NULL, 0);
	need(h->pd && h->cq);
	h->srq = create_srq(h->pd, max_wr, 2);
	if (!h->srq)
		die("no SRQ: %s", strerror(errno));
	h->buf = mmap(NULL, NR_SLOTS * SLOT, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		      -1, 0);
	need(h->buf != MAP_FAILED);
	/* of the SRQ's PD, which is not that of the QPs */
	h->mr = ibv_reg_mr(h->pd, h->buf, NR_SLOTS * SLOT, IBV_ACCESS_LOCAL_WRITE);
	need(h->mr);
	sender.size = receiver.size = 65536;
	receiver.srq = h->srq;
	receiver.rcq = h->cq;
	for (i = 0; i < num; i++) {
		h->from[i] = *a;
		h->to[i] = *b;
		end_make(&h->from[i], &sender);
		end_make(&h->to[i], &receiver);
		pair_connect(&h->from[i], &h->to[i], how);
	}
}

static void hub_unmake(struct hub *h)
{
	int i;

	for (i = 0; i < h->num; i++)
		pair_unmake(&h->from[i], &h->to[i]);
	verb(ibv_destroy_srq(h->srq));
	verb(ibv_destroy_cq(h->cq));
	verb(ibv_dereg_mr(h->mr));
	verb(ibv_dealloc_pd(h->pd));
	munmap(h->buf, NR_SLOTS * SLOT);
}

/* One message: what it holds tells where it came from and which one it is. */
static void hub_send(struct hub *h, int i, uint32_t seq, size_t len)
{
	struct end *e = &h->from[i];
	uint8_t *data = e->buf + seq % 8 * SLOT;

	fill(data, len, i * 1000 + seq);
	post_send(e, IBV_WR_SEND, seq, data - e->buf, len, NULL);
}

static size_t hub_len(int i, uint32_t seq)
{
	return 1 + (i * 977 + seq * 613) % SLOT;
}

static int hub_qp(const struct hub *h, uint32_t qpn)
{
	int i;

	for (i = 0; i < h->num; i++)
		if (h->to[i].qp->qp_num == qpn)
			return i;
	die("a completion of QPN %u", qpn);
}

/* The completion of a receive: its data is the next message of its QP's peer. */
static int hub_recv(struct hub *h, uint32_t *seq)
{
	struct ibv_wc wc = wait_wc(h->cq);
	int i = hub_qp(h, wc.qp_num);
	size_t len = hub_len(i, seq[i]);

	if (wc.status != IBV_WC_SUCCESS)
		die("WR %llu: %s", (unsigned long long)wc.wr_id, ibv_wc_status_str(wc.status));
	need(wc.wr_id < NR_SLOTS);
	if (wc.byte_len != len)
		die("QP %d, message %u: %u bytes, not %zu", i, seq[i], wc.byte_len, len);
	need(same(h->buf + wc.wr_id * SLOT, len, i * 1000 + seq[i]));
	memset(h->buf + wc.wr_id * SLOT, 0, SLOT);
	seq[i]++;
	return wc.wr_id;
}

/* Several senders, few WQEs: each WQE serves one message at a time, nothing is lost. */
static void test_srq(struct end *a, struct end *b, const char *arg)
{
	enum { MESSAGES = 200 };
	const struct how how = { .rnr_timer = 1 };
	uint32_t sent[NR_QPS] = { }, done[NR_QPS] = { }, seq[NR_QPS] = { };
	int i, n, all = 0, num = arg ? atoi(arg) : NR_QPS;
	struct hub h;

	hub_make(&h, a, b, num, 16, &how);
	for (i = 0; i < 6; i++)
		hub_post(&h, i);
	for (n = 0; n < num * MESSAGES;) {
		struct ibv_wc wc;

		for (i = 0; i < num; i++) {
			if (ibv_poll_cq(h.from[i].scq, 1, &wc) > 0) {
				need(wc.status == IBV_WC_SUCCESS && wc.wr_id == done[i]);
				done[i]++;
			}
			if (sent[i] < MESSAGES && sent[i] - done[i] < 4) {
				hub_send(&h, i, sent[i], hub_len(i, sent[i]));
				sent[i]++;
				all++;
			}
		}
		/* all may have been received before the senders know */
		if (n == all)
			continue;
		hub_post(&h, hub_recv(&h, seq));
		n++;
	}
	for (i = 0; i < num; i++)
		need(seq[i] == MESSAGES);
	no_wc(h.cq, 20);
	hub_unmake(&h);
}

/* Empty: the sender waits, and goes on when there is a WQE. */
static void test_srq_rnr(struct end *a, struct end *b, const char *arg)
{
	struct how how = { .rnr_timer = 8 };
	uint32_t seq[NR_QPS] = { };
	struct hub h;

	(void)arg;
	hub_make(&h, a, b, 2, 16, &how);
	hub_send(&h, 0, 0, hub_len(0, 0));
	no_wc(h.from[0].scq, 100);
	hub_post(&h, 3);
	want_wc(h.from[0].scq, 0, IBV_WC_SUCCESS);
	need(hub_recv(&h, seq) == 3);
	hub_unmake(&h);

	how.rnr_retry = NO_RETRY;
	hub_make(&h, a, b, 1, 16, &how);
	hub_send(&h, 0, 0, 10);
	want_wc(h.from[0].scq, 0, IBV_WC_RNR_RETRY_EXC_ERR);
	hub_unmake(&h);
}

/* How many events of a type come in that time? Others are not expected. */
static int count_events(struct end *e, enum ibv_event_type type, int ms)
{
	double end = seconds() + ms / 1e3;
	struct ibv_async_event event;
	int n = 0;

	while (seconds() < end) {
		if (ibv_get_async_event(e->ctx, &event)) {
			usleep(2000);
			continue;
		}
		if (event.event_type != type && event.event_type != IBV_EVENT_COMM_EST)
			die("event '%s'", ibv_event_type_str(event.event_type));
		n += event.event_type == type;
		ibv_ack_async_event(&event);
	}
	return n;
}

static void arm(struct hub *h, uint32_t limit)
{
	struct ibv_srq_attr attr = { .srq_limit = limit };

	verb(ibv_modify_srq(h->srq, &attr, IBV_SRQ_LIMIT));
}

static uint32_t limit_of(struct hub *h)
{
	struct ibv_srq_attr attr;

	verb(ibv_query_srq(h->srq, &attr));
	return attr.srq_limit;
}

/* One event when the WQEs get fewer than the limit; no other until it is armed again. */
static void test_srq_limit(struct end *a, struct end *b, const char *arg)
{
	const struct how how = { };
	uint32_t seq[NR_QPS] = { };
	struct hub h;
	int i;

	(void)arg;
	hub_make(&h, a, b, 2, 16, &how);
	for (i = 0; i < 10; i++)
		hub_post(&h, i);
	arm(&h, 5);
	need(limit_of(&h) == 5);
	for (i = 0; i < 5; i++) {
		hub_send(&h, 0, i, hub_len(0, i));
		hub_recv(&h, seq);
	}
	need(count_events(b, IBV_EVENT_SRQ_LIMIT_REACHED, 100) == 0);
	hub_send(&h, 0, 5, hub_len(0, 5));
	hub_recv(&h, seq);
	need(count_events(b, IBV_EVENT_SRQ_LIMIT_REACHED, 200) == 1);
	need(limit_of(&h) == 0);
	hub_send(&h, 0, 6, hub_len(0, 6));
	hub_recv(&h, seq);
	need(count_events(b, IBV_EVENT_SRQ_LIMIT_REACHED, 100) == 0);
	/* three are left: fewer than five already */
	arm(&h, 5);
	need(count_events(b, IBV_EVENT_SRQ_LIMIT_REACHED, 100) == 1);
	/* armed, and disarmed */
	arm(&h, 3);
	arm(&h, 0);
	hub_send(&h, 0, 7, hub_len(0, 7));
	hub_recv(&h, seq);
	need(count_events(b, IBV_EVENT_SRQ_LIMIT_REACHED, 100) == 0);
	for (i = 0; i < 8; i++)
		want_wc(h.from[0].scq, i, IBV_WC_SUCCESS);
	hub_unmake(&h);
}

/* A QP that fails gives back no WQE of the others, and says when it has taken its last. */
static void test_srq_last_wqe(struct end *a, struct end *b, const char *arg)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
	const struct how how = { };
	uint32_t seq[NR_QPS] = { };
	struct hub h;
	int i;

	(void)arg;
	hub_make(&h, a, b, 2, 16, &how);
	for (i = 0; i < 4; i++)
		hub_post(&h, i);
	hub_send(&h, 0, 0, hub_len(0, 0));
	hub_recv(&h, seq);
	end_state(&h.to[0], IBV_QPS_ERR);
	need(count_events(b, IBV_EVENT_QP_LAST_WQE_REACHED, 200) == 1);
	end_state(&h.to[0], IBV_QPS_ERR);
	need(count_events(b, IBV_EVENT_QP_LAST_WQE_REACHED, 100) == 0);
	no_wc(h.cq, 0);
	/* the other one has what was posted */
	for (i = 0; i < 3; i++) {
		hub_send(&h, 1, i, hub_len(1, i));
		hub_recv(&h, seq);
	}
	/* again after RESET */
	verb(ibv_modify_qp(h.to[0].qp, &attr, IBV_QP_STATE));
	end_init(&h.to[0]);
	end_state(&h.to[0], IBV_QPS_ERR);
	need(count_events(b, IBV_EVENT_QP_LAST_WQE_REACHED, 200) == 1);
	hub_unmake(&h);
}

/* ERR in the middle of messages: a WQE that was taken is completed, once; the rest stay. */
static void test_srq_error_in_message(struct end *a, struct end *b, const char *arg)
{
	const struct how how = { .timeout = 12, .retry = 2, .depth = 64 };
	bool seen[NR_SLOTS];
	struct ibv_wc wc;
	struct hub h;
	int i, round;

	(void)arg;
	for (round = 0; round < 6; round++) {
		memset(seen, 0, sizeof(seen));
		hub_make(&h, a, b, 2, NR_SLOTS, &how);
		for (i = 0; i < 40; i++)
			hub_post(&h, i);
		for (i = 0; i < 30; i++)
			post_send(&h.from[0], IBV_WR_SEND, i, 0, SLOT, NULL);
		usleep(round * 300);
		end_state(&h.to[0], IBV_QPS_ERR);
		want_event(b, IBV_EVENT_QP_LAST_WQE_REACHED);
		while (ibv_poll_cq(h.cq, 1, &wc) > 0) {
			need(wc.qp_num == h.to[0].qp->qp_num);
			need(wc.wr_id < 40 && !seen[wc.wr_id]);
			seen[wc.wr_id] = true;
		}
		/* those that were not taken serve the other QP, each once */
		for (i = 0; i < 40; i++) {
			if (seen[i])
				continue;
			post_send(&h.from[1], IBV_WR_SEND, i, 0, 10, NULL);
			want_wc(h.from[1].scq, i, IBV_WC_SUCCESS);
			wc = wait_wc(h.cq);
			need(wc.status == IBV_WC_SUCCESS && wc.wr_id == (uint64_t)i);
		}
		no_wc(h.cq, 5);
		hub_unmake(&h);
	}
}

/* Until the senders know that @all messages have arrived; @sent: of each. */
static void hub_wait_sent(struct hub *h, uint32_t *sent, uint32_t all)
{
	double end = seconds() + 20;
	uint32_t n = 0;
	struct ibv_wc wc;
	int i;

	for (i = 0; i < h->num; i++)
		n += sent[i];
	while (n < all) {
		need(seconds() < end);
		for (i = 0; i < h->num; i++) {
			if (ibv_poll_cq(h->from[i].scq, 1, &wc) <= 0)
				continue;
			need(wc.status == IBV_WC_SUCCESS && wc.wr_id == sent[i]);
			sent[i]++;
			n++;
		}
	}
}

/*
 * Several QPs use up the SRQ and fill the CQ to its last entry: nothing is lost. One
 * completion more, and the QP that it is of fails, with one event, and the CQ with one;
 * what is in the CQ stays, and the others go on when there is room.
 */
static void test_srq_cq_full(struct end *a, struct end *b, const char *arg)
{
	enum { SLOTS = 62, SENDS = SLOTS + 1 };	/* two slots of the CQ's ring stay empty */
	const struct how how = { .rnr_timer = 1 };
	uint32_t seq[NR_QPS] = { }, sent[NR_QPS] = { };
	int i, n, cq_errors = 0, failed = -1;
	struct ibv_async_event event;
	struct hub h;
	double end;

	(void)arg;
	hub_make(&h, a, b, NR_QPS, SLOTS, &how);
	for (i = 0; i < SLOTS; i++)
		hub_post(&h, i);
	verb(ibv_resize_cq(h.cq, SLOTS));
	need(h.cq->cqe == SLOTS);
	for (n = 0; n < SENDS; n++)
		hub_send(&h, n % NR_QPS, n / NR_QPS, hub_len(n % NR_QPS, n / NR_QPS));
	/* one finds no WQE */
	hub_wait_sent(&h, sent, SLOTS);
	need(count_events(b, IBV_EVENT_CQ_ERR, 50) == 0);
	for (n = 0; n < SLOTS; n++)
		hub_recv(&h, seq);
	no_wc(h.cq, 0);
	hub_post(&h, 0);
	hub_recv(&h, seq);
	hub_wait_sent(&h, sent, SENDS);

	/* full again, and one more */
	for (i = 0; i < SLOTS; i++)
		hub_post(&h, i);
	for (n = SENDS; n < 2 * SENDS; n++)
		hub_send(&h, n % NR_QPS, n / NR_QPS, hub_len(n % NR_QPS, n / NR_QPS));
	hub_wait_sent(&h, sent, SENDS + SLOTS);
	hub_post(&h, SLOTS);
	for (end = seconds() + 5; (failed < 0 || !cq_errors) && seconds() < end;) {
		if (ibv_get_async_event(b->ctx, &event)) {
			usleep(2000);
			continue;
		}
		if (event.event_type == IBV_EVENT_QP_FATAL) {
			need(failed < 0);
			failed = hub_qp(&h, event.element.qp->qp_num);
		}
		cq_errors += event.event_type == IBV_EVENT_CQ_ERR;
		ibv_ack_async_event(&event);
	}
	need(failed >= 0 && cq_errors == 1);
	need(count_events(b, IBV_EVENT_QP_LAST_WQE_REACHED, 50) <= 1);
	for (n = 0; n < SLOTS; n++)
		hub_recv(&h, seq);
	for (i = 0; i < NR_QPS; i++) {
		need(end_get_state(&h.to[i]) == (i == failed ? IBV_QPS_ERR : IBV_QPS_RTS));
		need(seq[i] == (2 * SENDS - i + NR_QPS - 1U) / NR_QPS - (i == failed));
	}
	hub_post(&h, 0);
	hub_send(&h, !failed, seq[!failed], hub_len(!failed, seq[!failed]));
	hub_recv(&h, seq);
	hub_unmake(&h);
}

static void test_srq_ud(struct end *a, struct end *b, const char *arg)
{
	const struct how how = { .type = IBV_QPT_UD };
	struct ibv_ah_attr ah_attr = {
		.is_global = 1, .port_num = 1,
		.grh = { .dgid = b->gid, .sgid_index = a->gid_index, .hop_limit = 64 },
	};
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct ibv_ah *ah;
	struct ibv_wc wc;
	struct hub h;
	int i, n;

	(void)arg;
	hub_make(&h, a, b, 2, 16, &how);
	ah = ibv_create_ah(h.from[0].pd, &ah_attr);
	need(ah);
	for (i = 0; i < 8; i++)
		hub_post(&h, i);
	for (i = 0; i < 8; i++) {
		fill(h.from[0].buf, 500, i);
		sge = sge_at(&h.from[0], 0, 500);
		wr = send_wr(IBV_WR_SEND, i, &sge, 1, NULL, 0);
		wr.wr.ud.ah = ah;
		wr.wr.ud.remote_qpn = h.to[i & 1].qp->qp_num;
		wr.wr.ud.remote_qkey = QKEY;
		post_wr(&h.from[0], &wr);
		want_wc(h.from[0].scq, i, IBV_WC_SUCCESS);
		wc = wait_wc(h.cq);
		n = hub_qp(&h, wc.qp_num);
		need(wc.status == IBV_WC_SUCCESS && n == (i & 1) && wc.byte_len == 500 + GRH);
		need(same(h.buf + wc.wr_id * SLOT + GRH, 500, i));
	}
	verb(ibv_destroy_ah(ah));
	hub_unmake(&h);
}

/* A thread that sends and counts what was received, while queues change their size. */
struct load {
	struct hub	*h;
	bool		stop;		/* atomic */
	uint32_t	received;
	pthread_t	thread;
};

static void *load_run(void *arg)
{
	struct load *l = arg;
	struct hub *h = l->h;
	uint32_t sent[NR_QPS] = { }, done[NR_QPS] = { }, seq[NR_QPS] = { };
	uint32_t total = 0, n = 0;
	struct ibv_wc wc;
	bool stop;
	int i;

	while (!(stop = __atomic_load_n(&l->stop, __ATOMIC_RELAXED)) || n < total) {
		for (i = 0; i < h->num; i++) {
			while (ibv_poll_cq(h->from[i].scq, 1, &wc) > 0) {
				need(wc.status == IBV_WC_SUCCESS && wc.wr_id == done[i]);
				done[i]++;
			}
			if (!stop && sent[i] - done[i] < 4) {
				hub_send(h, i, sent[i], hub_len(i, sent[i]));
				sent[i]++;
				total++;
			}
		}
		if (n < total) {
			hub_post(h, hub_recv(h, seq));
			n++;
		}
	}
	l->received = n;
	return NULL;
}

static void load_start(struct load *l, struct hub *h)
{
	*l = (struct load){ .h = h };
	need(!pthread_create(&l->thread, NULL, load_run, l));
}

static void load_stop(struct load *l)
{
	__atomic_store_n(&l->stop, true, __ATOMIC_RELAXED);
	need(!pthread_join(l->thread, NULL));
	printf("%u messages\n", l->received);
	need(l->received > 50);
}

static void srq_resize(struct hub *h, uint32_t max_wr)
{
	struct ibv_srq_attr attr = { .max_wr = max_wr };

	verb(ibv_modify_srq(h->srq, &attr, IBV_SRQ_MAX_WR));
	verb(ibv_query_srq(h->srq, &attr));
	need(attr.max_wr >= max_wr);
}

/* What waits stays, in order; what does not fit is refused. */
static void test_srq_resize(struct end *a, struct end *b, const char *arg)
{
	static const uint32_t sizes[] = { 64, 20, 300, 15, 16, 4000, 15 };
	struct ibv_srq_attr attr = { .max_wr = 7 };
	const struct how how = { };
	uint32_t seq[NR_QPS] = { };
	struct load load;
	struct hub h;
	size_t i;
	int n;

	(void)arg;
	hub_make(&h, a, b, 4, 32, &how);
	for (n = 0; n < 15; n++)
		hub_post(&h, n);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		srq_resize(&h, sizes[i]);
		for (n = 0; n < 10; n++) {
			hub_send(&h, 1, seq[1], hub_len(1, seq[1]));
			hub_post(&h, hub_recv(&h, seq));
		}
	}
	for (n = 0; n < (int)(10 * ARRAY_SIZE(sizes)); n++)
		want_wc(h.from[1].scq, n, IBV_WC_SUCCESS);
	need(ibv_modify_srq(h.srq, &attr, IBV_SRQ_MAX_WR) == EINVAL);
	/* a limit above the size, in either order */
	attr = (struct ibv_srq_attr){ .srq_limit = 16 };
	need(ibv_modify_srq(h.srq, &attr, IBV_SRQ_LIMIT) == EINVAL);
	attr.max_wr = 15;
	need(ibv_modify_srq(h.srq, &attr, IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT) == EINVAL);
	hub_unmake(&h);

	hub_make(&h, a, b, 4, 64, &how);
	for (n = 0; n < 12; n++)
		hub_post(&h, n);
	load_start(&load, &h);
	for (n = 0; n < 100; n++) {
		srq_resize(&h, sizes[n % ARRAY_SIZE(sizes)]);
		usleep(2000);
	}
	load_stop(&load);
	hub_unmake(&h);
}

struct resizer {
	struct hub	*h;
	pthread_t	thread;
	bool		stop;
	int		done;
};

static void *resizer_run(void *arg)
{
	struct resizer *r = arg;

	while (!__atomic_load_n(&r->stop, __ATOMIC_RELAXED))
		srq_resize(r->h, r->done++ & 1 ? 5000 : 10000);
	return NULL;
}

/* Thousands of WQEs are moved, while the first ones are taken: one after the other. */
static void test_srq_resize_full(struct end *a, struct end *b, const char *arg)
{
	enum { POSTED = 4000, MESSAGES = 800, BURST = 8 };
	const struct how how = { };
	struct resizer r = { };
	uint32_t seq[NR_QPS] = { };
	int posted, taken = 0, i;
	struct hub h;

	(void)arg;
	hub_make(&h, a, b, 1, 5000, &how);
	for (posted = 0; posted < POSTED; posted++)
		hub_post(&h, posted % NR_SLOTS);
	r.h = &h;
	need(!pthread_create(&r.thread, NULL, resizer_run, &r));
	while (taken < MESSAGES) {
		for (i = 0; i < BURST; i++)
			hub_send(&h, 0, taken + i, hub_len(0, taken + i));
		for (i = 0; i < BURST; i++)
			need(hub_recv(&h, seq) == taken++ % NR_SLOTS);
		for (i = 0; i < BURST; i++) {
			want_wc(h.from[0].scq, taken - BURST + i, IBV_WC_SUCCESS);
			hub_post(&h, posted++ % NR_SLOTS);
		}
	}
	__atomic_store_n(&r.stop, true, __ATOMIC_RELAXED);
	need(!pthread_join(r.thread, NULL));
	printf("%d times\n", r.done);
	need(r.done > 4);
	hub_unmake(&h);
}

static void test_srq_errors(struct end *a, struct end *b, const char *arg)
{
	struct ibv_srq_attr attr = { .max_wr = 4 };
	struct ibv_recv_wr wr = { .num_sge = 3 }, *bad;
	struct ibv_sge sge[3] = { };
	struct ibv_device_attr dev;
	const struct how how = { };
	struct ibv_srq *srq;
	struct hub h;
	int i;

	(void)arg;
	verb(ibv_query_device(b->ctx, &dev));
	need(dev.max_srq > 0 && dev.max_srq_wr > 0 && dev.max_srq_sge > 0);
	hub_make(&h, a, b, 1, 16, &how);
	errno = 0;
	need(!create_srq(h.pd, 0, 1) && errno == EINVAL);
	need(!create_srq(h.pd, dev.max_srq_wr + 1, 1) && errno == EINVAL);
	need(!create_srq(h.pd, 1, dev.max_srq_sge + 1) && errno == EINVAL);
	need(!create_srq(h.pd, -1, 1) && errno == EINVAL);
	srq = create_srq(h.pd, dev.max_srq_wr, dev.max_srq_sge);
	if (!srq)
		die("no SRQ at the limits: %s", strerror(errno));
	verb(ibv_query_srq(srq, &attr));
	need(attr.max_wr >= (uint32_t)dev.max_srq_wr && attr.max_sge >= (uint32_t)dev.max_srq_sge);
	need(!attr.srq_limit);
	attr.max_wr = dev.max_srq_wr + 1;
	need(ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR) == EINVAL);
	verb(ibv_destroy_srq(srq));

	/* in use */
	need(ibv_destroy_srq(h.srq) == EBUSY);
	/* more SGEs than it has */
	wr.sg_list = sge;
	need(ibv_post_srq_recv(h.srq, &wr, &bad));
	/* full */
	for (i = 0; i < 1000; i++) {
		wr.num_sge = 0;
		if (ibv_post_srq_recv(h.srq, &wr, &bad))
			break;
	}
	verb(ibv_query_srq(h.srq, &attr));
	need(attr.max_wr >= 16 && i == (int)attr.max_wr);
	hub_unmake(&h);
}

/* The newest mapping of the device: that of the ring that was just made. */
static struct ring {
	uint8_t	*at;
	size_t	size;
} ring_of(struct ring *before)
{
	unsigned long from, to;
	char line[512];
	FILE *maps = fopen("/proc/self/maps", "r");
	struct ring r = { };
	int i;

	need(maps);
	while (fgets(line, sizeof(line), maps)) {
		if (!strstr(line, "uverbs") || sscanf(line, "%lx-%lx", &from, &to) != 2)
			continue;
		for (i = 0; before && before[i].at && before[i].at != (uint8_t *)from; i++)
			;
		if (before && !before[i].at)
			r = (struct ring){ (uint8_t *)from, to - from };
	}
	fclose(maps);
	return r;
}

static void all_rings(struct ring *list, int max)
{
	unsigned long from, to;
	char line[512];
	FILE *maps = fopen("/proc/self/maps", "r");
	int n = 0;

	need(maps);
	while (fgets(line, sizeof(line), maps))
		if (strstr(line, "uverbs") && sscanf(line, "%lx-%lx", &from, &to) == 2 &&
		    n < max - 1)
			list[n++] = (struct ring){ (uint8_t *)from, to - from };
	list[n].at = NULL;
	fclose(maps);
}

#define PRODUCER	128	/* in struct rxe_queue_buf */
#define CONSUMER	256
#define SLOTS		384
#define NUM_SGE		24	/* in struct rxe_recv_wqe */

/* The SRQ has failed: it says so once, and each of its QPs does. */
static void want_broken(struct end *e, int qps)
{
	static const enum ibv_event_type types[] = {
		IBV_EVENT_SRQ_ERR, IBV_EVENT_QP_FATAL, IBV_EVENT_QP_LAST_WQE_REACHED,
	};
	const int all[] = { 1, qps, qps };
	struct ibv_async_event event;
	double end = seconds() + 5;
	int n[ARRAY_SIZE(types)] = { };
	bool done = false;
	size_t i;

	while (seconds() < end) {
		if (ibv_get_async_event(e->ctx, &event)) {
			usleep(2000);
			continue;
		}
		for (i = 0; i < ARRAY_SIZE(types); i++)
			n[i] += event.event_type == types[i];
		ibv_ack_async_event(&event);
		if (!done && !memcmp(n, all, sizeof(n))) {
			done = true;
			end = seconds() + 0.1;
		}
	}
	for (i = 0; i < ARRAY_SIZE(types); i++)
		if (n[i] != all[i])
			die("%d events '%s', not %d", n[i], ibv_event_type_str(types[i]), all[i]);
}

/* A process that writes nonsense into the ring: its own QPs fail, and nothing else. */
static void test_srq_hostile(struct end *a, struct end *b, const char *arg)
{
	const struct how how = { .rnr_timer = 1, .rnr_retry = 1 };
	struct ring before[64], ring;
	struct ibv_srq *srq;
	struct ibv_wc wc;
	struct end ea = *a, eb = *b, other_a = *a, other_b = *b;
	struct how rhow = how;
	struct ibv_pd *pd = ibv_alloc_pd(b->ctx);
	struct ibv_recv_wr wr = { }, *bad;
	int i, kind;

	(void)arg;
	need(pd);
	for (kind = 0; kind < 5; kind++) {
		printf("kind %d\n", kind);
		all_rings(before, ARRAY_SIZE(before));
		srq = create_srq(pd, 15, 2);
		need(srq);
		ring = ring_of(before);
		need(ring.at && ring.size >= 4096);
		rhow.srq = srq;
		end_make(&ea, &how);
		end_make(&eb, &rhow);
		pair_connect(&ea, &eb, &how);
		end_make(&other_a, &how);
		end_make(&other_b, &rhow);
		pair_connect(&other_a, &other_b, &how);
		for (i = 0; i < 4; i++)
			verb(ibv_post_srq_recv(srq, &wr, &bad));
		switch (kind) {
		case 0:		/* an index out of range */
			*(uint32_t *)(ring.at + PRODUCER) = 0x80000004;
			break;
		case 1:
			*(uint32_t *)(ring.at + PRODUCER) = -1;
			break;
		case 2:		/* too many SGEs in all WQEs */
			for (i = SLOTS + NUM_SGE; i < (int)ring.size - 4; i += 4)
				*(uint32_t *)(ring.at + i) = 0x7fffffff;
			break;
		case 3:		/* a full ring */
			*(uint32_t *)(ring.at + PRODUCER) = 15;
			break;
		case 4:		/* everything */
			memset(ring.at, 0xff, ring.size);
			break;
		}
		post_send(&ea, IBV_WR_SEND, 1, 0, 0, NULL);
		post_send(&ea, IBV_WR_SEND, 2, 0, 100, NULL);
		wc = wait_wc(ea.scq);
		printf("%s\n", ibv_wc_status_str(wc.status));
		need(wc.wr_id == 1);
		if (kind == 0 || kind == 1 || kind == 4) {
			need(wc.status == IBV_WC_REM_OP_ERR);
			need(end_get_state(&other_b) == IBV_QPS_RTS);
			post_send(&other_a, IBV_WR_SEND, 3, 0, 0, NULL);
			want_wc(other_a.scq, 3, IBV_WC_REM_OP_ERR);
			want_broken(b, 2);
			need(end_get_state(&eb) == IBV_QPS_ERR);
			need(end_get_state(&other_b) == IBV_QPS_ERR);
		} else if (kind == 2) {
			need(wc.status == IBV_WC_REM_OP_ERR);
			wc = wait_wc(eb.rcq);
			need(wc.status == IBV_WC_LOC_QP_OP_ERR);
		}
		wc = wait_wc(ea.scq);
		need(wc.wr_id == 2 && wc.status != IBV_WC_SUCCESS);
		usleep(10000);
		while (poll_event(b, IBV_EVENT_DEVICE_FATAL, 20))
			die("the device failed");
		pair_unmake(&ea, &eb);
		pair_unmake(&other_a, &other_b);
		verb(ibv_destroy_srq(srq));
	}
	verb(ibv_dealloc_pd(pd));
}

/* Holds an SRQ with three WQEs and a limit of two, until it is killed. */
static void test_hold_srq(struct end *e, struct end *unused, const char *arg)
{
	struct ibv_srq_attr attr = { .srq_limit = 2 };
	struct ibv_pd *pd = ibv_alloc_pd(e->ctx);
	struct ibv_recv_wr wr = { }, *bad;
	struct ibv_srq *srq;
	int i;

	(void)unused;
	(void)arg;
	need(pd);
	srq = create_srq(pd, 15, 1);
	need(srq);
	for (i = 0; i < 3; i++)
		verb(ibv_post_srq_recv(srq, &wr, &bad));
	verb(ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT));
	puts("ready");
	pause();
}

/*
 * CQs
 */

static void cq_resize(struct ibv_cq *cq, int cqe)
{
	verb(ibv_resize_cq(cq, cqe));
	need(cq->cqe >= cqe);
}

static void test_cq_resize(struct end *a, struct end *b, const char *arg)
{
	static const int sizes[] = { 40, 500, 31, 4000, 63, 64, 10 };
	const struct how how = { .cqe = 20, .depth = 100 };
	struct ibv_device_attr dev;
	size_t i;
	int n, cqe;

	(void)arg;
	verb(ibv_query_device(a->ctx, &dev));
	pair_make(a, b, &how);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		/* twenty wait; the size changes; ten more come */
		for (n = 0; n < 10; n++)
			post_send(a, IBV_WR_RDMA_WRITE, n, 0, 8, b);
		if (sizes[i] >= 20) {
			cq_resize(a->scq, sizes[i]);
			for (n = 10; n < 20; n++)
				post_send(a, IBV_WR_RDMA_WRITE, n, 0, 8, b);
		}
		for (n = 0; n < (sizes[i] >= 20 ? 20 : 10); n++)
			want_wc(a->scq, n, IBV_WC_SUCCESS);
		cq_resize(a->scq, sizes[i]);
		no_wc(a->scq, 0);
	}

	/* too small for what waits, and what no CQ may have: nothing changes */
	cq_resize(a->scq, 200);
	for (n = 0; n < 50; n++)
		post_send(a, IBV_WR_RDMA_WRITE, n, 0, 8, b);
	usleep(100000);
	cqe = a->scq->cqe;
	need(ibv_resize_cq(a->scq, 10) == EINVAL);
	need(ibv_resize_cq(a->scq, 0) == EINVAL);
	need(ibv_resize_cq(a->scq, dev.max_cqe + 1) == EINVAL);
	need(a->scq->cqe == cqe);
	for (n = 0; n < 50; n++)
		want_wc(a->scq, n, IBV_WC_SUCCESS);
	cq_resize(a->scq, dev.max_cqe);
	pair_unmake(a, b);
}

/* Armed before, signaled after. */
static void test_cq_resize_armed(struct end *a, struct end *b, const char *arg)
{
	const struct how how = { };
	struct ibv_cq *cq;
	void *context;

	(void)arg;
	pair_make(a, b, &how);
	verb(ibv_req_notify_cq(a->scq, 0));
	cq_resize(a->scq, 1000);
	post_send(a, IBV_WR_RDMA_WRITE, 1, 0, 8, b);
	alarm(20);
	verb(ibv_get_cq_event(a->channel, &cq, &context));
	alarm(0);
	need(cq == a->scq);
	ibv_ack_cq_events(cq, 1);
	want_wc(a->scq, 1, IBV_WC_SUCCESS);
	pair_unmake(a, b);
}

static void test_cq_resize_load(struct end *a, struct end *b, const char *arg)
{
	static const int sizes[] = { 100, 2000, 64, 300, 10000, 64 };
	const struct how how = { };
	struct load load;
	struct hub h;
	int n;

	(void)arg;
	hub_make(&h, a, b, NR_QPS, 64, &how);
	for (n = 0; n < 40; n++)
		hub_post(&h, n);
	load_start(&load, &h);
	for (n = 0; n < 100; n++) {
		cq_resize(h.cq, sizes[n % ARRAY_SIZE(sizes)]);
		cq_resize(h.from[n % NR_QPS].scq, sizes[(n + 1) % ARRAY_SIZE(sizes)]);
		usleep(2000);
	}
	load_stop(&load);
	hub_unmake(&h);
}

const struct test srq_tests[] = {
	{ "srq", test_srq },
	{ "srq_rnr", test_srq_rnr },
	{ "srq_limit", test_srq_limit },
	{ "srq_last_wqe", test_srq_last_wqe },
	{ "srq_error_in_message", test_srq_error_in_message },
	{ "srq_cq_full", test_srq_cq_full },
	{ "srq_ud", test_srq_ud },
	{ "srq_resize", test_srq_resize },
	{ "srq_resize_full", test_srq_resize_full },
	{ "srq_errors", test_srq_errors },
	{ "srq_hostile", test_srq_hostile },
	{ "hold_srq", test_hold_srq, true },
	{ "cq_resize", test_cq_resize },
	{ "cq_resize_armed", test_cq_resize_armed },
	{ "cq_resize_load", test_cq_resize_load },
	{ }
};
