/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* RoCE packets, parsed and built: pure code on contiguous bytes. */
#ifndef RXE_PACKET_H
#define RXE_PACKET_H

#include <rdma/roce.h>
#include <rdma/roce_psn.h>
#include "rxe_opcode.h"

/**
 * struct rxe_pkt - one packet, headers in host order
 * @info:	properties of @opcode
 * @opcode:	BTH opcode
 * @se:		solicited event
 * @ackreq:	acknowledge request
 * @becn:	backward congestion notification
 * @pad:	pad bytes behind the payload, 0..3
 * @pkey:	partition key
 * @qpn:	destination QPN
 * @psn:	sequence number
 * @va:		RETH or ATOMICETH
 * @rkey:	RETH, ATOMICETH or IETH
 * @length:	RETH, bytes
 * @syndrome:	AETH
 * @msn:	AETH
 * @qkey:	DETH
 * @sqpn:	DETH, source QPN
 * @imm:	IMMDT, as on the wire
 * @plt:	FETH, placement type
 * @sel:	FETH, selectivity level
 * @swap_add:	ATOMICETH
 * @compare:	ATOMICETH
 * @orig:	ATOMICACKETH
 * @payload:	first payload byte; into the parsed buffer
 * @payload_len: bytes without pad
 */
struct rxe_pkt {
	const struct rxe_opcode_info *info;
	u8		opcode;
	bool		se;
	bool		ackreq;
	bool		becn;
	u8		pad;
	u16		pkey;
	u32		qpn;
	struct roce_psn	psn;
	u64		va;
	u32		rkey;
	u32		length;
	u8		syndrome;
	u32		msn;
	u32		qkey;
	u32		sqpn;
	__be32		imm;
	u8		plt;
	u8		sel;
	u64		swap_add;
	u64		compare;
	u64		orig;
	const u8	*payload;
	unsigned int	payload_len;
};

/* Why a packet is dropped before it reaches a QP's executor, and in it. */
enum rxe_drop {
	RXE_DROP_NONE,
	RXE_DROP_SHORT,		/* shorter than its headers need */
	RXE_DROP_OPCODE,	/* opcode unknown or not supported */
	RXE_DROP_VERSION,	/* transport header version is not 0 */
	RXE_DROP_PAD,		/* pad larger than the payload, or the length no multiple of four */
	RXE_DROP_PAYLOAD,	/* payload where the opcode has none */
	RXE_DROP_ICRC,
	RXE_DROP_CSUM,		/* UDP checksum */
	RXE_DROP_IP,		/* IP header with options, or of odd length */
	RXE_DROP_NO_QP,
	RXE_DROP_QP_TYPE,
	RXE_DROP_QP_STATE,
	RXE_DROP_ADDRESS,	/* not from, or not to, the QP's address or namespace */
	RXE_DROP_PKEY,
	RXE_DROP_QKEY,
	RXE_DROP_PSN,		/* outside of the window, or stale */
	RXE_DROP_QUEUE,		/* the QP's packet queue is full */
	RXE_DROP_NO_GROUP,	/* multicast without a member */
	RXE_DROP_NO_WQE,	/* datagram without a receive WQE */
	RXE_DROP_LENGTH,	/* datagram longer than its receive WQE */
	RXE_DROP_DUPLICATE,
	RXE_DROP_INVALID,	/* UC: what RC answers with a NAK */
	RXE_DROP_UNREADABLE,	/* the payload is not in host memory */
	RXE_NR_DROPS
};

/**
 * rxe_pkt_parse - read and check the headers of one packet
 * @data:	from the BTH to the end of the ICRC, contiguous
 * @len:	its bytes
 * @pkt:	result; valid only on success
 *
 * Checks lengths, pad and version against the opcode; does not verify the
 * ICRC and knows no QP.  Never reads outside of @data.
 *
 * Context: any.
 * Return: RXE_DROP_NONE or the reason to drop.
 */
enum rxe_drop rxe_pkt_parse(const u8 *data, unsigned int len, struct rxe_pkt *pkt);

/**
 * rxe_pkt_build - write the BTH and the extension headers of @pkt
 * @pkt:	opcode, header fields and pad are used; @info and payload are not
 * @data:	room for ROCE_MAX_HDR bytes
 *
 * Context: any.
 * Return: bytes written: hdr_len of the opcode.
 */
unsigned int rxe_pkt_build(const struct rxe_pkt *pkt, u8 *data);

/**
 * rxe_pkt_qpn - destination QPN without a full parse
 * @data:	at least a BTH
 *
 * Return: the QPN.
 */
static inline u32 rxe_pkt_qpn(const u8 *data)
{
	return (data[5] << 16 | data[6] << 8 | data[7]);
}

/**
 * rxe_pkt_set_ackreq - set the acknowledge request bit of a built packet
 * @data:	its BTH
 */
static inline void rxe_pkt_set_ackreq(u8 *data)
{
	data[8] |= 0x80;
}

#endif /* RXE_PACKET_H */
