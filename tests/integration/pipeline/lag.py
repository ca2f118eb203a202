#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A bond in user space, for kernels without the bonding driver: an interface above, members below.

usage: lag.py lacp|active-backup TURN UPPER MEMBER MEMBER

lacp: a frame from UPPER leaves on a member that its UDP source port selects, of the members with a
carrier; frames of all members are delivered. TURN (0, 1) is added to the number of the member.
active-backup: frames leave on the active member, and only its frames are delivered; another member
becomes active when it loses its carrier. Prints "ready", and "up" or "down" with the name of each
member whose carrier changes. Ends with its standard input.
"""
import contextlib
import fcntl
import os
import select
import socket
import struct
import sys
from relay import attach

SIOCGIFFLAGS, IFF_RUNNING, LOOK_S = 0x8913, 0x40, 0.01


class Bond:
    def __init__(self, mode, turn, members):
        self.mode, self.turn, self.members, self.active = mode, turn, members, 0
        self.asks = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.running = [True] * len(members)

    def look(self):
        """Reads the carriers."""
        for i, name in enumerate(self.members):
            answer = fcntl.ioctl(self.asks, SIOCGIFFLAGS, struct.pack("16sH14x", name.encode(), 0))
            runs = struct.unpack("16xH14x", answer)[0] & IFF_RUNNING != 0
            if runs != self.running[i]:
                print("up" if runs else "down", name, flush=True)
            self.running[i] = runs
        if not self.running[self.active] and any(self.running):
            self.active = self.running.index(True)

    def member_for(self, frame):
        if self.mode == "active-backup":
            return self.active
        up = [i for i, runs in enumerate(self.running) if runs] or [0]
        port, = struct.unpack_from(">H", frame, 34)
        return up[((port >> 1) + self.turn) % len(up)]

    def delivers(self, member):
        return self.mode == "lacp" or member == self.active


def frames(s):
    while True:
        try:
            yield s.recv(65536)
        except (BlockingIOError, OSError):  # OSError: the interface is down
            return


def send(s, frame):
    try:
        s.send(frame)
    except OSError:
        pass  # the interface is down, or has no room


def main():
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))  # a network does not wait for a processor
    bond = Bond(sys.argv[1], int(sys.argv[2]), sys.argv[4:])
    upper, members = attach(sys.argv[3]), [attach(name) for name in bond.members]
    print("ready", flush=True)
    while True:
        ready, _, _ = select.select([sys.stdin, upper, *members], [], [], LOOK_S)
        if sys.stdin in ready:
            return
        bond.look()
        for frame in frames(upper):
            send(members[bond.member_for(frame)], frame)
        for i, member in enumerate(members):
            for frame in frames(member):
                if bond.delivers(i):
                    send(upper, frame)


if __name__ == "__main__":
    main()
