#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A network of two paths between two interfaces: UDP source ports that are odd take the slow one.

usage: relay.py IFACE IFACE SLOW_US

Each path is a FIFO; nothing is lost or changed. Ends with its standard input. A line "dead" there
makes the path of odd ports swallow everything that comes from the first interface from then on.
"""
import collections
import os
import select
import socket
import sys
import time

ETH_P_ALL, SOL_PACKET, PACKET_IGNORE_OUTGOING, SO_RCVBUFFORCE = 3, 263, 23, 33


def attach(interface):
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    s.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
    s.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 8 << 20)
    s.bind((interface, ETH_P_ALL))
    s.setblocking(False)
    return s


def main():
    ends = [attach(name) for name in sys.argv[1:3]]
    slow = float(sys.argv[3]) / 1e6
    waiting = [collections.deque(), collections.deque()]  # by direction: (due, frame)
    dead = False
    while True:
        due = min((q[0][0] for q in waiting if q), default=None)
        ready, _, _ = select.select([*ends, sys.stdin], [], [], None if due is None else max(0, due - time.monotonic()))
        if sys.stdin in ready:
            if not os.read(sys.stdin.fileno(), 100):
                return
            dead = True
        now = time.monotonic()
        for i, s in enumerate(ends):
            for _ in range(64 if s in ready else 0):
                try:
                    frame = s.recv(65536)
                except BlockingIOError:
                    break
                parity = frame[35] & 1 if frame[12:14] == b"\x08\x00" and frame[23] == 17 else 0
                if dead and parity and i == 0:
                    continue
                if parity:
                    waiting[i].append((now + slow, frame))
                else:
                    ends[1 - i].send(frame)
        for i, q in enumerate(waiting):
            while q and q[0][0] <= now:
                ends[1 - i].send(q.popleft()[1])


if __name__ == "__main__":
    main()
