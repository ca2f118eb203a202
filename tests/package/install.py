#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""make install puts the configuration where hp3d looks, and replaces none; bash completes options and commands of all programs;
the last line shows what to type next; make uninstall leaves only the configuration.

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


# Commands of a program, and words that complete a command.
COMMANDS = {
    "hp3-fabric": {"check", "run", "inject"}, "hp3-fleet": {"run", "agent", "order"}, "hp3-sim": {"run", "trace", "keys"},
    "hp3-testbed": {"up", "down", "run", "degrade"}, "hp3ctl": {"flows", "doctor", "mode"}}
BEHIND = {("hp3-sim", "run"): {"all", "micro-collision"}, ("hp3ctl", "mode"): {"on", "off", "observe"}}
COMPLETE = """
source "$1"; shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
read -ra how < <(complete -p "${1##*/}") # complete ... -F FUNCTION PROGRAM
"${how[-2]}" "$1" "${!#}" "${@: -2:1}"
printf '%s\n' "${COMPREPLY[@]}"
"""


def completed(root, program, *words):
    """What bash offers behind these words of a command line, of which the last may be the beginning of a word."""
    script = f"{root}/usr/local/share/bash-completion/completions/{os.path.basename(program)}"
    return set(run("bash", "-c", COMPLETE, "bash", script, program, *words).split())


def check_completions(root):
    programs = [root + name for name in files(root) if re.search(r"/s?bin/", name)]
    assert len(programs) == 11, programs
    for program in programs:
        name = os.path.basename(program)
        options = set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]+", run(program, "--help")))
        assert options or name == "hp3-fabric", name
        assert completed(root, program, "--") >= options - {"--help", "--version"}, (name, options - completed(root, program, "--"))
        assert completed(root, program, "") >= COMMANDS.get(name, set()), (name, completed(root, program, ""))
        if name in COMMANDS and name != "hp3ctl":
            told = run(program, "--help")
            assert all(re.search(rf"\b{word}\b", told) for word in completed(root, program, "")), (name, told)
    for (name, command), words in BEHIND.items():
        program, = [p for p in programs if p.endswith("/" + name)]
        assert completed(root, program, command, "") >= words, (name, command)
    trace = completed(root, root + "/usr/local/bin/hp3-sim", "trace", "--")
    assert trace >= {"--topology", "--flows"}, trace


def check_last_line(said):
    """The last script of an installation prints what to type next, but not where a package is made."""
    script = re.findall(r"Running custom install script '?(\S+?)'?$", said, re.M)[-1]
    assert script.endswith("/next-step.sh"), script
    assert run(script, DESTDIR="/x") == "", script
    assert re.fullmatch(r"hp3: next, type: .*hp3ctl doctor\n", run(script, DESTDIR="")), script


def check(root):
    check_last_line(install(root))
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
    check_completions(root)
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
