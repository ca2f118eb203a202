# SPDX-License-Identifier: BSD-3-Clause
"""RoCEv2 frames made by hand."""
import os
import re
import struct
import zlib

LAST, WRITE_ONLY, ACK, CNP = 8, 10, 17, 0x81
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), *[os.pardir] * 3, "probes", "tag.h"), encoding="utf-8") as tag_h:
    PROBES_VERSION = int(re.search(r"HP3_PROBES_VERSION (\d+)u", tag_h.read())[1])
PROBE, REPORT = 3, 4  # kinds of messages between hosts


def probe_magic(kind):
    """The first two bytes of the VA of hp3's UC WRITE ONLY (probes/peer.h)."""
    return bytes((0x48, PROBES_VERSION << 4 | kind))


def roce(source, target, sport, opcode, qpn, psn, ackreq, rest):
    """A RoCEv2 frame with the right ICRC; `rest` is what follows the BTH."""
    bth = struct.pack(">BBHII", opcode, 0, 0xFFFF, qpn, ackreq << 31 | psn)
    length = 8 + len(bth) + len(rest) + 4
    udp = struct.pack(">HHHH", sport, 4791, length, 0)
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + length, 0, 0x4000, 64, 17, 0, source, target)
    # A17.3.3: ones instead of ToS, TTL, header and UDP checksum, and of the BTH's resv8a
    covered = (b"\xff" * 8 + ip[:1] + b"\xff" + ip[2:8] + b"\xff" + ip[9:10] + b"\xff\xff" + ip[12:] +
               udp[:6] + b"\xff\xff" + bth[:4] + b"\xff" + bth[5:] + rest)
    return (bytes.fromhex("020000000002 020000000001 0800") + ip + udp + bth + rest +
            struct.pack("<I", zlib.crc32(covered)))
