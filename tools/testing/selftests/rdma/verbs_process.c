// SPDX-License-Identifier: GPL-2.0
/*
 * Parts of "verbs" that a script uses as a process: one that holds a device
 * open, one that makes traffic, one that asks what it may do.
 */
#include "verbs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* The device is gone: each verb says EIO, the rings can still be touched. */
static void after_the_end(struct end *e)
{
	struct ibv_send_wr wr = send_wr(IBV_WR_SEND, 1, NULL, 0, NULL, 0), *bad;
	struct ibv_recv_wr recv = { .wr_id = 1 }, *bad_recv;
	struct ibv_port_attr port;
	struct ibv_wc wc;
	struct ibv_pd *pd;
	int err;

	if (!poll_event(e, IBV_EVENT_DEVICE_FATAL, 2000))
		die("no event 'device fatal'");
	err = ibv_query_port(e->ctx, 1, &port);
	need(err == EIO);
	errno = 0;
	pd = ibv_alloc_pd(e->ctx);
	need(!pd && errno == EIO);
	ibv_poll_cq(e->rcq, 1, &wc);
	ibv_poll_cq(e->scq, 1, &wc);
	ibv_post_recv(e->qp, &recv, &bad_recv);
	ibv_post_send(e->qp, &wr, &bad);
	ibv_req_notify_cq(e->scq, 0);
	/* fails with EIO, or succeeds because the object is gone */
	ibv_destroy_qp(e->qp);
	ibv_destroy_cq(e->scq);
	ibv_destroy_cq(e->rcq);
	ibv_dereg_mr(e->mr);
	ibv_dealloc_pd(e->pd);
}

/*
 * Holds a device open, with a QP and mapped rings, until it goes away.  Prints
 * "ready", and in the end "gone: EIO".  ARGUMENT: "exit" leaves without tidying
 * up, "sleep" does not look at all (it has to be killed).
 */
static void test_hold(struct end *e, struct end *unused, const char *arg)
{
	const struct how how = { .size = 65536 };
	struct ibv_port_attr port;
	int err;

	(void)unused;
	end_make(e, &how);
	end_init(e);
	post_recv(e, 1, 0, 100);
	puts("ready");
	if (arg && !strcmp(arg, "sleep"))
		pause();
	while (!(err = ibv_query_port(e->ctx, 1, &port)))
		usleep(20000);
	printf("gone: %s\n", err_name(err));
	if (arg && !strcmp(arg, "exit"))
		exit(err == EIO ? 0 : 1);
	need(err == EIO);
	after_the_end(e);
}

/*
 * Traffic in both directions until something ends it: an error completion, or
 * the device.  Prints "ready" when it flows and in the end what it saw.
 * ARGUMENT: SECONDS, no error is taken for an answer: it runs so long, or until
 * SIGTERM, and then on until something moves.
 */
static void test_stream(struct end *a, struct end *b, const char *arg)
{
	enum { DEPTH = 8, LEN = 65536 };
	static const enum ibv_wr_opcode op[] = {
		IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_SEND
	};
	/* 67 ms, or 537 ms, seven times */
	const struct how how = { .size = DEPTH * LEN, .timeout = arg ? 17 : 14 };
	double last = seconds(), end = arg ? last + atof(arg) : 0;
	unsigned long done = 0;
	struct end *ends[] = { a, b };
	struct ibv_port_attr port;
	struct ibv_wc wc;
	int i, err;

	if (arg)
		catch_term();
	pair_make(a, b, &how);
	for (i = 0; i < DEPTH; i++) {
		post_recv(a, i, i * LEN, LEN);
		post_recv(b, i, i * LEN, LEN);
	}
	for (i = 0; i < 2 * DEPTH; i++)
		post_send(ends[i % 2], op[i / 2 % 3], i / 2, i / 2 * LEN, LEN, ends[!(i % 2)]);
	for (;;) {
		for (i = 0; i < 2; i++) {
			struct end *from = ends[i], *to = ends[!i];

			if (ibv_poll_cq(from->rcq, 1, &wc) > 0 && wc.status == IBV_WC_SUCCESS)
				post_recv(from, wc.wr_id, wc.wr_id * LEN, LEN);
			if (ibv_poll_cq(from->scq, 1, &wc) <= 0)
				continue;
			if (wc.status != IBV_WC_SUCCESS) {
				printf("error: %s\n", ibv_wc_status_str(wc.status));
				exit(arg ? 1 : 0);
			}
			struct ibv_sge sge = sge_at(from, wc.wr_id * LEN, LEN);
			struct ibv_send_wr wr = send_wr(op[wc.wr_id % 3], wc.wr_id, &sge, 1, to,
							wc.wr_id * LEN), *bad;

			err = ibv_post_send(from->qp, &wr, &bad);
			if (err) {
				printf("post_send: %s\n", err_name(err));
				exit(arg ? 1 : 0);
			}
			last = seconds();
			if (++done == 20)
				puts("ready");
		}
		if (arg && (told_to_end() || seconds() > end) && seconds() - last < 0.5)
			break;
		if (seconds() - last < 0.1)
			continue;
		/* nothing moves */
		for (i = 0; i < 2; i++) {
			err = ibv_query_port(ends[i]->ctx, 1, &port);
			if (err) {
				printf("device %d is gone: %s\n", i + 1, err_name(err));
				need(err == EIO && !arg);
				after_the_end(ends[i]);
				exit(0);
			}
		}
		if (seconds() - last > 20)
			die("nothing has moved for 20 s");
		usleep(10000);
	}
	printf("%lu messages\n", done);
	need(done > 20);
	pair_unmake(a, b);
}

