#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The configuration that is installed has every key of hp3-fleet, with its default and what is said of it.

usage: sample.py HP3_FLEET SAMPLE
"""
import subprocess
import sys

FLEET, SAMPLE = sys.argv[1:]


def dump(*options):
    return subprocess.run([FLEET, *options, "--dump-config"], check=True, capture_output=True, text=True).stdout


with open(SAMPLE, encoding="utf-8") as f:
    if not f.read() == dump() == dump("--config", SAMPLE):
        sys.exit(f"{SAMPLE} differs from what hp3-fleet --dump-config prints: {FLEET} --dump-config > {SAMPLE}")
