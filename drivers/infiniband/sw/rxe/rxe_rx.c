// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * From the UDP socket up to a QP: drain, sort, kick; then packet by packet.
 */
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/percpu.h>
#include <linux/udp.h>
#include <linux/unaligned.h>
#include <linux/wait_bit.h>
#include <net/dst.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/udp.h>
#include "rxe_gid.h"
#include "rxe_mcast.h"
#include "rxe_ns.h"
#include "rxe_opcode.h"
#include "rxe_qp.h"
#include "rxe_rx.h"
#include "rxe_stats.h"
#include "rxe_trace.h"

/* Bursts taken by one call before the rest is left to the work item. */
#define RXE_RX_BUDGET	64

/* Executors that one round of the drainer can wake. */
#define RXE_RX_KICKS	16

/* Packets that no pointer can reach in one piece are copied here. */
#define RXE_RX_BOUNCE	(ROCE_MAX_HDR + ROCE_MAX_MTU + 64)

/* The smallest packet that can be one. */
#define RXE_RX_MIN	(sizeof(struct roce_bth) + ROCE_ICRC_SIZE)

static u8 __percpu *rxe_rx_bounce;

/**
 * struct rxe_rx_kicks - executors that got a burst in this round
 * @num:	entries in use
 * @e:		each with a reference on its QP
 */
struct rxe_rx_kicks {
	unsigned int num;
	struct {
		struct rxe_qp	*qp;
		u32		qpn;
		bool		response;
	} e[RXE_RX_KICKS];
};

void rxe_rx_drop(struct rxe_dev *rxe, u32 qpn, enum rxe_drop why)
{
	if (rxe)
		rxe_count(rxe, RXE_CNT_DROP_FIRST + why - 1);
	trace_rxe_drop(rxe ? dev_name(&rxe->ibdev.dev) : "-", qpn, why);
}

static bool rxe_skb_is_ipv4(const struct sk_buff *skb)
{
	return skb->protocol == htons(ETH_P_IP);
}

void rxe_skb_saddr(const struct sk_buff *skb, union ib_gid *gid)
{
	if (rxe_skb_is_ipv4(skb))
		ipv6_addr_set_v4mapped(ip_hdr(skb)->saddr, (struct in6_addr *)gid);
	else
		memcpy(gid, &ipv6_hdr(skb)->saddr, sizeof(*gid));
}

void rxe_skb_daddr(const struct sk_buff *skb, union ib_gid *gid)
{
	if (rxe_skb_is_ipv4(skb))
		ipv6_addr_set_v4mapped(ip_hdr(skb)->daddr, (struct in6_addr *)gid);
	else
		memcpy(gid, &ipv6_hdr(skb)->daddr, sizeof(*gid));
}

void rxe_skb_grh(const struct sk_buff *skb, u8 grh[ROCE_GRH_SIZE])
{
	const struct rxe_skb_cb *cb = rxe_skb_cb((struct sk_buff *)skb);
	u16 len = sizeof(struct udphdr) + cb->off - (cb->seg - 1) * cb->seg_size;

	/* As it would have come, had it come alone. */
	if (rxe_skb_is_ipv4(skb)) {
		struct iphdr *iph = (struct iphdr *)(grh + ROCE_GRH_SIZE - sizeof(*iph));

		memset(grh, 0, ROCE_GRH_SIZE - sizeof(*iph));
		memcpy(iph, ip_hdr(skb), sizeof(*iph));
		iph->tot_len = htons(sizeof(*iph) + len);
		if (skb_is_gso(skb))
			iph->id = htons(ntohs(iph->id) + cb->seg - 1);
		ip_send_check(iph);
	} else {
		struct ipv6hdr *ip6h = (struct ipv6hdr *)grh;

		memcpy(ip6h, ipv6_hdr(skb), sizeof(*ip6h));
		ip6h->payload_len = htons(len);
	}
}

