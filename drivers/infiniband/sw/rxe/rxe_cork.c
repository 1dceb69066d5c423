// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Messages of a stream that wait for company. */

#include <linux/compiler.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include "rxe_cork.h"
#include "rxe_cq.h"
#include "rxe_limits.h"
#include "rxe_qp.h"

/* Doorbells without a look at anything, before a message waits: at first, and in the end. */
#define RXE_CORK_STREAK		8
#define RXE_CORK_MIN_STREAK	4
#define RXE_CORK_MAX_STREAK	1024

/*
 * What sending alone takes, in ns, within bounds.  A process that takes longer than that
 * from one doorbell to the next has paused; and messages wait for RXE_CORK_PACES of it.
 */
#define RXE_CORK_MIN_PACE	(20 * NSEC_PER_USEC)
#define RXE_CORK_MAX_PACE	(200 * NSEC_PER_USEC)
#define RXE_CORK_PACES		3

/* Company enough; or 7/8 of the window, which are fourteen messages of 64 KiB. */
#define RXE_CORK_WQES		16

/* Kicks after which rxe_cork_release() gives up. */
#define RXE_CORK_TRIES		1000

static bool rxe_autocork = true;
module_param_named(autocork, rxe_autocork, bool, 0644);
MODULE_PARM_DESC(autocork,
		 "let messages of a stream wait some microseconds for more, to go in one burst (default: Y)");

static enum hrtimer_restart rxe_cork_timer(struct hrtimer *t)
{
	struct rxe_qp *qp = container_of(t, struct rxe_qp, req.cork.timer);

	WRITE_ONCE(qp->req.cork.over, true);
	rxe_exec_kick(&qp->req.exec);
	return HRTIMER_NORESTART;
}

void rxe_cork_init(struct rxe_qp *qp)
{
	hrtimer_setup(&qp->req.cork.timer, rxe_cork_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_SOFT);
	rxe_cork_reset(qp);
}

void rxe_cork_reset(struct rxe_qp *qp)
{
	struct rxe_cork *c = &qp->req.cork;

	hrtimer_cancel(&c->timer);
	c->over = false;
	c->held = false;
	c->pace = RXE_CORK_MIN_PACE;
	c->streak = 0;
	c->need = RXE_CORK_STREAK;
	c->bytes = 0;
}

void rxe_cork_release(struct rxe_qp *qp)
{
	struct rxe_cork *c = &qp->req.cork;
	unsigned int i;

	might_sleep();
	/* an owner on another CPU goes round once more; others may post meanwhile */
	for (i = 0; i < RXE_CORK_TRIES && READ_ONCE(c->held); i++) {
		WRITE_ONCE(c->over, true);
		rxe_exec_kick(&qp->req.exec);
		cond_resched();
	}
}

u64 rxe_cork_doorbell(struct rxe_qp *qp)
{
	struct rxe_cork *c = &qp->req.cork;
	u64 now;

	if (READ_ONCE(c->streak) < 2)	/* most are not of one: they pay for no clock */
		return 0;
	now = local_clock();
	if (now - READ_ONCE(c->rung) > READ_ONCE(c->pace))
		WRITE_ONCE(c->paused, true);
	return now;
}

void rxe_cork_doorbell_served(struct rxe_qp *qp, u64 rung)
{
	struct rxe_cork *c = &qp->req.cork;
	u64 now;

	if (!READ_ONCE(c->streak))
		return;
	now = local_clock();
	if (rung && !READ_ONCE(c->held))
		WRITE_ONCE(c->pace, clamp_t(u64, now - rung, RXE_CORK_MIN_PACE, RXE_CORK_MAX_PACE));
	WRITE_ONCE(c->rung, now);
}

/* Streaks that were too short before may be longer by now: look, once in a while. */
static void rxe_cork_streak_ends(struct rxe_cork *c)
{
	WRITE_ONCE(c->streak, 0);
	if (c->need > RXE_CORK_STREAK && !++c->ends)
		c->need /= 2;
}

