// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* rxe_opcode.c against the table of opcode_ref.h. */
#include "ktap.h"
#include "opcode_ref.h"
#include "rxe_opcode.h"

static const struct {
	const char *word;
	u32 flag;
} words[] = {
	{ "send", RXE_OP_SEND },
	{ "write", RXE_OP_WRITE },
	{ "read", RXE_OP_READ },
	{ "atomic", RXE_OP_ATOMIC },
	{ "read_resp", RXE_OP_READ_RESP },
	{ "ack", RXE_OP_ACK },
	{ "flush", RXE_OP_FLUSH },
	{ "atomic_write", RXE_OP_ATOMIC_WRITE },
	{ "reserved", RXE_OP_RESERVED },
	{ "first", RXE_OP_FIRST },
	{ "middle", RXE_OP_MIDDLE },
	{ "last", RXE_OP_LAST },
	{ "feth", RXE_OP_FETH },
	{ "reth", RXE_OP_RETH },
	{ "aeth", RXE_OP_AETH },
	{ "deth", RXE_OP_DETH },
	{ "immdt", RXE_OP_IMMDT },
	{ "ieth", RXE_OP_IETH },
	{ "atomiceth", RXE_OP_ATOMICETH },
	{ "atomicacketh", RXE_OP_ATOMICACKETH },
	{ "request", RXE_OP_REQUEST },
	{ "response", RXE_OP_RESPONSE },
	{ "rwqe", RXE_OP_RWQE },
	{ "payload", RXE_OP_PAYLOAD },
};

static void supported(void)
{
	for (int op = 0; op < 256; op++) {
		const struct ref_op *ref = ref_find(op);
		const struct rxe_opcode_info *info = rxe_opcode_info(op);

		if (!CHECK(!info == !ref, "opcode 0x%02x", op))
			continue;
		if (info)
			CHECK(!strcmp(info->name, ref->name), "0x%02x: %s", op, info->name);
		else
			CHECK(!rxe_opcodes[op].flags && !rxe_opcodes[op].hdr_len,
			      "opcode 0x%02x", op);
	}
}

static void hdr_len(void)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(ref_ops); i++) {
		const struct ref_op *ref = &ref_ops[i];

		CHECK(rxe_opcodes[ref->opcode].hdr_len == ref->hdr_len, "%s: %u", ref->name,
		      rxe_opcodes[ref->opcode].hdr_len);
		CHECK(ref->hdr_len <= ROCE_MAX_HDR, "%s", ref->name);
	}
}

static void flags(void)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(ref_ops); i++) {
		const struct ref_op *ref = &ref_ops[i];
		u32 left = rxe_opcodes[ref->opcode].flags;

		for (unsigned int w = 0; w < ARRAY_SIZE(words); w++) {
			CHECK(!(left & words[w].flag) == !ref_has(ref, words[w].word),
			      "%s: %s", ref->name, words[w].word);
			left &= ~words[w].flag;
		}
		CHECK(!left, "%s: 0x%x", ref->name, left);
	}
}

static void wire_sizes(void)
{
	CHECK(sizeof(struct roce_bth) == 12, "");
	CHECK(sizeof(struct roce_reth) == 16, "");
	CHECK(sizeof(struct roce_aeth) == 4, "");
	CHECK(sizeof(struct roce_deth) == 8, "");
	CHECK(sizeof(struct roce_atomiceth) == 28, "");
	CHECK(sizeof(struct roce_atomicacketh) == 8, "");
	CHECK(sizeof(struct roce_immdt) == 4, "");
	CHECK(sizeof(struct roce_ieth) == 4, "");
	CHECK(sizeof(struct roce_feth) == 4, "");
}

static const struct ktap_test tests[] = {
	{ "sizes of the wire headers", wire_sizes },
	{ "the supported opcodes of 256, by name", supported },
	{ "header length of every opcode", hdr_len },
	{ "flags of every opcode", flags },
};

int main(void)
{
	return ktap_run(tests, ARRAY_SIZE(tests));
}
