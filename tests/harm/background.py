#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""TCP traffic in addition to RoCE: a stream with a given rate, in the namespace in which this
program is started.

usage: background.py listen ADDRESS | background.py send ADDRESS MBPS

The kernel paces it (SO_MAX_PACING_RATE). It runs until it is killed.
"""
import socket
import sys
import time

PORT = 5001
SO_MAX_PACING_RATE = 47


def main():
    what, address = sys.argv[1:3]
    if what == "listen":
        with socket.create_server((address, PORT)) as server:
            stream, _ = server.accept()
            while stream.recv(1 << 16):
                pass
        return
    stream = socket.socket()
    stream.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, int(sys.argv[3]) * 1000000 // 8)
    while stream.connect_ex((address, PORT)) != 0:
        stream.close()
        stream = socket.socket()
        stream.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, int(sys.argv[3]) * 1000000 // 8)
        time.sleep(0.05)
    while True:
        stream.sendall(bytes(16384))


if __name__ == "__main__":
    main()
