#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""An attacker in the network that uses only its own addresses.

usage: network.py HP3D HP3CTL RC_ENDPOINT MAKE_CAPTURES SOURCE_ROOT [unittest arguments]
"""
import random
import socket
import struct
from hostile import VICTIM_A, Hostile, run
from frames import WRITE_ONLY, roce
from harness import wait_for

OUTSIDER = socket.inet_aton("10.66.0.1")
HP3_PORT = 4795


def datagram(source, target, port, payload):
    udp = struct.pack(">HHHH", 50000, port, 8 + len(payload), 0) + payload
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(udp), 0, 0x4000, 64, 17, 0) + source + target
    total = sum(struct.unpack(">10H", ip))
    total = (total >> 16) + (total & 0xffff)
    return bytes.fromhex("020000000002 020000000001 0800") + ip[:10] + struct.pack(
        ">H", ~(total + (total >> 16)) & 0xffff) + ip[12:] + udp


class Network(Hostile):
    def test_no_port_is_open(self):
        """hp3d as it ships has no socket that the network reaches."""
        d = self.shipped()
        for table in ("tcp", "tcp6", "udp", "udp6", "udplite", "udplite6", "raw6"):
            with open(f"/proc/{d.process.pid}/net/{table}") as f:
                self.assertEqual(f.readlines()[1:], [], table)
        self.stop(d)

    def test_garbage(self):
        """Datagrams of all lengths and opcodes to RoCE's port and to hp3's own."""
        d = self.shipped()
        a, b, flows = self.victims(d)
        port, r = self.attacker(self.net), random.Random(1)
        n = self.flood(port, (datagram(OUTSIDER, VICTIM_A, to, r.randbytes(r.randrange(120)))
                              for _ in range(1000) for to in (4791, HP3_PORT)))
        n += self.flood(port, (roce(OUTSIDER, VICTIM_A, 50000, opcode, 0x7000, r.getrandbits(24), opcode & 1,
                                    r.randbytes(4 * r.randrange(20))) for _ in range(4) for opcode in range(256)))
        counters = wait_for("all", lambda: (lambda c: c if c["packets_rx"] > n else None)(d.counters()))
        self.assertEqual((counters["flows_created"], counters["answered"]), (len(flows), 0))
        self.unhurt(d, a, b, flows)

    def test_requests_take_no_records(self):
        """An unauthenticated sender's requests, however many queue pairs they name, take no place in hp3d's tables."""
        d = self.shipped()
        a, b, flows = self.victims(d)
        n = self.flood(self.attacker(self.net), (
            roce(OUTSIDER[:2] + i.to_bytes(2, "big"), VICTIM_A, 50000, WRITE_ONLY, 0x1000 + i, i, 1, bytes(16))
            for i in range(10000)))
        wait_for("all", lambda: d.counters()["packets_rx"] > n)
        self.assertEqual(d.counters()["flows_created"], len(flows))
        self.assertEqual(len(d.json("paths")), 1)
        self.unhurt(d, a, b, flows)


if __name__ == "__main__":
    run()
