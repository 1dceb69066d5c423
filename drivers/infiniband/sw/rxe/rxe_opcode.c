// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What each RoCE opcode carries (IBTA table 38).
 *
 * A new operation or service is one more line here; what has none is dropped
 * as unsupported.  The reserved ones of RC have one, because a requester that
 * sends one is told (IBTA 9.7.4.1.2).  Pure code, also built in user space by
 * tools/testing/unit.
 */
#include "rxe_opcode.h"

/* Shorthands, so that an entry fits on a line. */
#define FIRST		RXE_OP_FIRST
#define MIDDLE		RXE_OP_MIDDLE
#define LAST		RXE_OP_LAST
#define ONLY		RXE_OP_ONLY
#define RETH		RXE_OP_RETH
#define AETH		RXE_OP_AETH
#define DETH		RXE_OP_DETH
#define IMMDT		RXE_OP_IMMDT
#define ATOMICETH	RXE_OP_ATOMICETH
#define ATOMICACKETH	RXE_OP_ATOMICACKETH
#define IETH		RXE_OP_IETH
#define FETH		RXE_OP_FETH
#define RWQE		RXE_OP_RWQE
#define SEND_REQ	(RXE_OP_SEND | RXE_OP_REQUEST | RXE_OP_PAYLOAD)
#define WRITE_REQ	(RXE_OP_WRITE | RXE_OP_REQUEST | RXE_OP_PAYLOAD)
#define READ_REQ	(RXE_OP_READ | RXE_OP_REQUEST)
#define ATOMIC_REQ	(RXE_OP_ATOMIC | RXE_OP_REQUEST)
#define FLUSH_REQ	(RXE_OP_FLUSH | RXE_OP_REQUEST)
#define ATOMIC_WRITE_REQ (RXE_OP_ATOMIC_WRITE | RXE_OP_REQUEST | RXE_OP_PAYLOAD)
#define READ_RESP	(RXE_OP_READ_RESP | RXE_OP_RESPONSE | RXE_OP_PAYLOAD)
#define ACK_RESP	(RXE_OP_ACK | RXE_OP_RESPONSE)
#define RESERVED	(RXE_OP_RESERVED | RXE_OP_REQUEST | RXE_OP_PAYLOAD)

#define EXT(fl, bit, type)	((fl) & RXE_OP_##bit ? sizeof(struct roce_##type) : 0)

#define HDR_LEN(fl)					\
	(sizeof(struct roce_bth) +			\
	 EXT(fl, DETH, deth) +				\
	 EXT(fl, FETH, feth) +				\
	 EXT(fl, RETH, reth) +				\
	 EXT(fl, ATOMICETH, atomiceth) +		\
	 EXT(fl, AETH, aeth) +				\
	 EXT(fl, ATOMICACKETH, atomicacketh) +		\
	 EXT(fl, IMMDT, immdt) +			\
	 EXT(fl, IETH, ieth))

#define OPCODE_NUM(service, num, text, fl)		\
	[ROCE_SERVICE_##service | (num)] = {		\
		.name		= #service " " text,	\
		.flags		= (fl),			\
		.hdr_len	= HDR_LEN(fl),		\
	}

#define OPCODE(service, op, text, fl)	OPCODE_NUM(service, ROCE_OP_##op, text, fl)

