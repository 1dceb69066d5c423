#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Completion queues change their size: what waits stays, in order, also while
# completions come, and a CQ that is armed stays armed.

. "$(dirname "$0")/lib.sh"

setup()
{
	check setup_pair 4500 || return
}

begin
run_tests \
	"verbs cq_resize" \
	"verbs cq_resize_armed" \
	"verbs cq_resize_load"