/* One more doorbell: is it one of a stream? */
static void rxe_cork_count(struct rxe_qp *qp)
{
	struct rxe_cork *c = &qp->req.cork;
	u32 taken = rxe_cq_taken(qp->scq);
	u32 msn = data_race(qp->resp.msn);	/* a hint */
	bool paused = READ_ONCE(c->paused);

	if (paused || taken != c->taken || msn != c->msn)
		rxe_cork_streak_ends(c);
	else if (c->streak < RXE_CORK_MAX_STREAK)
		WRITE_ONCE(c->streak, c->streak + 1);
	if (paused)
		WRITE_ONCE(c->paused, false);
	c->taken = taken;
	c->msn = msn;
}

static bool rxe_cork_may_wait(const struct rxe_swqe *wqe)
{
	return wqe->status == IB_WC_SUCCESS && !rxe_swqe_is_local(wqe) &&
	       !(wqe->flags & (IB_SEND_FENCE | IB_SEND_SOLICITED));
}

/*
 * May the new elements wait along with what waits?  False with @full: they may, but
 * nothing more is to be waited for.
 */
static bool rxe_cork_add(struct rxe_qp *qp, u32 first, bool *full)
{
	const struct rxe_sq *sq = &qp->sq;
	u32 room = min_t(u32, RXE_WINDOW_BYTES, qp->req.window * qp->mtu) / 8 * 7;
	struct rxe_cork *c = &qp->req.cork;
	const struct rxe_swqe *wqe;

	for (; first != sq->head; first++) {
		wqe = rxe_swqe(sq, first);
		if (!rxe_cork_may_wait(wqe))
			return false;
		c->bytes += min_t(u32, wqe->length, RXE_WINDOW_BYTES);
	}
	/* the last: a process that finds its send queue full will not post more */
	*full = c->bytes >= room || sq->head - qp->req.next >= RXE_CORK_WQES ||
		sq->head - sq->tail > sq->mask / 2;
	return !*full;
}

static void rxe_cork_begin(struct rxe_cork *c)
{
	WRITE_ONCE(c->held, true);
	WRITE_ONCE(c->over, false);
	hrtimer_start(&c->timer, ns_to_ktime(RXE_CORK_PACES * READ_ONCE(c->pace)),
		      HRTIMER_MODE_REL_SOFT);
}

static void rxe_cork_end(struct rxe_qp *qp, bool full)
{
	struct rxe_cork *c = &qp->req.cork;

	c->bytes = 0;
	if (!c->held)
		return;
	WRITE_ONCE(c->held, false);
	if (full)
		c->need = max(c->need / 2, RXE_CORK_MIN_STREAK);
	else if (READ_ONCE(c->over) && qp->sq.head - qp->req.next < RXE_CORK_WQES / 2)
		c->need = min(c->need * 2, RXE_CORK_MAX_STREAK);
	/* one that runs just now is taken for the next hold's, and ends that early */
	hrtimer_try_to_cancel(&c->timer);
}

bool rxe_cork_hold(struct rxe_qp *qp, u32 first)
{
	const struct rxe_req *req = &qp->req;
	struct rxe_cork *c = &qp->req.cork;
	bool hold = c->held && !READ_ONCE(c->over);
	bool full = false;

	if (first != qp->sq.head) {
		rxe_cork_count(qp);
		/* what is older than that waits for something else, and goes first */
		if (!c->held)
			hold = c->streak >= c->need && req->next == first;
		hold = hold && c->streak && READ_ONCE(rxe_autocork) &&
		       rxe_cork_add(qp, first, &full);
	}
	/* half sent, or to be sent again */
	if (req->off || !roce_psn_eq(req->psn, req->end))
		hold = false;
	if (!hold)
		rxe_cork_end(qp, full);
	else if (!c->held)
		rxe_cork_begin(c);
	return hold;
}

void rxe_cork_flushed(struct rxe_qp *qp)
{
	rxe_cork_end(qp, false);
}
