# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Shared by the scripts of the VM bed: the cache's layout, kernels.conf, and
# the two ways to look into a root without changing it.
#
# A caller has set -euo pipefail and has defined nothing named vm_*.

vm_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck disable=SC2034 # for the callers
vm_top=$(cd "$vm_dir/../../.." && pwd)
# shellcheck disable=SC2034
vm_cache=${XDG_CACHE_HOME:-$HOME/.cache}/rdma-rxe

vm_say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }
vm_die() { vm_say "$*"; exit 125; }

vm_need() {
	local tool missing=()
	for tool; do
		command -v "$tool" >/dev/null || missing+=("$tool")
	done
	[ ${#missing[@]} -eq 0 ] ||
		vm_die "not found: ${missing[*]} (scripts/bootstrap installs what is needed)"
}

vm_need_root() {
	[ "$(id -u)" -eq 0 ] ||
		vm_die "needs root, for chroot and for mounts in a private mount namespace"
}

# vm_kernels: the names in kernels.conf
vm_kernels() { awk '!/^#/ && NF { print $1 }' "$vm_dir/kernels.conf"; }

# vm_is_debug KERNEL: is it built by debug-kernel.sh, not Debian's?
vm_is_debug() { [ "$1" = 6.12-debug ]; }

# vm_suite KERNEL: the suite that holds it; that of a debug kernel has its source
vm_suite() {
	local kernel=$1
	! vm_is_debug "$kernel" || kernel=${kernel%-debug}
	awk -v k="$kernel" '!/^#/ && $1 == k { print $2; ok = 1 } END { exit !ok }' \
		"$vm_dir/kernels.conf" ||
		vm_die "unknown kernel '$1' (known: $(vm_kernels | xargs) 6.12-debug)"
}

# vm_apt SUITE TOOL ARGUMENT...: apt with a state of its own, which knows SUITE and
# nothing of the system's.  root.sh has written its sources.list.
vm_apt() {
	local archive=$vm_cache/archive/$1 tool=$2
	shift 2
	mkdir -p "$archive/state/lists/partial" "$archive/cache/archives/partial"
	: >"$archive/state/status"
	"$tool" -o Dir::State="$archive/state" \
		-o Dir::State::status="$archive/state/status" \
		-o Dir::Cache="$archive/cache" \
		-o Dir::Etc::sourcelist="$archive/sources.list" \
		-o Dir::Etc::sourceparts=/dev/null \
		-o Dir::Etc::preferences=/dev/null \
		-o Dir::Etc::preferencesparts=/dev/null \
		-o APT::Architecture=amd64 -o APT::Architectures=amd64 \
		-o APT::Sandbox::User=root \
		-o Acquire::Languages=none -o Acquire::Retries=2 "$@"
}

# vm_lock_made COMMAND...: runs COMMAND, which makes a directory with a lock if need
# be and prints its name, and holds a shared lock on it (until this shell and all who
# inherit the file descriptor are gone), so that nobody prunes it.  Sets vm_made.
vm_lock_made() {
	local tries fd
	for tries in 1 2 3; do
		vm_made=$("$@") || exit 125
		# it may have been pruned between the two commands
		if { exec {fd}<"$vm_made/lock"; } 2>/dev/null; then
			flock --shared --nonblock "$fd" && [ -e "$vm_made/lock" ] && return
			exec {fd}<&-
		fi
	done
	vm_die "cannot lock $vm_made ($tries tries)"
}

# vm_lock_root SUITE: finds or builds the root of a suite, and locks it.  Sets
# vm_home.
vm_lock_root() {
	local vm_made
	vm_lock_made "$vm_dir/root.sh" "$1"
	vm_home=$vm_made
}

# vm_use_root KERNEL: locks the root of a kernel; sets vm_home, vm_root and
# vm_release, the kernel's full name; vm_boot, where what is made for booting it
# is kept; vm_modules, the directory that has lib/modules/RELEASE; vm_vmlinux, empty
# if the kernel is in the root.
# shellcheck disable=SC2034
vm_use_root() {
	local vm_made
	vm_lock_root "$(vm_suite "$1")"
	vm_root=$vm_home/root
	if vm_is_debug "$1"; then
		vm_lock_made "$vm_dir/debug-kernel.sh" "$1"
		vm_release=$(cat "$vm_made/release")
		vm_boot=$vm_made/boot vm_modules=$vm_made/modules vm_vmlinux=$vm_made/vmlinux
		return
	fi
	vm_release=$(awk -v k="$1" '$1 == k { print $2 }' "$vm_home/kernels")
	[ -n "$vm_release" ] || vm_die "$vm_home has no kernel $1"
	vm_boot=$vm_home/boot vm_modules=$vm_root vm_vmlinux=''
}

# vm_discard DIR: removes what is under a directory that nobody can see any more.
vm_discard() {
	local gone
	gone=$(mktemp -d "$vm_cache/tmp/gone.XXXXXX")
	mv "$1" "$gone/" && rm -rf --one-file-system "$gone"
}

# vm_sweep DIR...: removes leftovers of builds that were killed: their lock is free.
vm_sweep() {
	local dir
	for dir; do
		[ -e "$dir/lock" ] || continue
		(flock --exclusive --nonblock 9 && rm -rf --one-file-system "$dir") \
			9<"$dir/lock" || true
	done
}

# vm_prune KEEP DIR...: removes each DIR but KEEP when nobody uses it or has for
# three days.
vm_prune() {
	local keep=$1 dir
	shift
	for dir; do
		dir=${dir%/}
		[ "$dir" != "$keep" ] || continue
		[ -e "$dir/lock" ] || continue
		[ -n "$(find "$dir/lock" -mmin +4320)" ] || continue
		(flock --exclusive --nonblock 9 && vm_discard "$dir") 9<"$dir/lock" || true
	done
}

# the suite whose root holds QEMU
vm_qemu_suite=trixie

# vm_use_qemu: locks the root that holds QEMU; sets vm_qemu, the command.
# packages.conf says why it is not the host's QEMU.  It needs no chroot: its
# libraries, modules and firmware can be named.
# shellcheck disable=SC2034
vm_use_qemu() {
	local vm_home libs
	vm_lock_root "$vm_qemu_suite"
	libs=$vm_home/root/usr/lib/x86_64-linux-gnu
	vm_qemu=(
		env "QEMU_MODULE_DIR=$libs/qemu"
		"$vm_home/root/lib64/ld-linux-x86-64.so.2" --library-path "$libs"
		"$vm_home/root/usr/bin/qemu-system-x86_64" -L "$vm_home/root/usr/share/seabios"
		-L "$vm_home/root/usr/share/qemu"
	)
}
