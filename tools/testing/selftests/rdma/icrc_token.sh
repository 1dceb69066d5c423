#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# QPs of one kernel may send each other a token in place of the ICRC: only after
# they have proven to be what they say, only RC, not with the switch off, and not
# for long if it does not arrive.

. "$(dirname "$0")/lib.sh"

switch=/sys/module/rdma_rxe/parameters/icrc_token

setup()
{
	local pair

	for pair in a b; do
		check setup_pair 1500 10.45.0 || return
		printf -v "${pair}_ns1" %s "$ns1"
		printf -v "${pair}_ns2" %s "$ns2"
		printf -v "${pair}_link1" %s "$link1"
		printf -v "${pair}_link2" %s "$link2"
		printf -v "${pair}_dev1" %s "$dev1"
		printf -v "${pair}_dev2" %s "$dev2"
	done
	check test -w "$switch"
	set_switch Y
}

set_switch()
{
	check eval "echo $1 >$switch"
}

# rc OPTION...: packets one by one between the first pair
rc()
{
	check pingpong rc "$a_ns1" "$a_link1" "$gid1" "$a_ns2" "$a_link2" "$gid2" 10.45.0.1 \
		-n 200 -c -s 1000 "$@"
}

tokens()
{
	counter "$1" sent_tokens
}

# what LINK1 sends has come in at LINK2
arrived()
{
	[ "$(counter "$1" sent_tokens)" = "$(counter "$2" rcvd_tokens)" ]
}

proven_peers_send_tokens()
{
	local before1 before2

	before1=$(tokens "$a_link1") before2=$(tokens "$a_link2")
	rc
	check counter_above "$a_link1" sent_tokens $((before1 + 150))
	check counter_above "$a_link2" sent_tokens $((before2 + 150))
	check soon arrived "$a_link1" "$a_link2"
	check soon arrived "$a_link2" "$a_link1"
	equal 0 "$(counter "$a_link1" drop_icrc)" "drop_icrc of the first link"
	equal 0 "$(counter "$a_link2" drop_icrc)" "drop_icrc of the second link"
}

sent()
{
	echo $(($(counter "$a_link1" sent_pkts) + $(counter "$a_link2" sent_pkts)))
}

# captured PCAP NUMBER: so many packets are in it
captured()
{
	read -r _ right _ wrong <<<"$(python3 "$here/icrc_check.py" "$1")"
	[ "$((right + wrong))" -ge "$2" ]
}

# icrcs COMMAND...: sets right and wrong, of the packets that COMMAND lets arrive
icrcs()
{
	local before pcap=$tmp/pcap.$((out_nr += 1))

	# to tcpdump a burst is one packet
	check in_ns "$a_ns1" ethtool -K "$a_dev1" gso off tx-udp-segmentation off || return
	check in_ns "$a_ns2" ethtool -K "$a_dev2" gso off tx-udp-segmentation off || return
	start "$a_ns1" "$pcap.log" 60 tcpdump -i "$a_dev1" -U -w "$pcap" udp port 4791
	check poll_until 10 file_has "$pcap.log" "listening on" || return 1
	before=$(sent)
	"$@"
	check poll_until 10 captured "$pcap" $(($(sent) - before))
	stop "$started"
	diag "right ICRCs: $right, others: $wrong"
}

require_capture()
{
	command -v tcpdump >/dev/null && command -v python3 >/dev/null &&
		command -v ethtool >/dev/null || {
		skip "no tcpdump, python3 or ethtool"
		return 1
	}
}

a_connection_begins_with_icrcs()
{
	local right=0 wrong=0

	require_capture || return
	set_switch Y
	icrcs rc || return
	[ "$right" -ge 1 ] || fail "no packet had an ICRC: nothing was proven"
	[ "$wrong" -ge 300 ] || fail "tokens were not used"
}

# icrcs_are_right OPTION...: with the switch off
icrcs_are_right()
{
	local right=0 wrong=0 before

	require_capture || return
	set_switch N
	before=$(tokens "$a_link1")
	icrcs rc "$@" || return
	set_switch Y
	equal "$before" "$(tokens "$a_link1")" "tokens sent"
	equal 0 "$wrong" "wrong ICRCs"
	[ "$right" -ge 400 ] || fail "only $right packets were captured"
}

# The switch takes effect at once: connections that send tokens go on with ICRCs.
switch_under_traffic()
{
	start "$a_ns1" "$tmp/server" 60 ib_send_bw -d "$a_link1" -x "$gid1" -F -s 4096 -D 3
	check poll_until 10 tcp_listens "$a_ns1" 18515 || return
	start "$a_ns2" "$tmp/client" 60 ib_send_bw -d "$a_link2" -x "$gid2" -F -s 4096 -D 3 \
		10.45.0.1
	check poll_until 10 counter_moves "$a_link2" sent_pkts
	set_switch N
	check poll_until 5 counter_rests "$a_link2" sent_tokens
	check counter_moves "$a_link2" sent_pkts
	set_switch Y
	check ends "$started" 30
}

counter_moves()
{
	local before

	before=$(counter "$1" "$2")
	nap
	[ "$before" != "$(counter "$1" "$2")" ]
}

counter_rests()
{
	! counter_moves "$@"
}

# Nobody would notice a loss: no tokens.
others_have_icrcs()
{
	local before

	before=$(tokens "$a_link2")
	check pingpong ud "$a_ns1" "$a_link1" "$gid1" "$a_ns2" "$a_link2" "$gid2" 10.45.0.1 \
		-n 100 -c -s 1000
	check perf ib_send_bw "$a_ns1" "$a_link1" "$gid1" "$a_ns2" "$a_link2" "$gid2" 10.45.0.1 \
		-c UC -n 100 -s 1000
	equal "$before" "$(tokens "$a_link2")" "tokens sent"
}

