// SPDX-License-Identifier: GPL-2.0
/*
 * pma DEVICE GID-INDEX GID: ask the port with that GID for its counters, with a
 * performance management MAD.  perfquery cannot: it has no way to send a GRH
 * without a subnet manager.  Prints one "name value" a line.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <infiniband/umad.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PERF_CLASS	4
#define GET		1
#define GET_RESP	0x81
#define QP1_QKEY	0x80010000
#define SELECT		64	/* offset of the attribute in the MAD */

struct mad {
	uint8_t		base_version, mgmt_class, class_version, method;
	uint16_t	status, class_specific;
	uint64_t	tid;
	uint16_t	attr_id, reserved;
	uint32_t	attr_mod;
	uint8_t		data[232];
} __attribute__((packed));

static int fd, agent, gid_index;
static uint8_t gid[16];

static void die(const char *what)
{
	printf("%s\n", what);
	exit(1);
}

/* The answer's attribute; ends the program when its status is another one. */
static const uint8_t *ask(uint16_t attr, uint8_t method, uint8_t port, int status)
{
	static uint8_t *umad;
	int len = sizeof(struct mad);
	struct mad *mad;

	free(umad);
	umad = calloc(1, umad_size() + sizeof(*mad));
	mad = umad_get_mad(umad);
	mad->base_version = 1;
	mad->mgmt_class = PERF_CLASS;
	mad->class_version = 1;
	mad->method = method;
	mad->tid = htobe64(1000 + attr);
	mad->attr_id = htobe16(attr);
	mad->data[SELECT - 24 + 1] = port;
	umad_set_addr(umad, 1, 1, 0, QP1_QKEY);
	umad_set_grh(umad, &(ib_mad_addr_t){ .gid_index = gid_index, .hop_limit = 64 });
	umad_get_mad_addr(umad)->gid_index = gid_index;
	memcpy(umad_get_mad_addr(umad)->gid, gid, 16);
	if (umad_send(fd, agent, umad, len, 2000, 3))
		die("cannot send");
	if (umad_recv(fd, umad, &len, 20000) < 0)
		die("no answer");
	if (umad_status(umad)) {
		printf("nobody answers: %s\n", strerror(umad_status(umad)));
		exit(1);
	}
	mad = umad_get_mad(umad);
	if (mad->method != GET_RESP || mad->attr_id != htobe16(attr))
		die("not an answer");
	if (be16toh(mad->status) != status) {
		printf("status %#x, not %#x\n", be16toh(mad->status), status);
		exit(1);
	}
	return (const uint8_t *)mad + SELECT;
}

static uint64_t number(const uint8_t *p, int bytes)
{
	uint64_t v = 0;

	while (bytes--)
		v = v << 8 | *p++;
	return v;
}

int main(int argc, char **argv)
{
	const uint8_t *p;

	if (argc != 4 || inet_pton(AF_INET6, argv[3], gid) != 1)
		die("usage: pma DEVICE GID-INDEX GID");
	gid_index = atoi(argv[2]);
	if (umad_init() < 0)
		die("no umad");
	fd = umad_open_port(argv[1], 1);
	if (fd < 0)
		die("cannot open the port");
	agent = umad_register(fd, PERF_CLASS, 1, 0, NULL);
	if (agent < 0)
		die("cannot register");

	p = ask(0x01, GET, 0, 0);
	printf("extended %d\n", !!(number(p + 2, 2) & 1 << 9));
	p = ask(0x12, GET, 1, 0);
	printf("link_downed %llu\n", (unsigned long long)number(p + 7, 1));
	printf("rcv_errors %llu\n", (unsigned long long)number(p + 8, 2));
	printf("xmit_discards %llu\n", (unsigned long long)number(p + 14, 2));
	printf("rcv_constraint_errors %llu\n", (unsigned long long)number(p + 17, 1));
	printf("xmit_data_32 %llu\n", (unsigned long long)number(p + 24, 4));
	printf("rcv_data_32 %llu\n", (unsigned long long)number(p + 28, 4));
	p = ask(0x1d, GET, 1, 0);
	printf("xmit_data %llu\n", (unsigned long long)number(p + 8, 8));
	printf("rcv_data %llu\n", (unsigned long long)number(p + 16, 8));
	printf("xmit_packets %llu\n", (unsigned long long)number(p + 24, 8));
	printf("rcv_packets %llu\n", (unsigned long long)number(p + 32, 8));

	/* a port that is not there, an attribute, a method: refused */
	ask(0x12, GET, 7, 0x1c);
	ask(0x10, GET, 1, 0x0c);
	ask(0x12, 2, 1, 0x08);
	puts("refused");
	return 0;
}
