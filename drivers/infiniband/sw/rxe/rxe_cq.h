/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Completion queues. */
#ifndef RXE_CQ_H
#define RXE_CQ_H

#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include "rxe_ring.h"

struct rxe_qp;

/**
 * struct rxe_cq - completion queue
 * @ibcq:	core's part
 * @lock:	protects the fields below and the ring's producer side (kernel
 *		CQs: both sides); irqsave, a leaf
 * @ring:	struct ib_uverbs_wc of a user CQ, struct ib_wc of a kernel CQ
 * @consumer:	the consumer's index as far as it is believed; a user's one is
 *		never beyond what was produced
 * @taken:	completions that the consumer has taken, as a count that goes on
 * @armed:	the next completion, or the next solicited one, makes an event
 * @armed_solicited: only a solicited one does
 * @overflowed:	a completion was lost; CQ_ERR has been reported
 * @notify_due:	@work owes a call of the completion handler
 * @error_due:	@work owes a CQ_ERR event
 * @user:	mapped by a process; constant
 * @resizing:	user CQs: @ring stays; taken before @lock
 * @work:	calls a kernel user's handler, never inside a verb
 * @watched:	user CQs: QPs in ERR whose receive queue the process may still fill
 * @watch_work:	looks at these
 * @watch_delay: jiffies until it looks again
 */
struct rxe_cq {
	struct ib_cq		ibcq;
	spinlock_t		lock;	/* see above */
	struct rxe_ring		ring;
	u32			consumer;
	u32			taken;
	bool			armed;
	bool			armed_solicited;
	bool			overflowed;
	bool			notify_due;
	bool			error_due;
	bool			user;
	struct mutex		resizing;	/* see above */
	struct work_struct	work;
	struct list_head	watched;
	struct delayed_work	watch_work;
	unsigned long		watch_delay;
};

static inline struct rxe_cq *to_rcq(struct ib_cq *ibcq)
{
	return container_of(ibcq, struct rxe_cq, ibcq);
}

/**
 * rxe_cq_post - add a completion
 * @cq:		queue
 * @wc:		completion; @wc->qp is set
 * @solicited:	the message asked for an event, or the completion is an error
 *
 * Signals the CQ when it is armed for this.  A full queue loses the
 * completion: reported as IB_EVENT_CQ_ERR, once.
 *
 * Context: any.
 * Return: 0, -ENOSPC when the completion was lost: the QP has to fail.
 */
int rxe_cq_post(struct rxe_cq *cq, const struct ib_wc *wc, bool solicited);

/* Completions that wait for the consumer.  Context: any. */
u32 rxe_cq_pending(struct rxe_cq *cq);

/* Completions that a process has taken so far, as a count that wraps.  Context: any. */
u32 rxe_cq_taken(struct rxe_cq *cq);

/**
 * rxe_cq_clean - forget the completions of a QP that goes away
 * @cq:		queue; nothing happens to a user's, which is the process's own
 * @qp:		QP: kernel users look into wc->qp when they poll
 *
 * Context: any.
 */
void rxe_cq_clean(struct rxe_cq *cq, const struct ib_qp *qp);

/**
 * rxe_cq_watch - flush what a process may still post to a QP in ERR
 * @cq:		receive CQ of the QP, a user's
 * @qp:		QP; nothing happens when it is watched already
 *
 * There is no doorbell for receive queues, so somebody has to look: when the
 * CQ is armed, and now and then.  The responder is kicked if there is a WQE.
 *
 * Context: the responder's executor.
 */
void rxe_cq_watch(struct rxe_cq *cq, struct rxe_qp *qp);

/* The end of that.  Context: any; the responder's executor is disabled. */
void rxe_cq_unwatch(struct rxe_cq *cq, struct rxe_qp *qp);

/* ib_device_ops */
struct uverbs_attr_bundle;
int rxe_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		  struct uverbs_attr_bundle *attrs);
int rxe_resize_user_cq(struct ib_cq *ibcq, unsigned int cqe, struct ib_udata *udata);
int rxe_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata);
int rxe_poll_cq(struct ib_cq *ibcq, int num, struct ib_wc *wc);
int rxe_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags);

int __init rxe_cq_module_init(void);
void rxe_cq_module_exit(void);

#endif /* RXE_CQ_H */
