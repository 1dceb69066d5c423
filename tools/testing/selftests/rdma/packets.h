/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of "packets" share. */
#ifndef PACKETS_H
#define PACKETS_H

#include <stddef.h>
#include <stdint.h>

#define ROCE_PORT	4791
#define BTH		12
#define ICRC		4

extern int family;

void die(const char *what);
void seed_random(uint32_t seed);
uint32_t next_random(void);

/* @ip: header of @ip_len bytes; @udp: header with @len bytes behind, ICRC included */
void put_icrc(uint8_t *ip, size_t ip_len, uint8_t *udp, size_t len);
void bth(uint8_t *p, uint8_t opcode, uint32_t qpn, uint32_t psn);

/* "packets product": see packets.c */
int product(int argc, char **argv);

#endif /* PACKETS_H */