# Two networks with the same addresses: each pair has its own tokens.
same_addresses_in_two_networks()
{
	local before_a before_b

	before_a=$(tokens "$a_link2") before_b=$(tokens "$b_link2")
	rc
	check counter_above "$a_link2" sent_tokens "$before_a"
	equal "$before_b" "$(tokens "$b_link2")" "tokens in the other network"
	check pingpong rc "$b_ns1" "$b_link1" "$gid1" "$b_ns2" "$b_link2" "$gid2" 10.45.0.1 \
		-n 200 -c -s 1000
	check counter_above "$b_link2" sent_tokens "$before_b"
	check soon arrived "$b_link2" "$b_link1"
	equal 0 "$(counter "$b_link1" drop_icrc)" "drop_icrc in the other network"
}

# Somebody on the way overwrites the last bytes of every seventh packet of a certain
# length: it is dropped, and sent again with an ICRC.
tampered_packets_are_dropped()
{
	local before ends

	command -v nft >/dev/null || { skip "no nft"; return; }
	before=$(counter "$a_link1" drop_icrc) ends=$(counter "$a_link2" token_ends)
	# UDP 8, BTH 12, payload 104: the ICRC is at 124
	in_ns "$a_ns1" nft -f - <<-RULES || { skip "nft does not take the rule"; return; }
		table ip tamper {
			chain in {
				type filter hook prerouting priority 0;
				udp dport 4791 udp length 128 numgen inc mod 7 0 \
					@th,992,32 set 0x12345678
			}
		}
	RULES
	check pingpong rc "$a_ns1" "$a_link1" "$gid1" "$a_ns2" "$a_link2" "$gid2" 10.45.0.1 \
		-n 50 -c -s 104
	check in_ns "$a_ns1" nft delete table ip tamper
	check counter_above "$a_link1" drop_icrc "$before"
	check counter_above "$a_link2" token_ends "$ends"
	rc
}

# token_of PCAP QPN: sets psn and token, of the last packet that is in it for QPN
token_of()
{
	local hex

	hex=$(tcpdump -r "$1" -x "udp[12:4] & 0xffffff = $2" 2>/dev/null |
		sed -n '/^[0-9]/ { s/.*/-/; p }; s/^\t0x[0-9a-f]*: //p' | tr -d ' \n')
	hex=${hex##*-}
	# IPv4 20, UDP 8, BTH 12, payload 8, token
	[ ${#hex} -eq 104 ] || return
	psn=$((16#${hex:74:6}))
	token=$(((16#${hex:102:2}${hex:100:2}${hex:98:2}${hex:96:2} ^ psn * 0x9e3779b1) & 0xffffffff))
}

# forged COUNTER FROM QPN TOKEN [bare]: what becomes of such a packet
forged()
{
	local before tokens name=$1 from=$2

	shift 2
	before=$(counter "$a_link1" "$name") tokens=$(counter "$a_link1" rcvd_tokens)
	check in_ns "$a_ns2" "$here/packets" token "$from" 10.45.0.1 "$1" "$psn" "${@:2}" || return
	check poll_until 5 counter_above "$a_link1" "$name" "$before" || diag "$name: $*"
	[ "$name" = rcvd_tokens ] || equal "$tokens" "$(counter "$a_link1" rcvd_tokens)" "$name: tokens"
}

# A token is the pair's, the connection's and the PSN's, and needs a UDP checksum.
tokens_are_not_for_others()
{
	local pcap=$tmp/forged out=$tmp/proven tcpdump pid qpn other psn token

	helper verbs && helper packets && require_capture || return
	check up "$a_ns2" "$a_dev2" 10.45.0.99/24
	start "$a_ns2" "$pcap.log" 60 tcpdump -i "$a_dev2" -U -w "$pcap" \
		src host 10.45.0.2 and udp dst port 4791 and 'udp[4:2] = 32'
	tcpdump=$started
	check poll_until 10 file_has "$pcap.log" "listening on" || return
	start '' "$out" 60 "$here/verbs" proven_pairs "$a_link1" "$gid1" "$a_link2" "$gid2"
	pid=$started
	check poll_until 20 file_has "$out" ready || { diag_file "$out"; return; }
	read -r _ qpn other < <(grep ^ready "$out")
	# all that it says has been captured, since what came later was too
	check poll_until 10 token_of "$pcap" "$other" && check token_of "$pcap" "$qpn" || return
	stop "$tcpdump"

	# the right one, of a message that has arrived already
	forged rcvd_tokens 10.45.0.2 "$qpn" "$token"
	forged drop_icrc 10.45.0.2 "$qpn" "$token" bare
	forged drop_icrc 10.45.0.2 "$qpn" $((token ^ 1))
	forged drop_icrc 10.45.0.2 "$other" "$token"
	forged drop_address 10.45.0.99 "$qpn" "$token"
	set_switch N
	forged drop_icrc 10.45.0.2 "$qpn" "$token"
	set_switch Y
	forged rcvd_tokens 10.45.0.2 "$qpn" "$token"
	# a new connection of the same QPs
	kill -USR1 "$(pgrep -P "$pid")"
	check poll_until 20 file_has "$out" again || { diag_file "$out"; return; }
	forged drop_icrc 10.45.0.2 "$qpn" "$token"
	stop "$pid"
}

begin
run_tests \
	proven_peers_send_tokens \
	a_connection_begins_with_icrcs \
	icrcs_are_right \
	"icrcs_are_right -s 199" \
	switch_under_traffic \
	others_have_icrcs \
	same_addresses_in_two_networks \
	tampered_packets_are_dropped \
	tokens_are_not_for_others
