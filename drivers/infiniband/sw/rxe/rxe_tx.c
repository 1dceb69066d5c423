// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Bursts down to IP.
 *
 * The IP and UDP headers of a burst stand in the skb's linear part, its
 * packets in page fragments, each packet within one page.  The pages are
 * recycled: a fresh one costs as much as the skb.
 */
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/percpu.h>
#include <linux/udp.h>
#include <net/dst.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/route.h>
#include <net/udp.h>
#include "rxe_device.h"
#include "rxe_gid.h"
#include "rxe_ns.h"
#include "rxe_route.h"
#include "rxe_rx.h"
#include "rxe_stats.h"
#include "rxe_token.h"
#include "rxe_trace.h"
#include "rxe_tx.h"

/* Packets in one burst: what GRO, and many NICs' segmentation, stop at. */
#define RXE_TX_MAX_SEGS	64

/* Largest IP packet before segmentation. */
#define RXE_TX_MAX_LEN	IP_MAX_MTU

#define RXE_TX_ORDER	get_order(SZ_64K)
#define RXE_TX_PAGES	32	/* of one CPU: 2 MiB, some thirty bursts in flight */

/**
 * struct rxe_tx_pages - pages that packets are written to
 * @page:	ours while its reference count is 1, else skbs still use it too
 * @cur:	the one that is being filled
 * @off:	how far
 * @evict:	the next one to be given up when all are in flight
 *
 * Per CPU; used with BH disabled, from one run at a time.
 */
struct rxe_tx_pages {
	struct page	*page[RXE_TX_PAGES];
	unsigned int	cur;
	unsigned int	off;
	unsigned int	evict;
};

static DEFINE_PER_CPU(struct rxe_tx_pages, rxe_tx_pages);

static struct page *rxe_tx_alloc_page(unsigned int len)
{
	gfp_t gfp = GFP_ATOMIC | __GFP_COMP | __GFP_NOWARN | __GFP_NORETRY | __GFP_NOMEMALLOC;
	struct page *page;

	page = alloc_pages(gfp, RXE_TX_ORDER);
	return page ?: alloc_pages(gfp, get_order(len));
}

/*
 * Turn to a page that no skb uses any more: the first such, so that few and
 * cache-hot ones are used.
 */
static bool rxe_tx_next_page(struct rxe_tx_pages *p, unsigned int len)
{
	unsigned int i, slot = RXE_TX_PAGES;
	struct page *page;

	for (i = 0; i < RXE_TX_PAGES; i++) {
		page = p->page[i];
		if (!page) {
			slot = min(slot, i);
		} else if (page_ref_count(page) == 1 && page_size(page) >= len) {
			slot = i;
			goto found;
		}
	}

	page = rxe_tx_alloc_page(len);
	if (!page)
		return false;
	if (slot == RXE_TX_PAGES) {
		slot = p->evict++ % RXE_TX_PAGES;
		put_page(p->page[slot]);
	}
	p->page[slot] = page;
found:
	p->cur = slot;
	p->off = 0;
	return true;
}

static bool rxe_tx_page_room(struct rxe_tx_pages *p, unsigned int len)
{
	struct page *page = p->page[p->cur];

	return (page && p->off + len <= page_size(page)) || rxe_tx_next_page(p, len);
}

static void rxe_tx_grow(struct sk_buff *skb, int len)
{
	skb->len += len;
	skb->data_len += len;
	skb->truesize += len;
}

/*
 * Append up to *@num times @size bytes of page to the burst, to its last
 * fragment if they follow it.
 */
static u8 *rxe_tx_append(struct sk_buff *skb, unsigned int size, unsigned int *num)
{
	struct rxe_tx_pages *p = this_cpu_ptr(&rxe_tx_pages);
	int n = skb_shinfo(skb)->nr_frags;
	struct page *page;
	unsigned int len;
	u8 *data;

	if (!rxe_tx_page_room(p, size))
		return NULL;
	page = p->page[p->cur];
	len = size;
	if (*num > 1) {
		*num = min_t(unsigned int, *num, (page_size(page) - p->off) / size);
		len = *num * size;
	}
	if (skb_can_coalesce(skb, n, page, p->off)) {
		skb_frag_size_add(&skb_shinfo(skb)->frags[n - 1], len);
	} else {
		get_page(page);
		skb_fill_page_desc(skb, n, page, p->off, len);
	}
	rxe_tx_grow(skb, len);
	data = (u8 *)page_address(page) + p->off;
	p->off += len;
	return data;
}

