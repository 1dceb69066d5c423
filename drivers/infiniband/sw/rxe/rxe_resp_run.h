/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One run of the responder of connected QPs: what rxe_resp.c, rxe_resp_read.c and
 * rxe_resp_data.c share.  All of it runs in the responder's executor.
 */
#ifndef RXE_RESP_RUN_H
#define RXE_RESP_RUN_H

#include "rxe_access.h"
#include "rxe_resp.h"

/**
 * struct rxe_resp_run - what one run of the responder has at hand
 * @qp:		QP
 * @tx:		acknowledgments and READ responses
 * @mem:	memory of the last WRITE or READ packet, or nothing
 * @mem_key:	its key
 * @mem_access:	the right that it was looked up for
 * @sg:		place in the receive WQE in use
 * @sg_valid:	@sg is set up
 * @budget:	packets left
 * @waits:	a page must be faulted in before it can go on
 * @sent:	it has sent something
 * @delivered:	it has completed a receive WQE
 * @late:	an ACK of an earlier run waited
 * @late_psn:	its PSN
 * @late_msn:	its MSN
 */
struct rxe_resp_run {
	struct rxe_qp		*qp;
	struct rxe_tx		tx;
	struct rxe_mem		mem;
	u32			mem_key;
	int			mem_access;
	struct rxe_sg_cursor	sg;
	bool			sg_valid;
	unsigned int		budget;
	bool			waits;
	bool			sent;
	bool			delivered;
	bool			late;
	struct roce_psn		late_psn;
	u32			late_msn;
};

/* A copy is done: keep the memory for the next one, if a run is not too long for it. */
static inline void rxe_resp_used_mem(struct rxe_resp_run *run)
{
	if (rxe_mem_is_transient(&run->mem))
		rxe_mem_put(&run->mem);
}

/*
 * The MR for a remote access, and @va as an address of it; held until another
 * one is needed, or rxe_resp_used_mem().
 */
struct rxe_mr *rxe_resp_mr(struct rxe_resp_run *run, u32 key, int access, u64 *va, u32 len);

/*
 * A copy found no page.  Return: -EAGAIN: the run ends, and the next one begins
 * with the same packet; or what came of bringing the page.
 */
int rxe_resp_wait(struct rxe_resp_run *run, const struct rxe_mr *mr, u64 va, u32 len, bool write);

/* One packet that answers, without payload; @orig: for an ATOMIC ACK. */
void rxe_resp_answer(struct rxe_resp_run *run, enum roce_op op, u8 syndrome, struct roce_psn psn,
		     u64 orig);

/* A NAK that ends the connection: sent first, then the QP fails (IBTA 9.7.4.1). */
void rxe_resp_fatal(struct rxe_resp_run *run, struct roce_psn psn, enum roce_nak nak,
		    enum ib_wc_status wc_status);

/* A READ is answered from now on, by rxe_resp_read(). */
void rxe_resp_start_read(struct rxe_qp *qp, const struct rxe_pkt *pkt);

/* The next responses of the READ being answered: one, or several middle ones. */
void rxe_resp_read(struct rxe_resp_run *run);

/* Atomics, ATOMIC WRITE and FLUSH. */
void rxe_resp_exec_single(struct rxe_resp_run *run, const struct rxe_pkt *pkt);

/* What has been carried out before is acknowledged, or answered, again. */
void rxe_resp_duplicate(struct rxe_resp_run *run, const struct rxe_pkt *pkt);

/* Store the payload of a SEND or a WRITE.  False: it failed, or @waits. */
bool rxe_resp_exec_send(struct rxe_resp_run *run, const struct rxe_pkt *pkt);
bool rxe_resp_exec_write(struct rxe_resp_run *run, const struct rxe_pkt *pkt);

/*
 * The short way for most packets of a long message: those that rxe_resp_check()
 * could have nothing against.
 */
void rxe_resp_middles(struct rxe_resp_run *run);

#endif /* RXE_RESP_RUN_H */
