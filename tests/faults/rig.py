# SPDX-License-Identifier: BSD-3-Clause
"""hp3d-faults between two RNICs by hand, and what it is asked to do while calls of it fail."""
import json
import os
import re
import signal
import socket
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../integration/pipeline"))
from bounds import Peers  # noqa: E402, F401
from frames import LAST  # noqa: E402, F401
from harness import LIBC, Client, Daemon, Link, RawPort, own_namespace, wait_for  # noqa: E402, F401
from page import Page  # noqa: E402, F401

# With more than a few faults several tests run beside each other: hp3d and they may be late.
HOLD_MS = 1000 if os.environ.get("HP3_FAULTS") else 100
os.environ.setdefault("LSAN_OPTIONS", "print_suppressions=0:suppressions=" + os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "lsan.supp"))
BROKEN = re.compile(r"Sanitizer|runtime error:|panic|Assertion|stack smashing|buffer overflow", re.I)


class Rig:
    """One hp3d, from its start on; links and ports are the caller's, since they may be used again."""

    def __init__(self, hp3d, hp3ctl, links, ports, fault=None, posted=None, **sections):
        self.number = 0
        self.left, self.right = ports
        self.sent, self.got = [], []
        for name, text in (("HP3_FAULT", fault), ("HP3_FAULT_POSTED", posted), ("HP3_FAULT_PAGE", None)):
            os.environ.pop(name, None)
            if text is not None:
                os.environ[name] = text
        config = {
            "eal": {"mbufs": 2048, "memory_mb": 64}, "flows": {"max_flows": 256, "max_pairs": 16},
            "rfr": {"hold_packets": 256, "max_hold_us": 1000 * HOLD_MS},
            "control": {"stop_drain_ms": 100, "group": "root"}, "bypass": {"stale_ms": 1000}}
        config["log"] = {"audit": "DIRECTORY/audit.log"}
        for section, keys in sections.items():
            config.setdefault(section, {}).update(keys)
        self.d = Daemon(hp3d, hp3ctl, {"rail0": [link.devargs(i) for i, link in enumerate(links)]}, config, begin=False)
        self.page = Page(os.path.join(self.d.directory, "page"))
        os.environ["HP3_FAULT_PAGE"] = self.page.path
        self.d.begin()

    def close(self):
        self.d.clean_up()
        self.page.close()

    def ended(self):
        return self.d.process.poll() is not None

    def up(self, seconds=20):
        """Has it begun? False: it has ended instead."""
        wait_for("start or end", lambda: self.ended() or "hp3d: ready" in self.d.output(), seconds)
        return not self.ended()

    # --- packets ---

    def take(self, wait=0.0):
        """What has come at the right end goes to got."""
        while (frame := self.right.receive(wait)) is not None:
            if frame[36:38] == b"\x12\xb7" and frame[26:30] == self.peers.a:
                self.got.append(int.from_bytes(frame[51:54], "big"))
            wait = 0.0

    def send(self, n=1, **how):
        for _ in range(n):
            self.sent.append(self.peers.psn)
            self.peers.send(**how)

    def flush(self):
        for port in (self.left, self.right):
            for _ in port.arrived():
                pass
            port.sock.setblocking(True)

    def pair(self):
        """A new flow, which can be moved."""
        self.flush()
        self.number += 1
        self.peers = Peers(self.left, self.right, self.number)
        self.sent, self.got = [], []
        self.peers.pair(self.d)

    def all_came(self, but_for_the_last=False):
        """Everything that was sent has arrived, once and in order."""
        end = time.monotonic() + (0 if but_for_the_last else 10)
        while len(self.got) < len(self.sent) and time.monotonic() < end:
            self.take(0.05)
        self.take(0.01)
        if self.got != self.sent[:len(self.got) if but_for_the_last else None]:
            raise AssertionError(f"sent {self.sent[0]} to {self.sent[-1]}, {len(self.got)} of {len(self.sent)} arrived; "
                                 f"not in order from {self.first_odd()} on")
        self.sent, self.got = [], []

    def first_odd(self):
        return next((f"{b} (instead of {a})" for a, b in zip(self.sent, self.got) if a != b), "the end")

    # --- what is asked of it; patient: with nothing failing, so that everything has to succeed ---

    def ask(self, patient, **request):
        try:
            client = Client(self.d.socket)
        except OSError:
            if patient:
                raise
            return None
        try:
            client.sock.settimeout(10 if patient else 1)
            answer = client.ask(**request)
            if patient and not answer["ok"]:
                raise AssertionError(f"{request}: {answer}")
            return answer
        except (OSError, ValueError):
            if patient:
                raise
            return None
        finally:
            client.close()

    def scrape(self, patient):
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(10 if patient else 1)
            try:
                s.connect(self.d.socket.replace(".sock", "-metrics.sock"))
                s.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
                text = b""
                while (more := s.recv(65536)):
                    text += more
            except OSError:
                if patient:
                    raise
                return
        if patient and b" 200 " not in text.split(b"\r\n")[0]:
            raise AssertionError(text[:200])

    def run(self, patient):
        for cmd in ("health", "stats", "flows", "events", "mode"):
            self.ask(patient, cmd=cmd)
        self.ask(patient, cmd="flow", flow=self.peers.flow)
        self.scrape(patient)
        self.send(2)
        self.peers.ack(self.peers.psn - 1)
        self.take(0.2)

    def begin_move(self, patient):
        """A move of which packets are held, if it was heard."""
        self.send(opcode=LAST, ackreq=1)
        self.take(0.2)
        self.ask(patient, cmd="move", flow=self.peers.flow, random=True)
        closing = self.peers.psn - 1
        self.send(3)
        return closing

    def move(self, patient):
        closing = self.begin_move(patient)
        time.sleep(0.005)
        self.take()
        if patient and len(self.got) == len(self.sent):
            raise AssertionError("nothing was held")
        self.peers.ack(closing)
        self.take(0.2)

    def reload(self, patient):
        def times():
            return len(re.findall(r"^hp3d: (?:reloaded|reload refused)", self.d.output(), re.M))
        before = times()
        with open(self.d.config, encoding="ascii") as f:
            text = f.read()
        with open(self.d.config, "w", encoding="ascii") as f:
            f.write(re.sub(r"stop_drain_ms = \d+", f"stop_drain_ms = {100 + before % 7}", text))
        self.d.process.send_signal(signal.SIGHUP)
        wait_for("an end of the reload", lambda: times() > before or self.ended(), 10)
        if patient and re.findall(r"^hp3d: (reloaded|reload refused)", self.d.output(), re.M)[-1] != "reloaded":
            raise AssertionError("no reload")

    def settled(self):
        """Nothing is held any more, and it answers."""
        def quiet():
            if self.ask(True, cmd="health")["data"]["moves_under_way"] > 0:  # heard late
                self.send(opcode=LAST, ackreq=1)
                self.take(0.2)
                self.peers.ack(self.peers.psn - 1)
                return False
            c = self.ask(True, cmd="stats")["data"]["rail"]["rail0"]
            return c["held_packets"] == c["released"] + c["drop_discarded"]
        for _ in range(2):  # who waited to be accepted has been heard, too
            wait_for("the end of all moves", quiet, 10)
            time.sleep(0.02)

    def sound(self):
        if BROKEN.search(self.d.output()):
            raise AssertionError("it broke")
        if self.ended() and self.d.process.returncode not in (0, 1, 2):
            raise AssertionError(f"it ended with {self.d.process.returncode}")

    def state_file(self):
        """What the next hp3d will read is whole, or there is none."""
        try:
            with open(self.d.socket + ".moved", encoding="ascii") as f:
                json.load(f)
        except FileNotFoundError:
            pass
