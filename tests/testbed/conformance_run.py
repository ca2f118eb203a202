# SPDX-License-Identifier: BSD-3-Clause
"""Packets through single switches: hp3-fabric inject."""
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.realpath(__file__))


def inject(fabric, topology, requests):
    path = os.path.join(HERE, "topo", topology + ".ini")
    done = subprocess.run([fabric, "inject", path], input="".join(json.dumps(r) + "\n" for r in requests),
                          capture_output=True, text=True, check=False, timeout=120)
    if done.returncode != 0:
        sys.exit(f"hp3-fabric inject: {done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines()]
