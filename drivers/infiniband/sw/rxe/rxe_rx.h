/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * From the socket up to a QP.
 *
 * One drainer per socket at a time takes skbs off the socket, looks at the
 * first BTH and puts each whole skb (a burst) in the queue of a QP's
 * executor; executors are kicked after the drainer's flag is dropped.  The
 * executor then takes packets out of the burst with rxe_rx_next().
 */
#ifndef RXE_RX_H
#define RXE_RX_H

#include <linux/skbuff.h>
#include <rdma/ib_verbs.h>
#include "rxe_icrc.h"
#include "rxe_packet.h"

struct net;
struct rxe_dev;
struct rxe_ns;
struct socket;

/**
 * struct rxe_rx_sock - one UDP socket of a handle
 * @sock:	plain kernel socket, ACCEPT_L4 set, no encap_rcv: bursts arrive whole
 * @ns:		the handle; outlives the socket
 * @state:	bit 0 draining, bit 1 look again
 * @ipv6:	family
 * @rcu:	data_ready runs under RCU
 */
struct rxe_rx_sock {
	struct socket		*sock;
	struct rxe_ns		*ns;
	unsigned long		state;
	bool			ipv6;
	struct rcu_head		rcu;
};

/**
 * rxe_rx_sock_open - bind UDP 4791 in a namespace
 *
 * Context: process, may sleep.
 * Return: socket or ERR_PTR(); -EAFNOSUPPORT where the family is disabled.
 */
struct rxe_rx_sock *rxe_rx_sock_open(struct net *net, struct rxe_ns *ns, bool ipv6, int l3mdev);

/**
 * rxe_rx_sock_close - close it; no data_ready runs when this returns
 *
 * Context: process, may sleep.
 */
void rxe_rx_sock_close(struct rxe_rx_sock *rs);

/**
 * struct rxe_skb_cb - what rxe_rx.c remembers in skb->cb of a queued burst
 * @ns:		the handle it came through, with a reference on its memory
 * @ifindex:	where it came in
 * @seg_size:	bytes of each packet, BTH to ICRC
 * @off:	of the next packet, from skb->data
 * @seg:	number of the next packet, added to the IPv4 ID
 */
struct rxe_skb_cb {
	struct rxe_ns	*ns;
	int		ifindex;
	u16		seg_size;
	u16		seg;
	u32		off;
};

static inline struct rxe_skb_cb *rxe_skb_cb(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct rxe_skb_cb) > sizeof(skb->cb));
	return (struct rxe_skb_cb *)skb->cb;
}

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
 * rxe_rx_next - take the next good packet out of a burst
 * @rxe:	device, for counters
 * @skb:	burst
 * @qpn:	QPN it must be for
 * @pkt:	result; its payload points into the skb or into a per-CPU buffer
 *		that holds until the next call on this CPU
 *
 * Parses and verifies the ICRC; bad packets are counted, traced and skipped.
 *
 * Context: BH disabled, inside an executor.
 * Return: false when the burst is used up.
 */
bool rxe_rx_next(struct rxe_dev *rxe, struct sk_buff *skb, u32 qpn, struct rxe_pkt *pkt);

/* Free a burst, used up or not, and its handle reference. */
void rxe_rx_free(struct sk_buff *skb);

/**
 * rxe_rx_drop - count and trace a dropped packet
 * @rxe:	device, NULL when none is known
 * @qpn:	destination
 * @why:	reason
 */
void rxe_rx_drop(struct rxe_dev *rxe, u32 qpn, enum rxe_drop why);

#endif /* RXE_RX_H */
