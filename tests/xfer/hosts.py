# SPDX-License-Identifier: BSD-3-Clause
"""Two hosts as network namespaces of the test's own, joined by links, some of which are rails of a fixed rate."""
import json
import os
import subprocess
import time

PATIENCE = 60


def run(*words):
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)


def wait_for(what, check):
    end = time.monotonic() + PATIENCE
    while not check():
        if time.monotonic() > end:
            raise AssertionError(f"{what}: not within {PATIENCE} s")
        time.sleep(0.02)


class Host:
    """A network namespace, held by a process that sleeps."""

    def __init__(self):
        self.holder = subprocess.Popen(("unshare", "-n", "sleep", "infinity"))
        wait_for("the namespace", lambda: os.readlink(f"/proc/{self.holder.pid}/ns/net") != os.readlink("/proc/self/ns/net"))
        self.run("ip", "link", "set", "lo", "up")

    def words(self, *words):
        return ("nsenter", "-t", str(self.holder.pid), "-n", *words)

    def run(self, *words):
        run(*self.words(*words))

    def start(self, *words, **more):
        return subprocess.Popen(self.words(*words), text=True, **more)

    def link(self, link):
        text = subprocess.check_output(self.words("ip", "-j", "-s", "link", "show", link), text=True)
        return json.loads(text)[0]

    def bytes_sent(self, link):
        return self.link(link)["stats64"]["tx"]["bytes"]

    def close(self):
        self.holder.kill()
        self.holder.wait()


def join(a, b, rails, others=()):
    """Links between two hosts: `rails` maps names to Mb/s. Link n has the addresses 10.n.0.1 and 10.n.0.2."""
    for n, link in enumerate((*others, *rails)):
        a.run("ip", "link", "add", link, "type", "veth", "peer", "name", link, "netns", str(b.holder.pid))
        for k, host in enumerate((a, b)):
            host.run("ip", "address", "add", f"10.{n}.0.{k + 1}/24", "dev", link)
            host.run("ip", "link", "set", link, "up")
            if link in rails:
                host.run("tc", "qdisc", "add", "dev", link, "root", "tbf", "rate", f"{rails[link]}mbit", "burst", "256kb", "latency", "100ms")
    for link in (*others, *rails):  # a rail that the kernel has not brought up yet is not found
        wait_for(f"link {link}", lambda link=link: all(host.link(link)["operstate"] == "UP" for host in (a, b)))


def drop_all(host, link):
    """The link stays up, and drops all packets that the host sends: none is as short as the bucket."""
    host.run("tc", "qdisc", "replace", "dev", link, "root", "tbf", "rate", "8kbit", "burst", "10b", "latency", "1ms")
