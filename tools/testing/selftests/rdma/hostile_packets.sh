#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Packets from a stranger, beside connected QPs that go on working: nothing is
# delivered, everything is counted, the kernel does not complain.
#
# Environment:
#   RDMA_TEST_PACKETS=N  packets of the random part (20000; 1000000 take an hour)
#   RDMA_TEST_SEED=N     the same ones again

. "$(dirname "$0")/lib.sh"

setup()
{
	helper verbs && helper packets || return
	check setup_pair 1500 || return
	stranger4=${ip1%.*}.99 stranger6=${ip6_1%::*}::99
	check up "$ns2" "$dev2" "$stranger4/24" "$stranger6/64" || return

	# connected QPs with traffic; an idle RC QP; a UD QP
	start '' "$tmp/stream" 170 "$here/verbs" stream "$link1" "$gid1" "$link2" "$gid2" $((150 * slow))
	stream=$started
	start '' "$tmp/listen" 170 "$here/verbs" listen "$link1" "$gid1"
	listen=$started
	start '' "$tmp/hold" 170 "$here/verbs" hold "$link1" "$gid1" sleep
	check poll_until 15 file_has "$tmp/stream" ready || { diag_file "$tmp/stream"; return; }
	check poll_until 10 file_has "$tmp/listen" ready || return
	check poll_until 10 file_has "$tmp/hold" ready || return
	ud_qpn=$(sed -n 's/^ready //p' "$tmp/listen")
	rdma resource show qp link "$link1/1" >"$tmp/qps"
	rc_qpn=$(sed -n 's/.* lqpn \([0-9]*\) .*state RTS.* comm verbs.*/\1/p' "$tmp/qps")
	init_qpn=$(sed -n 's/.* lqpn \([0-9]*\) .*state INIT.* comm verbs.*/\1/p' "$tmp/qps")
	if [ -z "$ud_qpn" ] || [ -z "$rc_qpn" ] || [ -z "$init_qpn" ]; then
		fail "cannot find the QPs"
		diag_file "$tmp/qps"
	fi
}

# The connected QPs still work, and the UD QP has got nothing.
still_working()
{
	local n

	check_not ended "$stream" || diag_file "$tmp/stream"
	check_not ended "$listen" || diag_file "$tmp/listen"
	n=$(counter "$link1" sent_pkts)
	check poll_until 5 counter_above "$link1" sent_pkts $((n + 20))
	equal "$messages" "$(grep -c bytes "$tmp/listen")" "datagrams delivered"
}

messages=0

# That the rest of this is worth something: the ICRC that "packets" computes is
# the right one.
valid_datagram()
{
	local from=$stranger4 to=$ip1

	if [ "$1" = IPv6 ]; then
		have_ipv6 || { skip "this kernel has no IPv6"; return; }
		from=$stranger6 to=$ip6_1
	fi
	check in_ns "$ns2" "$here/packets" valid "$from" "$to" "$ud_qpn" || return
	messages=$((messages + 1))
	check poll_until 5 has_messages || diag_file "$tmp/listen"
	still_working
}

has_messages()
{
	[ "$(grep -c '32 bytes from QPN 119' "$tmp/listen")" -eq "$messages" ]
}

# Which counter has all packets of a kind, if one does
declare -A counted_as=([icrc]=drop_icrc [fragments]=drop_ip)

counter_is()
{
	[ "$(counter "$1" "$2")" = "$3" ]
}

# Packets with a wrong checksum: this driver's, and those that UDP has dropped before
csum_errors()
{
	local udp

	# shellcheck disable=SC2016 # for awk
	udp=$(in_ns "$ns1" awk '/^Udp: [0-9]/ { print $8 }' /proc/net/snmp)
	echo $(($(counter "$link1" drop_csum) + udp))
}

csum_errors_are()
{
	[ "$(csum_errors)" = "$1" ]
}

# hostile KIND IPv4|IPv6 TARGET [COUNT]: all of them are dropped
hostile()
{
	local from=$stranger4 to=$ip1 qpn dropped sent name=${counted_as[$1]-} before csum

	if [ "$2" = IPv6 ]; then
		have_ipv6 || { skip "this kernel has no IPv6"; return; }
		from=$stranger6 to=$ip6_1
	fi
	case $3 in
	RC) qpn=$rc_qpn ;;
	INIT) qpn=$init_qpn ;;
	UD) qpn=$ud_qpn ;;
	GSI) qpn=1 ;;
	nobody) qpn=$((rc_qpn ^ 0x800000)) ;;
	esac
	dropped=$(drops "$link1") csum=$(csum_errors)
	[ -z "$name" ] || before=$(counter "$link1" "$name")
	sent=$(in_ns "$ns2" "$here/packets" "$1" "$from" "$to" "$qpn" ${4:+"$4"}) || {
		fail "cannot send"
		return
	}
	still_working
	[ -z "$name" ] || check poll_until 5 counter_is "$link1" "$name" $((before + sent)) ||
		diag "$name: $(($(counter "$link1" "$name") - before)) of $sent"
	# each bit of it
	[ "$1" != ip ] || check poll_until 5 csum_errors_are $((csum + 16)) ||
		diag "$(($(csum_errors) - csum)) of 16, drop_csum $(counter "$link1" drop_csum)"
	# UDP drops some of them before the driver: checksums, lengths, when its
	# socket is full
	[ "$1" != ip ] || sent=20
	check poll_until 5 drops_at_least "$link1" $((dropped + sent / 2)) ||
		diag "$(($(drops "$link1") - dropped)) of $sent dropped"
}

