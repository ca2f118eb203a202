#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Frames that the kernel dropped before a process took them from its packet socket: all are counted, once."""
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "p4-testbed"))
from testbed import lost

FRAMES = 2000
IDLE = f"""
import socket, sys
packets = socket.socket(socket.AF_PACKET, socket.SOCK_RAW | socket.SOCK_NONBLOCK, socket.htons(0x1234))
packets.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
packets.bind(("lo", 0x1234))
sender = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
sender.bind(("lo", 0))
for _ in range({FRAMES}):
    sender.send(bytes(12) + b"\\x12\\x34" + bytes(1000))
taken = 0
try:
    while True:
        packets.recv(2000)
        taken += 1
except BlockingIOError:
    print(taken, flush=True)
sys.stdin.read()
"""


class KernelLost(unittest.TestCase):
    def test_counted_once(self):
        with subprocess.Popen(["unshare", "--net", "sh", "-c", f"ip link set lo up; exec {sys.executable} -c '{IDLE}'"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True) as idle:
            taken = int(idle.stdout.readline())
            self.assertGreater(FRAMES - taken, 0)
            self.assertEqual(lost.by_kernel(idle.pid), FRAMES - taken)
            self.assertEqual(lost.by_kernel(idle.pid), 0)
            idle.stdin.close()


if __name__ == "__main__":
    unittest.main()
