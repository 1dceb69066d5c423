#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Shared by the tests of kernel users: lib.sh of the selftests, one link in the
# initial namespace, where these users live, and both ends on its address.
#
# A script defines ulp_down(), which takes its own things away as far as they
# are there.

. "$(dirname "${BASH_SOURCE[0]}")/../selftests/rdma/lib.sh"

# setup_own_address: sets dev1 link1 ip1
setup_own_address()
{
	setup_veth dev1 '' dev2 '' 4500 || return 1
	ip1=10.12.1.1
	up '' lo && up '' "$dev1" "$ip1/24" && up '' "$dev2" || return 1
	setup_link link1 '' "$dev1" || return 1
	poll_until 10 has_state "$link1" ACTIVE
}

# require_modules MODULE...: else the script ends, with the reason
require_modules()
{
	local module

	for module; do
		modprobe -q "$module" || skip_all "this kernel has no module $module"
	done
}

# four_at_a_time FUNCTION: with 0 to 3, each in a process
four_at_a_time()
{
	local i pids=()

	for i in 0 1 2 3; do
		"$1" "$i" &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		check wait "$i"
	done
}

# netem OPTIONS...: for what goes to our own address
netem()
{
	modprobe -q sch_netem || { skip "no netem"; return 1; }
	check tc qdisc replace dev lo root netem limit 10000 "$@"
}

no_netem()
{
	tc qdisc del dev lo root 2>/dev/null
	return 0
}

eval "lib_$(declare -f take_down)"
take_down()
{
	no_netem
	ulp_down
	lib_take_down
}
