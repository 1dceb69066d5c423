#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Shared by near.sh and far.sh.

# wire_up ADDRESS ADDRESS6: sets dev, the card of --wire, and these addresses
wire_up()
{
	local path

	modprobe -q virtio_net
	for path in /sys/class/net/*/device/driver; do
		[[ $(readlink "$path") != */virtio_net ]] || dev=${path#/sys/class/net/}
	done
	dev=${dev%%/*}
	[ -n "$dev" ] || { echo "there is no card" >&2; return 1; }
	sysctl -q net.ipv6.conf.all.accept_dad=0 "net.ipv6.conf.$dev.accept_dad=0"
	ip link set "$dev" mtu 9000 && up '' "$dev" "$1/24" "$2/64"
}
