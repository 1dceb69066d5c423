#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# From the peer's own address: requests that a connected QP has to refuse, so that the
# peer is told, the QP fails, nothing is written; and responses to a request under way,
# of which the wrong ones fail it, or are no answer at all.

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

# What stands behind a BTH: syndrome and MSN of an AETH, and bytes that await_response takes
# for an answer
declare -A bytes=(
	[ack]=1f000001 [rnr]=21000001 [reserved]=40000001 [sequence]=60000001
	[invalid]=61000001 [access]=62000001 [operation]=63000001 [rd]=64000001
	[4]=3c3c3c3c [8]=3c3c3c3c3c3c3c3c
)
printf -v 'bytes[256]' '3c%.0s' {1..256}

# response REQUEST STATUS PACKET...: how a request ends that these packets answer. PACKET
# is OPCODE:OFFSET:PART+PART..., OFFSET from the PSN of the request; or, with :COUNTER
# behind, one that moves COUNTER, and leaves the request under way.
response()
{
	local request=$1 status=$2 out=$tmp/response.$((out_nr += 1)) pid qpn packet
	local opcode offset parts name part hex before

	shift 2
	start '' "$out" 60 "$here/verbs" await_response "$link1" "$gid1" "$link2" "$gid2" "$request"
	pid=$started
	check poll_until 15 file_has "$out" ready || { diag_file "$out"; return; }
	qpn=$(sed -n 's/^ready //p' "$out")
	for packet; do
		IFS=: read -r opcode offset parts name <<<"$packet"
		hex=
		for part in ${parts//+/ }; do
			hex+=${bytes[$part]}
		done
		[ -z "$name" ] || before=$(counter "$link1" "$name")
		check in_ns "$ns2" "$here/packets" request "$ip2" "$ip1" "$qpn" "$opcode" \
			"$hex" $((0x123456 + offset)) || return
		[ -n "$name" ] || continue
		check poll_until 5 counter_above "$link1" "$name" "$before" || diag "$packet"
		check_not file_has "$out" completed
	done
	check ends "$pid" 20
	check file_has "$out" "^completed: ${status//_/ }\$" || diag_file "$out"
}

# Of PSNs that are not under way, cut, of a reserved kind, or a reason to send again.
no_answer()
{
	case $1 in
	send)
		response send success 0x11:1:ack:drop_psn 0x11:-1:ack:drop_psn \
			0x11:0x7fffff:access:drop_psn 0x11:0:reserved:drop_opcode \
			0x11:0:ack+8:drop_payload 0x12:0:ack:drop_short \
			0x11:0:sequence:rcvd_seq_err 0x11:0:rnr:rcvd_rnr_err 0x11:0:ack ;;
	read)
		response read success 0x10:1:ack+8:drop_psn 0x11:0:ack:completer_retry_err \
			0x10:0:ack+8 ;;
	long)
		response long success 0x0f:1:ack+8:completer_retry_err \
			0x0e:2:256:drop_psn 0x0d:0:ack+256 0x0d:0:ack+256:drop_psn 0x0f:1:ack+8 ;;
	atomic)
		response atomic success 0x12:1:ack+8:drop_psn 0x12:0:ack+8+8:drop_payload \
			0x11:0:ack:completer_retry_err 0x12:0:ack+8 ;;
	esac
}

begin
run_tests \
	"refused 0x15 -" \
	"refused 0x1f 00112233" \
	"refused 0x1d ${reth8}00112233" \
	"refused 0x1d ${reth4}00112233" \
	"refused 0x1d ${reth8}00112233445566778899aabbccddeeff" \
	"refused 0x1c 00000000$reth8" \
	"no_answer send" \
	"no_answer read" \
	"no_answer long" \
	"no_answer atomic" \
	"response send remote_invalid_request_error 0x11:0:invalid" \
	"response send remote_access_error 0x11:0:access" \
	"response send remote_operation_error 0x11:0:operation" \
	"response send bad_response_error 0x11:0:rd" \
	"response send bad_response_error 0x10:0:ack+8" \
	"response send bad_response_error 0x12:0:ack+8" \
	"response read bad_response_error 0x10:0:ack+4" \
	"response read bad_response_error 0x10:0:ack+8+4" \
	"response read bad_response_error 0x12:0:ack+8" \
	"response long bad_response_error 0x0d:0:ack+256+4" \
	"response long bad_response_error 0x0d:0:ack+256 0x0f:1:ack+8+4" \
	"response atomic bad_response_error 0x10:0:ack+8"
