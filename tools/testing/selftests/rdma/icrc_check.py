#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Counts the RoCEv2 packets of a pcap file whose ICRC is right, and wrong.

Independent of the driver: zlib's CRC over the packet with the fields that may
change set to ones (IBTA A17.3.3). For packets that were captured one by one, not
as bursts.
"""
import struct
import sys
import zlib


def icrc_ok(ip):
    v4 = ip[0] >> 4 == 4
    ip_len = (ip[0] & 15) * 4 if v4 else 40
    udp_len = struct.unpack_from(">H", ip, ip_len + 4)[0]
    packet = bytearray(ip[:ip_len + udp_len])
    if v4:
        packet[1] = packet[8] = 0xff
        packet[10:12] = b"\xff\xff"
    else:
        packet[0] |= 0x0f
        packet[1:4] = b"\xff\xff\xff"
        packet[7] = 0xff
    packet[ip_len + 6:ip_len + 8] = b"\xff\xff"
    packet[ip_len + 8 + 4] = 0xff
    crc = zlib.crc32(b"\xff" * 8 + packet[:-4])
    return struct.pack("<I", crc) == bytes(packet[-4:])


def packets(data):
    if len(data) < 24:
        return
    magic = struct.unpack_from("<I", data)[0]
    order = "<" if magic in (0xa1b2c3d4, 0xa1b23c4d) else ">"
    pos = 24
    while pos + 16 <= len(data):
        length = struct.unpack_from(order + "I", data, pos + 8)[0]
        if pos + 16 + length > len(data):
            return
        yield data[pos + 16:pos + 16 + length]
        pos += 16 + length


def main():
    count = {True: 0, False: 0}
    with open(sys.argv[1], "rb") as f:
        for frame in packets(f.read()):
            ethertype = struct.unpack_from(">H", frame, 12)[0]
            if ethertype in (0x0800, 0x86dd):
                count[icrc_ok(frame[14:])] += 1
    print(f"right {count[True]} wrong {count[False]}")


main()
