#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The rooms of engine/ (engine/common.h): who calls whom, and includes what, against the order of rooms; circles of files.

usage: check-rooms.py [--graph]

--graph prints, for each file, the files that it calls. A static function is its file's own affair.
"""
import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROOMS = ["flows", "paths", "moves", "life", "seek", "pass", ""]  # "": engine.c, tick.c, what people ask
COMMON = {"engine/event.c"}  # for all
# Rooms side by side know nothing of each other.
ASIDE = {("life", "seek"), ("seek", "life")}
# What any file may include: types, and what is common to all (data of rooms come with state.h).
TYPES = {"engine/flows/flow.h", "engine/flows/pairs.h", "engine/flows/table.h", "engine/paths/trace.h", "engine/moves/errand.h"}
DEFINED = re.compile(r"^(?!static)[\w*][^;={}\n]*\b(hp3_\w+)\([^;{}]*\)\s*\{", re.M)
USED = re.compile(r"\b(hp3_\w+)\(")
INCLUDED = re.compile(r'#include "(engine/[\w/]+\.h)"')


def room(path):
    parts = path.split("/")
    return parts[1] if len(parts) == 3 else ""


def may_use(user, used):
    return (user, used) not in ASIDE and ROOMS.index(used) <= ROOMS.index(user)


def circle(graph):
    """A path that ends where it begins, or None."""
    done, way = set(), []

    def visit(node):
        if node in way:
            return way[way.index(node):] + [node]
        if node in done:
            return None
        way.append(node)
        for other in sorted(graph[node]):
            found = visit(other)
            if found:
                return found
        done.add(way.pop())
        return None

    for node in sorted(graph):
        found = visit(node)
        if found:
            return found
    return None


def main():
    text, home, bad = {}, {}, []
    for path in sorted(glob.glob("engine/**/*.[ch]", root_dir=ROOT, recursive=True)):
        with open(os.path.join(ROOT, path), encoding="utf-8") as f:
            text[path] = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
    for path in text:
        if path.endswith(".c"):
            home.update(dict.fromkeys(DEFINED.findall(text[path]), path))
    graph = {}
    for path, body in text.items():
        for header in INCLUDED.findall(body):
            if room(header) and header not in TYPES and not may_use(room(path), room(header)):
                bad.append(f"{path} includes {header}, which is of a room above")
        if path.endswith(".c"):
            graph[path] = {home[n] for n in USED.findall(body) if n in home} - {path}
            bad += [f"{path} calls {other}, which is of a room above" for other in sorted(graph[path] - COMMON)
                    if not may_use(room(path), room(other))]
    if "--graph" in sys.argv:
        for path, others in sorted(graph.items()):
            print(f"{path}: {' '.join(sorted(others))}")
    found = circle(graph)
    if found:
        bad.append("files call each other in a circle: " + " -> ".join(found))
    for line in bad:
        print(line)
    if not home or set(map(room, text)) != set(ROOMS):
        print("engine/ has other rooms than this script knows")
        return 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