/* Is the header in front of the data a plain IP header with UDP behind it? */
static bool rxe_rx_ip_ok(const struct sk_buff *skb, bool ipv6)
{
	if (rxe_skb_is_ipv4(skb) == ipv6)
		return false;
	if (ipv6)
		return skb_network_header_len(skb) == sizeof(struct ipv6hdr) &&
		       ipv6_hdr(skb)->nexthdr == IPPROTO_UDP &&
		       !(IP6CB(skb)->flags & IP6SKB_FRAGMENTED);
	return skb_network_header_len(skb) == sizeof(struct iphdr) &&
	       ip_hdr(skb)->ihl == 5 && !ip_is_fragment(ip_hdr(skb)) &&
	       !(IPCB(skb)->flags & IPSKB_FRAG_COMPLETE);
}

/*
 * Check what the stack has not, and exchange its control block for ours.  UDP
 * has pulled its header: the data begins with the BTH.
 */
static enum rxe_drop rxe_rx_accept(struct rxe_rx_sock *rs, struct sk_buff *skb, int ifindex)
{
	struct rxe_skb_cb *cb = rxe_skb_cb(skb);
	unsigned int seg_size = skb->len;

	if (!skb_frags_readable(skb))
		return RXE_DROP_UNREADABLE;
	if (udp_lib_checksum_complete(skb))
		return RXE_DROP_CSUM;
	if (!rxe_rx_ip_ok(skb, rs->ipv6))
		return RXE_DROP_IP;
	if (skb_is_gso(skb) &&
	    skb_shinfo(skb)->gso_type & (SKB_GSO_UDP_L4 | SKB_GSO_FRAGLIST))
		seg_size = min_t(unsigned int, seg_size, skb_shinfo(skb)->gso_size);
	if (seg_size < RXE_RX_MIN)
		return RXE_DROP_SHORT;
	if (seg_size > U16_MAX)
		return RXE_DROP_LENGTH;

	rxe_ns_get(rs->ns);
	*cb = (struct rxe_skb_cb) {
		.ns		= rs->ns,
		.ifindex	= ifindex,
		.seg_size	= seg_size,
		.summed		= skb->ip_summed == CHECKSUM_PARTIAL || udp_hdr(skb)->check,
	};
	return RXE_DROP_NONE;
}

static struct rxe_qp *rxe_rx_find_qp(struct sk_buff *skb, u32 qpn)
{
	struct rxe_qp *qp = NULL;
	union ib_gid daddr;
	struct rxe_dev *rxe;

	if (qpn != ROCE_GSI_QPN)
		return rxe_qp_lookup(qpn);

	rxe_skb_daddr(skb, &daddr);
	rcu_read_lock();
	rxe = rxe_gid_find_dev(rxe_skb_cb(skb)->ns, &daddr, rxe_skb_cb(skb)->ifindex);
	if (rxe)
		qp = rxe_qp_lookup_gsi(rxe);
	rcu_read_unlock();
	return qp;
}

/* For a member of a multicast group; the QP is held by the caller. */
static void rxe_rx_give(struct rxe_qp *qp, struct sk_buff *skb, void *arg)
{
	struct rxe_rx_kicks *kicks = arg;
	unsigned int i;

	rxe_count(qp->rxe, RXE_CNT_RX_BURSTS);
	rxe_qp_queue(qp, skb, false);
	for (i = 0; i < kicks->num; i++)
		if (kicks->e[i].qp == qp && !kicks->e[i].response)
			return;
	if (kicks->num == RXE_RX_KICKS) {
		rxe_exec_kick_deferred(&qp->resp.exec);
		return;
	}
	rxe_qp_get(qp);
	kicks->e[kicks->num].qp = qp;
	kicks->e[kicks->num].qpn = qp->qpn;
	kicks->e[kicks->num++].response = false;
}

