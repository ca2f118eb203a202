#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the commands of docs/guide/quickstart.md in order, and compares their output with the
document.

usage: quickstart.py SOURCE_ROOT BUILD_ROOT

Code blocks of the document: the commands of `sh` blocks run in one shell; the last command of a
block must succeed (`sh exit=N`: end with N). A `text` block after it has lines of the output, in
order; a line matches the beginning of an output line, whatever the numbers. `sh build` blocks
are not run (the build exists already), nor are `console` blocks. The shell has its own network
and mount namespaces and its own /run, and its processes end with it.
"""
import glob
import os
import re
import signal
import subprocess
import sys
import tempfile

LIMIT = 60  # seconds; it takes few
CLONE_NEWNS_NEWNET_NEWPID = ["unshare", "-n", "-m", "-p", "--fork", "--kill-child", "--mount-proc"]
FENCE = re.compile(r"^```(\w+) ?([^\n]*)\n(.*?)^```$", re.M | re.S)


def blocks(text):
    """(command text, exit code, expected lines)"""
    found = []
    for kind, rest, body in FENCE.findall(text):
        if kind == "sh" and rest != "build":
            found.append([body, int(rest.partition("=")[2] or 0), []])
        elif kind == "text":
            found[-1][2] += body.splitlines()
        elif kind not in ("sh", "console"):
            raise SystemExit(f"what is ```{kind} for?")
    return found


def pattern(line):
    """Numbers may differ, but for those that are names (addresses, queue pairs) or stand in JSON."""
    parts = re.split(r"(\S*(?:0x|\.\d+\.|rail|h\d|\")\S*|\s+|\d+(?:\.\d+)?)", line)
    out = ""
    for part in parts:
        if re.fullmatch(r"\d+(?:\.\d+)?", part):
            out += r"\d+(?:\.\d+)?"
        elif part and not part.strip():
            out += r"\s+"
        else:
            out += re.escape(part)
    return out


def compare(number, code, want_code, want, output):
    if code != want_code:
        raise SystemExit(f"block {number} ended with {code}, not {want_code}:\n{output}")
    at = 0
    for line in want:
        found = re.compile(pattern(line), re.M).search(output, at)
        if not found:
            raise SystemExit(f"block {number}: there is no line\n  {line}\nbehind those before it, but\n{output}")
        at = found.end()


def main():
    source, build = (os.path.realpath(p) for p in sys.argv[1:3])
    with open(os.path.join(source, "docs", "guide", "quickstart.md"), encoding="utf-8") as f:
        text = f.read()
    with open(os.path.join(source, "Makefile"), encoding="utf-8") as f:
        makefile = f.read()
    for target in re.findall(r"^make (\w+)", text, re.M):
        assert re.search(rf"^{target}:", makefile, re.M), target
    todo = blocks(text)
    with tempfile.TemporaryDirectory(prefix="hp3-quickstart-") as directory:
        os.symlink(build, os.path.join(directory, "build"))
        script = f"mount -t tmpfs none /run && mkdir /run/netns && cd {directory}\n"
        for i, (body, _, _) in enumerate(todo):
            script += f"exec > out.{i} 2>&1\n{body}echo $? > code.{i}\n"
        shell = subprocess.Popen([*CLONE_NEWNS_NEWNET_NEWPID, "bash", "-c", script], start_new_session=True)
        try:
            shell.wait(timeout=LIMIT)
        except (subprocess.TimeoutExpired, KeyboardInterrupt):
            os.killpg(shell.pid, signal.SIGKILL)
            shell.wait()
        for i, (body, want_code, want) in enumerate(todo):
            try:
                with open(os.path.join(directory, f"out.{i}"), encoding="utf-8") as f:
                    output = f.read()
                with open(os.path.join(directory, f"code.{i}"), encoding="utf-8") as f:
                    code = int(f.read())
            except FileNotFoundError:
                for log in sorted(glob.glob(os.path.join(directory, "*.log"))):
                    with open(log, encoding="utf-8") as f:
                        output += f"--- {os.path.basename(log)}\n{f.read()}"
                raise SystemExit(f"block {i} did not end:\n{body}{output}") from None
            compare(i, code, want_code, want, output)
    print(f"{len(todo)} blocks typed, {sum(len(want) for _, _, want in todo)} lines found")


if __name__ == "__main__":
    main()