# A flood for a QP whose responder waits, for a page of a file system that is frozen: its
# queue takes two MiB, no more, and another QP receives. Once it can, it receives as well.
queue_is_bounded()
{
	local image=$tmp/image out=$tmp/frozen flood=6500 before qpn

	# it would only slow this down
	stop "$stream"
	command -v mkfs.ext4 >/dev/null && command -v unshare >/dev/null || {
		skip "no mkfs.ext4 or unshare"
		return
	}
	modprobe -q -a loop ext4
	mkdir "$tmp/mnt" && truncate -s 8M "$image" && check mkfs.ext4 -q -F "$image" || return
	# shellcheck disable=SC2016 # for the inner shell
	start '' "$out" 60 unshare -m sh -c 'mount -o loop "$1" "$2" || exit; shift 2; exec "$@"' sh \
		"$image" "$tmp/mnt" "$here/verbs" frozen_page "$link1" "$gid1" "$tmp/mnt/file"
	poll_until 20 has_or_ended "$out" ready "$started"
	if file_has "$out" "^mount:"; then
		skip "cannot mount an image: $(head -n 1 "$out")"
		return
	fi
	qpn=$(sed -n 's/^ready //p' "$out")
	[ -n "$qpn" ] || { fail "not ready"; diag_file "$out"; return; }
	before=$(counter "$link1" drop_queue)
	check in_ns "$ns2" "$here/packets" valid "$stranger4" "$ip1" "$qpn" "$flood"
	# none takes less than 768 bytes, which are counted with its sk_buff; the last one
	# may reach over the limit
	check poll_until 10 counter_above "$link1" drop_queue \
		$((before + flood - (4 << 20) / 768 - 2)) ||
		diag "$(counter "$link1" drop_queue) of $flood"
	diag "$(($(counter "$link1" drop_queue) - before)) of $flood did not fit"
	check in_ns "$ns2" "$here/packets" valid "$stranger4" "$ip1" "$ud_qpn"
	messages=$((messages + 1))
	check poll_until 5 has_messages || diag_file "$tmp/listen"
	kill -USR1 "$(pgrep -P "$started")"
	check ends "$started" 30 || diag_file "$out"
	check file_has "$out" "^received 64" || diag_file "$out"
}

has_or_ended()
{
	file_has "$1" "$2" || ended "$3"
}

packets=${RDMA_TEST_PACKETS:-20000}
seed=${RDMA_TEST_SEED:-$((SRANDOM % 1000000))}

# start_targets: QPs of all kinds and states, and memory that nobody may write to
start_targets()
{
	start '' "$tmp/targets" 7200 "$here/verbs" targets "$link1" "$gid1" "$link2" "$gid2"
	targets_pid=$started
	check poll_until 20 file_has "$tmp/targets" ready || { diag_file "$tmp/targets"; return 1; }
	read -r -a targets < <(sed -n 's/^ready //p' "$tmp/targets")
	equal 9 ${#targets[@]} "words about the targets"
}

# product IPv4|IPv6 idle|traffic: a quarter of the packets each
product()
{
	local from=$stranger4 peer=$ip2 to=$ip1 dropped sent busy_qpn=77 mac

	if [ "$1" = IPv6 ]; then
		have_ipv6 || { skip "this kernel has no IPv6"; return; }
		from=$stranger6 peer=$ip6_2 to=$ip6_1
	fi
	[ "$2" = idle ] || {
		start_intact || return
		busy_qpn=$(sed -n 's/^ready //p' "$intact_out")
	}
	start_targets || return
	diag "RDMA_TEST_SEED=$seed"
	mac=$(in_ns "$ns1" cat "/sys/class/net/$dev1/address")
	dropped=$(drops "$link1")
	sent=$(in_ns "$ns2" "$here/packets" product "$dev2" "$mac" "$from" "$peer" "$to" \
		$((packets / 4)) "$seed" "${targets[0]}" "${targets[1]}" "$busy_qpn" \
		"${targets[@]:2}") || fail "cannot send"
	# many end in IP and UDP, or are right for their QP
	check poll_until 5 drops_at_least "$link1" $((dropped + sent / 4)) ||
		diag "$(($(drops "$link1") - dropped)) of $sent dropped"
	diag "$(($(drops "$link1") - dropped)) of $sent dropped"
	ends_intact "$targets_pid" "$tmp/targets"
	diag "$(grep answered "$tmp/targets")"
	[ "$2" = idle ] || ends_intact
}

stop_others()
{
	stop "$stream"
	stop "$listen"
}

begin
run_tests \
	"valid_datagram IPv4" \
	"valid_datagram IPv6" \
	"hostile icrc IPv4 UD" \
	"hostile icrc IPv6 UD" \
	"hostile short IPv4 RC" \
	"hostile short IPv6 RC" \
	"hostile opcodes IPv4 RC" \
	"hostile opcodes IPv4 UD" \
	"hostile opcodes IPv4 INIT" \
	"hostile opcodes IPv6 GSI" \
	"hostile fields IPv4 RC" \
	"hostile fields IPv4 UD" \
	"hostile fields IPv4 nobody" \
	"hostile random IPv4 RC 3000" \
	"hostile random IPv6 INIT 1000" \
	"hostile ip IPv4 UD" \
	"hostile fragments IPv4 UD" \
	"hostile fragments IPv6 UD" \
	"valid_datagram IPv4" \
	queue_is_bounded \
	stop_others \
	"product IPv4 idle" "product IPv6 idle" \
	"product IPv4 traffic" "product IPv6 traffic"
