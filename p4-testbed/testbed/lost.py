# SPDX-License-Identifier: BSD-3-Clause
"""Frames that the kernel dropped because a process came too late to take them from its packet socket.

Not the fabric's loss, nor hp3d's: the machine's, whose CPUs all hosts and switches share. No counter of an interface
has them; the socket alone does, and says so once: a read sets it to 0."""
import ctypes
import os
import socket
import struct

PIDFD_GETFD, PACKET_STATISTICS = 438, 6  # the same number for each architecture (Linux 5.6)
SOL_PACKET = 263


def sockets_of(pid):
    """Copies of the packet sockets of a process."""
    libc = ctypes.CDLL(None, use_errno=True)
    process = os.pidfd_open(pid)
    try:
        for name in os.listdir(f"/proc/{pid}/fd"):
            if not os.readlink(f"/proc/{pid}/fd/{name}").startswith("socket:"):
                continue
            fd = libc.syscall(PIDFD_GETFD, process, int(name), 0)
            if fd < 0:
                continue
            with socket.socket(fileno=fd) as s:
                if s.family == socket.AF_PACKET:
                    yield s
    finally:
        os.close(process)


def by_kernel(pid):
    """How many frames the kernel dropped since the last call."""
    return sum(struct.unpack("II", s.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))[1] for s in sockets_of(pid))
