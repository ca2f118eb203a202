#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""If hp3d cannot start, or starts with a problem, it prints one message, which names the remedy. If
the remedy is a command, the test runs it; the message must then not appear again.

usage: messages.py HP3D HP3CTL RC_ENDPOINT MAKE_CAPTURES SOURCE_ROOT [unittest arguments]
"""
import fcntl
import os
import re
import socket
import subprocess
import time
from cases import HP3D, Base, run
from harness import SOL_PACKET, Link, die_with_parent, wait_for

NOBODY = 65534
PACKET_FANOUT, FANOUT_HASH, ETH_P_ALL = 18, 0, 3


def become_nobody():
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)
    die_with_parent()


class Messages(Base):
    def links(self, n=2, **options):
        links = [Link(name, **options) for name in "rnxy"[:n]]
        for link in links:
            self.addCleanup(link.remove)
        return links

    def refused(self, d, message, code=1):
        """It ends, and this is its only complaint."""
        self.assertEqual(d.process.wait(timeout=40), code, d.output())
        self.assertRegex("\n".join(self.said(d)), message)
        self.assertEqual(len(self.said(d)), 1, d.output())

    def said(self, d):
        return [line for line in d.output().splitlines() if not re.search("wmem_default|keys = off", line)]

    def check(self, d):
        return subprocess.run([HP3D, "--check-config", d.config], capture_output=True, text=True)

    def type(self, d, message):
        """The command that follows `message`."""
        command = re.search(message + r".*; (.*)$", d.output(), re.M)
        self.assertIsNotNone(command, d.output())
        subprocess.run(command[1], shell=True, check=True, stdout=subprocess.DEVNULL)
        return command[1]

    def mended(self, rails, message, **sections):
        """The message appears, its command is typed, and it does not appear again."""
        d = self.daemon(rails, **sections).up()
        command = self.type(d, message)
        self.stop(d)
        d = self.daemon(rails, **sections).up()
        self.assertNotRegex(d.output(), message)
        self.stop(d)
        return command

    def test_devices_that_do_not_exist(self):
        """--check-config finds them, too, and ends with 2."""
        link, = self.links(1)
        good = link.devargs(1)
        for port, message in (
                ("net_af_packet0,iface=nosuch0", r"rnic = .*no interface nosuch0 .*; .*ip link show"),
                ("net_afpacket0,iface=lo", r"rnic = .*no driver net_afpacket; .*net_af_packet0,iface=NAME"),
                ("0000:7f:1f.7", r"rnic = .*no PCI device 0000:7f:1f\.7; .*lspci")):
            with self.subTest(port=port):
                d = self.daemon({"rail0": (port, good)})
                self.refused(d, r"\[rail\.rail0\] " + message)
                check = self.check(d)
                self.assertEqual(check.returncode, 2, check.stdout)
                self.assertRegex(check.stderr, message)
        d = self.daemon({"rail0": (good, "net_null0")}, begin=False)
        self.assertEqual(self.check(d).returncode, 0)

    def test_a_port_is_a_plain_name(self):
        """rnic = NAME is net_af_packet on this interface, and hp3d prints that; no interface of this name is an error."""
        rnic, net = self.links()
        taken = rf'\[rail\.rail0\] rnic = {rnic.near}: taken as "net_af_packet0,iface={rnic.near}"'
        d = self.daemon({"rail0": (rnic.near, net.near)})
        check = self.check(d)
        self.assertEqual(check.returncode, 0, check.stderr)
        self.assertRegex(check.stderr, taken)
        d.up()
        self.assertRegex(d.output(), taken)
        self.assertIn(f"net_af_packet1,iface={net.near}", d.ctl("config").stdout)
        self.stop(d)
        d = self.daemon({"rail0": ("nosuch0", "net_null0")})
        self.refused(d, r"\[rail\.rail0\] rnic = nosuch0: there is no interface nosuch0 .*; .*ip link show")
        self.assertEqual(self.check(d).returncode, 2)

    def test_warnings_of_check_config(self):
        """What hp3d starts with, although it does less than the file asks for."""
        key = {"probe_key": "00112233445566778899aabbccddeeff"}
        for sections, message in (
                ({"log": {"audit": "/nosuch/audit.log"}}, r"audit = /nosuch/audit\.log: .*; mkdir -p /nosuch"),
                ({"rail.rail0": {"rdma": "nosuch_0"}}, r"rdma = nosuch_0: there is no such RDMA device; .*rdma link"),
                ({"rfr": {"mode": "spray"}, "probes": {"keys": "off"}}, r"keys = off: .*nothing is sprayed; remove"),
                ({"probes": key, "ppp": {"probe": "off"}}, r"mode = auto sprays nothing with \[ppp\] probe = off; set"),
                ({"probes": key, "ppp": {"probe": "standard"}}, r"mode = auto sprays nothing with \[ppp\] probe = standard; set")):
            with self.subTest(message=message):
                check = self.check(self.daemon({"rail0": ("net_null0", "net_null1")}, begin=False, **sections))
                self.assertEqual(check.returncode, 0, check.stderr)
                self.assertRegex(check.stderr, message)

    def test_a_port_used_twice(self):
        for a, b, message in (
                ("net_af_packet0,iface=lo", "net_af_packet1,iface=lo", "interface 'lo' is taken by"),
                ("net_null0", "net_null0,no-rx=1", "device 'net_null0' is taken by"),
                ("0000:3b:00.1", "3b:00.1", "device '3b:00.1' is taken by")):
            for rails in ({"a": (a, b)}, {"a": ("net_ring0", a), "b": (b, "net_ring1")}):
                with self.subTest(rails=rails):
                    d = self.daemon(rails)
                    self.refused(d, message, code=2)
                    self.assertEqual(self.check(d).returncode, 2)

    def test_checksum_offload_of_a_veth(self):
        """At the other end, also in a namespace of another process."""
        rnic, net = self.links()
        message = rf"rnic: {rnic.far}, the other end of {rnic.near}, has tx checksum offload on"
        rails = {"rail0": (rnic.devargs(0), net.devargs(1))}
        subprocess.run(["ethtool", "-K", rnic.far, "tx", "on"], check=True, stdout=subprocess.DEVNULL)
        self.assertEqual(self.mended(rails, message), f"ethtool -K {rnic.far} tx off")
        subprocess.run(["ethtool", "-K", rnic.far, "tx", "on"], check=True, stdout=subprocess.DEVNULL)
        other = subprocess.Popen(["unshare", "-n", "sh", "-c", "echo; exec sleep 100"], stdout=subprocess.PIPE,
                                 preexec_fn=die_with_parent)
        self.addCleanup(lambda: (other.kill(), other.wait(), other.stdout.close()))
        other.stdout.readline()
        subprocess.run(["ip", "link", "set", rnic.far, "netns", str(other.pid)], check=True)
        inside = ["nsenter", "-t", str(other.pid), "-n"]
        subprocess.run([*inside, "ip", "link", "set", rnic.far, "up"], check=True)
        self.assertEqual(self.mended(rails, message), f"nsenter -t {other.pid} -n ethtool -K {rnic.far} tx off")

    def test_links_that_are_down(self):
        rnic, net = self.links()
        rails = {"rail0": (rnic.devargs(0), net.devargs(1))}
        for down, message in ((rnic.near, r"rnic = .*link is down: nothing passes"),
                              (net.far, rf"net = .*{net.near} is up, but has no carrier")):
            subprocess.run(["ip", "link", "set", down, "down"], check=True)
            self.assertEqual(self.mended(rails, message), f"ip link set {down} up")

    def test_frames_that_are_merged(self):
        rnic, net = self.links()
        subprocess.run(["ethtool", "-K", net.near, "rx-gro-list", "on"], check=True, stdout=subprocess.DEVNULL)
        self.assertEqual(self.mended({"rail0": (rnic.devargs(0), net.devargs(1))}, r"net: .*merges .*rx-gro-list"),
                         f"ethtool -K {net.near} rx-gro-list off")

    def test_send_buffers(self):
        """A machine's setting: not changed here, but shorter rings need no more."""
        rnic, net = self.links()
        for frames, said in ((65536, True), (32, False)):
            ports = [link.devargs(i, framecnt=frames) for i, link in enumerate((rnic, net))]
            d = self.daemon({"rail0": ports}, eal={"memory_mb": 512}).up()
            self.assertEqual(len(re.findall(r"wmem_default = \d+ is less .*sysctl -w net.core.wmem_default=\d+",
                                            d.output())), said)
            self.stop(d)

    def test_mtu(self):
        rnic, net = self.links(mtu=4000)
        large, small = "framesz=4608,blocksz=73728", "framesz=2304,blocksz=36864"

        def rails(ring):
            return {"rail0": [f"net_af_packet{i},iface={link.near},{ring}" for i, link in enumerate((rnic, net))]}
        d = self.daemon({"rail0": (rails(small)["rail0"][0], "net_null0")})
        self.assertEqual(d.process.wait(timeout=40), 1)
        self.assertRegex(d.output(), r"rnic: MTU 4000 of \S+ does not fit one buffer of 2176 bytes; set \[eal\] "
                                     rf"mbuf_bytes to at least 4154, or: ip link set {rnic.near} mtu 2150\n")
        self.assertEqual(self.check(d).returncode, 2)
        for link in (rnic, net):
            subprocess.run(["ip", "link", "set", link.near, "mtu", "2150"], check=True)
        d = self.daemon({"rail0": (rails(large)["rail0"][0], "net_null0")})
        self.refused(d, r"rnic = .*: framesz of 4608 does not fit .* mbuf_bytes = 2304; set mbuf_bytes to at least 4704")
        self.stop(self.daemon(rails(small), eal={"mbuf_bytes": 2400}).up())
        self.stop(self.daemon(rails(large), eal={"mbuf_bytes": 4704}).up())

    def test_memory(self):
        ports = ("net_ring0", "net_ring1")
        self.refused(self.daemon({"rail0": ports}, eal={"memory_mb": 1048576}),
                     r"memory_mb = 1048576, and only \d+ MiB are free; lower memory_mb")
        self.refused(self.daemon({"rail0": ports}, eal={"hugepages": "on", "mbufs": 4194304}),
                     r"hugepages = on: the packet buffers take 10240 MiB, free are \d+ MiB; sysctl -w vm\.nr_hugepages=\d+")

    def as_nobody(self, rails, **sections):
        d = self.daemon(rails, begin=False, **sections)
        os.chmod(d.directory, 0o777)
        d.begin(become_nobody)
        return d

    def test_permissions(self):
        rnic, net = self.links()
        rails = {"rail0": (rnic.devargs(0), net.devargs(1))}
        self.refused(self.as_nobody(rails), rf"rnic = .*user {NOBODY} has no CAP_NET_RAW.*; .*sudo hp3d --config /\S+")
        self.refused(self.as_nobody({"rail0": ("net_ring0", "net_ring1")}, control={"socket": "/run/hp3-no/x.sock"}),
                     r"socket = /run/hp3-no/x\.sock: cannot write to /run: Permission denied; start hp3d as root")
        d = self.daemon(rails, begin=False)
        os.chmod(d.directory, 0o755)
        os.chmod(d.config, 0o600)
        d.begin(become_nobody)
        self.refused(d, rf"{d.config}: .*Permission denied", code=2)

    def test_a_secret_that_others_can_read(self):
        d = self.daemon({"rail0": ("net_ring0", "net_ring1")}, probes={"probe_key": "00112233445566778899aabbccddeeff"},
                        begin=False)
        os.chmod(d.config, 0o644)
        d.begin()
        d.up()
        self.assertEqual(self.type(d, "other users can read"), f"chmod 600 {d.config}")
        self.assertEqual(os.stat(d.config).st_mode & 0o777, 0o600)
        self.assertNotIn("0011223344", d.output())
        self.stop(d)

    def test_an_identity_that_others_can_read(self):
        """hp3d makes it anew when it is gone, as it says; a damaged one likewise; where it cannot be kept hp3d goes on."""
        d = self.daemon({"rail0": ("net_ring0", "net_ring1")}, probes={"keys": "auto"}, begin=False)
        path = os.path.join(d.directory, "state", "identity")
        os.mkdir(os.path.dirname(path), 0o700)
        for mode, text in ((0o644, "x25519 00\n"), (0o600, "x25519 00\n")):
            with open(path, "w") as f:
                f.write(text)
            os.chmod(path, mode)
            d.begin()
            self.assertEqual(d.process.wait(20), 1, d.output())
            said = d.output().splitlines()[-1]
            self.assertRegex(said, rf"{path}: .*remove it, and hp3d makes a new one")
        os.remove(path)
        d.begin()
        d.up()
        self.assertRegex(d.output(), r"made a new identity of this host, ([0-9a-f]{4}-){3}[0-9a-f]{4}\n")
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
        self.stop(d)
        e = self.daemon({"rail0": ("net_ring2", "net_ring3")}, probes={"keys": "auto"}, service={"state": "/proc/hp3"}).up()
        self.assertRegex(e.output(), r"/proc/hp3: .*kept in memory only.*set \[service\] state\n")
        self.stop(e)

    def test_the_next_one_waits(self):
        """An upgrade: the new one begins when the old one has ended; else it gives up, and says who is in the way."""
        rails = {"rail0": ("net_ring0", "net_ring1")}
        old = self.daemon(rails, eal={"mbufs": 4096}, rfr={"hold_packets": 512}).up()
        new = self.daemon(rails, eal={"mbufs": 4096}, rfr={"hold_packets": 512}, control={"socket": old.socket},
                          begin=False)
        new.socket = old.socket
        new.begin()
        waiting = rf"{old.socket} belongs to process {old.process.pid}: waiting up to 3\.5 s"
        wait_for("the wait", lambda: re.search(waiting, new.output()))
        self.stop(old)
        wait_for("the new one", lambda: os.path.exists(new.socket))
        self.assertEqual(new.json("health")[0]["status"], "ok")
        begin = time.monotonic()
        late = self.daemon(rails, control={"socket": old.socket})
        self.assertEqual(late.process.wait(timeout=40), 1)
        self.assertGreater(time.monotonic() - begin, 3)
        self.assertRegex(late.output(), rf"process {new.process.pid} has it; stop that one \(kill {new.process.pid}\)")
        self.stop(new)
        self.assertEqual(os.listdir(old.directory).count("hp3.sock.lock"), 0)

    def test_locks_of_others(self):
        """Nobody can keep hp3d from starting by locking what they can open; what they made is named."""
        d = self.daemon({"rail0": ("net_ring0", "net_ring1")}, begin=False, control={"stop_drain_ms": 0})
        directory = os.open(d.directory, os.O_RDONLY)
        self.addCleanup(os.close, directory)
        fcntl.flock(directory, fcntl.LOCK_EX)
        d.begin()
        d.up()
        self.stop(d)
        with open(d.socket + ".lock", "w") as f:
            os.fchown(f.fileno(), NOBODY, NOBODY)
            fcntl.flock(f, fcntl.LOCK_EX)
            d.begin()
            self.assertEqual(d.process.wait(timeout=20), 1)
        self.assertEqual(self.type(d, "was made by another user"), f"rm {d.socket}.lock")
        d.begin()
        d.up()
        self.stop(d)

    def test_an_interface_of_another_hp3d(self):
        rnic, net, third = self.links(3)
        first = self.daemon({"rail0": (rnic.devargs(0), net.devargs(1))}).up()
        second = self.daemon({"rail0": (third.devargs(0), net.devargs(1))})
        self.refused(second, rf"net = .*hp3d of process {first.process.pid} works on {net.near}; stop that one "
                             rf"\(kill {first.process.pid}\)")
        self.assertEqual(self.stop(first).count("works on"), 0)
        self.stop(self.daemon({"rail0": (third.devargs(0), net.devargs(1))}).up())

    def test_a_fanout_group_that_is_taken(self):
        """The one that the driver would take for this process on each of its interfaces."""
        rnic, net = self.links()
        d = self.daemon({"rail0": (rnic.devargs(0), net.devargs(1))}, begin=False)

        def take_groups():
            die_with_parent()
            for link in (rnic, net):
                s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
                s.bind((link.near, ETH_P_ALL))
                group = (os.getpid() ^ socket.if_nametoindex(link.near)) & 0xffff
                s.setsockopt(SOL_PACKET, PACKET_FANOUT, group | FANOUT_HASH << 16)
                os.set_inheritable(s.detach(), True)
        d.process = subprocess.Popen(d.command, stdout=d.log, stderr=d.log, preexec_fn=take_groups, close_fds=False)
        d.up()
        self.assertNotIn("FANOUT", d.output())
        self.stop(d)


if __name__ == "__main__":
    run()
