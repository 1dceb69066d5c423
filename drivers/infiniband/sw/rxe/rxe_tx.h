/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Bursts down to IP.
 *
 * An executor adds packets; consecutive packets of equal length share one skb
 * (UDP_L4 segmentation, the last may be shorter).  Each segment has its own
 * BTH, payload and ICRC.  Nothing outlives the run: what is added is sent or
 * dropped by rxe_tx_end().
 */
#ifndef RXE_TX_H
#define RXE_TX_H

#include <linux/skbuff.h>
#include "rxe_icrc.h"
#include "rxe_packet.h"

struct rxe_dev;
struct rxe_path;
struct rxe_route;

/**
 * struct rxe_tx - a run of packets along one path; lives on an executor's stack
 * @rxe:	device, for its counters
 * @qpn:	whose packets, for the event of those that cannot be sent
 * @path:	where to; constant during the run
 * @route:	cache or NULL
 * @skb:	the burst under construction, NULL when none
 * @dst:	its route, with a reference
 * @token:	RXE_TOKEN_VALID and what stands for the ICRCs, or 0; the caller
 *		may set it after rxe_tx_begin()
 * @confirm:	the peer has answered earlier packets: the neighbour that they went
 *		to is reachable (RFC 4861, 7.3.1); the caller may set it
 * @flow:	for the ICRC, once there was one to be computed: @has_flow
 * @has_flow:	see @flow
 * @last:	BTH of the last packet; NULL when all are closed
 * @last_len:	its bytes, without ICRC
 * @open:	packets up to @last, of equal length, whose ICRC is not yet written
 * @seg_size:	bytes of each packet of the burst with ICRC
 * @segs:	packets in the burst
 * @max_segs:	what fits in this burst
 * @closed:	the burst's last packet is shorter: nothing can follow
 * @err:	first error of the run; later packets go out all the same while
 *		there is a route: the peer's NAK is faster than a timeout
 *
 * Owned by rxe_tx.c; others read @err and write @token and @confirm alone.
 */
struct rxe_tx {
	struct rxe_dev		*rxe;
	u32			qpn;
	const struct rxe_path	*path;
	struct rxe_route	*route;
	struct sk_buff		*skb;
	struct dst_entry	*dst;
	u64			token;
	bool			confirm;
	struct rxe_icrc_flow	flow;
	bool			has_flow;
	u8			*last;
	unsigned int		last_len;
	unsigned int		open;
	unsigned int		seg_size;
	unsigned int		segs;
	unsigned int		max_segs;
	bool			closed;
	int			err;
};

/**
 * rxe_tx_begin - start a run
 *
 * Context: BH disabled, inside an executor, until rxe_tx_end().
 */
void rxe_tx_begin(struct rxe_tx *tx, struct rxe_dev *rxe, u32 qpn, const struct rxe_path *path,
		  struct rxe_route *route);

/**
 * rxe_tx_add - room for one more packet
 * @tx:		run
 * @len:	BTH to pad, bytes; a multiple of four, at most ROCE_MAX_HDR + 4096
 *
 * The caller writes all of it before the next call on @tx.  The ICRC is
 * computed when the packet is closed, by the next rxe_tx_add() or the end.
 *
 * Return: where to write, 4-byte aligned and contiguous; NULL when there is no
 * memory or no route (see @err): the packet counts as lost.
 */
u8 *rxe_tx_add(struct rxe_tx *tx, unsigned int len);

/**
 * rxe_tx_add_many - room for packets of equal length
 * @tx:		run
 * @len:	of each, as for rxe_tx_add()
 * @num:	how many are wanted, and on return how many there is room for; at least one
 *
 * Return: where to write the first one; each begins @len + ROCE_ICRC_SIZE behind
 * the one before.  NULL as for rxe_tx_add(): one packet counts as lost.
 */
u8 *rxe_tx_add_many(struct rxe_tx *tx, unsigned int len, unsigned int *num);

/**
 * rxe_tx_add_pkt - add a packet with its headers
 * @tx:		run
 * @pkt:	what to build; its pad is set here
 * @len:	bytes of payload
 *
 * Return: where the payload goes, NULL as from rxe_tx_add().
 */
static inline u8 *rxe_tx_add_pkt(struct rxe_tx *tx, struct rxe_pkt *pkt, unsigned int len)
{
	unsigned int hdr_len = rxe_opcodes[pkt->opcode].hdr_len;
	u8 *buf;

	pkt->pad = roce_pad(len);
	buf = rxe_tx_add(tx, hdr_len + len + pkt->pad);
	if (!buf)
		return NULL;
	rxe_pkt_build(pkt, buf);
	memset(buf + hdr_len + len, 0, pkt->pad);
	return buf + hdr_len;
}

/* What a packet in the middle of a message has besides its payload. */
#define RXE_MIDDLE_EXTRA	(sizeof(struct roce_bth) + ROCE_ICRC_SIZE)

/**
 * rxe_tx_add_middles - add packets with headers that differ in the PSN alone
 * @tx:		run
 * @pkt:	what the first one shall be; an opcode without extension headers
 * @len:	bytes of payload of each; a multiple of four
 * @num:	as for rxe_tx_add_many()
 *
 * Return: where the payload of the first one goes, each @len + RXE_MIDDLE_EXTRA
 * behind the one before; NULL as from rxe_tx_add_many().
 */
u8 *rxe_tx_add_middles(struct rxe_tx *tx, const struct rxe_pkt *pkt, unsigned int len,
		       unsigned int *num);

/**
 * rxe_tx_cancel - take the last packets back (their payload could not be read)
 * @tx:		run
 * @num:	how many, of those of the last rxe_tx_add() or rxe_tx_add_many()
 */
void rxe_tx_cancel(struct rxe_tx *tx, unsigned int num);

/**
 * rxe_tx_last - the BTH of the last packet while it can still be changed
 *
 * Return: its BTH, NULL when it has been sent or cancelled.
 */
static inline u8 *rxe_tx_last(struct rxe_tx *tx)
{
	return tx->last;
}

/**
 * rxe_tx_end - send what is left and end the run
 *
 * Return: 0 or the first error of the run: -ENOMEM, -ENETUNREACH, -ENOBUFS
 * (a queue dropped a packet) ...  Packets that did not go are lost like any
 * other and counted in send_err and, for its reason, in one of send_err_*.
 */
int rxe_tx_end(struct rxe_tx *tx);

/* Give the recycled pages back; called by rxe_ns_exit(). */
void rxe_tx_module_exit(void);

#endif /* RXE_TX_H */
