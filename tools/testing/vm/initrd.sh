#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# initrd.sh KERNEL
#
# Prints the file that holds the bed's initramfs for that kernel, and makes it
# first if need be: a static busybox, the modules that mounting the root takes,
# and initrd-init.  It belongs to the root and is kept beside it.

set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

vm_use_root "$1"
vm_need cpio xz zstd

key=$(cat "$vm_dir/initrd.sh" "$vm_dir/initrd-init" | sha256sum | cut -c 1-12)
out=$vm_home/initrd/$vm_release-$key.cpio
if [ -e "$out" ]; then
	echo "$out"
	exit 0
fi

tmp=$(mktemp -d "$vm_home/initrd/tmp.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
mkdir -p "$tmp"/d/{bin,dev,mnt,modules,overlay,proc,ro,rw,sys}

cp "$vm_root/bin/busybox" "$tmp/d/bin/busybox"
cp "$vm_dir/initrd-init" "$tmp/d/init"
chmod 755 "$tmp/d/init"

# Dependencies first, each once.  What is built in has no "insmod" line.
for module in virtio_pci virtio_console overlay 9pnet_virtio 9p; do
	chroot "$vm_root" modprobe --set-version "$vm_release" --show-depends "$module"
done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' >"$tmp/list"
while read -r file; do
	name=$(basename "$file")
	case $name in
	*.xz) xz -dc "$vm_root$file" >"$tmp/d/modules/${name%.xz}" ;;
	*.zst) zstd -qdc "$vm_root$file" >"$tmp/d/modules/${name%.zst}" ;;
	*) cp "$vm_root$file" "$tmp/d/modules/" ;;
	esac
	name=${name%.xz}
	echo "${name%.zst}"
done <"$tmp/list" >"$tmp/d/modules/order"

# Not compressed: QEMU hands it over at memory speed, and the emulated CPU
# would be slow at unpacking.
(cd "$tmp/d" && find . | cpio --quiet -o -H newc) >"$tmp/cpio"
mv "$tmp/cpio" "$out"
echo "$out"
