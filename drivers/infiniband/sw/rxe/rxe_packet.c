// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * RoCE packets, parsed and built.
 *
 * The packet comes from a stranger: each byte read below lies within the
 * header length of its opcode, which is compared with the packet's first.
 * Pure code, also built in user space by tools/testing/unit.
 */
#include <linux/bitfield.h>
#include <asm/byteorder.h>

#include "rxe_packet.h"

static void parse_bth(const u8 *data, struct rxe_pkt *pkt)
{
	const struct roce_bth *bth = (const struct roce_bth *)data;
	u32 qpn = be32_to_cpu(bth->qpn);
	u32 apsn = be32_to_cpu(bth->apsn);

	pkt->opcode = bth->opcode;
	pkt->se = bth->flags & ROCE_BTH_SE;
	pkt->pad = FIELD_GET(ROCE_BTH_PAD_MASK, bth->flags);
	pkt->pkey = be16_to_cpu(bth->pkey);
	pkt->becn = qpn & ROCE_BTH_BECN;
	pkt->qpn = qpn & ROCE_QPN_MASK;
	pkt->ackreq = apsn & ROCE_BTH_ACK;
	pkt->psn = roce_psn(apsn);
}

static void parse_deth(const struct roce_deth *deth, struct rxe_pkt *pkt)
{
	pkt->qkey = be32_to_cpu(deth->qkey);
	pkt->sqpn = be32_to_cpu(deth->sqpn) & ROCE_QPN_MASK;
}

static void parse_feth(const struct roce_feth *feth, struct rxe_pkt *pkt)
{
	u32 sel_plt = be32_to_cpu(feth->sel_plt);

	pkt->plt = FIELD_GET(ROCE_FETH_PLT_MASK, sel_plt);
	pkt->sel = FIELD_GET(ROCE_FETH_SEL_MASK, sel_plt);
}

static void parse_reth(const struct roce_reth *reth, struct rxe_pkt *pkt)
{
	pkt->va = be64_to_cpu(reth->va);
	pkt->rkey = be32_to_cpu(reth->rkey);
	pkt->length = be32_to_cpu(reth->length);
}

static void parse_atomiceth(const struct roce_atomiceth *atomic, struct rxe_pkt *pkt)
{
	pkt->va = be64_to_cpu(atomic->va);
	pkt->rkey = be32_to_cpu(atomic->rkey);
	pkt->swap_add = be64_to_cpu(atomic->swap_add);
	pkt->compare = be64_to_cpu(atomic->compare);
}

static void parse_aeth(const struct roce_aeth *aeth, struct rxe_pkt *pkt)
{
	u32 smsn = be32_to_cpu(aeth->smsn);

	pkt->syndrome = smsn >> 24;
	pkt->msn = smsn & ROCE_MSN_MASK;
}

/* Extension headers in wire order (IBTA 9.1); the caller has checked the length. */
static void parse_ext(const u8 *p, struct rxe_pkt *pkt)
{
	u32 flags = pkt->info->flags;

	if (flags & RXE_OP_DETH) {
		parse_deth((const struct roce_deth *)p, pkt);
		p += sizeof(struct roce_deth);
	}
	if (flags & RXE_OP_FETH) {
		parse_feth((const struct roce_feth *)p, pkt);
		p += sizeof(struct roce_feth);
	}
	if (flags & RXE_OP_RETH) {
		parse_reth((const struct roce_reth *)p, pkt);
		p += sizeof(struct roce_reth);
	}
	if (flags & RXE_OP_ATOMICETH) {
		parse_atomiceth((const struct roce_atomiceth *)p, pkt);
		p += sizeof(struct roce_atomiceth);
	}
	if (flags & RXE_OP_AETH) {
		parse_aeth((const struct roce_aeth *)p, pkt);
		p += sizeof(struct roce_aeth);
	}
	if (flags & RXE_OP_ATOMICACKETH) {
		pkt->orig = be64_to_cpu(((const struct roce_atomicacketh *)p)->orig);
		p += sizeof(struct roce_atomicacketh);
	}
	if (flags & RXE_OP_IMMDT) {
		pkt->imm = ((const struct roce_immdt *)p)->imm;
		p += sizeof(struct roce_immdt);
	}
	if (flags & RXE_OP_IETH)
		pkt->rkey = be32_to_cpu(((const struct roce_ieth *)p)->rkey);
}

enum rxe_drop rxe_pkt_parse(const u8 *data, unsigned int len, struct rxe_pkt *pkt)
{
	const struct roce_bth *bth = (const struct roce_bth *)data;
	const struct rxe_opcode_info *info;
	unsigned int hdr_len, payload_len;

