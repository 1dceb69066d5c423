#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# kernel_tree.sh DIRECTORY
#
# Do the selftests work dropped into a kernel tree? DIRECTORY is what that tree's
# own Makefiles have installed (scripts/build-selftests). Runs in a VM; KTAP.

set -u

dir=${1:?directory}
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../selftests/rdma" && pwd) || exit

nr=0 failures=0

# result STATUS DESCRIPTION
result()
{
	nr=$((nr + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $nr kernel tree: $2"
	else
		failures=$((failures + 1))
		echo "not ok $nr kernel tree: $2"
	fi
}

scripts()
{
	local file

	for file in "$source"/*.sh; do
		case ${file##*/} in lib.sh|run_tests.sh) continue ;; esac
		[ ! -x "$file" ] || echo "rdma:${file##*/}"
	done
}

# all_there FILE...: executable, in the installed directory
all_there()
{
	local file status=0

	for file; do
		[ -x "$dir/rdma/$file" ] || { echo "# no $file"; status=1; }
	done
	return "$status"
}

# runs SCRIPT FUNCTIONS: passes, and something was tested
runs()
{
	local out

	out=$(RDMA_TEST_ONLY=$2 "$dir/run_kselftest.sh" -t "rdma:$1" 2>&1)
	sed 's/^/# | /' <<<"$out"
	grep -qE "^ok 1 selftests: rdma: $1\$" <<<"$out"
}

echo "KTAP version 1"
echo "1..4"
diff <(scripts | sort) <(grep '^rdma:.*\.sh$' "$dir/kselftest-list.txt" | sort) | sed 's/^/# /'
result "${PIPESTATUS[0]}" "lib.mk lists all scripts"
all_there packets pma verbs
result $? "lib.mk builds and installs the C programs"
runs sock_lifecycle.sh first_link
result $? "run_kselftest.sh runs a script"
runs verbs.sh '^verbs inline$'
result $? "run_kselftest.sh runs a C program"
exit $((failures > 0))
