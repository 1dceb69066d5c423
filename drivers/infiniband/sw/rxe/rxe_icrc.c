// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Invariant CRC of RoCEv2 packets (IBTA A17.3.3).
 *
 * The CRC of Ethernet over eight bytes of ones, which stand for InfiniBand's
 * LRH, and the packet from the IP header on.  All that a router may change
 * counts as ones.  Pure code, also built in user space by tools/testing/unit.
 */
#include <linux/cache.h>
#include <linux/crc32.h>
#include <linux/init.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/udp.h>
#include <asm/byteorder.h>
#include <rdma/roce.h>

#include "rxe_icrc.h"

/* State behind the eight bytes: crc32_le(~0, "\xff\xff\xff\xff\xff\xff\xff\xff", 8). */
#define RXE_ICRC_SEED	0xdebb20e3u

/* What each nibble of an IPv4 ID changes in the CRC of the headers, which is linear. */
static u32 rxe_icrc_ids[4][16] __ro_after_init;

static bool rxe_icrc_is_ipv4(const struct rxe_icrc_flow *flow)
{
	return flow->ip_len == sizeof(struct iphdr);
}

void rxe_icrc_flow_init(struct rxe_icrc_flow *flow, const void *ip, __be16 sport)
{
	flow->sport = sport;
	flow->len = 0;
	if (*(const u8 *)ip >> 4 == 4) {
		struct iphdr *ip4 = (struct iphdr *)flow->ip;

		flow->ip_len = sizeof(*ip4);
		memcpy(ip4, ip, sizeof(*ip4));
		ip4->tos = 0xff;
		ip4->ttl = 0xff;
		memset(&ip4->check, 0xff, sizeof(ip4->check));
	} else {
		struct ipv6hdr *ip6 = (struct ipv6hdr *)flow->ip;

		flow->ip_len = sizeof(*ip6);
		memcpy(ip6, ip, sizeof(*ip6));
		ip6->priority = 0xf;
		memset(ip6->flow_lbl, 0xff, sizeof(ip6->flow_lbl));
		ip6->hop_limit = 0xff;
	}
}

/*
 * What the CRC of the headers is with an IPv4 ID of 0, up to the first eight bytes of
 * the BTH.  What follows these, with the PSN, is next to the payload.
 */
static u32 rxe_icrc_head(const struct rxe_icrc_flow *flow, const u8 *data, unsigned int len)
{
	struct {
		u8		ip[sizeof(flow->ip)];
		struct udphdr	udp;
		u8		bth[RXE_ICRC_BTH];
	} __aligned(4) head;
	u8 *ip = head.ip + sizeof(head.ip) - flow->ip_len;	/* ends where UDP begins */
	u16 udp_len = sizeof(head.udp) + len + ROCE_ICRC_SIZE;

	memcpy(ip, flow->ip, flow->ip_len);
	if (rxe_icrc_is_ipv4(flow)) {
		struct iphdr *ip4 = (struct iphdr *)ip;

		ip4->tot_len = cpu_to_be16(sizeof(*ip4) + udp_len);
		ip4->id = 0;
	} else {
		((struct ipv6hdr *)ip)->payload_len = cpu_to_be16(udp_len);
	}

	head.udp.source = flow->sport;
	head.udp.dest = cpu_to_be16(ROCE_UDP_PORT);
	head.udp.len = cpu_to_be16(udp_len);
	memset(&head.udp.check, 0xff, sizeof(head.udp.check));

	memcpy(head.bth, data, sizeof(head.bth));
	head.bth[offsetof(struct roce_bth, qpn)] = 0xff;	/* FECN, BECN and reserved bits */

	return crc32_le(RXE_ICRC_SEED, ip, (u8 *)(&head + 1) - ip);
}

static u32 rxe_icrc_id(u16 id)
{
	return rxe_icrc_ids[0][id & 15] ^ rxe_icrc_ids[1][id >> 4 & 15] ^
	       rxe_icrc_ids[2][id >> 8 & 15] ^ rxe_icrc_ids[3][id >> 12];
}

__le32 rxe_icrc(struct rxe_icrc_flow *flow, u16 ip_id, const u8 *data, unsigned int len)
{
	u32 crc;

	if (flow->len != len || memcmp(flow->bth, data, sizeof(flow->bth))) {
		flow->head = rxe_icrc_head(flow, data, len);
		flow->len = len;
		memcpy(flow->bth, data, sizeof(flow->bth));
	}
	crc = flow->head;
	if (rxe_icrc_is_ipv4(flow))
		crc ^= rxe_icrc_id(ip_id);
	crc = crc32_le(crc, data + RXE_ICRC_BTH, len - RXE_ICRC_BTH);
	return cpu_to_le32(~crc);
}

void __init rxe_icrc_module_init(void)
{
	/* from the ID on: the rest of the IPv4 header, UDP, and the first bytes of the BTH */
	u8 buf[sizeof(struct iphdr) - offsetof(struct iphdr, id) + sizeof(struct udphdr) +
	       RXE_ICRC_BTH] = {};
	unsigned int nibble, value;

	for (nibble = 0; nibble < 4; nibble++) {
		for (value = 0; value < 16; value++) {
			buf[0] = value << 4 * nibble >> 8;
			buf[1] = value << 4 * nibble;
			rxe_icrc_ids[nibble][value] = crc32_le(0, buf, sizeof(buf));
		}
	}
}
