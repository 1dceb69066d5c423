// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What a request deserves: every NAK is decided here. */

#include "rxe_access.h"
#include "rxe_copy.h"
#include "rxe_flush.h"
#include "rxe_mr.h"
#include "rxe_qp.h"
#include "rxe_resp.h"
#include "rxe_stats.h"

static const struct rxe_verdict rxe_ok = { .kind = RXE_VERDICT_OK };

static struct rxe_verdict rxe_drop(enum rxe_drop why)
{
	return (struct rxe_verdict){ .kind = RXE_VERDICT_DROP, .drop = why };
}

static struct rxe_verdict rxe_nak(enum roce_nak nak)
{
	return (struct rxe_verdict){ .kind = RXE_VERDICT_NAK, .nak = nak };
}

/* The receive WQE cannot take the message: it completes with an error too. */
static struct rxe_verdict rxe_nak_recv(enum roce_nak nak, enum ib_wc_status status)
{
	return (struct rxe_verdict){ .kind = RXE_VERDICT_NAK, .nak = nak, .wc_status = status };
}

/* IBTA 9.7.4.1.1, 9.7.5.1: is it the next, one that was lost before, or an old one? */
static struct rxe_verdict rxe_check_psn(struct rxe_qp *qp, const struct rxe_pkt *pkt)
{
	s32 diff = roce_psn_diff(pkt->psn, qp->resp.psn);

	if (!diff) {
		qp->resp.nak_sent = false;
		return rxe_ok;
	}
	if (diff < 0)
		return (struct rxe_verdict){ .kind = RXE_VERDICT_DUPLICATE };

	rxe_count(qp->rxe, RXE_CNT_OUT_OF_SEQ_REQ);
	if (qp->resp.nak_sent)
		return rxe_drop(RXE_DROP_PSN);
	return rxe_nak(ROCE_NAK_PSN_SEQ);
}

/* The kernel's users do not know of it, or nobody does. */
static bool rxe_op_is_unsupported(u32 flags)
{
	return (flags & RXE_OP_RESERVED) ||
	       (IB_DEVICE_ATOMIC_WRITE == 0 && (flags & RXE_OP_ATOMIC_WRITE)) ||
	       (IB_DEVICE_FLUSH_GLOBAL == 0 && (flags & RXE_OP_FLUSH));
}

/* IBTA 9.7.4.1.2: does the opcode continue what is there? */
static struct rxe_verdict rxe_check_opcode(const struct rxe_qp *qp, const struct rxe_pkt *pkt)
{
	u32 flags = pkt->info->flags;
	enum rxe_resp_msg want = RXE_MSG_NONE;

	if (rxe_op_is_unsupported(flags))
		return rxe_nak(ROCE_NAK_INVALID_REQ);
	if (!(flags & RXE_OP_FIRST) && (flags & (RXE_OP_MIDDLE | RXE_OP_LAST)))
		want = flags & RXE_OP_SEND ? RXE_MSG_SEND : RXE_MSG_WRITE;
	return qp->resp.msg == want ? rxe_ok : rxe_nak(ROCE_NAK_INVALID_REQ);
}

/* IBTA 9.7.4.1.3: is the function enabled on this QP? */
static struct rxe_verdict rxe_check_function(const struct rxe_qp *qp, const struct rxe_pkt *pkt)
{
	u32 flags = pkt->info->flags;
	int access = qp->attr.qp_access_flags;

	if ((flags & (RXE_OP_WRITE | RXE_OP_ATOMIC_WRITE)) && !(access & IB_ACCESS_REMOTE_WRITE))
		return rxe_nak(ROCE_NAK_INVALID_REQ);
	if ((flags & RXE_OP_FLUSH) && rxe_flush_access(pkt) & ~access)
		return rxe_nak(ROCE_NAK_INVALID_REQ);
	/* these take READ resources too, though nothing has to be remembered of them */
	if ((flags & (RXE_OP_ATOMIC_WRITE | RXE_OP_FLUSH)) && !qp->resp.rd.size)
		return rxe_nak(ROCE_NAK_INVALID_REQ);
	if ((flags & RXE_OP_READ) && (!(access & IB_ACCESS_REMOTE_READ) || !qp->resp.rd.size))
		return rxe_nak(ROCE_NAK_INVALID_REQ);
	if ((flags & RXE_OP_ATOMIC) && (!(access & IB_ACCESS_REMOTE_ATOMIC) || !qp->resp.rd.size))
		return rxe_nak(ROCE_NAK_INVALID_REQ);
	return rxe_ok;
}

