#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What bench.sh has measured, as a table, JSON or a profile."""
import bisect
import collections
import json
import sys


class Run:
    """What guest.sh has printed: values and units by figure, and why there is none."""

    def __init__(self, path, wanted):
        self.value, self.unit, self.reason = {}, {}, {}
        self.topology, self.failed, status = None, False, None
        for line in open(path, encoding="utf-8"):
            words = line.split()
            if words[:1] == ["topology"]:
                self.topology = words[1]
            elif words[:1] == ["ended"]:
                status = int(words[1])
            elif words[:1] == ["result"] and words[2] in ("failed", "skipped"):
                self.reason[words[1]] = " ".join(words[3:])
                self.failed |= words[2] == "failed"
            elif words[:1] == ["result"]:
                self.value[words[1]], self.unit[words[1]] = float(words[2]), words[3]
        if not status:          # of a run that is not wanted there is none
            return
        self.failed = True
        for name in wanted:
            if name not in self.value and name not in self.reason:
                self.reason[name] = "the VM has ended"
        self.reason["all"] = f"the VM's status was {status}"


def ratio(a, b):
    return a / b if a and b else None


def show(value):
    if value is None:
        return "-"
    return f"{value:.{0 if value >= 1e5 else 2}f}"


def tcp_of(name, run):
    """the figure of TCP that a figure compares with: the same MTU and netdevs"""
    mtu, _, test = name.rpartition("/")
    wire = ""
    if test.startswith(("netkit_", "bridge_")):
        wire, _, test = test.partition("_")
        wire += "_"
    if not mtu or test.startswith("tcp"):
        return None
    if test.endswith("_lat"):
        test = "tcp_lat"
    elif test.endswith("_loss"):
        test = "tcp_loss"
    elif run.unit.get(name) == "MiB/s":
        test = "tcp"
    else:
        return None
    return run.value.get(f"{mtu}/{wire}{test}")


def explain(runs):
    """what has no figure, and why; the exit status"""
    for driver, run in runs.items():
        by_reason = collections.defaultdict(list)
        for name, reason in run.reason.items():
            by_reason[reason].append(name)
        for reason, names in by_reason.items():
            print(f"{driver}: {' '.join(names)}: {reason}")
    failed = [driver for driver, run in runs.items() if run.failed]
    if failed:
        print(f"FAILED: {', '.join(failed)}")
    return 1 if failed else 0


def finish(kernel, rows, ours, intree, json_path):
    with open(json_path, "w", encoding="utf-8") as f:
        json.dump({"kernel": kernel, "in-tree topology": intree.topology, "figures": rows,
                   "not measured": {"ours": ours.reason, "in-tree": intree.reason}}, f, indent=1)
        f.write("\n")
    return explain({"ours": ours, "in-tree": intree})


def title(text, intree):
    print(text)
    if intree.topology == "self":
        print("in-tree: one link talking to itself, as it knows no namespaces here")


def table(kernel, ours_path, intree_path, json_path, *wanted):
    ours, intree = Run(ours_path, wanted), Run(intree_path, wanted)
    rows = []
    title(f"kernel {kernel}, counted: one instruction is one nanosecond", intree)
    print(f"{'figure':24} {'unit':8} {'in-tree':>9} {'ours':>9} {'TCP':>9} "
          f"{'/in-tree':>9} {'/TCP':>6}")
    for name in wanted:
        value, other, tcp = ours.value.get(name), intree.value.get(name), tcp_of(name, ours)
        row = {"figure": name, "unit": ours.unit.get(name) or intree.unit.get(name) or "-",
               "ours": value, "in-tree": other, "tcp": tcp,
               "ours/in-tree": ratio(value, other), "ours/tcp": ratio(value, tcp)}
        rows.append(row)
        print(f"{row['figure']:24} {row['unit']:8} {show(row['in-tree']):>9} "
              f"{show(row['ours']):>9} {show(row['tcp']):>9} "
              f"{show(row['ours/in-tree']):>9} {show(row['ours/tcp']):>6}")
    return finish(kernel, rows, ours, intree, json_path)


def smp(kernel, ours_path, intree_path, json_path, *wanted):
    """by number of QPs: to one QP, and to the other driver; the values mean nothing"""
    ours, intree = Run(ours_path, wanted), Run(intree_path, wanted)
    title(f"kernel {kernel}, two CPUs", intree)
    print(f"{'figure':24} {'in-tree/1 QP':>13} {'ours/1 QP':>10} {'ours/in-tree':>13}")
    rows = []
    for name in wanted:
        value, other = ours.value.get(name), intree.value.get(name)
        one = name.rpartition("_")[0] + "_1qp"
        row = {"figure": name, "in-tree/1 QP": ratio(other, intree.value.get(one)),
               "ours/1 QP": ratio(value, ours.value.get(one)),
               "ours/in-tree": ratio(value, other)}
        rows.append(row)
        print(f"{name:24} {show(row['in-tree/1 QP']):>13} {show(row['ours/1 QP']):>10} "
              f"{show(row['ours/in-tree']):>13}")
    return finish(kernel, rows, ours, intree, json_path)


def profile(ours_path, counts_path):
    symbols = []
    for line in open(ours_path, encoding="utf-8"):
        words = line.split()
        if words[:1] == ["sym"]:
            symbols.append((int(words[1], 16), words[2]))
    symbols.sort()
    addresses = [s[0] for s in symbols]
    runs = []
    for line in open(counts_path, encoding="ascii"):
        if line == "run\n":
            runs.append(collections.Counter())
            continue
        address, count = line.split()
        address = int(address, 16)
        # sixteen bytes belong to what begins in them, or before
        i = bisect.bisect_right(addresses, address + 15) - 1
        name = symbols[i][1] if address >> 63 and i >= 0 else "(user space)"
        runs[-1][name] += int(count)
    iterations = [line.split() for line in open(ours_path, encoding="utf-8")
                  if line.endswith(" iterations\n")]
    for words in iterations:
        if len(words) != 3:
            sys.exit(f"{words[0]}: measured by time, not by number of messages; "
                     "sendp_lat, readp_lat and writep_64k are for a profile")
    # each figure was measured twice, the second time with twice the iterations
    for i in range(0, len(iterations) - 1, 2):
        more = int(iterations[i + 1][1]) - int(iterations[i][1])
        runs[i + 1].subtract(runs[i])
        total = sum(runs[i + 1].values())
        print(f"{iterations[i][0]}: {total / more:.0f} instructions an iteration")
        for function, count in runs[i + 1].most_common(80):
            print(f"{count / more:10.1f} {100 * count / total:6.2f} %  {function}")


sys.exit({"table": table, "smp": smp, "profile": profile}[sys.argv[1]](*sys.argv[2:]))
