/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Requester: send queue to packets. */
#ifndef RXE_REQ_H
#define RXE_REQ_H

#include <rdma/roce_psn.h>
#include "rxe_cork.h"
#include "rxe_exec.h"
#include "rxe_odp.h"
#include "rxe_retry.h"
#include "rxe_route.h"
#include "rxe_rxq.h"

/**
 * struct rxe_req - requester state, with that of its completer
 * @exec:	owner of everything here
 * @rxq:	responses that wait for the completer
 * @route:	cached route
 * @retry:	timers and counts
 * @fault:	page that a run waits for
 * @cork:	what lets messages wait for more
 * @next:	send queue element to send from next, runs freely
 * @off:	bytes of it that are sent (READ: asked for)
 * @psn:	PSN of the next packet
 * @una:	oldest PSN that is not acknowledged
 * @end:	one behind the highest PSN ever sent; una <= psn <= end
 * @reads:	READs and atomics started and not completed: fences wait for none
 * @rd_out:	READ and atomic requests without their last response
 * @rd_full:	there was no room for one more: wait until there is for several
 * @unasked:	packets sent since one asked for an acknowledgment, or for a response
 * @ask:	somebody waits for one: the last packet of the run has to ask
 * @progress:	something has been acknowledged since the last run that sent
 * @window:	packets that may be unacknowledged; shrinks with losses, grows
 *		with acknowledgments, up to RXE_WINDOW_BYTES
 */
struct rxe_req {
	struct rxe_exec		exec;
	struct rxe_rxq		rxq;
	struct rxe_route	route;
	struct rxe_retry	retry;
	struct rxe_fault	fault;
	struct rxe_cork		cork;
	u32			next;
	u32			off;
	struct roce_psn		psn;
	struct roce_psn		una;
	struct roce_psn		end;
	u32			reads;
	u32			rd_out;
	bool			rd_full;
	u32			unasked;
	bool			ask;
	bool			progress;
	u32			window;
};

/* Set up with the QP; and undo it, executors disabled. */
void rxe_req_init(struct rxe_qp *qp);
void rxe_req_fini(struct rxe_qp *qp);

/* Forget everything sent (RESET).  Context: executors disabled. */
void rxe_req_reset(struct rxe_qp *qp);

/* First PSN of a connection.  Context: executors disabled. */
void rxe_req_set_psn(struct rxe_qp *qp, struct roce_psn psn);

/* Bytes that the READ request at @off of a message asks for. */
u32 rxe_req_read_part(u32 length, u32 off);

/* Anything sent and not acknowledged?  Context: the requester's executor, as below. */
bool rxe_req_outstanding(const struct rxe_qp *qp);

/* @pkts more have been acknowledged: the window grows. */
void rxe_req_acked(struct rxe_qp *qp, u32 pkts);

/**
 * rxe_req_lost - packets got lost: the window shrinks
 * @timeout:	the acknowledgments did not come either
 *
 * What a full queue has dropped would be dropped again, if all of it came at
 * once again.
 */
void rxe_req_lost(struct rxe_qp *qp, bool timeout);

/* Continue at @una, be it forward or back. */
void rxe_req_seek_una(struct rxe_qp *qp);

/**
 * rxe_req_probe - ask for the acknowledgment that nobody has asked for yet
 *
 * Elements that do not signal may be the last ones for a long time.  Sends the
 * last packet again, with a request for an ACK, which is one for all before.
 *
 * Return: false when one has been asked for, and has not come.
 */
bool rxe_req_probe(struct rxe_qp *qp);

/* Send everything from @una again. */
void rxe_req_rewind(struct rxe_qp *qp);

#endif /* RXE_REQ_H */
