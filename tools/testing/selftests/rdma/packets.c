// SPDX-License-Identifier: GPL-2.0
/*
 * packets KIND SOURCE DESTINATION QPN [COUNT]
 * packets request SOURCE DESTINATION QPN OPCODE HEX-BYTES [PSN]
 *
 * Sends RoCEv2 packets that nobody should send.  SOURCE is an address of this
 * host; both are IPv4 or both IPv6 addresses.  It prints how many it has sent.
 *
 *   valid     COUNT or one correct UD SENDs of 32 bytes, Q_Key 0x11111111
 *   icrc      32 of it, each with another bit of the ICRC wrong
 *   short     every length from 0 to 64, opcode 0xff and others, no valid ICRC
 *   opcodes   every opcode with every length up to 64, ICRC valid
 *   fields    pad counts, versions, P_Keys, PSNs, Q_Keys that do not fit
 *   random    COUNT packets of random bytes, ICRC valid
 *   request   one packet with PSN, or 0x123456, and what stands behind the BTH, ICRC valid
 *   ip        UDP lengths and checksums that lie (IPv4)
 *   fragments datagrams of "valid" in fragments, with IP options or extension headers,
 *             ICRC valid for who overlooks these; parts that make no whole are not
 *             counted
 *
 * packets token SOURCE DESTINATION QPN PSN TOKEN [bare]
 *
 * One RC SEND of eight bytes with an ICRC token (IPv4), under a UDP checksum or, bare, none.
 *
 * packets product DEVICE MAC STRANGER PEER DESTINATION COUNT SEED ADDRESS RKEY QPN QPN...
 *
 * COUNT packets at random out of the product of all opcodes, truncations, lengths that
 * lie, pads, QPs, PSNs, keys, ICRCs and oddities of IP, as Ethernet frames to MAC by
 * DEVICE (packets_product.c). The first QPN gets those of the stranger alone, the others
 * those with the address of their PEER as well. ADDRESS and RKEY are of memory that
 * nobody has a right to: the key is changed before it is used.
 *
 * packets bind PORT
 *
 * Takes a UDP port, says "ready" and waits.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <errno.h>
#include "packets.h"

#define MAX_LEN		2048
#define MAX_HEX		512

#define RC_SEND_ONLY	0x04
#define UD_SEND_ONLY	0x64
#define QKEY		0x11111111

int family;
static int fd, raw6_fd;
static struct in_addr src4, dst4;
static struct in6_addr src6, dst6;
static uint16_t source_port;
static unsigned long sent;

void die(const char *what)
{
	perror(what);
	exit(1);
}

static uint32_t x = 2463534242u;

void seed_random(uint32_t seed)
{
	x = seed * 2654435761u ?: 1;
}

uint32_t next_random(void)
{
	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	return x;
}

static uint32_t crc32_update(uint32_t crc, const uint8_t *data, size_t len)
{
	static uint32_t table[256];
	uint32_t c;
	int i, bit;

	for (i = table[1] ? 256 : 0; i < 256; i++) {
		for (c = i, bit = 0; bit < 8; bit++)
			c = c & 1 ? c >> 1 ^ 0xedb88320 : c >> 1;
		table[i] = c;
	}
	while (len--)
		crc = crc >> 8 ^ table[(crc ^ *data++) & 0xff];
	return crc;
}

/* Bits of the ICRC that are wrong */
static uint32_t icrc_error;

/*
 * The invariant CRC (InfiniBand volume 1, annex A17.3.3): over eight bytes of
 * ones, then the packet from the IP header on, with ones for what a router may
 * change.
 */
