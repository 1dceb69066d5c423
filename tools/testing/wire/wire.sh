#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# wire.sh KERNEL intree|KERNEL
#
# Two VMs on one wire: this driver on KERNEL, and at the far end the
# distribution's driver of the same kernel, or this driver on another KERNEL.
# Prints the KTAP of near.sh, which runs on the first one.

set -uo pipefail

dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$dir/../../.." && pwd)

case ${1-} in
-h|--help) sed -n '4,/^$/s/^# \{0,1\}//p' "$0"; exit 0 ;;
esac
near=${1:?kernel} far=${2:?intree or kernel}
far_options=(--kernel "$far")
[ "$far" != intree ] || far_options=(--kernel "$near" --intree)

near_tests=$("$top/scripts/build-selftests" "$near")/rdma || exit 1
far_tests=$("$top/scripts/build-selftests" "${far_options[1]}")/rdma || exit 1

tmp=$(mktemp -d "${TMPDIR:-/tmp}/rdma-rxe-wire.XXXXXX")
far_pid=''
# shellcheck disable=SC2317 # by the trap
finish() {
	[ -z "$far_pid" ] || kill "$far_pid" 2>/dev/null
	wait
	rm -rf "$tmp"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

"$top/tools/testing/vm/run.sh" "${far_options[@]}" --cpus 1 --timeout 1500 --wire "listen:$tmp/wire" -- \
	env RDMA_SELFTESTS="$far_tests" "$dir/far.sh" serve >"$tmp/far.log" 2>&1 &
far_pid=$!
"$top/tools/testing/vm/run.sh" --kernel "$near" --cpus 1 --timeout 1500 --wire "connect:$tmp/wire" -- \
	env FAR="$far" RDMA_SELFTESTS="$near_tests" "$dir/near.sh"
status=$?
far_status=0
# near.sh has told it to end, if it came so far
if timeout 60 tail --pid="$far_pid" -f /dev/null; then
	wait "$far_pid" || far_status=$?
	far_pid=''
fi
sed 's/^/# far end: /' "$tmp/far.log"
[ "$status" -ne 0 ] || status=$far_status
exit "$status"