const struct rxe_opcode_info rxe_opcodes[256] = {
	OPCODE(RC, SEND_FIRST, "SEND first", SEND_REQ | FIRST | RWQE),
	OPCODE(RC, SEND_MIDDLE, "SEND middle", SEND_REQ | MIDDLE),
	OPCODE(RC, SEND_LAST, "SEND last", SEND_REQ | LAST),
	OPCODE(RC, SEND_LAST_IMM, "SEND last imm", SEND_REQ | LAST | IMMDT),
	OPCODE(RC, SEND_ONLY, "SEND only", SEND_REQ | ONLY | RWQE),
	OPCODE(RC, SEND_ONLY_IMM, "SEND only imm", SEND_REQ | ONLY | RWQE | IMMDT),
	OPCODE(RC, SEND_LAST_INV, "SEND last inv", SEND_REQ | LAST | IETH),
	OPCODE(RC, SEND_ONLY_INV, "SEND only inv", SEND_REQ | ONLY | RWQE | IETH),

	OPCODE(RC, WRITE_FIRST, "WRITE first", WRITE_REQ | FIRST | RETH),
	OPCODE(RC, WRITE_MIDDLE, "WRITE middle", WRITE_REQ | MIDDLE),
	OPCODE(RC, WRITE_LAST, "WRITE last", WRITE_REQ | LAST),
	OPCODE(RC, WRITE_LAST_IMM, "WRITE last imm", WRITE_REQ | LAST | RWQE | IMMDT),
	OPCODE(RC, WRITE_ONLY, "WRITE only", WRITE_REQ | ONLY | RETH),
	OPCODE(RC, WRITE_ONLY_IMM, "WRITE only imm", WRITE_REQ | ONLY | RWQE | RETH | IMMDT),

	OPCODE(RC, READ_REQUEST, "READ request", READ_REQ | ONLY | RETH),
	OPCODE(RC, READ_RESP_FIRST, "READ response first", READ_RESP | FIRST | AETH),
	OPCODE(RC, READ_RESP_MIDDLE, "READ response middle", READ_RESP | MIDDLE),
	OPCODE(RC, READ_RESP_LAST, "READ response last", READ_RESP | LAST | AETH),
	OPCODE(RC, READ_RESP_ONLY, "READ response only", READ_RESP | ONLY | AETH),

	OPCODE(RC, ACK, "ACK", ACK_RESP | ONLY | AETH),
	OPCODE(RC, ATOMIC_ACK, "ATOMIC ACK", ACK_RESP | ONLY | AETH | ATOMICACKETH),
	OPCODE(RC, COMPARE_SWAP, "COMPARE SWAP", ATOMIC_REQ | ONLY | ATOMICETH),
	OPCODE(RC, FETCH_ADD, "FETCH ADD", ATOMIC_REQ | ONLY | ATOMICETH),

	OPCODE(RC, FLUSH, "FLUSH", FLUSH_REQ | ONLY | FETH | RETH),
	OPCODE(RC, ATOMIC_WRITE, "ATOMIC WRITE", ATOMIC_WRITE_REQ | ONLY | RETH),

	OPCODE_NUM(RC, 0x15, "reserved", RESERVED),
	OPCODE_NUM(RC, 0x18, "reserved", RESERVED),
	OPCODE_NUM(RC, 0x19, "reserved", RESERVED),
	OPCODE_NUM(RC, 0x1a, "reserved", RESERVED),
	OPCODE_NUM(RC, 0x1b, "reserved", RESERVED),
	OPCODE_NUM(RC, 0x1e, "reserved", RESERVED),
	OPCODE_NUM(RC, 0x1f, "reserved", RESERVED),

	OPCODE(UC, SEND_FIRST, "SEND first", SEND_REQ | FIRST | RWQE),
	OPCODE(UC, SEND_MIDDLE, "SEND middle", SEND_REQ | MIDDLE),
	OPCODE(UC, SEND_LAST, "SEND last", SEND_REQ | LAST),
	OPCODE(UC, SEND_LAST_IMM, "SEND last imm", SEND_REQ | LAST | IMMDT),
	OPCODE(UC, SEND_ONLY, "SEND only", SEND_REQ | ONLY | RWQE),
	OPCODE(UC, SEND_ONLY_IMM, "SEND only imm", SEND_REQ | ONLY | RWQE | IMMDT),

	OPCODE(UC, WRITE_FIRST, "WRITE first", WRITE_REQ | FIRST | RETH),
	OPCODE(UC, WRITE_MIDDLE, "WRITE middle", WRITE_REQ | MIDDLE),
	OPCODE(UC, WRITE_LAST, "WRITE last", WRITE_REQ | LAST),
	OPCODE(UC, WRITE_LAST_IMM, "WRITE last imm", WRITE_REQ | LAST | RWQE | IMMDT),
	OPCODE(UC, WRITE_ONLY, "WRITE only", WRITE_REQ | ONLY | RETH),
	OPCODE(UC, WRITE_ONLY_IMM, "WRITE only imm", WRITE_REQ | ONLY | RWQE | RETH | IMMDT),

	OPCODE(UD, SEND_ONLY, "SEND only", SEND_REQ | ONLY | RWQE | DETH),
	OPCODE(UD, SEND_ONLY_IMM, "SEND only imm", SEND_REQ | ONLY | RWQE | DETH | IMMDT),
};