/* Give an accepted burst to its QP; consumed unless a reason to drop is returned. */
static enum rxe_drop rxe_rx_deliver(struct sk_buff *skb, struct rxe_rx_kicks *kicks, u32 *qpn)
{
	const struct rxe_opcode_info *info;
	const struct rxe_ns *ns;
	struct rxe_qp *qp;
	unsigned int i;
	bool response;
	u8 buf[8];
	const u8 *bth;

	bth = skb_header_pointer(skb, 0, sizeof(buf), buf);
	if (!bth)
		return RXE_DROP_SHORT;
	*qpn = rxe_pkt_qpn(bth);
	info = rxe_opcode_info(bth[0]);
	if (!info)
		return RXE_DROP_OPCODE;
	response = info->flags & RXE_OP_RESPONSE;
	if (*qpn == ROCE_MULTICAST_QPN)
		return rxe_mcast_deliver(skb, rxe_rx_give, kicks) ? RXE_DROP_NONE :
								    RXE_DROP_NO_GROUP;

	/* A number stands for one QP as long as it is held; but for QP 1. */
	for (i = kicks->num; i-- > 0 && *qpn != ROCE_GSI_QPN; ) {
		if (kicks->e[i].qpn == *qpn && kicks->e[i].response == response) {
			qp = kicks->e[i].qp;
			goto queue;
		}
	}

	qp = rxe_rx_find_qp(skb, *qpn);
	if (!qp)
		return RXE_DROP_NO_QP;
	/* Another namespace must not fill its queue; the rest is up to the QP. */
	ns = READ_ONCE(qp->rx_ns);
	if (ns && ns != rxe_skb_cb(skb)->ns) {
		rxe_qp_put(qp);
		return RXE_DROP_ADDRESS;
	}
	i = kicks->num++;
	kicks->e[i].qp = qp;
	kicks->e[i].qpn = *qpn;
	kicks->e[i].response = response;
queue:
	rxe_count(qp->rxe, RXE_CNT_RX_BURSTS);
	rxe_qp_queue(qp, skb, response);
	return RXE_DROP_NONE;
}

/* Count a drop at the device that has the address, if any. */
static void rxe_rx_drop_unclaimed(struct rxe_rx_sock *rs, const struct sk_buff *skb, int ifindex,
				  u32 qpn, enum rxe_drop why)
{
	union ib_gid daddr;

	rxe_skb_daddr(skb, &daddr);
	rcu_read_lock();
	rxe_rx_drop(rxe_gid_find_dev(rs->ns, &daddr, ifindex), qpn, why);
	rcu_read_unlock();
}

/*
 * Where it came in.  skb_iif is the L3 master's for a port of a VRF: its IPv4
 * socket asks for packet information, in which the port is found.
 */
static int rxe_rx_ifindex(const struct rxe_rx_sock *rs, const struct sk_buff *skb)
{
	if (rs->ipv6)
		return IP6CB(skb)->iif;
	return rs->ns->l3mdev ? PKTINFO_SKB_CB(skb)->ipi_ifindex : skb->skb_iif;
}

static void rxe_rx_one(struct rxe_rx_sock *rs, struct sk_buff *skb, struct rxe_rx_kicks *kicks)
{
	int ifindex = rxe_rx_ifindex(rs, skb);
	enum rxe_drop why;
	u32 qpn = 0;

	/* UDP keeps a scratch area there. */
	skb->dev = NULL;
	/* The burst may wait: it must not pin a route or an IPsec state. */
	skb_dst_drop(skb);
	skb_ext_reset(skb);

	why = rxe_rx_accept(rs, skb, ifindex);
	if (why) {
		rxe_rx_drop_unclaimed(rs, skb, ifindex, qpn, why);
		kfree_skb(skb);
		return;
	}
	why = rxe_rx_deliver(skb, kicks, &qpn);
	if (why) {
		rxe_rx_drop_unclaimed(rs, skb, ifindex, qpn, why);
		rxe_rx_free(skb);
	}
}

