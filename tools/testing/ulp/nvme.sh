#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# NVMe over RDMA: target and host on one link, a namespace in memory. The host
# registers its memory by REG_MR; the target invalidates it by SEND.

. "$(dirname "$0")/ulp.sh"

nqn=rxe-test-$RANDOM
nvmet=/sys/kernel/config/nvmet
nullb=/sys/kernel/config/nullb/rxetest
mnt=$tmp/mnt

setup()
{
	check setup_own_address || return
	check setup_disk || return
	check setup_target || return
	check connect || return
}

setup_disk()
{
	mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config || return 1
	mkdir "$nullb" || return 1
	echo 1 >"$nullb"/memory_backed
	echo 256 >"$nullb"/size
	echo 4096 >"$nullb"/blocksize
	echo 1 >"$nullb"/power || return 1
	disk=/dev/nullb$(cat "$nullb"/index)
	[ -b "$disk" ] || disk=/dev/rxetest
	[ -b "$disk" ]
}

setup_target()
{
	mkdir "$nvmet/subsystems/$nqn" "$nvmet/subsystems/$nqn/namespaces/1" \
		"$nvmet/ports/1" || return 1
	echo 1 >"$nvmet/subsystems/$nqn/attr_allow_any_host"
	echo "$disk" >"$nvmet/subsystems/$nqn/namespaces/1/device_path"
	echo 1 >"$nvmet/subsystems/$nqn/namespaces/1/enable" || return 1
	echo rdma >"$nvmet"/ports/1/addr_trtype
	echo ipv4 >"$nvmet"/ports/1/addr_adrfam
	echo "$ip1" >"$nvmet"/ports/1/addr_traddr
	echo 4420 >"$nvmet"/ports/1/addr_trsvcid
	ln -s "$nvmet/subsystems/$nqn" "$nvmet/ports/1/subsystems/$nqn"
}

# the block device of our controller
find_nvme()
{
	local ctrl dir

	for ctrl in /sys/class/nvme/nvme*; do
		[ "$(cat "$ctrl/subsysnqn" 2>/dev/null)" = "$nqn" ] || continue
		for dir in "$ctrl"/nvme*n1 /sys/class/nvme-subsystem/*/"${ctrl##*/}"/../nvme*n1; do
			dir=${dir##*/}
			dir=${dir/c[0-9]n/n}
			[ -b "/dev/$dir" ] && nvme=/dev/$dir && return
		done
	done
	return 1
}

connect()
{
	echo "transport=rdma,traddr=$ip1,trsvcid=4420,nqn=$nqn,nr_io_queues=2" >/dev/nvme-fabrics ||
		return 1
	poll_until 20 find_nvme
}

disconnect()
{
	local ctrl

	for ctrl in /sys/class/nvme/nvme*; do
		[ "$(cat "$ctrl/subsysnqn" 2>/dev/null)" = "$nqn" ] || continue
		echo 1 >"$ctrl/delete_controller"
	done
}

ulp_down()
{
	{
		umount "$mnt"
		disconnect
		rm "$nvmet/ports/1/subsystems/$nqn"
		rmdir "$nvmet/ports/1"
		echo 0 >"$nvmet/subsystems/$nqn/namespaces/1/enable"
		rmdir "$nvmet/subsystems/$nqn/namespaces/1" "$nvmet/subsystems/$nqn"
		rmdir "$nullb"
	} >/dev/null 2>&1
	return 0
}

# raw BLOCKSIZE COUNT: what is written comes back, past all caches
raw()
{
	local size=$1 count=$2

	check dd if=/dev/urandom of="$tmp/data" bs="$size" count="$count" status=none || return
	check dd if="$tmp/data" of="$nvme" bs="$size" oflag=direct conv=fsync status=none || return
	check dd if="$nvme" of="$tmp/back" bs="$size" count="$count" iflag=direct status=none ||
		return
	check cmp "$tmp/data" "$tmp/back"
	# and is on the target's disk
	check dd if="$disk" of="$tmp/back" bs=1M iflag=direct status=none \
		count=$((size * count)) iflag=count_bytes,direct || return
	check cmp "$tmp/data" "$tmp/back"
}

# Many requests at a time, of odd places and sizes, by several processes
parallel()
{
	local i pids=()

	for i in 0 1 2 3; do
		(
			dd if=/dev/urandom of="$tmp/part$i" bs=28k count=100 status=none &&
			dd if="$tmp/part$i" of="$nvme" bs=28k seek=$((i * 150)) oflag=direct status=none &&
			dd if="$nvme" of="$tmp/back$i" bs=12k skip=$((i * 350)) count=2800k \
				iflag=count_bytes,direct status=none &&
			cmp "$tmp/part$i" "$tmp/back$i"
		) &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		check wait "$i"
	done
}

fio_verifies()
{
	command -v fio >/dev/null || { skip "fio is not installed"; return; }
	check fio --name=verify --filename="$nvme" --ioengine=libaio --direct=1 --rw=randrw \
		--bsrange=4k-256k --iodepth=16 --size=32m --verify=crc32c --verify_fatal=1
}

file_system()
{
	mkdir -p "$mnt"
	check mkfs.ext4 -q -F "$nvme" || return
	check mount "$nvme" "$mnt" || return
	check cp -r "/lib/modules/$(uname -r)/kernel/drivers/infiniband" "$mnt/" || return
	check umount "$mnt" || return
	check fsck.ext4 -fn "$nvme"
	check mount "$nvme" "$mnt" || return
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

reconnects()
{
	check disconnect
	check connect || return
	raw 131072 16
}

disconnects()
{
	check disconnect
	check_not find_nvme
	ulp_down
}

require_modules configfs null_blk nvmet nvmet-rdma nvme-fabrics nvme-rdma
begin
run_tests \
	"raw 4096 256" \
	"raw 1048576 24" \
	"raw 12288 333" \
	parallel \
	fio_verifies \
	file_system \
	with_loss \
	reconnects \
	disconnects
