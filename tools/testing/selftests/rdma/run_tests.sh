#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# run_tests.sh [SCRIPT...]
#
# Runs the scripts (without arguments, all that are there), each with the
# time-out of the settings file, and prints one flat KTAP stream: every subtest
# is a line "ok N SCRIPT: NAME", numbered through, with one plan at the end.
# Where the plan is missing, the run has been cut off.
#
# A script that does not do what its plan says, or whose exit status does not
# fit to its results, is a failed subtest of its own.
#
# RDMA_TEST_RETRIES=N: a script that fails is run up to N times more, and the last
# time counts; the others show as comments.
#
# Exit status: 0, 1 if a subtest has failed, 4 if none was run.

cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1
timeout=$(sed -n 's/^timeout=//p' settings)
timeout=$((${timeout:-180} * ${RDMA_TEST_SLOW:-1}))

nr=0 passed=0 failures=0 pid=
trap '[ -z "$pid" ] || kill "$pid" 2>/dev/null; exit 143' INT TERM HUP

# result ok|"not ok" TEXT
result()
{
	nr=$((nr + 1))
	echo "$1 $nr $2"
	case "$1 $2" in
	not*) failures=$((failures + 1)) ;;
	*" # SKIP"*) ;;
	*) passed=$((passed + 1)) ;;
	esac
}

# attempt SCRIPT: run it, keep its lines and judge it in the variables below
attempt()
{
	local script=$1 line fd

	lines=() plan='' count=0 bad=0 all_skipped=''
	# its own process group: a time-out ends all of it
	exec {fd}< <(exec timeout -k 20 "$timeout" "./$script" 2>&1 </dev/null)
	pid=$!
	while IFS= read -r -u "$fd" line; do
		lines+=("$line")
		if [[ $line =~ ^(ok|not\ ok)\ [0-9]+ ]]; then
			count=$((count + 1))
			[ "${BASH_REMATCH[1]}" = ok ] || bad=$((bad + 1))
		elif [[ $line =~ ^1\.\.([0-9]+)(\ *#\ *SKIP\ *(.*))?$ ]]; then
			plan=${BASH_REMATCH[1]}
			[ "$plan" -ne 0 ] || all_skipped=${BASH_REMATCH[3]:-no reason given}
		fi
	done
	exec {fd}<&-
	wait "$pid"
	status=$?
	pid=
}

# verdict NAME: what is to be said of the attempt beside its own results
verdict()
{
	local name=$1

	if [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then
		result "not ok" "$name # TIMEOUT $timeout seconds"
	elif [ -n "$all_skipped" ] && [ "$status" -eq 4 ]; then
		result ok "$name # SKIP $all_skipped"
	elif [ -z "$plan" ] || [ "$plan" -ne "$count" ]; then
		result "not ok" "$name: planned ${plan:-nothing}, ran $count, status $status"
	elif [ "$status" -ne 4 ] && [ $((status != 0)) -ne $((bad != 0)) ]; then
		result "not ok" "$name: $bad tests failed, but its status is $status"
	fi
}

run()
{
	local script=$1 name=${1%.sh} line try

	name=${name##*/}
	attempt "$script"
	for ((try = 1; try <= ${RDMA_TEST_RETRIES:-0}; try++)); do
		[ "$status" -ne 0 ] && [ "$status" -ne 4 ] || break
		# seen in the log, but not counted
		printf "# $name, attempt $try: %s\n" "${lines[@]}"
		attempt "$script"
	done

	for line in "${lines[@]}"; do
		if [[ $line =~ ^(ok|not\ ok)\ [0-9]+\ ?(.*)$ ]]; then
			result "${BASH_REMATCH[1]}" "$name: ${BASH_REMATCH[2]#- }"
		elif [[ $line != "KTAP version"* && ! $line =~ ^1\.\.[0-9]+ ]]; then
			echo "# ${line#\# }"
		fi
	done
	verdict "$name"
	# a failure that does not come again is no pass
	[ "$try" -eq 1 ] || result ok "$name: attempt 1 # SKIP failed, see its lines above"
}

# What the kernel has leaked shows with a debug kernel alone.
kmemleak()
{
	local file=/sys/kernel/debug/kmemleak

	[ -w "$file" ] || return 0
	# objects younger than five seconds do not count
	sleep 6
	# the second scan forgives what the first one found in registers
	echo scan >"$file" && echo scan >"$file" || return 0
	if grep -q . "$file"; then
		head -n 200 "$file" | sed 's/^/# /'
		result "not ok" "kmemleak: nothing is leaked"
	else
		result ok "kmemleak: nothing is leaked"
	fi
}

if [ $# -eq 0 ]; then
	for script in *.sh; do
		case $script in
		lib.sh|run_tests.sh) ;;
		*) set -- "$@" "$script" ;;
		esac
	done
fi

echo "KTAP version 1"
if [ -w /sys/kernel/debug/kmemleak ]; then
	echo clear >/sys/kernel/debug/kmemleak
fi
for script; do
	if [ -x "$script" ]; then
		run "$script"
	else
		result "not ok" "$script: there is no such script"
	fi
done
kmemleak
echo "1..$nr"
[ "$failures" -eq 0 ] || exit 1
[ "$passed" -gt 0 ] || exit 4
