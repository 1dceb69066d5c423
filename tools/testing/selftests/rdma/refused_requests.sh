#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Requests from the peer's own address that a connected QP has to refuse: the
# peer is told, the QP fails, nothing is written.

. "$(dirname "$0")/lib.sh"

setup()
{
	helper verbs && helper packets || return
	check setup_pair 1500 || return
}

# refused OPCODE HEX-BYTES (- for none)
refused()
{
	local out=$tmp/refused.$((out_nr += 1)) pid qpn naks

	naks=$(counter "$link1" invalid_req_err)
	start '' "$out" 60 "$here/verbs" await_refusal "$link1" "$gid1" "$link2" "$gid2"
	pid=$started
	check poll_until 15 file_has "$out" ready || { diag_file "$out"; return; }
	qpn=$(sed -n 's/^ready //p' "$out")
	check in_ns "$ns2" "$here/packets" request "$ip2" "$ip1" "$qpn" "$@" || return
	check ends "$pid" 20 || diag_file "$out"
	check counter_above "$link1" invalid_req_err "$naks"
}

reth8=00000000000000001234560000000008
reth4=00000000000000001234560000000004

begin
run_tests \
	"refused 0x15 -" \
	"refused 0x1f 00112233" \
	"refused 0x1d ${reth8}00112233" \
	"refused 0x1d ${reth4}00112233" \
	"refused 0x1d ${reth8}00112233445566778899aabbccddeeff" \
	"refused 0x1c 00000000$reth8"