/* Undo the last rxe_tx_append(). */
static void rxe_tx_trim(struct sk_buff *skb, unsigned int len)
{
	skb_frag_t *frag = &skb_shinfo(skb)->frags[skb_shinfo(skb)->nr_frags - 1];

	skb_frag_size_sub(frag, len);
	rxe_tx_grow(skb, -(int)len);
	this_cpu_ptr(&rxe_tx_pages)->off -= len;
	if (!skb_frag_size(frag)) {
		put_page(skb_frag_page(frag));
		skb_shinfo(skb)->nr_frags--;
	}
}

static unsigned int rxe_tx_hdr_len(const struct rxe_tx *tx)
{
	return (tx->path->ipv4 ? sizeof(struct iphdr) : sizeof(struct ipv6hdr)) +
	       sizeof(struct udphdr);
}

/* Length, checksum and (IPv4) the IDs of later segments are the stack's part. */
static void rxe_tx_fill_ip4(const struct rxe_tx *tx, struct iphdr *iph)
{
	const struct rxe_path *path = tx->path;

	*iph = (struct iphdr) {
		.version	= 4,
		.ihl		= 5,
		.tos		= path->tclass,
		.frag_off	= htons(IP_DF),
		.ttl		= path->hop_limit ?: ip4_dst_hoplimit(tx->dst),
		.protocol	= IPPROTO_UDP,
		.saddr		= ((struct in6_addr *)&path->sgid->gid)->s6_addr32[3],
		.daddr		= ((struct in6_addr *)&path->dgid)->s6_addr32[3],
	};
}

static void rxe_tx_fill_ip6(const struct rxe_tx *tx, struct ipv6hdr *ip6h)
{
	const struct rxe_path *path = tx->path;

	ip6_flow_hdr(ip6h, path->tclass, htonl(path->flow_label));
	ip6h->payload_len = 0;
	ip6h->nexthdr = IPPROTO_UDP;
	ip6h->hop_limit = path->hop_limit ?: ip6_dst_hoplimit(tx->dst);
	memcpy(&ip6h->saddr, &path->sgid->gid, sizeof(ip6h->saddr));
	memcpy(&ip6h->daddr, &path->dgid, sizeof(ip6h->daddr));
}

/* The headers that the ICRC covers. */
static noinline void rxe_tx_flow_init(struct rxe_tx *tx)
{
	union {
		struct iphdr	ip4;
		struct ipv6hdr	ip6;
	} hdr;

	if (tx->path->ipv4)
		rxe_tx_fill_ip4(tx, &hdr.ip4);
	else
		rxe_tx_fill_ip6(tx, &hdr.ip6);
	rxe_icrc_flow_init(&tx->flow, &hdr, tx->path->sport);
	tx->has_flow = true;
}

/* Packets of @size bytes that a burst can have on this route.  Context: RCU. */
static unsigned int rxe_tx_max_segs(const struct rxe_tx *tx, unsigned int size)
{
	const struct net_device *dev = dst_dev_rcu(tx->dst);
	unsigned int len, segs;

	/* IPsec takes no bursts. */
	if (dst_xfrm(tx->dst))
		return 1;

	/* The device segments in software what is longer, its header included. */
	len = min_t(unsigned int, READ_ONCE(dev->gso_max_size), GSO_LEGACY_MAX_SIZE) - 1;
	len -= min_t(unsigned int, len, dev->hard_header_len + VLAN_HLEN);
	len = min_t(unsigned int, len, RXE_TX_MAX_LEN);
	len -= min_t(unsigned int, len, rxe_tx_hdr_len(tx));
	segs = min3(len / size, (unsigned int)READ_ONCE(dev->gso_max_segs),
		    (unsigned int)RXE_TX_MAX_SEGS);
	return max(segs, 1U);
}