	if (len < sizeof(*bth) + ROCE_ICRC_SIZE)
		return RXE_DROP_SHORT;
	info = rxe_opcode_info(bth->opcode);
	if (!info)
		return RXE_DROP_OPCODE;
	if (bth->flags & ROCE_BTH_TVER_MASK)
		return RXE_DROP_VERSION;
	hdr_len = info->hdr_len;
	if (len < hdr_len + ROCE_ICRC_SIZE)
		return RXE_DROP_SHORT;

	*pkt = (struct rxe_pkt){ .info = info };
	parse_bth(data, pkt);

	payload_len = len - hdr_len - ROCE_ICRC_SIZE;
	if (len % 4 || pkt->pad > payload_len)
		return RXE_DROP_PAD;
	if (payload_len && !(info->flags & RXE_OP_PAYLOAD))
		return RXE_DROP_PAYLOAD;

	parse_ext(data + sizeof(*bth), pkt);
	pkt->payload = data + hdr_len;
	pkt->payload_len = payload_len - pkt->pad;
	return RXE_DROP_NONE;
}

/* Without alternate paths a QP is always in the state Migrated (IBTA 17.2.8). */
static void build_bth(const struct rxe_pkt *pkt, struct roce_bth *bth)
{
	bth->opcode = pkt->opcode;
	bth->flags = (pkt->se ? ROCE_BTH_SE : 0) | ROCE_BTH_MIG |
		     FIELD_PREP(ROCE_BTH_PAD_MASK, pkt->pad);
	bth->pkey = cpu_to_be16(pkt->pkey);
	bth->qpn = cpu_to_be32((pkt->becn ? ROCE_BTH_BECN : 0) | (pkt->qpn & ROCE_QPN_MASK));
	bth->apsn = cpu_to_be32((pkt->ackreq ? ROCE_BTH_ACK : 0) | pkt->psn.v);
}

static void build_deth(const struct rxe_pkt *pkt, struct roce_deth *deth)
{
	deth->qkey = cpu_to_be32(pkt->qkey);
	deth->sqpn = cpu_to_be32(pkt->sqpn & ROCE_QPN_MASK);
}

static void build_feth(const struct rxe_pkt *pkt, struct roce_feth *feth)
{
	feth->sel_plt = cpu_to_be32(FIELD_PREP(ROCE_FETH_PLT_MASK, pkt->plt) |
				    FIELD_PREP(ROCE_FETH_SEL_MASK, pkt->sel));
}

static void build_reth(const struct rxe_pkt *pkt, struct roce_reth *reth)
{
	reth->va = cpu_to_be64(pkt->va);
	reth->rkey = cpu_to_be32(pkt->rkey);
	reth->length = cpu_to_be32(pkt->length);
}

static void build_atomiceth(const struct rxe_pkt *pkt, struct roce_atomiceth *atomic)
{
	atomic->va = cpu_to_be64(pkt->va);
	atomic->rkey = cpu_to_be32(pkt->rkey);
	atomic->swap_add = cpu_to_be64(pkt->swap_add);
	atomic->compare = cpu_to_be64(pkt->compare);
}

static void build_aeth(const struct rxe_pkt *pkt, struct roce_aeth *aeth)
{
	aeth->smsn = cpu_to_be32((u32)pkt->syndrome << 24 | (pkt->msn & ROCE_MSN_MASK));
}

unsigned int rxe_pkt_build(const struct rxe_pkt *pkt, u8 *data)
{
	const struct rxe_opcode_info *info = &rxe_opcodes[pkt->opcode];
	u32 flags = info->flags;
	u8 *p = data;

	build_bth(pkt, (struct roce_bth *)p);
	p += sizeof(struct roce_bth);
	if (flags & RXE_OP_DETH) {
		build_deth(pkt, (struct roce_deth *)p);
		p += sizeof(struct roce_deth);
	}
	if (flags & RXE_OP_FETH) {
		build_feth(pkt, (struct roce_feth *)p);
		p += sizeof(struct roce_feth);
	}
	if (flags & RXE_OP_RETH) {
		build_reth(pkt, (struct roce_reth *)p);
		p += sizeof(struct roce_reth);
	}
	if (flags & RXE_OP_ATOMICETH) {
		build_atomiceth(pkt, (struct roce_atomiceth *)p);
		p += sizeof(struct roce_atomiceth);
	}
	if (flags & RXE_OP_AETH) {
		build_aeth(pkt, (struct roce_aeth *)p);
		p += sizeof(struct roce_aeth);
	}
	if (flags & RXE_OP_ATOMICACKETH) {
		((struct roce_atomicacketh *)p)->orig = cpu_to_be64(pkt->orig);
		p += sizeof(struct roce_atomicacketh);
	}
	if (flags & RXE_OP_IMMDT) {
		((struct roce_immdt *)p)->imm = pkt->imm;
		p += sizeof(struct roce_immdt);
	}
	if (flags & RXE_OP_IETH)
		((struct roce_ieth *)p)->rkey = cpu_to_be32(pkt->rkey);
	return info->hdr_len;
}
