#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# run.sh --kernel NAME|--debug [OPTION...] -- COMMAND...
#
# Boots a Debian kernel in QEMU, runs COMMAND in it as root, in the checkout,
# with the rdma_rxe that was built from it; shows COMMAND's output and exits
# with its status.
#
#   --kernel NAME   a kernel of kernels.conf
#   --debug         the kernel with checkers that debug-kernel.sh builds: KASAN,
#                   lockdep, kmemleak and others.  Half an hour, the first time
#   --intree        leave the distribution's own rdma_rxe in place
#   --counted       one CPU whose clock counts instructions: one virtual
#                   nanosecond each, so figures repeat on any machine
#   --cpus N        (2)
#   --mem M         (3G, 4G with --debug) half of it at most for files that the VM writes
#   --timeout S     (600, 1800 with --debug) seconds until a VM that does not end is killed
#   --append ARGS   more for the kernel's command line
#   --plugin SPEC   load a TCG plugin (FILE[,NAME=VALUE...])
#   --wire listen:FILE, --wire connect:FILE
#                   a network card (virtio_net) that a socket in the file system
#                   joins to that of another VM
#   --console FILE  keep the console's log there; without it the log goes to a
#                   temporary directory, kept if the run fails
#   -v              say what happens, on stderr
#
# Exit status:
#   0..122  COMMAND's own
#   123     COMMAND's own was above that
#   124     the kernel's log has a warning, an oops or the like (its lines are
#           shown on stderr), or the kernel crashed
#   125     the bed failed: no root, no module, QEMU did not work, ...
#   126     the time-out has passed
#   130,143 interrupted, terminated

set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

