/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Opcodes as a reader of the specification would write them down (IBTA
 * table 38): what rxe_opcode.c is compared with, so nothing is derived from it.
 */
#ifndef UNIT_OPCODE_REF_H
#define UNIT_OPCODE_REF_H

#include <string.h>
#include <linux/types.h>

/**
 * struct ref_op - an opcode that the driver supports
 * @opcode:	as on the wire
 * @name:	for people
 * @hdr_len:	BTH and extension headers, bytes
 * @words:	its properties
 */
struct ref_op {
	u8		opcode;
	const char	*name;
	unsigned int	hdr_len;
	const char	*words;
};

static const struct ref_op ref_ops[] = {
	{ 0x00, "RC SEND first", 12, "send first request rwqe payload" },
	{ 0x01, "RC SEND middle", 12, "send middle request payload" },
	{ 0x02, "RC SEND last", 12, "send last request payload" },
	{ 0x03, "RC SEND last imm", 16, "send last request payload immdt" },
	{ 0x04, "RC SEND only", 12, "send first last request rwqe payload" },
	{ 0x05, "RC SEND only imm", 16, "send first last request rwqe payload immdt" },
	{ 0x06, "RC WRITE first", 28, "write first request payload reth" },
	{ 0x07, "RC WRITE middle", 12, "write middle request payload" },
	{ 0x08, "RC WRITE last", 12, "write last request payload" },
	{ 0x09, "RC WRITE last imm", 16, "write last request rwqe payload immdt" },
	{ 0x0a, "RC WRITE only", 28, "write first last request payload reth" },
	{ 0x0b, "RC WRITE only imm", 32, "write first last request rwqe payload reth immdt" },
	{ 0x0c, "RC READ request", 28, "read first last request reth" },
	{ 0x0d, "RC READ response first", 16, "read_resp first response payload aeth" },
	{ 0x0e, "RC READ response middle", 12, "read_resp middle response payload" },
	{ 0x0f, "RC READ response last", 16, "read_resp last response payload aeth" },
	{ 0x10, "RC READ response only", 16, "read_resp first last response payload aeth" },
	{ 0x11, "RC ACK", 16, "ack first last response aeth" },
	{ 0x12, "RC ATOMIC ACK", 24, "ack first last response aeth atomicacketh" },
	{ 0x13, "RC COMPARE SWAP", 40, "atomic first last request atomiceth" },
	{ 0x14, "RC FETCH ADD", 40, "atomic first last request atomiceth" },
	{ 0x15, "RC reserved", 12, "reserved request payload" },
	{ 0x16, "RC SEND last inv", 16, "send last request payload ieth" },
	{ 0x17, "RC SEND only inv", 16, "send first last request rwqe payload ieth" },
	{ 0x18, "RC reserved", 12, "reserved request payload" },
	{ 0x19, "RC reserved", 12, "reserved request payload" },
	{ 0x1a, "RC reserved", 12, "reserved request payload" },
	{ 0x1b, "RC reserved", 12, "reserved request payload" },
	{ 0x1c, "RC FLUSH", 32, "flush first last request feth reth" },
	{ 0x1d, "RC ATOMIC WRITE", 28, "atomic_write first last request payload reth" },
	{ 0x1e, "RC reserved", 12, "reserved request payload" },
	{ 0x1f, "RC reserved", 12, "reserved request payload" },
	{ 0x20, "UC SEND first", 12, "send first request rwqe payload" },
	{ 0x21, "UC SEND middle", 12, "send middle request payload" },
	{ 0x22, "UC SEND last", 12, "send last request payload" },
	{ 0x23, "UC SEND last imm", 16, "send last request payload immdt" },
	{ 0x24, "UC SEND only", 12, "send first last request rwqe payload" },
	{ 0x25, "UC SEND only imm", 16, "send first last request rwqe payload immdt" },
	{ 0x26, "UC WRITE first", 28, "write first request payload reth" },
	{ 0x27, "UC WRITE middle", 12, "write middle request payload" },
	{ 0x28, "UC WRITE last", 12, "write last request payload" },
	{ 0x29, "UC WRITE last imm", 16, "write last request rwqe payload immdt" },
	{ 0x2a, "UC WRITE only", 28, "write first last request payload reth" },
	{ 0x2b, "UC WRITE only imm", 32, "write first last request rwqe payload reth immdt" },
	{ 0x64, "UD SEND only", 20, "send first last request rwqe payload deth" },
	{ 0x65, "UD SEND only imm", 24, "send first last request rwqe payload deth immdt" },
};

/* Is @word one of the space-separated words of @op? */
static inline bool ref_has(const struct ref_op *op, const char *word)
{
	size_t len = strlen(word);

	for (const char *w = op->words; *w; w += strcspn(w, " "), w += strspn(w, " "))
		if (strcspn(w, " ") == len && !memcmp(w, word, len))
			return true;
	return false;
}

/* Return: the opcode's line, NULL when it is not supported. */
static inline const struct ref_op *ref_find(u8 opcode)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(ref_ops); i++)
		if (ref_ops[i].opcode == opcode)
			return &ref_ops[i];
	return NULL;
}

#endif /* UNIT_OPCODE_REF_H */
