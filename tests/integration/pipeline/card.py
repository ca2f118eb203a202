#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Types the commands of the runbook card (docs/guide/operate.md) while packets pass, and finds what the card promises.

A row of the card has a situation, a command, and what one sees: a command and words of its output, each in backquotes.

usage: card.py HP3D HP3CTL RC_ENDPOINT MAKE_CAPTURES SOURCE_ROOT [unittest arguments]
"""
import os
import re
import signal
import subprocess
from cases import HP3CTL, HP3D, SOURCE, Wired, run
from harness import wait_for

SOCKET = "/run/hp3/hp3.sock"
OUT, DEAD, STILL, BACK = range(4)


def rows():
    """(situation, command, command that shows it, words of its output)"""
    with open(os.path.join(SOURCE, "docs/guide/operate.md"), encoding="utf-8") as f:
        card = re.search(r"(?ms)^## Runbook card$(.*?)^## ", f.read()).group(1)
    found = []
    for line in re.findall(r"(?m)^\| (?!situation)(\w.*) \|$", card):
        situation, typed, seen = line.split(" | ")
        show, *words = re.findall(r"`([^`]*)`", seen)
        found.append((situation, *re.findall(r"`([^`]*)`", typed), show, words))
    return found


class Card(Wired):
    def setUp(self):
        super().setUp()
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/run"], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", "/run"], check=True)
        os.mkdir("/run/hp3")
        self.d = self.daemon({"rail0": self.ports()}, begin=False, control={"socket": SOCKET})
        self.d.socket = SOCKET

    def shell(self, command):
        """Other tests run hp3d, too: pidof names only this one."""
        tools = os.path.join(self.d.directory, "bin")
        os.makedirs(tools, exist_ok=True)
        with open(os.path.join(tools, "pidof"), "w", opener=lambda path, flags: os.open(path, flags, 0o755)) as f:
            f.write(f'#!/bin/sh\n[ "$1" = hp3d ] && echo {self.d.process.pid}\n')
        path = [tools, *(os.path.realpath(os.path.dirname(p)) for p in (HP3D, HP3CTL)), os.environ["PATH"]]
        done = subprocess.run(command.replace("PORT", self.net.near), shell=True, text=True, timeout=60,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, "PATH": ":".join(path)})
        return re.sub(r"\s+", " ", done.stdout)

    def type_row(self, row):
        situation, typed, show, words = row
        with self.subTest(situation=situation):
            said = self.shell(typed)
            for word in words:
                wait_for(f"{word} in {show}, after {typed}: {said}", lambda w=word: w in self.shell(show))
            before = self.b.report()["received"]
            wait_for("packets", lambda: self.b.report()["received"] > before + 1000)

    def begin(self):
        self.d.begin()
        self.d.up()
        wait_for("hp3d to take packets", lambda: "through hp3d" in self.d.ctl("health", code=None).stdout)

    def test_each_row(self):
        card = rows()
        self.assertEqual(len(card), 4)
        self.begin()
        self.a, self.b = self.endpoints(timeout=14)
        self.a.tell("send 1000000")
        flow, = self.d.paired(1)
        self.move(self.d, flow, self.port(0))

        self.type_row(card[OUT])
        through = self.d.counters()["packets_tx"]
        self.type_row(card[OUT])
        self.assertEqual(self.d.counters()["packets_tx"], through)
        self.type_row(card[BACK])
        wait_for("packets in hp3d", lambda: self.d.counters()["packets_tx"] > through + 100)

        self.d.paired(1)
        self.move(self.d, flow, self.port(0))
        self.type_row(card[STILL])
        self.assertIn("mode", self.d.ctl("move", flow, "--port", "50000", code=1).stderr)
        self.type_row(card[BACK])

        self.d.process.send_signal(signal.SIGSTOP)  # nobody answers any more
        self.type_row(card[DEAD])
        self.assertEqual(self.d.process.wait(timeout=20), -signal.SIGKILL)
        self.begin()
        self.type_row(card[BACK])
        self.a.kill()
        self.stop(self.d)


if __name__ == "__main__":
    run()