/* Look for a route once in a run.  Context: RCU. */
static int rxe_tx_find_route(struct rxe_tx *tx)
{
	struct dst_entry *dst;

	if (tx->dst)
		return 0;
	if (tx->err)
		return tx->err;
	dst = rxe_route_get(tx->route, tx->path);
	if (IS_ERR(dst))
		return PTR_ERR(dst);
	tx->dst = dst;
	return 0;
}

/* Context: RCU. */
static int rxe_tx_start_burst(struct rxe_tx *tx)
{
	unsigned int headroom;
	int err;

	err = rxe_tx_find_route(tx);
	if (err)
		return err;

	headroom = LL_RESERVED_SPACE(dst_dev_rcu(tx->dst)) + tx->dst->header_len +
		   rxe_tx_hdr_len(tx);
	tx->skb = alloc_skb(headroom, GFP_ATOMIC);
	if (!tx->skb)
		return -ENOMEM;
	skb_reserve(tx->skb, headroom);
	tx->segs = 0;
	tx->closed = false;
	return 0;
}

/* Write the ICRCs of the packets that were added last. */
static void rxe_tx_close_packets(struct rxe_tx *tx)
{
	const struct roce_bth *bth;
	unsigned int size, i;
	__le32 icrc;
	u8 *data;

	if (!tx->last)
		return;
	size = tx->last_len + ROCE_ICRC_SIZE;
	if (!tx->token && !tx->has_flow)
		rxe_tx_flow_init(tx);
	for (i = tx->open; i-- > 0; ) {
		data = tx->last - i * size;
		bth = (const struct roce_bth *)data;
		if (tx->token)
			icrc = rxe_token_field(tx->token, roce_psn(be32_to_cpu(bth->apsn)));
		else
			icrc = rxe_icrc(&tx->flow, tx->segs - 1 - i, data, tx->last_len);
		memcpy(data + tx->last_len, &icrc, sizeof(icrc));
	}
	tx->last = NULL;
}

static void rxe_tx_fill_udp(const struct rxe_tx *tx, struct sk_buff *skb)
{
	const union ib_gid *sgid = &tx->path->sgid->gid;
	const union ib_gid *dgid = &tx->path->dgid;
	struct udphdr *uh;
	__sum16 check;

	uh = __skb_push(skb, sizeof(*uh));
	skb_reset_transport_header(skb);
	if (tx->path->ipv4)
		check = udp_v4_check(skb->len, ((struct in6_addr *)sgid)->s6_addr32[3],
				     ((struct in6_addr *)dgid)->s6_addr32[3], 0);
	else
		check = udp_v6_check(skb->len, (struct in6_addr *)sgid,
				     (struct in6_addr *)dgid, 0);
	uh->source = tx->path->sport;
	uh->dest = htons(ROCE_UDP_PORT);
	uh->len = htons(skb->len);
	uh->check = ~check;

	skb->ip_summed = CHECKSUM_PARTIAL;
	skb->csum_start = skb_transport_header(skb) - skb->head;
	skb->csum_offset = offsetof(struct udphdr, check);
}

static void rxe_tx_fill_headers(struct rxe_tx *tx, struct sk_buff *skb)
{
	rxe_tx_fill_udp(tx, skb);
	if (tx->path->ipv4) {
		rxe_tx_fill_ip4(tx, __skb_push(skb, sizeof(struct iphdr)));
		skb->protocol = htons(ETH_P_IP);
		memset(IPCB(skb), 0, sizeof(*IPCB(skb)));
	} else {
		rxe_tx_fill_ip6(tx, __skb_push(skb, sizeof(struct ipv6hdr)));
		skb->protocol = htons(ETH_P_IPV6);
		memset(IP6CB(skb), 0, sizeof(*IP6CB(skb)));
	}
	skb_reset_network_header(skb);
	skb->priority = rt_tos2priority(tx->path->tclass);

	if (tx->segs > 1) {
		skb_shinfo(skb)->gso_size = tx->seg_size;
		skb_shinfo(skb)->gso_segs = tx->segs;
		skb_shinfo(skb)->gso_type = SKB_GSO_UDP_L4;
	}
}

/*
 * The skb belongs to no socket and carries no destructor: it may outlive all
 * of ours.
 */
