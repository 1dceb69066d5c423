/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Tracepoints: every drop, NAK, retry and state change has a named reason.
 *
 *   trace-cmd record -e rxe		or
 *   echo 1 > /sys/kernel/tracing/events/rxe/enable
 *
 * Names are copied into the events: nothing in a trace buffer points into the
 * module.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM rxe

#if !defined(RXE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)

#include <linux/tracepoint.h>
#include <rdma/ib_verbs.h>
#include <rdma/roce.h>
#include "rxe_qp_state.h"
#include "rxe_stats.h"
#include "rxe_wqe.h"

#ifndef RXE_TRACE_WHY_MAX
#define RXE_TRACE_WHY_MAX	16
#endif

TRACE_DEFINE_ENUM(IB_QPS_RESET);
TRACE_DEFINE_ENUM(IB_QPS_INIT);
TRACE_DEFINE_ENUM(IB_QPS_RTR);
TRACE_DEFINE_ENUM(IB_QPS_RTS);
TRACE_DEFINE_ENUM(IB_QPS_SQD);
TRACE_DEFINE_ENUM(IB_QPS_SQE);
TRACE_DEFINE_ENUM(IB_QPS_ERR);

TRACE_DEFINE_ENUM(ROCE_NAK_PSN_SEQ);
TRACE_DEFINE_ENUM(ROCE_NAK_INVALID_REQ);
TRACE_DEFINE_ENUM(ROCE_NAK_REM_ACCESS);
TRACE_DEFINE_ENUM(ROCE_NAK_REM_OP);

TRACE_DEFINE_ENUM(IB_WC_LOC_LEN_ERR);
TRACE_DEFINE_ENUM(IB_WC_LOC_QP_OP_ERR);
TRACE_DEFINE_ENUM(IB_WC_LOC_PROT_ERR);
TRACE_DEFINE_ENUM(IB_WC_MW_BIND_ERR);
TRACE_DEFINE_ENUM(IB_WC_BAD_RESP_ERR);
TRACE_DEFINE_ENUM(IB_WC_REM_INV_REQ_ERR);
TRACE_DEFINE_ENUM(IB_WC_REM_ACCESS_ERR);
TRACE_DEFINE_ENUM(IB_WC_REM_OP_ERR);
TRACE_DEFINE_ENUM(IB_WC_RETRY_EXC_ERR);
TRACE_DEFINE_ENUM(IB_WC_RNR_RETRY_EXC_ERR);
TRACE_DEFINE_ENUM(RXE_QP_WHY_MODIFY);
TRACE_DEFINE_ENUM(RXE_QP_WHY_CQ_OVERFLOW);
TRACE_DEFINE_ENUM(RXE_QP_WHY_SRQ);
TRACE_DEFINE_ENUM(RXE_QP_WHY_NAK_INVALID_REQ);
TRACE_DEFINE_ENUM(RXE_QP_WHY_NAK_REM_ACCESS);
TRACE_DEFINE_ENUM(RXE_QP_WHY_NAK_REM_OP);

TRACE_DEFINE_ENUM(RXE_BAD_OPCODE);
TRACE_DEFINE_ENUM(RXE_BAD_AH);
TRACE_DEFINE_ENUM(RXE_BAD_NUM_SGE);
TRACE_DEFINE_ENUM(RXE_BAD_LENGTH);
TRACE_DEFINE_ENUM(RXE_BAD_INLINE);
TRACE_DEFINE_ENUM(RXE_BAD_RD_ATOMIC);
TRACE_DEFINE_ENUM(RXE_BAD_RECV_NUM_SGE);

#undef rxe_show_qp_state
#define rxe_show_qp_state(state)		\
	__print_symbolic(state,			\
			 { IB_QPS_RESET, "RESET" },	\
			 { IB_QPS_INIT, "INIT" },	\
			 { IB_QPS_RTR, "RTR" },		\
			 { IB_QPS_RTS, "RTS" },		\
			 { IB_QPS_SQD, "SQD" },		\
			 { IB_QPS_SQE, "SQE" },		\
			 { IB_QPS_ERR, "ERR" })

