// SPDX-License-Identifier: GPL-2.0
/*
 * Packets at random out of the product of all that can be wrong with one, and of what
 * is right: most have one or two faults, so that each check is reached.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include "packets.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define MAX_QPNS	16
#define MAX_FRAME	2048
#define IP_ROOM		120

#define pick(a)		((a)[next_random() % ARRAY_SIZE(a)])
#define one_in(n)	(next_random() % (n) == 0)

/* what all packets of a run share */
static struct {
	int			fd;
	struct sockaddr_ll	to;
	uint8_t			mac[6];
	uint8_t			stranger[16], peer[16], dst[16];
	uint64_t		addr;
	uint32_t		rkey;
	uint32_t		qpns[MAX_QPNS];
	int			nr_qpns;
	unsigned long		sent;
} run;

/* One packet, from the BTH on */
struct packet {
	uint8_t	data[MAX_FRAME];
	size_t	len;
	bool	icrc;
	bool	spoof;
};

static uint8_t *put(uint8_t *p, uint64_t value, int bytes)
{
	while (bytes--)
		*p++ = value >> 8 * bytes;
	return p;
}

/* Extension headers by opcode (IBTA table 38); 0x1f is the operation, the rest the transport. */
enum { DETH = 1, RETH = 2, AETH = 4, ATOMIC = 8, ATOMIC_ACK = 16, IMM = 32, FETH = 64 };

static int headers(uint8_t opcode)
{
	static const uint8_t ops[32] = {
		[0x03] = IMM, [0x05] = IMM, [0x06] = RETH, [0x09] = IMM, [0x0a] = RETH,
		[0x0b] = RETH | IMM, [0x0c] = RETH, [0x0d] = AETH, [0x0f] = AETH, [0x10] = AETH,
		[0x11] = AETH, [0x12] = AETH | ATOMIC_ACK, [0x13] = ATOMIC, [0x14] = ATOMIC,
		[0x16] = IMM, [0x17] = IMM, [0x1c] = FETH | RETH, [0x1d] = RETH,
	};

	return ops[opcode & 0x1f] | (opcode >> 5 == 3 ? DETH : 0);
}

static uint8_t choose_opcode(void)
{
	/* of RC, of UC, of UD, any */
	switch (next_random() % 8) {
	case 0: case 1: case 2: case 3:
		return next_random() % 0x20;
	case 4:
		return 0x20 + next_random() % 0x20;
	case 5:
		return 0x64 + next_random() % 2;
	default:
		return next_random();
	}
}

static uint32_t choose_qpn(bool *bystander)
{
	uint32_t fixed[] = { 0, 1, 2, 0xffffff, run.qpns[0] ^ 0x800000, next_random() & 0xffffff };
	int i = next_random() % (run.nr_qpns + 1);

	*bystander = i == 0;
	return i < run.nr_qpns ? run.qpns[i] : pick(fixed);
}

static uint32_t choose_psn(void)
{
	uint32_t near[] = { 0x123456, 0x123456, 0x123457, 0x123455, 0x123466, 0x523456, 0x923456,
			    0, 0xffffff };

	return one_in(4) ? next_random() & 0xffffff : pick(near);
}

static uint64_t choose_addr(void)
{
	uint64_t addrs[] = { run.addr, run.addr + 65535, 0, -1ULL, -8ULL, run.addr + 1 };

	return pick(addrs);
}

/* never the right one */
static uint32_t choose_key(void)
{
	uint32_t keys[] = { run.rkey ^ 1, run.rkey ^ 0x100, 0, 0xffffffff, next_random() };
	uint32_t key = pick(keys);

	return key == run.rkey ? 0 : key;
}

static uint8_t *put_headers(uint8_t *p, int which, uint32_t payload)
{
	static const uint32_t lies[] = { 0, 1, 0x7fffffff, 0x80000000, 0x80000001, 0xffffffff };
	static const uint32_t qkeys[] = { 0x11111111, 0x11111111, 0x80010000, 0, 0x11111110 };

	if (which & DETH) {
		p = put(p, pick(qkeys), 4);
		p = put(p, next_random() & 0xffffff, 4);
	}
	if (which & FETH)
		p = put(p, next_random() & 0x3f, 4);
	if (which & RETH) {
		p = put(p, choose_addr(), 8);
		p = put(p, choose_key(), 4);
		p = put(p, one_in(3) ? pick(lies) : payload, 4);
	}
	if (which & ATOMIC) {
		p = put(p, choose_addr() & (one_in(4) ? -1ULL : -8ULL), 8);
		p = put(p, choose_key(), 4);
		p = put(p, next_random(), 8);
		p = put(p, next_random(), 8);
	}
	if (which & AETH)
		p = put(p, next_random(), 4);
	if (which & ATOMIC_ACK)
		p = put(p, next_random(), 8);
	if (which & IMM)
		p = put(p, choose_key(), 4);
	return p;
}

