#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""hp3d on the testbed has the shipped thresholds, and all times scaled by one factor.

usage: slow_motion.py BUILD
"""
import configparser
import os
import subprocess
import sys
import tempfile

import bench_bed  # noqa: F401 (its path to the testbed's modules)
from testbed import hp3d, tools

SECTIONS = ("ppp", "rfr", "cc", "bypass", "pairing", "policy")
FEW = 12  # keys of [ppp] and [rfr] that are times: it was not nothing that was compared


def read(text):
    c = configparser.ConfigParser(interpolation=None)
    c.read_string(text)
    return c


def whole(hp3d_program, text):
    """A configuration with every key, as hp3d itself reads it."""
    with tempfile.NamedTemporaryFile("w", suffix=".ini") as f:
        f.write(text)
        f.flush()
        done = subprocess.run([hp3d_program, "--check-config", f.name], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return read(text)


def compare(build, program, rate):
    slow, ranges = tools.slowness(rate), hp3d.shipped(build)
    ports = {"rail.rail0": {"rnic": '"net_null0"', "net": '"net_null1"'}}
    ours = whole(program, hp3d.ini(build, ports, rate, {}))
    ships = read(hp3d.dump_all(build))
    at_end, scaled = [], 0
    for section in SECTIONS:
        for key, value in ours[section].items() if ours.has_section(section) else ():
            if (section, key) in (("cc", "rpg_max_rate"), ("policy", "study")):
                continue
            default, least, most, unit = ranges[section][key]
            assert int(ships[section][key]) == default and unit in ("us", "ms", "probes/s", "traces/s", "Mb/s"), (section, key)
            due = default * slow if unit in ("us", "ms") else default / slow
            if int(value) in (least, most):
                at_end.append(f"{section}.{key}")
            else:
                scaled += 1
                assert abs(int(value) - due) <= 0.5, f"{section}.{key} = {value}, {due} is due"
    assert scaled >= FEW, scaled
    print(f"{rate} Mb/s: {scaled} keys x {slow:.0f}; at the end of their range: {' '.join(at_end)}")


def main():
    build = os.path.realpath(sys.argv[1])
    program = tools.binary(build, "hp3d")
    for rate in (50, 40):
        compare(build, program, rate)
    for name in os.listdir(os.path.join(tools.HERE, "scenarios")):
        with open(os.path.join(tools.HERE, "scenarios", name), encoding="utf-8") as f:
            assert not set(read(f.read()).sections()) & set(SECTIONS), f"{name} has thresholds of its own"
    print("slow-motion: holds")


main()
