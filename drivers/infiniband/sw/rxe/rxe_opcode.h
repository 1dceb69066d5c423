/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What each RoCE opcode carries: a const table, no driver objects. */
#ifndef RXE_OPCODE_H
#define RXE_OPCODE_H

#include <linux/types.h>
#include <rdma/roce.h>

enum rxe_op_flags {
	/* what it is */
	RXE_OP_SEND	= 1 << 0,
	RXE_OP_WRITE	= 1 << 1,
	RXE_OP_READ	= 1 << 2,	/* READ request */
	RXE_OP_ATOMIC	= 1 << 3,	/* atomic request */
	RXE_OP_READ_RESP = 1 << 4,
	RXE_OP_ACK	= 1 << 5,	/* ACK and ATOMIC ACK */
	RXE_OP_RESERVED	= 1 << 6,	/* no operation has it: refused, not dropped */
	RXE_OP_FLUSH	= 1 << 7,
	RXE_OP_ATOMIC_WRITE = 1 << 11,
	/* place in its message; ONLY = FIRST | LAST */
	RXE_OP_FIRST	= 1 << 8,
	RXE_OP_MIDDLE	= 1 << 9,
	RXE_OP_LAST	= 1 << 10,
	RXE_OP_ONLY	= RXE_OP_FIRST | RXE_OP_LAST,
	/* extension headers */
	RXE_OP_RETH	= 1 << 16,
	RXE_OP_AETH	= 1 << 17,
	RXE_OP_DETH	= 1 << 18,
	RXE_OP_IMMDT	= 1 << 19,
	RXE_OP_IETH	= 1 << 20,
	RXE_OP_ATOMICETH = 1 << 21,
	RXE_OP_ATOMICACKETH = 1 << 22,
	RXE_OP_FETH	= 1 << 23,
	/* consumers */
	RXE_OP_REQUEST	= 1 << 24,	/* goes to the responder */
	RXE_OP_RESPONSE	= 1 << 25,	/* goes to the completer */
	RXE_OP_RWQE	= 1 << 26,	/* takes a receive WQE on arrival */
	RXE_OP_PAYLOAD	= 1 << 27,	/* may carry payload */
};

/**
 * struct rxe_opcode_info - properties of one opcode
 * @name:	for traces, "RC SEND first"; NULL when the opcode is not supported
 * @flags:	enum rxe_op_flags
 * @hdr_len:	bytes of BTH and extension headers
 */
struct rxe_opcode_info {
	const char	*name;
	u32		flags;
	u8		hdr_len;
};

extern const struct rxe_opcode_info rxe_opcodes[256];

/**
 * rxe_opcode_info - look an opcode up
 * @opcode:	as on the wire, any value
 *
 * Return: its properties, NULL for an opcode that no service here uses.
 */
static inline const struct rxe_opcode_info *rxe_opcode_info(u8 opcode)
{
	return rxe_opcodes[opcode].name ? &rxe_opcodes[opcode] : NULL;
}

#endif /* RXE_OPCODE_H */