void put_icrc(uint8_t *ip, size_t ip_len, uint8_t *udp, size_t len)
{
	uint8_t head[8 + 128 + 8 + BTH], *p = head + 8;
	uint32_t crc;

	memset(head, 0xff, 8);
	memcpy(p, ip, ip_len);
	if (family == AF_INET) {
		p[1] = 0xff;			/* TOS */
		p[8] = 0xff;			/* TTL */
		p[10] = p[11] = 0xff;		/* checksum */
	} else {
		p[0] |= 0x0f;			/* traffic class, flow label */
		p[1] = p[2] = p[3] = 0xff;
		p[7] = 0xff;			/* hop limit */
	}
	p += ip_len;
	memcpy(p, udp, 8);
	p[6] = p[7] = 0xff;			/* checksum */
	p += 8;
	crc = crc32_update(~0u, head, p - head);
	if (len >= BTH + ICRC) {
		memcpy(p, udp + 8, BTH);
		p[4] = 0xff;			/* FECN, BECN, reserved */
		crc = crc32_update(crc, p, BTH);
		crc = crc32_update(crc, udp + 8 + BTH, len - BTH - ICRC);
	} else {
		crc = crc32_update(crc, udp + 8, len - ICRC);
	}
	crc = ~crc ^ icrc_error;
	udp += 8 + len - ICRC;
	udp[0] = crc;
	udp[1] = crc >> 8;
	udp[2] = crc >> 16;
	udp[3] = crc >> 24;
}

/* What ip_frame() needs beyond the payload */
struct lie {
	int	udp_len;	/* added to the UDP length */
	bool	summed;		/* with a UDP checksum */
	int	checksum;	/* bits of it that are wrong */
	int	options;	/* bytes of IP options */
	int	cut;		/* bytes missing at the end of the IP packet */
};

static uint32_t sum(const uint8_t *data, size_t len, uint32_t s)
{
	size_t i;

	for (i = 0; i < len; i++)
		s += i & 1 ? data[i] : data[i] << 8;
	return s;
}

static void send_raw(const uint8_t *frame, size_t len)
{
	struct sockaddr_in to4 = { .sin_family = AF_INET, .sin_addr = dst4 };
	struct sockaddr_in6 to6 = { .sin6_family = AF_INET6, .sin6_addr = dst6 };
	bool ipv4 = family == AF_INET;

	while (sendto(ipv4 ? fd : raw6_fd, frame, len, 0, ipv4 ? (void *)&to4 : (void *)&to6,
		      ipv4 ? sizeof(to4) : sizeof(to6)) < 0) {
		if (errno == ENOBUFS || errno == EAGAIN)
			continue;
		/* an option or length that this kernel does not let out */
		if (errno == EINVAL || errno == EMSGSIZE)
			return;
		die("sendto");
	}
	sent++;
}

static size_t ip_frame(uint8_t *frame, const uint8_t *payload, size_t len, bool icrc,
		       const struct lie *lie)
{
	static uint16_t id;
	size_t ip_len = 20 + lie->options;
	uint8_t *udp = frame + ip_len;
	uint32_t s;

	memset(frame, 1, ip_len);		/* options: no operation */
	frame[0] = 0x40 | ip_len / 4;
	frame[1] = 0;
	*(uint16_t *)(frame + 2) = htons(20 + 8 + len);
	*(uint16_t *)(frame + 4) = htons(++id ? id : ++id);
	*(uint16_t *)(frame + 6) = 0;
	frame[8] = 64;
	frame[9] = IPPROTO_UDP;
	frame[10] = frame[11] = 0;
	memcpy(frame + 12, &src4, 4);
	memcpy(frame + 16, &dst4, 4);
	*(uint16_t *)udp = htons(source_port);
	*(uint16_t *)(udp + 2) = htons(ROCE_PORT);
	*(uint16_t *)(udp + 4) = htons(8 + len + lie->udp_len);
	*(uint16_t *)(udp + 6) = 0;
	memcpy(udp + 8, payload, len);
	/* as if there were no options */
	if (icrc && len >= ICRC)
		put_icrc(frame, 20, udp, len);
	*(uint16_t *)(frame + 2) = htons(ip_len + 8 + len - lie->cut);
	if (lie->summed) {
		s = sum(frame + 12, 8, IPPROTO_UDP + 8 + len);
		s = sum(udp, 8 + len, s);
		while (s >> 16)
			s = (s & 0xffff) + (s >> 16);
		*(uint16_t *)(udp + 6) = htons(~s ^ lie->checksum);
	}
	return ip_len + 8 + len - lie->cut;
}

