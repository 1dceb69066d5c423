/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Invariant CRC of RoCEv2 packets (IBTA A17.3.3): pure code. */
#ifndef RXE_ICRC_H
#define RXE_ICRC_H

#include <linux/types.h>

/* Bytes of the BTH that few packets of a flow differ in: what is ahead of the PSN. */
#define RXE_ICRC_BTH	8

/**
 * struct rxe_icrc_flow - what the ICRC covers ahead of the BTH
 * @ip:		IPv4 or IPv6 header, with the variant fields already masked
 *		to ones (IBTA A17.3.3.1); IPv4 without options
 * @ip_len:	20 or 40
 * @sport:	UDP source port
 * @len:	of the last packet, from the BTH on; 0: none yet
 * @bth:	its first bytes there
 * @head:	CRC up to these, with an IPv4 ID of 0
 *
 * One for each flow (QP or socket buffer); lengths and the IPv4 ID change by
 * packet and are given to rxe_icrc(), which keeps what the next one may share.
 */
struct rxe_icrc_flow {
	u8	ip[40] __aligned(4);
	u8	ip_len;
	__be16	sport;
	u32	len;
	u8	bth[RXE_ICRC_BTH];
	u32	head;
};

/**
 * rxe_icrc_flow_init - take a flow from an IP header
 * @flow:	result
 * @ip:		IPv4 (no options) or IPv6 header
 * @sport:	UDP source port
 */
void rxe_icrc_flow_init(struct rxe_icrc_flow *flow, const void *ip, __be16 sport);

/**
 * rxe_icrc - ICRC of one packet
 * @flow:	the headers ahead of the BTH
 * @ip_id:	IPv4 identification, host order; ignored for IPv6
 * @data:	from the BTH up to, without, the ICRC
 * @len:	its bytes, at least a BTH
 *
 * Context: any.
 * Return: the four bytes as they stand on the wire.
 */
__le32 rxe_icrc(struct rxe_icrc_flow *flow, u16 ip_id, const u8 *data, unsigned int len);

/* Before the first rxe_icrc(). */
void rxe_icrc_module_init(void);

#endif /* RXE_ICRC_H */
