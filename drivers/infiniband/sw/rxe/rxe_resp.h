/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Responder of connected QPs: requests to memory and acknowledgments.
 *
 * rxe_resp_check.c decides what a request deserves (this is where a NAK is
 * decided), rxe_resp.c carries it out, with rxe_resp_data.c (payload of SENDs
 * and WRITEs) and rxe_resp_read.c (READs, atomics, duplicates); rxe_datagram.c
 * receives datagrams.
 */
#ifndef RXE_RESP_H
#define RXE_RESP_H

#include <rdma/roce_psn.h>
#include "rxe_copy.h"
#include "rxe_exec.h"
#include "rxe_late_ack.h"
#include "rxe_odp.h"
#include "rxe_packet.h"
#include "rxe_rd_atomic.h"
#include "rxe_route.h"
#include "rxe_rxq.h"
#include "rxe_tx.h"

struct rxe_mem;
struct rxe_qp;

/* The kind of message that is half received. */
enum rxe_resp_msg {
	RXE_MSG_NONE,
	RXE_MSG_SEND,
	RXE_MSG_WRITE,
};

/**
 * struct rxe_resp_read - a READ that is being answered
 * @active:	it is; no further request is looked at meanwhile
 * @first:	the next response is the first
 * @psn:	of the next response
 * @va:		of the next byte
 * @rkey:	key
 * @resid:	bytes left
 */
struct rxe_resp_read {
	bool		active;
	bool		first;
	struct roce_psn	psn;
	u64		va;
	u32		rkey;
	u32		resid;
};

/**
 * struct rxe_resp - responder state
 * @exec:	owner of everything here
 * @rxq:	requests that wait
 * @route:	cached route
 * @psn:	expected next
 * @msn:	messages completed, 24 bits
 * @msg:	what a middle or last packet would continue
 * @nak_sent:	a sequence or RNR NAK is out for @psn: later packets are dropped
 * @comm_est:	COMM_EST has been reported
 * @last_wqe:	QP_LAST_WQE_REACHED has been reported
 * @received:	bytes of the current message
 * @write_va:	where the next bytes of a WRITE go
 * @write_rkey:	key of the WRITE
 * @write_resid: bytes of the WRITE still to come
 * @ack_due:	acknowledge up to @psn - 1 before the run ends
 * @late:	acknowledgment that waits; shared with the requester
 * @read:	READ in progress
 * @fault:	page that a run waits for
 * @rd:		READs answered, for duplicates
 */
struct rxe_resp {
	struct rxe_exec		exec;
	struct rxe_rxq		rxq;
	struct rxe_route	route;
	struct roce_psn		psn;
	u32			msn;
	enum rxe_resp_msg	msg;
	bool			nak_sent;
	bool			comm_est;
	bool			last_wqe;
	u32			received;
	u64			write_va;
	u32			write_rkey;
	u32			write_resid;
	bool			ack_due;
	struct rxe_late_ack	late;
	struct rxe_resp_read	read;
	struct rxe_fault	fault;
	struct rxe_rd_ring	rd;
};

/* What a request deserves. */
enum rxe_verdict_kind {
	RXE_VERDICT_OK,
	RXE_VERDICT_DROP,	/* silently; counted with a reason */
	RXE_VERDICT_DUPLICATE,	/* executed before: acknowledge or replay */
	RXE_VERDICT_NAK,	/* with a syndrome; all but sequence NAKs end the connection */
	RXE_VERDICT_RNR,
};

/**
 * struct rxe_verdict - what a request deserves, and why
 * @kind:	see there
 * @nak:	NAK code
 * @wc_status:	how the receive WQE in use completes, IB_WC_SUCCESS: it does not
 * @drop:	reason of a drop
 * @qp_fatal:	the receive queue itself is in error
 */
struct rxe_verdict {
	enum rxe_verdict_kind	kind;
	enum roce_nak		nak;
	enum ib_wc_status	wc_status;
	enum rxe_drop		drop;
	bool			qp_fatal;
};

/**
 * rxe_resp_check - judge a request
 * @qp:		RC or UC QP
 * @pkt:	request
 * @mem:	empty; set to the memory that the packet's key names, if there is one and
 *		it may be kept, with a reference that is the caller's whatever the verdict
 *
 * In the order of IBTA 9.7.4.1: sequence, opcode, function, length, key,
 * resources.  Changes nothing but @nak_sent, and takes a receive WQE when the
 * packet needs one.
 *
 * Context: the responder's executor.
 */
struct rxe_verdict rxe_resp_check(struct rxe_qp *qp, const struct rxe_pkt *pkt,
				  struct rxe_mem *mem);

/* The right that the memory of a packet's key was looked up for; 0: it needs no key. */
int rxe_rkey_access(const struct rxe_pkt *pkt);

/**
 * rxe_resp_recv_done - complete the receive WQE in use
 * @wc:		status, opcode and what else is known; wr_id and qp are set here
 * @solicited:	the sender asked for an event
 */
void rxe_resp_recv_done(struct rxe_qp *qp, struct ib_wc *wc, bool solicited);

/* Receive datagrams (rxe_datagram.c).  Return: true: budget used up. */
bool rxe_datagram_run(struct rxe_qp *qp);

/* Set up with the QP; and undo it, executors disabled. */
void rxe_resp_init(struct rxe_qp *qp);
void rxe_resp_fini(struct rxe_qp *qp);

/* Forget everything received (RESET).  Context: executors disabled. */
void rxe_resp_reset(struct rxe_qp *qp);

#endif /* RXE_RESP_H */
