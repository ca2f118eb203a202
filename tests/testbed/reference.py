# SPDX-License-Identifier: BSD-3-Clause
"""The switch program in plain Python. It computes the expected results of the conformance vectors.

Written from the specification in p4-testbed/spec/program.h, sharing nothing with the program: CRCs
come from zlib (CRC-32) and binascii-free bit loops (CRC-16), checksums are summed here.
"""
import ipaddress
import struct
import zlib


def crc16(data):
    crc = 0
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0xA001 if crc & 1 else 0)
    return crc


def ones_sum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return total


def checksum(data):
    return ~ones_sum(data) & 0xffff


def mac(text):
    return bytes(int(b, 16) for b in text.split(":"))


def ipv4(src, dst, proto, payload, ttl=64, tos=0, frag=0, ihl=5, ident=0):
    head = struct.pack("!BBHHHBBH4s4s", 0x40 | ihl, tos, ihl * 4 + len(payload), ident, frag, ttl, proto, 0,
                       ipaddress.ip_address(src).packed, ipaddress.ip_address(dst).packed) + bytes(ihl * 4 - 20)
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + payload


def ipv6(src, dst, proto, payload, ttl=64, tc=0, version=6):
    return struct.pack("!IHBB16s16s", version << 28 | tc << 20, len(payload), proto, ttl,
                       ipaddress.ip_address(src).packed, ipaddress.ip_address(dst).packed) + payload


def udp(sport, dport, payload):
    return struct.pack("!HHHH", sport, dport, 8 + len(payload), 0) + payload


def bth(qpn, payload=b"", resv8a=0):
    return struct.pack("!BBHII", 0x07, 0, 0xffff, resv8a << 24 | qpn, 1000) + payload + bytes(4)


def ethernet(dst, src, kind, payload):
    return mac(dst) + mac(src) + struct.pack("!H", kind) + payload


