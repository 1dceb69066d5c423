/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Messages of a stream that wait for company.
 *
 * Who posts one message after the other, one doorbell each, pays for each with a
 * way through the network, an ACK and a wake-up of the receiver.  When it looks as
 * if the next one came at once, a message waits for it, and several go in one
 * burst, as TCP's autocorking has it.  Nobody shall wait for what waits: see
 * rxe_cork_hold().
 */
#ifndef RXE_CORK_H
#define RXE_CORK_H

#include <linux/hrtimer.h>
#include <linux/types.h>

struct rxe_qp;

/**
 * struct rxe_cork - of an RC QP of a process
 * @timer:	runs while @held
 * @rung:	local_clock() when the last doorbell had been served
 * @pace:	ns that this took, the last time that nothing was held
 * @paused:	the process did something else before the last doorbell
 * @over:	the timer has fired
 * @held:	what is posted waits for more; this and the rest is the requester's
 * @streak:	doorbells in a row after which the process looked at nothing
 * @need:	as many as let messages wait; grows when they have waited in vain
 * @ends:	streaks that have ended, modulo 256
 * @bytes:	of the messages that wait
 * @taken:	completions that had been taken from the send CQ at the last doorbell
 * @msn:	messages that had come from the peer by then
 */
struct rxe_cork {
	struct hrtimer	timer;
	u64		rung;
	bool		paused;
	bool		over;
	bool		held;
	u32		pace;
	u16		streak;
	u16		need;
	u8		ends;
	u32		bytes;
	u32		taken;
	u32		msn;
};

void rxe_cork_init(struct rxe_qp *qp);

/* Nothing waits any more.  Context: process, executors disabled. */
void rxe_cork_reset(struct rxe_qp *qp);

/**
 * rxe_cork_release - send what waits
 * @qp:		any QP
 *
 * Before the QP changes its state or goes: what was posted before counts as begun.  Not
 * if a page is waited for.
 *
 * Context: process, executors enabled, may sleep.
 */
void rxe_cork_release(struct rxe_qp *qp);

/* Around the service of a doorbell; @rung: what the first one has returned.  Context: process. */
u64 rxe_cork_doorbell(struct rxe_qp *qp);
void rxe_cork_doorbell_served(struct rxe_qp *qp, u64 rung);

/**
 * rxe_cork_hold - may what is posted wait for more?
 * @qp:		RC QP
 * @first:	the first element of the send queue that is new; its head if none is
 *
 * Only if the process has rung at least RXE_CORK_MIN_STREAK times without a pause, and
 * meanwhile has neither taken a completion nor been sent a message: then it waits
 * for none yet.  Nothing with a fence or a solicited event, nor a local operation, nor
 * behind what waits for something else.  Never for longer than RXE_CORK_PACES times
 * @pace (60 us, at most 600), nor beyond what makes a good burst.
 *
 * Context: the requester's executor.
 * Return: true: nothing is to be sent now; the executor is kicked in time.
 */
bool rxe_cork_hold(struct rxe_qp *qp, u32 first);

/* All that was posted has been flushed.  Context: the requester's executor. */
void rxe_cork_flushed(struct rxe_qp *qp);

#endif /* RXE_CORK_H */
