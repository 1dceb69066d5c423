// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* From the UDP socket to the queue of a QP: drain, sort, kick. */
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
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

/* Bursts taken by one call before the rest is left to the work item. */
#define RXE_RX_BUDGET	64

/* Executors that one round of the drainer can wake. */
#define RXE_RX_KICKS	16

/* The smallest packet that can be one. */
#define RXE_RX_MIN	(sizeof(struct roce_bth) + ROCE_ICRC_SIZE)

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

/* Is the header in front of the data a plain IP header with UDP behind it, of one packet? */
static bool rxe_rx_ip_ok(const struct sk_buff *skb, bool ipv6)
{
	if (rxe_skb_is_ipv4(skb) == ipv6)
		return false;
	if (ipv6)
		return skb_network_header_len(skb) == sizeof(struct ipv6hdr) &&
		       ipv6_hdr(skb)->nexthdr == IPPROTO_UDP &&
		       !(IP6CB(skb)->flags & IP6SKB_FRAGMENTED);
	return skb_network_header_len(skb) == sizeof(struct iphdr) &&
	       ip_hdr(skb)->ihl == 5 && !IPCB(skb)->frag_max_size;
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
	const u8 *bth;

	bth = rxe_rx_bth(skb);
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

/* As udp_poll() looks: to find nothing costs __skb_recv_udp() as much as to find something. */
static bool rxe_rx_is_empty(const struct sock *sk)
{
	return skb_queue_empty_lockless(&udp_sk(sk)->reader_queue) &&
	       skb_queue_empty_lockless(&sk->sk_receive_queue);
}

/* Sort until the socket is empty, the budget is used up or @kicks is full. */
static void rxe_rx_drain(struct rxe_rx_sock *rs, struct rxe_rx_kicks *kicks,
			 unsigned int *budget)
{
	struct sk_buff *skb;
	int off, err;

	while (*budget && !rxe_rx_is_empty(rs->sk)) {
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

/* There is something to look for; then try to be the drainer, see rxe_rx_run(). */
static void rxe_rx_announce(struct rxe_rx_sock *rs)
{
	/* The packet is in the socket, before the bit. */
	smp_mb__before_atomic();
	set_bit(RXE_RX_AGAIN, &rs->state);
}

/* False: there is a drainer, who goes round once more. */
static bool rxe_rx_acquire(struct rxe_rx_sock *rs)
{
	if (test_and_set_bit(RXE_RX_DRAINING, &rs->state))
		return false;
	clear_bit(RXE_RX_AGAIN, &rs->state);
	/* Cleared, before the look at the socket. */
	smp_mb__after_atomic();
	return true;
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
 * Leave what waits in the socket to a work item, unless there is a drainer: see
 * rxe_rx_run(), and its context.
 */
static void rxe_rx_leave(struct rxe_rx_sock *rs, struct workqueue_struct *wq,
			 struct work_struct *work)
{
	/*
	 * The packet is in the socket, before the look: a work item that waits will find
	 * it.  Pairs with the workqueue's barrier behind its clearing of PENDING.
	 */
	smp_mb();
	if (work_pending(work))
		return;
	rxe_rx_announce(rs);
	do {
		if (!rxe_rx_acquire(rs))
			return;
		/* With the flag held, so that a close can cancel it. */
		queue_work(wq, work);
		rxe_rx_release(rs);
		/* It may have come, and gone away again, while the flag was held. */
	} while (test_bit(RXE_RX_AGAIN, &rs->state));
}

/*
 * Be the drainer, unless there is one: then that one goes round once more.
 *
 * Who brings a packet sets AGAIN and then tries for DRAINING (or leaves it to a work
 * item that is queued already and so will do that); the holder
 * clears AGAIN before it looks, and tests it after it has dropped DRAINING.
 * One drainer, because bursts of a QP that two CPUs take off the socket get
 * out of order.  Nested calls (a kicked executor sends, and the packet comes
 * straight back) find the flag free, since it is dropped before the kicks.
 *
 * Context: BH disabled; @rs stays (RCU read side, or its own work item).
 */
static void rxe_rx_run(struct rxe_rx_sock *rs)
{
	unsigned int budget = RXE_RX_BUDGET;
	struct rxe_rx_kicks kicks __uninitialized;

	kicks.num = 0;
	rxe_rx_announce(rs);
	do {
		if (!rxe_rx_acquire(rs))
			return;
		rxe_rx_drain(rs, &kicks, &budget);
		rxe_rx_release(rs);
		rxe_rx_kick(&kicks);
	} while (budget && test_bit(RXE_RX_AGAIN, &rs->state));

	if (!budget)
		rxe_rx_leave(rs, system_percpu_wq, &rs->work);
}

static void rxe_rx_work_run(struct rxe_rx_sock *rs)
{
	local_bh_disable();
	rxe_rx_run(rs);
	local_bh_enable();
}

static void rxe_rx_work(struct work_struct *work)
{
	rxe_rx_work_run(container_of(work, struct rxe_rx_sock, work));
}

static void rxe_rx_rest(struct work_struct *work)
{
	rxe_rx_work_run(container_of(work, struct rxe_rx_sock, rest));
}

/* Do packets wait on this CPU that come to the same socket, as it seems? */
static bool rxe_rx_more_behind(void)
{
	return !skb_queue_empty_lockless(&this_cpu_ptr(&softnet_data)->process_queue);
}

/*
 * Softirq, or process context with BH disabled.
 *
 * When a socket is half full, UDP holds a lock that other sockets share, this
 * call included: long before that, all is left to the work item.
 *
 * Of a run of bursts, as from a veth peer, the last one has all of them sorted, or one
 * every now and then of a long run.  If the last one is somebody else's, @rest does.
 */
static void rxe_rx_data_ready(struct sock *sk)
{
	int used = atomic_read(&sk->sk_rmem_alloc), size = READ_ONCE(sk->sk_rcvbuf);
	struct rxe_rx_sock *rs;

	rcu_read_lock();
	rs = rcu_dereference_sk_user_data(sk);
	if (rs && used > size / 4)
		rxe_rx_leave(rs, system_percpu_wq, &rs->work);
	else if (rs && used < size / 8 && rxe_rx_more_behind())
		rxe_rx_leave(rs, system_bh_wq, &rs->rest);
	else if (rs)
		rxe_rx_run(rs);
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
	INIT_WORK(&rs->rest, rxe_rx_rest);

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
	cancel_work_sync(&rs->rest);

	/* Frees what is still queued.  No groups were joined: takes no RTNL. */
	sock_release(rs->sock);
	kfree_rcu(rs, rcu);
}
