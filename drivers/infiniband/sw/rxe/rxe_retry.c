// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* When to send again: retransmission and RNR timers, retry counts. */

#include <linux/jiffies.h>
#include "rxe_comp.h"
#include "rxe_qp.h"
#include "rxe_retry.h"
#include "rxe_stats.h"
#include "rxe_trace.h"

#define RXE_RETRY_TIMEOUT	0	/* bits of rxe_retry.events */
#define RXE_RETRY_RNR_OVER	1

/* The timer may take up to four times its nominal value (IBTA 9.7.6.1.3). */
#define RXE_RETRY_MAX_BACKOFF	2

#define RXE_RNR_RETRY_FOREVER	7	/* IBTA 9.7.5.2.8 */

/* RNR timer field to microseconds (IBTA table 46). */
static const u32 rxe_rnr_usec[32] = {
	655360, 10, 20, 30, 40, 60, 80, 120, 160, 240, 320, 480, 640, 960, 1280, 1920,
	2560, 3840, 5120, 7680, 10240, 15360, 20480, 30720, 40960, 61440, 81920, 122880,
	163840, 245760, 327680, 491520,
};

static struct rxe_retry *to_retry(struct rxe_qp *qp)
{
	return &qp->req.retry;
}

/* 4.096 us * 2^timeout in jiffies (IBTA 9.7.6.1.3); 0: never. */
static unsigned long rxe_retry_jiffies(const struct rxe_qp *qp)
{
	if (!qp->attr.timeout)
		return 0;
	return (max(nsecs_to_jiffies(4096ULL << qp->attr.timeout), 1UL) + 1) <<
	       qp->req.retry.backoff;
}

static void rxe_retry_timer(struct timer_list *t)
{
	struct rxe_qp *qp = timer_container_of(qp, t, req.retry.timer);

	set_bit(RXE_RETRY_TIMEOUT, &to_retry(qp)->events);
	rxe_exec_kick(&qp->req.exec);
}

static enum hrtimer_restart rxe_retry_rnr_timer(struct hrtimer *t)
{
	struct rxe_qp *qp = container_of(t, struct rxe_qp, req.retry.rnr_timer);

	set_bit(RXE_RETRY_RNR_OVER, &to_retry(qp)->events);
	rxe_exec_kick(&qp->req.exec);
	return HRTIMER_NORESTART;
}

void rxe_retry_init(struct rxe_qp *qp)
{
	struct rxe_retry *r = to_retry(qp);

	timer_setup(&r->timer, rxe_retry_timer, 0);
	hrtimer_setup(&r->rnr_timer, rxe_retry_rnr_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_SOFT);
}

void rxe_retry_fini(struct rxe_qp *qp)
{
	timer_shutdown_sync(&to_retry(qp)->timer);
	hrtimer_cancel(&to_retry(qp)->rnr_timer);
}

void rxe_retry_reset(struct rxe_qp *qp)
{
	struct rxe_retry *r = to_retry(qp);

	timer_delete_sync(&r->timer);
	hrtimer_cancel(&r->rnr_timer);
	r->events = 0;
	r->rnr_wait = false;
	r->backoff = 0;
	r->rewound = false;
	r->left = qp->attr.retry_cnt;
	r->rnr_left = qp->attr.rnr_retry;
}

void rxe_retry_progress(struct rxe_qp *qp)
{
	struct rxe_retry *r = to_retry(qp);

	r->progress = jiffies;
	r->backoff = 0;
	r->rewound = false;
	r->left = qp->attr.retry_cnt;
	r->rnr_left = qp->attr.rnr_retry;
}

void rxe_retry_arm(struct rxe_qp *qp)
{
	struct rxe_retry *r = to_retry(qp);
	unsigned long timeout = rxe_retry_jiffies(qp);

	if (!timeout || r->rnr_wait || !rxe_req_outstanding(qp) || timer_pending(&r->timer))
		return;
	mod_timer(&r->timer, max(r->progress + timeout, jiffies + 1));
}

static void rxe_retry_again(struct rxe_qp *qp, const char *why, bool timeout)
{
	struct rxe_retry *r = to_retry(qp);

	trace_rxe_retry(dev_name(&qp->rxe->ibdev.dev), qp->qpn, qp->req.una.v, why);
	if (!r->left) {
		rxe_count(qp->rxe, RXE_CNT_RETRY_EXCEEDED);
		rxe_comp_fail(qp, IB_WC_RETRY_EXC_ERR);
		return;
	}
	r->left--;
	r->progress = jiffies;
	r->rewound = true;
	rxe_count(qp->rxe, RXE_CNT_COMP_RETRY);
	rxe_token_end(qp);
	rxe_req_lost(qp, timeout);
	rxe_req_rewind(qp);
}

void rxe_retry_from_una(struct rxe_qp *qp, const char *why)
{
	if (!to_retry(qp)->rewound)
		rxe_retry_again(qp, why, false);
}

static void rxe_retry_timeout(struct rxe_qp *qp)
{
	struct rxe_retry *r = to_retry(qp);

	if (!qp->attr.timeout || !rxe_req_outstanding(qp) || r->rnr_wait)
		return;
	if (time_before(jiffies, r->progress + rxe_retry_jiffies(qp)))
		return;		/* acknowledged meanwhile: rxe_retry_arm() sets the rest */
	if (rxe_req_probe(qp)) {
		r->progress = jiffies;
		return;
	}
	r->backoff = min(r->backoff + 1, RXE_RETRY_MAX_BACKOFF);
	rxe_retry_again(qp, "timeout", true);
}

void rxe_retry_events(struct rxe_qp *qp)
{
	struct rxe_retry *r = to_retry(qp);

	if (likely(!READ_ONCE(r->events)))
		return;
	if (test_and_clear_bit(RXE_RETRY_RNR_OVER, &r->events)) {
		r->rnr_wait = false;
		r->progress = jiffies;
	}
	if (test_and_clear_bit(RXE_RETRY_TIMEOUT, &r->events))
		rxe_retry_timeout(qp);
}

void rxe_retry_rnr(struct rxe_qp *qp, u8 timer)
{
	struct rxe_retry *r = to_retry(qp);

	trace_rxe_retry(dev_name(&qp->rxe->ibdev.dev), qp->qpn, qp->req.una.v, "rnr");
	if (r->rnr_wait)
		return;
	if (!r->rnr_left) {
		rxe_count(qp->rxe, RXE_CNT_RNR_RETRY_EXCEEDED);
		rxe_comp_fail(qp, IB_WC_RNR_RETRY_EXC_ERR);
		return;
	}
	if (qp->attr.rnr_retry != RXE_RNR_RETRY_FOREVER)
		r->rnr_left--;
	rxe_req_rewind(qp);
	r->rnr_wait = true;
	hrtimer_start(&r->rnr_timer, ns_to_ktime(rxe_rnr_usec[timer & 31] * 1000ULL),
		      HRTIMER_MODE_REL_SOFT);
}
