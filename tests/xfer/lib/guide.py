#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compiles the function of docs/guide/transfer.md, and types the page's commands that compile and start an example.

usage: guide.py SOURCE_ROOT LIBHP3X
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE, LIBHP3X = map(os.path.abspath, sys.argv[1:3])
FLAGS = f"-I{SOURCE}/xfer {LIBHP3X} -Wl,-rpath,{os.path.dirname(LIBHP3X)}"  # in place of those for the installed library


def main():
    with open(os.path.join(SOURCE, "docs/guide/transfer.md"), encoding="utf-8") as f:
        page = f.read()
    function, = re.findall(r"(?m)^```c\n(.*?)^```$", page, re.S)
    commands, = re.findall(r"(?m)^ {4}cd .*\n {4}cc .*\n(?: {4}.*\n)*", page)
    assert commands.count("$(pkg-config --cflags --libs hp3x)") == 1
    with tempfile.TemporaryDirectory() as work:
        shutil.copytree(os.path.join(SOURCE, "xfer/examples"), os.path.join(work, "xfer/examples"))
        shutil.copy(os.path.join(SOURCE, "xfer/hp3x.h"), os.path.join(work, "xfer"))
        with open(os.path.join(work, "write.c"), "w", encoding="utf-8") as f:
            f.write(function)
        subprocess.run(["cc", "-Wall", "-Wextra", "-Werror", "-c", "write.c", f"-I{SOURCE}/xfer"], cwd=work, check=True)
        typed = commands.replace("$(pkg-config --cflags --libs hp3x)", FLAGS)
        said = subprocess.run(["bash", "-ec", typed], cwd=work, check=True, stdout=subprocess.PIPE, text=True).stdout
        assert said == "right\n", said


if __name__ == "__main__":
    main()
