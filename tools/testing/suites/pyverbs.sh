#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# pyverbs.sh [PATTERN...]
#
# rdma-core's own Python tests, on one device, in a VM; pyverbs.skip says what is
# left out. KTAP.

suites=$(cd "$(dirname "$0")" && pwd)
. "${RDMA_SELFTESTS:-$suites/../selftests/rdma}/lib.sh"

# words that choose lines of pyverbs.skip
where()
{
	local kernel core

	kernel=$(uname -r | grep -oE '^[0-9]+\.[0-9]+')
	core=$(dpkg-query -W -f '${Version}' rdma-core)
	echo "$kernel core${core%%.*}"
}

# How many have to pass. On Linux 7.3, 110 do with the distribution's own driver.
minimum()
{
	case $(where) in
	"6.1 core44") echo 105 ;;
	"6.12 core44") echo 106 ;;
	"7.3 core56") echo 112 ;;
	*) return 1 ;;
	esac
}

begin
require python3 dpkg-query
{
	setup_ns ns1 && setup_veth dev1 '' dev2 "$ns1" 4500 &&
	up '' "$dev1" 10.11.9.1/24 fd00:9::1/64 && up "$ns1" "$dev2" 10.11.9.2/24 fd00:9::2/64 &&
	setup_link link1 '' "$dev1" && find_gid gid1 "$link1" 10.11.9.1 && check_active "$link1"
} || {
	echo "Bail out! no device to test"
	exit 1
}
minimum=$(minimum) || {
	echo "Bail out! minimum() does not know how many tests pass on $(where)"
	exit 1
}
# some tests want them
echo 64 >/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages
echo "# $(where), kernel $(uname -r), rdma-core $(dpkg-query -W -f '${Version}' rdma-core)"
timeout -k 5 $((1500 * slow)) python3 "$suites/pyverbs_ktap.py" --list "$suites/pyverbs.skip" \
	--where "$(where)" --dev "$link1" --gid "$gid1" --ip 10.11.9.1 --netdev "$dev1" \
	--timeout $((60 * slow)) --minimum "$minimum" "$@"
