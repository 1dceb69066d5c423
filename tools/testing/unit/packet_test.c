// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * rxe_packet.c against a second reading of the specification: bytes are
 * written and read here by offset, from the table of opcode_ref.h alone.
 * Every packet lies in a buffer of its exact size, so that AddressSanitizer
 * sees each byte too many.
 */
#include "ktap.h"
#include "opcode_ref.h"
#include "rxe_packet.h"

#define FUZZ_PACKETS	2000000
#define ICRC		4

static u64 get_be(const u8 *p, unsigned int bytes)
{
	u64 v = 0;

	while (bytes--)
		v = v << 8 | *p++;
	return v;
}

static u8 *put_be(u8 *p, u64 v, unsigned int bytes)
{
	while (bytes--)
		*p++ = v >> 8 * bytes;
	return p;
}

/* Everything but @info and @payload; fields that the opcode lacks are 0. */
static void ref_write(const struct ref_op *op, const struct rxe_pkt *pkt, u8 *p)
{
	p = put_be(p, op->opcode, 1);
	p = put_be(p, pkt->se << 7 | 1 << 6 | pkt->pad << 4, 1);
	p = put_be(p, pkt->pkey, 2);
	p = put_be(p, pkt->becn << 6, 1);
	p = put_be(p, pkt->qpn, 3);
	p = put_be(p, pkt->ackreq << 7, 1);
	p = put_be(p, pkt->psn.v, 3);
	if (ref_has(op, "deth")) {
		p = put_be(p, pkt->qkey, 4);
		p = put_be(p, 0, 1);
		p = put_be(p, pkt->sqpn, 3);
	}
	if (ref_has(op, "feth"))
		p = put_be(p, pkt->sel << 4 | pkt->plt, 4);
	if (ref_has(op, "reth")) {
		p = put_be(p, pkt->va, 8);
		p = put_be(p, pkt->rkey, 4);
		p = put_be(p, pkt->length, 4);
	}
	if (ref_has(op, "aeth")) {
		p = put_be(p, pkt->syndrome, 1);
		p = put_be(p, pkt->msn, 3);
	}
	if (ref_has(op, "atomicacketh"))
		p = put_be(p, pkt->orig, 8);
	if (ref_has(op, "atomiceth")) {
		p = put_be(p, pkt->va, 8);
		p = put_be(p, pkt->rkey, 4);
		p = put_be(p, pkt->swap_add, 8);
		p = put_be(p, pkt->compare, 8);
	}
	if (ref_has(op, "immdt"))
		memcpy(p, &pkt->imm, 4);
	if (ref_has(op, "ieth"))
		put_be(p, pkt->rkey, 4);
}

static void ref_read(const struct ref_op *op, const u8 *p, struct rxe_pkt *pkt)
{
	memset(pkt, 0, sizeof(*pkt));
	pkt->opcode = p[0];
	pkt->se = p[1] >> 7;
	pkt->pad = p[1] >> 4 & 3;
	pkt->pkey = get_be(p + 2, 2);
	pkt->becn = p[4] >> 6 & 1;
	pkt->qpn = get_be(p + 5, 3);
	pkt->ackreq = p[8] >> 7;
	pkt->psn.v = get_be(p + 9, 3);
	p += 12;
	if (ref_has(op, "deth")) {
		pkt->qkey = get_be(p, 4);
		pkt->sqpn = get_be(p + 5, 3);
		p += 8;
	}
	if (ref_has(op, "feth")) {
		pkt->plt = p[3] & 15;
		pkt->sel = p[3] >> 4 & 3;
		p += 4;
	}
	if (ref_has(op, "reth")) {
		pkt->va = get_be(p, 8);
		pkt->rkey = get_be(p + 8, 4);
		pkt->length = get_be(p + 12, 4);
		p += 16;
	}
	if (ref_has(op, "aeth")) {
		pkt->syndrome = p[0];
		pkt->msn = get_be(p + 1, 3);
		p += 4;
	}
	if (ref_has(op, "atomicacketh"))
		pkt->orig = get_be(p, 8);
	if (ref_has(op, "atomiceth")) {
		pkt->va = get_be(p, 8);
		pkt->rkey = get_be(p + 8, 4);
		pkt->swap_add = get_be(p + 12, 8);
		pkt->compare = get_be(p + 20, 8);
	}
	if (ref_has(op, "immdt"))
		memcpy(&pkt->imm, p, 4);
	if (ref_has(op, "ieth"))
		pkt->rkey = get_be(p, 4);
}

