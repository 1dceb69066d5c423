// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Acknowledgments that wait for a packet to go with. */

#include <linux/bitfield.h>
#include <linux/jiffies.h>
#include "rxe_late_ack.h"
#include "rxe_qp.h"
#include "rxe_qp_state.h"
#include "rxe_tx.h"

#define RXE_LATE_WAITS		BIT_ULL(63)	/* an ACK waits */
#define RXE_LATE_SENT		BIT_ULL(62)	/* it was sent; an answer would count */
#define RXE_LATE_PSN_MASK	GENMASK_ULL(47, 24)
#define RXE_LATE_MSN_MASK	GENMASK_ULL(23, 0)

/* Messages that must have been answered, one after the other. */
#define RXE_LATE_ANSWERS	8

/*
 * A peer that waits less than this for an ACK gets it at once: the timer and the
 * one before it may take two each.  The peer's value is not known, but both ends
 * mostly have the same.
 */
#define RXE_LATE_MIN_JIFFIES	8

static void rxe_late_ack_timer(struct timer_list *t)
{
	struct rxe_qp *qp = timer_container_of(qp, t, resp.late.timer);
	struct rxe_late_ack *late = &qp->resp.late;
	u64 word;
	u32 psn;

	smp_mb();	/* not pending any more, before the word: see rxe_late_ack_defer() */
	word = atomic64_read(&late->word);
	if (!(word & RXE_LATE_WAITS))
		return;
	psn = FIELD_GET(RXE_LATE_PSN_MASK, word);
	if (psn != READ_ONCE(late->timed)) {
		/* that one has gone, this one is younger */
		WRITE_ONCE(late->timed, psn);
		mod_timer(&late->timer, jiffies + 1);
		return;
	}
	WRITE_ONCE(late->over, true);
	rxe_exec_kick(&qp->resp.exec);
}

void rxe_late_ack_init(struct rxe_qp *qp)
{
	timer_setup(&qp->resp.late.timer, rxe_late_ack_timer, 0);
}

void rxe_late_ack_reset(struct rxe_qp *qp)
{
	struct rxe_late_ack *late = &qp->resp.late;

	timer_delete_sync(&late->timer);
	atomic64_set(&late->word, 0);
	late->answers = 0;
	late->over = false;
}

void rxe_late_ack_fini(struct rxe_qp *qp)
{
	timer_shutdown_sync(&qp->resp.late.timer);
}

static bool rxe_late_ack_get(struct rxe_late_ack *late, u64 *word, struct roce_psn *psn, u32 *msn)
{
	*word = 0;
	if (atomic64_read(&late->word))
		*word = atomic64_xchg(&late->word, 0);
	*psn = roce_psn(FIELD_GET(RXE_LATE_PSN_MASK, *word));
	*msn = FIELD_GET(RXE_LATE_MSN_MASK, *word);
	return *word & RXE_LATE_WAITS;
}

bool rxe_late_ack_take(struct rxe_qp *qp, struct roce_psn *psn, u32 *msn)
{
	struct rxe_late_ack *late = &qp->resp.late;
	bool waits;
	u64 word;

	WRITE_ONCE(late->over, false);
	waits = rxe_late_ack_get(late, &word, psn, msn);
	if (word)
		WRITE_ONCE(late->answers, 0);
	return waits;
}

static void rxe_late_ack_answered(struct rxe_late_ack *late)
{
	u8 answers = READ_ONCE(late->answers);

	if (answers < RXE_LATE_ANSWERS)
		WRITE_ONCE(late->answers, answers + 1);
}

/* May the peer go on before the timer? */
static bool rxe_late_ack_is_urgent(const struct rxe_qp *qp)
{
	u8 timeout = qp->attr.timeout;

	return timeout && nsecs_to_jiffies(4096ULL << timeout) < RXE_LATE_MIN_JIFFIES;
}

bool rxe_late_ack_defer(struct rxe_qp *qp)
{
	struct rxe_late_ack *late = &qp->resp.late;
	u32 psn = roce_psn_add(qp->resp.psn, -1).v;

	if (rxe_qp_state(qp) != IB_QPS_RTS)
		return false;
	if (READ_ONCE(late->sends) != late->seen) {
		rxe_late_ack_answered(late);	/* already */
		return false;
	}
	if (READ_ONCE(late->answers) < RXE_LATE_ANSWERS || rxe_late_ack_is_urgent(qp)) {
		atomic64_set(&late->word, RXE_LATE_SENT);
		return false;
	}
	atomic64_set(&late->word, RXE_LATE_WAITS | FIELD_PREP(RXE_LATE_PSN_MASK, psn) |
				  FIELD_PREP(RXE_LATE_MSN_MASK, qp->resp.msn));
	/*
	 * A timer that fires now finds the word, or is seen not to be pending; and
	 * an answer that goes out now takes the word, or is seen.
	 */
	smp_mb();
	if (READ_ONCE(late->sends) != late->seen &&
	    atomic64_xchg(&late->word, 0) & RXE_LATE_WAITS)
		return false;
	if (!timer_pending(&late->timer)) {
		WRITE_ONCE(late->timed, psn);
		mod_timer(&late->timer, jiffies + 1);
	}
	return true;
}

bool rxe_late_ack_join(struct rxe_qp *qp, struct roce_psn *psn, u32 *msn)
{
	struct rxe_late_ack *late = &qp->resp.late;
	bool waits;
	u64 word;

	WRITE_ONCE(late->sends, late->sends + 1);
	smp_mb();	/* pairs with rxe_late_ack_defer() */
	waits = rxe_late_ack_get(late, &word, psn, msn);
	if (word)
		rxe_late_ack_answered(late);
	return waits;
}

void rxe_late_ack_send(const struct rxe_qp *qp, struct rxe_tx *tx, struct roce_psn psn, u32 msn)
{
	struct rxe_pkt pkt = {
		.opcode		= ROCE_SERVICE_RC | ROCE_OP_ACK,
		.pkey		= ROCE_DEFAULT_PKEY,
		.qpn		= qp->attr.dest_qp_num,
		.psn		= psn,
		.syndrome	= ROCE_AETH_ACK | ROCE_AETH_NO_CREDIT,
		.msn		= msn,
	};

	rxe_tx_add_pkt(tx, &pkt, 0);
}
