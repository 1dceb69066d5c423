#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Are the tests able to fail? Breaks a copy of the code in one place at a time;
# the named test has to notice. KTAP.

set -u
cd "$(dirname "${BASH_SOURCE[0]}")" || exit

top=../../..
rxe=$top/drivers/infiniband/sw/rxe
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# program ~ start of the name of the test ~ file ~ sed expression
mutants() {
	cat <<-'END'
	opcode ~ sizes of ~ rdma/roce.h ~ s/__be32	length;/__be64	length;/
	opcode ~ the supported ~ rxe_opcode.c ~ /OPCODE(UD, SEND_ONLY_IMM/d
	opcode ~ the supported ~ rxe_opcode.c ~ s/"WRITE last imm"/"WRITE last"/
	opcode ~ header length ~ rxe_opcode.c ~ s/EXT(fl, IMMDT, immdt) +//
	opcode ~ header length ~ rxe_opcode.c ~ s/EXT(fl, FETH, feth) +//
	opcode ~ flags of ~ rxe_opcode.c ~ s/WRITE_REQ | LAST | RWQE/WRITE_REQ | LAST/
	psn ~ a PSN has ~ rdma/roce_psn.h ~ s/ROCE_PSN_BITS	24/ROCE_PSN_BITS	25/
	psn ~ addition ~ rdma/roce_psn.h ~ s/p.v + (u32)n/p.v - (u32)n/
	psn ~ difference and order of all ~ rdma/roce_psn.h ~ s/return (s32)((a.v - b.v).*/return a.v - b.v;/
	psn ~ difference and order of a million ~ rdma/roce_psn.h ~ s/roce_psn_diff(a, b) > 0/a.v > b.v/
	range ~ all corner ~ rxe_access.h ~ s/len <= size - (addr - start)/addr + len <= start + size/
	range ~ a million ~ rxe_access.h ~ s/addr - start <= size && //
	range ~ zero length ~ rxe_access.h ~ s/len <= size - (/len < size - (/
	packet ~ headers of ~ rxe_packet.c ~ s/be64_to_cpu(reth->va)/reth->va/;s/cpu_to_be64(pkt->va)/pkt->va/
	packet ~ headers of ~ rxe_packet.c ~ s/ROCE_BTH_MIG |/0 |/
	packet ~ too large ~ rxe_packet.c ~ s/pkt->sqpn & ROCE_QPN_MASK/pkt->sqpn/
	packet ~ too large ~ rxe_packet.c ~ s/pkt->msn & ROCE_MSN_MASK/pkt->msn/
	packet ~ what is built ~ rxe_packet.c ~ s/payload_len - pkt->pad/payload_len/
	packet ~ what is built ~ rdma/roce.h ~ s/return -len & 3/return len \& 3/
	packet ~ each of 256 ~ rxe_packet.c ~ s/len < hdr_len + ROCE_ICRC_SIZE/len < hdr_len/
	packet ~ each of 256 ~ rxe_packet.c ~ s/len % 4 || //
	packet ~ ~ rxe_packet.c ~ s/len < sizeof(\*bth) + ROCE_ICRC_SIZE/len < 12/
	packet ~ ~ rxe_packet.c ~ s/len < sizeof(\*bth) + ROCE_ICRC_SIZE/0/
	packet ~ pads and ~ rxe_packet.c ~ s/pkt->pad > payload_len/pkt->pad > payload_len + 3/
	packet ~ pads and ~ rxe_packet.c ~ s/payload_len && !(info->flags/0 \&\& !(info->flags/
	packet ~ header versions ~ rdma/roce.h ~ s/TVER_MASK	0x0f/TVER_MASK	0x07/
	packet ~ reserved bits ~ rxe_packet.c ~ s/roce_psn(apsn)/(struct roce_psn){ apsn }/
	packet ~ helpers ~ rxe_packet.h ~ s/data\[8\] |= 0x80/data[8] = 0x80 + data[8]/
	packet ~ two million ~ rxe_packet.c ~ s/\*pkt = (struct rxe_pkt){ .info = info }/pkt->info = info/
	icrc ~ IPv4 ~ rxe_icrc.c ~ s/0xdebb20e3/0xdebb20e2/
	icrc ~ IPv4 ~ rxe_icrc.c ~ s/ip4->tos = 0xff/ip4->tos = 0/
	icrc ~ IPv4 ~ rxe_icrc.c ~ s/rxe_icrc_id(ip_id)/rxe_icrc_id(ip_id \& 0xff)/
	icrc ~ IPv4 ~ rxe_icrc.c ~ s/len + ROCE_ICRC_SIZE/len/
	icrc ~ IPv6 ~ rxe_icrc.c ~ s/ip6->priority = 0xf;//
	icrc ~ IPv6 ~ rxe_icrc.c ~ s/memset(ip6->flow_lbl.*//
	icrc ~ a flow ~ rxe_icrc.c ~ s/memcpy(ip, flow->ip, .*/& ((u8 *)flow->ip)[9]++;/
	icrc ~ a flow ~ rxe_icrc.c ~ s/flow->len != len ||//
	icrc ~ a flow ~ rxe_icrc.c ~ s/id >> 4 & 15/id >> 4 \& 7/
	icrc ~ each bit ~ rxe_icrc.c ~ s/= 0xff;	.* FECN.*/|= 0xfe;/
	END
}

# Return: 0 if the test noticed, with what it printed in $work/log.
noticed() # PROGRAM TEST FILE EXPRESSION
{
	local copy=$work/rxe/$3

	rm -rf "$work"/{rxe,include,out}
	mkdir "$work/rxe"
	cp -r "$top/include" "$work/"
	cp "$rxe"/*.h "$rxe"/rxe_{opcode,packet,icrc}.c "$work/rxe/"
	[ -e "$copy" ] || copy=$work/include/$3

	sed -i.orig -e "$4" "$copy"
	if cmp -s "$copy" "$copy.orig"; then
		echo "the expression changes nothing" >"$work/log"
		return 1
	fi
	make -s OUT="$work/out" RXE="$work/rxe" INCLUDE="$work/include" \
		"$work/out/$1_test" >"$work/log" 2>&1 || return 1
	! "$work/out/$1_test" >"$work/log" 2>&1 || return 1
	[ -z "$2" ] || grep -qE "^not ok [0-9]+ $2" "$work/log"
}

count=0 status=0
echo "KTAP version 1"
echo "1..$(mutants | wc -l)"
while IFS='~' read -r program test file expression; do
	count=$((count + 1))
	read -r program <<<"$program"
	read -r test <<<"$test"
	read -r file <<<"$file"
	expression=${expression# }
	if noticed "$program" "$test" "$file" "$expression"; then
		result=ok
	else
		result='not ok'
		status=1
		sed 's/^/# /' "$work/log"
	fi
	echo "$result $count $file: ${expression//#/}"
done < <(mutants)
exit "$status"