static enum rxe_drop ref_verdict(const struct ref_op *op, const u8 *data, unsigned int len)
{
	unsigned int rest;

	if (len < 12 + ICRC)
		return RXE_DROP_SHORT;
	if (!op)
		return RXE_DROP_OPCODE;
	if (data[1] & 0xf)
		return RXE_DROP_VERSION;
	if (len < op->hdr_len + ICRC)
		return RXE_DROP_SHORT;
	rest = len - op->hdr_len - ICRC;
	if (len % 4 || (data[1] >> 4 & 3u) > rest)
		return RXE_DROP_PAD;
	if (rest && !ref_has(op, "payload"))
		return RXE_DROP_PAYLOAD;
	return RXE_DROP_NONE;
}

static void compare(const struct rxe_pkt *a, const struct rxe_pkt *b, const char *name)
{
	CHECK(a->opcode == b->opcode, "%s", name);
	CHECK(a->se == b->se && a->ackreq == b->ackreq && a->becn == b->becn, "%s", name);
	CHECK(a->pad == b->pad, "%s: %u, %u", name, a->pad, b->pad);
	CHECK(a->pkey == b->pkey, "%s: %04x, %04x", name, a->pkey, b->pkey);
	CHECK(a->qpn == b->qpn, "%s: %06x, %06x", name, a->qpn, b->qpn);
	CHECK(a->psn.v == b->psn.v, "%s: %06x, %06x", name, a->psn.v, b->psn.v);
	CHECK(a->va == b->va && a->rkey == b->rkey && a->length == b->length, "%s", name);
	CHECK(a->syndrome == b->syndrome && a->msn == b->msn, "%s", name);
	CHECK(a->qkey == b->qkey && a->sqpn == b->sqpn, "%s", name);
	CHECK(a->imm == b->imm, "%s", name);
	CHECK(a->plt == b->plt && a->sel == b->sel, "%s", name);
	CHECK(a->swap_add == b->swap_add && a->compare == b->compare && a->orig == b->orig,
	      "%s", name);
}

/* Parse @len bytes at @data and compare all of the outcome. Return: is it a good packet? */
static bool parse_agrees(const u8 *data, unsigned int len)
{
	const struct ref_op *op = len ? ref_find(data[0]) : NULL;
	enum rxe_drop want = ref_verdict(op, data, len);
	struct rxe_pkt pkt, ref;
	enum rxe_drop got;

	memset(&pkt, 0xa5, sizeof(pkt));
	got = rxe_pkt_parse(data, len, &pkt);
	CHECK(got == want, "opcode %02x, %u bytes: %d, not %d", len ? data[0] : 0, len, got, want);
	if (got != RXE_DROP_NONE || want != RXE_DROP_NONE)
		return false;

	ref_read(op, data, &ref);
	compare(&pkt, &ref, op->name);
	CHECK(pkt.info == &rxe_opcodes[data[0]], "%s", op->name);
	CHECK(pkt.payload == data + op->hdr_len, "%s", op->name);
	CHECK(pkt.payload_len == len - op->hdr_len - ICRC - ref.pad, "%s: %u", op->name,
	      pkt.payload_len);
	return true;
}

