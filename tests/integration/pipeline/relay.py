#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A network of two paths between two interfaces: UDP source ports that are odd take the slow one.

usage: relay.py IFACE IFACE SLOW_US

Each path is a FIFO; nothing is lost or changed. Ends with its standard input. Lines there:
    dead    the path of odd ports loses everything from now on; dead0, dead1: only frames from
            the first, second interface
    grey    from now on the path of odd ports loses frames of 200 bytes and more that come from the first
            interface (no probe), one in 50, drawn with seed 1
    hops    from now on three switches on each path answer packets whose TTL ends there: the middle
            switch is 10.8.2.1 on the path of odd ports, 10.8.2.2 on the other
    silent  the switches do not answer any more
    narrow  from now on both paths end in one link of 500 packets a second, each way; what comes faster
            waits there
    wide    that link is fast again, and so are both paths
    marks   from now on, ECT packets of IPv4 are marked CE
"""
import contextlib
import heapq
import itertools
import os
import random
import select
import socket
import struct
import sys
import time

ETH_P_ALL, SOL_PACKET, PACKET_STATISTICS, PACKET_IGNORE_OUTGOING, SO_RCVBUFFORCE = 3, 263, 6, 23, 33
ROOM = 64 << 20  # for as long as it waits for a processor
LATE_S = 0.1

NARROW_S = 1 / 500


def attach(interface):
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    s.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
    s.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, ROOM)
    s.bind((interface, ETH_P_ALL))
    s.setblocking(False)
    return s


def lost(s):
    """Frames that the kernel did not keep until they were read."""
    return struct.unpack("II", s.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))[1]


def ones_sum(data):
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def expired(frame, hop):
    """Time exceeded (RFC 792), from a switch to the sender: the IP header and 8 bytes more are quoted."""
    icmp = bytes([11, 0, 0, 0, 0, 0, 0, 0]) + frame[14:42]
    icmp = icmp[:2] + struct.pack(">H", ones_sum(icmp)) + icmp[4:]
    ip = struct.pack(">BBHHHBBH", 0x45, 0xc0, 20 + len(icmp), 0, 0, 64, 1, 0) + hop + frame[26:30]
    ip = ip[:10] + struct.pack(">H", ones_sum(ip)) + ip[12:]
    return frame[6:12] + frame[:6] + frame[12:14] + ip + icmp


def marked(frame):
    """CE where it was ECT (RFC 3168)."""
    if frame[12:14] != b"\x08\x00" or frame[15] & 3 == 0:
        return frame
    ip = frame[14:15] + bytes([frame[15] | 3]) + frame[16:24] + bytes(2) + frame[26:34]
    return frame[:14] + ip[:10] + struct.pack(">H", ones_sum(ip)) + ip[12:] + frame[34:]


def main():
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))  # a network does not wait for a processor
    ends = [attach(name) for name in sys.argv[1:3]]
    slow = float(sys.argv[3]) / 1e6
    waiting = [[], []]  # by direction, a heap: (due, number, frame)
    number = itertools.count()
    dead, hops, silent, narrow, marks = set(), False, False, False, False
    grey, chance = False, random.Random(1)  # not each fiftieth: windows have about that many, and each would lose one
    late = 0
    leaves = dict.fromkeys(itertools.product((0, 1), (0, 1)), 0)  # by direction and parity: when the latest one does
    while True:
        due = min((q[0][0] for q in waiting if q), default=None)
        ready, _, _ = select.select([*ends, sys.stdin], [], [], None if due is None else max(0, due - time.monotonic()))
        if sys.stdin in ready:
            lines = os.read(sys.stdin.fileno(), 100).split()
            if not lines:
                n = sum(map(lost, ends))
                if n or late > LATE_S:
                    print(f"relay: the kernel lost {n} frames, and one was {late:.3f} s late", file=sys.stderr)
                return
            dead.update({b"dead": (0, 1), b"dead0": (0,), b"dead1": (1,)}.get(lines[0], ()))
            hops, silent = hops or b"hops" in lines, b"silent" in lines
            marks, grey = marks or b"marks" in lines, grey or b"grey" in lines
            if lines[0] in (b"narrow", b"wide"):
                narrow, slow = lines[0] == b"narrow", 0
        now = time.monotonic()
        for i, q in enumerate(waiting):
            while q and q[0][0] <= now:
                late = max(late, now - q[0][0])
                ends[1 - i].send(heapq.heappop(q)[2])
        for i, s in enumerate(ends):
            for _ in range(64 if s in ready else 0):
                try:
                    frame = s.recv(65536)
                except BlockingIOError:
                    break
                parity = frame[35] & 1 if frame[12:14] == b"\x08\x00" and frame[23] == 17 else 0
                if parity and i in dead:
                    continue
                if grey and parity and i == 0 and len(frame) >= 200 and chance.randrange(50) == 0:
                    continue
                if hops and frame[12:14] == b"\x08\x00" and frame[22] <= 3:
                    hop = (10, 8, 2, 2 - parity) if frame[22] == 2 else (10, 8, 1, frame[22])
                    if not silent:
                        s.send(expired(frame, bytes(hop)))
                    continue
                if marks:
                    frame = marked(frame)
                if narrow:
                    leaves[i, parity] = max(leaves[i, 0], leaves[i, 1], now) + NARROW_S
                else:
                    leaves[i, parity] = max(leaves[i, parity], now + parity * slow)
                if leaves[i, parity] <= now:
                    ends[1 - i].send(frame)
                else:
                    heapq.heappush(waiting[i], (leaves[i, parity], next(number), frame))


if __name__ == "__main__":
    main()
