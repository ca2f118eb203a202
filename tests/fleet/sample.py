#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The installed configuration has every key of hp3-fleet, with default and description. If a
configuration has a password, neither its dump nor an error message shows the password.

usage: sample.py HP3_FLEET SAMPLE
"""
import os
import subprocess
import sys
import tempfile

FLEET, SAMPLE = sys.argv[1:]


def dump(*options):
    return subprocess.run([FLEET, *options, "--dump-config"], check=True, capture_output=True, text=True).stdout


with open(SAMPLE, encoding="utf-8") as f:
    if not f.read() == dump() == dump("--config", SAMPLE):
        sys.exit(f"{SAMPLE} is not what hp3-fleet --dump-config prints")


def said_of(*lines):
    """All that hp3-fleet says of such a file when it is asked for a dump."""
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "fleet.ini")
        with open(path, "w", encoding="utf-8") as out:
            out.write("[fleet]\n" + "\n".join(lines) + "\n")
        done = subprocess.run([FLEET, "--config", path, "--dump-config"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return done.stdout


URL = 'nats://Us3r:S3cret@h:4222,nats://T0ken@g:4222'
dumped = said_of(f'servers = "{URL}"')
if '\n# servers = "nats://***@h:4222,nats://***@g:4222" (set, and *** not shown)\n' not in dumped or "[alarms]" not in dumped:
    sys.exit("the dump does not say that servers is set:\n" + dumped)
WRONG = {"misspelt": [f'server = "{URL}"'], "twice": [f'servers = "{URL}"'] * 2, "no quote": [f'servers = "{URL}'],
         "no key": [f'servers "{URL}"'], "too long": [f'servers = "{URL},' + "x" * 600 + '"'], "control": [f'servers = "{URL}\x1b[2J"'],
         "elsewhere": ["[map]", f'servers = "{URL}"'], "too long a line": [f'servers = "{URL},' + "x" * 2000 + '"']}
for name, text in {"dump": dumped, **{name: said_of(*lines) for name, lines in WRONG.items()}}.items():
    if "S3cret" in text or "T0ken" in text or "Us3r" in text or "\x1b" in text:
        sys.exit(f"{name}: a password is shown, or a terminal obeys it:\n{text}")
    if name != "dump" and "***@" not in text:
        sys.exit(f"{name}: nothing of it is shown:\n{text}")