static int rxe_tx_output(struct rxe_tx *tx, struct sk_buff *skb)
{
	struct rxe_ns *ns = tx->path->sgid->ns;
	struct rxe_rx_sock *rs;
	struct net *net;
	int err;

	rcu_read_lock();
	net = rcu_dereference(ns->net);
	rs = tx->path->ipv4 ? rcu_dereference(ns->sk4) : rcu_dereference(ns->sk6);
	if (unlikely(!net || !rs)) {
		rcu_read_unlock();
		kfree_skb(skb);
		return -ENODEV;
	}
	skb_dst_set_noref(skb, tx->dst);
	/*
	 * When the MTU becomes smaller just now, better a few fragments than the
	 * ICMP that rxe_tx_new_burst() avoids.
	 */
	skb->ignore_df = 1;
	skb_set_dst_pending_confirm(skb, tx->confirm);
	if (tx->path->ipv4)
		err = ip_local_out(net, rs->sk, skb);
	else
		err = ip6_local_out(net, rs->sk, skb);
	rcu_read_unlock();

	err = net_xmit_eval(err);
	return err > 0 ? -ENOBUFS : err;
}

/* What the routing, netfilter and the netdevs say, in a word for a person. */
static enum rxe_counter rxe_tx_reason(int err)
{
	switch (err) {
	case -ENETUNREACH:
	case -EHOSTUNREACH:
	case -EACCES:		/* broadcast, and routes of type "prohibit" */
		return RXE_CNT_SEND_ROUTE;
	case -ENOMEM:
		return RXE_CNT_SEND_MEMORY;
	case -EMSGSIZE:
		return RXE_CNT_SEND_MTU;
	case -ENOBUFS:
		return RXE_CNT_SEND_QUEUE;
	case -EPERM:
		return RXE_CNT_SEND_FILTER;
	case -ENETDOWN:
	case -ENODEV:
		return RXE_CNT_SEND_DOWN;
	default:
		return RXE_CNT_SEND_OTHER;
	}
}

static void rxe_tx_fail(struct rxe_tx *tx, unsigned int packets, int err)
{
	enum rxe_counter reason = rxe_tx_reason(err);

	rxe_count_add(tx->rxe, RXE_CNT_SEND_ERR, packets);
	rxe_count_add(tx->rxe, reason, packets);
	trace_rxe_send_err(dev_name(&tx->rxe->ibdev.dev), tx->qpn, packets, reason);
	if (!tx->err)
		tx->err = err;
}

/* Send the burst under construction; its packets are closed. */
static void rxe_tx_flush(struct rxe_tx *tx)
{
	struct sk_buff *skb = tx->skb;
	unsigned int bytes;
	int err;

	if (!skb)
		return;
	tx->skb = NULL;
	if (!tx->segs) {
		kfree_skb(skb);
		return;
	}

	bytes = skb->len;
	rxe_tx_fill_headers(tx, skb);
	err = rxe_tx_output(tx, skb);
	if (err) {
		rxe_tx_fail(tx, tx->segs, err);
		return;
	}
	rxe_count(tx->rxe, RXE_CNT_TX_BURSTS);
	rxe_count_add(tx->rxe, RXE_CNT_SENT_PKTS, tx->segs);
	rxe_count_add(tx->rxe, RXE_CNT_SENT_BYTES, bytes);
	if (tx->token)
		rxe_count_add(tx->rxe, RXE_CNT_TX_TOKENS, tx->segs);
}

void rxe_tx_begin(struct rxe_tx *tx, struct rxe_dev *rxe, u32 qpn, const struct rxe_path *path,
		  struct rxe_route *route)
{
	tx->rxe = rxe;
	tx->qpn = qpn;
	tx->path = path;
	tx->route = route;
	tx->skb = NULL;
	tx->dst = NULL;
	tx->token = 0;
	tx->confirm = false;
	tx->has_flow = false;
	tx->last = NULL;
	tx->max_segs = 0;
	tx->seg_size = 0;
	tx->err = path->sgid ? 0 : -EINVAL;
}

