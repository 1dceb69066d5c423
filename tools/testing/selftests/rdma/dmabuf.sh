#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# MRs on dma-bufs, through tools/rdma/reg_dmabuf_mr.h.  See verbs_dmabuf.c.

. "$(dirname "$0")/lib.sh"

setup()
{
	check setup_pair 4500 || return
}

# TEST ARGUMENT...: skips where there is no /dev/udmabuf
run_verbs()
{
	local out=$tmp/out status

	helper verbs || return
	"$here/verbs" list | grep -qx "$1" || {
		skip "verbs was built without it"
		return
	}
	timeout $((60 * slow)) "$here/verbs" "$@" >"$out" 2>&1
	status=$?
	if [ $status -eq 4 ]; then
		skip "$(tail -n 1 "$out")"
	elif [ $status -ne 0 ]; then
		fail "verbs $1: status $status"
		diag_file "$out"
	fi
}

verbs()
{
	run_verbs "$1" "$link1" "$gid1" "$link2" "$gid2"
}

lone()
{
	run_verbs "$1" "$link1" "$gid1"
}

modprobe -q udmabuf 2>/dev/null
begin
run_tests \
	"verbs dmabuf" \
	"lone dmabuf_errors" \
	"verbs dmabuf_exit"
