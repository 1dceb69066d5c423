/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Work queue elements, in kernel memory.
 *
 * A user's WQE is copied once and the copy validated; progress lives here
 * too, so nothing that a process writes into a ring later has an effect.
 */
#ifndef RXE_WQE_H
#define RXE_WQE_H

#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>
#include <rdma/roce_psn.h>
#include "rxe_ring.h"
#include "rxe_route.h"

struct rxe_pd;
struct rxe_qp;
struct rxe_srq;

/* Beside IB_WC_*: what there is to say of a receive queue without a WQE. */
#define RXE_RQ_EMPTY	(-1)
#define RXE_RQ_BROKEN	(-2)	/* an SRQ whose ring was overwritten */

/* What is wrong with a work request. */
enum rxe_bad_wqe {
	RXE_BAD_OPCODE,		/* not for this kind of QP, or not with these flags */
	RXE_BAD_AH,		/* no such address handle */
	RXE_BAD_NUM_SGE,	/* more SGEs than the QP has */
	RXE_BAD_LENGTH,		/* longer than a message, or not what the operation needs */
	RXE_BAD_INLINE,		/* more inline data than the QP has */
	RXE_BAD_RD_ATOMIC,	/* READ or atomic, and max_rd_atomic is 0 */
	RXE_BAD_RECV_NUM_SGE,	/* a receive WR's SGEs, as RXE_BAD_NUM_SGE */
};

/**
 * struct rxe_swqe - send WQE
 * @wr_id:	as posted
 * @opcode:	enum ib_wr_opcode
 * @flags:	IB_SEND_*
 * @imm:	immediate data
 * @length:	bytes of the message, summed up from the SGEs here
 * @num_sge:	SGEs behind the struct; 0 when @flags has IB_SEND_INLINE
 * @status:	IB_WC_SUCCESS, or why it fails when its turn comes
 * @started:	has PSNs, and at least one packet went out; local operations: done
 * @first_psn:	of its packets, or for a READ of the responses
 * @last_psn:	likewise
 * @remote_addr: WRITE, READ, atomics, ATOMIC WRITE, FLUSH
 * @rkey:	likewise; SEND with invalidate, LOCAL_INV: the key to invalidate
 * @compare_add: atomics
 * @swap:	COMPARE SWAP
 * @flush:	FLUSH: bytes, placement type, selectivity level
 * @mw:		BIND_MW: the window's key, its new key, MR, rights and range
 * @reg:	REG_MR: MR, its new key and rights
 * @path:	datagrams: owned
 * @dqpn:	datagrams: destination QPN
 * @qkey:	datagrams
 * @sge:	gather or scatter list
 * @data:	inline data
 */
struct rxe_swqe {
	u64			wr_id;
	u32			opcode;
	u32			flags;
	__be32			imm;
	u32			length;
	u32			num_sge;
	enum ib_wc_status	status;
	bool			started;
	struct roce_psn		first_psn;
	struct roce_psn		last_psn;
	union {
		struct {
			u64	remote_addr;
			u32	rkey;
			union {
				struct {
					u64	compare_add;
					u64	swap;
				};
				struct {
					u32	length;
					u8	type;
					u8	level;
				} flush;
			};
		};
		struct {
			u64	addr;
			u64	length;
			u32	key;
			u32	new_key;
			u32	lkey;
			u32	access;
		} mw;
		struct {
			struct ib_mr	*mr;
			u32		key;
			u32		access;
		} reg;
		struct {
			struct rxe_path	path;
			u32		dqpn;
			u32		qkey;
		};
	};
	union {
		DECLARE_FLEX_ARRAY(struct ib_sge, sge);
		DECLARE_FLEX_ARRAY(u8, data);
	};
};

/**
 * struct rxe_sq - send queue
 * @ring:	user QPs: where WQEs come from; a slot is given back at completion
 * @wqes:	@mask + 1 elements of @stride bytes
 * @stride:	bytes of a struct rxe_swqe with its SGEs or inline data
 * @mask:	number of elements - 1
 * @max_wr:	capability
 * @max_sge:	capability
 * @max_inline:	capability
 * @lock:	serialises kernel posters; irqsave
 * @head:	next element to fill: posters of a kernel QP under @lock, the
 *		requester of a user QP
 * @tail:	oldest element not completed: the requester's
 *
 * @head and @tail run freely; tail <= req.next <= head.
 */
struct rxe_sq {
	struct rxe_ring		ring;
	void			*wqes;
	size_t			stride;
	u32			mask;
	u32			max_wr;
	u32			max_sge;
	u32			max_inline;
	spinlock_t		lock;	/* see above */
	u32			head;
	u32			tail;
};

/**
 * struct rxe_rwqe - the receive WQE that a message goes to
 * @valid:	there is one
 * @wr_id:	as posted
 * @length:	bytes that fit
 * @num_sge:	scatter list
 * @sge:	max_sge elements of the RQ or SRQ, allocated with the QP
 */
struct rxe_rwqe {
	bool		valid;
	u64		wr_id;
	u64		length;
	u32		num_sge;
	struct ib_sge	*sge;
};

/**
 * struct rxe_rq - receive queue
 * @srq:	where WQEs come from instead, or NULL; what follows up to @prod is
 *		unused then
 * @pd:		that the keys of the SGEs belong to: the SRQ's or the QP's
 * @ring:	struct rxe_recv_wqe; filled by the process, or by post_recv
 * @max_wr:	capability
 * @max_sge:	capability
 * @lock:	serialises kernel posters; irqsave
 * @prod:	kernel QPs: producer index, under @lock
 * @cur:	receive WQE in use: the responder's
 */
