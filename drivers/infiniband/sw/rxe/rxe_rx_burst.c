// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* From the queue of a QP to its executor: out of a burst, packet by packet. */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/percpu.h>
#include <linux/udp.h>
#include <linux/unaligned.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include "rxe_ns.h"
#include "rxe_opcode.h"
#include "rxe_qp.h"
#include "rxe_rx.h"
#include "rxe_stats.h"
#include "rxe_trace.h"

/* Packets that no pointer can reach in one piece are copied here. */
#define RXE_RX_BOUNCE	(ROCE_MAX_HDR + ROCE_MAX_MTU + 64)

static u8 __percpu *rxe_rx_bounce;

void rxe_rx_drop(struct rxe_dev *rxe, u32 qpn, enum rxe_drop why)
{
	if (rxe)
		rxe_count(rxe, RXE_CNT_DROP_FIRST + why - 1);
	trace_rxe_drop(rxe ? dev_name(&rxe->ibdev.dev) : "-", qpn, why);
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
static bool rxe_rx_icrc_ok(struct rxe_icrc_flow *flow, const struct sk_buff *skb, u16 seg,
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
	struct rxe_icrc_flow flow __uninitialized;
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

const u8 *rxe_rx_bth(struct sk_buff *skb)
{
	return rxe_rx_contiguous(skb, rxe_skb_cb(skb), 0, sizeof(struct roce_bth));
}

bool rxe_rx_turns(struct sk_buff *skb, bool response)
{
	struct rxe_skb_cb *cb = rxe_skb_cb(skb);
	const struct rxe_opcode_info *info;
	const u8 *opcode;

	/* the first one has decided, and only the last can be passed on in order */
	if (!cb->seg || rxe_rx_is_over(skb) || skb->len - cb->off > cb->seg_size)
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

	if (rxe_rx_is_over(skb))
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
	struct rxe_icrc_flow flow __uninitialized;
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