#undef rxe_show_why
#define rxe_show_why(why)			\
	__print_symbolic(why,			\
			 { IB_WC_LOC_LEN_ERR, "loc_len_err" },	\
			 { IB_WC_LOC_QP_OP_ERR, "loc_qp_op_err" },	\
			 { IB_WC_LOC_PROT_ERR, "loc_prot_err" },	\
			 { IB_WC_MW_BIND_ERR, "mw_bind_err" },	\
			 { IB_WC_BAD_RESP_ERR, "bad_resp_err" },	\
			 { IB_WC_REM_INV_REQ_ERR, "rem_inv_req_err" },	\
			 { IB_WC_REM_ACCESS_ERR, "rem_access_err" },	\
			 { IB_WC_REM_OP_ERR, "rem_op_err" },	\
			 { IB_WC_RETRY_EXC_ERR, "retry_exc_err" },	\
			 { IB_WC_RNR_RETRY_EXC_ERR, "rnr_retry_exc_err" },	\
			 { RXE_QP_WHY_MODIFY, "modify" },	\
			 { RXE_QP_WHY_CQ_OVERFLOW, "cq_overflow" },	\
			 { RXE_QP_WHY_SRQ, "srq_err" },	\
			 { RXE_QP_WHY_NAK_INVALID_REQ, "nak_invalid_request" },	\
			 { RXE_QP_WHY_NAK_REM_ACCESS, "nak_remote_access" },	\
			 { RXE_QP_WHY_NAK_REM_OP, "nak_remote_operation" })

#undef rxe_show_side
#define rxe_show_side(remote)			\
	__print_symbolic(remote, { 0, "local" }, { 1, "remote" })

/* positive errnos, as trace-cmd reads no others here */
#undef rxe_show_access_err
#define rxe_show_access_err(err)		\
	__print_symbolic(err,			\
			 { EPERM, "EPERM" },	\
			 { ENOENT, "ENOENT" },	\
			 { ENOMEM, "ENOMEM" },	\
			 { EINVAL, "EINVAL" },	\
			 { EACCES, "EACCES" },	\
			 { ERANGE, "ERANGE" },	\
			 { EBUSY, "EBUSY" },	\
			 { EFAULT, "EFAULT" })

#undef rxe_show_bad_wqe
#define rxe_show_bad_wqe(why)			\
	__print_symbolic(why,			\
			 { RXE_BAD_OPCODE, "opcode" },	\
			 { RXE_BAD_AH, "ah" },	\
			 { RXE_BAD_NUM_SGE, "num_sge" },	\
			 { RXE_BAD_LENGTH, "length" },	\
			 { RXE_BAD_INLINE, "inline" },	\
			 { RXE_BAD_RD_ATOMIC, "max_rd_atomic" },	\
			 { RXE_BAD_RECV_NUM_SGE, "recv_num_sge" })

#undef rxe_show_nak
#define rxe_show_nak(nak)			\
	__print_symbolic(nak,			\
			 { ROCE_NAK_PSN_SEQ, "sequence" },		\
			 { ROCE_NAK_INVALID_REQ, "invalid_request" },	\
			 { ROCE_NAK_REM_ACCESS, "remote_access" },	\
			 { ROCE_NAK_REM_OP, "remote_operation" },	\
			 { ROCE_AETH_RNR, "rnr" })

#undef rxe_is_rnr
#define rxe_is_rnr(syndrome)	(((syndrome) & ROCE_AETH_CLASS_MASK) == ROCE_AETH_RNR)

/* A packet is dropped (enum rxe_drop); @dev is "-" where no device is known. */
TRACE_EVENT(rxe_drop,
	    TP_PROTO(const char *dev, u32 qpn, u32 reason),
	    TP_ARGS(dev, qpn, reason),
	    TP_STRUCT__entry(__array(char, dev, IB_DEVICE_NAME_MAX)
			     __array(char, reason, RXE_TRACE_WHY_MAX)
			     __field(u32, qpn)
	    ),
	    TP_fast_assign(strscpy(__entry->dev, dev, IB_DEVICE_NAME_MAX);
			   strscpy(__entry->reason, rxe_drop_name(reason), RXE_TRACE_WHY_MAX);
			   __entry->qpn = qpn;
	    ),
	    TP_printk("dev=%s qpn=%u reason=%s", __entry->dev, __entry->qpn, __entry->reason)
);

