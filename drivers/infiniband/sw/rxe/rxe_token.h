/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The ICRC token: between RC QPs of one kernel, a number that both know stands
 * in the packets' last four bytes in place of an ICRC.
 *
 * A direction begins with real ICRCs.  Whoever receives one that is right, and
 * finds the sender's QP in this module, tells that QP that it is proven
 * (rxe_token_prove()); from then on it may send the token of the pair.  A loss
 * of any kind ends that until the next proof.
 */
#ifndef RXE_TOKEN_H
#define RXE_TOKEN_H

#include <linux/spinlock.h>
#include <linux/types.h>
#include <rdma/ib_verbs.h>
#include <rdma/roce_psn.h>

struct rxe_qp;

/* A token is 32 bits; this one tells it from none. */
#define RXE_TOKEN_VALID	BIT_ULL(32)

/**
 * struct rxe_token - tokens of a connection
 * @lock:	protects the identity and @tx against a peer's proof; irqsave, a leaf
 * @id:		of the connection, never used again; 0: not connected
 * @sgid:	identity: own address
 * @dgid:	identity: the peer's address
 * @dest_qpn:	identity: the peer's QPN
 * @tx:		what own packets carry; 0: ICRCs
 * @rx:		what the peer's packets may carry; 0: ICRCs alone
 * @tries:	how often the peer's QP was looked for in vain
 * @ends:	how often @tx has ended since a token was last known to arrive
 * @unconfirmed: a token was sent, with @first_psn, and nothing from there on
 *		has been acknowledged; the requester's
 * @first_psn:	see @unconfirmed
 *
 * @tx and @rx are read without the lock.
 */
struct rxe_token {
	spinlock_t	lock;	/* see above */
	u64		id;
	union ib_gid	sgid;
	union ib_gid	dgid;
	u32		dest_qpn;
	u64		tx;
	u64		rx;
	u8		tries;
	u8		ends;
	bool		unconfirmed;
	struct roce_psn	first_psn;
};

void rxe_token_init(struct rxe_token *t);

/**
 * rxe_token_connect - a new connection, without tokens
 * @qp:		RC QP whose path and peer are set
 *
 * Context: process, executors disabled.
 */
void rxe_token_connect(struct rxe_qp *qp);

/* The connection is over (RESET, destroy).  Context: process, executors disabled. */
void rxe_token_disconnect(struct rxe_qp *qp);

/**
 * rxe_token_prove - a packet of the peer had the right ICRC
 * @qp:		RC QP that received it
 *
 * If the peer's QP is one of this module, connected to this one, with the same
 * two addresses, it may send tokens from now on.
 *
 * Context: an executor of @qp.
 */
void rxe_token_prove(struct rxe_qp *qp);

/**
 * rxe_token_end - something was lost: own packets have ICRCs until the next proof
 *
 * Context: an executor of @qp.
 */
void rxe_token_end(struct rxe_qp *qp);

/**
 * rxe_token_tx - the token for a run of packets
 *
 * Context: an executor of @qp.
 * Return: token with RXE_TOKEN_VALID, or 0: compute ICRCs.
 */
u64 rxe_token_tx(const struct rxe_qp *qp);

/* rxe_token_tx() for requests, which notes the first PSN.  Context: the requester. */
u64 rxe_token_tx_request(struct rxe_qp *qp);

/* Everything before @una has been acknowledged.  Context: the requester. */
static inline void rxe_token_acked(struct rxe_token *t, struct roce_psn una)
{
	if (unlikely(t->unconfirmed) && roce_psn_after(una, t->first_psn)) {
		t->unconfirmed = false;
		t->ends = 0;
	}
}

/**
 * rxe_token_rx - what the peer's packets may carry
 *
 * Context: an executor of @qp.
 * Return: token with RXE_TOKEN_VALID, or 0.
 */
u64 rxe_token_rx(const struct rxe_qp *qp);

/**
 * rxe_token_field - the last four bytes of a packet
 * @token:	of the pair
 * @psn:	the packet's
 *
 * Return: the bytes as they stand on the wire.
 */
static inline __le32 rxe_token_field(u64 token, struct roce_psn psn)
{
	/* bits of the PSN spread over the word, so that a reordered or shifted one differs */
	return cpu_to_le32((u32)token ^ psn.v * 0x9e3779b1u);
}

void __init rxe_token_module_init(void);

#endif /* RXE_TOKEN_H */