/*
 * Messages to a peer that never answers, and sleeps: what the script then takes
 * away has timers running.
 */
static void test_unanswered(struct end *a, struct end *b, const char *arg)
{
	const struct how how = { .timeout = 8, .rnr_timer = 1 };
	int i;

	(void)arg;
	pair_make(a, b, &how);
	for (i = 0; i < 32; i++) {
		/* RNR, for ever, in one direction; READs in the other */
		post_send(a, IBV_WR_SEND, i, 0, 10000, NULL);
		post_send(b, IBV_WR_RDMA_READ, i, 0, 100000, a);
	}
	puts("ready");
	pause();
}

/*
 * Receives datagrams: prints "ready QPN", then a line for each, for ever.
 */
static void test_listen(struct end *e, struct end *unused, const char *arg)
{
	const struct how how = { .type = IBV_QPT_UD };
	struct ibv_wc wc;
	int i;

	(void)unused;
	(void)arg;
	end_make(e, &how);
	end_init(e);
	end_rtr(e, e, &how);
	for (i = 0; i < 64; i++)
		post_recv(e, i, i * 8192, 8192);
	printf("ready %u\n", e->qp->qp_num);
	for (;;) {
		if (ibv_poll_cq(e->rcq, 1, &wc) <= 0) {
			usleep(5000);
			continue;
		}
		need(wc.status == IBV_WC_SUCCESS);
		printf("%u bytes from QPN %u\n", wc.byte_len - GRH, wc.src_qp);
		post_recv(e, wc.wr_id, wc.wr_id * 8192, 8192);
	}
}

/*
 * A UD QP with 64 receives in a page that cannot be written until SIGUSR1 comes: it is that
 * of a file, ARGUMENT, whose file system is frozen. Prints "ready QPN", and in the end how
 * many were received.
 */
static void test_frozen_page(struct end *e, struct end *unused, const char *arg)
{
	enum { NUM = 64, LEN = 128, BYTES = 32 };
	const struct how how = { .type = IBV_QPT_UD, .size = NUM * LEN };
	const struct timespec most = { .tv_sec = 30 };
	int i, fd = open(arg, O_RDWR | O_CREAT, 0600);
	struct ibv_wc wc;
	sigset_t set;

	(void)unused;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGTERM);
	need(!sigprocmask(SIG_BLOCK, &set, NULL));
	more_access = IBV_ACCESS_ON_DEMAND;
	end_make(e, &how);
	end_init(e);
	end_rtr(e, e, &how);
	need(fd >= 0 && pwrite(fd, e->buf, e->size, 0) == (ssize_t)e->size && !fsync(fd));
	need(mmap(e->buf, e->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) ==
	     e->buf);
	for (i = 0; i < NUM; i++)
		post_recv(e, i, i * LEN, LEN);
	need(!ioctl(fd, FIFREEZE, 0));
	printf("ready %u\n", e->qp->qp_num);
	sigtimedwait(&set, NULL, &most);
	i = ibv_poll_cq(e->rcq, 1, &wc);
	need(!ioctl(fd, FITHAW, 0));
	need(!i);
	for (i = 0; i < NUM; i++) {
		wc = wait_wc(e->rcq);
		need(wc.wr_id == (uint64_t)i && wc.status == IBV_WC_SUCCESS);
		need(wc.byte_len == GRH + BYTES && e->buf[i * LEN + GRH + 5] == 5);
	}
	printf("received %d\n", i);
	end_unmake(e);
	close(fd);
}

/*
 * May this process use the GID?  ARGUMENT: what modify_qp to RTR and create_ah
 * should say (OK, EPERM, ...).
 */
static void test_try_gid(struct end *e, struct end *unused, const char *arg)
{
	const struct how how = { .size = 4096 };
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_256,
		.dest_qp_num = 17,
		.ah_attr = { .is_global = 1, .port_num = 1 },
	};
	struct ibv_ah *ah;
	const char *name;

	(void)unused;
	need(arg);
	attr.ah_attr.grh.dgid = e->gid;
	attr.ah_attr.grh.sgid_index = e->gid_index;
	attr.ah_attr.grh.hop_limit = 1;
	end_make(e, &how);
	end_init(e);
	name = err_name(ibv_modify_qp(e->qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
				      IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
				      IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER));
	printf("modify_qp: %s\n", name);
	need(!strcmp(name, arg));
	ah = ibv_create_ah(e->pd, &attr.ah_attr);
	name = ah ? "OK" : err_name(errno);
	printf("create_ah: %s\n", name);
	need(!strcmp(name, arg));
	if (ah)
		verb(ibv_destroy_ah(ah));
	end_unmake(e);
}

