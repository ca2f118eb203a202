#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""make install puts the configuration where hp3d looks, and replaces none; make uninstall leaves only the configuration.

usage: install.py BUILD
"""
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile

BUILD = sys.argv[1]
LOG = os.path.join(BUILD, "meson-logs", "install-log.txt")  # of an earlier installation, which this test must not forget


def run(*command, **env):
    return subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, **env}).stdout


def files(root):
    return {"/" + os.path.relpath(os.path.join(folder, name), root) for folder, _, names in os.walk(root) for name in names}


def install(root):
    return run("meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", root)


def check(root):
    install(root)
    sbin, = [name for name in files(root) if name.endswith("/sbin/hp3d")]
    ini = re.search(r"run \(default (.*)\)", run(root + sbin, "--help"))[1]
    fleet = os.path.join(os.path.dirname(ini), "fleet.ini")
    assert stat.S_IMODE(os.stat(root + ini).st_mode) == 0o640, ini
    assert stat.S_IMODE(os.stat(root + fleet).st_mode) == 0o644, fleet
    for name, start in (("hp3d", f"hp3d --config {ini}\n"), ("hp3-fleet", f"hp3-fleet --config {fleet} run\n")):
        unit, = [path for path in files(root) if path.endswith(f"/{name}.service")]
        with open(root + unit, encoding="utf-8") as f:
            assert start in f.read(), unit
    with open(root + ini, "a", encoding="utf-8") as f:
        f.write("# edited\n")
    install(root)
    with open(root + ini, encoding="utf-8") as f:
        assert f.read().endswith("# edited\n"), ini
    run("ninja", "-C", BUILD, "uninstall", DESTDIR=root)
    assert files(root) == {ini, fleet}, files(root)


def main():
    with tempfile.TemporaryDirectory() as folder:
        kept = os.path.join(folder, "log")
        if os.path.exists(LOG):
            shutil.copy(LOG, kept)
        try:
            check(os.path.join(folder, "root"))
        finally:
            if os.path.exists(kept):
                shutil.copy(kept, LOG)
            elif os.path.exists(LOG):
                os.remove(LOG)


if __name__ == "__main__":
    main()
