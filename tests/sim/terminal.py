# SPDX-License-Identifier: BSD-3-Clause
"""For tests of hp3-sim's output on a terminal."""
import os
import pty
import subprocess


def on_terminal(args, stream, environment=None):
    """Runs a command, with a terminal as its `stream`: "stdout" or "stderr". Returns the exit code and what the terminal got."""
    ours, theirs = pty.openpty()
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, stream: theirs}
    with subprocess.Popen(args, env=os.environ | (environment or {}), **streams) as p:
        os.close(theirs)
        text = b""
        try:
            while True:
                text += os.read(ours, 4096)
        except OSError:
            os.close(ours)
    return p.returncode, text.decode().replace("\r\n", "\n")


def report(test, bad):
    """Prints a line for each fault. Returns the exit code of the test."""
    for line in bad:
        print(f"{test}: {line}")
    return 1 if bad else 0