/* @next: what the IPv6 header says that follows */
static size_t ip6_frame(uint8_t *frame, const uint8_t *payload, size_t len, bool icrc, uint8_t next)
{
	uint8_t *udp = frame + 40;

	memset(frame, 0, 40 + 8);
	frame[0] = 0x60;
	*(uint16_t *)(frame + 4) = htons(8 + len);
	frame[6] = next;
	frame[7] = 64;
	memcpy(frame + 8, &src6, 16);
	memcpy(frame + 24, &dst6, 16);
	*(uint16_t *)udp = htons(source_port);
	*(uint16_t *)(udp + 2) = htons(ROCE_PORT);
	*(uint16_t *)(udp + 4) = htons(8 + len);
	memcpy(udp + 8, payload, len);
	if (icrc && len >= ICRC)
		put_icrc(frame, 40, udp, len);
	return 40 + 8 + len;
}

static void send_ip6(const uint8_t *payload, size_t len, bool icrc)
{
	uint8_t frame[40 + 8 + MAX_LEN];
	struct sockaddr_in6 to = {
		.sin6_family = AF_INET6, .sin6_addr = dst6, .sin6_port = htons(ROCE_PORT),
	};

	ip6_frame(frame, payload, len, icrc, IPPROTO_UDP);
	while (sendto(fd, frame + 48, len, 0, (void *)&to, sizeof(to)) < 0)
		if (errno != ENOBUFS && errno != EAGAIN)
			die("sendto");
	sent++;
}

static void send_packet(const uint8_t *payload, size_t len, bool icrc)
{
	static const struct lie honest;
	uint8_t frame[20 + 8 + MAX_LEN];

	if (family == AF_INET)
		send_raw(frame, ip_frame(frame, payload, len, icrc, &honest));
	else
		send_ip6(payload, len, icrc);
}

void bth(uint8_t *p, uint8_t opcode, uint32_t qpn, uint32_t psn)
{
	memset(p, 0, BTH);
	p[0] = opcode;
	p[2] = p[3] = 0xff;		/* default P_Key */
	p[5] = qpn >> 16;
	p[6] = qpn >> 8;
	p[7] = qpn;
	p[8] = 0x80;			/* acknowledge */
	p[9] = psn >> 16;
	p[10] = psn >> 8;
	p[11] = psn;
}

/* @hex: a multiple of four bytes */
static void send_request(uint32_t qpn, uint8_t opcode, const char *hex, uint32_t psn)
{
	uint8_t p[BTH + MAX_HEX + ICRC];
	size_t len = BTH;
	unsigned int byte;

	bth(p, opcode, qpn, psn);
	for (; len < BTH + MAX_HEX && sscanf(hex, "%2x", &byte) == 1; hex += 2)
		p[len++] = byte;
	memset(p + len, 0, ICRC);
	send_packet(p, len + ICRC, true);
}

static void send_token(uint32_t qpn, uint32_t psn, uint32_t token, bool bare)
{
	const struct lie lie = { .summed = !bare };
	uint8_t p[BTH + 8 + ICRC], frame[128], *last = p + BTH + 8;
	int i;

	bth(p, RC_SEND_ONLY, qpn, psn);
	memset(p + BTH, 0x3c, 8);
	/* rxe_token_field() */
	token ^= psn * 0x9e3779b1;
	for (i = 0; i < ICRC; i++)
		last[i] = token >> 8 * i;
	send_raw(frame, ip_frame(frame, p, sizeof(p), false, &lie));
}

static size_t ud_send(uint8_t *p, uint32_t qpn)
{
	int i;

	bth(p, UD_SEND_ONLY, qpn, 1);
	memset(p + BTH, QKEY & 0xff, 4);	/* all bytes are the same */
	memset(p + BTH + 4, 0, 4);
	p[BTH + 7] = 0x77;			/* source QPN */
	for (i = 0; i < 32; i++)
		p[BTH + 8 + i] = i;
	return BTH + 8 + 32 + ICRC;
}

