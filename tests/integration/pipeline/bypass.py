#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""hp3d dies, hangs, ends and starts while packets flow: the kernel forwards them meanwhile.

usage: bypass.py HP3D HP3CTL RC_ENDPOINT MAKE_CAPTURES SOURCE_ROOT [unittest arguments]

Endpoints number their frames, so they detect duplicate, late and lost frames independently of
the connections.
"""
import glob
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import time
from bypassing import DIRECT, LAYOUT, PATIENT, PAUSE_US, TAKEN, Bypassing, Port
from cases import HP3D, SOURCE, run
from harness import Link, RawPort, wait_for


class Bypass(Bypassing):
    TAKES_AD = False  # net_af_packet is not told of 802.1ad frames

    def test_kill(self):
        """What was inside is lost, nothing else; the next hp3d takes over."""
        d = self.start()
        a, b = self.traffic()
        inside = 0
        for _ in range(3):
            self.taking(d)
            self.wire(a, b)
            d.process.kill()
            d.process.wait()
            inside += self.inside()
            time.sleep(0.2)
            self.assertLess(self.wire(a, b), PAUSE_US)
            self.again(d)
            self.assertLess(self.wire(a, b), PAUSE_US)
        self.taking(d)
        lost = self.ended(a, b, d)
        if self.hangs(d) == 0:  # else it got no CPU once more
            self.assertLessEqual(lost, inside)
        self.stop(d)

    def test_hang(self):
        """What is inside when hp3d awakes is older than what went direct: given up. Then it takes over again."""
        d = self.start()
        a, b = self.traffic()
        inside = 0
        for i in range(3):
            self.taking(d)
            self.wire(a, b)
            self.hang(d)
            inside += self.inside()
            d.process.send_signal(signal.SIGCONT)
            wait_for("the take-over", lambda: self.states() == (TAKEN, TAKEN))
            self.assertLess(self.wire(a, b), PAUSE_US)
            wait_for("the line of the log", lambda: self.hangs(d) > i)
        self.taking(d)
        lost = self.ended(a, b, d, hangs=3)
        self.assertGreater(lost, 0)
        if self.hangs(d) == 3:
            self.assertLessEqual(lost, inside)
        self.assertEqual(d.counters()["drop_bypassed"], lost)
        self.stop(d)

    def test_stop_and_start(self):
        """Nothing is lost: hp3d leaves in a moment in which nothing is inside. There always is, as small bursts see to."""
        d = self.start(eal={"burst": 4}, bypass=PATIENT)
        a, b = self.traffic()
        for _ in range(3):
            self.taking(d)
            self.assertNotIn("were left behind", self.stop(d))
            self.assertEqual(self.states(), (DIRECT, DIRECT))
            self.again(d)
        self.taking(d)
        self.assertEqual(self.ended(a, b), 0)
        self.stop(d)

    def test_the_next_one_waits(self):
        """The next hp3d is there before this one ends: it waits, then takes over; nothing is lost."""
        d = self.start(bypass=PATIENT)
        a, b = self.traffic()
        self.taking(d)
        later = self.elsewhere(bypass=PATIENT)
        wait_for("the line of the log", lambda: f"hp3d of process {d.process.pid} has these ports" in later.output())
        self.taking(d)
        self.assertEqual(later.counters()["packets_tx"], 0)
        self.assertNotIn("were left behind", self.stop(d))
        self.taking(later)
        self.assertEqual(self.ended(a, b), 0)
        self.stop(later)

    def test_replaced(self):
        """A hung hp3d whose ports another one has taken sends nothing when it awakes, and says so."""
        d = self.start()
        a, b = self.traffic()
        self.taking(d)
        d.process.send_signal(signal.SIGSTOP)
        time.sleep(0.1)
        inside = self.inside()
        later = self.elsewhere()
        self.taking(later)
        d.process.send_signal(signal.SIGCONT)
        wait_for("the line of the log", lambda: "has taken these ports over" in d.output())
        self.taking(later)
        d.stop()
        self.taking(later)
        lost = self.ended(a, b)
        if self.hangs(d) + self.hangs(later) == 0:  # else it got no CPU before it was stopped, or the other one
            self.assertLessEqual(lost, inside)
        self.stop(later)

    def frames(self, host):
        """What is not hp3d's, by name: TCP, ARP, a datagram in pieces, tags that it is not told of, or too many."""
        ethernet = bytes.fromhex("020000000002020000000001")
        ends = bytes([10, 9, 0, host, 10, 9, 0, 3 - host])
        tcp = bytes.fromhex("450000280001000040060000") + ends + bytes(20)

        def piece(offset, more, data, number=7):
            head = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(data), number, more << 13 | offset // 8, 64, 17, 0)
            return ethernet + b"\x08\x00" + head + ends + data
        roce = struct.pack(">HHHH", 0xc001, 4791, 72, 0) + os.urandom(64)
        return {"TCP": ethernet + b"\x08\x00" + tcp,
                "ARP": b"\xff" * 6 + ethernet[6:] + b"\x08\x06" + os.urandom(46),
                "first piece": piece(0, 1, roce[:40]), "last piece": piece(40, 0, roce[40:]),
                "last piece first": piece(40, 0, roce[40:], 8), "first piece last": piece(0, 1, roce[:40], 8),
                "802.1ad": ethernet + b"\x88\xa8\x00\x64\x81\x00\x00\x65\x08\x00" + tcp,
                **({} if self.TAKES_AD else {"802.1ad, RoCEv2": ethernet + b"\x88\xa8\x00\x64" + piece(0, 0, roce)[12:]}),
                "three tags, RoCEv2": ethernet + b"\x81\x00\x00\x64" * 3 + piece(0, 0, roce)[12:],
                "802.1Q": ethernet + b"\x81\x00\x00\x64\x08\x00" + tcp}

    def test_others(self):
        """They go as they are, once, whether hp3d runs, hangs or is gone, and past it."""
        d = self.start()
        ends = RawPort(self.rnic.far), RawPort(self.net.far)
        for end in ends:
            self.addCleanup(end.close)

        def all_pass():
            for host, (source, sink) in enumerate((ends, ends[::-1]), 1):
                for name, frame in self.frames(host).items():
                    source.send(frame)
                    self.assertEqual(sink.receive(), frame, name)
            for end in ends:
                self.assertIsNone(end.receive(0.05))
        all_pass()
        counters = d.counters()
        self.assertEqual((counters["packets_tx"], counters["packets_rx"]), (0, 0))
        d.process.send_signal(signal.SIGSTOP)
        all_pass()
        d.process.kill()
        d.process.wait()
        all_pass()

    def test_another_version(self):
        """What is attached stays as it is and forwards, until somebody takes it away."""
        d = self.start()
        self.stop(d)
        Port(self.rnic).poke(LAYOUT, 99)
        self.refused(self.daemon({"rail0": self.ports()}), r"\[rail\.rail0\]: .*a version of hp3 that .*hp3d --detach")
        a, b = self.traffic()
        wait_for("packets", lambda: b.report()["received"] > 100)
        self.assertEqual(self.ended(a, b), 0)
        out = subprocess.run([HP3D, "--detach", "--config", d.config], check=True, capture_output=True, text=True)
        self.assertEqual(out.stdout, "[rail.rail0] rnic: detached\n[rail.rail0] net: detached\n")
        for link in (self.rnic, self.net):
            self.assertEqual(glob.glob(f"/sys/fs/bpf/hp3/*/{socket.if_nametoindex(link.near)}"), [])
        self.again(d)
        self.stop(d)

    def test_detach(self):
        """Not from below an hp3d that runs or hangs; a second time there is nothing to take away."""
        d = self.start()
        command = [HP3D, "--detach", "--config", d.config]
        for hang in (False, True):
            if hang:
                d.process.send_signal(signal.SIGSTOP)
                time.sleep(0.2)  # its heartbeat is old
            out = subprocess.run(command, check=False, capture_output=True, text=True)
            self.assertEqual(out.returncode, 1)
            self.assertEqual(out.stderr.count(f"process {d.process.pid} uses it: stop it first"), 2, out.stderr)
        d.process.send_signal(signal.SIGCONT)
        self.stop(d)
        for text in ("detached", "nothing is attached"):
            out = subprocess.run(command, check=True, capture_output=True, text=True)
            self.assertEqual(out.stdout, f"[rail.rail0] rnic: {text}\n[rail.rail0] net: {text}\n")

    def package_ends(self, how):
        """The script of the Debian package, which has other directories and users to remove than the machine's."""
        script = 'for folder in /run /var/log /var/lib /etc; do mount -t tmpfs none $folder || exit 1; done; exec sh "$0" "$1"'
        return subprocess.run(["unshare", "--mount", "sh", "-c", script, os.path.join(SOURCE, "debian/hp3.postrm"), how],
                              check=True, capture_output=True, text=True).stdout

    def nothing_attached(self):
        for n in (link.near for link in (self.rnic, self.net)):
            for command in (["tc", "filter", "show", "dev", n, "ingress"], ["tc", "filter", "show", "dev", n, "egress"], ["ip", "-d", "link", "show", n]):
                out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
                self.assertNotRegex(out, "detour|gate|hp3_xdp")
        self.assertFalse(os.path.exists("/sys/fs/bpf/hp3"))

    def test_programs_removed_by_hand(self):
        """The commands of operate.md: those with PORT are for each port."""
        with open(os.path.join(SOURCE, "docs/guide/operate.md"), encoding="utf-8") as f:
            commands = re.search(r"To remove the programs by hand,.*?\n\n((?: {4}[^\n]*\n)+)", f.read(), re.S).group(1).splitlines()
        self.stop(self.start())
        for link in (self.rnic, self.net):
            for command in (c for c in commands if "PORT" in c):
                subprocess.run(command.replace("PORT", link.near), shell=True, check=False)  # AF_XDP has no program at egress
        for command in (c for c in commands if "PORT" not in c):
            subprocess.run(command, shell=True, check=True)
        self.nothing_attached()

    def test_package_is_purged(self):
        """What hp3d left forwards on when the package is removed, and is taken away when that is purged."""
        d = self.start()
        d.process.kill()
        d.process.wait()
        near = [link.near for link in (self.rnic, self.net)]
        said = self.package_ends("remove")
        self.assertEqual([said.count(f"{n}: the kernel goes on to forward") for n in near], [1, 1], said)
        a, b = self.traffic()
        wait_for("packets", lambda: b.report()["received"] > 100)
        self.assertEqual(self.ended(a, b), 0)
        said = self.package_ends("purge")
        self.assertEqual([said.count(f"{n}: the fail-open program is taken off") for n in near], [1, 1], said)
        self.nothing_attached()
        self.assertEqual(self.package_ends("purge"), "")

    def test_off(self):
        """hp3d that is to forward everything takes away what would forward beside it."""
        d = self.start()
        self.stop(d)
        d = self.start(bypass={"fail_open": "off"})
        ends = RawPort(self.rnic.far), RawPort(self.net.far)
        for end in ends:
            self.addCleanup(end.close)
        frame = self.frames(1)["TCP"]
        ends[0].send(frame)
        self.assertEqual(ends[1].receive(), frame)
        self.assertIsNone(ends[1].receive(0.05))
        self.assertEqual(d.counters()["packets_tx"], 1)
        self.stop(d)

    def without_bpf(self, removed="-bpf,-sys_admin", **sections):
        d = self.daemon({"rail0": self.ports()}, begin=False, **sections)
        d.command = ["setpriv", f"--bounding-set={removed}", *d.command]
        d.begin()
        return d

    def test_no_permission(self):
        """hp3d says so and forwards by itself, unless it was told not to run without."""
        d = self.without_bpf().up()
        self.assertRegex(d.output(), r"\[rail\.rail0\]: no fail-open: .*no permission: run as root, or with CAP_BPF")
        a, b = self.traffic()
        self.taking(d)
        self.assertEqual(self.ended(a, b), 0)
        self.stop(d)
        self.refused(self.without_bpf(bypass={"fail_open": "on"}), "no permission", "fail_open = on: set it to auto")

    def test_maps_removed(self):
        """With the rights of the service, hp3d cannot read an attached program without its maps, and names what helps."""
        self.stop(self.daemon({"rail0": self.ports()}).up())
        for link in (self.rnic, self.net):
            pins, = glob.glob(f"/sys/fs/bpf/hp3/*/{socket.if_nametoindex(link.near)}")
            shutil.rmtree(pins)
        d = self.without_bpf(removed="-sys_admin").up()
        self.assertRegex(d.output(), r"\[rail\.rail0\]: no fail-open: .* are gone, .*: type hp3d --detach as root, then start hp3d again")
        self.stop(d)
        subprocess.run([HP3D, "--detach", "--config", d.config], check=True, capture_output=True)
        d = self.without_bpf(removed="-sys_admin").up()
        self.assertNotIn("no fail-open", d.output())
        self.stop(d)

    def test_one_rail_of_two(self):
        more = Link("s"), Link("t")
        for link in more:
            self.addCleanup(link.remove)
        d = self.daemon({"rail0": self.ports(), "rail1": tuple(link.devargs(2 + i) for i, link in enumerate(more))},
                        bypass=PATIENT).up()
        wait_for("both rails", lambda: d.ctl("bypass").stdout == "bypass auto\nrail0 taken\nrail1 taken\n")
        self.assertEqual(d.ctl("bypass", "on", "--rail", "rail1").stdout,
                         "bypass by rail\nrail0 taken, bypass auto\nrail1 direct, bypass on\n")
        self.assertIsNone(d.json("bypass")[0]["bypass"])
        self.assertIn("no rail rail2", d.ctl("bypass", "on", "--rail", "rail2", code=4).stderr)
        self.assertIn("nothing is to be set", d.ctl("bypass", "--rail", "rail1", code=1).stderr)
        self.assertEqual(d.ctl("bypass", "auto").stdout, "bypass auto\nrail0 taken\nrail1 taken\n")
        self.stop(d)

    def test_a_rail_that_does_not_fail_open(self):
        """It cannot go direct: hp3ctl says that, and sets the other rail."""
        d = self.daemon({"rail0": self.ports(), "rail1": ("net_ring0", "net_ring1")}, bypass=PATIENT).up()
        for more in [], ["--rail", "rail1"]:
            said = d.ctl("bypass", "on", *more, code=1).stderr
            self.assertIn("rail rail1 does not fail open: its packets still pass hp3d", said)
            self.assertIn("hp3ctl mode off", said)
        wait_for("the other rail", lambda: "rail0 direct, bypass on\n" in d.ctl("bypass").stdout)
        d.ctl("bypass", "auto")
        d.stop()

    def test_operator(self):
        """Direct and back without a loss; closed, RoCEv2 stops with hp3d, and nothing else does."""
        d = self.start(bypass=PATIENT)
        a, b = self.traffic()
        self.taking(d)
        flow = d.paired(1)[0]
        self.move(d, flow, self.port(0))
        self.taking(d)
        self.assertEqual(d.ctl("bypass", "on").stdout, "bypass on\nrail0 direct\n")
        before = d.counters()["packets_tx"]
        received = b.report()["received"]
        wait_for("packets", lambda: b.report()["received"] > received + 100)
        self.assertEqual(d.counters()["packets_tx"], before)
        self.assertEqual(d.json("bypass", "auto")[0]["bypass"], "auto")
        self.taking(d)
        self.assertEqual(d.ctl("bypass", "of", code=2).stdout, "")
        d.ctl("bypass", "off")
        self.assertEqual(self.ended(a, b), 0)
        d.process.kill()
        d.process.wait()
        ends = RawPort(self.rnic.far), RawPort(self.net.far)
        for end in ends:
            self.addCleanup(end.close)
        tcp = self.frames(1)["TCP"]
        ends[0].send(tcp[:23] + b"\x11" + tcp[24:34] + b"\xc0\x01\x12\xb7" + bytes(32))
        ends[0].send(tcp)
        self.assertEqual(ends[1].receive(), tcp)
        self.assertIsNone(ends[1].receive(0.05))

    def test_other_ports(self):
        d = self.daemon({"rail0": ("net_ring0", "net_ring1")}, eal={"mbufs": 4096}, rfr={"hold_packets": 1024}).up()
        self.assertRegex(d.output(), r"\[rail\.rail0\]: no fail-open: rnic is no net_af_packet port")
        self.stop(d)


if __name__ == "__main__":
    run()
