#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# iSER: the kernel's SCSI target and initiator on one link, a disk in memory. The
# initiator registers its memory by REG_MR; the target reads and writes it, and
# invalidates it by SEND.

. "$(dirname "$0")/block.sh"

iqn=iqn.2003-01.org.linux-iscsi:rxe-test-$RANDOM
tpg=/sys/kernel/config/target/iscsi/$iqn/tpgt_1
# nothing of what targetcli remembers is the user's
export TARGETCLI_HOME=$tmp/targetcli

setup()
{
	check setup_own_address || return
	check setup_disk || return
	check setup_target || return
	check start_iscsid || return
	check admin -m node -o new -T "$iqn" -p "$ip1:3260" -I iser || return
	check log_in || return
}

# target: has targetcli run the commands of stdin. Its status does not tell whether they
# worked. It wants a system bus, which may be any bus, to ask for handlers that there are.
target()
{
	mkdir -p "$TARGETCLI_HOME"
	# shellcheck disable=SC2016 # for the inner shell
	{
		echo "set global auto_save_on_exit=false auto_add_default_portal=false"
		cat
		echo exit
	} | timeout $((60 * slow)) dbus-run-session -- sh -c \
		'DBUS_SYSTEM_BUS_ADDRESS=$DBUS_SESSION_BUS_ADDRESS exec targetcli'
}

setup_target()
{
	target <<-END
		/backstores/block create name=rxetest dev=$disk
		/iscsi create $iqn
		/iscsi/$iqn/tpg1/luns create /backstores/block/rxetest
		/iscsi/$iqn/tpg1 set attribute authentication=0 generate_node_acls=1
		/iscsi/$iqn/tpg1 set attribute demo_mode_write_protect=0
		/iscsi/$iqn/tpg1/portals create $ip1 3260
		/iscsi/$iqn/tpg1/portals/$ip1:3260 enable_iser true
	END
	[ -d "$tpg/lun/lun_0" ] && [ "$(cat "$tpg/enable")" = 1 ] && serves_iser
}

serves_iser()
{
	[ "$(cat "$tpg/np/$ip1:3260/iser")" = 1 ]
}

# iscsid with a configuration of its own, which soon notices that a peer is gone
start_iscsid()
{
	mkdir -p /run/lock
	echo "InitiatorName=iqn.2003-01.org.linux-iscsi:rxe-initiator" >"$tmp/initiator"
	cat >"$tmp/iscsid.conf" <<-END
		node.startup = manual
		node.session.timeo.replacement_timeout = $((120 * slow))
		node.conn[0].timeo.login_timeout = 10
		node.conn[0].timeo.logout_timeout = 10
		node.conn[0].timeo.noop_out_interval = 2
		node.conn[0].timeo.noop_out_timeout = $((3 * slow))
	END
	start '' "$tmp/iscsid" 3600 iscsid -f -n -c "$tmp/iscsid.conf" -i "$tmp/initiator"
	iscsid=$started
	poll_until 10 iscsid_answers || { cat "$tmp/iscsid"; return 1; }
}

iscsid_answers()
{
	grep -q ISCSIADM_ABSTRACT_NAMESPACE /proc/net/unix
}

# admin OPTION...
admin()
{
	timeout $((60 * slow)) iscsiadm "$@"
}

log_in()
{
	admin -m node -T "$iqn" -p "$ip1:3260" -l || return 1
	poll_until 20 find_disk
}

log_out()
{
	admin -m node -T "$iqn" -p "$ip1:3260" -u
}

# find_session: sets session
find_session()
{
	for session in /sys/class/iscsi_session/*; do
		[ "$(cat "$session/targetname" 2>/dev/null)" != "$iqn" ] || return 0
	done
	return 1
}

# session_is STATE
session_is()
{
	find_session && [ "$(cat "$session/state")" = "$1" ]
}

# find_disk: sets remote
find_disk()
{
	local dir

	session_is LOGGED_IN || return 1
	for dir in "$session"/device/target*/*/block/*; do
		remote=/dev/${dir##*/}
		[ ! -b "$remote" ] || return 0
	done
	return 1
}

ulp_down()
{
	{
		umount "$mnt"
		! find_session || log_out
		admin -m node -o delete -T "$iqn"
		[ -z "${iscsid-}" ] || stop "$iscsid"
		target <<-END
			/iscsi delete $iqn
			/backstores/block delete rxetest
		END
		rmdir "$nullb"
	} >/dev/null 2>&1
	return 0
}

session_is_iser()
{
	local before

	check admin -m session -P 1
	check file_has "$tmp/check.$out_nr" "Iface Transport: iser"
	before=$(counter "$link1" sent_bytes)
	check dd if="$remote" of=/dev/null bs=1M count=4 iflag=direct status=none
	check counter_above "$link1" sent_bytes $((before + (4 << 20)))
}

# start_traffic: data that is written and read again, until ends_traffic
start_traffic()
{
	touch "$tmp/go"
	# shellcheck disable=SC2016 # for the inner shell
	start '' "$tmp/traffic" 300 bash -c '
		cd "$1" || exit
		while [ -e go ]; do
			dd if=/dev/urandom of=sent bs=64k count=16 status=none &&
			dd if=sent of="$2" bs=64k oflag=direct status=none &&
			dd if="$2" of=got bs=64k count=16 iflag=direct status=none &&
			cmp sent got || exit
		done' bash "$tmp" "$remote"
	traffic=$started
}

ends_traffic()
{
	rm "$tmp/go"
	check ends "$traffic" 90 || diag_file "$tmp/traffic"
}

# The port is down, and nothing gets through: to our own address all would without netem.
# What was asked for meanwhile is done when the link is back.
link_flaps()
{
	start_traffic
	netem loss 100% || return
	check ip link set "$dev1" down
	check poll_until 60 session_is FAILED
	check ip link set "$dev1" up
	no_netem
	check poll_until 90 session_is LOGGED_IN
	ends_traffic
}

logs_in_again()
{
	check log_out
	check_not find_session
	check log_in || return
	raw 131072 16
}

# The target's portal goes with the link, and has to be made anew
link_deleted()
{
	start_traffic
	check takes_less 10000 link_del "$link1" || return
	check poll_until 60 session_is FAILED
	check setup_link link1 '' "$dev1" || return
	check poll_until 10 has_state "$link1" ACTIVE || return
	target >"$tmp/target" <<-END
		/iscsi/$iqn/tpg1/portals/$ip1:3260 enable_iser false
		/iscsi/$iqn/tpg1/portals/$ip1:3260 enable_iser true
	END
	check serves_iser || diag_file "$tmp/target"
	check poll_until 90 session_is LOGGED_IN
	# what was under way may have failed, but it has come to an end
	rm "$tmp/go"
	check poll_until 90 ended "$traffic" || return
	session_is_iser
	raw 131072 16
}

logs_out()
{
	check log_out
	check_not find_session
	ulp_down
	check_not ls -d "$tpg"
}

unloads()
{
	check timeout 60 modprobe -r ib_iser
	check timeout 60 modprobe -r ib_isert
}

require targetcli dbus-run-session iscsid iscsiadm
require_modules configfs null_blk target_core_mod target_core_iblock iscsi_target_mod \
	ib_isert ib_iser sd_mod
begin
run_tests \
	session_is_iser \
	"${block_tests[@]}" \
	link_flaps \
	logs_in_again \
	link_deleted \
	logs_out \
	unloads
