#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
rds_sockets.py ADDRESS WHAT...: messages between two RDS sockets of that address, and
RDMA into and from the memory of one of them.
"""

import ctypes
import mmap
import os
import socket
import struct
import sys

from sockets import libc, with_address

AF_RDS = 21
SOL_RDS = 276
SO_SNDBUFFORCE = 32
SO_RCVBUFFORCE = 33
RDS_CMSG_RDMA_ARGS = 1
RDS_CMSG_RDMA_DEST = 2
RDS_CMSG_RDMA_MAP = 3
RDS_CMSG_RDMA_STATUS = 4
RDS_RDMA_READWRITE = 0x1
RDS_RDMA_NOTIFY_ME = 0x20


def make(address, port, peer):
    sock = socket.socket(AF_RDS, socket.SOCK_SEQPACKET, 0)
    # a message fits into them, or is refused
    sock.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 4 << 20)
    sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 4 << 20)
    with_address(libc.bind, sock, address, port)
    with_address(libc.connect, sock, address, peer)
    sock.settimeout(30)
    return sock


def expect(condition, text):
    if not condition:
        sys.exit(text)


def messages(one, two):
    """All sizes, in order, both ways."""
    for size in [1, 2, 100, 4095, 4096, 4097, 65536, 300000]:
        for source, sink in (one, two), (two, one):
            data = os.urandom(size)
            source.send(data)
            got = sink.recv(1 << 20)
            expect(got == data, f"{size} bytes sent, {len(got)} received, or others")
    for number in range(500):
        one.send(struct.pack("=I", number) * (1 + number % 50))
    for number in range(500):
        got = two.recv(1 << 20)
        expect(got == struct.pack("=I", number) * (1 + number % 50), f"message {number}")


def memory(size):
    area = mmap.mmap(-1, size)
    return area, ctypes.addressof(ctypes.c_char.from_buffer(area))


def rdma(one, two, size, write):
    """One offers memory; two writes or reads it and says so."""
    area, address = memory(size)
    local, local_address = memory(size)
    source, sink = (local, area) if write else (area, local)
    source[:] = os.urandom(size)
    cookie = ctypes.c_uint64()
    offer = struct.pack("=QQQQ", address, size, ctypes.addressof(cookie),
                        0 if not write else RDS_RDMA_READWRITE)
    one.sendmsg([b"there"], [(SOL_RDS, RDS_CMSG_RDMA_MAP, offer)])
    data, control, _, _ = two.recvmsg(100, 1000)
    expect(data == b"there", "the offer")
    dest = [c[2] for c in control if c[:2] == (SOL_RDS, RDS_CMSG_RDMA_DEST)]
    expect(dest, "no cookie came")
    vector = ctypes.create_string_buffer(struct.pack("=QQ", local_address, size))
    flags = RDS_RDMA_NOTIFY_ME | (RDS_RDMA_READWRITE if write else 0)
    request = struct.pack("=8sQQQQQQ", dest[0][:8], 0, size, ctypes.addressof(vector), 1,
                          flags, size)
    two.sendmsg([b"done"], [(SOL_RDS, RDS_CMSG_RDMA_ARGS, request)])
    expect(one.recv(100) == b"done", "the message after the RDMA")
    # the answer to a READ may come later than that message
    _, control, _, _ = two.recvmsg(100, 1000)
    status = [struct.unpack_from("=Qi", c[2]) for c in control
              if c[:2] == (SOL_RDS, RDS_CMSG_RDMA_STATUS)]
    expect(status == [(size, 0)], f"status of the RDMA of {size} bytes: {status}")
    expect(sink[:] == source[:],
           f"{size} bytes were {'written' if write else 'read'}, others arrived")
    return area, local


def main():
    address = sys.argv[1]
    one, two = make(address, 4001, 4002), make(address, 4002, 4001)
    for what in sys.argv[2:]:
        if what == "messages":
            messages(one, two)
        elif what == "rdma":
            for size in 4096, 65536, 1000000:
                rdma(one, two, size, True)
                rdma(one, two, size, False)
        else:
            sys.exit("unknown: " + what)


main()
