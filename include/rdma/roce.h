/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * RoCEv2 wire format: what stands between the UDP header and the ICRC
 * (IBTA 9, Annex A17).  All fields are big endian.
 */
#ifndef _RDMA_ROCE_H
#define _RDMA_ROCE_H

#include <linux/types.h>

#define ROCE_UDP_PORT		4791
#define ROCE_ICRC_SIZE		4
#define ROCE_GRH_SIZE		40
#define ROCE_QPN_MASK		0xffffffu
#define ROCE_MULTICAST_QPN	0xffffffu
#define ROCE_GSI_QPN		1u
#define ROCE_DEFAULT_PKEY	0xffffu
#define ROCE_PKEY_BASE		0x7fffu	/* the rest is full membership */
#define ROCE_GSI_QKEY		0x80010000u
#define ROCE_MAX_MTU		4096

/* Upper three bits of the opcode: the transport service (IBTA 9.2.1). */
#define ROCE_SERVICE_MASK	0xe0
#define ROCE_SERVICE_RC		0x00
#define ROCE_SERVICE_UC		0x20
#define ROCE_SERVICE_UD		0x60

/* Lower five bits: the operation (IBTA table 38). */
enum roce_op {
	ROCE_OP_SEND_FIRST		= 0x00,
	ROCE_OP_SEND_MIDDLE		= 0x01,
	ROCE_OP_SEND_LAST		= 0x02,
	ROCE_OP_SEND_LAST_IMM		= 0x03,
	ROCE_OP_SEND_ONLY		= 0x04,
	ROCE_OP_SEND_ONLY_IMM		= 0x05,
	ROCE_OP_WRITE_FIRST		= 0x06,
	ROCE_OP_WRITE_MIDDLE		= 0x07,
	ROCE_OP_WRITE_LAST		= 0x08,
	ROCE_OP_WRITE_LAST_IMM		= 0x09,
	ROCE_OP_WRITE_ONLY		= 0x0a,
	ROCE_OP_WRITE_ONLY_IMM		= 0x0b,
	ROCE_OP_READ_REQUEST		= 0x0c,
	ROCE_OP_READ_RESP_FIRST		= 0x0d,
	ROCE_OP_READ_RESP_MIDDLE	= 0x0e,
	ROCE_OP_READ_RESP_LAST		= 0x0f,
	ROCE_OP_READ_RESP_ONLY		= 0x10,
	ROCE_OP_ACK			= 0x11,
	ROCE_OP_ATOMIC_ACK		= 0x12,
	ROCE_OP_COMPARE_SWAP		= 0x13,
	ROCE_OP_FETCH_ADD		= 0x14,
	ROCE_OP_SEND_LAST_INV		= 0x16,
	ROCE_OP_SEND_ONLY_INV		= 0x17,
	ROCE_OP_FLUSH			= 0x1c,	/* Annex A19 */
	ROCE_OP_ATOMIC_WRITE		= 0x1d,
};

/**
 * struct roce_bth - base transport header (IBTA 9.2)
 * @opcode:	service and operation
 * @flags:	solicited event, migration, pad count, header version
 * @pkey:	partition key
 * @qpn:	FECN, BECN and six reserved bits (masked out of the ICRC), destination QPN
 * @apsn:	acknowledge request, seven reserved bits, PSN
 */
struct roce_bth {
	u8	opcode;
	u8	flags;
	__be16	pkey;
	__be32	qpn;
	__be32	apsn;
} __packed;

#define ROCE_BTH_SE		0x80	/* flags */
#define ROCE_BTH_MIG		0x40
#define ROCE_BTH_PAD_MASK	0x30
#define ROCE_BTH_PAD_SHIFT	4
#define ROCE_BTH_TVER_MASK	0x0f
#define ROCE_BTH_FECN		0x80000000u	/* qpn */
#define ROCE_BTH_BECN		0x40000000u
#define ROCE_BTH_ACK		0x80000000u	/* apsn */

/* RDMA extended transport header: WRITE first/only, READ request. */
struct roce_reth {
	__be64	va;
	__be32	rkey;
	__be32	length;
} __packed;

/* ACK extended transport header: syndrome in the top byte, MSN below. */
struct roce_aeth {
	__be32	smsn;
} __packed;

#define ROCE_AETH_ACK		0x00	/* | 5 bits of credit */
#define ROCE_AETH_RNR		0x20	/* | 5 bits of RNR timer */
#define ROCE_AETH_NAK		0x60	/* | enum roce_nak */
#define ROCE_AETH_CLASS_MASK	0x60
#define ROCE_AETH_VALUE_MASK	0x1f
#define ROCE_AETH_NO_CREDIT	0x1f	/* credit field not valid (IBTA table 45) */
#define ROCE_MSN_MASK		0xffffffu

enum roce_nak {
	ROCE_NAK_PSN_SEQ	= 0,
	ROCE_NAK_INVALID_REQ	= 1,
	ROCE_NAK_REM_ACCESS	= 2,
	ROCE_NAK_REM_OP		= 3,
	ROCE_NAK_INVALID_RD	= 4,
};

/* Datagram extended transport header: every UD packet. */
struct roce_deth {
	__be32	qkey;
	__be32	sqpn;
} __packed;

struct roce_atomiceth {
	__be64	va;
	__be32	rkey;
	__be64	swap_add;
	__be64	compare;
} __packed;

struct roce_atomicacketh {
	__be64	orig;
} __packed;

struct roce_immdt {
	__be32	imm;
} __packed;

struct roce_ieth {
	__be32	rkey;
} __packed;

/*
 * FLUSH extended transport header: what to flush, and how far (Annex A19).  The level
 * is where other Linux hosts have it on the wire; Wireshark 4.4 looks one bit lower.
 */
struct roce_feth {
	__be32	sel_plt;
} __packed;

#define ROCE_FETH_PLT_MASK	0x0fu	/* placement type: IB_FLUSH_GLOBAL, IB_FLUSH_PERSISTENT */
#define ROCE_FETH_SEL_MASK	0x30u	/* selectivity level: IB_FLUSH_RANGE, IB_FLUSH_MR */

/* BTH and the longest run of extension headers (ATOMICETH). */
#define ROCE_MAX_HDR		(sizeof(struct roce_bth) + sizeof(struct roce_atomiceth))

/* BTH and extension headers of the packet with payload that has most of them. */
#define ROCE_MAX_DATA_HDR	(sizeof(struct roce_bth) + sizeof(struct roce_reth) +	\
				 sizeof(struct roce_immdt))

/* Bytes that bring @len to a multiple of four. */
static inline unsigned int roce_pad(unsigned int len)
{
	return -len & 3;
}

#endif /* _RDMA_ROCE_H */
