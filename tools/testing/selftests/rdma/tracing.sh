#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# One thing at a time goes wrong: the counters that have to move do, by the right
# amount, and no others; trace-cmd, which records all the while, has the events of
# it, with names, QPNs and reasons.

. "$(dirname "$0")/lib.sh"

psn=$((0x123456))	# of the first packet, and of those that others send

setup()
{
	helper verbs && helper packets || return
	check setup_pair 4500 || return
	: >"$tmp/expected"
	command -v trace-cmd >/dev/null || return 0
	mkfifo "$tmp/end"
	start '' "$tmp/record" 600 trace-cmd record -q -e rxe -o "$tmp/trace.dat" \
		sh -c "echo ready; cat '$tmp/end'"
	recorder=$started
	check poll_until 60 file_has "$tmp/record" ready || diag_file "$tmp/record"
}

# all_counters: "FILE VALUE" of both links, but for those of usual traffic
all_counters()
{
	awk 'FNR == 1 && FILENAME !~ /\/(sent_|rcvd_(pkts|bytes|tokens)|[tr]x_bursts|token_ends|lifespan)/ {
		print FILENAME, $1 }' \
		"/sys/class/infiniband/$link1/ports/1/hw_counters/"* \
		"/sys/class/infiniband/$link2/ports/1/hw_counters/"*
}

before()
{
	all_counters >"$tmp/before"
}

