#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# run_tests.sh DIRECTORY TEST...
#
# Runs each DIRECTORY/TEST_test and prints one KTAP report for all; the exit
# status is 1 if any failed, a crash included.

dir=$1
shift
status=0
count=0

echo "KTAP version 1"
echo "1..$#"
for test; do
	count=$((count + 1))
	if output=$("$dir/${test}_test" 2>&1); then
		result=ok
	else
		result='not ok'
		status=1
	fi
	# what a sanitizer says is a diagnostic
	printf '%s\n' "$output" |
		sed -E -e '/^(KTAP |1\.\.|ok |not ok |# )/!s/^/# /' -e 's/^/  /'
	echo "$result $count $test"
done
exit "$status"
