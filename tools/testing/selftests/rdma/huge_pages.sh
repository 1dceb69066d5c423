#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Memory regions in huge pages of 2 MiB, hugetlbfs's and transparent ones: any
# start, any length, small pages in between, data compared byte by byte.

. "$(dirname "$0")/lib.sh"

nr_hugepages=/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages
free_hugepages=${nr_hugepages%/*}/free_hugepages
# three for each end
needed=6
reserved_before=

setup()
{
	check setup_pair 4500
}

give_back()
{
	[ -z "$reserved_before" ] || echo "$reserved_before" >"$nr_hugepages"
	reserved_before=
}

huge()
{
	local out=$tmp/huge.$1 status=0

	helper verbs || return
	timeout $((60 * slow)) "$here/verbs" huge "$link1" "$gid1" "$link2" "$gid2" "$1" \
		>"$out" 2>&1 || status=$?
	case $status in
	0) ;;
	4) skip "$(tail -n 1 "$out")" ;;
	*)
		fail "verbs huge $1: status $status"
		diag_file "$out" ;;
	esac
}

free_is()
{
	[ "$(cat "$free_hugepages")" -eq "$1" ]
}

hugetlb_pages()
{
	local reserved free

	[ -w "$nr_hugepages" ] || { skip "this kernel has no hugetlbfs with 2 MiB"; return; }
	reserved=$(cat "$nr_hugepages")
	reserved_before=$reserved
	echo $((reserved + needed)) >"$nr_hugepages"
	free=$(cat "$free_hugepages")
	if [ "$free" -ge "$needed" ]; then
		huge hugetlb
		# nothing is pinned any more
		check poll_until 5 free_is "$free"
	else
		skip "no memory for $needed huge pages"
	fi
	give_back
}

transparent_huge_pages()
{
	local mode=

	{ read -r mode </sys/kernel/mm/transparent_hugepage/enabled; } 2>/dev/null
	case $mode in
	''|*'[never]'*) skip "this kernel has no transparent huge pages"; return ;;
	esac
	huge thp
}

begin
trap 'status=$?; give_back; (exit $status); cleanup' EXIT
run_tests \
	hugetlb_pages \
	transparent_huge_pages
