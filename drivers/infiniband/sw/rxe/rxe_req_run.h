/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One run of the requester: what rxe_req.c (RC, UC), rxe_req_ud.c (UD, GSI)
 * and rxe_req_wqe.c share.
 */
#ifndef RXE_REQ_RUN_H
#define RXE_REQ_RUN_H

#include "rxe_copy.h"
#include "rxe_packet.h"
#include "rxe_req.h"
#include "rxe_tx.h"
#include "rxe_wqe.h"

/* Packets of one run; then others may have the CPU. */
#define RXE_REQ_BUDGET		1024

/**
 * struct rxe_req_run - what one run of the requester has at hand
 * @qp:		QP
 * @tx:		packets under way to IP
 * @sg:		place in the SGEs of element @sg_index
 * @sg_index:	element that @sg belongs to
 * @sg_valid:	@sg is set up
 * @waits:	a page must be faulted in before it can go on
 */
struct rxe_req_run {
	struct rxe_qp		*qp;
	struct rxe_tx		tx;
	struct rxe_sg_cursor	sg;
	u32			sg_index;
	bool			sg_valid;
	bool			waits;
};

/* Begin a run; for its packets rxe_tx_begin() does. */
static inline void rxe_req_begin(struct rxe_req_run *run, struct rxe_qp *qp)
{
	run->qp = qp;
	run->sg = (struct rxe_sg_cursor){};
	run->sg_valid = false;
	run->waits = false;
}

static inline int rxe_wc_status_from_errno(int err)
{
	return err ? IB_WC_LOC_PROT_ERR : IB_WC_SUCCESS;
}

/**
 * rxe_req_emit - add one packet to the run
 * @run:	run
 * @pkt:	its headers
 * @wqe:	element that the payload is of
 * @index:	its place in the send queue
 * @off:	first byte, counted from the start of the message
 * @len:	bytes
 *
 * A packet that finds no memory counts as lost and is sent again later.
 *
 * Return: an errno of the SGEs: the packet was taken back; -EAGAIN with @waits.
 */
int rxe_req_emit(struct rxe_req_run *run, struct rxe_pkt *pkt, const struct rxe_swqe *wqe,
		 u32 index, u32 off, u32 len);

/**
 * rxe_req_send_wqe - send from an element of a connected QP
 * @run:	run
 * @wqe:	element that is next, started
 * @limit:	packets, at least one
 *
 * Return: the number of packets that were tried, at least one and at most @limit.
 */
u32 rxe_req_send_wqe(struct rxe_req_run *run, struct rxe_swqe *wqe, u32 limit);

/* What is not acknowledged is done once it has been handed to IP: [tail, next). */
void rxe_req_sent_done(struct rxe_qp *qp);

/* As IBTA 10.3.1.7 has it for UD and UC: what follows is flushed. */
void rxe_req_unacked_failed(struct rxe_qp *qp, enum ib_wc_status status);

/* Send datagrams (rxe_req_ud.c).  Return: true: budget used up. */
bool rxe_req_run_datagram(struct rxe_qp *qp);

#endif /* RXE_REQ_RUN_H */
