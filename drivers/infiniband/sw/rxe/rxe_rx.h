/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * From the socket up to a QP.
 *
 * rxe_rx_sock.c: one drainer per socket at a time takes skbs off the socket,
 * looks at the first BTH and puts each whole skb (a burst) in the queue of a
 * QP's executor; executors are kicked after the drainer's flag is dropped.
 * rxe_rx_burst.c: the executor then takes packets out of the burst with
 * rxe_rx_next().
 */
#ifndef RXE_RX_H
#define RXE_RX_H

#include <linux/if_ether.h>
#include <linux/skbuff.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include "rxe_icrc.h"
#include "rxe_packet.h"

struct net;
struct rxe_dev;
struct rxe_ns;
struct rxe_qp;
struct sock;
struct socket;

/* Bits of struct rxe_rx_sock.state. */
enum {
	RXE_RX_DRAINING,	/* somebody takes skbs off the socket */
	RXE_RX_AGAIN,		/* there may be more: look again */
	RXE_RX_CLOSING,		/* wake whoever waits for RXE_RX_DRAINING */
};

/**
 * struct rxe_rx_sock - one UDP socket of a handle
 * @sock:	plain kernel socket, ACCEPT_L4 set, no encap_rcv: bursts arrive whole
 * @sk:		its sock; freed after a grace period, so senders use it under RCU
 * @ns:		the handle; outlives the socket
 * @state:	RXE_RX_* bits
 * @ipv6:	family
 * @data_ready:	what the socket had before
 * @work:	continues a drain that has used up its budget, or that a socket with
 *		too much in it does not begin
 * @rest:	sorts what was left to a later burst that did not come
 * @rcu:	data_ready and senders run under RCU
 */
struct rxe_rx_sock {
	struct socket		*sock;
	struct sock		*sk;
	struct rxe_ns		*ns;
	unsigned long		state;
	bool			ipv6;
	void			(*data_ready)(struct sock *sk);
	struct work_struct	work;
	struct work_struct	rest;
	struct rcu_head		rcu;
};

/**
 * rxe_rx_sock_open - bind UDP 4791 in a namespace
 * @net:	the namespace, alive
 * @ns:		handle that the packets belong to; it names the L3 master
 * @ipv6:	family
 * @reuse:	share the port with other sockets that allow it just now
 *		(rxe_rx_sock_reuse()), and only while binding
 *
 * Context: process, may sleep.
 * Return: socket or ERR_PTR(); -EAFNOSUPPORT where the family is disabled.
 */
struct rxe_rx_sock *rxe_rx_sock_open(struct net *net, struct rxe_ns *ns, bool ipv6, bool reuse);

/**
 * rxe_rx_sock_reuse - let our next socket bind beside this one, or no longer
 *
 * Sockets of different L3 domains do not compete for packets, but the port
 * check refuses one that is bound to a device beside one that is not.
 */
void rxe_rx_sock_reuse(struct rxe_rx_sock *rs, bool reuse);

/**
 * rxe_rx_sock_close - close it
 *
 * When this returns the port is free and no drainer runs, or ever will.
 * Costs no grace period.
 *
 * Context: process, may sleep; RTNL may be held, but is never taken.
 */
void rxe_rx_sock_close(struct rxe_rx_sock *rs);

/**
 * struct rxe_skb_cb - what is remembered in skb->cb of a queued burst
 * @ns:		the handle it came through, with a reference on its memory
 * @ifindex:	where it came in
 * @seg_size:	bytes of each packet, BTH to ICRC
 * @summed:	it has a UDP checksum, which is right
 * @off:	of the next packet, from skb->data
 * @seg:	number of the next packet, added to the IPv4 ID
 * @mcast:	for a multicast group that the QP is in
 * @piece:	bytes of the burst up to @piece_end lie in one piece: at @piece plus
 *		their offset
 * @piece_end:	see @piece
 */
struct rxe_skb_cb {
	struct rxe_ns	*ns;
	int		ifindex;
	u16		seg_size;
	u16		seg;
	bool		summed;
	u32		off;
	bool		mcast;
	u32		piece_end;
	const u8	*piece;
};

static inline struct rxe_skb_cb *rxe_skb_cb(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct rxe_skb_cb) > sizeof(skb->cb));
	return (struct rxe_skb_cb *)skb->cb;
}

/* Has each packet of a queued burst been taken? */
static inline bool rxe_rx_is_over(struct sk_buff *skb)
{
	return rxe_skb_cb(skb)->off >= skb->len;
}