/* Can the next packet not go into the burst under construction? */
static bool rxe_tx_burst_full(const struct rxe_tx *tx, unsigned int size)
{
	return tx->closed || tx->segs == tx->max_segs || (tx->segs && size > tx->seg_size) ||
	       skb_shinfo(tx->skb)->nr_frags == MAX_SKB_FRAGS;
}

/* A burst that begins with packets of @size bytes.  Context: RCU. */
static int rxe_tx_new_burst(struct rxe_tx *tx, unsigned int size)
{
	int err;

	if (!tx->skb) {
		err = rxe_tx_start_burst(tx);
		if (err)
			return err;
	}
	/* IP would tell ourselves in an ICMP, and remember the MTU for ten minutes. */
	if (size + rxe_tx_hdr_len(tx) > dst_mtu(tx->dst))
		return -EMSGSIZE;
	tx->seg_size = size;
	tx->max_segs = rxe_tx_max_segs(tx, size);
	return 0;
}

/* A burst with room for packets of @size bytes. */
static int rxe_tx_get_burst(struct rxe_tx *tx, unsigned int size)
{
	int err;

	if (tx->skb && rxe_tx_burst_full(tx, size))
		rxe_tx_flush(tx);
	if (tx->skb && tx->segs)
		return 0;
	rcu_read_lock();
	err = rxe_tx_new_burst(tx, size);
	rcu_read_unlock();
	return err;
}

u8 *rxe_tx_add_many(struct rxe_tx *tx, unsigned int len, unsigned int *num)
{
	unsigned int size = len + ROCE_ICRC_SIZE;
	u8 *data;
	int err;

	rxe_tx_close_packets(tx);
	err = rxe_tx_get_burst(tx, size);
	if (err)
		goto lost;

	/* what is shorter than the others ends the burst */
	tx->closed = size < tx->seg_size;
	*num = tx->closed ? 1 : min(*num, tx->max_segs - tx->segs);
	data = rxe_tx_append(tx->skb, size, num);
	if (!data) {
		err = -ENOMEM;
		goto lost;
	}
	tx->segs += *num;
	tx->open = *num;
	tx->last = data + (*num - 1) * size;
	tx->last_len = len;
	return data;

lost:
	rxe_tx_fail(tx, 1, err);
	return NULL;
}

u8 *rxe_tx_add(struct rxe_tx *tx, unsigned int len)
{
	unsigned int num = 1;

	return rxe_tx_add_many(tx, len, &num);
}

u8 *rxe_tx_add_middles(struct rxe_tx *tx, const struct rxe_pkt *pkt, unsigned int len,
		       unsigned int *num)
{
	u8 *first = rxe_tx_add_many(tx, sizeof(struct roce_bth) + len, num);
	struct roce_bth bth;
	unsigned int i;
	u8 *buf = first;

	if (!first)
		return NULL;
	rxe_pkt_build(pkt, (u8 *)&bth);
	for (i = 0; i < *num; i++, buf += len + RXE_MIDDLE_EXTRA) {
		bth.apsn = cpu_to_be32(roce_psn_add(pkt->psn, i).v);
		memcpy(buf, &bth, sizeof(bth));
	}
	return first + sizeof(bth);
}

void rxe_tx_cancel(struct rxe_tx *tx, unsigned int num)
{
	unsigned int size;

	if (!tx->last)
		return;
	size = tx->last_len + ROCE_ICRC_SIZE;
	rxe_tx_trim(tx->skb, num * size);
	tx->segs -= num;
	tx->open -= num;
	tx->last = tx->open ? tx->last - num * size : NULL;
	tx->closed = false;
}

int rxe_tx_end(struct rxe_tx *tx)
{
	rxe_tx_close_packets(tx);
	rxe_tx_flush(tx);
	dst_release(tx->dst);
	tx->dst = NULL;
	return tx->err;
}

void rxe_tx_module_exit(void)
{
	struct rxe_tx_pages *p;
	unsigned int i;
	int cpu;

	for_each_possible_cpu(cpu) {
		p = per_cpu_ptr(&rxe_tx_pages, cpu);
		for (i = 0; i < RXE_TX_PAGES; i++)
			if (p->page[i])
				put_page(p->page[i]);
	}
}
