#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""
Reads a capture (pcap, Ethernet) and checks the invariant CRC of each RoCEv2 packet,
by the IBTA's text (annex A17) and no code of the driver; a few of each kind also
with scapy's RoCE layer. Prints "KIND COUNT" lines, where a kind is an opcode, an
opcode and what the AETH says ("0x11/ack", "0x11/rnr", "0x11/nak2"), or an opcode
that went to a group ("0x64/multicast"); its exit status is 1 if a packet is wrong,
with lines that say which.
"""

import collections
import struct
import sys
import zlib

ROCE_PORT = 4791
IPPROTO_UDP = 17


def packets(path):
    """Ethernet frames."""
    with open(path, "rb") as file:
        data = file.read()
    magic = data[:4]
    order = {b"\xd4\xc3\xb2\xa1": "<", b"\xa1\xb2\xc3\xd4": ">",
             b"\x4d\x3c\xb2\xa1": "<", b"\xa1\xb2\x3c\x4d": ">"}[magic]
    at = 24
    while at + 16 <= len(data):
        kept, length = struct.unpack_from(order + "8xII", data, at)
        if kept != length:
            raise ValueError("a packet was cut")
        yield data[at + 16:at + 16 + kept]
        at += 16 + kept


def roce(frame):
    """Returns the IP packet without padding, and its header's length; or None."""
    ethertype = frame[12:14]
    ip = frame[14:]
    if ethertype == b"\x08\x00" and ip[9] == IPPROTO_UDP:
        ip = ip[:struct.unpack_from("!H", ip, 2)[0]]
        header = (ip[0] & 15) * 4
    elif ethertype == b"\x86\xdd" and ip[6] == IPPROTO_UDP:
        ip = ip[:40 + struct.unpack_from("!H", ip, 4)[0]]
        header = 40
    else:
        return None
    if struct.unpack_from("!H", ip, header + 2)[0] != ROCE_PORT:
        return None
    return ip, header


def icrc(ip, header):
    """All that may change on the way counts as ones."""
    masked = bytearray(ip[:-4])
    if masked[0] >> 4 == 4:
        masked[1] = 0xff                      # type of service
        masked[8] = 0xff                      # time to live
        masked[10:12] = b"\xff\xff"           # header checksum
    else:
        masked[0] |= 0x0f                     # traffic class, flow label
        masked[1:4] = b"\xff\xff\xff"
        masked[7] = 0xff                      # hop limit
    masked[header + 6:header + 8] = b"\xff\xff"   # UDP checksum
    masked[header + 8 + 4] = 0xff             # BTH: FECN, BECN, reserved
    return struct.pack("<I", zlib.crc32(b"\xff" * 8 + masked))


# an AETH follows the BTH
WITH_AETH = {0x0d, 0x0f, 0x10, 0x11, 0x12}


def kinds(ip, header):
    """What is counted of a packet, beside its opcode."""
    opcode = ip[header + 8]
    if opcode in WITH_AETH:
        syndrome = ip[header + 8 + 12]
        kind = ["ack", "rnr", "reserved", "nak"][syndrome >> 5 & 3]
        yield f"{opcode:#04x}/{kind}{syndrome & 31 if kind == 'nak' else ''}"
    if ip[0] >> 4 == 4 and ip[16] >> 4 == 0xe or ip[0] >> 4 == 6 and ip[24] == 0xff:
        yield f"{opcode:#04x}/multicast"


def main():
    seen = collections.Counter()
    checked_by_scapy = collections.Counter()
    bad = 0
    try:
        from scapy.layers.inet import IP
        from scapy.layers.inet6 import IPv6
        from scapy.contrib.roce import BTH
    except ImportError:
        print("no scapy", file=sys.stderr)
        return 2
    for number, frame in enumerate(packets(sys.argv[1]), 1):
        found = roce(frame)
        if not found:
            continue
        ip, header = found
        opcode = ip[header + 8]
        seen[f"{opcode:#04x}"] += 1
        seen.update(kinds(ip, header))
        want = icrc(ip, header)
        if want != ip[-4:]:
            bad += 1
            if bad <= 10:
                print(f"packet {number}: opcode {opcode:#04x}: ICRC {ip[-4:].hex()}, "
                      f"expected {want.hex()}")
        kind = (opcode, ip[0] >> 4)
        if checked_by_scapy[kind] < 3:
            checked_by_scapy[kind] += 1
            layer = (IP if ip[0] >> 4 == 4 else IPv6)(ip)
            bth = layer[BTH]
            theirs = bth.compute_icrc(bytes(bth)[:-4])
            # scapy before 2.6 gives 0 for IPv6
            if theirs != ip[-4:] and (theirs != bytes(4) or ip[0] >> 4 == 4):
                bad += 1
                print(f"packet {number}: opcode {opcode:#04x}: scapy says {theirs.hex()}")
    for kind, count in sorted(seen.items()):
        print(kind, count)
    if not seen:
        print("no RoCE packet")
    return 1 if bad or not seen else 0


sys.exit(main())