static inline bool rxe_skb_is_ipv4(const struct sk_buff *skb)
{
	return skb->protocol == htons(ETH_P_IP);
}

/* The BTH of an accepted burst's first packet; NULL if it cannot be reached. */
const u8 *rxe_rx_bth(struct sk_buff *skb);

/* Source and destination address of a queued burst as GIDs. */
void rxe_skb_saddr(const struct sk_buff *skb, union ib_gid *gid);
void rxe_skb_daddr(const struct sk_buff *skb, union ib_gid *gid);

/**
 * rxe_skb_grh - the 40 bytes that a datagram's receiver gets first
 * @grh:	IPv6 header; for IPv4 the header stands in the last 20 bytes
 *		and the first 20 are zero (IBTA A17.4.5.2)
 */
void rxe_skb_grh(const struct sk_buff *skb, u8 grh[ROCE_GRH_SIZE]);

/**
 * rxe_rx_turns - does a burst end with a packet for the other executor?
 * @skb:	burst
 * @response:	it has been given out as responses, else as requests
 *
 * Context: as rxe_rx_next().
 */
bool rxe_rx_turns(struct sk_buff *skb, bool response);

/* What became of a packet of a burst. */
enum rxe_rx_result {
	RXE_RX_END,	/* the burst is used up */
	RXE_RX_BAD,	/* a bad packet was counted, traced and skipped */
	RXE_RX_GOOD,
};

/**
 * rxe_rx_next - take the next packet out of a burst
 * @qp:		QP it must be for
 * @skb:	burst
 * @pkt:	result; its payload points into the skb or into a per-CPU buffer
 *		that holds until the next call on this CPU
 *
 * Parses and verifies the ICRC, or the token that a proven peer has put there.  One packet for each call, good or bad: the
 * caller's budget bounds what a stranger can make it do.
 *
 * Context: BH disabled, inside an executor.
 * Return: what became of it; @pkt is valid after RXE_RX_GOOD.
 */
enum rxe_rx_result rxe_rx_next(struct rxe_qp *qp, struct sk_buff *skb, struct rxe_pkt *pkt);

/**
 * struct rxe_rx_middles - packets in the middle of a message, for rxe_rx_middles()
 * @opcode:	that all must have, without extension headers
 * @psn:	of the first
 * @mtu:	bytes of payload that each must have
 * @max:	how many are wanted, at least one
 * @payload:	result: payload of the first
 * @stride:	result: bytes from one payload to the next
 * @ackreq:	result: one of them asks for an acknowledgment
 */
struct rxe_rx_middles {
	u8		opcode;
	struct roce_psn	psn;
	unsigned int	mtu;
	unsigned int	max;
	const u8	*payload;
	unsigned int	stride;
	bool		ackreq;
};

/**
 * rxe_rx_middles - take the next packets out of a burst if they just continue a message
 * @qp:		QP they must be for
 * @skb:	burst
 * @m:		what they must be, and where they are
 *
 * The short way for most packets of a long message: no parsed headers, and
 * nothing about them can be wrong.  As many as lie in one piece.
 *
 * Context: as rxe_rx_next().
 * Return: the number of packets; 0: the next one is something else, for rxe_rx_next().
 */
unsigned int rxe_rx_middles(struct rxe_qp *qp, struct sk_buff *skb, struct rxe_rx_middles *m);

/**
 * rxe_rx_again - the next packets shall be the same again
 * @rxe:	device, for counters
 * @skb:	burst, after rxe_rx_next() said RXE_RX_GOOD, or rxe_rx_middles() found some
 * @num:	how many, of those that came last; more than one only of rxe_rx_middles()
 */
void rxe_rx_again(struct rxe_dev *rxe, struct sk_buff *skb, unsigned int num);

/* Free a burst, used up or not, and its handle reference. */
void rxe_rx_free(struct sk_buff *skb);

/**
 * rxe_rx_drop - count and trace a dropped packet
 * @rxe:	device, NULL when none is known
 * @qpn:	destination
 * @why:	reason
 */
void rxe_rx_drop(struct rxe_dev *rxe, u32 qpn, enum rxe_drop why);

/* Per-CPU buffers; called by rxe_ns_init() and rxe_ns_exit(). */
int __init rxe_rx_module_init(void);
void rxe_rx_module_exit(void);

#endif /* RXE_RX_H */
