# SPDX-License-Identifier: BSD-3-Clause
"""RoCEv2 packets of a capture that the lab made (lab up --pcap).

`packets(path)` yields them in order, as far as they were captured: a file that is still being
written ends early, without an error. Only headers are needed: --pcap=96 is enough.
"""
import collections
import struct

ROCE = 4791
RC_LAST_REQUEST = 0x17  # RC opcodes; replies lie between 0x0d and 0x12
RC_REPLIES = range(0x0D, 0x13)
ACK = 0x11
UC_WRITE_ONLY = 0x2A
CNP = 0x81

# t: seconds since an arbitrary start; src: as text; psn, qpn, becn: of the BTH; syndrome: None without AETH
Packet = collections.namedtuple("Packet", "t src sport opcode qpn psn ackreq syndrome length dma_length becn")


def records(path):
    """(seconds, bytes on the wire, captured bytes) of a classic pcap file."""
    with open(path, "rb") as f:
        head = f.read(24)
        if len(head) < 24:
            return
        order = "<" if head[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
        unit = 1e-9 if head[:4] in (b"\x4d\x3c\xb2\xa1", b"\xa1\xb2\x3c\x4d") else 1e-6
        while True:
            rec = f.read(16)
            if len(rec) < 16:
                return
            sec, frac, caplen, length = struct.unpack(order + "IIII", rec)
            data = f.read(caplen)
            if len(data) < caplen:
                return
            yield sec + frac * unit, length, data


def udp_of(p):
    """(offset of the UDP header, source address as text), or None."""
    at, proto = 14, p[12:14]
    if proto == b"\x81\x00":
        at, proto = 18, p[16:18]
    if proto == b"\x08\x00" and len(p) > at + 20 and p[at + 9] == 17:
        return at + (p[at] & 15) * 4, ".".join(str(b) for b in p[at + 12 : at + 16])
    if proto == b"\x86\xdd" and len(p) > at + 40 and p[at + 6] == 17:
        return at + 40, p[at + 8 : at + 24].hex()
    return None


def packets(path):
    for t, length, p in records(path):
        found = udp_of(p)
        if found is None or len(p) < found[0] + 20:
            continue
        udp, src = found
        sport, dport = struct.unpack(">HH", p[udp : udp + 4])
        if dport != ROCE:
            continue
        b = udp + 8
        opcode = p[b]
        has_aeth = opcode in (0x0D, 0x0F, 0x10, 0x11, 0x12) and len(p) > b + 12
        has_reth = opcode in (0x06, 0x0A, 0x0B, 0x0C, UC_WRITE_ONLY) and len(p) >= b + 28
        yield Packet(t, src, sport, opcode, int.from_bytes(p[b + 5 : b + 8], "big"),
                     int.from_bytes(p[b + 9 : b + 12], "big"), bool(p[b + 8] & 0x80),
                     p[b + 12] if has_aeth else None, length,
                     int.from_bytes(p[b + 24 : b + 28], "big") if has_reth else None, bool(p[b + 4] & 0x40))


def is_request(p):
    return p.opcode <= RC_LAST_REQUEST and p.opcode not in RC_REPLIES


def is_probe(p):
    """Zero-length WRITE ONLY: what probes look like that an RNIC answers."""
    return p.opcode == 0x0A and p.dma_length == 0


def is_peer_probe(p):
    """The same over an unreliable connection: for the peer's hp3d (probes/peer.h)."""
    return p.opcode == UC_WRITE_ONLY and p.dma_length == 0


def is_data(p):
    return is_request(p) and not is_probe(p)
