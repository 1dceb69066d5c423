#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# check-log.sh FILE
#
# Looks for complaints of the kernel in a kernel log.  Prints them, each with
# what follows it in the log, and exits with 1 if there are any.

set -euo pipefail

complaints=$(dirname "${BASH_SOURCE[0]}")/../selftests/rdma/kernel_complaints
[ -s "$complaints" ] || { echo "$complaints is missing"; exit 1; }

if grep -a -E -A 40 -f <(grep -v '^#' "$complaints") "$1"; then
	exit 1
fi
