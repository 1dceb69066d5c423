#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# boot-files.sh KERNEL
#
# Prints two file names, one a line: what QEMU boots for that kernel, and the
# bed's initramfs for it.  Makes them first if need be; they belong to the root, or
# to the debug kernel, and are kept beside it.

set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

vm_use_root "$1"
vm_need cpio modprobe od xz zstd

dir=$vm_boot
key=$(cat "$vm_dir/boot-files.sh" "$vm_dir/initrd-init" | sha256sum | cut -c 1-12)
kernel=${vm_vmlinux:-$dir/$vm_release-$key.kernel}
initrd=$dir/$vm_release-$key.initrd
if [ -e "$kernel" ] && [ -e "$initrd" ]; then
	printf '%s\n' "$kernel" "$initrd"
	exit 0
fi

mkdir -p "$dir"
tmp=$(mktemp -d "$dir/tmp.XXXXXX")
trap 'rm -rf "$tmp"' EXIT

# The kernel, unpacked: QEMU can start an ELF file with a PVH note, and the
# emulated CPU need not unpack it, which is half the time of a boot.  Where the
# packed kernel lies in a bzImage: Documentation/arch/x86/boot.rst, setup_sects
# and payload_offset.
unpack_kernel() {
	local image=$1 sects offset length magic
	field() { od -An -t "u$2" -j "$1" -N "$2" "$image" | tr -d ' '; }
	sects=$(field $((0x1f1)) 1)
	offset=$(($(field $((0x248)) 4) + (sects + 1) * 512))
	length=$(field $((0x24c)) 4)
	tail -c "+$((offset + 1))" "$image" | head -c "$length" >"$tmp/packed" || true
	magic=$(od -An -t x1 -N 4 "$tmp/packed" | tr -d ' ')
	# its length is appended, at which the tools stumble, but at the end
	case $magic in
	28b52ffd) zstd -qdc "$tmp/packed" ;;
	fd377a58) xz -dc --single-stream "$tmp/packed" ;;
	1f8b*) gzip -dc "$tmp/packed" ;;
	esac >"$tmp/kernel" 2>/dev/null || true
	rm -f "$tmp/packed"
	[ "$(head -c 4 "$tmp/kernel")" = $'\x7fELF' ]
}
[ -n "$vm_vmlinux" ] || unpack_kernel "$vm_root/boot/vmlinuz-$vm_release" ||
	cp "$vm_root/boot/vmlinuz-$vm_release" "$tmp/kernel"

# The initramfs: a static busybox, the modules that mounting the root takes, and
# initrd-init.
mkdir -p "$tmp"/d/{bin,dev,mnt,modules,overlay,proc,ro,rw,sys}
cp "$vm_root/bin/busybox" "$tmp/d/bin/busybox"
cp "$vm_dir/initrd-init" "$tmp/d/init"
chmod 755 "$tmp/d/init"

# Dependencies first, each once.  What is built in has no "insmod" line.
for module in virtio_pci virtio_console overlay 9pnet_virtio 9p; do
	modprobe --dirname "$vm_modules" --set-version "$vm_release" --show-depends "$module"
done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' >"$tmp/list"
while read -r file; do
	name=$(basename "$file")
	case $name in
	*.xz) xz -dc "$file" >"$tmp/d/modules/${name%.xz}" ;;
	*.zst) zstd -qdc "$file" >"$tmp/d/modules/${name%.zst}" ;;
	*) cp "$file" "$tmp/d/modules/" ;;
	esac
	name=${name%.xz}
	echo "${name%.zst}"
done <"$tmp/list" >"$tmp/d/modules/order"

# not packed either
(cd "$tmp/d" && find . | cpio --quiet -o -H newc) >"$tmp/initrd"

[ -n "$vm_vmlinux" ] || mv "$tmp/kernel" "$kernel"
mv "$tmp/initrd" "$initrd"
printf '%s\n' "$kernel" "$initrd"
