#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# MRs on dma-bufs, through tools/rdma/reg_dmabuf_mr.h.  See verbs_dmabuf.c.

. "$(dirname "$0")/lib.sh"

setup()
{
	check setup_pair 4500 || return
}

verbs()
{
	verbs_or_skip "$1" "$link1" "$gid1" "$link2" "$gid2" ${2:+"$2"}
}

lone()
{
	verbs_or_skip "$1" "$link1" "$gid1"
}

modprobe -q udmabuf 2>/dev/null
begin
run_tests \
	"verbs dmabuf" \
	"verbs dmabuf system" \
	"lone dmabuf_errors" \
	"verbs dmabuf_exit" \
	"verbs dmabuf_killed" \
	"verbs dmabuf_killed system"