/* Sort until the socket is empty, the budget is used up or @kicks is full. */
static void rxe_rx_drain(struct rxe_rx_sock *rs, struct rxe_rx_kicks *kicks,
			 unsigned int *budget)
{
	struct sk_buff *skb;
	int off, err;

	while (*budget) {
		if (kicks->num == RXE_RX_KICKS) {
			set_bit(RXE_RX_AGAIN, &rs->state);
			return;
		}
		off = 0;
		skb = __skb_recv_udp(rs->sk, MSG_DONTWAIT, &off, &err);
		if (!skb && err == -EAGAIN)
			return;
		/* Any other error was the socket's, and is cleared by now. */
		--*budget;
		if (skb)
			rxe_rx_one(rs, skb, kicks);
	}
}

static void rxe_rx_kick(struct rxe_rx_kicks *kicks)
{
	unsigned int i;

	for (i = 0; i < kicks->num; i++) {
		rxe_qp_kick(kicks->e[i].qp, kicks->e[i].response);
		rxe_qp_put(kicks->e[i].qp);
	}
	kicks->num = 0;
}

static void rxe_rx_release(struct rxe_rx_sock *rs)
{
	/* What was sorted, before the flag. */
	smp_mb__before_atomic();
	clear_bit(RXE_RX_DRAINING, &rs->state);
	/* The flag, before the tests of AGAIN and CLOSING. */
	smp_mb__after_atomic();
	if (unlikely(test_bit(RXE_RX_CLOSING, &rs->state)))
		wake_up_bit(&rs->state, RXE_RX_DRAINING);
}

/*
 * Be the drainer, unless there is one: then that one goes round once more.
 *
 * Who brings a packet sets AGAIN and then tries for DRAINING; the holder
 * clears AGAIN before it looks, and tests it after it has dropped DRAINING.
 * One drainer, because bursts of a QP that two CPUs take off the socket get
 * out of order.  Nested calls (a kicked executor sends, and the packet comes
 * straight back) find the flag free, since it is dropped before the kicks.
 *
 * Context: BH disabled; @rs stays (RCU read side, or its own work item).
 */
static void rxe_rx_run(struct rxe_rx_sock *rs, unsigned int budget)
{
	struct rxe_rx_kicks kicks;

	kicks.num = 0;
	set_bit(RXE_RX_AGAIN, &rs->state);
	do {
		if (test_and_set_bit(RXE_RX_DRAINING, &rs->state))
			return;
		clear_bit(RXE_RX_AGAIN, &rs->state);
		/* Cleared, before the look at the socket. */
		smp_mb__after_atomic();

		rxe_rx_drain(rs, &kicks, &budget);

		/* With the flag held, so that a close can cancel it. */
		if (!budget)
			queue_work(system_percpu_wq, &rs->work);
		rxe_rx_release(rs);
		rxe_rx_kick(&kicks);
	} while (budget && test_bit(RXE_RX_AGAIN, &rs->state));
}

static void rxe_rx_work(struct work_struct *work)
{
	struct rxe_rx_sock *rs = container_of(work, struct rxe_rx_sock, work);

	local_bh_disable();
	rxe_rx_run(rs, RXE_RX_BUDGET);
	local_bh_enable();
}

/*
 * Softirq, or process context with BH disabled.
 *
 * When a socket is half full, UDP holds a lock that other sockets share, this
 * call included: long before that, all is left to the work item.
 */
static void rxe_rx_data_ready(struct sock *sk)
{
	bool filling = atomic_read(&sk->sk_rmem_alloc) > READ_ONCE(sk->sk_rcvbuf) / 4;
	struct rxe_rx_sock *rs;

	rcu_read_lock();
	rs = rcu_dereference_sk_user_data(sk);
	if (rs)
		rxe_rx_run(rs, filling ? 0 : RXE_RX_BUDGET);
	rcu_read_unlock();
}