static void send_icrc(uint32_t qpn)
{
	uint8_t p[128];
	size_t len = ud_send(p, qpn);

	for (icrc_error = 1; icrc_error; icrc_error <<= 1)
		send_packet(p, len, true);
}

static void send_short(uint32_t qpn)
{
	static const uint8_t opcodes[] = { 0xff, 0x00, 0x04, 0x0a, 0x0c, 0x10, 0x11, 0x13, 0x64 };
	uint32_t qpns[] = { 0xffffff, qpn, 0, 1, 2 };
	uint8_t p[128];
	size_t i, j, len;

	for (i = 0; i < sizeof(opcodes); i++)
		for (j = 0; j < 5; j++)
			for (len = 0; len <= 64; len += j < 2 ? 1 : 5) {
				memset(p, 0xff, sizeof(p));
				bth(p, opcodes[i], qpns[j], 0);
				send_packet(p, len, false);
			}
}

static void send_opcodes(uint32_t qpn)
{
	uint8_t p[128];
	int opcode, len;

	for (opcode = 0; opcode < 256; opcode++)
		for (len = ICRC; len <= 64; len += opcode % 32 < 24 ? 1 : 7) {
			memset(p, opcode, sizeof(p));
			bth(p, opcode, qpn, 0x123456);
			send_packet(p, len, true);
		}
}

static void send_fields(uint32_t qpn)
{
	static const uint32_t psns[] = { 0, 1, 0x123456, 0x123457, 0x523456, 0x923456, 0xffffff };
	static const uint8_t opcodes[] = { 0x00, 0x01, 0x02, 0x04, 0x05, 0x06, 0x07, 0x08, 0x0a,
					   0x0b, 0x0c, 0x0d, 0x0f, 0x10, 0x11, 0x12, 0x13, 0x14,
					   0x16, 0x17, 0x1c, 0x1d, 0x24, 0x64, 0x65, 0x81 };
	uint8_t p[256];
	size_t i, j, k;

	for (i = 0; i < sizeof(opcodes); i++) {
		for (j = 0; j < 7; j++) {
			memset(p, 0xff, sizeof(p));
			bth(p, opcodes[i], qpn, psns[j]);
			send_packet(p, 100, true);
		}
		/* pads with payloads of 0 to 4 bytes behind the longest header */
		for (j = 0; j < 4; j++)
			for (k = 0; k <= 4; k++) {
				memset(p, 0, sizeof(p));
				bth(p, opcodes[i], qpn, 0x123456);
				p[1] = j << 4;
				send_packet(p, BTH + 16 + k + ICRC, true);
				send_packet(p, BTH + k + ICRC, true);
			}
		/* header versions, P_Keys, a multicast QPN, reserved bits */
		memset(p, 0, sizeof(p));
		bth(p, opcodes[i], qpn, 0x123456);
		p[1] = 0x0f;
		send_packet(p, 64, true);
		p[1] = 0;
		p[2] = 0x12;
		send_packet(p, 64, true);
		bth(p, opcodes[i], 0xffffff, 0x123456);
		send_packet(p, 64, true);
		bth(p, opcodes[i], qpn + 1, 0x123456);
		memset(p + 4, 0xff, 1);
		send_packet(p, 64, true);
	}
	/* UD: Q_Key */
	ud_send(p, qpn);
	p[BTH] ^= 1;
	send_packet(p, BTH + 8 + 32 + ICRC, true);
}

static void send_random(uint32_t qpn, long count)
{
	uint8_t p[MAX_LEN];
	size_t len, i;

	while (count--) {
		len = ICRC + next_random() % (next_random() % 4 ? 80 : 1400);
		for (i = 0; i < len; i++)
			p[i] = next_random() >> 7;
		/* mostly for the QP, so that something happens */
		if (len > BTH && next_random() % 8) {
			bth(p, next_random() % 4 ? next_random() % 0x20 : next_random(), qpn,
			    0x123456 + next_random() % 16 - 8);
			p[1] = next_random() % 4 ? 0 : next_random();
		}
		send_packet(p, len, next_random() % 16);
	}
}