/* A packet with all fields of its opcode set and none else. */
static void fill(const struct ref_op *op, struct rxe_pkt *pkt, u64 *seed)
{
	u64 r = next_random(seed);

	*pkt = (struct rxe_pkt){
		.opcode = op->opcode,
		.se = r & 1,
		.ackreq = r & 2,
		.becn = r & 4,
		.pkey = r >> 48,
		.qpn = r >> 8 & 0xffffff,
		.psn = roce_psn(next_random(seed)),
	};
	if (ref_has(op, "deth")) {
		pkt->qkey = next_random(seed);
		pkt->sqpn = next_random(seed) & 0xffffff;
	}
	if (ref_has(op, "feth")) {
		pkt->plt = r >> 32 & 15;
		pkt->sel = r >> 36 & 3;
	}
	if (ref_has(op, "reth")) {
		pkt->va = next_random(seed);
		pkt->rkey = next_random(seed);
		pkt->length = next_random(seed);
	}
	if (ref_has(op, "aeth")) {
		pkt->syndrome = next_random(seed);
		pkt->msn = next_random(seed) & 0xffffff;
	}
	if (ref_has(op, "atomicacketh"))
		pkt->orig = next_random(seed);
	if (ref_has(op, "atomiceth")) {
		pkt->va = next_random(seed);
		pkt->rkey = next_random(seed);
		pkt->swap_add = next_random(seed);
		pkt->compare = next_random(seed);
	}
	if (ref_has(op, "immdt"))
		pkt->imm = (__be32)next_random(seed);
	if (ref_has(op, "ieth"))
		pkt->rkey = next_random(seed);
}

static void build_one(const struct ref_op *op, u64 *seed)
{
	u8 *got = exact_alloc(op->hdr_len), *want = exact_alloc(op->hdr_len);
	struct rxe_pkt pkt;
	unsigned int len;

	fill(op, &pkt, seed);
	pkt.pad = next_random(seed) & 3;
	ref_write(op, &pkt, want);
	len = rxe_pkt_build(&pkt, got);
	CHECK(len == op->hdr_len, "%s: %u", op->name, len);
	CHECK(!memcmp(got, want, op->hdr_len), "%s", op->name);
	free(got);
	free(want);
}

static void build(void)
{
	u64 seed = 3;

	for (unsigned int i = 0; i < 1000 * ARRAY_SIZE(ref_ops); i++)
		build_one(&ref_ops[i % ARRAY_SIZE(ref_ops)], &seed);
}

/* Values above a field's width do not reach its neighbours. */
static void build_masks(void)
{
	struct rxe_pkt pkt = { .opcode = 0x64, .qpn = 0xff000001, .sqpn = 0xff000002 };
	struct rxe_pkt ack = { .opcode = 0x11, .syndrome = 0x1f, .msn = 0xff000003 };
	u8 data[ROCE_MAX_HDR];

	rxe_pkt_build(&pkt, data);
	CHECK(data[4] == 0 && get_be(data + 5, 3) == 1, "");
	CHECK(data[16] == 0 && get_be(data + 17, 3) == 2, "");
	rxe_pkt_build(&ack, data);
	CHECK(data[12] == 0x1f && get_be(data + 13, 3) == 3, "");
}

static void round_trip_one(const struct ref_op *op, unsigned int payload, u64 *seed)
{
	unsigned int pad = roce_pad(payload);
	unsigned int len = op->hdr_len + payload + pad + ICRC;
	u8 *data = exact_alloc(len);
	struct rxe_pkt in, out;

	CHECK((payload + pad) % 4 == 0 && pad < 4, "%u, pad %u", payload, pad);
	memset(data, 0x77, len);
	fill(op, &in, seed);
	in.pad = pad;
	rxe_pkt_build(&in, data);
	if (CHECK(rxe_pkt_parse(data, len, &out) == RXE_DROP_NONE, "%s, %u bytes of payload",
		  op->name, payload)) {
		compare(&in, &out, op->name);
		CHECK(out.payload == data + op->hdr_len, "%s", op->name);
		CHECK(out.payload_len == payload, "%s: %u, not %u", op->name, out.payload_len,
		      payload);
	}
	free(data);
}

static void round_trip(void)
{
	u64 seed = 4;

	for (unsigned int i = 0; i < ARRAY_SIZE(ref_ops); i++)
		for (unsigned int n = 0; n <= (ref_has(&ref_ops[i], "payload") ? 64 : 0); n++)
			round_trip_one(&ref_ops[i], n, &seed);
}