static void choose_packet(struct packet *pkt)
{
	static const uint16_t sizes[] = { 0, 0, 1, 2, 3, 4, 8, 8, 64, 256, 1000, 1024 };
	static const uint16_t pkeys[] = { 0x7fff, 0, 0x8001, 0xfffe };
	uint8_t opcode = choose_opcode(), *p = pkt->data;
	uint32_t payload = pick(sizes);
	size_t hdr_len;
	bool bystander;

	bth(p, opcode, choose_qpn(&bystander), choose_psn());
	p[1] = (-payload & 3) << 4;
	if (one_in(8))
		p[1] = next_random();		/* pad, version and all */
	if (one_in(8))
		p[4] = next_random();		/* FECN, BECN, reserved */
	if (one_in(8))
		p[8] = next_random();		/* acknowledge, reserved */
	if (one_in(16))
		put(p + 2, pick(pkeys), 2);
	p = put_headers(p + BTH, headers(opcode), payload);
	hdr_len = p - pkt->data;
	memset(p, 0x3c, payload + 8);
	pkt->len = hdr_len + payload + (-payload & 3) + ICRC;
	if (one_in(6))				/* a length that does not fit */
		pkt->len = hdr_len + next_random() % 12;
	else if (one_in(6))			/* truncated within the headers */
		pkt->len = next_random() % (hdr_len + ICRC);
	pkt->icrc = pkt->len >= ICRC && !one_in(8);
	pkt->spoof = !bystander && !one_in(4);
}

/*
 * IP
 */

/* What is odd about the IP packet */
struct oddity {
	int	vlan;		/* tags: 0 to 2 */
	int	udp_lie;	/* added to the UDP length */
	int	ip_lie;		/* added to the IP length */
	int	options;	/* bytes of options or extension headers: a multiple of 8 */
	int	next;		/* IPv6: kind of the extension header */
	int	frag;		/* 1: a first fragment alone, 2: the last one alone, 3: both */
	bool	ttl0;
	bool	checksum;	/* a wrong one */
};

static void choose_oddity(struct oddity *odd)
{
	static const int lies[] = { -60, -8, -5, -4, -1, 1, 4, 8, 1000, 60000 };
	static const int next[] = { 0, 43, 60, 44, 51, 135, 253 };

	memset(odd, 0, sizeof(*odd));
	switch (next_random() % 16) {
	case 0:
		odd->vlan = 1 + next_random() % 2;
		break;
	case 1:
		odd->udp_lie = pick(lies);
		break;
	case 2:
		odd->ip_lie = pick(lies);
		break;
	case 3:
		odd->options = 8 << next_random() % 3;
		odd->next = pick(next);
		break;
	case 4:
		odd->frag = 1 + next_random() % 3;
		break;
	case 5:
		odd->ttl0 = one_in(2);
		odd->checksum = !odd->ttl0;
		break;
	}
}

static uint16_t ip_sum(const uint8_t *p, size_t len)
{
	uint32_t s = 0;
	size_t i;

	for (i = 0; i < len; i += 2)
		s += p[i] << 8 | p[i + 1];
	while (s >> 16)
		s = (s & 0xffff) + (s >> 16);
	return ~s;
}

static size_t put_ip4(uint8_t *ip, const uint8_t *src, size_t behind, const struct oddity *odd)
{
	static uint16_t id;
	size_t len = 20 + odd->options;

	memset(ip, 1, len);			/* options: no operation */
	ip[0] = 0x40 | len / 4;
	ip[1] = 0;
	put(ip + 2, len + behind + odd->ip_lie, 2);
	put(ip + 4, ++id, 2);
	put(ip + 6, odd->frag ? 0 : 0x4000, 2);	/* do not fragment */
	ip[8] = odd->ttl0 ? 0 : 64;
	ip[9] = IPPROTO_UDP;
	put(ip + 10, 0, 2);
	memcpy(ip + 12, src, 4);
	memcpy(ip + 16, run.dst, 4);
	return len;
}

static size_t put_ip6(uint8_t *ip, const uint8_t *src, size_t behind, const struct oddity *odd)
{
	memset(ip, 0, 40 + odd->options);
	ip[0] = 0x60;
	put(ip + 4, odd->options + behind + odd->ip_lie, 2);
	ip[6] = odd->options ? odd->next : IPPROTO_UDP;
	ip[7] = odd->ttl0 ? 0 : 64;
	memcpy(ip + 8, src, 16);
	memcpy(ip + 24, run.dst, 16);
	if (odd->options) {
		ip[40] = IPPROTO_UDP;
		/* a fragment header has no length */
		ip[41] = odd->next == 44 ? 0 : odd->options / 8 - 1;
		if (odd->next == 0 || odd->next == 60)
			put(ip + 42, 0x0100 | (odd->options - 4), 2);	/* PadN */
	}
	return 40 + odd->options;
}

static void finish_ip(uint8_t *ip, size_t len, const struct oddity *odd)
{
	if (family == AF_INET)
		put(ip + 10, ip_sum(ip, len) ^ (odd->checksum ? 0x1234 : 0), 2);
}

