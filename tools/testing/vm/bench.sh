#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# bench.sh [OPTION...] [FIGURE...]
#
# Measures in the counted VM, where an instruction takes a nanosecond: this
# module and the distribution's own, and TCP on the same netdevs. Prints a
# table; figures of one run compare, and repeat on any machine to about 1 %.
#
#   --kernel NAME  (7.3)
#   --no-intree    leave the distribution's module out
#   --json FILE    the figures as JSON too
#   --smp          two virtual CPUs and the machine's own clock: several QPs at once,
#                  as ratios alone, which a busy machine spoils
#   --profile      instructions by function, of this module alone
#   --list         names of the figures
#
# A FIGURE is a name of the list, all if none is given; MTUs and netdevs can also be
# other ones (9000/netkit_send_4k). One that cannot be measured is "-" in the
# table, and the reason stands below it.
#
# Exit status: 0; 1 if a measurement failed; 125 if the bed did

set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

figures=(
	4500/tcp 4500/send_64k 4500/read_64k 4500/write_64k
	4500/send_4k 4500/read_4k 4500/send_1m 4500/read_1m
	4500/send_64b 4500/send_64b_list 4500/write_64b 4500/write_64b_list
	4500/tcp_lat 4500/send_lat 4500/write_lat 4500/read_lat
	4500/uc_64k 4500/ud_1k 4500/send_icrc 4500/read_icrc
	4500/tcp_loss 4500/send_loss 4500/read_loss
	icrc_ack icrc_256 icrc_1k icrc_4k icrc_kib
	mr_4k mr_64k mr_1m mr_16m mr_128m
	1500/tcp 1500/send_64k 1500/read_64k 1500/write_64k
	9000/tcp 9000/send_64k 9000/read_64k
	4500/netkit_tcp 4500/netkit_send_64k 4500/netkit_read_64k
	4500/bridge_tcp 4500/bridge_send_64k 4500/bridge_read_64k
)

smp_figures=(4500/send_1qp 4500/send_2qp 4500/send_4qp 4500/send_16qp
	4500/read_1qp 4500/read_2qp 4500/read_4qp 4500/read_16qp)

kernel=7.3 intree=1 json='' profile='' smp='' wanted=()
while [ $# -gt 0 ]; do
	case $1 in
	--kernel) kernel=${2-}; shift ;;
	--no-intree) intree='' ;;
	--json) json=${2-}; shift ;;
	--smp) smp=1 figures=("${smp_figures[@]}") ;;
	--profile) profile=1 intree='' ;;
	--list) printf '%s\n' "${figures[@]}"; exit 0 ;;
	-h|--help) sed -n '4,/^$/s/^# \{0,1\}//p' "$0"; exit 0 ;;
	-*) vm_die "unknown option '$1' (see --help)" ;;
	*) wanted+=("$1") ;;
	esac
	[ $# -eq 0 ] || shift
done
[ ${#wanted[@]} -gt 0 ] || wanted=("${figures[@]}")

clock=(--counted) report=table
[ -z "$smp" ] || clock=(--cpus 2) report=smp

tmp=$(mktemp -d "${TMPDIR:-/tmp}/rdma-rxe-bench.XXXXXX")
trap 'rm -rf "$tmp"' EXIT

# What the VM needs compiled, with the compiler and headers of its root.
tools=$vm_top/build/$kernel/bench
build_tools() {
	local lock
	vm_need flock
	mkdir -p "$tools/icrc"
	exec {lock}>"$tools/.lock"
	flock "$lock"
	vm_use_root "$kernel"
	cp "$vm_dir/bench/icrc"/* "$vm_top"/drivers/infiniband/sw/rxe/rxe_icrc.c \
		"$vm_top/compat/rxe_compat_crc32.c" "$tools/icrc/"
	# shellcheck disable=SC2016 # for the inner shell
	"$vm_dir/chroot.sh" --kernel "$kernel" --bind "$tools" -- sh -e -c '
		gcc -O2 -Wall -o "$2/reg_mr" "$1/bench/reg_mr.c" -libverbs
		make -s -C "$3" M="$2/icrc" TOP="$4" modules
	' sh "$vm_dir" "$tools" "/lib/modules/$vm_release/build" "$vm_top" >"$tmp/log" 2>&1 || {
		cat "$tmp/log" >&2
		vm_die "the bench's programs for $kernel do not build"
	}
	flock -u "$lock"
}
case " ${wanted[*]}" in *' mr_'*|*' icrc_'*) build_tools ;; esac

# measure FILE [OPTION-OF-RUN...] -- [NAME=VALUE...]: runs the figures of "list"
measure() {
	local file=$1 options=() status=0
	shift
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	"$vm_dir/run.sh" --kernel "$kernel" "${clock[@]}" --timeout 7200 "${options[@]}" -- \
		env "TOOLS=$tools" "$@" "$vm_dir/bench/guest.sh" "${list[@]}" >"$file" || status=$?
	[ "$status" -ne 125 ] || exit 125
	[ -z "$profile" ] || [ "$status" -eq 0 ] || vm_die "the run in the VM has failed"
	# what went wrong there, in full; what has been measured stays
	[ -n "$profile" ] || grep -vE '^(result|topology) ' "$file" >&2 || true
	echo "ended $status" >>"$file"
}

list=("${wanted[@]}")
if [ -n "$profile" ]; then
	${CC:-cc} -O2 -shared -fPIC -o "$tmp/profile.so" "$vm_dir/bench/profile.c"
	measure "$tmp/ours" --plugin "$tmp/profile.so,out=$tmp/counts" -- \
		"PROFILE=$vm_dir/bench/mark.py"
	exec python3 "$vm_dir/bench/report.py" profile "$tmp/ours" "$tmp/counts"
fi

measure "$tmp/ours" --
: >"$tmp/intree"
# TCP is the same whatever driver there is
mapfile -t list < <(printf '%s\n' "${wanted[@]}" | grep -v '\<tcp\|_tcp')
if [ -n "$intree" ] && [ ${#list[@]} -gt 0 ]; then
	# before 7.1 the distribution's driver knows the first namespace alone
	topology=netns
	case $kernel in 6.*) topology=self ;; esac
	measure "$tmp/intree" --intree -- INTREE=1 "TOPOLOGY=$topology"
fi
python3 "$vm_dir/bench/report.py" "$report" "$kernel" "$tmp/ours" "$tmp/intree" \
	"${json:-/dev/null}" "${wanted[@]}"