/* Packets of a QP could not be sent, for a reason out of enum rxe_counter. */
TRACE_EVENT(rxe_send_err,
	    TP_PROTO(const char *dev, u32 qpn, u32 packets, enum rxe_counter reason),
	    TP_ARGS(dev, qpn, packets, reason),
	    TP_STRUCT__entry(__array(char, dev, IB_DEVICE_NAME_MAX)
			     __array(char, reason, RXE_TRACE_WHY_MAX)
			     __field(u32, qpn)
			     __field(u32, packets)
	    ),
	    TP_fast_assign(strscpy(__entry->dev, dev, IB_DEVICE_NAME_MAX);
			   strscpy(__entry->reason, rxe_send_err_name(reason), RXE_TRACE_WHY_MAX);
			   __entry->qpn = qpn;
			   __entry->packets = packets;
	    ),
	    TP_printk("dev=%s qpn=%u packets=%u reason=%s", __entry->dev, __entry->qpn,
		      __entry->packets, __entry->reason)
);

/* @syndrome of the AETH: an enum roce_nak, or RNR with the field of its timer. */
DECLARE_EVENT_CLASS(rxe_nak,
		    TP_PROTO(const char *dev, u32 qpn, u32 psn, u8 syndrome),
		    TP_ARGS(dev, qpn, psn, syndrome),
		    TP_STRUCT__entry(__array(char, dev, IB_DEVICE_NAME_MAX)
				     __field(u32, qpn)
				     __field(u32, psn)
				     __field(u8, nak)
				     __field(u8, timer)
		    ),
		    TP_fast_assign(strscpy(__entry->dev, dev, IB_DEVICE_NAME_MAX);
				   __entry->qpn = qpn;
				   __entry->psn = psn;
				   __entry->nak = rxe_is_rnr(syndrome) ? ROCE_AETH_RNR :
						  syndrome & ROCE_AETH_VALUE_MASK;
				   __entry->timer = rxe_is_rnr(syndrome) ?
						    syndrome & ROCE_AETH_VALUE_MASK : 0;
		    ),
		    TP_printk("dev=%s qpn=%u psn=%u nak=%s timer=%u", __entry->dev, __entry->qpn,
			      __entry->psn, rxe_show_nak(__entry->nak), __entry->timer)
);

/* The responder refuses a request, or asks to wait (RNR). */
DEFINE_EVENT(rxe_nak, rxe_nak_sent,
	     TP_PROTO(const char *dev, u32 qpn, u32 psn, u8 syndrome),
	     TP_ARGS(dev, qpn, psn, syndrome)
);

/* The requester gets a NAK or an RNR NAK. */
DEFINE_EVENT(rxe_nak, rxe_nak_rcvd,
	     TP_PROTO(const char *dev, u32 qpn, u32 psn, u8 syndrome),
	     TP_ARGS(dev, qpn, psn, syndrome)
);

/* The requester goes back to @psn; @why: "timeout", "sequence", "rnr" or "implied". */
TRACE_EVENT(rxe_retry,
	    TP_PROTO(const char *dev, u32 qpn, u32 psn, const char *why),
	    TP_ARGS(dev, qpn, psn, why),
	    TP_STRUCT__entry(__array(char, dev, IB_DEVICE_NAME_MAX)
			     __array(char, why, RXE_TRACE_WHY_MAX)
			     __field(u32, qpn)
			     __field(u32, psn)
	    ),
	    TP_fast_assign(strscpy(__entry->dev, dev, IB_DEVICE_NAME_MAX);
			   strscpy(__entry->why, why, RXE_TRACE_WHY_MAX);
			   __entry->qpn = qpn;
			   __entry->psn = psn;
	    ),
	    TP_printk("dev=%s qpn=%u psn=%u why=%s", __entry->dev, __entry->qpn, __entry->psn,
		      __entry->why)
);

