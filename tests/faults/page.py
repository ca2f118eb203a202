# SPDX-License-Identifier: BSD-3-Clause
"""The page by which calls of hp3d-faults are counted and made to fail (shim.h)."""
import mmap
import struct
import subprocess

CALLS, NAME, HEAD = 256, 40, 40
FOREVER = 0xffffffff


class Page:
    def __init__(self, path):
        self.path = path
        with open(path, "w+b") as f:
            f.truncate(HEAD + CALLS * (4 + NAME))
            self.map = mmap.mmap(f.fileno(), 0)
        self.disarm()

    def close(self):
        self.map.close()

    def names(self):
        calls, = struct.unpack_from("=I", self.map, 0)
        at = HEAD + 4 * CALLS
        return [self.map[at + i * NAME:at + (i + 1) * NAME].split(b"\0")[0].decode() for i in range(calls)]

    def counts(self):
        """Calls since the last arm() or disarm(), by name; those that there were."""
        count = struct.unpack_from(f"={CALLS}I", self.map, HEAD)
        return {name: n for name, n in zip(self.names(), count) if n > 0}

    def hits(self):
        return struct.unpack_from("=I", self.map, 16)[0]

    def by(self, program):
        """Who called what failed first."""
        address, = struct.unpack_from("=Q", self.map, 24)
        run = subprocess.run(["addr2line", "-fsp", "-e", program, hex(max(0, address - 1))], capture_output=True,
                             text=True, check=False)
        return run.stdout.strip()

    def arm(self, name, first, last):
        self.disarm()
        struct.pack_into("=II", self.map, 8, first, last)
        struct.pack_into("=I", self.map, 4, self.names().index(name))

    def wall(self, seconds):
        """The wall clock jumps so far ahead of the kernel's."""
        struct.pack_into("=q", self.map, 32, seconds)

    def disarm(self):
        struct.pack_into("=I", self.map, 4, CALLS)
        struct.pack_into("=I", self.map, 16, 0)
        self.map[HEAD:HEAD + 4 * CALLS] = bytes(4 * CALLS)
