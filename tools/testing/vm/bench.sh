#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# bench.sh [OPTION...] [FIGURE...]
#
# Measures in the counted VM, where an instruction takes a nanosecond: this
# module and the distribution's own, and TCP on the same veth pair. Prints a
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
# A FIGURE is MTU/NAME; all of the list if none is given.

set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

figures=(
	4500/tcp 4500/send_64k 4500/read_64k 4500/write_64k
	4500/send_4k 4500/read_4k 4500/send_1m 4500/read_1m
	4500/send_64b 4500/send_64b_list 4500/write_64b 4500/write_64b_list
	4500/tcp_lat 4500/send_lat 4500/write_lat 4500/read_lat
	4500/uc_64k 4500/ud_1k 4500/send_icrc 4500/read_icrc
	4500/tcp_loss 4500/send_loss 4500/read_loss
	1500/tcp 1500/send_64k 1500/read_64k 1500/write_64k
	9000/tcp 9000/send_64k 9000/read_64k
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

# measure FILE [OPTION-OF-RUN...] -- [NAME=VALUE...]
measure() {
	local file=$1 options=()
	shift
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	"$vm_dir/run.sh" --kernel "$kernel" "${clock[@]}" --timeout 3000 "${options[@]}" -- \
		env "$@" "$vm_dir/bench/guest.sh" "${wanted[@]}" >"$file" ||
		vm_die "the run in the VM has failed"
}

if [ -n "$profile" ]; then
	${CC:-cc} -O2 -shared -fPIC -o "$tmp/profile.so" "$vm_dir/bench/profile.c"
	measure "$tmp/ours" --plugin "$tmp/profile.so,out=$tmp/counts" -- \
		"PROFILE=$vm_dir/bench/mark.py"
	exec python3 "$vm_dir/bench/report.py" profile "$tmp/ours" "$tmp/counts"
fi

measure "$tmp/ours" --
: >"$tmp/intree"
if [ -n "$intree" ]; then
	# before 7.1 the distribution's driver knows the first namespace alone
	topology=netns
	case $kernel in 6.*) topology=self ;; esac
	measure "$tmp/intree" --intree -- "TOPOLOGY=$topology"
fi
python3 "$vm_dir/bench/report.py" "$report" "$kernel" "$tmp/ours" "$tmp/intree" "${json:-/dev/null}"
