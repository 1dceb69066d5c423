#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# python_tests.sh [MODULE...]
#
# Runs rdma-core's own Python tests (those of MODULE, such as test_mr; all but the
# vendors' without arguments) over a link on one end of a veth pair.  KTAP.
#
# Environment: RDMA_CORE_TESTS, the directory with run_tests.py.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
rdma_core_tests=$here
# shellcheck source=tools/testing/selftests/rdma/lib.sh
. "$here/../selftests/rdma/lib.sh"

begin
# shellcheck disable=SC2119 # its own arguments are not for it
setup_pair >&2 || skip_all "there is no link to test"
ip netns exec "$ns1" python3 "$rdma_core_tests/python_tests.py" --dev "$link1" --gid "$gid1" "$@"
