#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""hp3ctl watch on a pseudo-terminal: the test checks the screen's contents. hp3d has the default
configuration.

usage: screen.py HP3D HP3CTL RC_ENDPOINT MAKE_CAPTURES SOURCE_ROOT [unittest arguments]
"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
import pyte
from cases import HP3CTL, Wired, run
from harness import die_with_parent, wait_for

QPS = 6


class Terminal:
    """A program on a terminal of its own, and what that shows."""

    def __init__(self, words, columns=150, lines=24):
        self.master, slave = pty.openpty()
        self.screen = pyte.Screen(columns, lines)
        self.stream = pyte.ByteStream(self.screen)
        self.bytes = b""
        self.set_size(columns, lines)
        self.before = termios.tcgetattr(slave)
        self.process = subprocess.Popen(words, stdin=slave, stdout=slave, stderr=slave, preexec_fn=self.child,
                                        env={**os.environ, "TERM": "linux"})
        self.slave = slave

    @staticmethod
    def child():
        die_with_parent()
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    def set_size(self, columns, lines):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def resize(self, columns, lines):
        self.screen.resize(lines, columns)
        self.set_size(columns, lines)  # the kernel tells the foreground process

    def press(self, keys):
        os.write(self.master, keys.encode())

    def read(self, seconds=0.05):
        end = time.monotonic() + seconds
        while select.select([self.master], [], [], max(0, end - time.monotonic()))[0]:
            try:
                data = os.read(self.master, 65536)
            except OSError:
                break
            self.bytes += data
            self.stream.feed(data)
        return [line.rstrip() for line in self.screen.display]

    def shows(self, what, check):
        """The lines, once they are as they should be; a screen may be read half drawn, and lack rows."""
        def good():
            lines = self.read()
            try:
                return lines if check(lines) else None
            except IndexError:
                return None
        try:
            return wait_for(what, good)
        except AssertionError as e:
            raise AssertionError(f"{e}\n" + "\n".join(self.read())) from None

    def ended(self):
        def over():
            self.read()
            return self.process.poll() is not None
        wait_for("the end", over)
        self.read()  # what it wrote after the last read
        return self.process.returncode

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.master)
        os.close(self.slave)


class Screen(Wired):
    def setUp(self):
        super().setUp()
        self.d = self.daemon({"rail0": self.ports()}, defaults=True).up()
        self.a, self.b = self.endpoints(qps=QPS)
        self.a.tell("send 1000000")
        self.flows = sorted(self.d.paired(QPS))

    def watch(self, *words, **size):
        t = Terminal([HP3CTL, "--socket", self.d.socket, "watch", "--interval", "200", *words], **size)
        self.addCleanup(t.close)
        return t

    @staticmethod
    def rows(lines):
        return [line for line in lines[2:-1] if line]

    def clean(self, t):
        """The terminal is as it was: its modes, its cursor, its own screen."""
        self.assertEqual(termios.tcgetattr(t.slave), t.before)
        self.assertIn(b"\x1b[?25h", t.bytes)

    def test_keys_and_sizes(self):
        t = self.watch()
        lines = t.shows("all flows with rates", lambda ls: len(self.rows(ls)) == QPS and
                        all(re.search(r"/0x0002\d\d +\d+\.\d", row) for row in self.rows(ls)))
        self.assertRegex(lines[0], r"^hp3 mode on, 6 flows, sorted by rate")
        self.assertRegex(lines[1], r"^FLOW .* Mb/s +RTT us +MARKED +STATE +PORT +MOVES +PATH +LAST DECISION$")
        self.assertTrue(lines[-1].startswith("q quit"))

        for _ in range(3):
            self.d.move(self.flows[4], "--port", str(self.port(1)))
        self.d.move(self.flows[2], "--port", "59001")
        while "sorted by moves" not in t.read(0.3)[0]:
            t.press(">")
        t.shows("most moves first", lambda ls: self.rows(ls)[0].startswith(self.flows[4]) and
                self.rows(ls)[1].startswith(self.flows[2]))
        t.shows("why", lambda ls: re.search(r"\d s ago: switch operator moved \d+ > 59001", self.rows(ls)[1]))
        t.press("r")
        t.shows("the other way round", lambda ls: self.rows(ls)[-1].startswith(self.flows[4]))

        t.press("/moves>0")
        t.shows("what is typed", lambda ls: ls[-1] == "filter: moves>0_")
        self.assertEqual(len(self.rows(t.read())), QPS)
        t.press("\n")
        t.shows("only those that moved", lambda ls: sorted(row.split()[0] for row in self.rows(ls)) ==
                sorted((self.flows[2], self.flows[4])) and "with moves>0" in ls[0])
        t.press("/" + "\x7f" * 7 + "rtr>5\n")
        t.shows("what is wrong with it", lambda ls: "did you mean rtt?" in ls[-1])
        t.press("/" + "\x7f" * 5 + "\n")
        t.shows("all again", lambda ls: len(self.rows(ls)) == QPS)

        t.resize(60, 7)
        lines = t.shows("as much as fits", lambda ls: "1 to 4" in ls[0] and len(ls) == 7 and len(self.rows(ls)) == 4)
        self.assertNotIn("LAST", lines[1])
        self.assertTrue(all(len(line) <= 60 for line in lines))
        t.press("jj")
        t.shows("the rest", lambda ls: "3 to 6" in ls[0])
        for size in ((20, 2), (1, 1), (200, 40)):
            t.resize(*size)
            t.read(0.3)
        lines = t.shows("all of it", lambda ls: len(ls) == 40 and len(self.rows(ls)) == QPS and "LAST DECISION" in ls[1])
        t.press("q")
        self.assertEqual(t.ended(), 0)
        self.clean(t)
        self.settle(self.a)
        self.whole(self.a, self.b)
        self.stop(self.d)

    def test_interrupted_and_left_alone(self):
        t, other = self.watch(), self.watch()
        for each in (t, other):
            each.shows("flows", lambda ls: len(self.rows(ls)) == QPS)
        t.press("\x03")
        self.assertEqual(t.ended(), 0)
        self.clean(t)
        # hp3d goes away, and comes back.
        self.settle(self.a)
        self.stop(self.d)
        lines = other.shows("that it is gone", lambda ls: "no hp3d answers" in ls[-1] or "was lost" in ls[-1])
        other.shows("that it is gone still", lambda ls: "no hp3d answers" in ls[-1])
        self.assertEqual(len(self.rows(lines)), QPS)
        self.d.begin()
        other.shows("the next one", lambda ls: ls[0].startswith("hp3 mode on") and ls[-1].startswith("q quit"))
        other.process.send_signal(signal.SIGTERM)
        self.assertEqual(other.ended(), 0)
        self.clean(other)
        # No terminal: lines.
        for words in ([], ["--plain"]):
            plain = subprocess.Popen([HP3CTL, "--socket", self.d.socket, "watch", "--interval", "50", *words],
                                     stdout=subprocess.PIPE, text=True, preexec_fn=die_with_parent)
            line = plain.stdout.readline()
            plain.kill()
            plain.wait()
            plain.stdout.close()
            self.assertRegex(line, r"^FLOW .* PORT .* STATE ")
        self.stop(self.d)


if __name__ == "__main__":
    run()
