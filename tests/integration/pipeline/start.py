#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Start and end of hp3d: all kinds of ports; devices, memory settings and frame sizes that it must
refuse.

usage: start.py HP3D HP3CTL RC_ENDPOINT MAKE_CAPTURES SOURCE_ROOT [unittest arguments]
"""
import glob
import os
import re
import signal
import subprocess
import tempfile
import time
from cases import HP3D, Base, run
from harness import Link, RawPort, wait_for


class Start(Base):
    def test_ring_ports(self):
        d = self.daemon({"rail0": ("net_ring0", "net_ring1"), "rail1": ("net_ring2", "net_ring3")},
                        eal={"mbufs": 4096}, rfr={"hold_packets": 1024}).up()
        health = d.json("health")[0]
        self.assertEqual((health["status"], health["rails"], health["flows"]), ("ok", 2, 0))
        self.stop(d, signal.SIGINT)
        self.assertFalse(os.path.exists(d.socket))

    def test_null_ports_at_full_rate(self):
        """Empty frames without end: all are forwarded, none is kept."""
        d = self.daemon({"rail0": ("net_null0", "net_null1")}).up()
        wait_for("packets", lambda: d.counters()["packets_rx"] > 10000)
        counters = d.counters()
        self.assertGreater(counters["class_other"], 10000)
        self.assertEqual(counters["changed"], 0)
        self.stop(d)

    def test_ports_that_spread(self):
        """net_null takes key and table of a NIC that spreads, and does not: who gets a packet of others
        passes it on."""
        d = self.daemon({"rail0": ("net_null0", "net_null1")}, eal={"lcores": 2}).up()
        for side in ("rnic", "net"):
            self.assertRegex(d.output(), rf"\[rail\.rail0\] {side}: the NIC spreads .* 2 lcores.*RSS")
        wait_for("packets", lambda: d.counters()["handed_over"] > 10000)
        lcores = d.stats()["lcore"]
        # Empty frames belong to the first one.
        self.assertEqual((lcores["0"]["handed_over"], lcores["1"]["packets_rx"]), (0, 0))
        self.assertGreater(lcores["0"]["packets_rx"], lcores["1"]["handed_over"] // 4)
        self.stop(d)

    def refused(self, d, message, code=1):
        self.assertEqual(d.process.wait(timeout=40), code, d.output())
        self.assertRegex(d.output(), message)

    def test_devices_that_do_not_work(self):
        link, big = Link("e"), Link("g", mtu=4000)
        self.addCleanup(link.remove)
        self.addCleanup(big.remove)
        good = link.devargs(1)
        for rnic, net, message in (
                ("net_af_packet0,iface=nosuch0", good, r"\[rail\.rail0\] rnic = .*nosuch0.*there is no interface nosuch0"),
                (good, "net_nosuch0", r"\[rail\.rail0\] net = .*net_nosuch0.*check"),
                (good, "0000:7f:1f.7", r"\[rail\.rail0\] net = .*check"),
                (big.devargs(0), good, r"rail0\] rnic: MTU 4000 .*mbuf_bytes to at least 4\d\d\d")):
            with self.subTest(rnic=rnic, net=net):
                self.refused(self.daemon({"rail0": (rnic, net)}), message)

    def test_a_missing_mempool_driver_is_no_lack_of_memory(self):
        """DPDK's drivers are files: without librte_mempool_ring there are no packet buffers, however much memory there is."""
        folder = glob.glob("/usr/lib/*/dpdk/pmds-*")[0]
        d = self.daemon({"rail0": ("net_null0", "net_null1")}, begin=False)
        script = f"""few=$(mktemp -d) && mount -t tmpfs -o mode=755 few $few && cp -P {folder}/* $few && rm $few/librte_mempool_ring.so* &&
            mount --bind $few {folder} && exec "$@" """
        d.command = ["unshare", "--mount", "sh", "-c", script, "sh", *d.command]
        d.begin()
        self.refused(d, r"\[rail\.rail0\].*Invalid argument; DPDK has no mempool driver \"ring_mp_mc\": install librte_mempool_ring")
        self.assertNotIn("memory_mb", d.output())

    def test_promiscuous_mode_stays(self):
        """Frames that pass while there is no hp3d are addressed to others: none may be lost when one starts."""
        links = Link("e"), Link("g")
        for link in links:
            self.addCleanup(link.remove)
            subprocess.run(["ip", "link", "set", link.near, "promisc", "on"], check=True)
        said = tempfile.TemporaryFile("w+")
        self.addCleanup(said.close)
        watch = subprocess.Popen(["ip", "-o", "monitor", "link"], stdout=said)
        self.addCleanup(watch.kill)

        def lines():
            said.seek(0)
            return [line for line in said.read().splitlines() if any(f" {link.near}" in line for link in links)]

        def told(mtu):
            subprocess.run(["ip", "link", "set", links[0].near, "mtu", str(mtu)], check=True)
            return any(f"mtu {mtu} " in line for line in lines())
        wait_for("the monitor", lambda: told(1400) or told(1500))
        for _ in range(2):
            self.stop(self.daemon({"rail0": (links[0].devargs(0), links[1].devargs(1))}).up())
        wait_for("the last change", lambda: told(1300))
        self.assertEqual([line for line in lines() if "PROMISC" not in line], [])

    def test_lcores_that_would_hand_packets_over(self):
        """Refused with the key to change; what the message offers starts."""
        ports, more = ("net_ring0", "net_ring1"), ("net_ring2", "net_ring3")
        for rails, lcores, fix in (({"rail0": ports}, 2, 1), ({"rail0": ports, "rail1": more}, 3, 2),
                                   ({"rail0": ("net_null0", "net_ring1")}, 2, 0)):
            with self.subTest(rails=rails, lcores=lcores):
                def daemon(**eal):
                    return self.daemon(rails, eal={"mbufs": 4096, **eal}, rfr={"hold_packets": 512})
                self.refused(daemon(lcores=lcores),
                             rf"\[eal\] lcores = {lcores}: \[rail\.rail0\] (rnic|net) cannot spread .*driver.*; "
                             rf"set lcores = {fix or 1}, or spread = software")
                if fix == 0:
                    continue  # net_null's frames would stay in the ring
                for eal in ({"lcores": fix}, {"lcores": lcores, "spread": "software"}):
                    d = daemon(**eal).up()
                    self.assertEqual(d.ask("health")["lcores"], eal["lcores"])
                    self.stop(d)

    def test_a_rail_for_each_lcore(self):
        """Ports of one queue: whatever its addresses, a packet stays on the lcore of its rail."""
        links = [Link(side + rail) for rail in "01" for side in "rn"]
        for link in links:
            self.addCleanup(link.remove)
        devargs = [link.devargs(i) for i, link in enumerate(links)]
        d = self.daemon({"rail0": devargs[:2], "rail1": devargs[2:]}, eal={"lcores": 2, "mbufs": 4096},
                        rfr={"hold_packets": 1024}).up()
        for rail in (0, 1):
            self.assertRegex(d.output(), rf"\[rail\.rail{rail}\]: all packets stay on one lcore of 2, since rnic "
                                         r"cannot spread them: .*driver")
        ends = [RawPort(link.far) for link in links]
        for end in ends:
            self.addCleanup(end.close)
        for i in range(64):
            for source, sink in ((0, 1), (1, 0), (2, 3), (3, 2)):
                frame = (bytes(12) + b"\x08\x00\x45" + bytes(8) + b"\x11" + bytes(2) + bytes((10, 9, source, i, 10, 9, sink, i)) +
                         b"\xc0\x01\x12\xb7" + bytes(64))  # RoCEv2, or it would not come through hp3d
                ends[source].send(frame)
                self.assertEqual(ends[sink].receive(), frame)
        lcores = d.stats()["lcore"]
        for name in ("packets_tx", "packets_rx"):
            self.assertEqual([lcores[i][name] for i in "01"], [64, 64])
        self.assertEqual([lcores[i]["handed_over"] for i in "01"], [0, 0])
        self.stop(d)

    def test_memory_that_does_not_suffice(self):
        ports = ("net_ring0", "net_ring1")
        self.refused(self.daemon({"rail0": ports}, eal={"memory_mb": 64, "mbufs": 1048576}),
                     r"memory_mb = 64: .* allow at least \d+ or lower mbufs", code=2)
        self.refused(self.daemon({"rail0": ports, "rail1": ("net_ring2", "net_ring3")},
                                 eal={"memory_mb": 64, "mbufs": 16384}),
                     r"\[rail\.rail\d\].*raise \[eal\] memory_mb or lower mbufs")
        self.refused(self.daemon({"rail0": ports}, flows={"max_flows": 16777216}),
                     r"raise \[eal\] memory_mb or lower \[flows\]")

    def test_frames_that_do_not_fit_the_ring(self):
        """Refused, since they would be cut; with what the message asks for they pass whole."""
        rnic, net = Link("r", mtu=4000), Link("n", mtu=4000)
        self.addCleanup(rnic.remove)
        self.addCleanup(net.remove)
        d = self.daemon({"rail0": (rnic.devargs(0), net.devargs(1))}, eal={"mbuf_bytes": 4608})
        self.refused(d, r"rail0\] rnic = .*framesz of 2048 would cut")
        fix = re.search(r"append (framesz=\d+,blocksz=\d+) .*mbuf_bytes is at least (\d+)", d.output())
        ports = [f"net_af_packet{i},iface={link.near},{fix[1]}" for i, link in enumerate((rnic, net))]
        d = self.daemon({"rail0": ports}, eal={"mbuf_bytes": int(fix[2]), "mbufs": 4096},
                        rfr={"hold_packets": 1024}).up()
        ends = RawPort(rnic.far), RawPort(net.far)
        for end in ends:
            self.addCleanup(end.close)
        for size in (4000, 4004):  # a whole MTU, also behind a VLAN tag
            frame = bytes(12) + (b"\x81\x00\x00\x64" if size > 4000 else b"") + b"\x88\xb5" + os.urandom(4000)
            ends[0].send(frame)
            self.assertEqual(ends[1].receive(), frame)
        self.stop(d)

    def test_frames_longer_than_the_other_port_takes(self):
        """Ports of different MTU: named at the start. hp3d drops and counts longer frames, until the MTU is raised."""
        rnic, net = Link("r", mtu=4000), Link("n")
        for link in (rnic, net):
            self.addCleanup(link.remove)
        ports = [link.devargs(i, framesz=4352, blocksz=69632, framecnt=256) for i, link in enumerate((rnic, net))]
        d = self.daemon({"rail0": ports}, eal={"mbuf_bytes": 4608, "mbufs": 4096}, rfr={"hold_packets": 1024})
        named = f"rnic: MTU 4000 of {rnic.near} is larger than MTU 1500 of {net.near}"
        d.up()
        self.assertIn(named, d.output())
        checked = subprocess.run([HP3D, "--check-config", d.config], capture_output=True, text=True, timeout=60)
        self.assertEqual((checked.returncode, named in checked.stderr), (0, True), checked.stderr)
        ends = RawPort(rnic.far), RawPort(net.far)
        for end in ends:
            self.addCleanup(end.close)

        def frame(bytes_of_ip, tag=b""):  # RoCEv2, or it would not pass through hp3d
            return (bytes(12) + tag + b"\x08\x00\x45" + bytes(8) + b"\x11" + bytes(2) + bytes((10, 9, 0, 1, 10, 9, 0, 2)) +
                    b"\xc0\x01\x12\xb7" + os.urandom(bytes_of_ip - 24))

        def passes(sent):
            ends[0].send(sent)
            self.assertEqual(ends[1].receive(), sent)
        tag = b"\x81\x00\x00\x64"
        for i, long in enumerate((frame(1501), frame(1501, tag), frame(4000)), 1):
            ends[0].send(long)
            wait_for("the drop", lambda: d.counters()["drop_too_long"] == i)
            for short in frame(1500), frame(1500, tag):
                passes(short)
        sent = frame(4000)
        ends[1].send(frame(1500))  # the other direction
        self.assertEqual(len(ends[0].receive()), 1514)
        for end in net.near, net.far:
            subprocess.run(["ip", "link", "set", end, "mtu", "4000"], check=True)
        time.sleep(1)  # hp3d reads MTUs four times per second
        passes(sent)
        self.assertEqual(d.counters()["drop_too_long"], 3)
        self.assertEqual(d.stop(), 0)
        self.assertRegex(d.output(), r"hp3d: stopped: .* 3 not sent")


if __name__ == "__main__":
    run()
