#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Shared by the RDMA selftests.  A script sources this file, defines setup()
# and one function for each test, and ends with
#
#	begin
#	run_tests FUNCTION...
#
# A FUNCTION may have arguments: "ping_works 1024 -e".  It uses check and
# check_not, which say what went wrong, or fail, or skip.  setup() is the first
# test; the others are skipped if it fails.  After the last one, run_tests adds
# three of its own: everything can be taken down and is gone, the module
# unloads, the kernel's log has no complaint.
#
# Exit status: 0 all passed (or were skipped), 1 one failed, 4 nothing could be
# tested.
#
# Environment:
#   RDMA_TEST_SLOW=N   multiply all time-outs and asserted times by N
#   RDMA_TEST_TIMES=1  print how long each test took
#   RDMA_TEST_ONLY=R   only the functions that match the regular expression R

export LC_ALL=C
self=${0##*/}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tmp=$(mktemp -d "${TMPDIR:-/tmp}/rdma-selftest.XXXXXX") || exit 1
slow=${RDMA_TEST_SLOW:-1}

# Where an operation has to be "prompt", in milliseconds
# shellcheck disable=SC2034 # for the scripts
prompt=2000

namespaces=() netdevs=() links=() pids=()
declare -A link_ns=()

#
# KTAP
#

failed='' skipped='' measured=()

diag()
{
	printf '%s\n' "$@" | sed 's/^/# /'
}

diag_file()
{
	head -c 4000 "$1" | tr -d '\r\000' | sed 's/^/#   /'
}

# fail MESSAGE: the running test has failed; it may go on
fail()
{
	failed=1
	diag "$*"
	return 1
}

# skip REASON: "skip REASON; return" ends the running test
skip()
{
	skipped=$*
}

# skip_all REASON: the script can test nothing
skip_all()
{
	echo "KTAP version 1"
	echo "1..0 # SKIP $*"
	rm -rf "$tmp"
	exit 4
}

out_nr=0

# check COMMAND...: has to succeed, else the test fails and the output is shown
check()
{
	local status=0 out=$tmp/check.$((out_nr += 1))

	"$@" >"$out" 2>&1 || status=$?
	[ "$status" -ne 0 ] || return 0
	failed=1
	diag "failed with status $status: $*"
	diag_file "$out"
	return 1
}

# check_not COMMAND...: has to fail, but not to crash or hang
check_not()
{
	local status=0 out=$tmp/check.$((out_nr += 1))

	"$@" >"$out" 2>&1 || status=$?
	case $status in
	0|124|134|137|139|143) ;;
	*) return 0 ;;
	esac
	failed=1
	diag "has to fail, but its status is $status: $*"
	diag_file "$out"
	return 1
}

# equal EXPECTED FOUND WHAT
equal()
{
	[ "$1" = "$2" ] || fail "$3: expected '$1', found '$2'"
}

