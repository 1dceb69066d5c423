// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * rxe_packet.c under libFuzzer: what is accepted lies within the packet, and can be
 * built again from what was parsed.  Bytes too many are AddressSanitizer's to see.
 *
 * The mutator knows the format: most inputs have an opcode that is known and a length
 * that is near to what this needs, as others get no further than the first checks.
 */
#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "fuzzer.h"
#include "opcode_ref.h"
#include "rxe_packet.h"

#define ICRC	4
#define ROOM	256

static void again(const struct rxe_pkt *pkt, const u8 *data, size_t len)
{
	unsigned int hdr_len = pkt->info->hdr_len;
	u8 *copy = malloc(len);
	struct rxe_pkt second;

	assert(copy);
	memcpy(copy, data, len);
	assert(rxe_pkt_build(pkt, copy) == hdr_len);
	assert(rxe_pkt_parse(copy, len, &second) == RXE_DROP_NONE);
	assert(second.payload == copy + hdr_len);
	second.payload = pkt->payload;
	assert(!memcmp(&second, pkt, offsetof(struct rxe_pkt, payload)));
	assert(second.payload_len == pkt->payload_len);
	free(copy);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	const struct rxe_opcode_info *info;
	struct rxe_pkt pkt;
	enum rxe_drop why;

	memset(&pkt, 0, sizeof(pkt));
	why = rxe_pkt_parse(data, len, &pkt);
	assert(why < RXE_NR_DROPS);
	if (why != RXE_DROP_NONE)
		return 0;
	info = rxe_opcode_info(data[0]);
	assert(info && pkt.info == info && pkt.opcode == data[0]);
	assert(pkt.qpn == rxe_pkt_qpn(data) && pkt.qpn <= 0xffffff && pkt.psn.v <= 0xffffff);
	assert(pkt.payload == data + info->hdr_len);
	assert(pkt.payload_len <= len);
	assert(info->hdr_len + pkt.payload_len + pkt.pad + ICRC == len);
	assert(!pkt.payload_len || (info->flags & RXE_OP_PAYLOAD));
	again(&pkt, data, len);
	return 0;
}

size_t LLVMFuzzerCustomMutator(u8 *data, size_t len, size_t max, unsigned int seed)
{
	const struct ref_op *op = &ref_ops[seed / 64 % ARRAY_SIZE(ref_ops)];
	size_t want;

	len = LLVMFuzzerMutate(data, len, max);
	if (seed % 4 == 0 || max < ROOM)
		return len;
	want = op->hdr_len + ICRC + seed / 8192 % 8 * 4;
	if (seed % 4 == 1)
		want = want + seed / 65536 % 5 - 2;
	if (len < want)
		memset(data + len, seed >> 24, want - len);
	data[0] = op->opcode;
	if (seed % 16 != 2)
		data[1] &= 0xf0;
	return want;
}
