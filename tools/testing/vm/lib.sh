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

# vm_suite KERNEL: the suite that holds it
vm_suite() {
	awk -v k="$1" '!/^#/ && $1 == k { print $2; ok = 1 } END { exit !ok }' \
		"$vm_dir/kernels.conf" ||
		vm_die "unknown kernel '$1' (known: $(vm_kernels | xargs))"
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

# vm_lock_root SUITE: finds or builds the root of a suite, and holds a shared lock
# on it (until this shell and all who inherit the file descriptor are gone), so
# that nobody prunes it.  Sets vm_home.
vm_lock_root() {
	local tries fd
	for tries in 1 2 3; do
		vm_home=$("$vm_dir/root.sh" "$1") || exit 125
		# it may have been pruned between the two commands
		if { exec {fd}<"$vm_home/lock"; } 2>/dev/null; then
			flock --shared --nonblock "$fd" && [ -d "$vm_home/root" ] && return
			exec {fd}<&-
		fi
	done
	vm_die "cannot lock $vm_home ($tries tries)"
}

# vm_use_root KERNEL: locks the root of a kernel; sets vm_home, vm_root and
# vm_release, the kernel's full name.
# shellcheck disable=SC2034
vm_use_root() {
	local suite
	suite=$(vm_suite "$1")
	vm_lock_root "$suite"
	vm_root=$vm_home/root
	vm_release=$(awk -v k="$1" '$1 == k { print $2 }' "$vm_home/kernels")
	[ -n "$vm_release" ] || vm_die "$vm_home has no kernel $1"
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