run_tests()
{
	local name nr=0 any_failed='' passed='' no_setup='' start
	local all=(setup)

	for name; do
		[[ $name =~ ${RDMA_TEST_ONLY-} ]] && all+=("$name")
	done
	set -- "${all[@]:1}"
	all+=(everything_is_gone module_unloads kernel_log_is_clean)
	echo "KTAP version 1"
	echo "1..${#all[@]}"
	for name in "${all[@]}"; do
		failed='' skipped='' measured=()
		start=$(now)
		if [ -n "$no_setup" ] && [ "$nr" -le $# ]; then
			skip "setup has failed"
		else
			# shellcheck disable=SC2086 # a function and its arguments
			$name
		fi
		[ "$nr" -gt 0 ] || no_setup=$failed
		# how near to the limit it was, also if it has passed
		[ ${#measured[@]} -eq 0 ] || diag "${measured[@]}"
		[ -z "${RDMA_TEST_TIMES-}" ] || diag "$(($(now) - start)) ms"
		nr=$((nr + 1)) name=${name//_/ }
		if [ -n "$failed" ]; then
			echo "not ok $nr $name"
			any_failed=1
		elif [ -n "$skipped" ]; then
			echo "ok $nr $name # SKIP $skipped"
		else
			echo "ok $nr $name"
			passed=1
		fi
	done
	[ -z "$any_failed" ] || exit 1
	[ -n "$passed" ] || exit 4
	exit 0
}

#
# Time
#

# now: in milliseconds
now()
{
	echo $((${EPOCHREALTIME/[.,]/} / 1000))
}

# poll_until SECONDS COMMAND...: try COMMAND until it succeeds or the time is up
poll_until()
{
	local deadline=$((${EPOCHREALTIME/[.,]/} + $1 * slow * 1000000))

	shift
	until "$@"; do
		[ "${EPOCHREALTIME/[.,]/}" -lt "$deadline" ] || return 1
		nap
	done
}

# nap: 50 ms, without a process
exec {never}<> <(:)
nap()
{
	read -r -t 0.05 -u "$never"
	return 0
}

# slowness: how much slower this machine is just now than a quiet emulated one,
# at least 1. It is measured for a while, as other things come and go.
slowness()
{
	local start i took most=0

	for _ in 1 2 3 4 5; do
		start=$(now)
		for ((i = 0; i < 5000; i++)); do
			:
		done
		took=$(($(now) - start))
		[ "$took" -le "$most" ] || most=$took
	done
	echo $((most < 250 ? 1 : (most + 125) / 250))
}

# in_time MILLISECONDS TOOK COMMAND...: is the time that it took less than that? On a
# machine that is slow by its nature (a debug kernel's) or busy with other things it has
# more; busy, never more than ten seconds.
in_time()
{
	local limit=$(($1 * slow)) most=$((10000 * slow)) took=$2

	shift 2
	measured+=("$took ms: $*")
	[ "$took" -lt "$limit" ] || limit=$((limit * $(slowness)))
	[ "$limit" -le "$most" ] || limit=$most
	[ "$took" -lt "$limit" ] || {
		echo "took $took ms, not less than $limit: $*"
		return 1
	}
}

# takes_less MILLISECONDS COMMAND...: has to succeed in that time, see in_time()
takes_less()
{
	local limit=$1 start status=0

	shift
	start=$(now)
	"$@" || status=$?
	in_time "$limit" $(($(now) - start)) "$@" || return
	return "$status"
}

# soon COMMAND...: becomes true in less than two seconds. To look at it may take as
# long on a busy machine: the look that finds it so has to begin in that time.
soon()
{
	local start began

	start=$(now)
	until began=$(now) && "$@"; do
		[ $((began - start)) -lt $((10000 * slow)) ] || {
			echo "not so after $((began - start)) ms: $*"
			return 1
		}
		nap
	done
	in_time "$prompt" $((began - start)) "$@"
}

#
# Processes
#

# in_ns NAMESPACE COMMAND...; '' is the initial one
in_ns()
{
	local ns=$1

	shift
	if [ -n "$ns" ]; then
		ip netns exec "$ns" "$@"
	else
		"$@"
	fi
}

# start NAMESPACE OUTPUT SECONDS COMMAND...: in the background; its id is in
# $started.  It ends after SECONDS at the latest.
start()
{
	local ns=$1 out=$2 limit=$(($3 * slow)) prefix=()

	shift 3
	[ -z "$ns" ] || prefix=(ip netns exec "$ns")
	# what an earlier process has said there is not this one's
	: >"$out"
	"${prefix[@]}" timeout -k 2 "$limit" "$@" >"$out" 2>&1 </dev/null &
	started=$!
	pids+=("$started")
}

# ended PID: has it?  The shell does not always notice by itself, while it runs nothing
# but builtins: then a zombie is left.
ended()
{
	local stat

	{ read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 0
	[[ $stat == *') '[ZX]' '* ]]
}

# ends PID SECONDS: it ends in time; returns its status (124 and above: it did not)
ends()
{
	poll_until "$2" ended "$1" || {
		echo "process $1 is still there after $2 s"
		return 124
	}
	wait "$1"
}

# stop PID: end a process of start()
stop()
{
	# TERM: timeout(1) passes it on, and follows with KILL
	kill "$1" 2>/dev/null
	kill -CONT "$1" 2>/dev/null
	wait "$1" 2>/dev/null
	return 0
}

stop_all()
{
	local pid

	for pid in "${pids[@]}"; do
		ended "$pid" || stop "$pid"
	done
	pids=()
}

# file_has FILE REGEX
file_has()
{
	grep -q -E -e "$2" "$1" 2>/dev/null
}

#
# Namespaces and netdevs
#
# Functions that set a caller's VARIABLE have locals with an underscore, as a
# local would hide that variable.
#

random_name()
{
	printf '%s%08x\n' "$1" "$SRANDOM"
}

# setup_ns VARIABLE...: a new namespace for each, with a random name.  Addresses are
# not probed for duplicates there: while the link-local one is, a second or two, the
# RDMA core cannot ask for a neighbour.
setup_ns()
{
	local _var _name

	for _var; do
		_name=$(random_name rdma-)
		ip netns add "$_name" || return 1
		namespaces+=("$_name")
		printf -v "$_var" %s "$_name"
		ip -n "$_name" link set lo up || return 1
		! have_ipv6 || in_ns "$_name" sysctl -q net.ipv6.conf.all.accept_dad=0 \
			net.ipv6.conf.default.accept_dad=0 || return 1
	done
}

# delete_ns NAMESPACE
delete_ns()
{
	ip netns del "$1" || return 1
	forget_ns "$1"
}

# new_ns VARIABLE...: like setup_ns, in place of all that are there
new_ns()
{
	local _name

	for _name in "${namespaces[@]}"; do
		delete_ns "$_name" || return 1
	done
	setup_ns "$@"
}

# forget_ns NAMESPACE: the test has deleted it
forget_ns()
{
	local i

	for i in "${!namespaces[@]}"; do
		[ "${namespaces[i]}" != "$1" ] || unset "namespaces[$i]"
	done
	return 0
}

have_ipv6()
{
	[ -e /proc/sys/net/ipv6 ]
}

# up NAMESPACE NETDEV [ADDRESS/LENGTH...]: sets it up, with these addresses
up()
{
	local ns=$1 dev=$2 a batch

	shift 2
	batch="link set $dev up"
	for a; do
		case $a in
		*:*) ! have_ipv6 || batch+=$'\n'"addr add $a dev $dev nodad" ;;
		*) batch+=$'\n'"addr add $a dev $dev" ;;
		esac
	done
	ip ${ns:+-n "$ns"} -batch - <<<"$batch"
}

# setup_veth VARIABLE1 NAMESPACE1 VARIABLE2 NAMESPACE2 [MTU]: a pair with random
# names, down and without addresses
setup_veth()
{
	local _dev1 _dev2

	_dev1=$(random_name v) _dev2=$(random_name v)
	# both are born where they belong
	ip ${2:+-n "$2"} link add "$_dev1" mtu "${5:-1500}" type veth \
		peer name "$_dev2" mtu "${5:-1500}" ${4:+netns "$4"} || return 1
	[ -n "$2" ] || netdevs+=("$_dev1")
	if [ -z "$4" ] && [ -n "$2" ]; then
		ip -n "$2" link set "$_dev2" netns 1 || return 1
		netdevs+=("$_dev2")
	fi
	printf -v "$1" %s "$_dev1"
	printf -v "$3" %s "$_dev2"
}

# setup_dummy VARIABLE NAMESPACE
setup_dummy()
{
	local _dev

	_dev=$(random_name d)
	ip ${2:+-n "$2"} link add "$_dev" type dummy || return 1
	[ -n "$2" ] || netdevs+=("$_dev")
	printf -v "$1" %s "$_dev"
}

# add_netdev NAMESPACE NAME ... type KIND ...: skips the test where there is none
add_netdev()
{
	local ns=$1 out

	shift
	out=$(ip -n "$ns" link add "$@" 2>&1) && return
	case $out in
	*"Unknown device type"*|*"Garbage instead"*|*"ot supported"*|*"What is"*)
		skip "no such netdev here: ip link add $*" ;;
	*)
		fail "ip link add $*: $out" ;;
	esac
	return 1
}

# setup_pair: two namespaces on a veth pair, a link in each, ready for traffic:
# sets ns1 ns2 dev1 dev2 link1 link2 ip1 ip2 ip6_1 ip6_2 gid1 gid2 (indices of
# the IPv4 GIDs).  Optional arguments: MTU NETWORK.
#
# Each pair has a NETWORK of its own unless told otherwise: rdma_cm looks at the
# index of an interface and at addresses, not at the namespace, when a neighbour
# changes, and those of a pair that is just being deleted do (cma_netevent_callback()
# in the RDMA core). With the same index and address, its connections would be
# "unreachable".
pair_nr=11
setup_pair()
{
	local mtu=${1:-1500} net=${2:-10.11.$((pair_nr += 1))}

	setup_ns ns1 ns2 && setup_veth dev1 "$ns1" dev2 "$ns2" "$mtu" || return 1
	ip1=$net.1 ip2=$net.2 ip6_1=fd00:${net//./:}::1 ip6_2=fd00:${net//./:}::2
	up "$ns1" "$dev1" "$ip1/24" "$ip6_1/64" || return 1
	up "$ns2" "$dev2" "$ip2/24" "$ip6_2/64" || return 1
	setup_link link1 "$ns1" "$dev1" && setup_link link2 "$ns2" "$dev2" || return 1
	find_gid gid1 "$link1" "$ip1" && find_gid gid2 "$link2" "$ip2" || return 1
	check_active "$link1" && check_active "$link2"
}

#
# Links
#

# link_add NAMESPACE LINK NETDEV
link_add()
{
	in_ns "$1" rdma link add "$2" type rxe netdev "$3" || return
	links+=("$2")
	link_ns[$2]=$1
}

# link_del LINK
link_del()
{
	local i

	in_ns "${link_ns[$1]-}" rdma link del "$1" || return
	for i in "${!links[@]}"; do
		[ "${links[i]}" != "$1" ] || unset "links[$i]"
	done
	unset "link_ns[$1]"
}

# setup_link VARIABLE NAMESPACE NETDEV: with a random name, as names are unique
# in the whole system before Linux 7.3
setup_link()
{
	local _link

	_link=$(random_name rxe)
	link_add "$2" "$_link" "$3" || return 1
	printf -v "$1" %s "$_link"
}

link_exists()
{
	[ -e "/sys/class/infiniband/$1" ]
}

link_gone()
{
	! link_exists "$1"
}

# link_state LINK: ACTIVE, DOWN, ...
link_state()
{
	local state=

	{ read -r state <"/sys/class/infiniband/$1/ports/1/state"; } 2>/dev/null
	echo "${state#*: }"
}

has_state()
{
	[ "$(link_state "$1")" = "$2" ]
}

# check_state LINK STATE
check_state()
{
	poll_until 5 has_state "$1" "$2" ||
		fail "state of $1: expected $2, found '$(link_state "$1")'"
}

check_active()
{
	check_state "$1" ACTIVE
}

# gid_of ADDRESS: as GID tables write it
gid_of()
{
	local a=${1%%%*} left right i parts=()

	case $a in
	*.*)
		IFS=. read -r -a parts <<<"$a"
		printf '0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x\n' "${parts[@]}"
		return ;;
	esac
	left=${a%%::*} right=
	[ "$left" = "$a" ] || right=${a#*::}
	IFS=: read -r -a left <<<"$left"
	IFS=: read -r -a right <<<"$right"
	parts=("${left[@]}")
	for ((i = ${#left[@]} + ${#right[@]}; i < 8; i++)); do
		parts+=(0)
	done
	parts+=("${right[@]}")
	for i in "${!parts[@]}"; do
		printf -v "parts[$i]" %04x "0x${parts[i]}"
	done
	(IFS=:; echo "${parts[*]}")
}

# gid_index LINK GID: the first one, among those that one can expect here
gid_index()
{
	local dir=/sys/class/infiniband/$1/ports/1 i gid type

	for ((i = 0; i < 16; i++)); do
		gid='' type=''
		{ read -r gid <"$dir/gids/$i"; } 2>/dev/null
		[ "$gid" = "$2" ] || continue
		{ read -r type <"$dir/gid_attrs/types/$i"; } 2>/dev/null
		[ "$type" = "RoCE v2" ] || continue
		gid_found=$i
		return 0
	done
	return 1
}

no_gid()
{
	! gid_index "$@"
}

# find_gid VARIABLE LINK ADDRESS: wait for the GID and tell its index
find_gid()
{
	local _gid

	_gid=$(gid_of "$3")
	poll_until 5 gid_index "$2" "$_gid" || {
		fail "$2 has no GID $_gid"
		return 1
	}
	printf -v "$1" %s "$gid_found"
}

# link_local NAMESPACE NETDEV: its IPv6 link-local address, when it can be used
link_local()
{
	ip ${1:+-n "$1"} -6 -o addr show dev "$2" scope link -tentative |
		sed -n 's,.* inet6 \([^/ ]*\)/.*,\1,p' | head -n 1
}

# counter LINK NAME: a hw_counter's value
counter()
{
	local value=

	{ read -r value <"/sys/class/infiniband/$1/ports/1/hw_counters/$2"; } 2>/dev/null
	echo "$value"
}

# counter_above LINK NAME VALUE
counter_above()
{
	local value

	value=$(counter "$1" "$2")
	[ -n "$value" ] && [ "$value" -gt "$3" ]
}

# drops LINK: the sum of all counters of dropped packets
drops()
{
	local file value sum=0

	for file in "/sys/class/infiniband/$1/ports/1/hw_counters/"*drop*; do
		value=0
		{ read -r value <"$file"; } 2>/dev/null
		sum=$((sum + value))
	done
	echo "$sum"
}

drops_at_least()
{
	[ "$(drops "$1")" -ge "$2" ]
}

# exchange NAMESPACE1 LINK1 ADDRESS1 NAMESPACE2 LINK2 ADDRESS2: data of all kinds in
# both directions between the GIDs of these addresses
exchange()
{
	local ns1=$1 link1=$2 gid1 ns2=$4 link2=$5 gid2

	check find_gid gid1 "$2" "$3" && check find_gid gid2 "$5" "$6" || return
	check_active "$link1" && check_active "$link2" || return
	verbs exchange || diag "between $3 and $6"
}

# unlink_both: link1 and link2
unlink_both()
{
	check link_del "$link1"
	check link_del "$link2"
}

# setup_tun tun|tap: new namespaces ns1 and ns2, NETDEVs of that name and "0" in them,
# and a process between these
setup_tun()
{
	modprobe -q tun
	helper tun_wire || return
	[ -e /dev/net/tun ] || { skip "no tun here"; return 1; }
	check new_ns ns1 ns2 || return
	start '' "$tmp/wire" 100 "$here/tun_wire" "$1" "$ns1" "${1}0" "$ns2" "${1}0"
	tun_pid=$started
	check poll_until 10 file_has "$tmp/wire" ready || { diag_file "$tmp/wire"; return 1; }
}

# end_tun: the netdevs go with the process, and link1 and link2 with them
end_tun()
{
	stop "$tun_pid"
	check soon link_gone "$link1"
	check soon link_gone "$link2"
	check_soon_closed_everywhere
}

# exchange_on NAMESPACE1 NETDEV1 NAMESPACE2 NETDEV2 [OPTION...]: links on these netdevs,
# addresses, IPv4 and IPv6, and data between each two; rping with the options, "-" for
# none.  Sets link1 link2 ip1 ip2 ip6_1 ip6_2.
exchange_on()
{
	local ns1=$1 dev1=$2 ns2=$3 dev2=$4 net=10.11.$((pair_nr += 1))

	shift 4
	ip1=$net.1 ip2=$net.2 ip6_1=fd00:${net//./:}::1 ip6_2=fd00:${net//./:}::2
	check up "$ns1" "$dev1" "$ip1/24" "$ip6_1/64" || return
	check up "$ns2" "$dev2" "$ip2/24" "$ip6_2/64" || return
	check setup_link link1 "$ns1" "$dev1" && check setup_link link2 "$ns2" "$dev2" || return
	exchange "$ns1" "$link1" "$ip1" "$ns2" "$link2" "$ip2" || return
	! have_ipv6 || exchange "$ns1" "$link1" "$ip6_1" "$ns2" "$link2" "$ip6_2" || return
	[ "${1-}" = - ] || {
		check ping "$ns1" "$ip1" "$ns2" -C 3 "$@"
		check ping "$ns2" "$ip2" "$ns1" -C 3 "$@"
	}
}

#
# UDP port 4791
#

# ports NAMESPACE: "4 6" when one IPv4 and one IPv6 socket have port 4791
ports()
{
	local four='' six='' other='' address _

	while read -r _ _ _ address _; do
		case $address in
		0.0.0.0:4791) four+="4 " ;;
		'[::]:4791') six+="6 " ;;
		*) other+="$address " ;;
		esac
	done < <(ss ${1:+-N "$1"} -H -l -u -n 'sport = :4791')
	other=$four$six$other
	echo "${other% }"
}

# port_is NAMESPACE open|closed
port_is()
{
	local want='' found

	if [ "$2" = open ]; then
		want=4
		! have_ipv6 || want+=" 6"
	fi
	found=$(ports "$1")
	[ "$want" = "$found" ] || {
		echo "port 4791 in ${1:-the initial namespace}: expected '$want', found '$found'"
		return 1
	}
}

# open_only_in NAMESPACE...: and closed in all others, the initial one too
open_only_in()
{
	local ns want status=0

	for ns in '' "${namespaces[@]}"; do
		want=closed
		case " $* " in *" $ns "*) [ -z "$ns" ] || want=open ;; esac
		port_is "$ns" "$want" || status=1
	done
	return "$status"
}

# now
check_port()
{
	check port_is "$@"
}

check_open_only_in()
{
	check open_only_in "$@"
}

check_closed_everywhere()
{
	check open_only_in none
}

# soon: where nobody has waited for it
check_soon_open_only_in()
{
	check soon open_only_in "$@"
}

check_soon_closed_everywhere()
{
	check_soon_open_only_in none
}

is_closed()
{
	[ -z "$(ports "$1")" ]
}

#
# Client and server
#

port=$((20000 + SRANDOM % 20000))

tcp_listens()
{
	[ -n "$(ss ${1:+-N "$1"} -H -l -t -n "sport = :$2")" ]
}

# cm_listens NAMESPACE PORT
cm_listens()
{
	[[ $(in_ns "$1" rdma resource show cm_id) =~ "state LISTEN"[^$'\n']*":$2 " ]]
}

# run_pair SERVER-NAMESPACE CLIENT-NAMESPACE READY: run ${server[@]} and, when
# READY (tcp_listens, cm_listens) says so, ${client[@]}; both have to succeed
server=() client=() pair_limit=40
run_pair()
{
	local out=$tmp/pair.$((out_nr += 1)) server_pid status=0 server_status=0

	start "$1" "$out.server" "$pair_limit" "${server[@]}"
	server_pid=$started
	poll_until 15 server_ready "$server_pid" "$3" "$1" "$port" || {
		stop "$server_pid"
		echo "the server does not listen: ${server[*]}"
		cat "$out.server"
		return 1
	}
	start "$2" "$out.client" "$pair_limit" "${client[@]}"
	ends "$started" $((pair_limit + 3)) || status=$?
	[ "$status" -eq 0 ] || stop "$server_pid"
	ends "$server_pid" 15 || server_status=$?
	[ "$status" -eq 0 ] && [ "$server_status" -eq 0 ] && return
	echo "client: status $status: ${client[*]}"
	tail -n 20 "$out.client"
	echo "server: status $server_status: ${server[*]}"
	tail -n 20 "$out.server"
	return 1
}

server_ready()
{
	"$2" "$3" "$4" || ended "$1"
}

# pingpong rc|ud NAMESPACE1 LINK1 GID1 NAMESPACE2 LINK2 GID2 ADDRESS1 OPTION...
# ADDRESS1 is for the exchange over TCP.
pingpong()
{
	local kind=$1 ns1=$2 link1=$3 gid1=$4 ns2=$5 link2=$6 gid2=$7 addr=$8

	shift 8
	port=$((port + 1))
	server=("ibv_${kind}_pingpong" -d "$link1" -g "$gid1" -p "$port" "$@")
	client=("ibv_${kind}_pingpong" -d "$link2" -g "$gid2" -p "$port" "$@" "$addr")
	run_pair "$ns1" "$ns2" tcp_listens
}

# perf PROGRAM NAMESPACE1 LINK1 GID1 NAMESPACE2 LINK2 GID2 ADDRESS1 OPTION...
perf()
{
	local program=$1 ns1=$2 link1=$3 gid1=$4 ns2=$5 link2=$6 gid2=$7 addr=$8 ready=tcp_listens

	shift 8
	port=$((port + 1))
	case " $* " in *" -R "*) ready=cm_listens ;; esac
	server=("$program" -d "$link1" -x "$gid1" -p "$port" -F "$@")
	client=("$program" -d "$link2" -x "$gid2" -p "$port" -F "$@" "$addr")
	run_pair "$ns1" "$ns2" "$ready"
}

# ping NAMESPACE1 ADDRESS1 NAMESPACE2 OPTION...: rping, which verifies the data
ping()
{
	local ns1=$1 addr=$2 ns2=$3

	shift 3
	port=$((port + 1))
	server=(rping -s -a "$addr" -p "$port" -V "$@")
	client=(rping -c -a "$addr" -p "$port" -V "$@")
	run_pair "$ns1" "$ns2" cm_listens
}

# require_netem: skips the test where packets cannot be lost on purpose
require_netem()
{
	modprobe -q sch_netem || { skip "no netem"; return 1; }
	command -v tc >/dev/null || { skip "no tc"; return 1; }
}

# fixed_neighbours: the pair's MAC addresses, known for ever.  The RDMA core gives
# up after a second, when an ARP request or its answer is lost.
fixed_neighbours()
{
	check ip -n "$ns1" neigh replace "$ip2" dev "$dev1" nud permanent \
		lladdr "$(in_ns "$ns2" cat "/sys/class/net/$dev2/address")" || return
	check ip -n "$ns2" neigh replace "$ip1" dev "$dev2" nud permanent \
		lladdr "$(in_ns "$ns1" cat "/sys/class/net/$dev1/address")"
}

# answers NAMESPACE ADDRESS: it can be reached by IP. After carrier came back,
# the peer's queues drop everything for up to a second, which is half of the
# time that rping allows for an answer to its ARP request.
answers()
{
	in_ns "$1" ping -c 1 -W 1 "$2" >/dev/null 2>&1
}

# helper NAME: path of a C program of this directory; skips the test without it
helper()
{
	[ -x "$here/$1" ] || {
		skip "$1 is not built (it needs a C compiler and libibverbs' headers)"
		return 1
	}
}

# verbs TEST [ARGUMENT]: of the program of that name, between link1 and link2
verbs()
{
	helper verbs || return
	check timeout $((60 * slow)) "$here/verbs" "$1" "$link1" "$gid1" "$link2" "$gid2" ${2:+"$2"}
}

# lone TEST: on link1 alone
lone()
{
	helper verbs || return
	check timeout $((60 * slow)) "$here/verbs" "$1" "$link1" "$gid1"
}

# own_address TEST: both ends on link1
own_address()
{
	helper verbs || return
	check timeout $((60 * slow)) "$here/verbs" "$1" "$link1" "$gid1" "$link1" "$gid1"
}

# start_intact: traffic between link1 and link2 in which each byte is compared
start_intact()
{
	helper verbs || return
	intact_out=$tmp/intact.$((out_nr += 1))
	start '' "$intact_out" 7200 "$here/verbs" intact "$link1" "$gid1" "$link2" "$gid2"
	intact=$started
	check poll_until 20 file_has "$intact_out" ready || { diag_file "$intact_out"; return 1; }
}

# ends_intact [PID OUTPUT]: it has gone on until now, and all was right
ends_intact()
{
	set -- "${1-$intact}" "${2-$intact_out}"
	check_not ended "$1" || { diag_file "$2"; return; }
	kill "$1"
	check ends "$1" 30 || diag_file "$2"
	check file_has "$2" "^intact"
}

# verbs_or_skip TEST ARGUMENT...: skips what the program was built without, or what
# ends with status 4, and says why
verbs_or_skip()
{
	local out=$tmp/verbs.out status

	helper verbs || return
	"$here/verbs" list | grep -qx "$1" || {
		skip "verbs was built without it"
		return
	}
	timeout $((60 * slow)) "$here/verbs" "$@" >"$out" 2>&1
	status=$?
	if [ $status -eq 4 ]; then
		skip "$(tail -n 1 "$out")"
	elif [ $status -ne 0 ]; then
		fail "verbs $1: status $status"
		diag_file "$out"
	fi
}

#
# Module
#

module_is_gone()
{
	[ ! -e /sys/module/rdma_rxe ]
}

load_module()
{
	modprobe rdma_rxe || return 1
	# where no udev does it
	modprobe -q -a ib_uverbs rdma_ucm
	return 0
}

unload_module()
{
	module_is_gone || timeout 30 modprobe -r rdma_rxe
}

# require TOOL...: else nothing is tested
require()
{
	local tool

	for tool; do
		command -v "$tool" >/dev/null || skip_all "$tool is not installed"
	done
}

take_down()
{
	local link ns dev status=0

	stop_all
	for link in "${links[@]}"; do
		link_gone "$link" || link_del "$link" || status=1
	done
	# before the namespaces: these take their ends of veth pairs along, some time later
	for dev in "${netdevs[@]}"; do
		[ ! -e "/sys/class/net/$dev" ] || ip link del "$dev" || status=1
	done
	for ns in "${namespaces[@]}"; do
		ip netns del "$ns" || status=1
	done
	links=() link_ns=() namespaces=() netdevs=()
	return "$status"
}

# rdma_devices: the names of all
rdma_devices()
{
	local dev

	for dev in /sys/class/infiniband/*; do
		[ ! -e "$dev" ] || echo "${dev##*/}"
	done
}