class Switch:
    """One switch of a plan (hp3-fabric plan) with all links up."""

    def __init__(self, plan, name, hash_kind="crc32", qpn=False, path_id=False):
        self.plan, self.hash_kind, self.qpn = plan, hash_kind, qpn
        self.me = next(s for s in plan["switches"] if s["name"] == name)
        self.hosts = {h["name"]: h for h in plan["hosts"]}
        self.switches = {s["name"]: s for s in plan["switches"]}
        self.path_id = int(name[1:]) if path_id and name[0] == "s" else 0
        self.routes = []

    def add_route(self, prefix, group):
        """A route beside those of the plan, to the group of a leaf (0..) or of a host of ours (leaves..)."""
        leaves = sum(s["name"][0] == "l" for s in self.plan["switches"])
        spines = [i for i, peer in enumerate(self.me["ports"]) if peer[0] == "s"]
        self.routes.append((ipaddress.ip_network(prefix), spines if group < leaves else [group - leaves]))

    def next_hops(self, dst):
        """Ports towards an address, in order; none: no route."""
        address = ipaddress.ip_address(dst)
        matching = [(net.prefixlen, hops) for net, hops in self.routes + self.own_routes(address.version)
                    if net.version == address.version and address in net]
        return max(matching)[1] if matching else []

    def next_hop(self, dst, bucket):
        """(port, destination MAC, source MAC); (None, None, None): no route."""
        hops = self.next_hops(dst)
        if not hops:
            return None, None, None
        to = hops[bucket % len(hops)]
        peer = self.me["ports"][to]
        return to, mac((self.hosts.get(peer) or self.switches[peer])["mac"]), mac(self.me["mac"])

    def may_answer(self):
        """Is an ICMP message within the rate?"""
        return True

    def own_routes(self, version):
        """Those of the plan: our hosts, and the prefixes of other leaves."""
        spines = [i for i, peer in enumerate(self.me["ports"]) if peer[0] == "s"]
        routes = []
        for h in self.plan["hosts"]:
            own = ipaddress.ip_address(h["ip4" if version == 4 else "ip6"])
            net = ipaddress.ip_network(f"{own}/{24 if version == 4 else 64}", strict=False)
            if h["leaf"] == self.me["name"]:
                routes.append((ipaddress.ip_network(own), [self.me["ports"].index(h["name"])]))
            else:
                routes.append((net, [self.me["ports"].index(h["leaf"])] if self.me["name"][0] == "s" else spines))
        return routes

    def hash(self, src, dst, sport, dport, proto, qpn):
        key = struct.pack("!I", self.me["seed"]) + ipaddress.ip_address(src).packed + ipaddress.ip_address(dst).packed
        key += struct.pack("!HHB", sport, dport, proto) + (struct.pack("!I", qpn)[1:] if self.qpn else b"")
        return zlib.crc32(key) if self.hash_kind == "crc32" else crc16(key)

    def forward(self, frame, port, marking=None, silent=False):
        """(port, priority, frame, counters) or (None, None, None, counters). marking: always, never; silent: no ICMP."""
        counters = {}

        def drop(reason):
            counters[f"drops[{reason}]"] = 1
            return None, None, None, counters

        kind = struct.unpack("!H", frame[12:14])[0]
        if kind not in (0x0800, 0x86dd):
            return drop(0)
        v4 = kind == 0x0800
        ip = frame[14:]
        if len(ip) < (20 if v4 else 40):
            return drop(1)
        if v4:
            if ip[0] != 0x45:
                return drop(1)
            total = struct.unpack("!H", ip[2:4])[0]
            if self.cut(ip, 20, ip[9], struct.unpack("!H", ip[6:8])[0] & 0x3fff == 0) or not 20 <= total <= len(ip):
                return drop(1)
            if ones_sum(ip[:20]) != 0xffff:
                return drop(2)
            length, tos, ttl, proto = struct.unpack("!H", ip[2:4])[0], ip[1], ip[8], ip[9]
            src, dst, end = ipaddress.ip_address(ip[12:16]), ipaddress.ip_address(ip[16:20]), 20
            has_l4 = struct.unpack("!H", ip[6:8])[0] & 0x3fff == 0
        else:
            if ip[0] >> 4 != 6:
                return drop(1)
            length, tos = 40 + struct.unpack("!H", ip[4:6])[0], struct.unpack("!I", ip[:4])[0] >> 20 & 0xff
            ttl, proto = ip[7], ip[6]
            src, dst, end = ipaddress.ip_address(ip[8:24]), ipaddress.ip_address(ip[24:40]), 40
            has_l4 = proto in (6, 17, 58)
            if self.cut(ip, 40, proto, has_l4) or length > len(ip):
                return drop(1)
        whole, ip = ip, ip[:length]
        counters[f"port_rx[{port}]"], counters[f"port_rx_bytes[{port}]"] = 1, 14 + length
        l4 = whole[end:end + 8]
        sport, dport = struct.unpack("!HH", l4[:4]) if has_l4 and proto in (6, 17) else (0, 0)
        roce = has_l4 and proto == 17 and dport == 4791
        qpn = int.from_bytes(whole[end + 13:end + 16], "big") if roce else 0
        out = bytearray(ip)
        priority, ecn = tos >> 5, tos & 3
        if ttl < 2:
            error = proto == (1 if v4 else 58) and l4[0] != (8 if v4 else 128)
            if silent or not has_l4 or error:
                return drop(4)
            if not self.may_answer():
                return drop(5)
            out = bytearray(self.time_exceeded(whole, end, v4, src))
            src, dst, sport, dport, qpn = self.address(v4), src, 0, 0, 0
            proto, priority, ecn, roce = (1 if v4 else 58), 6, 0, False
        elif v4:
            out[8] -= 1
        else:
            out[7] -= 1
        h = self.hash(src, dst, sport, dport, proto, qpn)
        to, there, here = self.next_hop(dst, h & 255)
        if to is None:
            return drop(3)
        counters[f"flow[{h & 4095}]"] = 1
        if ecn != 0 and ecn != 3 and (marking(to) if callable(marking) else marking == "always"):
            counters[f"port_ce[{to}]"] = 1
            if v4:
                out[1] |= 3
            else:
                out[1] |= 0x30
        if ttl >= 2 and v4:
            out[10:12] = b"\0\0"
            out[10:12] = struct.pack("!H", checksum(bytes(out[:20])))
        if roce and self.path_id and len(out) > end + 12:
            out[end + 12] = out[end + 12] & 0xc0 | self.path_id
        counters[f"port_tx[{to}]"], counters[f"port_tx_bytes[{to}]"] = 1, 14 + len(out)
        return to, priority, there + here + frame[12:14] + bytes(out), counters

    @staticmethod
    def cut(ip, end, proto, has_l4):
        """The parser runs out of frame: in the first 8 bytes of transport, or in a BTH."""
        roce = proto == 17 and ip[end + 2:end + 4] == struct.pack("!H", 4791)
        return has_l4 and len(ip) < end + 8 + (12 if roce else 0)

    def address(self, v4):
        return ipaddress.ip_address(self.me["ip4" if v4 else "ip6"])

    def time_exceeded(self, ip, end, v4, src):
        quote = ip[:end + 8]
        if v4:
            icmp = struct.pack("!BBHI", 11, 0, 0, 0) + quote
            icmp = icmp[:2] + struct.pack("!H", checksum(icmp)) + icmp[4:]
            return ipv4(str(self.address(True)), str(src), 1, icmp, tos=0xc0)
        icmp = struct.pack("!BBHI", 3, 0, 0, 0) + quote
        pseudo = self.address(False).packed + src.packed + struct.pack("!II", len(icmp), 58)
        icmp = icmp[:2] + struct.pack("!H", checksum(pseudo + icmp)) + icmp[4:]
        return ipv6(str(self.address(False)), str(src), 58, icmp, tc=0xc0)
