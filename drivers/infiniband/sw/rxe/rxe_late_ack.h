/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Acknowledgments that wait for a packet to go with.
 *
 * Where each message of the peer is answered by a message, an ACK of its own
 * costs as much as the answer, on both sides.  When that has been so for a
 * while, the ACK waits for the next answer and goes behind it in the same
 * burst, as TCP's does.  A timer sends it when there is no answer after all.
 */
#ifndef RXE_LATE_ACK_H
#define RXE_LATE_ACK_H

#include <linux/atomic.h>
#include <linux/timer.h>
#include <rdma/roce_psn.h>

struct rxe_qp;
struct rxe_tx;

/**
 * struct rxe_late_ack - of an RC QP
 * @word:	RXE_LATE_* with PSN and MSN: the responder puts something in, and
 *		who takes it out, with xchg, owns it
 * @answers:	messages in a row that were answered, up to what is enough
 * @over:	the timer has fired for what is in @word
 * @sends:	counts the requester's runs that sent something
 * @seen:	@sends before the last message was handed to the process; the responder's
 * @timed:	PSN that the timer runs for
 * @timer:	runs on when the ACK has gone, and looks again
 */
struct rxe_late_ack {
	atomic64_t		word;
	u8			answers;
	bool			over;
	u32			sends;
	u32			seen;
	u32			timed;
	struct timer_list	timer;
};

void rxe_late_ack_init(struct rxe_qp *qp);

/* Forget all.  Context: process, executors disabled. */
void rxe_late_ack_reset(struct rxe_qp *qp);

/* Stop the timer for good.  Context: process, may sleep. */
void rxe_late_ack_fini(struct rxe_qp *qp);

/* The timer has fired: the responder has something to send. */
static inline bool rxe_late_ack_over(const struct rxe_late_ack *late)
{
	return READ_ONCE(late->over);
}

/* The process is told of a message now, and may answer.  Context: the responder. */
static inline void rxe_late_ack_delivered(struct rxe_late_ack *late)
{
	late->seen = READ_ONCE(late->sends);
}

/**
 * rxe_late_ack_take - what waits is the responder's again
 * @qp:		RC QP
 * @psn:	result: the ACK's PSN
 * @msn:	result: and MSN
 *
 * There was no answer, or none is waited for any more.
 *
 * Context: the responder, or executors disabled.
 * Return: true if an acknowledgment waited, and is to be sent now.
 */
bool rxe_late_ack_take(struct rxe_qp *qp, struct roce_psn *psn, u32 *msn);

/**
 * rxe_late_ack_defer - a message has been received: may its ACK wait?
 * @qp:		RC QP
 *
 * Context: the responder, after rxe_late_ack_take() in the same run, which has
 * sent nothing and will not: the ACK can go out at once on another CPU.
 * Return: true: it waits; false: it has to be sent now.
 */
bool rxe_late_ack_defer(struct rxe_qp *qp);

/**
 * rxe_late_ack_join - the requester sends something: does an ACK go along?
 * @qp:		RC QP
 * @psn:	result: the ACK's PSN
 * @msn:	result: and MSN
 *
 * Context: the requester.
 */
bool rxe_late_ack_join(struct rxe_qp *qp, struct roce_psn *psn, u32 *msn);

/* Add the ACK that was taken or joined to a run.  Context: as rxe_tx_add_pkt(). */
void rxe_late_ack_send(const struct rxe_qp *qp, struct rxe_tx *tx, struct roce_psn psn, u32 msn);

#endif /* RXE_LATE_ACK_H */