no_device_left()
{
	[ "$(rdma_devices)" = "$devices_before" ]
}

#
# Tests that run_tests adds
#

everything_is_gone()
{
	local ns link

	stop_all
	for link in "${links[@]}"; do
		link_gone "$link" || check link_del "$link"
	done
	for ns in '' "${namespaces[@]}"; do
		check_port "$ns" closed
	done
	check take_down
	check poll_until 5 no_device_left
}

module_unloads()
{
	check unload_module || return
	check module_is_gone
}

log_marker="selftest $self $SRANDOM"
log_marked=

log_since_start()
{
	if [ -n "$log_marked" ]; then
		dmesg | sed -n "/$log_marker/,\$p"
	else
		dmesg
	fi
}

kernel_log_is_clean()
{
	dmesg >/dev/null 2>&1 || { skip "dmesg is not allowed here"; return; }
	grep -v '^#' "$here/kernel_complaints" >"$tmp/complaints" || { fail "no list"; return; }
	log_since_start >"$tmp/log"
	check_not grep -E -A 30 -f "$tmp/complaints" "$tmp/log"
}

#
# Start
#

cleanup()
{
	local status=$?

	trap '' INT TERM HUP
	{
		take_down
		unload_module
		[ -z "$module_was_loaded" ] || load_module
	} >/dev/null 2>&1
	rm -rf "$tmp"
	exit "$status"
}

begin()
{
	[ "$(id -u)" -eq 0 ] || skip_all "needs root"
	require ip ss rdma modprobe dmesg timeout
	modinfo rdma_rxe >/dev/null 2>&1 || skip_all "there is no module rdma_rxe"
	# in shared mode, all links can be seen from here
	case $(rdma system 2>/dev/null) in *"netns exclusive"*)
		skip_all "the RDMA core is in exclusive mode (rdma system)" ;;
	esac
	module_was_loaded=
	devices_before=$(rdma_devices)
	if ! module_is_gone; then
		# rxe or siw: nothing else has no parent
		ls /sys/devices/virtual/infiniband/* >/dev/null 2>&1 &&
			skip_all "there are RDMA links, and the module will be unloaded"
		module_was_loaded=1
	fi
	trap cleanup EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	{ echo "$log_marker" >/dev/kmsg; } 2>/dev/null && log_marked=1
	if ! unload_module || ! load_module; then
		echo "KTAP version 1"
		echo "1..1"
		echo "not ok 1 module loads"
		exit 1
	fi
}