# moved: what is different now, "1 NAME DIFFERENCE"
moved()
{
	all_counters | awk -v link1="/$link1/" 'FNR == NR { before[$1] = $2; next }
		$2 != before[$1] {
			name = $1
			sub(/.*\//, "", name)
			print index($1, link1) ? 1 : 2, name, $2 - before[$1]
		}' "$tmp/before" -
}

moved_is()
{
	[ "$(moved)" = "$1" ]
}

# check_moved "1 NAME DIFFERENCE"...: these have moved since before(), and no others
check_moved()
{
	local want

	want=$(printf '%s\n' "$@")
	poll_until 5 moved_is "$want" || equal "$want" "$(moved)" "counters that moved"
}

# expect_events "1 EVENT TEXT"...: of the first, or second, QP
expect_events()
{
	local event side name text qpn link

	for event; do
		read -r side name text <<<"$event"
		link=link$side qpn=qpn$side
		echo "$name: dev=${!link} qpn=${!qpn} $text" >>"$tmp/expected"
	done
}

# provoke CASE: of the program "verbs"
# shellcheck disable=SC2034 # expect_events() has the QPNs by name
provoke()
{
	before
	timeout $((60 * slow)) "$here/verbs" provoke "$link1" "$gid1" "$link2" "$gid2" "$1" \
		>"$tmp/out" 2>&1 || {
		fail "verbs provoke $1: status $?"
		diag_file "$tmp/out"
		return 1
	}
	read -r _ qpn1 qpn2 <"$tmp/out"
	read -r _ key _ address < <(tail -n +2 "$tmp/out")
}

sends()
{
	provoke sends || return
	check_moved "1 rdma_sends 10" "2 rdma_recvs 10"
	expect_events "1 rxe_qp_state RESET->INIT why=modify" \
		"1 rxe_qp_state INIT->RTR why=modify" "2 rxe_qp_state RTR->RTS why=modify"
}

rnr_retries_exceeded()
{
	provoke rnr || return
	check_moved "1 rcvd_rnr_err 1" "1 retry_rnr_exceeded_err 1" "2 send_rnr_err 1"
	expect_events "2 rxe_nak_sent psn=$psn nak=rnr timer=12" \
		"1 rxe_nak_rcvd psn=$psn nak=rnr timer=12" "1 rxe_retry psn=$psn why=rnr" \
		"1 rxe_qp_state RTS->ERR why=rnr_retry_exc_err"
}

# the packet and two retries
retries_exceeded()
{
	provoke retries || return
	check_moved "1 completer_retry_err 2" "1 retry_exceeded_err 1" "2 drop_no_qp 3"
	expect_events "1 rxe_retry psn=$psn why=timeout" "2 rxe_drop reason=no_qp" \
		"1 rxe_qp_state RTS->ERR why=retry_exc_err"
}

key_of_a_send()
{
	provoke send_key || return
	check_moved "1 local_access_err 1"
	expect_events "1 rxe_access_err side=local key=$key va=$address len=9 err=ERANGE" \
		"1 rxe_qp_state RTS->ERR why=loc_prot_err"
}

key_of_a_READ()
{
	provoke read_key || return
	check_moved "1 local_access_err 1"
	expect_events "1 rxe_access_err side=local key=$key va=$address len=20000 err=EINVAL" \
		"1 rxe_qp_state RTS->ERR why=loc_prot_err"
}

key_of_a_receive()
{
	provoke recv_key || return
	check_moved "2 local_access_err 1"
	expect_events "2 rxe_access_err side=local key=$key va=$address len=100 err=EACCES" \
		"2 rxe_nak_sent psn=$psn nak=remote_operation timer=0" \
		"2 rxe_qp_state RTS->ERR why=loc_prot_err" \
		"1 rxe_nak_rcvd psn=$psn nak=remote_operation timer=0" \
		"1 rxe_qp_state RTS->ERR why=rem_op_err"
}

remote_key()
{
	provoke remote_key || return
	check_moved "2 remote_access_err 1"
	expect_events "2 rxe_access_err side=remote key=$key va=$address len=100 err=EACCES" \
		"2 rxe_nak_sent psn=$psn nak=remote_access timer=0" \
		"2 rxe_qp_state RTS->ERR why=nak_remote_access" \
		"1 rxe_nak_rcvd psn=$psn nak=remote_access timer=0" \
		"1 rxe_qp_state RTS->ERR why=rem_access_err"
}

short_receive()
{
	provoke short_receive || return
	check_moved "2 invalid_req_err 1"
	expect_events "2 rxe_nak_sent psn=$psn nak=invalid_request timer=0" \
		"2 rxe_qp_state RTS->ERR why=loc_len_err" \
		"1 rxe_qp_state RTS->ERR why=rem_inv_req_err"
}

malformed_opcode()
{
	provoke opcode || return
	check_moved "1 malformed_wqe_err 1"
	expect_events "1 rxe_bad_wqe wr_id=7 opcode=4 reason=opcode" \
		"1 rxe_qp_state RTS->SQE why=loc_qp_op_err"
}

malformed_length()
{
	provoke too_long || return
	check_moved "1 malformed_wqe_err 1"
	expect_events "1 rxe_bad_wqe wr_id=8 opcode=2 reason=length" \
		"1 rxe_qp_state RTS->SQE why=loc_len_err"
}

full_CQ()
{
	provoke full_cq || return
	check_moved
	expect_events "1 rxe_cq_overflow cqe=$(sed -n 's/^cqe //p' "$tmp/out")" \
		"1 rxe_qp_state RTS->ERR why=cq_overflow"
}

# a firewall on the way out
filtered()
{
	command -v nft >/dev/null || { skip "nft is not installed"; return; }
	check in_ns "$ns1" nft -f - <<-END || return
		table ip t {
			chain c {
				type filter hook output priority 0;
				udp dport 4791 drop
			}
		}
	END
	provoke retries
	check in_ns "$ns1" nft delete table ip t
	check_moved "1 completer_retry_err 2" "1 retry_exceeded_err 1" "1 send_err 3" \
		"1 send_err_filter 3"
	expect_events "1 rxe_send_err packets=1 reason=filter"
}

# hold_pairs: the QPs that packet() is about
hold_pairs()
{
	local n

	[ -z "${pairs-}" ] || return 0
	n=$(counter "$link2" drop_no_qp)
	pairs=$tmp/pairs
	start '' "$pairs" 300 "$here/verbs" hold_pairs "$link1" "$gid1" "$link2" "$gid2"
	check poll_until 20 file_has "$pairs" ready &&
		check poll_until 5 counter_above "$link2" drop_no_qp "${n:-0}" || {
		diag_file "$pairs"
		return 1
	}
}

# packet PAIR OPCODE HEX-BYTES [SOURCE]: one, to the first QP of the pair
# shellcheck disable=SC2034 # as provoke()
packet()
{
	hold_pairs || return
	read -r qpn1 qpn2 < <(sed -n "s/^$1 //p" "$pairs")
	before
	check in_ns "$ns2" "$here/packets" request "${4:-$ip2}" "$ip1" "$qpn1" "$2" "$3"
}

# drop REASON, and what packet() is told: it is dropped
drop()
{
	packet "${@:2}" || return
	check_moved "1 drop_$1 1"
	expect_events "1 rxe_drop reason=$1"
}

stranger()
{
	check up "$ns2" "$dev2" "${ip2%.*}.99/24"
	drop address RC 0x04 00000000 "${ip2%.*}.99"
	check ip -n "$ns2" addr del "${ip2%.*}.99/24" dev "$dev2"
}

# Q_Key, QPN
deth=1111111100000077

# the peer does not wait for the acknowledgment
duplicate()
{
	packet received 0x04 00000000 || return
	check_moved "1 duplicate_request 1" "2 drop_psn 1"
}

duplicate_READ()
{
	packet received 0x0c 00000000000000000000000000000064 || return
	check_moved "1 drop_duplicate 1" "1 duplicate_request 1"
	expect_events "1 rxe_drop reason=duplicate"
}

# the peer has sent nothing that the NAK could be for
gap()
{
	packet ahead 0x04 00000000 || return
	check_moved "1 out_of_seq_request 1" "2 drop_psn 1"
	expect_events "1 rxe_nak_sent psn=$((psn - 5)) nak=sequence timer=0" \
		"2 rxe_drop reason=psn"
}

# sent again, in vain
sequence_NAK()
{
	packet sent 0x11 60000000 || return
	check_moved "1 completer_retry_err 1" "1 rcvd_seq_err 1" "2 drop_no_qp 1"
	expect_events "1 rxe_nak_rcvd psn=$psn nak=sequence timer=0" \
		"1 rxe_retry psn=$psn why=sequence"
}

# send_fails REASON COMMAND...: of a packet that is sent again and again, after COMMAND
send_fails()
{
	local reason=$1 out=$tmp/sender.$((out_nr += 1)) n

	shift
	start '' "$out" 60 "$here/verbs" hold_sender "$link1" "$gid1" "$link2" "$gid2"
	check poll_until 15 file_has "$out" ready || { diag_file "$out"; return; }
	read -r _ qpn1 _ <"$out"
	n=$(counter "$link1" "send_err_$reason")
	check "$@"
	check poll_until 10 counter_above "$link1" "send_err_$reason" "${n:-0}"
	stop "$started"
	expect_events "1 rxe_send_err packets=1 reason=$reason"
}

no_route()
{
	send_fails route ip -n "$ns1" route add unreachable "$ip2"
	check ip -n "$ns1" route del unreachable "$ip2"
}

# the last one: IPv6 goes with the MTU
route_with_a_small_MTU()
{
	send_fails mtu ip -n "$ns1" link set "$dev1" mtu 100
	check ip -n "$ns1" link set "$dev1" mtu 4500
}

# what all the others expect is in the report
trace_cmd_has_the_events()
{
	[ -n "${recorder-}" ] || { skip "trace-cmd is not installed"; return; }
	: >"$tmp/end"
	check ends "$recorder" 60 || { diag_file "$tmp/record"; return; }
	trace-cmd report -q -i "$tmp/trace.dat" >"$tmp/report" 2>&1
	sed -n 's/.* \(rxe_[a-z_]*: \)  */\1/p' "$tmp/report" | sort -u >"$tmp/events"
	diag "$(wc -l <"$tmp/expected") events expected"
	sort -u "$tmp/expected" | comm -23 - "$tmp/events" >"$tmp/missing"
	[ -s "$tmp/expected" ] && [ ! -s "$tmp/missing" ] || {
		fail "not in the report:"
		diag_file "$tmp/missing"
		diag "but:"
		diag_file "$tmp/events"
	}
}

begin
run_tests \
	sends \
	rnr_retries_exceeded \
	retries_exceeded \
	key_of_a_send \
	key_of_a_READ \
	key_of_a_receive \
	remote_key \
	short_receive \
	malformed_opcode \
	malformed_length \
	full_CQ \
	filtered \
	stranger \
	"drop opcode RC 0xe0 00000000" \
	"drop short RC 0x06 00000000" \
	"drop payload RC 0x11 0000000000000000" \
	"drop psn RC 0x11 00000000" \
	"drop qp_type RC 0x24 00000000" \
	"drop qp_state INIT 0x04 00000000" \
	"drop invalid UC 0x2a 00000000000000000000000000000004" \
	"drop qkey UD 0x64 1111111000000077" \
	"drop no_wqe UD 0x64 $deth" \
	"drop length UD_short 0x64 $deth$deth$deth$deth" \
	duplicate \
	duplicate_READ \
	gap \
	sequence_NAK \
	no_route \
	route_with_a_small_MTU \
	trace_cmd_has_the_events
