#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The .p4 and the SWX program describe the same switch: all declarations of one are in the other.

usage: p4_is_swx.py HP3_FABRIC HP3.P4

Reads the P4 text (no P4 compiler is in Debian): header types and instances, deparser order, tables
with keys, match kinds, actions, default and size, action parameters, counters, the meter, constants,
and numbers that the ICMP answers are made of. Then changes one item of the text at a time; the comparison must find each change.
"""
import json
import re
import subprocess
import sys


def strip(text):
    return re.sub(r"//[^\n]*", "", re.sub(r"/\*.*?\*/", "", text, flags=re.S))


def body(text, start):
    """What is between the braces that follow `start`."""
    depth, begin = 0, text.index("{", start)
    for i in range(begin, len(text)):
        depth += {"{": 1, "}": -1}.get(text[i], 0)
        if depth == 0:
            return text[begin + 1:i]
    raise SystemExit("the .p4 has unbalanced braces")


def fields(text):
    return [[n, int(b)] for b, n in re.findall(r"bit<(\d+)>\s+(\w+)\s*[;,]?", text)]


def read_p4(text):
    source, text = text, strip(text)
    types = {m.group(1): fields(body(text, m.start())) for m in re.finditer(r"\bheader\s+(\w+)", text)}
    declared = body(source, source.index("struct headers_t"))
    scratch = set(re.findall(r"(\w+);[^\n]*scratch", declared))
    headers = {n: {"type": t, "scratch": n in scratch, "fields": types[t]}
               for t, n in re.findall(r"(\w+_t)\s+(\w+);", strip(declared))}
    actions = {m.group(1): fields(m.group(2)) for m in re.finditer(r"\baction\s+(\w+)\s*\(([^)]*)\)", text)}
    tables = {}
    for m in re.finditer(r"\btable\s+(\w+)", text):
        part = body(text, m.start())
        key = re.search(r"key\s*=\s*\{([^}]*)\}", part)
        keys = re.findall(r"([\w.]+)\s*:\s*(\w+)\s*;", key.group(1)) if key else []
        tables[m.group(1)] = {
            "key": [k.replace("hdr.", "h.", 1) for k, _ in keys], "match": [kind for _, kind in keys],
            "actions": re.findall(r"(\w+)\s*;", re.search(r"actions\s*=\s*\{([^}]*)\}", part).group(1)),
            "default": re.search(r"default_action\s*=\s*(\w+)", part).group(1),
            "size": int(re.search(r"size\s*=\s*(\d+)", part).group(1))}
    constants = {n: int(v, 0) for n, v in re.findall(r"^#define\s+(\w+)\s+(\w+)\s*$", text, flags=re.M)}
    counters = {n: {"size": constants[s] if s in constants else int(s), "bytes": "bytes" in kind}
                for s, kind, n in re.findall(r"\bcounter\((\w+),\s*CounterType\.(\w+)\)\s*(\w+)", text)}
    assigned = {f"{h}.{f}": int(v, 0) for action in ("answer4", "answer6")
                for h, f, v in re.findall(rf"hdr\.(\w+)\.(\w+)\s*=\s*(\w+);",
                                          body(text, text.index(f"action {action}"))) if v[0].isdigit()
                for h in [f"{action}.{h}"]}
    return {"headers": headers, "actions": actions, "tables": tables, "counters": counters, "constants": constants,
            "emit": re.findall(r"emit\(hdr\.(\w+)\)", text), "answers": assigned,
            "meters": re.findall(r"\bmeter\(1,[^)]*\)\s*(\w+)", text),
            "hashes": sorted(set(re.findall(r"HashAlgorithm\.(crc\d+)", text))),
            "marks": re.findall(r"\|\s*(3|0x300000)\s*;", text)}


def read_swx(text):
    d = json.loads(text)
    code = d["code"]
    answers, label = {}, None
    for line in code:
        if " : " in line:
            label = {"ANSWER4": "answer4", "ANSWER6": "answer6"}.get(line.split()[0], None)
            line = line.split(" : ")[1]
        words = line.split()
        if label and words[0] == "mov" and words[2][0].isdigit() and words[1].startswith("h."):
            answers[f"{label}.{words[1][2:]}"] = int(words[2], 0)
        if words[0] == "jmp":
            label = None
    used = {a for t in d["tables"].values() for a in t["actions"]}
    return {"headers": d["headers"], "actions": {n: a["args"] for n, a in d["actions"].items() if n in used},
            "tables": d["tables"], "counters": d["counters"], "constants": d["constants"],
            "emit": [line.split("h.")[1] for line in code if line.startswith("emit ")], "answers": answers,
            "meters": sorted({line.split()[1] for line in code if line.startswith("meter ")}),
            "hashes": sorted({line.split("hp3_")[1].split()[0] for line in code if "hash hp3_" in line}),
            "marks": [line.split()[-1] for line in code if re.match(r"(\w+ : )?or h\.ipv", line)]}


# Set by update_checksum in P4, by the code in SWX.
SUMS = {"ipv4_outer.checksum", "icmp.checksum"}


def differences(p4, swx):
    found = []
    for what in ("headers", "tables", "counters", "emit", "meters", "hashes"):
        if p4[what] != swx[what]:
            names = set(p4[what]) ^ set(swx[what]) if not isinstance(p4[what], list) else \
                set(map(str, p4[what])) ^ set(map(str, swx[what]))
            if isinstance(p4[what], dict):
                names |= {n for n in set(p4[what]) & set(swx[what]) if p4[what][n] != swx[what][n]}
            found.append(f"{what}: {sorted(names) or 'order'}")
    for name, args in swx["actions"].items():
        if p4["actions"].get(name) != args:
            found.append(f"action {name}: {p4['actions'].get(name)} and {args}")
    for name in set(p4["constants"]) | set(swx["constants"]):
        if p4["constants"].get(name) != swx["constants"].get(name):
            found.append(f"constant {name}")
    if sorted(int(v, 0) for v in p4["marks"]) != sorted(int(v, 0) for v in swx["marks"]):
        found.append("marks")
    for name in set(p4["answers"]) | set(swx["answers"]):
        if name.split(".", 1)[1] not in SUMS and p4["answers"].get(name) != swx["answers"].get(name):
            found.append(f"{name}: {p4['answers'].get(name)} and {swx['answers'].get(name)}")
    return found


BREAKS = [("bit<8>  ttl;", "bit<16> ttl;"), ("hdr.key4.dst: lpm", "hdr.key4.dst: exact"), ("size = 16384", "size = 8192"),
          ("bit<32> kmax,", "bit<16> kmax,"), ("#define DROP_TTL 4", "#define DROP_TTL 5"), ("packet.emit(hdr.l4);", ""),
          ("m.bucket: exact;", ""), ("counter(FLOWS, CounterType.packets_and_bytes) flow;", ""), ("hdr.icmp.type = 11", "hdr.icmp.type = 12"),
          ("hdr.ipv4_outer.ttl = 64", "hdr.ipv4_outer.ttl = 255"), ("default_action = no_ecn();", "default_action = set_ecn();"),
          ("#define BUCKETS 256", "#define BUCKETS 128"), ("bit<24> dest_qpn;", "bit<32> dest_qpn;"), ("| 0x300000", "| 0x100000")]


def main():
    fabric, path = sys.argv[1:]
    with open(path, encoding="utf-8") as f:
        text = f.read()
    swx = read_swx(subprocess.run([fabric, "program"], capture_output=True, text=True, check=True).stdout)
    found = differences(read_p4(text), swx)
    if found:
        sys.exit("the .p4 and the SWX program differ:\n  " + "\n  ".join(found))
    for old, new in BREAKS:
        if old not in text:
            sys.exit(f"this test is out of date: the .p4 has no '{old}'")
        if not differences(read_p4(text.replace(old, new)), swx):
            sys.exit(f"a .p4 with '{new}' in place of '{old}' is not told apart")
    print(f"same switch: {len(swx['tables'])} tables, {len(swx['headers'])} headers; {len(BREAKS)} breaks found")


main()
