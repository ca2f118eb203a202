#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The modules of engine/ (engine/common.h), of hp3d, the fleet, and libhp3x: who calls whom, and includes what, against the order of modules;
circles of files.

usage: check-modules.py [--graph]

--graph prints, for each file, the files that it calls. A static function is its file's own affair.
"""
import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BELOW = {"base", "roce", "probes", "ppp", "rfr", "cc"}
ENGINE = ["engine/flows", "engine/paths", "engine/moves", "engine/spray", "engine/life", "engine/search", "engine/pass",
          "engine"]  # the last: engine.c, tick.c, what people ask
HP3D = BELOW | {"engine", "config", "app/dpdk", "app/hp3d/pipe"}
# What each module may use beside itself.
MAY = {module: BELOW | set(ENGINE[:i]) for i, module in enumerate(ENGINE)} | {
    "fleet": {"base"},  # independent of the engine
    "xfer": {"xfer/core"},  # headers: the public one, and provider.h
    "xfer/core": {"base", "xfer"},  # of xfer/: the types of hp3x.h
    "xfer/tcp": {"base", "xfer"},
    "xfer/verbs": {"base", "xfer"},
    "xfer/lib": {"base", "xfer", "xfer/core"},  # providers: by their tables in provider.h
    "xfer/nccl": {"xfer"},
    "xfer/nixl": {"xfer"},
    "app/xfer": {"base", "config", "xfer"},
    "app/bypass": {"app/bpf"},
    "app/control": set(),
    "app/bus": {"base"},
    "app/dpdk": set(),
    "app/fleet": {"base", "config", "fleet", "app", "app/bus"},
    "app/record": set(),
    "app/verbs": set(),  # in the application's process: nothing of hp3d
    "app/watch": BELOW | {"engine", "config", "app/bpf"},
    "app/doctor": BELOW | {"engine", "config"},
    "app/hp3d/pipe": HP3D,
    "app/hp3d/ud": HP3D,
    "app/hp3d/verbs": HP3D | {"app/control", "app/verbs", "app/hp3d/ud"},  # what both ends share: share.h
    "app/hp3d/lcores": HP3D | {"app/bypass", "app/hp3d/verbs"},
    "app/hp3d/keys": HP3D | {"app/hp3d/lcores"},
    "app/hp3d/replay": HP3D,
    "app/hp3d/control": HP3D | {"app/bypass", "app", "app/control", "app/record", "app/watch", "app/hp3d/verbs", "app/hp3d/lcores"},
    "app/hp3d/metrics": HP3D | {"app/bypass", "app/control", "app/hp3d/verbs", "app/hp3d/ud", "app/hp3d/lcores", "app/hp3d/control"},
    "app/hp3d/service": HP3D | {"app/bypass", "app/record", "app/hp3d/lcores"},
    "app/hp3d": HP3D | {"app/bypass", "app/doctor", "app/record", "app/hp3d/verbs", "app/hp3d/keys", "app/hp3d/lcores", "app/hp3d/replay",
                        "app/hp3d/control", "app/hp3d/metrics", "app/hp3d/service"},
}
MAY["engine/search"].remove("engine/life")  # they do not call each other
COMMON = {"engine/event.c"}  # for all
# A search belongs to engine/search, but a command begins one, and the end of a move ends it.
SHARED = {("engine/moves", f"engine/search/{name}") for name in ("begin_end.h", "begin.c", "end.c")}
# What any file of the engine may include: these types, and what is common to all (engine/*.h; data of modules come with state.h).
TYPES = {"engine/flows/flow.h", "engine/flows/pairs.h", "engine/flows/table.h", "engine/paths/trace.h", "engine/search/search_state.h"}
DEFINED = re.compile(r"^(?!static)[\w*][^;={}\n]*\b(hp3(?:[dvx]|xc)?_\w+)\([^;{}]*\)\s*\{", re.M)
USED = re.compile(r"\b(hp3(?:[dvx]|xc)?_\w+)\(")
INCLUDED = re.compile(r'#include "([\w/.-]+/[\w.-]+\.h)"')


def may_use(user, used):
    modules = os.path.dirname(user), os.path.dirname(used)
    return (modules[0], used) in SHARED or modules[0] == modules[1] or modules[1] in MAY[modules[0]]


def may_include(user, header):
    if header in ("app/clock.h", "app/interface.h", "app/memory_text.h", "app/one_line.h", "app/signals.h"):
        return True
    common = header in TYPES or os.path.dirname(header) == "engine"
    return may_use(user, header) or (common and user.startswith("engine/"))


def may_call(user, called):
    """What hp3d calls of the engine is behind the engine's headers; what others call of libhp3x, behind xfer/*.h."""
    behind = user.startswith("app/") and called.startswith("engine/")
    behind = behind or (os.path.dirname(user) not in ("xfer/core", "xfer/lib") and called.startswith("xfer/lib/"))
    return called in COMMON or may_use(user, called) or behind


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
    for path in sorted(glob.glob("engine/**/*.[ch]", root_dir=ROOT, recursive=True) +
                       glob.glob("fleet/*.[ch]", root_dir=ROOT) +
                       [path for path in glob.glob("xfer/**/*.[ch]", root_dir=ROOT, recursive=True) if "/examples/" not in path] +
                       glob.glob("app/xfer/*.[ch]", root_dir=ROOT) +
                       glob.glob("app/bypass/*.[ch]", root_dir=ROOT) +
                       glob.glob("app/bus/*.[ch]", root_dir=ROOT) +
                       glob.glob("app/control/*.[ch]", root_dir=ROOT) +
                       glob.glob("app/fleet/*.[ch]", root_dir=ROOT) +
                       glob.glob("app/record/*.[ch]", root_dir=ROOT) +
                       glob.glob("app/verbs/*.[ch]", root_dir=ROOT) +
                       glob.glob("app/watch/*.[ch]", root_dir=ROOT) +
                       glob.glob("app/doctor/*.[ch]", root_dir=ROOT) + glob.glob("app/dpdk/*.[ch]", root_dir=ROOT) +
                       glob.glob("app/hp3d/**/*.[ch]", root_dir=ROOT, recursive=True)):
        with open(os.path.join(ROOT, path), encoding="utf-8") as f:
            text[path] = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
    if set(map(os.path.dirname, text)) != set(MAY):
        print("engine/, fleet/, xfer/ or app/hp3d/ has other modules than this script knows")
        return 1
    for path in text:
        if path.endswith(".c"):
            home.update(dict.fromkeys(DEFINED.findall(text[path]), path))
    graph = {}
    for path, body in text.items():
        for header in INCLUDED.findall(body):
            if not may_include(path, header):
                bad.append(f"{path} includes {header}, which is of no module below")
        if path.endswith(".c"):
            graph[path] = {home[n] for n in USED.findall(body) if n in home} - {path}
            bad += [f"{path} calls {other}, which is of no module below" for other in sorted(graph[path])
                    if not may_call(path, other)]
    if "--graph" in sys.argv:
        for path, others in sorted(graph.items()):
            print(f"{path}: {' '.join(sorted(others))}")
    # Not within the core, the shell and each provider of libhp3x. In the core, the end of an op, a path or a peer leads to the ends
    # of others; in the shell, an input of the core leads to acts, and these to inputs; an endpoint that is connected sends.
    layers = ("xfer/core/", "xfer/lib/", "xfer/tcp/", "xfer/verbs/")
    found = circle({path: {other for other in others if not other.startswith(layers)} for path, others in graph.items()})
    if found:
        bad.append("files call each other in a circle: " + " -> ".join(found))
    for line in bad:
        print(line)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
