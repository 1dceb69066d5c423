#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
smc_sockets.py eid NAME | serve ADDRESS PORT | connect ADDRESS PORT

An SMC server that sends back what it gets, and its client, which compares; or the
name of the fabric that both have to agree on.
"""

import os
import socket
import struct
import sys

from sockets import libc, with_address

AF_SMC = 43
SIZES = [1, 100, 4096, 65536, 1000000, 3000000]


def attribute(kind, data):
    raw = struct.pack("=HH", 4 + len(data), kind) + data
    return raw + bytes(-len(raw) % 4)


def generic(sock, family, command, payload):
    """A request of generic netlink; returns its answer without headers."""
    body = struct.pack("=BBH", command, 1, 0) + payload
    # NLM_F_REQUEST | NLM_F_ACK
    sock.send(struct.pack("=IHHII", 16 + len(body), family, 5, 1, 0) + body)
    answer = sock.recv(65536)
    if struct.unpack_from("=H", answer, 4)[0] == 2:
        error = -struct.unpack_from("=i", answer, 16)[0]
        if error:
            raise OSError(error, os.strerror(error))
    return answer[20:]


def family_number(sock, name):
    # CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME
    answer = generic(sock, 16, 3, attribute(2, name + b"\0"))
    while answer:
        length, kind = struct.unpack_from("=HH", answer)
        if kind == 1:
            return struct.unpack_from("=H", answer, 4)[0]
        answer = answer[(length + 3) & ~3:]
    sys.exit("no such family")


def set_eid(name):
    sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 16)
    sock.bind((0, 0))
    number = family_number(sock, b"SMC_GEN_NETLINK")
    sock.recv(65536)            # the acknowledgement
    # SMC_NETLINK_ADD_UEID, SMC_NLA_EID_TABLE_ENTRY
    generic(sock, number, 10, attribute(1, name.encode().ljust(32) + b"\0"))


def receive(sock, size):
    data = b""
    while len(data) < size:
        part = sock.recv(size - len(data))
        if not part:
            sys.exit(f"the connection ended after {len(data)} bytes of {size}")
        data += part
    return data


def serve(address, port):
    listener = socket.socket(AF_SMC, socket.SOCK_STREAM, 0)
    with_address(libc.bind, listener, address, port)
    listener.listen(5)
    print("listens", flush=True)
    # Python's would look at the peer's address
    sock = socket.socket(AF_SMC, socket.SOCK_STREAM, 0,
                         fileno=libc.accept(listener.fileno(), None, None))
    sock.settimeout(60)
    for size in SIZES:
        sock.sendall(receive(sock, size))
    sock.close()


def connect(address, port):
    sock = socket.socket(AF_SMC, socket.SOCK_STREAM, 0)
    with_address(libc.connect, sock, address, port)
    sock.settimeout(60)
    for size in SIZES:
        data = os.urandom(size)
        sock.sendall(data)
        if receive(sock, size) != data:
            sys.exit(f"{size} bytes came back as others")
    sock.close()


def main():
    if sys.argv[1] == "eid":
        set_eid(sys.argv[2])
    elif sys.argv[1] == "serve":
        serve(sys.argv[2], int(sys.argv[3]))
    else:
        connect(sys.argv[2], int(sys.argv[3]))


main()