kernel='' intree='' counted='' cpus='' mem='' timeout='' append='' plugin='' wire='' console='' verbose=''
while [ $# -gt 0 ]; do
	case $1 in
	--kernel) kernel=${2-}; shift ;;
	--debug) kernel=6.12-debug ;;
	--intree) intree=1 ;;
	--counted) counted=1 ;;
	--cpus) cpus=${2-}; shift ;;
	--mem) mem=${2-}; shift ;;
	--timeout) timeout=${2-}; shift ;;
	--append) append=${2-}; shift ;;
	--plugin) plugin=${2-}; shift ;;
	--wire) wire=${2-}; shift ;;
	--console) console=${2-}; shift ;;
	-v) verbose=1 ;;
	-h|--help) sed -n '4,/^$/s/^# \{0,1\}//p' "$0"; exit 0 ;;
	--) shift; break ;;
	*) vm_die "unknown option '$1' (see --help)" ;;
	esac
	[ $# -eq 0 ] || shift
done
[ -n "$kernel" ] || vm_die "--kernel is missing (one of: $(vm_kernels | xargs))"
[ $# -gt 0 ] || vm_die "no command"
[ -z "$counted" ] || [ "${cpus:-1}" = 1 ] || vm_die "--counted has one CPU"
if vm_is_debug "$kernel"; then
	[ -z "$intree" ] || vm_die "a debug kernel has no rdma_rxe of its own"
	mem=${mem:-4G} timeout=${timeout:-1800}
	# All that KASAN finds, not the first thing alone; a log with room for it;
	# no netdevs at boot.
	append="kasan_multi_shot log_buf_len=16M bonding.max_bonds=0 dummy.numdummies=0 \
ifb.numifbs=0 rcupdate.rcu_cpu_stall_timeout=100 hung_task_timeout_secs=300 $append"
fi
mem=${mem:-3G} timeout=${timeout:-600}

vm_need_root
vm_need cpio flock setpriv strip

progress() { [ -z "$verbose" ] || vm_say "$SECONDS s: $*"; }

#
# What the VM is made of
#

# Should both roots be missing, they are built at the same time, and no longer than
# this shell lives.
suite=$(vm_suite "$kernel")
builders=()
for suite in "$suite" "$vm_qemu_suite"; do
	setpriv --pdeathsig TERM "$vm_dir/root.sh" "$suite" >/dev/null &
	builders+=($!)
done
for builder in "${builders[@]}"; do
	wait "$builder" || exit 125
done
vm_use_root "$kernel"
vm_use_qemu
files=$("$vm_dir/boot-files.sh" "$kernel")
[ -n "$intree" ] || "$vm_top/scripts/build-modules" --quick "$kernel" >&2 ||
	vm_die "the module for $kernel does not build"
progress "root $vm_home, module ready"

run=$(mktemp -d "${TMPDIR:-/tmp}/rdma-rxe-vm.XXXXXX")
chmod 755 "$run"
[ -n "$console" ] || console=$run/console
: >"$console"

# Seconds until a VM that does not boot is started again: it takes ten when the
# machine is idle.
boot_timeout=240
! vm_is_debug "$kernel" || boot_timeout=600

qemu_pid='' cat_pid='' timer_pid='' keep=''
# shellcheck disable=SC2317 # by the trap
finish() {
	if [ -n "$qemu_pid" ]; then
		kill -KILL "$qemu_pid" 2>/dev/null || true
		wait "$qemu_pid" 2>/dev/null || true
	fi
	[ -z "$timer_pid" ] || kill "$timer_pid" 2>/dev/null || true
	[ -z "$cat_pid" ] || kill "$cat_pid" 2>/dev/null || true
	if [ -n "$keep" ]; then
		vm_say "the console's log: $console"
		rm -rf "$run"/{d,initrd,out,monitor.*}
		rmdir "$run" 2>/dev/null || true
	else
		rm -rf "$run"
	fi
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# fail STATUS MESSAGE: the run is over, and its log worth a look
fail() {
	local status=$1
	shift
	vm_say "$*"
	keep=1
	exit "$status"
}

# The archive on top of the root: the command, and the module with depmod's
# result.
make_overlay() {
	local d=$run/d/overlay ko=$vm_top/build/$kernel/rdma_rxe.ko
	mkdir -p "$d/.vm"
	cp "$vm_dir/guest-init" "$d/.vm/"
	printf '%q ' cd "$vm_top" >"$d/.vm/command"
	printf '|| exit 123\nexec ' >>"$d/.vm/command"
	printf '%q ' "$@" >>"$d/.vm/command"
	printf 'vm_checkout=%q\n' "$vm_top" >"$d/.vm/config"
	if [ -z "$intree" ]; then
		mkdir -p "$d/lib/modules/$vm_release/updates"
		strip --strip-debug -o "$d/lib/modules/$vm_release/updates/${ko##*/}" "$ko"
		[ -z "$vm_vmlinux" ] ||
			cp -r "$vm_modules/lib/modules/$vm_release/kernel" "$d/lib/modules/$vm_release/"
		cp "$("$vm_dir/depmod.sh" "$kernel" "$ko")"/* "$d/lib/modules/$vm_release/"
	fi
	# /lib is a link in the root: the overlay must not put a directory there
	[ ! -d "$d/lib" ] || { mkdir "$d/usr"; mv "$d/lib" "$d/usr/lib"; }
	(cd "$run/d" && find . | cpio --quiet -o -H newc) | cat "${files#*$'\n'}" - >"$run/initrd"
}
make_overlay "$@"

#
# The VM
#

# With "fast short rep" features the kernel copies and clears with "rep movsb" and
# "rep stosb", which QEMU executes, and -icount counts, byte by byte.  To a CPU of
# family 15 it grants REP_GOOD: "rep stosq" clears pages, as on real ones.
qemu=("${vm_qemu[@]}" -machine q35 -m "$mem"
	-cpu 'max,family=15,model=107,stepping=1,-erms,-fsrm,-fsrs,-fzrm,-fsrc')
if [ -n "$counted" ]; then
	qemu+=(-accel tcg -icount 'shift=0,sleep=off,align=off' -smp 1)
else
	qemu+=(-accel 'tcg,thread=multi' -smp "${cpus:-2}")
fi

[ -z "$plugin" ] || qemu+=(-plugin "$plugin")

case $wire in
listen:*) mac=52:54:00:00:00:01 wire="server=on,addr.path=${wire#*:}" ;;
connect:*) mac=52:54:00:00:00:02 wire="server=off,reconnect-ms=200,addr.path=${wire#*:}" ;;
'') ;;
*) vm_die "--wire has listen:FILE or connect:FILE" ;;
esac
[ -z "$wire" ] || qemu+=(-netdev "stream,id=wire,addr.type=unix,$wire"
	-device "virtio-net-pci,netdev=wire,mac=$mac,romfile=")

# A comma in an option's value is written twice.
share() {
	qemu+=(-fsdev "local,id=$1,path=${2//,/,,},security_model=none,readonly=on,multidevs=remap"
		-device "virtio-9p-pci,fsdev=$1,mount_tag=$1")
}
share root "$vm_root"
share checkout "$vm_top"

# A FIFO for the output: were it QEMU's stdout, QEMU would make that file
# non-blocking, also for everyone else who has it open.
mkfifo "$run"/{out,monitor.in,monitor.out}
port() {
	qemu+=(-chardev "file,id=$1,path=${2//,/,,}"
		-device "virtserialport,chardev=$1,name=$1")
}
qemu+=(-device virtio-serial-pci)
port output "$run/out"
port log "$run/log"
port status "$run/status"

# A panic reboots, which ends QEMU; an oops panics, as half a kernel would only
# run into the time-out.  The watchdogs wait longer than usual, because an
# emulated CPU may not run for a while on a busy machine; nor is the timer checked
# at boot, which panics when it does not.
qemu+=(-nodefaults -no-user-config -display none -no-reboot
	-chardev "pipe,id=monitor,path=$run/monitor" -mon 'chardev=monitor,mode=readline'
	-chardev "file,id=console,path=${console//,/,,}" -serial chardev:console
	-kernel "${files%$'\n'*}" -initrd "$run/initrd"
	-append "console=ttyS0 loglevel=5 panic=-1 oops=panic mitigations=off nokaslr \
no_timer_check watchdog_thresh=30 rcupdate.rcu_cpu_stall_timeout=60 $append")

# In braces, so that bash has read all of it before it waits: the script may change
# meanwhile.
{
start_vm() {
	cat <"$run/out" &
	cat_pid=$!
	# should this shell be killed, this goes too
	setpriv --pdeathsig KILL "${qemu[@]}" </dev/null >"$run/qemu.log" 2>&1 &
	qemu_pid=$!
	progress "QEMU is process $qemu_pid"
}

# wait_vm SECONDS: true if the VM has ended by then, with qemu_status
wait_vm() {
	local first

	setpriv --pdeathsig KILL sleep "$1" </dev/null >/dev/null 2>&1 &
	timer_pid=$!
	qemu_status=0
	wait -n -p first "$qemu_pid" "$timer_pid" || qemu_status=$?
	[ "$first" = "$timer_pid" ] || kill "$timer_pid" 2>/dev/null || true
	timer_pid=''
	[ "$first" = "$qemu_pid" ]
}

kill_vm() {
	kill -KILL "$qemu_pid" 2>/dev/null || true
	wait "$qemu_pid" 2>/dev/null || true
}

# The VM has ended: what is left is the rest of its output.
end_vm() {
	qemu_pid=''
	# a QEMU that has failed early may not have opened it: cat would wait
	: <>"$run/out"
	wait "$cat_pid" || true
	cat_pid=''
}

timed_out=1 qemu_status=0
left=$timeout
[ "$boot_timeout" -lt "$left" ] || boot_timeout=$left
start_vm
if wait_vm "$boot_timeout"; then
	timed_out=''
elif grep -qs started "$run/status"; then
	left=$((left - boot_timeout))
else
	# Seen once: an emulated CPU whose timer did not fire any more.  Nothing that
	# is to be tested has run yet.
	vm_say "the VM has not booted in $boot_timeout s, and is started again; its console:"
	tail -n 5 "$console" >&2
	kill_vm
	end_vm
	start_vm
fi
[ -z "$timed_out" ] || ! wait_vm "$left" || timed_out=''
if [ -n "$timed_out" ]; then
	# What the watchdogs said so far counts; then, for who reads the
	# console's log, blocked tasks and what the CPUs do.
	cp "$console" "$run/log"
	{ echo 'sendkey alt-sysrq-w'; sleep 1; echo 'sendkey alt-sysrq-l'; sleep 2; } \
		>"$run/monitor.in"
	kill_vm
fi
end_vm
progress "QEMU has ended"

#
# What came out
#

status=$(sed -n 's/^exit //p' "$run/status" 2>/dev/null || true)
# The console's log is all there is if the VM died.
log=$run/log
[ -n "$status$timed_out" ] || log=$console
dirt=$("$vm_dir/check-log.sh" "$log") || {
	printf '%s\n' "$dirt" >&2
	fail 124 "the kernel's log is not clean (the command's status: ${status:-none})"
}
[ -z "$timed_out" ] || fail 126 "time-out: the VM was killed after $timeout s"
if [ -z "$status" ]; then
	cat "$run/qemu.log" >&2
	tail -n 5 "$console" >&2
	fail 125 "the VM ended without a result (QEMU's status: $qemu_status)"
fi
if [ "$status" -gt 122 ]; then
	vm_say "the command's status: $status"
	status=123
fi
exit "$status"
}
