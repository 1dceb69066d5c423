#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# NFS over RDMA: server and client on one link. The client registers its memory
# by REG_MR; the server reads and writes it, and invalidates it by SEND.
#
# What mountd would tell the kernel is written to its caches here, so that no
# NFS program is needed.

. "$(dirname "$0")/ulp.sh"

dir=$tmp/export
mnt=$tmp/mnt
nfsd=/proc/fs/nfsd
never=2147483647
# insecure port, no subtree check, fsid given, no root squash
flags=$((0x0002 | 0x0400 | 0x2000))

setup()
{
	check setup_own_address || return
	check setup_server || return
	check mount_it || return
}

setup_server()
{
	mkdir -p "$dir" "$mnt" || return 1
	mount -t tmpfs -o size=256m none "$dir" || return 1
	mountpoint -q "$nfsd" || mount -t nfsd nfsd "$nfsd" || return 1
	# who asks, what the root of NFSv4 is, and how it is exported
	echo "nfsd $ip1 $never rxetest" >/proc/net/rpc/auth.unix.ip/channel || return 1
	echo "rxetest $dir $never $flags 65534 65534 0" >/proc/net/rpc/nfsd.export/channel ||
		return 1
	printf "%s\n" "rxetest 1 \\x00000000 $never $dir" >/proc/net/rpc/nfsd.fh/channel || return 1
	echo "-2 -3 +4 +4.1 +4.2" >"$nfsd"/versions || echo "-3 +4 +4.1 +4.2" >"$nfsd"/versions
	# no client from before is waited for
	echo 10 >"$nfsd"/nfsv4leasetime
	echo 10 >"$nfsd"/nfsv4gracetime
	echo "rdma 20049" >"$nfsd"/portlist || return 1
	echo 2 >"$nfsd"/threads
}

mount_it()
{
	timeout 60 mount -i -t nfs4 \
		-o "vers=4.1,proto=rdma,port=20049,addr=$ip1,clientaddr=$ip1${1:+,$1}" "$ip1:/" "$mnt"
}

ulp_down()
{
	{
		umount "$mnt" || umount -f -l "$mnt"
		[ ! -e "$nfsd"/threads ] || echo 0 >"$nfsd"/threads
		for cache in auth.unix.ip nfsd.fh nfsd.export; do
			date +%s >"/proc/net/rpc/$cache/flush"
		done
		umount "$dir"
	} >/dev/null 2>&1
	return 0
}

# file BLOCKSIZE COUNT DD-OPTION...: written, on the server, and read back
file()
{
	local size=$1 count=$2

	shift 2
	check dd if=/dev/urandom of="$tmp/data" bs="$size" count="$count" status=none || return
	check dd if="$tmp/data" of="$mnt/file" bs="$size" conv=fsync status=none \
		${1:+oflag="$1"} || return
	check cmp "$tmp/data" "$dir/file" || return
	echo 3 >/proc/sys/vm/drop_caches
	check dd if="$mnt/file" of="$tmp/back" bs="$size" status=none ${1:+iflag="$1"} || return
	check cmp "$tmp/data" "$tmp/back"
	check rm "$mnt/file"
}

tree()
{
	local from

	from=/lib/modules/$(uname -r)/kernel/drivers/infiniband
	check cp -r "$from" "$mnt/" || return
	check diff -r "$from" "$dir/infiniband" || return
	echo 3 >/proc/sys/vm/drop_caches
	check diff -r "$from" "$mnt/infiniband"
	check rm -r "$mnt/infiniband"
}

# Many operations at a time
parallel() { four_at_a_time part; }

part()
{
	dd if=/dev/urandom of="$tmp/part$1" bs=70000 count=60 status=none &&
	dd if="$tmp/part$1" of="$mnt/part$1" bs=30000 oflag=direct status=none &&
	cmp "$tmp/part$1" "$mnt/part$1" && rm "$mnt/part$1"
}

with_loss()
{
	netem loss 1% || return
	file 65536 64 direct
	parallel
	no_netem
}

small_transfers()
{
	check umount "$mnt" || return
	check mount_it sec=sys,rsize=4096,wsize=4096 || return
	file 16384 40
}

unmounts()
{
	check umount "$mnt"
	ulp_down
}

require_modules rpcrdma nfsd nfs nfsv4
begin
run_tests \
	"file 4096 64 direct" \
	"file 1048576 16 direct" \
	"file 100000 100" \
	tree \
	parallel \
	with_loss \
	small_transfers \
	unmounts
