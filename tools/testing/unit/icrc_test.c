// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* rxe_icrc.c against packets that icrc_vectors.py had other code compute. */
#include <asm/byteorder.h>
#include <linux/crc32.h>
#include <rdma/roce.h>
#include <string.h>

#include "icrc_vectors.h"
#include "ktap.h"
#include "rxe_icrc.h"

#define UDP	8
#define BTH	12

static unsigned int ip_len(const u8 *pkt)
{
	return pkt[0] >> 4 == 4 ? 20 : 40;
}

/* ICRC of a whole packet; the driver's data begins @shift bytes behind its alignment. */
static u32 icrc(const u8 *pkt, unsigned int len, unsigned int shift)
{
	unsigned int ip = ip_len(pkt), n = len - ip - UDP - ROCE_ICRC_SIZE;
	u8 *buf = exact_alloc(n + shift);
	struct rxe_icrc_flow flow;
	__be16 sport;
	__le32 crc;

	memset(&flow, 0, sizeof(flow));
	memcpy(&sport, pkt + ip, sizeof(sport));
	rxe_icrc_flow_init(&flow, pkt, sport);
	memcpy(buf + shift, pkt + ip + UDP, n);
	crc = rxe_icrc(&flow, pkt[4] << 8 | pkt[5], buf + shift, n);
	free(buf);
	return le32_to_cpu(crc);
}

static u32 icrc_on_wire(const struct icrc_vector *v)
{
	const u8 *p = v->pkt + v->len - ROCE_ICRC_SIZE;

	return p[0] | p[1] << 8 | p[2] << 16 | (u32)p[3] << 24;
}

static void vectors(unsigned int version)
{
	unsigned int seen = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(icrc_vectors); i++) {
		const struct icrc_vector *v = &icrc_vectors[i];

		if (v->pkt[0] >> 4 != version)
			continue;
		seen++;
		for (unsigned int shift = 0; shift < 8; shift++) {
			u32 got = icrc(v->pkt, v->len, shift);

			CHECK(got == icrc_on_wire(v), "%s: %08x, not %08x", v->name, got,
			      icrc_on_wire(v));
		}
	}
	CHECK(seen >= 20, "only %u", seen);
}

static void vectors_ipv4(void)
{
	vectors(4);
}

static void vectors_ipv6(void)
{
	vectors(6);
}

/* As the specification has it: all at once, from the LRH of ones on. IPv4 alone. */
static u32 plain_icrc(const u8 *pkt, unsigned int len)
{
	const unsigned int ip = 20, n = len - ROCE_ICRC_SIZE;
	u8 *buf = exact_alloc(8 + n);
	u32 crc;

	memset(buf, 0xff, 8);
	memcpy(buf + 8, pkt, n);
	buf[8 + 1] = 0xff;				/* TOS */
	buf[8 + 8] = 0xff;				/* TTL */
	memset(buf + 8 + 10, 0xff, 2);			/* checksum */
	memset(buf + 8 + ip + 6, 0xff, 2);		/* UDP checksum */
	buf[8 + ip + UDP + 4] = 0xff;			/* reserved */
	crc = ~crc32_le(~0, buf, 8 + n);
	free(buf);
	return crc;
}

/* One flow serves packets of any length, ID and BTH, in any order. */
static void flow_is_reusable(void)
{
	const unsigned int ip = 20, len = ip + UDP + BTH + 64 + ROCE_ICRC_SIZE;
	u8 *pkt = exact_alloc(len), *bth = pkt + ip + UDP;
	struct rxe_icrc_flow flow;
	__be16 sport;
	u32 got;

	memset(pkt, 0x5a, len);
	memcpy(pkt, icrc_vectors[0].pkt, ip + UDP + BTH);
	CHECK(ip_len(pkt) == ip, "");
	memcpy(&sport, pkt + ip, sizeof(sport));
	rxe_icrc_flow_init(&flow, pkt, sport);
	for (unsigned int i = 0; i < 65536; i++) {
		/* two of each, then another length, and then another BTH */
		unsigned int less = 2 * (i & 2), n = len - less;

		pkt[2] = n >> 8;
		pkt[3] = n;
		pkt[4] = i >> 8;
		pkt[5] = i;
		pkt[ip + 4] = (n - ip) >> 8;
		pkt[ip + 5] = n - ip;
		bth[0] = i >> 2 & 7;
		bth[7] = i >> 3;
		bth[11] = i;
		got = le32_to_cpu(rxe_icrc(&flow, i, bth, n - ip - UDP - ROCE_ICRC_SIZE));
		CHECK(got == plain_icrc(pkt, n), "%u: %08x, not %08x", i, got,
		      plain_icrc(pkt, n));
	}
	free(pkt);
}

/*
 * Bytes that routers may change, that the driver writes itself (length,
 * destination port), and the first one, which says which header this is.
 */
static bool byte_counts(const u8 *pkt, unsigned int at)
{
	static const bool ipv4[20] = {
		[4] = true, [5] = true, [6] = true, [7] = true, [9] = true,
		[12] = true, [13] = true, [14] = true, [15] = true,
		[16] = true, [17] = true, [18] = true, [19] = true,
	};
	unsigned int ip = ip_len(pkt);

	if (at < ip)
		return ip == 20 ? ipv4[at] : at == 6 || at >= 8;
	at -= ip;
	if (at < UDP)
		return at < 2;
	return at != UDP + 4;
}

static void each_bit(const struct icrc_vector *v)
{
	unsigned int n = v->len - ROCE_ICRC_SIZE;
	u8 *pkt = exact_alloc(v->len);
	u32 good = icrc_on_wire(v);

	memcpy(pkt, v->pkt, v->len);
	for (unsigned int bit = 4; bit < 8 * n; bit++) {
		/* of the first byte only IPv6's half of the traffic class */
		unsigned int mask = bit < 8 ? 1 << (bit - 4) : 1 << bit % 8;

		if (bit < 8 && ip_len(pkt) == 20)
			continue;
		pkt[bit / 8] ^= mask;
		CHECK((icrc(pkt, v->len, 0) != good) == byte_counts(pkt, bit / 8),
		      "%s: byte %u", v->name, bit / 8);
		pkt[bit / 8] ^= mask;
	}
	free(pkt);
}

static void every_bit(void)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(icrc_vectors); i++)
		each_bit(&icrc_vectors[i]);
}

/* The CRC of this directory is right: check value of the algorithm. */
static void crc(void)
{
	CHECK(~crc32_le(~0, "123456789", 9) == 0xcbf43926, "");
}

static const struct ktap_test tests[] = {
	{ "CRC-32 check value", crc },
	{ "IPv4 packets of scapy's RoCE layer, at each alignment", vectors_ipv4 },
	{ "IPv6 packets, at each alignment", vectors_ipv6 },
	{ "a flow does not change with its packets", flow_is_reusable },
	{ "each bit counts unless a router may change it", every_bit },
};

int main(void)
{
	rxe_icrc_module_init();
	return ktap_run(tests, ARRAY_SIZE(tests));
}