static void truncated(void)
{
	for (int op = 0; op < 256; op++) {
		for (unsigned int len = 0; len <= ROCE_MAX_HDR + ICRC + 8; len++) {
			u8 *data = exact_alloc(len);

			memset(data, 0, len);
			if (len)
				data[0] = op;
			parse_agrees(data, len);
			free(data);
		}
	}
}

static void pads(void)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(ref_ops); i++) {
		for (unsigned int n = 0; n < 64; n++) {
			unsigned int payload = n / 4, pad = n % 4;
			unsigned int len = ref_ops[i].hdr_len + payload + ICRC;
			u8 *data = exact_alloc(len);

			memset(data, 0, len);
			data[0] = ref_ops[i].opcode;
			data[1] = pad << 4;
			parse_agrees(data, len);
			free(data);
		}
	}
}

static void versions(void)
{
	for (unsigned int flags = 0; flags < 256; flags++) {
		u8 data[12 + 4 + ICRC] = { 0x04, flags };
		struct rxe_pkt pkt;
		enum rxe_drop want = flags & 0xf ? RXE_DROP_VERSION : RXE_DROP_NONE;

		CHECK(rxe_pkt_parse(data, sizeof(data), &pkt) == want, "flags 0x%02x", flags);
	}
}

/* Some bits are for routers and for later; they change nothing (IBTA 9.2). */
static void reserved(void)
{
	u8 data[12 + ICRC] = { 0x04, 0x40, 0xff, 0xff, 0xbf, 0, 0, 1, 0x7f, 0, 0, 2 };
	struct rxe_pkt pkt;

	CHECK(rxe_pkt_parse(data, sizeof(data), &pkt) == RXE_DROP_NONE, "");
	CHECK(pkt.qpn == 1 && pkt.psn.v == 2 && !pkt.becn && !pkt.ackreq && !pkt.se, "");
	CHECK(!pkt.payload_len, "");
}

static void helpers(void)
{
	u8 data[12] = { 0x04, 0, 0xff, 0xff, 0xff, 0xab, 0xcd, 0xef, 0, 1, 2, 3 };

	CHECK(rxe_pkt_qpn(data) == 0xabcdef, "%x", rxe_pkt_qpn(data));
	rxe_pkt_set_ackreq(data);
	CHECK(get_be(data + 8, 4) == 0x80010203, "");
	rxe_pkt_set_ackreq(data);
	CHECK(get_be(data + 8, 4) == 0x80010203, "");
}

/* Half of them have a supported opcode, most a length and a version that fit. */
static void fuzz_one(u64 *seed, unsigned int i, unsigned int *accepted)
{
	u64 r = next_random(seed);
	unsigned int len = r % 100;
	u8 *data;

	if (r >> 8 & 7)
		len &= ~3u;
	data = exact_alloc(len);
	for (unsigned int n = 0; n < len; n += 8) {
		u64 word = next_random(seed);

		memcpy(data + n, &word, len - n < 8 ? len - n : 8);
	}
	if (len)
		data[0] = r >> 16 & 1 ? ref_ops[i % ARRAY_SIZE(ref_ops)].opcode : i;
	if (len > 1 && r >> 17 & 7)
		data[1] &= 0xf0;
	*accepted += parse_agrees(data, len);
	free(data);
}

static void fuzz(void)
{
	unsigned int accepted = 0;
	u64 seed = 5;

	for (unsigned int i = 0; i < FUZZ_PACKETS; i++)
		fuzz_one(&seed, i, &accepted);
	CHECK(accepted > FUZZ_PACKETS / 10 && accepted < FUZZ_PACKETS / 2,
	      "%u were accepted", accepted);
}

static const struct ktap_test tests[] = {
	{ "headers of every opcode are built byte by byte as specified", build },
	{ "too large values do not spill into other fields", build_masks },
	{ "what is built parses back, payloads of 0 to 64 bytes", round_trip },
	{ "each of 256 opcodes cut at each length", truncated },
	{ "pads and payloads that do not fit each other", pads },
	{ "header versions", versions },
	{ "reserved bits are ignored", reserved },
	{ "helpers that work on built packets", helpers },
	{ "two million random packets", fuzz },
};

int main(void)
{
	return ktap_run(tests, ARRAY_SIZE(tests));
}
