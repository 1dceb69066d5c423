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

# capture NAME COMMAND...: into $tmp/NAME.pcap
capture()
{
	local file=$tmp/$1.pcap dump

	shift
	ip netns exec "$ns1" tcpdump -Z root -i "$dev1" -n -p -s 0 -B 65536 -U -w "$file" udp port 4791 \
		>"$file.log" 2>&1 &
	dump=$!
	check poll_until 15 file_has "$file.log" "listening on"
	"$@"
	# what the kernel has for it yet
	sleep 0.5
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

# wants NAME OPCODE...: they are in the capture, as hex digits
wants()
{
	local file=$tmp/$1.pcap.kinds opcode

	shift
	for opcode; do
		file_has "$file" "^0x$opcode " || fail "no opcode 0x$opcode in the capture"
	done
	return 0
}

# here one machine has both ends
verbs()
{
	check timeout $((60 * slow)) "$here/verbs" "$1" "$link1" "${3:-$gid1}" "$link2" "${4:-$gid2}" ${2:+"$2"}
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
}

NAKs()
{
	helper verbs || return
	capture naks errors
	dissect naks
	wants naks 11
}

begin
run_tests \
	RC_operations \
	RC_operations_over_IPv6 \
	atomics \
	UC_operations \
	UD_operations \
	UD_over_IPv6 \
	rdma_cm \
	NAKs
