// SPDX-License-Identifier: GPL-2.0
/* Tests of "verbs": each asynchronous event comes, and comes once. */
#include "verbs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NR_EVENTS	32

/* Everything that comes within a quarter of a second. */
static void collect(struct end *e, int *n)
{
	double end = seconds() + 0.25;
	struct ibv_async_event event;

	memset(n, 0, NR_EVENTS * sizeof(*n));
	while (seconds() < end) {
		if (ibv_get_async_event(e->ctx, &event)) {
			usleep(2000);
			continue;
		}
		need(event.event_type < NR_EVENTS);
		n[event.event_type]++;
		ibv_ack_async_event(&event);
	}
}

/* Exactly these, each once; COMM_EST does not matter. */
#define want_only(e, ...)						\
	want_only_at(__LINE__, e, (const int[]){ __VA_ARGS__, -1 })
static void want_only_at(int line, struct end *e, const int *types)
{
	int n[NR_EVENTS], i;

	collect(e, n);
	n[IBV_EVENT_COMM_EST] = 0;
	for (; *types >= 0; types++) {
		if (n[*types] != 1)
			die_at(__func__, line, "%d events '%s'", n[*types],
			       ibv_event_type_str(*types));
		n[*types] = 0;
	}
	for (i = 0; i < NR_EVENTS; i++)
		if (n[i])
			die_at(__func__, line, "%d events '%s'", n[i], ibv_event_type_str(i));
}

/* The first message in RTR; not the second, and none in RTS. */
static void test_event_comm_est(struct end *a, struct end *b, const char *arg)
{
	const struct how how = { };
	int n[NR_EVENTS], i;

	(void)arg;
	end_make(a, &how);
	end_make(b, &how);
	end_init(a);
	end_init(b);
	end_rtr(a, b, &how);
	end_rtr(b, a, &how);
	end_rts(a, &how);
	for (i = 0; i < 3; i++) {
		post_recv(b, i, 0, 10);
		post_send(a, IBV_WR_SEND, i, 0, 10, NULL);
		want_wc(a->scq, i, IBV_WC_SUCCESS);
		want_wc(b->rcq, i, IBV_WC_SUCCESS);
	}
	collect(b, n);
	need(n[IBV_EVENT_COMM_EST] == 1);
	end_rts(b, &how);
	post_recv(b, 5, 0, 10);
	post_send(a, IBV_WR_SEND, 5, 0, 10, NULL);
	want_wc(a->scq, 5, IBV_WC_SUCCESS);
	collect(b, n);
	need(n[IBV_EVENT_COMM_EST] == 0);
	pair_unmake(a, b);
}

static void test_event_drained(struct end *a, struct end *b, const char *arg)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1 };
	const struct how how = { };
	int n[NR_EVENTS], i;

	(void)arg;
	pair_make(a, b, &how);
	for (i = 0; i < 4; i++)
		post_send(a, IBV_WR_RDMA_WRITE, i, 0, 100000, b);
	verb(ibv_modify_qp(a->qp, &attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY));
	want_only(a, IBV_EVENT_SQ_DRAINED);
	/* not asked for */
	end_state(a, IBV_QPS_RTS);
	attr.en_sqd_async_notify = 0;
	verb(ibv_modify_qp(a->qp, &attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY));
	collect(a, n);
	need(n[IBV_EVENT_SQ_DRAINED] == 0);
	pair_unmake(a, b);
}

static void test_event_access(struct end *a, struct end *b, const char *arg)
{
	const struct how how = { };
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	int i;

	(void)arg;
	pair_make(a, b, &how);
	sge = sge_at(a, 0, 10);
	for (i = 0; i < 4; i++) {
		wr = send_wr(IBV_WR_RDMA_WRITE, i, &sge, 1, b, 0);
		wr.wr.rdma.rkey ^= 0x100;
		post_wr(a, &wr);
	}
	want_wc(a->scq, 0, IBV_WC_REM_ACCESS_ERR);
	want_only(b, IBV_EVENT_QP_ACCESS_ERR);
	pair_unmake(a, b);
}

