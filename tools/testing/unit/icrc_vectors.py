#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""
icrc_vectors.py [--pcap FILE] >icrc_vectors.h

RoCEv2 packets with their ICRCs, computed without any code of the driver by
scapy's RoCE layer (2.6 or newer for IPv6; Debian's python3-scapy from trixie on),
and again by icrc() below.

With --pcap the packets go to FILE too, for tshark to read.
"""

import argparse
import random
import struct
import sys
import zlib

from scapy.all import IP, IPv6, UDP, Raw, raw
from scapy.contrib.roce import BTH

PORT = 4791

# opcode, bytes of extension headers, may carry payload
OPCODES = [
    ("RC SEND first", 0x00, 0, True),
    ("RC SEND middle", 0x01, 0, True),
    ("RC SEND last", 0x02, 0, True),
    ("RC SEND last imm", 0x03, 4, True),
    ("RC SEND only", 0x04, 0, True),
    ("RC SEND only imm", 0x05, 4, True),
    ("RC WRITE first", 0x06, 16, True),
    ("RC WRITE only", 0x0a, 16, True),
    ("RC WRITE only imm", 0x0b, 20, True),
    ("RC READ request", 0x0c, 16, False),
    ("RC READ response first", 0x0d, 4, True),
    ("RC READ response only", 0x10, 4, True),
    ("RC ACK", 0x11, 4, False),
    ("UD SEND only", 0x64, 8, True),
    ("UD SEND only imm", 0x65, 12, True),
]


def icrc(packet):
    """The four bytes behind `packet`, an IP packet up to its pad (IBTA A17.3.3)."""
    p = bytearray(packet)
    if p[0] >> 4 == 4:
        p[1] = 0xff
        p[8] = 0xff
        p[10:12] = b"\xff\xff"
        udp = 20
    else:
        p[0] |= 0x0f
        p[1:4] = b"\xff\xff\xff"
        p[7] = 0xff
        udp = 40
    p[udp + 6:udp + 8] = b"\xff\xff"
    p[udp + 8 + 4] = 0xff
    return struct.pack("<I", zlib.crc32(b"\xff" * 8 + bytes(p)))


def bth(rng, opcode, payload, **fields):
    """A BTH with random fields but the given ones."""
    fields = {
        "opcode": opcode,
        "solicited": rng.getrandbits(1),
        "migreq": 1,
        "padcount": -payload % 4,
        "pkey": 0xffff,
        "dqpn": rng.getrandbits(24),
        "ackreq": rng.getrandbits(1),
        "psn": rng.getrandbits(24),
        **fields,
    }
    return BTH(**fields)


def body(rng, ext, payload):
    """Extension headers, payload and pad."""
    return rng.randbytes(ext + payload) + bytes(-payload % 4)


def build(rng, ip, header, data):
    """The bytes of an IP packet; scapy computes the ICRC."""
    udp = UDP(sport=rng.randrange(0xc000, 0x10000), dport=PORT)
    packet = raw(ip / udp / header / Raw(data))
    if packet[-4:] != icrc(packet[:-4]):
        sys.exit(f"scapy and icrc() do not agree on {packet.hex()}")
    return packet


FAMILIES = [
    ("IPv4",
     lambda **f: IP(**{"src": "192.0.2.1", "dst": "198.51.100.77", "id": 0x1234, **f}),
     [("TOS 0, TTL 1", {"tos": 0, "ttl": 1}),
      ("TOS 0xff, TTL 255", {"tos": 0xff, "ttl": 255}),
      ("DF, ID 0", {"flags": "DF", "id": 0}),
      ("ID 0xffff", {"id": 0xffff})]),
    ("IPv6",
     lambda **f: IPv6(**{"src": "2001:db8::1", "dst": "2001:db8:ffff::77:1", **f}),
     [("traffic class 0, hop limit 1", {"tc": 0, "hlim": 1}),
      ("traffic class 0xff, hop limit 255", {"tc": 0xff, "hlim": 255}),
      ("flow label", {"fl": 0xabcde}),
      ("link-local", {"src": "fe80::1", "dst": "fe80::2"})]),
]


def vectors():
    """Yield (name, packet)."""
    rng = random.Random(4791)
    for family, ip, variants in FAMILIES:
        for i, (name, opcode, ext, carries) in enumerate(OPCODES):
            payload = 5 + i if carries else 0
            yield (f"{family} {name}, {payload} bytes",
                   build(rng, ip(), bth(rng, opcode, payload), body(rng, ext, payload)))
        for payload in (0, 1, 2, 3, 4, 256):
            yield (f"{family} RC SEND only, {payload} bytes",
                   build(rng, ip(), bth(rng, 4, payload), body(rng, 0, payload)))
        for name, fields in variants:
            yield (f"{family} {name}",
                   build(rng, ip(**fields), bth(rng, 4, 8), body(rng, 0, 8)))
        for name in ("fecn", "becn"):
            yield (f"{family} {name.upper()}",
                   build(rng, ip(), bth(rng, 4, 8, **{name: 1}), body(rng, 0, 8)))


def write_pcap(name, packets):
    """A capture of IP packets without link header (LINKTYPE_RAW)."""
    with open(name, "wb") as f:
        f.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 101))
        for packet in packets:
            f.write(struct.pack("<IIII", 0, 0, len(packet), len(packet)) + packet)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pcap")
    args = parser.parse_args()
    all_vectors = list(vectors())

    print("/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */")
    print("/* Made by icrc_vectors.py: IP packets whose last four bytes are the ICRC. */")
    for i, (_, packet) in enumerate(all_vectors):
        print(f"static const u8 vector_{i}[] = {{")
        for at in range(0, len(packet), 14):
            print("\t" + " ".join(f"0x{b:02x}," for b in packet[at:at + 14]))
        print("};\n")
    print("static const struct icrc_vector {")
    print("\tconst char *name;\n\tconst u8 *pkt;\n\tunsigned int len;")
    print("} icrc_vectors[] = {")
    for i, (name, packet) in enumerate(all_vectors):
        print(f'\t{{ "{name}", vector_{i}, {len(packet)} }},')
    print("};")

    if args.pcap:
        write_pcap(args.pcap, [packet for _, packet in all_vectors])
    return 0


if __name__ == "__main__":
    sys.exit(main())