static void send_ip(uint32_t qpn)
{
	uint8_t p[256], frame[512];
	size_t len = ud_send(p, qpn);
	struct lie lie;
	int i;

	for (i = -60; i <= 60; i += i < -8 || i > 8 ? 7 : 1) {
		if (!i)
			continue;
		lie = (struct lie){ .udp_len = i };
		send_raw(frame, ip_frame(frame, p, len, true, &lie));
	}
	for (i = 1; i < 60; i += 3) {
		lie = (struct lie){ .cut = i };
		send_raw(frame, ip_frame(frame, p, len, true, &lie));
	}
	for (i = 1; i < 0x10000; i <<= 1) {
		lie = (struct lie){ .summed = true, .checksum = i };
		send_raw(frame, ip_frame(frame, p, len, true, &lie));
	}
}

/*
 * The first @cut bytes behind the IP header, a multiple of eight, if @parts has 1, and the
 * rest, if it has 2.
 */
static void send_parts(const uint8_t *frame, size_t len, size_t cut, int parts)
{
	static uint32_t id;
	size_t ip_len = family == AF_INET ? 20 : 40, head = ip_len;
	uint8_t part[512];
	int i;

	memcpy(part, frame, ip_len);
	if (family == AF_INET6) {
		uint8_t *frag = part + ip_len;

		part[6] = IPPROTO_FRAGMENT;
		frag[0] = IPPROTO_UDP;
		frag[1] = 0;
		*(uint32_t *)(frag + 4) = htonl(++id);
		head += 8;
	}
	for (i = 0; i < 2; i++) {
		size_t from = ip_len + (i ? cut : 0), bytes = i ? len - from : cut;

		if (family == AF_INET) {	/* the kernel sets length and checksum */
			*(uint16_t *)(part + 6) = htons(i ? cut / 8 : IP_MF);
		} else {
			*(uint16_t *)(part + 4) = htons(8 + bytes);
			*(uint16_t *)(part + ip_len + 2) = htons(i ? cut : 1);
		}
		memcpy(part + head, frame + from, bytes);
		if (parts & 1 << i)
			send_raw(part, head + bytes);
	}
}

/* One with an extension header of eight bytes that says nothing */
static void send_extended(const uint8_t *payload, size_t len, uint8_t next)
{
	uint8_t frame[512], with[512];
	size_t total = ip6_frame(frame, payload, len, true, next);

	memcpy(with, frame, 40);
	*(uint16_t *)(with + 4) = htons(8 + total - 40);
	memset(with + 40, 0, 8);
	with[40] = IPPROTO_UDP;
	if (next != IPPROTO_FRAGMENT)
		with[42] = 1, with[43] = 4;	/* PadN */
	memcpy(with + 48, frame + 40, total - 40);
	send_raw(with, total + 8);
}

static void send_fragments(uint32_t qpn)
{
	static const struct lie honest;
	uint8_t p[256], frame[512];
	size_t len = ud_send(p, qpn), total;
	unsigned long whole = 0;
	struct lie lie;
	int i;

	for (i = 0; i < 6; i++) {
		total = family == AF_INET ? ip_frame(frame, p, len, true, &honest) :
					    ip6_frame(frame, p, len, true, IPPROTO_UDP);
		/* two of them, then the first and the last one alone */
		send_parts(frame, total, 8 * (i + 1), i < 4 ? 3 : i - 3);
		whole += i < 4;
	}
	sent = whole;
	/* the ICRC is not defined for such packets */
	for (i = 4; family == AF_INET && i <= 40; i += 4) {
		lie = (struct lie){ .options = i };
		send_raw(frame, ip_frame(frame, p, len, true, &lie));
	}
	if (family == AF_INET6) {
		send_extended(p, len, IPPROTO_HOPOPTS);
		send_extended(p, len, IPPROTO_DSTOPTS);
		send_extended(p, len, IPPROTO_FRAGMENT);
	}
}

