#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Shared by the tests of block devices: a disk in memory, which the target serves, and
# tests of what the initiator has of it, the block device $remote.

. "$(dirname "${BASH_SOURCE[0]}")/ulp.sh"

nullb=/sys/kernel/config/nullb/rxetest
mnt=$tmp/mnt
remote=

# setup_disk: sets disk. Its blocks are as small as can be: with 4096 bytes, data that comes
# by iSER is damaged on Linux 6.12, and memory of the kernel too, whatever the RDMA driver.
setup_disk()
{
	mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config || return 1
	mkdir "$nullb" || return 1
	echo 1 >"$nullb"/memory_backed
	echo 256 >"$nullb"/size
	echo 512 >"$nullb"/blocksize
	echo 1 >"$nullb"/power || return 1
	disk=/dev/nullb$(cat "$nullb"/index)
	[ -b "$disk" ] || disk=/dev/rxetest
	[ -b "$disk" ]
}

# raw BLOCKSIZE COUNT: what is written comes back, past all caches
raw()
{
	local size=$1 count=$2

	check dd if=/dev/urandom of="$tmp/data" bs="$size" count="$count" status=none || return
	check dd if="$tmp/data" of="$remote" bs="$size" oflag=direct conv=fsync status=none || return
	check dd if="$remote" of="$tmp/back" bs="$size" count="$count" iflag=direct status=none ||
		return
	check cmp "$tmp/data" "$tmp/back"
	# and is on the target's disk
	check dd if="$disk" of="$tmp/back" bs=1M iflag=direct status=none \
		count=$((size * count)) iflag=count_bytes,direct || return
	check cmp "$tmp/data" "$tmp/back"
}

# Many requests at a time, of odd places and sizes, by several processes
parallel() { four_at_a_time part; }

part()
{
	dd if=/dev/urandom of="$tmp/part$1" bs=28k count=100 status=none &&
	dd if="$tmp/part$1" of="$remote" bs=28k seek=$(($1 * 150)) oflag=direct status=none &&
	dd if="$remote" of="$tmp/back$1" bs=12k skip=$(($1 * 350)) count=2800k \
		iflag=count_bytes,direct status=none &&
	cmp "$tmp/part$1" "$tmp/back$1"
}

fio_verifies()
{
	command -v fio >/dev/null || { skip "fio is not installed"; return; }
	check fio --name=verify --filename="$remote" --ioengine=libaio --direct=1 --rw=randrw \
		--bsrange=4k-256k --iodepth=16 --size=32m --verify=crc32c --verify_fatal=1
}

file_system()
{
	mkdir -p "$mnt"
	check mkfs.ext4 -q -F "$remote" || return
	check mount "$remote" "$mnt" || return
	check cp -r "/lib/modules/$(uname -r)/kernel/drivers/infiniband" "$mnt/" || return
	check umount "$mnt" || return
	check fsck.ext4 -fn "$remote"
	check mount "$remote" "$mnt" || return
	check diff -r "/lib/modules/$(uname -r)/kernel/drivers/infiniband" "$mnt/infiniband"
	check umount "$mnt"
}

with_loss()
{
	netem loss 1% || return
	raw 65536 32
	parallel
	no_netem
}

# shellcheck disable=SC2034 # the scripts run them
block_tests=("raw 4096 256" "raw 1048576 24" "raw 12288 333" parallel fio_verifies file_system
	with_loss)