/* IBTA 9.7.4.1.6: payload against the packet's place in the message, and the whole. */
static struct rxe_verdict rxe_check_length(const struct rxe_qp *qp, const struct rxe_pkt *pkt)
{
	u32 flags = pkt->info->flags;
	unsigned int len = pkt->payload_len;
	u32 total;

	if (flags & RXE_OP_ATOMIC)	/* IBTA 9.4.5: naturally aligned */
		return pkt->va & 7 ? rxe_nak(ROCE_NAK_INVALID_REQ) : rxe_ok;
	if (flags & RXE_OP_ATOMIC_WRITE)
		return pkt->va & 7 || len != sizeof(u64) || pkt->length != sizeof(u64) ?
		       rxe_nak(ROCE_NAK_INVALID_REQ) : rxe_ok;
	if (flags & RXE_OP_FLUSH)
		return rxe_flush_is_valid(pkt) ? rxe_ok : rxe_nak(ROCE_NAK_INVALID_REQ);
	if (flags & RXE_OP_READ)
		return pkt->length <= RXE_MAX_MSG_SZ ? rxe_ok : rxe_nak(ROCE_NAK_INVALID_REQ);

	if (len > qp->mtu)
		return rxe_nak(ROCE_NAK_INVALID_REQ);
	if (!(flags & RXE_OP_LAST) && len != qp->mtu)
		return rxe_nak(ROCE_NAK_INVALID_REQ);
	if ((flags & RXE_OP_LAST) && !(flags & RXE_OP_FIRST) && !len)
		return rxe_nak(ROCE_NAK_INVALID_REQ);

	if (flags & RXE_OP_SEND) {
		total = (flags & RXE_OP_FIRST ? 0 : qp->resp.received) + len;
		return total <= RXE_MAX_MSG_SZ ? rxe_ok : rxe_nak(ROCE_NAK_INVALID_REQ);
	}
	total = flags & RXE_OP_FIRST ? pkt->length : qp->resp.write_resid;
	if (total > RXE_MAX_MSG_SZ || len > total || ((flags & RXE_OP_LAST) && len != total))
		return rxe_nak(ROCE_NAK_INVALID_REQ);
	return rxe_ok;
}

int rxe_rkey_access(const struct rxe_pkt *pkt)
{
	u32 flags = pkt->info->flags;

	if (flags & RXE_OP_ATOMIC)
		return IB_ACCESS_REMOTE_ATOMIC;
	if (!(flags & RXE_OP_RETH) || !pkt->length)
		return 0;
	return flags & RXE_OP_READ ? IB_ACCESS_REMOTE_READ : IB_ACCESS_REMOTE_WRITE;
}

/* IBTA 9.7.4.1.5: the key, its rights and the range; a zero length needs none. */
static struct rxe_verdict rxe_check_rkey(struct rxe_qp *qp, const struct rxe_pkt *pkt,
					 struct rxe_mem *mem)
{
	bool word = pkt->info->flags & (RXE_OP_ATOMIC | RXE_OP_ATOMIC_WRITE), aligned = true;
	u32 length = pkt->info->flags & RXE_OP_ATOMIC ? sizeof(u64) : pkt->length;
	int access = rxe_rkey_access(pkt);
	int err;

	if (pkt->info->flags & RXE_OP_FLUSH) {
		err = rxe_flush_mem(qp, pkt, true);
	} else if (access) {
		err = rxe_mem_get(qp, pkt->rkey, access, pkt->va, length, mem);
		if (!err && word)
			aligned = rxe_mr_is_aligned(mem->mr, pkt->va + mem->delta);
		/* who invalidates it must not wait for what comes before the copy */
		if (rxe_mem_is_transient(mem))
			rxe_mem_put(mem);
	} else {
		return rxe_ok;
	}

	if (!err)
		return aligned ? rxe_ok : rxe_nak(ROCE_NAK_INVALID_REQ);
	rxe_access_refused(qp, true, pkt->rkey, pkt->va, length, err);
	return rxe_nak(ROCE_NAK_REM_ACCESS);
}

