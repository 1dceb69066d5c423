#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# This driver and another one, on two machines: each asks and each serves, with
# every byte compared. Runs in a VM (wire.sh); KTAP.

# shellcheck disable=SC2154 # what lib.sh sets
wire_dir=$(cd "$(dirname "$0")" && pwd)
. "${RDMA_SELFTESTS:-$wire_dir/../selftests/rdma}/lib.sh"
. "$wire_dir/netdev.sh"

near_ip=10.60.0.1 far_ip=10.60.0.2
# shellcheck disable=SC2034 # gid4 and gid6 are used by name
dev='' link='' gid4='' gid6=''

# far COMMAND: there
far()
{
	"$wire_dir/far.sh" ask "$1"
}

setup()
{
	require socat tc
	helper verbs || return
	check wire_up "$near_ip" fd60::1 && check setup_link link '' "$dev" || return
	check find_gid gid4 "$link" "$near_ip" && check find_gid gid6 "$link" fd60::1 || return
	check poll_until 240 far true || return
	# when packets are lost, no question about a MAC address is
	check ip neigh replace "$far_ip" dev "$dev" nud permanent \
		lladdr "$(far "cat /sys/class/net/\$dev/address" | tr -d '\n')"
	check far "ip neigh replace $near_ip dev \$dev nud permanent lladdr $(cat "/sys/class/net/$dev/address")"
}

# one GID WHERE TYPE MTU ROUNDS: "ours" asks the far end, or the other way round
exchange()
{
	local gid=$1 where=$2 out=$tmp/server.$((out_nr += 1))
	local server="\$verbs wire_server \$link \$$gid $((port += 1))"

	if [ "$where" = ours ]; then
		start '' "$out" 120 "$wire_dir/far.sh" ask "timeout $((100 * slow)) $server"
		check timeout $((100 * slow)) "$here/verbs" wire_client "$link" "${!gid}" \
			"$far_ip:$port:$3:$4:$5"
	else
		start '' "$out" 120 "$here/verbs" wire_server "$link" "${!gid}" "$port"
		check far "timeout $((100 * slow)) \$verbs wire_client \$link \$$gid $near_ip:$port:$3:$4:$5"
	fi
	check ends "$started" 20 || diag_file "$out"
}

asks() { exchange gid4 ours "$@"; }
serves() { exchange gid4 theirs "$@"; }
asks_over_IPv6() { exchange gid6 ours "$@"; }
serves_over_IPv6() { exchange gid6 theirs "$@"; }

rping_to_the_far_end()
{
	start '' "$tmp/rping" 60 "$wire_dir/far.sh" ask "timeout 50 rping -s -a $far_ip -p 7011 -C 20 -V -S 5000"
	check poll_until 20 far "rdma res show cm_id | grep -q 'LISTEN.*:7011'" || return
	check timeout 40 rping -c -a "$far_ip" -p 7011 -C 20 -V -S 5000
	check ends "$started" 10
}

rping_from_the_far_end()
{
	start '' "$tmp/rping" 60 rping -s -a "$near_ip" -p 7012 -C 20 -V -S 5000
	check poll_until 10 cm_listens '' 7012 || return
	check far "timeout 40 rping -c -a $near_ip -p 7012 -C 20 -V -S 5000"
	check ends "$started" 10
}

# with NETEM-OPTION... -- FUNCTION...: what both ends send suffers that
with()
{
	local options=()

	require_netem || return
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	check tc qdisc replace dev "$dev" root netem limit 10000 "${options[@]}" || return
	check far "tc qdisc replace dev \$dev root netem limit 10000 ${options[*]}"
	"$@"
	check tc qdisc del dev "$dev" root
	check far "tc qdisc del dev \$dev root"
}

# The distribution's requester waits for ever when packets were overtaken, also with
# itself at the other end.
unless_intree()
{
	[ "${FAR:-}" != intree ] || { skip "the far end's driver stalls"; return; }
	"$@"
}

far_end_is_told_to_end()
{
	check far "touch \$end"
}

tests=()
for mtu in 256 512 1024 2048 4096; do
	tests+=("asks rc $mtu 12" "serves rc $mtu 12")
	for type in uc ud; do
		tests+=("asks $type $mtu 6" "serves $type $mtu 6")
	done
done
tests+=(
	"asks_over_IPv6 rc 2048 8" "serves_over_IPv6 rc 2048 8"
	rping_to_the_far_end rping_from_the_far_end
	"with loss 1% -- asks rc 1024 24" "with loss 1% -- serves rc 1024 24"
	"with duplicate 5% -- asks rc 1024 16" "with duplicate 5% -- serves rc 1024 16"
	"with delay 2ms reorder 25% -- asks rc 1024 8" "unless_intree with delay 2ms reorder 25% -- serves rc 1024 8"
	"with delay 20ms -- asks uc 1024 4" "with delay 20ms -- serves uc 1024 4"
	"with delay 20ms -- asks ud 1024 4" "with delay 20ms -- serves ud 1024 4"
	"with delay 20ms -- asks rc 4096 8" "with delay 20ms -- serves rc 4096 8"
	far_end_is_told_to_end
)

begin
run_tests "${tests[@]}"
