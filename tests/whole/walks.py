#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Do the functions that docs/internals/walks.md names run, and in that order?

usage: walks.py --files                    C files that the page names
       walks.py TEST_WHOLE MODULE [SEEDS]  runs worlds until they have shown each walk (60 at most)

MODULE is an hp3d that records entries of these functions (walks.c).

A turn is one pass of the lcore's loop, with the functions of a walk that hp3d enters in it, in order; repetitions count once.

A steady packet: a turn has all functions of the page, in its order, and no other of the first two walks.
Other packets: each function is in a turn whose functions have the order of the page.
A move: from the CNP to the judgement, hp3d enters all functions in the order of the page, while no other move begins or ends.
"""
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGE = os.path.join(ROOT, "docs", "internals", "walks.md")
NAMED = re.compile(r"`([\w.-]+/[\w/.-]+\.[ch]):(\w+)\(\)`")
ONCE = {"start_move", "end_move", "take_new_path"}  # once per move


def read_walks():
    """For each walk its steps: lists of (file, function)."""
    walks = []
    with open(PAGE, encoding="utf-8") as f:
        for section in f.read().split("\n## ")[1:]:
            steps = re.split(r"\n\d+\. ", section)[1:]
            walks.append([NAMED.findall(step) for step in steps])
    return walks


def find_addresses(module):
    """Function -> its (file without directory, address); no file: a global one. A function of a header is in several files."""
    found, file = {}, ""
    text = subprocess.run(["readelf", "-sW", module], check=True, capture_output=True, text=True).stdout
    for line in text.splitlines():
        cell = line.split()
        if len(cell) < 8 or not cell[0][:-1].isdigit():
            continue
        if cell[3] == "FILE":
            file = cell[7]
        elif cell[3] == "FUNC" and cell[6] != "UND":
            where = file if cell[4] == "LOCAL" else None
            found.setdefault(cell[7], []).append((where, int(cell[1], 16)))
    return found


def number_functions(walks, module, directory):
    """One number for each function. Writes the addresses for walks.c."""
    numbers, addresses, rows = {}, find_addresses(module), []
    for path, name in sorted({function for walk in walks for step in walk for function in step}):
        file = os.path.basename(path)
        here = {at for where, at in addresses.get(name, []) if file.endswith(".h") or where in (None, file)}
        if not here:
            sys.exit(f"{path}:{name}() is not in {module}")
        numbers[path, name] = len(numbers) + 1
        rows += [f"{at:x} {len(numbers)}\n" for at in sorted(here)]
    with open(os.path.join(directory, "functions"), "w", encoding="ascii") as f:
        f.writelines(rows)
    return numbers


def split_turns(log, functions, first):
    """The turns of the loop, each with its entries of these functions."""
    log = bytes(n for i, n in enumerate(log) if n in functions and (i == 0 or log[i - 1] != n))
    start = log.find(first)
    while start >= 0:
        end = log.find(first, start + 1)
        yield log[start:end if end >= 0 else len(log)]
        start = end


def list_places(turn, page):
    """The place on the page of each function of the turn; None if their order differs."""
    places, at = [], -1
    for n in turn:
        at = page.find(bytes([n]), at + 1)
        if at < 0:
            return None
        places.append(at)
    return places


class Turns:
    """Turns of the loop. `whole`: one turn has all functions."""

    def __init__(self, name, steps, whole, numbers, both):
        self.name, self.whole = name, whole
        self.page = bytes(numbers[function] for step in steps for function in step)
        self.step = [i + 1 for i, step in enumerate(steps) for _ in step]
        self.functions = {numbers[function] for step in both for function in step}
        self.had, self.seen = set(), set()

    def read(self, log):
        for turn in split_turns(log, self.functions, self.page[:1]):
            if turn in self.seen:
                continue
            self.seen.add(turn)
            places = list_places(turn, self.page)
            if places is not None and (not self.whole or len(places) == len(self.page)):
                self.had.update(places)

    def lacks(self):
        return sorted({step for place, step in enumerate(self.step) if place not in self.had})


class Move:
    """From each judgement of a move back, the latest entry of each function."""

    def __init__(self, name, steps, numbers):
        self.name = name
        self.walk = [numbers[function] for step in steps for function in step]
        self.step = [i + 1 for i, step in enumerate(steps) for _ in step]
        self.once = {numbers[function] for step in steps for function in step if function[1] in ONCE}
        self.furthest = len(self.walk)

    def read(self, log):
        end = log.rfind(bytes(self.walk[-1:]))
        while end >= 0 and self.furthest > 0:
            self.go_back(log, end)
            end = log.rfind(bytes(self.walk[-1:]), 0, end)

    def go_back(self, log, at):
        """Sets how many functions of the page are not found before this judgement."""
        end, left = at, len(self.walk) - 1
        while left > 0:
            at = log.rfind(bytes([self.walk[left - 1]]), 0, at)
            if at < 0 or any(log.count(bytes([n]), at, end) > self.walk[left - 1:].count(n) for n in self.once):
                break
            left -= 1
        self.furthest = min(self.furthest, left)

    def lacks(self):
        return [self.step[self.furthest - 1]] if self.furthest > 0 else []


def run_world(args, directory, seed):
    env = dict(os.environ, HP3_WALKS=directory)
    done = subprocess.run(args + ["1", str(seed)], env=env, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stdout + done.stderr)
    for name in sorted(os.listdir(directory)):
        if name != "functions":
            with open(os.path.join(directory, name), "rb") as f:
                yield f.read().rstrip(b"\0")
            os.unlink(os.path.join(directory, name))


def main():
    walks = read_walks()
    if sys.argv[1:] == ["--files"]:
        print("\n".join(sorted({path for walk in walks for step in walk for path, _ in step if path.endswith(".c")})))
        return 0
    if len(sys.argv) < 3 or len(walks) != 3:
        sys.exit(__doc__)
    seeds = int(sys.argv[3]) if len(sys.argv) > 3 else 60
    with tempfile.TemporaryDirectory() as directory:
        numbers = number_functions(walks, sys.argv[2], directory)
        both = walks[0] + walks[1]
        checks = [Turns("a steady packet", walks[0], True, numbers, both), Turns("other packets", walks[1], False, numbers, both),
                  Move("a move", walks[2], numbers)]
        for seed in range(1, seeds + 1):
            for log in run_world(sys.argv[1:3], directory, seed):
                for check in checks:
                    check.read(log)
            if not any(check.lacks() for check in checks):
                print(f"all walks seen within {seed} seeds")
                return 0
    for check in checks:
        for step in check.lacks():
            print(f"{PAGE}: {check.name}: no world of {seeds} enters the functions of step {step} in this order")
    return 1


if __name__ == "__main__":
    sys.exit(main())
