#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# What goes over the wire, seen by others: a capture of each operation is dissected
# by tshark without an expert's error, and capture_check.py and scapy agree with its
# ICRCs. Runs in a VM; KTAP.

suites=$(cd "$(dirname "$0")" && pwd)
. "${RDMA_SELFTESTS:-$suites/../selftests/rdma}/lib.sh"

pair_limit=60

setup()
{
	local token=/sys/module/rdma_rxe/parameters/icrc_token

	require tcpdump tshark python3 ethtool
	# ICRCs everywhere; begin has just loaded the module, and the next load has the default
	[ ! -e "$token" ] || check eval "echo N >$token"
	check setup_pair 4500 || return
	check find_gid gid6_1 "$link1" "$ip6_1" && check find_gid gid6_2 "$link2" "$ip6_2" || return
	# each packet as a NIC would send it, and no bursts of them
	check ip netns exec "$ns1" ethtool -K "$dev1" gso off tx-udp-segmentation off
	check ip netns exec "$ns2" ethtool -K "$dev2" gso off tx-udp-segmentation off
	check ip netns exec "$ns1" ethtool -K "$dev1" tx off
	check ip netns exec "$ns2" ethtool -K "$dev2" tx off
}

# captured FILE: what is sent last has come to it
captured()
{
	in_ns "$ns1" bash -c "echo 'end of capture' >/dev/udp/$ip2/9" 2>/dev/null
	file_has "$1" "end of capture"
}

# capture NAME COMMAND...: into $tmp/NAME.pcap
capture()
{
	local file=$tmp/$1.pcap dump

	shift
	ip netns exec "$ns1" tcpdump -Z root -i "$dev1" -n -p -s 0 -B 65536 -U -w "$file" \
		udp port 4791 or udp port 9 >"$file.log" 2>&1 &
	dump=$!
	check poll_until 15 file_has "$file.log" "listening on"
	"$@"
	check poll_until 30 captured "$file"
	kill "$dump"
	wait "$dump"
	check file_has "$file.log" "^0 packets dropped by kernel"
}

# Our payload is none of these, whatever tshark finds in it.
payloads=(smcr_infiniband smb_direct_infiniband rpcrdma_infiniband nvme_rdma lnet_ib
	iser_infiniband eth_over_ib mellanox_eoib sdp_infiniband fc_infiniband)

# dissect NAME: nothing wrong with it
dissect()
{
	local file=$tmp/$1.pcap

	# a line for each packet: number, opcode, severities and messages
	tshark -n -r "$file" "${payloads[@]/#/--disable-heuristic=}" \
		-T fields -e frame.number -e infiniband.bth.opcode \
		-e _ws.expert.severity -e _ws.expert.message -e _ws.malformed \
		>"$file.packets" 2>"$file.tshark" || {
		fail "tshark: status $?"
		diag_file "$file.tshark"
	}
	# the severity is Error (0x800000), or it is malformed
	if awk -F '\t' '$3 ~ /Error|8388608/ || $5 != "" { print; n++ } END { exit !n }' \
		"$file.packets" >"$file.errors"; then
		fail "tshark finds errors: packet, opcode, severity, message"
		diag_file "$file.errors"
	fi
	# so it has looked
	awk -F '\t' '$2 != "" { n++ } END { exit !n }' "$file.packets" || fail "tshark finds no BTH"
	python3 "$suites/capture_check.py" "$file" >"$file.kinds" 2>&1 || {
		fail "capture_check.py: status $?"
		diag_file "$file.kinds"
	}
}

# wants NAME KIND...: they are in the capture, without 0x (see capture_check.py)
wants()
{
	local file=$tmp/$1.pcap.kinds kind

	shift
	for kind; do
		file_has "$file" "^0x$kind " || fail "no 0x$kind in the capture"
	done
	return 0
}

# here one machine has both ends
verbs()
{
	check timeout $((60 * slow)) "$here/verbs" "$1" "$link1" "${3:-$gid1}" "$link2" "${4:-$gid2}" ${2:+"$2"}
}

# wire TYPE MTU ROUNDS [GID1 GID2]: messages of all kinds, and atomics
wire()
{
	port=$((port + 1))
	server=("$here/verbs" wire_server "$link2" "${5:-$gid2}" "$port")
	client=("$here/verbs" wire_client "$link1" "${4:-$gid1}" "$ip2:$port:$1:$2:$3")
	check run_pair "$ns2" "$ns1" tcp_listens
}

run_perf()
{
	check perf "$1" "$ns1" "$link1" "$gid1" "$ns2" "$link2" "$gid2" "$ip1" "${@:2}"
}

run_pingpong()
{
	check pingpong "$1" "$ns1" "$link1" "$gid1" "$ns2" "$link2" "$gid2" "$ip1" "${@:2}"
}

RC_operations()
{
	helper verbs || return
	capture rc verbs sizes
	dissect rc
	wants rc 00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f 10 11
}