static void rxe_rx_sock_setup(struct rxe_rx_sock *rs)
{
	struct sock *sk = rs->sk;

	/* Room for several windows: what waits here is sorted soon. */
	sock_set_rcvbuf(sk, SZ_4M);		/* the stack doubles it */

	lock_sock(sk);
	sk->sk_allocation = GFP_ATOMIC;
#ifdef CONFIG_NET_RX_BUSY_POLL
	WRITE_ONCE(sk->sk_ll_usec, 0);		/* never poll in __skb_recv_udp() */
#endif
	udp_set_bit(ACCEPT_L4, sk);
	if (rs->ipv6) {
		sk->sk_ipv6only = true;
		udp_set_no_check6_rx(sk, true);	/* NICs send zero checksums */
	}
	release_sock(sk);

	write_lock_bh(&sk->sk_callback_lock);
	rcu_assign_sk_user_data(sk, rs);
	rs->data_ready = sk->sk_data_ready;
	WRITE_ONCE(sk->sk_data_ready, rxe_rx_data_ready);
	write_unlock_bh(&sk->sk_callback_lock);
}

static int rxe_rx_sock_bind(struct rxe_rx_sock *rs)
{
	struct sockaddr_in6 sin6 = {
		.sin6_family	= AF_INET6,
		.sin6_port	= htons(ROCE_UDP_PORT),
	};
	struct sockaddr_in sin = {
		.sin_family	= AF_INET,
		.sin_port	= htons(ROCE_UDP_PORT),
	};
	int err;

	if (rs->ns->l3mdev) {
		err = sock_bindtoindex(rs->sk, rs->ns->l3mdev, true);
		if (err)
			return err;
		if (!rs->ipv6)
			ip_sock_set_pktinfo(rs->sk);	/* see rxe_rx_ifindex() */
	}
	if (rs->ipv6)
		return kernel_bind(rs->sock, (struct sockaddr_unsized *)&sin6, sizeof(sin6));
	return kernel_bind(rs->sock, (struct sockaddr_unsized *)&sin, sizeof(sin));
}

void rxe_rx_sock_reuse(struct rxe_rx_sock *rs, bool reuse)
{
	lock_sock(rs->sk);
	rs->sk->sk_reuse = reuse ? SK_CAN_REUSE : SK_NO_REUSE;
	release_sock(rs->sk);
}

struct rxe_rx_sock *rxe_rx_sock_open(struct net *net, struct rxe_ns *ns, bool ipv6, bool reuse)
{
	struct rxe_rx_sock *rs;
	int err;

	rs = kzalloc_obj(*rs);
	if (!rs)
		return ERR_PTR(-ENOMEM);
	rs->ns = ns;
	rs->ipv6 = ipv6;
	INIT_WORK(&rs->work, rxe_rx_work);

	err = sock_create_kern(net, ipv6 ? PF_INET6 : PF_INET, SOCK_DGRAM, IPPROTO_UDP, &rs->sock);
	if (err)
		goto err_free;
	rs->sk = rs->sock->sk;
	rxe_rx_sock_setup(rs);

	rxe_rx_sock_reuse(rs, reuse);
	err = rxe_rx_sock_bind(rs);
	rxe_rx_sock_reuse(rs, false);
	if (err)
		goto err_close;
	return rs;

err_close:
	rxe_rx_sock_close(rs);
	return ERR_PTR(err);
err_free:
	kfree(rs);
	return ERR_PTR(err);
}

void rxe_rx_sock_close(struct rxe_rx_sock *rs)
{
	struct sock *sk = rs->sk;

	write_lock_bh(&sk->sk_callback_lock);
	WRITE_ONCE(sk->sk_data_ready, rs->data_ready);
	rcu_assign_sk_user_data(sk, NULL);
	write_unlock_bh(&sk->sk_callback_lock);

	/*
	 * Take the flag and keep it: who comes late with a pointer to @rs finds
	 * a drainer at work, and goes away.
	 */
	set_bit(RXE_RX_CLOSING, &rs->state);
	/* Pairs with rxe_rx_release(). */
	smp_mb__after_atomic();
	wait_on_bit_lock(&rs->state, RXE_RX_DRAINING, TASK_UNINTERRUPTIBLE);
	cancel_work_sync(&rs->work);

	/* Frees what is still queued.  No groups were joined: takes no RTNL. */
	sock_release(rs->sock);
	kfree_rcu(rs, rcu);
}