static void test_event_request(struct end *a, struct end *b, const char *arg)
{
	const struct how how = { };

	(void)arg;
	pair_make(a, b, &how);
	post_recv(b, 1, 0, 10);
	post_recv(b, 2, 0, 10);
	post_send(a, IBV_WR_SEND, 1, 0, 100, NULL);
	post_send(a, IBV_WR_SEND, 2, 0, 100, NULL);
	want_wc(a->scq, 1, IBV_WC_REM_INV_REQ_ERR);
	want_only(b, IBV_EVENT_QP_REQ_ERR);
	pair_unmake(a, b);
}

/* A CQ that overflows: one for the CQ, one for the QP whose completion is lost. */
static void test_event_cq(struct end *a, struct end *b, const char *arg)
{
	const struct how how = { .cqe = 4, .depth = 256 };
	int i;

	(void)arg;
	pair_make(a, b, &how);
	for (i = 0; i < a->scq->cqe + 50; i++)
		post_send(a, IBV_WR_RDMA_WRITE, i, 0, 8, b);
	want_only(a, IBV_EVENT_CQ_ERR, IBV_EVENT_QP_FATAL);
	need(end_get_state(a) == IBV_QPS_ERR);
	pair_unmake(a, b);
}

/*
 * A receive that is posted to a QP in ERR is flushed: at once when the CQ is
 * armed, and in a second or two when it is polled alone.
 */
static void test_late_receive(struct end *a, struct end *b, const char *arg)
{
	const struct how how = { };
	struct ibv_cq *cq;
	void *context;
	double start;
	int i;

	(void)arg;
	(void)b;
	end_make(a, &how);
	end_init(a);
	end_state(a, IBV_QPS_ERR);
	for (i = 0; i < 3; i++) {
		usleep(i * 700000);
		start = seconds();
		post_recv(a, i, 0, 10);
		post_recv(a, 10 + i, 0, 10);
		want_wc(a->rcq, i, IBV_WC_WR_FLUSH_ERR);
		want_wc(a->rcq, 10 + i, IBV_WC_WR_FLUSH_ERR);
		printf("polled: %.0f ms\n", (seconds() - start) * 1000);
		need(seconds() - start < 5);
	}
	usleep(1500000);
	start = seconds();
	post_recv(a, 20, 0, 10);
	verb(ibv_req_notify_cq(a->rcq, 0));
	alarm(20);
	verb(ibv_get_cq_event(a->channel, &cq, &context));
	alarm(0);
	printf("armed: %.0f ms\n", (seconds() - start) * 1000);
	ibv_ack_cq_events(cq, 1);
	want_wc(a->rcq, 20, IBV_WC_WR_FLUSH_ERR);
	/* not after RESET any more */
	end_state(a, IBV_QPS_RESET);
	end_init(a);
	post_recv(a, 30, 0, 10);
	no_wc(a->rcq, 1200);
	end_unmake(a);
}

/* Prints the events of a device, one a line, until it is killed. */
static void test_watch(struct end *e, struct end *unused, const char *arg)
{
	struct ibv_async_event event;

	(void)unused;
	(void)arg;
	puts("ready");
	for (;;) {
		if (ibv_get_async_event(e->ctx, &event)) {
			usleep(5000);
			continue;
		}
		puts(ibv_event_type_str(event.event_type));
		ibv_ack_async_event(&event);
	}
}

const struct test event_tests[] = {
	{ "event_comm_est", test_event_comm_est },
	{ "event_drained", test_event_drained },
	{ "event_access", test_event_access },
	{ "event_request", test_event_request },
	{ "event_cq", test_event_cq },
	{ "late_receive", test_late_receive, true },
	{ "watch", test_watch, true },
	{ }
};