RC_operations_over_IPv6()
{
	helper verbs || return
	capture rc6 verbs sizes "" "$gid6_1" "$gid6_2"
	dissect rc6
	wants rc6 00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f 10 11
}

atomic()
{
	run_perf ib_atomic_bw -n 10 -A FETCH_AND_ADD
	run_perf ib_atomic_bw -n 10 -A CMP_AND_SWAP
}

atomics()
{
	capture atomics atomic
	dissect atomics
	wants atomics 12 13 14
}

atomics_over_IPv6()
{
	helper verbs || return
	capture atomics6 wire rc 1024 4 "$gid6_1" "$gid6_2"
	dissect atomics6
	wants atomics6 12/ack 13 14
}

invalidate()
{
	verbs send_inv 100
	verbs send_inv 20000
}

SEND_with_invalidate()
{
	helper verbs || return
	capture invalidate invalidate
	dissect invalidate
	wants invalidate 16 17
}

# optional TEST ARGUMENT OPCODE: where the kernel and libibverbs know it
optional()
{
	helper verbs || return
	capture "$1" verbs_or_skip "$1" "$link1" "$gid1" "$link2" "$gid2" "$2"
	[ -z "$skipped" ] || return
	dissect "$1"
	wants "$1" "$3"
}

ATOMIC_WRITE() { optional atomic_write 8 1d; }
FLUSH() { optional flush_global 4 1c; }

uc()
{
	run_pingpong uc -n 5 -s 10001 -m 1024
	run_pingpong uc -n 5 -s 3
	run_perf ib_write_bw -c UC -n 5 -s 10001
	run_perf ib_write_bw -c UC -n 5 -s 3
}

UC_operations()
{
	capture uc uc
	dissect uc
	wants uc 20 21 22 24 26 27 28 2a
}

uc_opcodes=(20 21 22 23 24 25 26 27 28 29 2a 2b)
UC_with_immediate()
{
	helper verbs || return
	capture uc_imm wire uc 4096 20
	dissect uc_imm
	wants uc_imm "${uc_opcodes[@]}"
}

UC_over_IPv6()
{
	helper verbs || return
	capture uc6 wire uc 4096 20 "$gid6_1" "$gid6_2"
	dissect uc6
	wants uc6 "${uc_opcodes[@]}"
}

UD_operations()
{
	helper verbs || return
	capture ud verbs ud
	dissect ud
	wants ud 65
	capture ud_pingpong run_pingpong ud -n 5 -s 1001
	dissect ud_pingpong
	wants ud_pingpong 64
}

UD_over_IPv6()
{
	helper verbs || return
	capture ud6 verbs ud "" "$gid6_1" "$gid6_2"
	dissect ud6
	wants ud6 65
}

# to_group GROUP GID1 GID2
to_group()
{
	local out=$tmp/receive.$((out_nr += 1))

	start "$ns2" "$out" 60 "$here/multicast" receive "$link2" "$3" "$1" 1
	check poll_until 10 file_has "$out" ready || { diag_file "$out"; return; }
	check in_ns "$ns1" "$here/multicast" send "$link1" "$2" "$1" 3 1000 "to $1"
	check poll_until 10 file_has "$out" "to $1" || diag_file "$out"
	stop "$started"
}

groups()
{
	to_group 239.33.1.1 "$gid1" "$gid2"
	to_group ff15::33:1 "$gid6_1" "$gid6_2"
}

multicast()
{
	helper multicast || return
	capture multicast groups
	dissect multicast
	wants multicast 64/multicast
	# three of each
	check file_has "$tmp/multicast.pcap.kinds" "^0x64/multicast 6\$"
}

# connection management: MADs
rdma_cm()
{
	capture cm check ping "$ns1" "$ip1" "$ns2" -C 3
	dissect cm
	wants cm 04 0c 64
}

errors()
{
	verbs remote_access
	verbs rnr_recovers
	verbs short_receive
}

NAKs()
{
	helper verbs || return
	capture naks errors
	dissect naks
	wants naks 11/ack 11/rnr 11/nak1 11/nak2
}

PSN_sequence_errors()
{
	helper verbs && require_netem || return
	check tc -n "$ns1" qdisc replace dev "$dev1" root netem limit 10000 loss 10% || return
	check fixed_neighbours
	capture sequence wire rc 1024 20
	check tc -n "$ns1" qdisc del dev "$dev1" root
	dissect sequence
	wants sequence 11/nak0
}

begin
run_tests \
	RC_operations \
	RC_operations_over_IPv6 \
	atomics \
	atomics_over_IPv6 \
	SEND_with_invalidate \
	ATOMIC_WRITE \
	FLUSH \
	UC_operations \
	UC_with_immediate \
	UC_over_IPv6 \
	UD_operations \
	UD_over_IPv6 \
	multicast \
	rdma_cm \
	NAKs \
	PSN_sequence_errors