/*
 * IBTA 9.9.6.2 lets the responder keep silent about a key that cannot be
 * invalidated. Here the message has not been acknowledged yet: the peer is told.
 */
static struct rxe_verdict rxe_check_invalidate(struct rxe_qp *qp, const struct rxe_pkt *pkt)
{
	if (!(pkt->info->flags & RXE_OP_IETH) || rxe_key_may_invalidate(qp, pkt->rkey))
		return rxe_ok;
	rxe_access_refused(qp, true, pkt->rkey, 0, 0, -EACCES);
	return rxe_nak_recv(ROCE_NAK_REM_ACCESS, IB_WC_MW_BIND_ERR);
}

/* A SEND needs a receive WQE at its first packet, a WRITE with immediate at its last. */
static bool rxe_needs_rwqe(const struct rxe_pkt *pkt)
{
	u32 flags = pkt->info->flags;

	return (flags & RXE_OP_SEND) || (flags & RXE_OP_RWQE);
}

static struct rxe_verdict rxe_check_rwqe(struct rxe_qp *qp, const struct rxe_pkt *pkt)
{
	u32 received = pkt->info->flags & RXE_OP_FIRST ? 0 : qp->resp.received;
	int status;

	if (!rxe_needs_rwqe(pkt))
		return rxe_ok;

	status = rxe_rq_get(qp);
	if (status == RXE_RQ_EMPTY)
		return (struct rxe_verdict){ .kind = RXE_VERDICT_RNR };
	if (status == RXE_RQ_BROKEN)
		return (struct rxe_verdict){ .kind = RXE_VERDICT_NAK, .nak = ROCE_NAK_REM_OP,
					     .qp_fatal = true };
	if (status != IB_WC_SUCCESS) {
		rxe_wqe_bad(qp, qp->rq.cur.wr_id, 0, RXE_BAD_RECV_NUM_SGE);
		return rxe_nak_recv(ROCE_NAK_REM_OP, status);
	}
	if ((pkt->info->flags & RXE_OP_SEND) &&
	    (u64)received + pkt->payload_len > qp->rq.cur.length)
		return rxe_nak_recv(ROCE_NAK_INVALID_REQ, IB_WC_LOC_LEN_ERR);
	return rxe_ok;
}

/* A message that is not acknowledged: a gap loses it, and no more (IBTA 9.8.2.2). */
static struct rxe_verdict rxe_check_uc_sequence(struct rxe_qp *qp, const struct rxe_pkt *pkt)
{
	struct rxe_resp *resp = &qp->resp;

	if (pkt->info->flags & RXE_OP_FIRST) {
		resp->psn = pkt->psn;
		resp->msg = RXE_MSG_NONE;
		return rxe_ok;
	}
	if (!roce_psn_eq(pkt->psn, resp->psn))
		return rxe_drop(RXE_DROP_PSN);
	return rxe_check_opcode(qp, pkt).kind == RXE_VERDICT_OK ? rxe_ok : rxe_drop(RXE_DROP_PSN);
}

static struct rxe_verdict rxe_check_sequence(struct rxe_qp *qp, const struct rxe_pkt *pkt)
{
	struct rxe_verdict v;

	if (rxe_qp_is_uc(qp))
		return rxe_check_uc_sequence(qp, pkt);
	v = rxe_check_psn(qp, pkt);
	return v.kind == RXE_VERDICT_OK ? rxe_check_opcode(qp, pkt) : v;
}

struct rxe_verdict rxe_resp_check(struct rxe_qp *qp, const struct rxe_pkt *pkt,
				  struct rxe_mem *mem)
{
	struct rxe_verdict v;

	if (!(pkt->info->flags & RXE_OP_REQUEST))
		return rxe_drop(RXE_DROP_OPCODE);
	v = rxe_check_sequence(qp, pkt);
	if (v.kind != RXE_VERDICT_OK)
		return v;
	v = rxe_check_function(qp, pkt);
	if (v.kind != RXE_VERDICT_OK)
		return v;
	v = rxe_check_length(qp, pkt);
	if (v.kind != RXE_VERDICT_OK)
		return v;
	v = rxe_check_rkey(qp, pkt, mem);
	if (v.kind != RXE_VERDICT_OK)
		return v;
	v = rxe_check_rwqe(qp, pkt);
	if (v.kind != RXE_VERDICT_OK)
		return v;
	return rxe_check_invalidate(qp, pkt);
}
