# SPDX-License-Identifier: BSD-3-Clause
"""Actions on hp3d and its network in a soak: each action is a method, drawn by weight."""
import contextlib
import os
import re
import signal
import socket
import subprocess
import time

from testbed import bed as beds
from testbed import tools

HANG_S = (0.1, 1.5)
RELOADABLE = {"rfr": {"cooldown_us": ("100000", "200000", "400000")}, "eal": {"idle_sleep_us": ("100", "200")},
              "ppp": {"improve": ("70", "80"), "probe": ("auto", "peer")},
              "filter": {"dscp": ('""', '"0-63"', '""', '"46"')}}  # the last one bars all flows here


class Bed(beds.Bed):
    """Each host has one mount namespace for all its hp3ds: what one pins, the next one finds, as on a machine."""

    def spawn(self, what, who, words, **kw):
        if not what.startswith("hp3d-"):
            return super().spawn(what, who, words, **kw)
        keeper = self.recorded(f"mounts-{who}")
        if not tools.alive(keeper):
            super().spawn(f"mounts-{who}", who, ["sh", "-c", "mount -t bpf bpf /sys/fs/bpf && touch $0 && exec sleep infinity",
                                                 self.path(f"mounts-{who}")])
            keeper = self.recorded(f"mounts-{who}")
            while not os.path.exists(self.path(f"mounts-{who}")):
                time.sleep(0.02)
        with open(self.path(what + ".log"), "ab") as log:
            process = subprocess.Popen(["nsenter", "-t", str(keeper["pid"]), "-m", "-n", *words], stdin=subprocess.DEVNULL,
                                       stdout=log, stderr=log, start_new_session=True, preexec_fn=tools.ahead, **kw)
        self.record(what, process)
        return process


