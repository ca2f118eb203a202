#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""hp3ctl doctor on this host, in a namespace with faults. It reports each fault with a command, and
reports the fault no more after this command was run.

usage: doctor.py HP3D HP3CTL RC_ENDPOINT MAKE_CAPTURES SOURCE_ROOT [unittest arguments]
"""
import json
import os
import re
import subprocess
from cases import HP3CTL, HP3D, Base, Wired, run
from harness import Link


def doctor(*args):
    done = subprocess.run([HP3CTL, "--json", "doctor", *args], capture_output=True, text=True)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    for f in found:
        assert f["v"] == 1 and f["why"] and f["severity"] in ("info", "warning", "error"), f
    return done.returncode, found


class Doctor(Base):
    def find(self, d):
        code, found = doctor("--config", d.config)
        self.assertEqual(code, any(f["severity"] != "info" for f in found))
        return found

    def test_found_typed_gone(self):
        rnic, net = Link("r"), Link("n")
        for link in (rnic, net):
            self.addCleanup(link.remove)
        ports = [link.devargs(i, framecnt=32) for i, link in enumerate((rnic, net))]
        d = self.daemon({"rail0": ports}, begin=False)
        self.assertEqual({f["id"] for f in self.find(d)} & {"tx-checksum", "mtu", "frame-size", "link-down", "no-carrier",
                                                            "wmem", "interface", "config", "secret"}, set())
        for broken, id, severity, what in (
                (["ethtool", "-K", rnic.far, "tx", "on"], "tx-checksum", "warning", rnic.far),
                (["ip", "link", "set", net.near, "mtu", "4000"], "mtu", "error", "MTU 4000 of " + net.near),
                (["ip", "link", "set", net.near, "down"], "link-down", "warning", "net = "),
                (["ip", "link", "set", rnic.far, "down"], "no-carrier", "warning", rnic.near),
                (["ethtool", "-K", net.near, "rx-udp-gro-forwarding", "on"], "merged-frames", "warning", net.near),
                (["ethtool", "-K", net.near, "gro", "on"], "gro", "info", net.near)):
            with self.subTest(id=id):
                subprocess.run(broken, check=True, stdout=subprocess.DEVNULL)
                finding, = [f for f in self.find(d) if f["id"] == id]
                self.assertEqual(finding["severity"], severity)
                self.assertIn(what, finding["what"])
                fix = finding["fix"].split(", or: ")[-1]
                subprocess.run(fix, shell=True, check=True, stdout=subprocess.DEVNULL)
                if id == "mtu":  # what fits a buffer is still more than the ring was made for
                    subprocess.run(["ip", "link", "set", net.near, "mtu", "1500"], check=True)
                self.assertNotIn(id, {f["id"] for f in self.find(d)})

    def test_a_host_that_would_be_cut_off(self):
        """hp3d refuses interfaces that the host itself uses, before it attaches anything; own_addresses = accept starts it."""
        rnic, net = Link("r"), Link("n")
        for link in (rnic, net):
            self.addCleanup(link.remove)
        ports = [link.devargs(i) for i, link in enumerate((rnic, net))]
        upper, bridge = f"u{os.getpid()}", f"b{os.getpid()}"
        for uses, free, lost in (
                ([f"addr add 10.77.0.1/24 dev {net.near}"], f"addr flush dev {net.near}", f"{net.near} (address 10.77.0.1)"),
                ([f"route add default dev {rnic.near}"], "route del default", f"{rnic.near} (the default route)"),
                ([f"link add {upper} link {net.near} type macvlan", f"addr add 10.77.1.1/24 dev {upper}", f"link set {upper} up"],
                 f"link del {upper}", f"{net.near} (address 10.77.1.1 of {upper})"),
                ([f"link add {upper} link {net.near} type macvlan", f"link add {bridge} type bridge", f"link set {upper} master {bridge}",
                  f"addr add 10.77.2.1/24 dev {bridge}", f"link set {upper} up", f"link set {bridge} up"],
                 f"link del {bridge}; ip link del {upper}",
                 f"{net.near} (address 10.77.2.1 of {bridge}, {upper} is a port of bridge {bridge})"),
                ([f"link add {bridge} type bridge", f"link set {rnic.near} master {bridge}", f"link set {net.near} master {bridge}"],
                 f"link del {bridge}", f"{rnic.near} ({rnic.near} and {net.near} are ports of bridge {bridge})"),
                ([f"link add {bridge} type bridge", f"link set {net.near} master {bridge}"],
                 f"link del {bridge}", f"{net.near} (a port of bridge {bridge})")):
            with self.subTest(lost=lost):
                for command in uses:
                    subprocess.run(["ip", *command.split()], check=True)
                d = self.daemon({"rail0": ports}, begin=False)
                finding, = [f for f in self.find(d) if f["id"] == "own-addresses"]
                self.assertIn(lost, finding["what"])
                for command, code in ([HP3D, "--check-config", d.config], 2), (d.command, 1):
                    refused = subprocess.run(command, capture_output=True, text=True, timeout=60)
                    self.assertEqual(refused.returncode, code, refused.stderr)
                    self.assertIn(lost, refused.stderr)
                    self.assertIn("own_addresses = accept in [rail.rail0]", refused.stderr)
                    self.assertEqual(refused.stderr.count("would get none"), 1)
                accept = self.daemon({"rail0": ports}, begin=False, **{"rail.rail0": {"own_addresses": "accept"}})
                self.assertNotIn("own-addresses", {f["id"] for f in self.find(accept)})
                accept.begin()
                self.stop(accept.up())
                subprocess.run([HP3D, "--detach", "--config", accept.config], check=True, stdout=subprocess.DEVNULL)
                subprocess.run("ip " + free, shell=True, check=True)
                self.assertNotIn("own-addresses", {f["id"] for f in self.find(d)})

    def test_an_address_of_a_router(self):
        """A lifetime shows that a router may renew the address: the fix ends that, too."""
        rnic, net = Link("r"), Link("n")
        for link in (rnic, net):
            self.addCleanup(link.remove)
        with open(f"/proc/sys/net/ipv6/conf/{net.near}/disable_ipv6", "w") as f:
            f.write("0")
        d = self.daemon({"rail0": [link.devargs(i) for i, link in enumerate((rnic, net))]}, begin=False)
        self.assertNotIn("own-addresses", {f["id"] for f in self.find(d)})  # it is link-local
        for lifetime, command in ("valid_lft forever", f"ip addr flush dev {net.near}"), ("valid_lft 600 preferred_lft 600", None):
            subprocess.run(f"ip addr add 2001:db8:77::1/64 dev {net.near} nodad {lifetime}", shell=True, check=True)
            finding, = [f for f in self.find(d) if f["id"] == "own-addresses"]
            self.assertIn(f"{net.near} (address 2001:db8:77::1)", finding["what"])
            fix = finding["fix"].split(", or use another")[0]
            if command:
                self.assertIn(command, fix)
                subprocess.run(command, shell=True, check=True)
            else:
                typed = re.findall(r"\(([^)]*)\)", fix)
                self.assertEqual(len(typed), 2, fix)
                for command in typed:
                    subprocess.run(command, shell=True, check=True, stdout=subprocess.DEVNULL)
                with open(f"/proc/sys/net/ipv6/conf/{net.near}/accept_ra") as f:
                    self.assertEqual(f.read(), "0\n")
            self.assertNotIn("own-addresses", {f["id"] for f in self.find(d)})

    def refused(self, d, id, *texts):
        """The doctor finds this error, and neither hp3d nor --check-config accepts the configuration."""
        finding, = [f for f in self.find(d) if f["id"] == id]
        self.assertEqual(finding["severity"], "error")
        for command, code in ([HP3D, "--check-config", d.config], 2), (d.command, 1):
            done = subprocess.run(command, capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, code, done.stderr)
            for text in texts:
                self.assertIn(text, done.stderr)
        return finding["fix"]

    def test_interfaces_that_share_a_device(self):
        """A macvlan or an ipvlan gets no frames for others: hp3d refuses it. A macvlan in mode passthru passes the check."""
        rnic, net = Link("r"), Link("n")
        for link in (rnic, net):
            self.addCleanup(link.remove)
        below, net.near = net.near, f"u{os.getpid()}"
        d = self.daemon({"rail0": [link.devargs(i) for i, link in enumerate((rnic, net))]}, begin=False)
        for kind, typed in (("macvlan mode bridge", True), ("macvlan mode private", True), ("macvlan mode passthru nopromisc", True),
                            ("ipvlan mode l2", False), ("ipvlan mode l3", False)):
            with self.subTest(kind=kind):
                made = subprocess.run(f"ip link add {net.near} link {below} type {kind}", shell=True, capture_output=True, text=True)
                if "Unknown device type" in made.stderr:
                    continue  # this kernel has no ipvlan: tests/unit/test_doctor_netlink.c has
                self.assertEqual(made.returncode, 0, made.stderr)
                subprocess.run(["ip", "link", "set", net.near, "up"], check=True)
                name, _, mode = kind.partition(" ")
                fix = self.refused(d, "macvlan", f"{net.near} is a{'n' if name == 'ipvlan' else ''} {name}",
                                   f"in {mode}" if typed else "use " + below)
                if typed:
                    subprocess.run(fix.split(", or: ")[1] + f" && ip link set {net.near} up", shell=True, check=True)
                    self.assertNotIn("macvlan", {f["id"] for f in self.find(d)})
                subprocess.run(["ip", "link", "del", net.near], check=True)

    def test_an_interface_without_ethernet(self):
        link = Link("r")
        self.addCleanup(link.remove)
        tun = f"t{os.getpid()}"
        subprocess.run(["ip", "tuntap", "add", tun, "mode", "tun"], check=True)
        self.addCleanup(subprocess.run, ["ip", "link", "del", tun], check=True)
        for name in tun, "lo":
            d = self.daemon({"rail0": (link.devargs(0), f"net_af_packet1,iface={name}")}, begin=False)
            self.refused(d, "no-ethernet", f"{name} (kind tun) carries" if name == tun else "lo carries")

    def test_a_namespace_with_a_name_that_is_a_command(self):
        """Its other end is in a namespace named "h;id>/tmp/x": the fix names a process of it instead."""
        rnic, net = Link("r"), Link("n")
        for link in (rnic, net):
            self.addCleanup(link.remove)
        inside = subprocess.Popen(["unshare", "-n", "sh", "-c", "echo; exec sleep 60"], stdout=subprocess.PIPE)
        self.addCleanup(inside.communicate)
        self.addCleanup(inside.kill)
        inside.stdout.readline()
        subprocess.run(["ip", "link", "set", rnic.far, "netns", str(inside.pid)], check=True)
        os.makedirs("/run/netns", exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/run/netns"], check=True)
        self.addCleanup(subprocess.run, ["umount", "-R", "/run/netns"], check=True)
        for name in ("h;id", "h id", "h$(id)"):
            with open("/run/netns/" + name, "wb"):
                subprocess.run(["mount", "--bind", f"/proc/{inside.pid}/ns/net", "/run/netns/" + name], check=True)
        d = self.daemon({"rail0": [link.devargs(i) for i, link in enumerate((rnic, net))]}, begin=False)
        down, = [f for f in self.find(d) if f["id"] == "no-carrier"]
        self.assertEqual(down["fix"], f"nsenter -t {inside.pid} -n ip link set {rnic.far} up")
        subprocess.run(down["fix"], shell=True, check=True)
        self.assertNotIn("no-carrier", {f["id"] for f in self.find(d)})

    def test_a_configuration_that_is_none(self):
        d = self.daemon({"rail0": ("net_null0", "net_null1")}, begin=False)
        code, found = doctor("--config", d.config + "x")
        self.assertEqual(code, 1)
        self.assertIn(("config", "error"), [(f["id"], f["severity"]) for f in found])
        with open(d.config, "a") as f:
            f.write("[eal]\nburst = 1000\nburts = 32\n")
        fixes = [f["fix"] for f in doctor("--config", d.config)[1] if f["id"] == "config"]
        self.assertGreater(len(fixes), 1)
        self.assertEqual(set(fixes), {f"hp3d --check-config {d.config}"})
        self.assertEqual(subprocess.run([HP3CTL, "doctor", "more"], capture_output=True).returncode, 2)

    def test_as_a_table(self):
        d = self.daemon({"rail0": ("net_null0", "net_nosuch1")}, begin=False)
        out = subprocess.run([HP3CTL, "doctor", "--config", d.config], capture_output=True, text=True).stdout
        self.assertRegex(out, r"error: driver: \[rail\.rail0\] net = .*\n    why: .*\n    fix: check the name")
        self.assertRegex(out, r"\n\d+ checks, 1 error, \d+ warnings?\n$")


class Passthru(Wired):
    """A macvlan in mode passthru has all frames of its device: traffic passes, and nothing is lost."""

    def setUp(self):
        super().setUp()
        below, self.net.near = self.net.near, f"u{os.getpid()}"
        subprocess.run(f"ip link add {self.net.near} link {below} type macvlan mode passthru", shell=True, check=True)
        subprocess.run(["ip", "link", "set", self.net.near, "up", "arp", "off"], check=True)

    def test_traffic(self):
        d = self.start()
        a, b = self.endpoints()
        a.tell("send 1000")
        d.paired(1)
        self.settle(a)
        self.whole(a, b)
        self.stop(d)


class Running(Wired):
    def test_beside_a_running_hp3d(self):
        """It is asked about its flows' paths; where the port stands for the path nothing is said of hashes."""
        d = self.start()
        a, b = self.endpoints()
        a.tell("send 1000000")
        d.paired(1)
        code, found = doctor("--config", d.config)
        self.assertIn(code, (0, 1))
        self.assertEqual({f["id"] for f in found} & {"config", "polarised", "qpn-hashed", "interface"}, set())
        self.settle(a)
        self.whole(a, b)
        self.stop(d)


if __name__ == "__main__":
    run()
