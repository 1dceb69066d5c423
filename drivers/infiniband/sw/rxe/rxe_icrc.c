// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Invariant CRC of RoCEv2 packets (IBTA A17.3.3).
 *
 * The CRC of Ethernet over eight bytes of ones, which stand for InfiniBand's
 * LRH, and the packet from the IP header on.  All that a router may change
 * counts as ones.  Pure code, also built in user space by tools/testing/unit.
 */
#include <linux/crc32.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/string.h>
#include <linux/udp.h>
#include <asm/byteorder.h>
#include <rdma/roce.h>

#include "rxe_icrc.h"

/* State behind the eight bytes: crc32_le(~0, "\xff\xff\xff\xff\xff\xff\xff\xff", 8). */
#define RXE_ICRC_SEED	0xdebb20e3u

void rxe_icrc_flow_init(struct rxe_icrc_flow *flow, const void *ip, __be16 sport)
{
	flow->sport = sport;
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

__le32 rxe_icrc(const struct rxe_icrc_flow *flow, u16 ip_id, const u8 *data, unsigned int len)
{
	struct {
		u8		ip[sizeof(flow->ip)];
		struct udphdr	udp;
		struct roce_bth	bth;
	} __aligned(4) head;
	u8 *ip = head.ip + sizeof(head.ip) - flow->ip_len;	/* ends where UDP begins */
	u16 udp_len = sizeof(head.udp) + len + ROCE_ICRC_SIZE;
	u32 crc;

	memcpy(ip, flow->ip, flow->ip_len);
	if (flow->ip_len == sizeof(struct iphdr)) {
		struct iphdr *ip4 = (struct iphdr *)ip;

		ip4->tot_len = cpu_to_be16(sizeof(*ip4) + udp_len);
		ip4->id = cpu_to_be16(ip_id);
	} else {
		((struct ipv6hdr *)ip)->payload_len = cpu_to_be16(udp_len);
	}

	head.udp.source = flow->sport;
	head.udp.dest = cpu_to_be16(ROCE_UDP_PORT);
	head.udp.len = cpu_to_be16(udp_len);
	memset(&head.udp.check, 0xff, sizeof(head.udp.check));

	memcpy(&head.bth, data, sizeof(head.bth));
	*(u8 *)&head.bth.qpn = 0xff;	/* FECN, BECN and reserved bits */

	crc = crc32_le(RXE_ICRC_SEED, ip, (u8 *)(&head + 1) - ip);
	crc = crc32_le(crc, data + sizeof(head.bth), len - sizeof(head.bth));
	return cpu_to_le32(~crc);
}
