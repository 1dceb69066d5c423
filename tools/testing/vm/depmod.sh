#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# depmod.sh KERNEL MODULE.ko
#
# Prints a directory with what depmod makes of the kernel's modules and that one
# in updates/.  depmod reads every module and takes seconds; but all it takes
# from this one are aliases and symbols, which hardly ever change: so the result
# is kept beside the root or the debug kernel.

set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

kernel=$1 ko=$2
vm_use_root "$kernel"
vm_need nm modinfo flock

key=$({
	cat "$vm_dir/depmod.sh"
	echo "${ko##*/}"
	for field in name alias depends softdep; do
		modinfo -F "$field" "$ko"
	done
	# symbols it needs, and those it exports
	nm "$ko" | awk '$1 == "U" || $3 ~ /^__(crc|ksymtab)/ { print $NF }' | sort
} | sha256sum | cut -c 1-16)
out=$vm_boot/$vm_release-depmod-$key
if [ -d "$out" ]; then
	echo "$out"
	exit 0
fi

tmp=$(mktemp -d "$vm_boot/tmp.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
mkdir "$tmp/ko" "$tmp/out"
cp "$ko" "$tmp/ko/"
# shellcheck disable=SC2016 # for the inner shell
"$vm_dir/chroot.sh" --kernel "$kernel" --bind "$tmp" -- sh -ec '
	updates=/lib/modules/$2/updates
	mkdir -p "$updates"
	cp "$1"/ko/*.ko "$updates/"
	depmod "$2"
	cd "/lib/modules/$2"
	cp modules.dep modules.*.bin modules.alias modules.symbols modules.softdep "$1/out/"
' sh "$tmp" "$vm_release"
mv -T "$tmp/out" "$out" 2>/dev/null || [ -d "$out" ] # another run was faster
echo "$out"
