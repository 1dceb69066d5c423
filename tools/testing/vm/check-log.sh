#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# check-log.sh FILE
#
# Looks for complaints of the kernel in a kernel log.  Prints them, each with
# what follows it in the log, and exits with 1 if there are any.

set -euo pipefail

complaint='WARNING: |BUG: |kernel BUG at|\bOops\b|Kernel panic|Call Trace:'
complaint+='|cut here|general protection fault|[Uu]nable to handle|invalid opcode'
complaint+='|soft lockup|hard LOCKUP|blocked for more than|detected stall'
complaint+='|(KASAN|KCSAN|KMSAN|KFENCE|UBSAN|ODEBUG): |DEBUG_LOCKS_WARN_ON'
complaint+='|refcount_t:|(list_add|list_del) corruption|Bad page|scheduling while atomic'
complaint+='|possible (recursive locking|circular locking|irq lock inversion|.*deadlock)'
complaint+='|inconsistent lock state|suspicious RCU usage|lock held when returning'
complaint+='|held lock freed|bad unlock balance|trying to register non-static key'
complaint+='|unregister_netdevice: waiting|ref_tracker: .*(leaked|users at)'
# Leaks as the last scan found them, not the scans' own lines, which count also
# what was gone again at the next.  Lockdep is off once it has complained, or has had
# not enough memory.
complaint+='|unreferenced object 0x|kmemleak: .*(disabled|pool empty)|debug_locks: *0|still has locks held|stack guard page|corrupted stack'

if grep -a -E -A 40 -e "$complaint" "$1"; then
	exit 1
fi
