#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What bench.sh has measured, as a table, JSON or a profile."""
import bisect
import collections
import json
import sys


def figures(path):
    """{MTU/NAME: (value or None, unit)}, topology"""
    result, topology = {}, None
    for line in open(path, encoding="utf-8"):
        words = line.split()
        if words[:1] == ["topology"]:
            topology = words[1]
        elif len(words) == 3 and "/" in words[0]:
            value = None if words[1] == "-" else float(words[1])
            result[words[0]] = (value, words[2])
    return result, topology


def ratio(a, b):
    return a / b if a and b else None


def show(value, digits=2):
    return "-" if value is None else f"{value:.{digits}f}"


def tcp_of(name, ours):
    """the figure of TCP that a figure compares with"""
    mtu, test = name.split("/")
    if test.startswith("tcp"):
        return None
    if test.endswith("_lat"):
        return ours.get(f"{mtu}/tcp_lat", (None,))[0]
    if test.endswith("_loss"):
        return ours.get(f"{mtu}/tcp_loss", (None,))[0]
    if ours[name][1] == "MiB/s":
        return ours.get(f"{mtu}/tcp", (None,))[0]
    return None


def table(kernel, ours_path, intree_path, json_path):
    ours, _ = figures(ours_path)
    intree, topology = figures(intree_path)
    rows = []
    for name, (value, unit) in ours.items():
        other = intree.get(name, (None,))[0]
        tcp = tcp_of(name, ours)
        rows.append({"figure": name, "unit": unit, "ours": value, "in-tree": other,
                     "tcp": tcp, "ours/in-tree": ratio(value, other),
                     "ours/tcp": ratio(value, tcp)})
    print(f"kernel {kernel}, counted: one instruction is one nanosecond")
    if topology == "self":
        print("in-tree: one link talking to itself, as it knows no namespaces here")
    print(f"{'figure':24} {'unit':8} {'in-tree':>9} {'ours':>9} {'TCP':>9} "
          f"{'/in-tree':>9} {'/TCP':>6}")
    for row in rows:
        print(f"{row['figure']:24} {row['unit']:8} {show(row['in-tree']):>9} "
              f"{show(row['ours']):>9} {show(row['tcp']):>9} "
              f"{show(row['ours/in-tree']):>9} {show(row['ours/tcp']):>6}")
    with open(json_path, "w", encoding="utf-8") as f:
        json.dump({"kernel": kernel, "in-tree topology": topology, "figures": rows}, f, indent=1)
        f.write("\n")


def smp(kernel, ours_path, intree_path, json_path):
    """by number of QPs: to one QP, and to the other driver; the values mean nothing"""
    ours, _ = figures(ours_path)
    intree, topology = figures(intree_path)
    print(f"kernel {kernel}, two CPUs")
    if topology == "self":
        print("in-tree: one link talking to itself, as it knows no namespaces here")
    print(f"{'figure':24} {'in-tree/1 QP':>13} {'ours/1 QP':>10} {'ours/in-tree':>13}")
    rows = []
    for name, (value, _) in ours.items():
        one = name.rpartition("_")[0] + "_1qp"
        other = intree.get(name, (None,))[0]
        row = {"figure": name, "in-tree/1 QP": ratio(other, intree.get(one, (None,))[0]),
               "ours/1 QP": ratio(value, ours.get(one, (None,))[0]),
               "ours/in-tree": ratio(value, other)}
        rows.append(row)
        print(f"{name:24} {show(row['in-tree/1 QP']):>13} {show(row['ours/1 QP']):>10} "
              f"{show(row['ours/in-tree']):>13}")
    with open(json_path, "w", encoding="utf-8") as f:
        json.dump({"kernel": kernel, "in-tree topology": topology, "figures": rows}, f, indent=1)
        f.write("\n")


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
    # each figure was measured twice, the second time with twice the iterations
    for i in range(0, len(iterations) - 1, 2):
        more = int(iterations[i + 1][1]) - int(iterations[i][1])
        runs[i + 1].subtract(runs[i])
        total = sum(runs[i + 1].values())
        print(f"{iterations[i][0]}: {total / more:.0f} instructions an iteration")
        for function, count in runs[i + 1].most_common(80):
            print(f"{count / more:10.1f} {100 * count / total:6.2f} %  {function}")


{"table": table, "smp": smp, "profile": profile}[sys.argv[1]](*sys.argv[2:])
