#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# mark.py start|stop: executes the instruction that profile.c waits for.
import ctypes
import mmap
import sys

code = bytes([0x0f, 0x1f, 0x80, 0x70 + (sys.argv[1] == "stop"), 0x65, 0x78, 0x72, 0xc3])
page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(code)
ctypes.CFUNCTYPE(None)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
