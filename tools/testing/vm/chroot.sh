#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# chroot.sh --kernel NAME [--bind DIR]... -- COMMAND...
#
# Runs COMMAND in a chroot of the kernel's root, in the current directory.  What
# it writes is gone afterwards, except below a directory given with --bind (which
# has the same name inside).  The checkout can be read.  A debug kernel's modules,
# and what others are built against, lie in its root as those of a Debian kernel do.

set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

kernel='' binds=()
while [ $# -gt 0 ]; do
	case $1 in
	--kernel) kernel=${2-}; shift ;;
	--bind) binds+=("$(realpath -e "${2-}")"); shift ;;
	-h|--help) sed -n '4,/^$/s/^# \{0,1\}//p' "$0"; exit 0 ;;
	--) shift; break ;;
	*) vm_die "unknown option '$1'" ;;
	esac
	[ $# -eq 0 ] || shift
done
[ -n "$kernel" ] || vm_die "--kernel is missing (one of: $(vm_kernels | xargs))"
[ $# -gt 0 ] || vm_die "no command"

vm_need_root
vm_need unshare
vm_use_root "$kernel"

extra=''
[ -z "$vm_vmlinux" ] || extra=$vm_modules/lib/modules/$vm_release

# inside: CACHE ROOT CHECKOUT DIRECTORY MODULES NUMBER-OF-BINDS BIND... COMMAND...
# shellcheck disable=SC2016 # for the inner shell
inside='
	set -e
	tmp=$1 root=$2 checkout=$3 cwd=$4 modules=$5 n=$6
	shift 6

	# An overlay on a tmpfs, in this mount namespace only; any directory
	# does as the place to mount it.
	mount -t tmpfs tmpfs "$tmp"
	mkdir "$tmp/upper" "$tmp/work" "$tmp/root"
	mount -t overlay -o "lowerdir=$root,upperdir=$tmp/upper,workdir=$tmp/work" overlay "$tmp/root"
	root=$tmp/root
	if [ -n "$modules" ]; then
		mkdir "$tmp/modules" "$tmp/modules-work" "$root/lib/modules/${modules##*/}"
		mount -t overlay -o "lowerdir=$modules,upperdir=$tmp/modules,workdir=$tmp/modules-work" \
			overlay "$root/lib/modules/${modules##*/}"
	fi

	mount -t proc proc "$root/proc"	# objtool wants it
	mount --rbind /dev "$root/dev"
	mount -t tmpfs tmpfs "$root/tmp"
	mount -t tmpfs tmpfs "$root/run"
	mkdir -p "$root$checkout"
	mount --bind "$checkout" "$root$checkout"
	mount -o remount,bind,ro "$root$checkout"
	while [ "$n" -gt 0 ]; do
		mkdir -p "$root$1"
		mount --bind "$1" "$root$1"
		shift
		n=$((n - 1))
	done
	[ -d "$root$cwd" ] || cwd=/

	unset TMPDIR
	export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8
	exec chroot "$root" /bin/sh -c "cd \"\$1\" && shift && exec \"\$@\"" sh "$cwd" "$@"
'
exec unshare --mount --pid --fork --kill-child --mount-proc /bin/sh -c "$inside" chroot.sh \
	"$vm_cache/tmp" "$vm_root" "$vm_top" "$PWD" "$extra" "${#binds[@]}" "${binds[@]}" "$@"