/* Find the piece of the skb that @off is in.  False: there is none that the CPU can reach. */
static bool rxe_rx_find_piece(const struct sk_buff *skb, struct rxe_skb_cb *cb, unsigned int off)
{
	unsigned int pos = skb_headlen(skb);
	const skb_frag_t *frag;
	int i;

	if (off < pos) {
		cb->piece = skb->data;
		cb->piece_end = pos;
		return true;
	}
	for (i = 0; i < skb_shinfo(skb)->nr_frags; i++) {
		frag = &skb_shinfo(skb)->frags[i];
		if (off < pos + skb_frag_size(frag)) {
			if (PageHighMem(skb_frag_page(frag)))
				return false;
			cb->piece = (u8 *)skb_frag_address(frag) - pos;
			cb->piece_end = pos + skb_frag_size(frag);
			return true;
		}
		pos += skb_frag_size(frag);
	}
	return false;
}

static const u8 *rxe_rx_next_piece(const struct sk_buff *skb, struct rxe_skb_cb *cb,
				   unsigned int off, unsigned int len)
{
	u8 *bounce;

	if (rxe_rx_find_piece(skb, cb, off) && off + len <= cb->piece_end)
		return cb->piece + off;

	cb->piece_end = 0;
	if (len > RXE_RX_BOUNCE)
		return NULL;
	bounce = this_cpu_ptr(rxe_rx_bounce);
	if (skb_copy_bits(skb, off, bounce, len))
		return NULL;
	return bounce;
}

/*
 * The bytes of a packet in one piece: in place if they are so in the skb, else
 * copied to this CPU's buffer.  Offsets only go up.
 */
static inline const u8 *rxe_rx_contiguous(const struct sk_buff *skb, struct rxe_skb_cb *cb,
					  unsigned int off, unsigned int len)
{
	if (likely(off + len <= cb->piece_end))
		return cb->piece + off;
	return rxe_rx_next_piece(skb, cb, off, len);
}

/* The flow of a burst's packets. */
static void rxe_rx_flow_init(struct rxe_icrc_flow *flow, const struct sk_buff *skb)
{
	rxe_icrc_flow_init(flow, skb_network_header(skb), udp_hdr(skb)->source);
}

/*
 * Segmentation, done or still to be done, counts the IPv4 ID up; GRO may also
 * have merged packets of one and the same ID.
 */
static bool rxe_rx_icrc_ok(const struct rxe_icrc_flow *flow, const struct sk_buff *skb, u16 seg,
			   const u8 *data, unsigned int len)
{
	__le32 icrc = get_unaligned((const __le32 *)(data + len - ROCE_ICRC_SIZE));
	bool ipv4 = rxe_skb_is_ipv4(skb);
	u16 id = 0;

	len -= ROCE_ICRC_SIZE;
	if (ipv4)
		id = ntohs(ip_hdr(skb)->id);
	if (likely(rxe_icrc(flow, id + seg, data, len) == icrc))
		return true;
	return ipv4 && seg && rxe_icrc(flow, id, data, len) == icrc;
}

/*
 * What a proven peer may put in place of the ICRC.  Only under a UDP checksum
 * (udp_lib_checksum_complete() has seen to it, or a netdev that computes none for
 * packets that do not leave the host).
 */
static u64 rxe_rx_token(const struct rxe_qp *qp, const struct sk_buff *skb)
{
	return rxe_skb_cb((struct sk_buff *)skb)->summed ? rxe_token_rx(qp) : 0;
}