class Deeds:
    """`spared`: a host whose hp3d is neither stopped nor killed: what it holds must not grow over all the time."""
    WEIGHTS = {"move": 30, "home": 4, "reload": 8, "bad_reload": 2, "mode": 4, "bypass": 3, "stop": 3, "kill": 3, "hang": 4,
               "loss": 3, "black_hole": 2, "link_down": 2, "slow_link": 3, "clients": 3}

    def __init__(self, bed, plan, rng, spared, chosen, seed):
        self.bed, self.rng, self.spared, self.chosen, self.seed = bed, rng, spared, chosen, seed
        self.hosts = {h["name"]: h for h in plan["hosts"]}
        self.links = {link["name"]: link for link in plan["links"] if link["name"].split("-")[1].startswith("s")}
        self.plan, self.done, self.idle = plan, dict.fromkeys(self.WEIGHTS, 0), []

    def one(self):
        """One deed: what was done, as a line."""
        name, = self.rng.choices(list(self.WEIGHTS), list(self.WEIGHTS.values()))
        host = self.rng.choice(sorted(self.hosts))
        self.done[name] += 1
        return f"{host} {name} {getattr(self, name)(host) or ''}".rstrip()

    def undo(self):
        """No fault is left, and every hp3d does what its file says."""
        for link in self.links:
            self.heal(link)
        for host in self.hosts:
            self.reloaded(host, lambda old: re.sub(r"(?m)^dscp = .*$", 'dscp = ""', old), "hp3d: reloaded")
            self.ctl(host, "mode", "on")
            self.ctl(host, "bypass", "auto")
        for s in self.idle:
            s.close()
        self.idle = []

    # -- hp3d -------------------------------------------------------------------------------

    def pid(self, host):
        return self.bed.recorded(f"hp3d-{host}")["pid"]

    def ctl(self, host, *words):
        return subprocess.run([tools.binary(self.bed.build, "hp3ctl"), "--socket", self.bed.path(host + ".sock"), *words],
                              capture_output=True, text=True, check=False, timeout=60)

    def log(self, host):
        with open(self.bed.path(f"hp3d-{host}.log"), encoding="utf-8") as f:
            return f.read()

    def wait(self, what, check, seconds=30):
        end = time.monotonic() + seconds
        while not check():
            if time.monotonic() > end:
                raise AssertionError(f"{what}: not within {seconds} s")
            time.sleep(0.02)

    def another(self, host):
        """A host whose hp3d may end."""
        return host if host != self.spared else self.rng.choice(sorted(set(self.hosts) - {self.spared}))

    def move(self, host):
        return self.ctl(host, "move", "--all", "--random").stdout.strip().split("\n")[-1]

    def home(self, host):
        return self.ctl(host, "move", "--all", "--home").stdout.strip().split("\n")[-1]

    def reloaded(self, host, text, says):
        path, before = self.bed.path(host + ".ini"), self.log(host).count(says)
        with open(path, encoding="ascii") as f:
            old = f.read()
        with open(path + ".new", "w", encoding="ascii") as f:
            f.write(text(old))
        os.replace(path + ".new", path)
        os.kill(self.pid(host), signal.SIGHUP)
        self.wait(f"{host}: \"{says}\"", lambda: self.log(host).count(says) > before)
        return path, old

    def reload(self, host):
        section = self.rng.choice(sorted(RELOADABLE))
        key = self.rng.choice(sorted(RELOADABLE[section]))
        value = self.rng.choice(RELOADABLE[section][key])

        def changed(old):
            old = re.sub(rf"(?m)^{key} = .*\n", "", old)
            if f"[{section}]\n" not in old:
                old += f"[{section}]\n"
            return old.replace(f"[{section}]\n", f"[{section}]\n{key} = {value}\n")
        self.reloaded(host, changed, "hp3d: reloaded")
        return f"{section}.{key} = {value}"

    def bad_reload(self, host):
        path, old = self.reloaded(host, lambda old: old + "[rfr]\nhold_packets = none\n", "hp3d: reload refused")
        with open(path, "w", encoding="ascii") as f:
            f.write(old)

    def mode(self, host):
        mode = self.rng.choice(("off", "observe", "on", "on"))
        self.ctl(host, "mode", mode)
        return mode

    def bypass(self, host):
        how = self.rng.choice(("on", "off", "auto", "auto"))
        self.ctl(host, "bypass", how)
        return how

    def start(self, host):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.bed.path(host + ".sock"))
        h = self.hosts[host]
        self.bed.start_hp3d(h, self.plan, self.chosen, self.seed)
        self.bed.await_hp3d(h)

    def ended(self, host, sig):
        host = self.another(host)
        pid = self.pid(host)
        os.kill(pid, sig)
        _, status = os.waitpid(pid, 0)
        code = os.waitstatus_to_exitcode(status)
        if code != (0 if sig == signal.SIGTERM else -sig):
            raise AssertionError(f"hp3d of {host} ended with {code}: {self.log(host)[-2000:]}")
        time.sleep(self.rng.uniform(0, 0.5))
        self.start(host)
        return host

    def stop(self, host):
        return self.ended(host, signal.SIGTERM)

    def kill(self, host):
        return self.ended(host, signal.SIGKILL)

    def hang(self, host):
        seconds = self.rng.uniform(*HANG_S)
        os.kill(self.pid(host), signal.SIGSTOP)
        time.sleep(seconds)
        os.kill(self.pid(host), signal.SIGCONT)
        return f"{seconds:.1f} s"

    def clients(self, host):
        """Some that say nothing, one that says nonsense, one that leaves in the middle of an answer."""
        for said in (b"", b"", b'{"cmd":', b"[" * 5000 + b"\n", b'{"cmd":"stats","explain":true}\n'):
            s = socket.socket(socket.AF_UNIX)
            s.settimeout(5)
            s.connect(self.bed.path(host + ".sock"))
            with contextlib.suppress(OSError):
                s.sendall(said)
            self.idle.append(s)
        for s in self.idle[:-10]:
            s.close()
        self.idle = self.idle[-10:]

    # -- its network ------------------------------------------------------------------------

    def ask(self, command, **args):
        control = self.bed.fabric()
        try:
            control.ask(command, **args)
        finally:
            control.close()

    def heal(self, link):
        self.ask("restore", link=link, reroute_ms=0)
        self.ask("degrade", link=link, loss_ppm=0, percent=0, rate_mbps=self.links[link]["rate_mbps"],
                 delay_us=self.links[link]["delay_us"])

    def broken(self, command, seconds, **args):
        link = self.rng.choice(sorted(self.links))
        self.ask(command, link=link, **args)
        time.sleep(seconds)
        self.heal(link)
        return link

    def loss(self, _):
        return self.broken("degrade", 2, loss_ppm=self.rng.choice((1000, 5000, 20000)))

    def black_hole(self, _):
        return self.broken("blackhole", 2, percent=self.rng.choice((20, 100)))

    def link_down(self, _):
        """Routes do not follow: hashes stay, and with them the order of what the switches forward."""
        return self.broken("fail", 1, reroute_ms=-1)

    def slow_link(self, _):
        return self.broken("degrade", 5, rate_mbps=10)
