#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# NVMe over RDMA: target and host on one link, a namespace in memory. The host
# registers its memory by REG_MR; the target invalidates it by SEND.

. "$(dirname "$0")/block.sh"

nqn=rxe-test-$RANDOM
nvmet=/sys/kernel/config/nvmet

setup()
{
	check setup_own_address || return
	check setup_disk || return
	check setup_target || return
	check connect || return
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
			[ -b "/dev/$dir" ] && remote=/dev/$dir && return
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
	"${block_tests[@]}" \
	reconnects \
	disconnects
