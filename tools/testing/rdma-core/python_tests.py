#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Runs rdma-core's Python tests and prints KTAP.

python_tests.py --dev DEVICE --gid INDEX [MODULE...]

Each module is run by a process of its own: a test that crashes it, or hangs, takes
the rest of its module along, and no more.
"""

import argparse
import importlib
import os
import subprocess
import sys
import unittest

DIRECTORY = os.environ.get("RDMA_CORE_TESTS", "/usr/lib/rdma-core-tests/tests")
TIMEOUT = 1500

# of one vendor, or of hardware that a software device does not stand for
OTHERS = ("test_mlx5_", "test_efa", "test_cuda_", "test_flow", "test_rss_", "test_tag_matching")
# crashes Python itself where a device has no parent domains
OTHERS += ("test_parent_domain",)


class Lines(unittest.TestResult):
    """One line for each test."""

    def say(self, result, test, more=""):
        """NUMBER stands for the number, which the parent knows."""
        print(f"{result} NUMBER {test.id()}{more}", flush=True)

    def startTest(self, test):
        super().startTest(test)
        print(f"# {test.id()}", flush=True)

    def addSuccess(self, test):
        self.say("ok", test)

    def addSkip(self, test, reason):
        self.say("ok", test, " # SKIP " + str(reason).replace("\n", " "))

    def wrong(self, test, err):
        """A failure or an error."""
        for line in self._exc_info_to_string(err, test).splitlines():
            print("#  ", line)
        self.say("not ok", test)

    addError = addFailure = wrong

    def addSubTest(self, test, subtest, err):
        if err is not None:
            self.wrong(subtest, err)


def child(module):
    """Runs the tests of one module."""
    sys.path[:0] = [DIRECTORY, os.path.dirname(DIRECTORY)]
    # as run_tests.py does; the tests read it
    importlib.import_module("args_parser").parser.parse_args()
    tests = importlib.import_module("tests." + module)
    unittest.defaultTestLoader.loadTestsFromModule(tests).run(Lines())


def parent(args):
    """Runs all modules, and numbers the results."""
    modules = args.modules or sorted(
        name[:-3] for name in os.listdir(DIRECTORY)
        if name.startswith("test_") and name.endswith(".py") and not name.startswith(OTHERS))
    number = failed = 0
    print("KTAP version 1")
    for module in modules:
        command = [sys.executable, __file__, "--child", module, "--dev", args.dev, "--gid", args.gid]
        limited = ["timeout", "-k", "5", str(TIMEOUT)] + command
        with subprocess.Popen(limited, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True) as process:
            for line in process.stdout:
                if line.startswith(("ok NUMBER ", "not ok NUMBER ")):
                    number += 1
                    failed += line.startswith("not")
                    print(line.rstrip().replace("NUMBER", str(number), 1), flush=True)
                else:
                    print("#", line.rstrip().removeprefix("# "), flush=True)
        if process.returncode:
            number += 1
            failed += 1
            print(f"not ok {number} {module}: ended with status {process.returncode}", flush=True)
    print(f"1..{number}")
    return failed != 0


def main():
    """Parses the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dev", required=True)
    parser.add_argument("--gid", required=True)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("modules", nargs="*")
    args = parser.parse_args()
    if args.child:
        return child(args.modules[0])
    return parent(args)


if __name__ == "__main__":
    sys.exit(main())