/*
 * A connected QP of the first device that waits for a request that it has to
 * refuse as invalid.  Prints "ready QPN".  It fails when none comes for a while.
 */
static void test_await_refusal(struct end *a, struct end *b, const char *arg)
{
	const struct how how = { .size = 65536 };
	size_t i;

	(void)arg;
	pair_make(a, b, &how);
	memset(a->buf, GUARD, a->size);
	printf("ready %u\n", a->qp->qp_num);
	need(poll_event(a, IBV_EVENT_QP_REQ_ERR, 20000));
	need(end_get_state(a) == IBV_QPS_ERR);
	for (i = 0; i < a->size; i++)
		need(a->buf[i] == GUARD);
	pair_unmake(a, b);
}

/*
 * A request of the first device that its peer, which is not connected, does not answer.
 * ARGUMENT: send, read, atomic, of eight bytes, or long, a READ of two packets. Prints
 * "ready QPN", and how the request was completed. An answer has bytes of ANSWER; nothing
 * is written behind what was asked for.
 */
static void test_await_response(struct end *a, struct end *b, const char *arg)
{
	enum { OFF = 4096, ANSWER = 0x3c, NEVER = 31 };
	const struct how how = { .size = 65536, .mtu = IBV_MTU_256, .timeout = NEVER };
	size_t i, len = strcmp(arg, "long") ? 8 : 256 + 8;
	struct ibv_wc wc;
	bool answered;

	end_make(a, &how);
	end_make(b, &how);
	end_init(a);
	end_init(b);
	end_rtr(a, b, &how);
	end_rts(a, &how);
	memset(a->buf, GUARD, a->size);
	if (!strcmp(arg, "atomic")) {
		struct ibv_sge sge = sge_at(a, OFF, len);
		struct ibv_send_wr wr = send_wr(IBV_WR_ATOMIC_FETCH_AND_ADD, 1, &sge, 1, NULL, 0);

		wr.wr.atomic.remote_addr = (uintptr_t)b->buf;
		wr.wr.atomic.rkey = b->mr->rkey;
		post_wr(a, &wr);
	} else {
		post_send(a, strcmp(arg, "send") ? IBV_WR_RDMA_READ : IBV_WR_SEND, 1, OFF, len, b);
	}
	printf("ready %u\n", a->qp->qp_num);
	wc = wait_wc(a->scq);
	printf("completed: %s\n", ibv_wc_status_str(wc.status));
	answered = wc.status == IBV_WC_SUCCESS && strcmp(arg, "send");
	for (i = 0; i < a->size; i++) {
		bool within = i >= OFF && i < OFF + len;

		if (within && !answered && !strcmp(arg, "long"))	/* in part */
			need(a->buf[i] == GUARD || (a->buf[i] == ANSWER && i < OFF + 256));
		else
			need(a->buf[i] == (within && answered ? ANSWER : GUARD));
	}
	need(end_get_state(a) == (wc.status == IBV_WC_SUCCESS ? IBV_QPS_RTS : IBV_QPS_ERR));
	end_unmake(a);
	end_unmake(b);
}

static void exchange_small(struct end *from, struct end *to)
{
	int i;

	for (i = 0; i < 20; i++) {
		post_recv(to, i, 0, 8);
		post_send(from, IBV_WR_SEND, i, 0, 8, NULL);
		want_wc(from->scq, i, IBV_WC_SUCCESS);
		want_wc(to->rcq, i, IBV_WC_SUCCESS);
	}
}

/*
 * Two connections that have sent messages of eight bytes, and rest.  Prints "ready QPN QPN"
 * of the first device.  On SIGUSR1 the first one is connected anew, with the same PSNs,
 * sends again, and "again" is printed.
 */
static void test_proven_pairs(struct end *a, struct end *b, const char *arg)
{
	const struct how how = { .size = 65536 };
	struct end a2 = *a, b2 = *b;
	sigset_t set;
	int sig;

	(void)arg;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	need(!sigprocmask(SIG_BLOCK, &set, NULL));
	pair_make(a, b, &how);
	pair_make(&a2, &b2, &how);
	exchange_small(a, b);
	exchange_small(b, a);
	exchange_small(&a2, &b2);
	exchange_small(&b2, &a2);
	printf("ready %u %u\n", a->qp->qp_num, a2.qp->qp_num);
	while (!sigwait(&set, &sig)) {
		end_state(a, IBV_QPS_RESET);
		end_state(b, IBV_QPS_RESET);
		pair_connect(a, b, &how);
		exchange_small(a, b);
		exchange_small(b, a);
		puts("again");
	}
}

const struct test process_tests[] = {
	{ "hold", test_hold, true },
	{ "stream", test_stream },
	{ "unanswered", test_unanswered },
	{ "await_refusal", test_await_refusal },
	{ "await_response", test_await_response },
	{ "proven_pairs", test_proven_pairs },
	{ "listen", test_listen, true },
	{ "frozen_page", test_frozen_page, true },
	{ "try_gid", test_try_gid, true },
	{ }
};