static void send_frame(const uint8_t *ip, size_t len, int vlan)
{
	uint8_t frame[MAX_FRAME + IP_ROOM + 64], *p = frame;

	memcpy(p, run.to.sll_addr, 6);
	memcpy(p + 6, run.mac, 6);
	p += 12;
	while (vlan--) {
		p = put(p, vlan ? 0x88a8 : 0x8100, 2);
		p = put(p, one_in(2) ? 0 : next_random() & 0xfff, 2);
	}
	p = put(p, family == AF_INET ? ETHERTYPE_IP : ETHERTYPE_IPV6, 2);
	memcpy(p, ip, len);
	p += len;
	while (sendto(run.fd, frame, p - frame, 0, (void *)&run.to, sizeof(run.to)) < 0) {
		if (errno == EMSGSIZE || errno == EINVAL)
			return;
		if (errno != ENOBUFS && errno != EAGAIN)
			die("sendto");
		usleep(1000);
	}
	run.sent++;
}

/* IPv4 alone: the whole packet lies at @ip. */
static void send_fragments(uint8_t *ip, size_t ip_len, size_t len, int which)
{
	uint8_t part[MAX_FRAME + IP_ROOM];
	size_t cut = (len - ip_len) / 2 & ~7UL;

	memcpy(part, ip, ip_len + cut);
	put(part + 2, ip_len + cut, 2);
	put(part + 6, 0x2000, 2);
	put(part + 10, 0, 2);
	put(part + 10, ip_sum(part, ip_len), 2);
	if (which & 1)
		send_frame(part, ip_len + cut, 0);
	memcpy(part + ip_len, ip + ip_len + cut, len - ip_len - cut);
	put(part + 2, len - cut, 2);
	put(part + 6, cut / 8, 2);
	put(part + 10, 0, 2);
	put(part + 10, ip_sum(part, ip_len), 2);
	if (which & 2)
		send_frame(part, len - cut, 0);
}

static void send_packet(const struct packet *pkt, const struct oddity *odd)
{
	const uint8_t *src = pkt->spoof ? run.peer : run.stranger;
	uint8_t ip[MAX_FRAME + IP_ROOM], *udp;
	size_t ip_len, behind = 8 + pkt->len;

	ip_len = (family == AF_INET ? put_ip4 : put_ip6)(ip, src, behind, odd);
	udp = ip + ip_len;
	put(udp, 50000 + next_random() % 64, 2);
	put(udp + 2, ROCE_PORT, 2);
	put(udp + 4, behind + odd->udp_lie, 2);
	put(udp + 6, 0, 2);
	memcpy(udp + 8, pkt->data, pkt->len);
	if (pkt->icrc)
		put_icrc(ip, ip_len, udp, pkt->len);
	finish_ip(ip, ip_len, odd);
	if (odd->frag && family == AF_INET)
		send_fragments(ip, ip_len, ip_len + behind, odd->frag);
	else
		send_frame(ip, ip_len + behind, odd->vlan);
}

/*
 * Start
 */

static void open_device(const char *device, const char *mac)
{
	struct ifreq req = { };
	unsigned int m[6];
	int i;

	run.fd = socket(AF_PACKET, SOCK_RAW, 0);
	if (run.fd < 0)
		die("socket");
	snprintf(req.ifr_name, sizeof(req.ifr_name), "%s", device);
	if (ioctl(run.fd, SIOCGIFHWADDR, &req))
		die(device);
	memcpy(run.mac, req.ifr_hwaddr.sa_data, 6);
	run.to = (struct sockaddr_ll){
		.sll_family = AF_PACKET,
		.sll_ifindex = if_nametoindex(device),
		.sll_halen = 6,
	};
	if (sscanf(mac, "%x:%x:%x:%x:%x:%x", &m[0], &m[1], &m[2], &m[3], &m[4], &m[5]) != 6)
		die(mac);
	for (i = 0; i < 6; i++)
		run.to.sll_addr[i] = m[i];
}

static void address(const char *text, uint8_t *to)
{
	family = strchr(text, ':') ? AF_INET6 : AF_INET;
	if (inet_pton(family, text, to) != 1)
		die(text);
}

int product(int argc, char **argv)
{
	struct packet pkt;
	struct oddity odd;
	unsigned long count;
	int i;

	open_device(argv[0], argv[1]);
	address(argv[2], run.stranger);
	address(argv[3], run.peer);
	address(argv[4], run.dst);
	count = strtoul(argv[5], NULL, 0);
	seed_random(strtoul(argv[6], NULL, 0));
	run.addr = strtoull(argv[7], NULL, 0);
	run.rkey = strtoul(argv[8], NULL, 0);
	for (i = 9; i < argc && run.nr_qpns < MAX_QPNS; i++)
		run.qpns[run.nr_qpns++] = strtoul(argv[i], NULL, 0);
	while (count--) {
		choose_packet(&pkt);
		choose_oddity(&odd);
		send_packet(&pkt, &odd);
		/* time to be heard */
		if (count % 32 == 0)
			usleep(500);
	}
	printf("%lu\n", run.sent);
	return 0;
}
