// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The ICRC token; rxe_token.h says what it is.
 *
 * It replaces a checksum, not a secret: an attacker who sees packets can make
 * one with a right ICRC too.  The secret keeps everybody else, such as the
 * same addresses and QPNs in another network, from hitting it by accident.
 */
#include <linux/atomic.h>
#include <linux/moduleparam.h>
#include <linux/random.h>
#include <linux/siphash.h>

#include "rxe_gid.h"
#include "rxe_qp.h"
#include "rxe_stats.h"
#include "rxe_token.h"
#include "rxe_trace.h"

/* Lookups of a peer that is not here: it may be a little late, not for ever. */
#define RXE_TOKEN_TRIES	4

/* Ends without a token known to arrive; then it is ICRCs for good. */
#define RXE_TOKEN_ENDS	16

/*
 * For the whole kernel, like what it switches: a pair of QPs belongs to two
 * links, and perhaps to two namespaces.  No rdma, ip or devlink object is that.
 */
static bool rxe_icrc_token = true;
module_param_named(icrc_token, rxe_icrc_token, bool, 0644);
MODULE_PARM_DESC(icrc_token,
		 "let RC QPs of this kernel send each other a token in place of the ICRC (default: Y)");

static siphash_aligned_key_t rxe_token_key __read_mostly;
static atomic64_t rxe_token_last_id;

void rxe_token_init(struct rxe_token *t)
{
	memset(t, 0, sizeof(*t));
	spin_lock_init(&t->lock);
}

void rxe_token_connect(struct rxe_qp *qp)
{
	struct rxe_token *t = &qp->token;
	unsigned long flags;

	spin_lock_irqsave(&t->lock, flags);
	t->id = atomic64_inc_return(&rxe_token_last_id);
	t->sgid = qp->path.sgid->gid;
	t->dgid = qp->path.dgid;
	t->dest_qpn = qp->attr.dest_qp_num;
	WRITE_ONCE(t->tx, 0);
	WRITE_ONCE(t->rx, 0);
	t->tries = 0;
	t->ends = 0;
	t->unconfirmed = false;
	spin_unlock_irqrestore(&t->lock, flags);
}

void rxe_token_disconnect(struct rxe_qp *qp)
{
	struct rxe_token *t = &qp->token;
	unsigned long flags;

	spin_lock_irqsave(&t->lock, flags);
	t->id = 0;
	WRITE_ONCE(t->tx, 0);
	WRITE_ONCE(t->rx, 0);
	spin_unlock_irqrestore(&t->lock, flags);
}

/*
 * Is @peer the other end of @qp, as far as a kernel can know?  Then it may send
 * tokens.  Under the peer's lock, so that a connection that it begins just now
 * is either not seen or not touched.
 */
static bool rxe_token_grant(struct rxe_qp *peer, struct rxe_qp *qp)
{
	struct rxe_token *p = &peer->token;
	struct rxe_token *t = &qp->token;
	unsigned long flags;
	bool same = false;
	u64 token;

	spin_lock_irqsave(&p->lock, flags);
	if (p->id && p->dest_qpn == qp->qpn && !memcmp(&p->sgid, &t->dgid, sizeof(p->sgid)) &&
	    !memcmp(&p->dgid, &t->sgid, sizeof(p->dgid))) {
		same = true;
		token = (u32)siphash_2u64(p->id, t->id, &rxe_token_key) | RXE_TOKEN_VALID;
		WRITE_ONCE(t->rx, token);
		if (p->ends < RXE_TOKEN_ENDS)
			WRITE_ONCE(p->tx, token);
	}
	spin_unlock_irqrestore(&p->lock, flags);
	return same;
}

void rxe_token_prove(struct rxe_qp *qp)
{
	struct rxe_token *t = &qp->token;
	bool proven = false;
	struct rxe_qp *peer;

	if (!READ_ONCE(rxe_icrc_token) || !t->id || t->tries >= RXE_TOKEN_TRIES)
		return;
	peer = rxe_qp_lookup(t->dest_qpn);
	if (peer) {
		proven = rxe_token_grant(peer, qp);
		rxe_qp_put(peer);
	}
	if (!proven)
		t->tries++;
}

void rxe_token_end(struct rxe_qp *qp)
{
	struct rxe_token *t = &qp->token;
	unsigned long flags;

	if (!READ_ONCE(t->tx))
		return;
	spin_lock_irqsave(&t->lock, flags);
	WRITE_ONCE(t->tx, 0);
	if (t->ends < RXE_TOKEN_ENDS)
		t->ends++;
	t->unconfirmed = false;
	spin_unlock_irqrestore(&t->lock, flags);
	rxe_count(qp->rxe, RXE_CNT_TOKEN_ENDS);
}

u64 rxe_token_tx(const struct rxe_qp *qp)
{
	return READ_ONCE(rxe_icrc_token) ? READ_ONCE(qp->token.tx) : 0;
}

u64 rxe_token_tx_request(struct rxe_qp *qp)
{
	struct rxe_token *t = &qp->token;
	u64 token = rxe_token_tx(qp);

	if (token && t->ends && !t->unconfirmed) {
		t->unconfirmed = true;
		t->first_psn = qp->req.psn;
	}
	return token;
}

u64 rxe_token_rx(const struct rxe_qp *qp)
{
	return READ_ONCE(rxe_icrc_token) ? READ_ONCE(qp->token.rx) : 0;
}

void __init rxe_token_module_init(void)
{
	get_random_bytes(&rxe_token_key, sizeof(rxe_token_key));
}
