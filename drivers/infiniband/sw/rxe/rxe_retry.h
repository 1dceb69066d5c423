/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* When to send again: retransmission and RNR timers, retry counts. */
#ifndef RXE_RETRY_H
#define RXE_RETRY_H

#include <linux/hrtimer.h>
#include <linux/timer.h>
#include <rdma/ib_verbs.h>

struct rxe_qp;

/**
 * struct rxe_retry - retry state of a requester
 * @timer:	runs while packets are unacknowledged; lazily: it may fire once
 *		after the last ACK, and then stops
 * @rnr_timer:	runs while @rnr_wait
 * @events:	RXE_RETRY_* bits, set by the timers
 * @progress:	jiffies when the oldest unacknowledged packet last changed
 * @backoff:	the timer runs for 2^backoff times its nominal value
 * @rewound:	sent again from @una already, no progress since: further hints
 *		that it is missing are about the first copy, a timeout decides
 * @rnr_wait:	nothing is sent until @rnr_timer fires
 * @left:	timeouts and sequence NAKs left without progress
 * @rnr_left:	RNR NAKs left without progress
 */
struct rxe_retry {
	struct timer_list	timer;
	struct hrtimer		rnr_timer;
	unsigned long		events;
	unsigned long		progress;
	u8			backoff;
	bool			rewound;
	bool			rnr_wait;
	u8			left;
	u8			rnr_left;
};

void rxe_retry_init(struct rxe_qp *qp);

/* Stop both timers for good.  Context: process, executors disabled. */
void rxe_retry_fini(struct rxe_qp *qp);

/* New connection or RESET: full counts, no timer.  Context: process, executors disabled. */
void rxe_retry_reset(struct rxe_qp *qp);

/* Context of the rest: the requester's executor. */

/* The oldest unacknowledged packet is another one now. */
void rxe_retry_progress(struct rxe_qp *qp);

/* Do what the timers asked for. */
void rxe_retry_events(struct rxe_qp *qp);

/* Have the retransmission timer run if anything is unacknowledged. */
void rxe_retry_arm(struct rxe_qp *qp);

/**
 * rxe_retry_from_una - go back to the oldest unacknowledged packet
 * @why:	"sequence" or "implied", for the trace
 *
 * Once for each packet that is missing; from then on the timer decides.  Fails the QP when no retry is left.
 */
void rxe_retry_from_una(struct rxe_qp *qp, const char *why);

/**
 * rxe_retry_rnr - the receiver was not ready
 * @timer:	RNR timer field of the NAK, 5 bits
 */
void rxe_retry_rnr(struct rxe_qp *qp, u8 timer);

#endif /* RXE_RETRY_H */
