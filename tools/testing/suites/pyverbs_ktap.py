#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""
Runs rdma-core's Python tests, each in a process of its own, and prints KTAP.

A test that the list leaves out is not run and shows as skipped, with the list's
reason. One that skips itself, without being on the list, has failed: a feature
that a driver lacks must not look like a pass. Nor may the list grow unseen: the
last result is that as many have passed as there have to be.
"""

import argparse
import fnmatch
import importlib
import io
import os
import re
import select
import signal
import sys
import time
import traceback
import unittest

VENDORS = re.compile(r"^test_(mlx5|efa|hns|irdma|cuda)")


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tests", default="/usr/lib/rdma-core-tests/tests")
    parser.add_argument("--list", required=True, help="what is left out, and why")
    parser.add_argument("--where", default="", help="words that choose lines of the list")
    parser.add_argument("--dev", required=True)
    parser.add_argument("--gid", required=True)
    parser.add_argument("--ip", help="the address of that GID, for rdma_cm")
    parser.add_argument("--netdev")
    parser.add_argument("--timeout", type=int, default=60)
    parser.add_argument("--minimum", type=int, default=0, help="so many have to pass")
    parser.add_argument("only", nargs="*", help="patterns of names")
    return parser.parse_args()


def left_out(path, where):
    """Lines "WHERE PATTERN REASON" that apply here: [pattern, reason]."""
    found = []
    words = set(where.split()) | {"*"}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            place, pattern, reason = line.split(None, 2)
            if words & set(place.split(",")):
                found.append([pattern, reason])
    return found


def tests_of(suite):
    for entry in suite:
        if isinstance(entry, unittest.TestSuite):
            yield from tests_of(entry)
        else:
            yield entry


def load(opts):
    """The tests, as their own run_tests.py finds them, without the vendors'."""
    directory = opts.tests
    sys.path[:0] = [directory, os.path.dirname(directory)]
    sys.argv = ["run_tests.py", "--dev", opts.dev, "--gid", opts.gid]
    importlib.import_module("args_parser").parser.parse_args()
    # the package's own __init__ would import all, also the vendors'
    package = type(sys)("tests")
    package.__path__ = [directory]
    sys.modules["tests"] = package
    base = importlib.import_module("tests.base")
    if opts.ip:
        mac = open(f"/sys/class/net/{opts.netdev}/address", encoding="ascii").read().strip()

        # They look for the netdev below the PCI device.
        def get_ip_mac(self, dev, port, idx):
            self.args.append([dev, port, idx, opts.ip, mac])

        base.RDMATestCase._get_ip_mac = get_ip_mac
    loader = unittest.TestLoader()
    for name in sorted(os.listdir(directory)):
        if not re.match(r"test_.*\.py$", name) or VENDORS.match(name):
            continue
        module = importlib.import_module("tests." + name[:-3])
        yield from tests_of(loader.loadTestsFromModule(module))


def run_child(test, pipe):
    """In a child: runs a test, writes "ok", "skip REASON" or "fail", and text."""
    out = io.StringIO()
    result = unittest.TestResult()
    try:
        unittest.TestSuite([test]).run(result)
    except BaseException:
        out.write(traceback.format_exc())
        verdict = "fail"
    else:
        problems = result.errors + result.failures
        for _, text in problems:
            out.write(text)
        if problems or result.unexpectedSuccesses:
            verdict = "fail"
        elif result.skipped:
            verdict = "skip " + " ".join(result.skipped[0][1].split())
        else:
            verdict = "ok"
    os.write(pipe, (verdict + "\n" + out.getvalue()[-6000:]).encode(errors="replace"))


def run(test, timeout):
    """Returns "ok", "skip REASON" or "fail", and text."""
    reader, writer = os.pipe()
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        os.setsid()
        os.close(reader)
        null = os.open("/dev/null", os.O_RDWR)
        os.dup2(null, 0)
        os.dup2(null, 1)
        run_child(test, writer)
        os._exit(0)
    os.close(writer)
    text = b""
    deadline = time.monotonic() + timeout
    while True:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([reader], [], [], left)[0]:
            text = b"fail\nno end after %d s" % timeout
            break
        part = os.read(reader, 65536)
        if not part:
            break
        text += part
    os.close(reader)
    try:
        # the children that it may have left behind, too
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    _, status = os.waitpid(pid, 0)
    if not text:
        return "fail", f"died: wait status {status:#x}"
    verdict, _, rest = text.decode(errors="replace").partition("\n")
    return verdict, rest


def main():
    opts = arguments()
    exceptions = left_out(opts.list, opts.where)
    used = set()
    try:
        tests = [(test.id().removeprefix("tests."), test) for test in load(opts)]
    except Exception:
        print("Bail out! the tests cannot be loaded")
        traceback.print_exc()
        return 1
    if opts.only:
        tests = [t for t in tests if any(fnmatch.fnmatch(t[0], p) for p in opts.only)]
    print("KTAP version 1")
    print(f"1..{len(tests) + (not opts.only)}")
    passed = failures = 0
    for number, (name, test) in enumerate(tests, 1):
        reason = None
        for pattern, why in exceptions:
            if fnmatch.fnmatch(name, pattern):
                used.add(pattern)
                reason = reason or why
        if reason:
            print(f"ok {number} {name} # SKIP {reason}", flush=True)
            continue
        verdict, text = run(test, opts.timeout)
        if verdict == "ok":
            passed += 1
            print(f"ok {number} {name}", flush=True)
            continue
        failures += 1
        if verdict.startswith("skip"):
            text = "skips itself, and is not on the list: " + verdict[5:]
        for line in text.splitlines():
            print("# " + line)
        print(f"not ok {number} {name}", flush=True)
    if not opts.only:
        for pattern, _ in exceptions:
            if pattern not in used:
                print(f"# the list names {pattern}, of which there is none")
        print(f"# {passed} passed")
        verdict = "ok" if passed >= opts.minimum else "not ok"
        failures += verdict != "ok"
        print(f"{verdict} {len(tests) + 1} at least {opts.minimum} pass")
    return 1 if failures else 0


sys.exit(main())