/* Does the packet carry it? */
static bool rxe_rx_token_ok(u64 token, struct roce_psn psn, const u8 *data, unsigned int len)
{
	return token && get_unaligned((const __le32 *)(data + len - ROCE_ICRC_SIZE)) ==
			rxe_token_field(token, psn);
}

static enum rxe_drop rxe_rx_packet(struct rxe_qp *qp, const struct sk_buff *skb, u16 seg,
				   const u8 *data, unsigned int len, struct rxe_pkt *pkt)
{
	struct rxe_icrc_flow flow;
	enum rxe_drop why;

	if (!data)
		return RXE_DROP_LENGTH;
	why = rxe_pkt_parse(data, len, pkt);
	if (why)
		return why;
	/* GRO merges by addresses and ports, which QPs may share. */
	if (pkt->qpn != (rxe_skb_cb((struct sk_buff *)skb)->mcast ? ROCE_MULTICAST_QPN : qp->qpn))
		return RXE_DROP_NO_QP;
	if (rxe_rx_token_ok(rxe_rx_token(qp, skb), pkt->psn, data, len)) {
		rxe_count(qp->rxe, RXE_CNT_RX_TOKENS);
		return RXE_DROP_NONE;
	}
	rxe_rx_flow_init(&flow, skb);
	if (!rxe_rx_icrc_ok(&flow, skb, seg, data, len))
		return RXE_DROP_ICRC;
	/* once in a burst is enough */
	if (!seg)
		rxe_token_prove(qp);
	return RXE_DROP_NONE;
}

bool rxe_rx_turns(struct sk_buff *skb, bool response)
{
	struct rxe_skb_cb *cb = rxe_skb_cb(skb);
	const struct rxe_opcode_info *info;
	const u8 *opcode;

	/* the first one has decided, and only the last can be passed on in order */
	if (!cb->seg || cb->off >= skb->len || skb->len - cb->off > cb->seg_size)
		return false;
	opcode = rxe_rx_contiguous(skb, cb, cb->off, 1);
	info = opcode ? rxe_opcode_info(*opcode) : NULL;
	return info && response != !!(info->flags & RXE_OP_RESPONSE);
}

enum rxe_rx_result rxe_rx_next(struct rxe_qp *qp, struct sk_buff *skb, struct rxe_pkt *pkt)
{
	struct rxe_skb_cb *cb = rxe_skb_cb(skb);
	enum rxe_drop why;
	unsigned int len;
	const u8 *data;
	u16 seg;

	if (cb->off >= skb->len)
		return RXE_RX_END;

	len = min_t(unsigned int, cb->seg_size, skb->len - cb->off);
	data = rxe_rx_contiguous(skb, cb, cb->off, len);
	seg = cb->seg++;
	cb->off += len;

	why = rxe_rx_packet(qp, skb, seg, data, len, pkt);
	if (why) {
		rxe_rx_drop(qp->rxe, qp->qpn, why);
		return RXE_RX_BAD;
	}
	rxe_count(qp->rxe, RXE_CNT_RCVD_PKTS);
	rxe_count_add(qp->rxe, RXE_CNT_RCVD_BYTES, len);
	return RXE_RX_GOOD;
}

/* Where the next packets of @len bytes are, as many as are in one piece, up to *@max. */
static const u8 *rxe_rx_next_packets(const struct sk_buff *skb, struct rxe_skb_cb *cb,
				     unsigned int len, unsigned int *max)
{
	const u8 *data;

	*max = min(*max, (skb->len - cb->off) / len);
	if (cb->seg_size != len || !*max)
		return NULL;
	data = rxe_rx_contiguous(skb, cb, cb->off, len);
	/* what had to be copied into one piece is alone */
	if (cb->off + len > cb->piece_end)
		*max = 1;
	else
		*max = min(*max, (cb->piece_end - cb->off) / len);
	return data;
}

