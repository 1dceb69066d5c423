#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
What the socket programs of this directory share: calls of libc for families whose
addresses Python does not know.
"""

import ctypes
import os
import socket
import struct

libc = ctypes.CDLL(None, use_errno=True)


def with_address(call, sock, address, port):
    """bind() and connect(): Python does not know the family's addresses."""
    raw = struct.pack("=HH4s8x", socket.AF_INET, socket.htons(port), socket.inet_aton(address))
    if call(sock.fileno(), raw, len(raw)):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
