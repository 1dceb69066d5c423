/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Queue pairs: the object, its table and its references.
 *
 * What the two executors own is written by them alone, without a lock;
 * everybody else disables them first (rxe_qp_state.c does for modify_qp).
 */
#ifndef RXE_QP_H
#define RXE_QP_H

#include <linux/completion.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>
#include <rdma/roce.h>
#include "rxe_device.h"
#include "rxe_exec.h"
#include "rxe_rd_atomic.h"
#include "rxe_req.h"
#include "rxe_resp.h"
#include "rxe_route.h"
#include "rxe_token.h"
#include "rxe_wqe.h"

struct rxe_cq;
struct rxe_ns;
struct rxe_pd;

/**
 * struct rxe_qp - queue pair
 * @ibqp:	core's part; freed by the core right after destroy_qp
 * @rxe:	device
 * @ref:	the object itself and each holder; destroy_qp waits for the rest
 * @freed:	completed when @ref reaches zero
 * @qpn:	number, unique in the module (QP 1: unique in the device)
 * @user:	rings are shared with a process
 * @pd:		protection domain
 * @scq:	send completions
 * @rcq:	receive completions
 * @sq_sig_all:	every send completes
 * @windows:	type 2 memory windows bound to it
 * @mutex:	serialises modify_qp and query_qp
 * @state_lock:	protects writes of @state and @sqd_event; irqsave, a leaf
 * @state:	read anywhere with READ_ONCE(); rxe_qp_state.c writes it
 * @sqd_event:	a SQ_DRAINED event is owed
 * @attr:	last values given to modify_qp; written with executors disabled
 * @mtu:	path MTU, bytes; UD: the port's
 * @path:	RC, UC: the connection's path; written with executors disabled
 * @rx_ns:	whose packets are queued for it, for comparison alone; NULL: any
 * @token:	RC: ICRC tokens of the connection
 * @sq:		send queue
 * @rq:		receive queue
 * @watch:	in @rcq's list of QPs in ERR, under that one's lock
 * @fatal:	QP_FATAL has been reported; under @state_lock
 * @req:	requester, completer and retry state: owned by @req.exec
 * @resp:	responder state: owned by @resp.exec
 */
struct rxe_qp {
	struct ib_qp		ibqp;
	struct rxe_dev		*rxe;
	refcount_t		ref;
	struct completion	freed;
	u32			qpn;
	bool			user;
	struct rxe_pd		*pd;
	struct rxe_cq		*scq;
	struct rxe_cq		*rcq;
	bool			sq_sig_all;
	atomic_t		windows;

	struct mutex		mutex;		/* see above */
	spinlock_t		state_lock;	/* see above */
	enum ib_qp_state	state;
	bool			sqd_event;

	struct ib_qp_attr	attr;
	unsigned int		mtu;
	struct rxe_path		path;
	const struct rxe_ns	*rx_ns;
	struct rxe_token	token;

	struct rxe_sq		sq;
	struct rxe_rq		rq;
	struct list_head	watch;
	bool			fatal;
	struct rxe_req		req;
	struct rxe_resp		resp;
};

static inline struct rxe_qp *to_rqp(struct ib_qp *ibqp)
{
	return container_of(ibqp, struct rxe_qp, ibqp);
}

static inline enum ib_qp_type rxe_qp_type(const struct rxe_qp *qp)
{
	return qp->ibqp.qp_type;
}

static inline bool rxe_qp_is_datagram(const struct rxe_qp *qp)
{
	return rxe_qp_type(qp) == IB_QPT_UD || rxe_qp_type(qp) == IB_QPT_GSI;
}

/* Connected, but nothing is acknowledged. */
static inline bool rxe_qp_is_uc(const struct rxe_qp *qp)
{
	return rxe_qp_type(qp) == IB_QPT_UC;
}

/* Upper three bits of the opcodes it sends and takes. */
static inline u8 rxe_qp_service(const struct rxe_qp *qp)
{
	if (rxe_qp_is_datagram(qp))
		return ROCE_SERVICE_UD;
	return rxe_qp_is_uc(qp) ? ROCE_SERVICE_UC : ROCE_SERVICE_RC;
}

/**
 * rxe_qp_lookup - find a QP by number
 * @qpn:	2 .. 0xfffffe; QP 1 is found with rxe_qp_lookup_gsi()
 *
 * Context: BH disabled.
 * Return: the QP with a reference, or NULL.
 */
struct rxe_qp *rxe_qp_lookup(u32 qpn);

/* QP 1 of a device, with a reference, or NULL.  Context: BH disabled. */
struct rxe_qp *rxe_qp_lookup_gsi(struct rxe_dev *rxe);

void rxe_qp_get(struct rxe_qp *qp);
void rxe_qp_put(struct rxe_qp *qp);

/**
 * rxe_qp_queue - put a burst in the queue of one of a QP's executors
 * @qp:		held by the caller
 * @skb:	consumed: queued, or dropped and counted when the queue is full
 * @response:	to the requester's completer, else to the responder
 *
 * The caller kicks with rxe_qp_kick() afterwards, holding no lock or flag.
 *
 * Context: BH disabled.
 */
void rxe_qp_queue(struct rxe_qp *qp, struct sk_buff *skb, bool response);

static inline void rxe_qp_kick(struct rxe_qp *qp, bool response)
{
	rxe_exec_kick(response ? &qp->req.exec : &qp->resp.exec);
}

/**
 * rxe_qp_next_packet - the next packet for an executor
 * @qp:		QP
 * @rxq:	queue of the executor; its @cur is the burst that the packet is in
 * @pkt:	result; valid until the next call
 * @budget:	packets and bursts to look at, goes down by each, good or bad
 *
 * Drops bursts that are not from this QP's peer and to this QP's address, in
 * this QP's namespace, and packets of another service or partition.
 *
 * Context: the executor.
 * Return: false when nothing is left, or @budget has come to 0.
 */
bool rxe_qp_next_packet(struct rxe_qp *qp, struct rxe_rxq *rxq, struct rxe_pkt *pkt,
			unsigned int *budget);

/**
 * rxe_qp_purge - drop the bursts that wait for an executor, for the QP's state
 *
 * Context: the executor.
 */
void rxe_qp_purge(struct rxe_qp *qp, struct rxe_rxq *rxq);

/**
 * rxe_qp_event - report an asynchronous event of a QP
 */
void rxe_qp_event(struct rxe_qp *qp, enum ib_event_type event);

/* ib_device_ops */
int rxe_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init, struct ib_udata *udata);
int rxe_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata);
int rxe_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask, struct ib_udata *udata);
int rxe_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		 struct ib_qp_init_attr *init);
int rxe_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		  const struct ib_send_wr **bad);
int rxe_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		  const struct ib_recv_wr **bad);

int __init rxe_qp_module_init(void);
void rxe_qp_module_exit(void);

#endif /* RXE_QP_H */