struct rxe_rq {
	struct rxe_srq		*srq;
	struct rxe_pd		*pd;
	struct rxe_ring		ring;
	u32			max_wr;
	u32			max_sge;
	spinlock_t		lock;	/* see above */
	u32			prod;
	struct rxe_rwqe		cur;
};

static inline struct rxe_swqe *rxe_swqe(const struct rxe_sq *sq, u32 index)
{
	return sq->wqes + (index & sq->mask) * sq->stride;
}

/* Elements before it are filled in. */
static inline u32 rxe_sq_head(const struct rxe_sq *sq)
{
	/* pairs with the release in rxe_sq_post() */
	return smp_load_acquire(&sq->head);
}

/* Atomics have a response of eight bytes. */
static inline bool rxe_swqe_is_atomic(const struct rxe_swqe *wqe)
{
	return wqe->opcode == IB_WR_ATOMIC_CMP_AND_SWP ||
	       wqe->opcode == IB_WR_ATOMIC_FETCH_AND_ADD;
}

/*
 * Its response is one of its own, of READs, atomics, and what Annex A19 answers
 * with an empty READ response: it takes one of the responder's resources.
 */
static inline bool rxe_swqe_is_rd_atomic(const struct rxe_swqe *wqe)
{
	return wqe->opcode == IB_WR_RDMA_READ || rxe_swqe_is_atomic(wqe) ||
	       wqe->opcode == IB_WR_FLUSH || wqe->opcode == IB_WR_ATOMIC_WRITE;
}

/* Nothing is sent. */
static inline bool rxe_swqe_is_local(const struct rxe_swqe *wqe)
{
	return wqe->opcode == IB_WR_LOCAL_INV || wqe->opcode == IB_WR_REG_MR ||
	       wqe->opcode == IB_WR_BIND_MW;
}

/* PSNs that a message of @length bytes takes. */
static inline u32 rxe_num_pkts(u32 length, unsigned int mtu)
{
	return length ? DIV_ROUND_UP(length, mtu) : 1;
}

/**
 * rxe_sq_init - allocate a send queue
 * @cap:	what is asked for, and then what there is
 * @udata:	NULL for a kernel QP
 * @mi:		for the create response
 *
 * Return: 0, -ENOMEM.  rxe_sq_fini() frees it.
 */
int rxe_sq_init(struct rxe_sq *sq, struct ib_qp_cap *cap, struct ib_udata *udata,
		struct mminfo *mi);
void rxe_sq_fini(struct rxe_sq *sq);

/* As rxe_sq_init(), for a receive queue; @rq->srq and @rq->pd are set. */
int rxe_rq_init(struct rxe_rq *rq, struct ib_qp_cap *cap, struct ib_udata *udata,
		struct mminfo *mi);
void rxe_rq_fini(struct rxe_rq *rq);

/**
 * rxe_sq_fetch - copy what the process has posted since
 *
 * Context: the requester's executor.
 * Return: true when more waits in the ring than was copied in one go.
 */
bool rxe_sq_fetch(struct rxe_qp *qp);

/**
 * rxe_sq_pop - give the oldest element back
 *
 * Context: the requester's executor.
 */
void rxe_sq_pop(struct rxe_qp *qp);

/* A work request is malformed: counts and traces it. */
void rxe_wqe_bad(const struct rxe_qp *qp, u64 wr_id, u32 opcode, enum rxe_bad_wqe why);

/* Forget everything posted.  Context: executors disabled. */
void rxe_sq_reset(struct rxe_qp *qp);
void rxe_rq_reset(struct rxe_qp *qp);

/**
 * rxe_rq_get - the receive WQE for the message at hand
 *
 * Takes the next one from the ring, or the SRQ, when there is none in use.
 *
 * Context: the responder's executor.
 * Return: IB_WC_SUCCESS; IB_WC_LOC_QP_OP_ERR for a malformed one (in use all
 * the same, to be completed with this status); RXE_RQ_EMPTY, RXE_RQ_BROKEN.
 */
int rxe_rq_get(struct rxe_qp *qp);

/**
 * rxe_rwqe_copy - snapshot of the receive WQE at a ring's index
 * @wqe:	result; @wqe->sge holds @max_sge elements
 * @ring:	has a pending element, which the caller gives back
 * @max_sge:	capability
 *
 * Return: IB_WC_SUCCESS, IB_WC_LOC_QP_OP_ERR.
 */
int rxe_rwqe_copy(struct rxe_rwqe *wqe, const struct rxe_ring *ring, u32 max_sge);

/**
 * rxe_rwqe_post - put a kernel user's receive WR into a ring
 * @prod:	producer index, under the caller's lock
 * @max_sge:	capability
 *
 * Return: 0, -EINVAL, -ENOMEM when the ring is full.
 */
int rxe_rwqe_post(struct rxe_ring *ring, u32 *prod, u32 max_sge, const struct ib_recv_wr *wr);

/* The receive WQE in use has been completed. */
void rxe_rq_pop(struct rxe_qp *qp);

/* post_send and post_recv of kernel users, one WR.  Return: 0, -EINVAL, -ENOMEM. */
int rxe_sq_post(struct rxe_qp *qp, const struct ib_send_wr *wr);
int rxe_rq_post(struct rxe_qp *qp, const struct ib_recv_wr *wr);

#endif /* RXE_WQE_H */
