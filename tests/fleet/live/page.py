#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""hp3-fleet's page in headless Chromium: it draws the links, lists the elephants, shows the move, and loads nothing from other servers.

usage: page.py HP3_FLEET HP3_FLEET_AGENTS [SCREENSHOT.png]
"""
import os
import re
import shutil
import subprocess
import sys

from broker import Planner, Server, agents, scratch, wait_for

SKIPPED = 77


def chromium(directory, *args):
    return subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir=" + directory + "/profile",
                           "--virtual-time-budget=3000", *args], capture_output=True, text=True, timeout=120, check=True).stdout


def main():
    fleet, program = sys.argv[1:3]
    if shutil.which("chromium") is None:
        print("skipped: no chromium: install chromium")
        return SKIPPED
    with scratch() as directory:
        server = Server(directory)
        planner = Planner(fleet, directory, server.url)
        url = f"http://127.0.0.1:{planner.port}/"
        wait_for(lambda: planner.metric("leads") == 1, why=planner.said)
        empty = chromium(directory, "--dump-dom", url)
        load = agents(program, directory, server.url, "--collision", "--apply", "--seconds", "300")
        wait_for(lambda: planner.metric("planned_moves_total") == 1, why=planner.said)
        wait_for(lambda: planner.metric("worst_link_kilobits_per_second") == 10_000_000)
        dom = chromium(directory, "--dump-dom", url)
        links = planner.metric("links")
        if len(sys.argv) > 3:
            chromium(directory, "--window-size=1000,760", "--screenshot=" + os.path.abspath(sys.argv[3]), url)
        for p in (load, planner, server):
            p.kill()
    bad = []
    if len(re.findall("<line", dom)) != links or links != 4:
        bad.append(f"{len(re.findall('<line', dom))} lines for {links} links")
    if not re.search("p0 plans, term 1: 8 hosts, 2 flows [(]0 not traced[)], 4 links, .* 1 moves advised", dom):
        bad.append("the summary is not there")
    if len(re.findall(r"<td>h[01]/10\.0\.0\.[01]-10\.0\.0\.[23]/0x000011</td>", dom)) != 3:
        bad.append("two elephants and a move are not there")
    if "20.0 Gb/s" not in dom or "10.0 Gb/s" not in dom:
        bad.append("the move does not say what it is for")
    if not re.search('id="empty">no host reports: start `hp3-fleet', empty) or not re.search('id="empty" hidden', dom) or not re.search('id="map"[^>]* hidden', empty):
        bad.append("an empty map without its reason, or a reason beside a map with links")
    if "the fullest link<b id=\"fullest\"> (10.0 Gb/s)</b>" not in dom:
        bad.append("no legend with the load of the fullest link")
    if not re.search('id="lost" hidden', dom):
        bad.append("it says that nobody answers")
    for b in bad:
        print("page:", b)
    if bad:
        print(dom[-3000:])
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