/* @why: enum ib_wc_status of what failed, or enum rxe_qp_why */
TRACE_EVENT(rxe_qp_state,
	    TP_PROTO(const char *dev, u32 qpn, int from, int to, u32 why),
	    TP_ARGS(dev, qpn, from, to, why),
	    TP_STRUCT__entry(__array(char, dev, IB_DEVICE_NAME_MAX)
			     __field(u32, qpn)
			     __field(int, from)
			     __field(int, to)
			     __field(u32, why)
	    ),
	    TP_fast_assign(strscpy(__entry->dev, dev, IB_DEVICE_NAME_MAX);
			   __entry->qpn = qpn;
			   __entry->from = from;
			   __entry->to = to;
			   __entry->why = why;
	    ),
	    TP_printk("dev=%s qpn=%u %s->%s why=%s", __entry->dev, __entry->qpn,
		      rxe_show_qp_state(__entry->from), rxe_show_qp_state(__entry->to),
		      rxe_show_why(__entry->why))
);

/* A key does not allow an access of the peer (@remote) or of a work request. */
TRACE_EVENT(rxe_access_err,
	    TP_PROTO(const char *dev, u32 qpn, bool remote, u32 key, u64 va, u64 len, int err),
	    TP_ARGS(dev, qpn, remote, key, va, len, err),
	    TP_STRUCT__entry(__array(char, dev, IB_DEVICE_NAME_MAX)
			     __field(u32, qpn)
			     __field(u8, remote)
			     __field(u32, key)
			     __field(u64, va)
			     __field(u64, len)
			     __field(u32, err)
	    ),
	    TP_fast_assign(strscpy(__entry->dev, dev, IB_DEVICE_NAME_MAX);
			   __entry->qpn = qpn;
			   __entry->remote = remote;
			   __entry->key = key;
			   __entry->va = va;
			   __entry->len = len;
			   __entry->err = -err;
	    ),
	    TP_printk("dev=%s qpn=%u side=%s key=0x%x va=0x%llx len=%llu err=%s", __entry->dev,
		      __entry->qpn, rxe_show_side(__entry->remote), __entry->key, __entry->va,
		      __entry->len, rxe_show_access_err(__entry->err))
);

/* A work request that cannot be carried out; @opcode of a send WR. */
TRACE_EVENT(rxe_bad_wqe,
	    TP_PROTO(const char *dev, u32 qpn, u64 wr_id, u32 opcode, u32 reason),
	    TP_ARGS(dev, qpn, wr_id, opcode, reason),
	    TP_STRUCT__entry(__array(char, dev, IB_DEVICE_NAME_MAX)
			     __field(u32, qpn)
			     __field(u64, wr_id)
			     __field(u32, opcode)
			     __field(u32, reason)
	    ),
	    TP_fast_assign(strscpy(__entry->dev, dev, IB_DEVICE_NAME_MAX);
			   __entry->qpn = qpn;
			   __entry->wr_id = wr_id;
			   __entry->opcode = opcode;
			   __entry->reason = reason;
	    ),
	    TP_printk("dev=%s qpn=%u wr_id=%llu opcode=%u reason=%s", __entry->dev, __entry->qpn,
		      __entry->wr_id, __entry->opcode, rxe_show_bad_wqe(__entry->reason))
);

/* A completion is lost: the consumer of a CQ of @cqe entries is too slow. */
TRACE_EVENT(rxe_cq_overflow,
	    TP_PROTO(const char *dev, u32 qpn, u32 cqe),
	    TP_ARGS(dev, qpn, cqe),
	    TP_STRUCT__entry(__array(char, dev, IB_DEVICE_NAME_MAX)
			     __field(u32, qpn)
			     __field(u32, cqe)
	    ),
	    TP_fast_assign(strscpy(__entry->dev, dev, IB_DEVICE_NAME_MAX);
			   __entry->qpn = qpn;
			   __entry->cqe = cqe;
	    ),
	    TP_printk("dev=%s qpn=%u cqe=%u", __entry->dev, __entry->qpn, __entry->cqe)
);

#define RXE_TRACE_H
#endif /* !RXE_TRACE_H || TRACE_HEADER_MULTI_READ */

#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE rxe_trace
#include <trace/define_trace.h>