/* Nothing but the PSN and the request for an ACK differs from one to the next. */
static inline bool rxe_rx_is_middle(const struct roce_bth *bth, u8 opcode, __be32 qpn, u32 psn,
				    u32 apsn)
{
	return bth->opcode == opcode && !(bth->flags & ~ROCE_BTH_MIG) &&
	       bth->pkey == cpu_to_be16(ROCE_DEFAULT_PKEY) && bth->qpn == qpn &&
	       (apsn & ~ROCE_BTH_ACK) == psn;
}

static void rxe_rx_took(struct rxe_qp *qp, struct rxe_skb_cb *cb, unsigned int num,
			unsigned int tokens)
{
	unsigned int bytes = num * cb->seg_size;

	cb->seg += num;
	cb->off += bytes;
	rxe_count_add(qp->rxe, RXE_CNT_RCVD_PKTS, num);
	rxe_count_add(qp->rxe, RXE_CNT_RCVD_BYTES, bytes);
	rxe_count_add(qp->rxe, RXE_CNT_RX_TOKENS, tokens);
}

unsigned int rxe_rx_middles(struct rxe_qp *qp, struct sk_buff *skb, struct rxe_rx_middles *m)
{
	const unsigned int len = sizeof(struct roce_bth) + m->mtu + ROCE_ICRC_SIZE;
	const u64 token = rxe_rx_token(qp, skb);
	const __be32 qpn = cpu_to_be32(qp->qpn);
	struct rxe_skb_cb *cb = rxe_skb_cb(skb);
	unsigned int i, max = m->max, tokens = 0;
	struct rxe_icrc_flow flow;
	u32 acks = 0;
	const u8 *data;

	data = rxe_rx_next_packets(skb, cb, len, &max);
	if (!data)
		return 0;
	m->payload = data + sizeof(struct roce_bth);
	m->stride = len;
	for (i = 0; i < max; i++, data += len) {
		const struct roce_bth *bth = (const struct roce_bth *)data;
		struct roce_psn psn = roce_psn_add(m->psn, i);
		u32 apsn = be32_to_cpu(bth->apsn);

		if (!rxe_rx_is_middle(bth, m->opcode, qpn, psn.v, apsn))
			break;
		if (rxe_rx_token_ok(token, psn, data, len)) {
			tokens++;
		} else {
			/* the first of a burst may prove the peer: rxe_rx_next() sees to it */
			if (!(cb->seg + i))
				break;
			if (i == tokens)
				rxe_rx_flow_init(&flow, skb);
			if (!rxe_rx_icrc_ok(&flow, skb, cb->seg + i, data, len))
				break;
		}
		acks |= apsn;
	}
	m->ackreq = acks & ROCE_BTH_ACK;
	if (i)
		rxe_rx_took(qp, cb, i, tokens);
	return i;
}

void rxe_rx_again(struct rxe_dev *rxe, struct sk_buff *skb, unsigned int num)
{
	struct rxe_skb_cb *cb = rxe_skb_cb(skb);
	unsigned int len;

	cb->seg -= num;
	len = cb->off - cb->seg * cb->seg_size;
	cb->off -= len;
	rxe_count_add(rxe, RXE_CNT_RCVD_PKTS, -(u64)num);
	rxe_count_add(rxe, RXE_CNT_RCVD_BYTES, -(u64)len);
}

void rxe_rx_free(struct sk_buff *skb)
{
	struct rxe_ns *ns = rxe_skb_cb(skb)->ns;

	consume_skb(skb);
	rxe_ns_put(ns);
}

int __init rxe_rx_module_init(void)
{
	rxe_rx_bounce = __alloc_percpu(RXE_RX_BOUNCE, SMP_CACHE_BYTES);
	return rxe_rx_bounce ? 0 : -ENOMEM;
}

void rxe_rx_module_exit(void)
{
	free_percpu(rxe_rx_bounce);
}
