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

# vm_use_root KERNEL: finds or builds the root of a kernel, and holds a shared
# lock on it (until this shell and all who inherit the file descriptor are
# gone), so that nobody prunes it.  Sets vm_root and vm_release.
vm_use_root() {
	local suite home tries
	suite=$(vm_suite "$1")
	for tries in 1 2 3; do
		home=$("$vm_dir/root.sh" "$suite") || exit 125
		# pruned between the two commands: ask again
		{ exec {vm_root_lock}<"$home/lock"; } 2>/dev/null || continue
		flock --shared --nonblock "$vm_root_lock" && [ -d "$home/root" ] && break
		exec {vm_root_lock}<&-
		[ "$tries" -lt 3 ] || vm_die "cannot lock $home"
	done
	# shellcheck disable=SC2034
	vm_home=$home
	# shellcheck disable=SC2034
	vm_root=$home/root
	vm_release=$(awk -v k="$1" '$1 == k { print $2 }' "$home/kernels")
	[ -n "$vm_release" ] || vm_die "$home has no kernel $1"
}