static void bind_port(const char *port)
{
	struct sockaddr_in to4 = { .sin_family = AF_INET, .sin_port = htons(atoi(port)) };
	struct sockaddr_in6 to6 = { .sin6_family = AF_INET6, .sin6_port = htons(atoi(port)) };
	int fd4 = socket(AF_INET, SOCK_DGRAM, 0), fd6, on = 1;

	if (fd4 < 0 || bind(fd4, (void *)&to4, sizeof(to4)))
		die("bind");
	fd6 = socket(AF_INET6, SOCK_DGRAM, 0);
	if (fd6 >= 0) {
		setsockopt(fd6, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
		if (bind(fd6, (void *)&to6, sizeof(to6)))
			die("bind, IPv6");
	}
	puts("ready");
	fflush(stdout);
	pause();
}

static void open_socket(const char *src, const char *dst)
{
	struct sockaddr_in6 from = { .sin6_family = AF_INET6 };
	socklen_t len = sizeof(from);

	if (inet_pton(AF_INET, src, &src4) == 1 && inet_pton(AF_INET, dst, &dst4) == 1) {
		family = AF_INET;
		source_port = 50000;
		fd = socket(AF_INET, SOCK_RAW, IPPROTO_RAW);
		if (fd < 0)
			die("socket");
	} else if (inet_pton(AF_INET6, src, &src6) == 1 && inet_pton(AF_INET6, dst, &dst6) == 1) {
		family = AF_INET6;
		from.sin6_addr = src6;
		fd = socket(AF_INET6, SOCK_DGRAM, 0);
		if (fd < 0 || bind(fd, (void *)&from, sizeof(from)) ||
		    getsockname(fd, (void *)&from, &len))
			die("socket");
		source_port = ntohs(from.sin6_port);
		raw6_fd = socket(AF_INET6, SOCK_RAW, IPPROTO_RAW);
		if (raw6_fd < 0)
			die("socket");
	} else {
		fprintf(stderr, "packets: not two addresses of one family\n");
		exit(1);
	}
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "";
	uint8_t p[128];
	uint32_t qpn;

	if (argc == 3 && !strcmp(kind, "bind")) {
		bind_port(argv[2]);
		return 0;
	}
	if (argc >= 13 && !strcmp(kind, "product"))
		return product(argc - 2, argv + 2);
	if (argc < 5) {
		fprintf(stderr, "usage: packets KIND SOURCE DESTINATION QPN [COUNT]\n");
		return 1;
	}
	open_socket(argv[2], argv[3]);
	qpn = strtoul(argv[4], NULL, 0);
	if (!strcmp(kind, "valid")) {
		long count = argc > 5 ? atol(argv[5]) : 1;

		while (count--)
			send_packet(p, ud_send(p, qpn), true);
	} else if (!strcmp(kind, "icrc")) {
		send_icrc(qpn);
	} else if (!strcmp(kind, "request") && argc >= 7) {
		send_request(qpn, strtoul(argv[5], NULL, 0), argv[6],
			     argc > 7 ? strtoul(argv[7], NULL, 0) : 0x123456);
	} else if (!strcmp(kind, "token") && argc >= 7 && family == AF_INET) {
		send_token(qpn, strtoul(argv[5], NULL, 0), strtoul(argv[6], NULL, 0), argc > 7);
	} else if (!strcmp(kind, "short")) {
		send_short(qpn);
	} else if (!strcmp(kind, "opcodes")) {
		send_opcodes(qpn);
	} else if (!strcmp(kind, "fields")) {
		send_fields(qpn);
	} else if (!strcmp(kind, "random")) {
		send_random(qpn, argc > 5 ? atol(argv[5]) : 1000);
	} else if (!strcmp(kind, "ip") && family == AF_INET) {
		send_ip(qpn);
	} else if (!strcmp(kind, "fragments")) {
		send_fragments(qpn);
	} else {
		fprintf(stderr, "packets: unknown kind %s\n", kind);
		return 1;
	}
	printf("%lu\n", sent);
	return 0;
}
