#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# far.sh serve        in the VM at the far end: runs what the near end asks for,
#                     until that is "end"
# far.sh ask COMMAND  in the other VM: runs COMMAND in the far one, with its output
#                     and its status. $link, $gid4 and $gid6 are there, and $verbs.

# shellcheck disable=SC2154 # what lib.sh sets
near_ip=10.60.0.1 far_ip=10.60.0.2 control=7000

case ${1-} in
ask)
	out=$(printf '%s\n' "$2" | socat -t 300 - "TCP:$far_ip:$control,connect-timeout=2") || exit 125
	status=${out##*status }
	printf '%s\n' "${out%status *}"
	exit "${status:-125}"
	;;
one)
	read -r command || exit
	eval "$command" 2>&1
	echo "status $?"
	exit
	;;
serve) ;;
*)
	sed -n '4,/^$/s/^# \{0,1\}//p' "$0"
	exit 2
	;;
esac

wire_dir=$(cd "$(dirname "$0")" && pwd)
. "${RDMA_SELFTESTS:-$wire_dir/../selftests/rdma}/lib.sh"
. "$wire_dir/netdev.sh"

end=$tmp/end link=rxe_far verbs=$RDMA_SELFTESTS/verbs
load_module && modprobe -q sch_netem
wire_up "$far_ip" fd60::2 && rdma link add "$link" type rxe netdev "$dev" &&
	find_gid gid4 "$link" "$far_ip" && find_gid gid6 "$link" fd60::2 || exit
export end link gid4 gid6 verbs dev near_ip far_ip
socat -t 300 "TCP-LISTEN:$control,reuseaddr,fork" EXEC:"$0 one" &
server=$!
poll_until 1400 test -e "$end"
kill "$server"
rdma link del "$link" && unload_module
status=$?
rm -rf "$tmp"
exit "$status"
