#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Words that the glossary (docs/reference/glossary.md) has replaced: none may come back.

usage: check-words.py

Looks at words and parts of names (`lane` in `hp3_lane_up`). Prints file, line, the word and what to write instead.
"""
import re
import subprocess
import sys

# Word: what to write instead, and where the word means something else.
WORDS = {
    "lane": ("EV", "p4-testbed/|tests/(testbed|lab)/|tests/fuzz/(fuzz_fabric|seeds)|tests/unit/test_tm|roce/parse_wide"),
    "errand": ("path search", ""),
    "seek": ("search", ""),
    "urge": ("ACK solicitation", ""),
    "whereabouts": ("flow state", ""),
    "hearsay": ("unauthenticated", ""),
    "mate": ("rack peer", ""),
    "stranger": ("unauthenticated, untrusted", ""),
    "heed": ("apply", "tests/model/"),
}
ORDINARY = re.compile(r"SEEK_(SET|CUR|END)|\blseek\b|\.seek\(|vgetq_lane_u64")
FORMS = {re.compile(rf"(?i)(?<![a-z])({word}(?:s|d|ed|ing|ers?)?)(?![a-z])"): (new, where) for word, (new, where) in WORDS.items()}
BINARY = re.compile(r"\.(cbor|pcap|png|svg|xz|bin)$")


def main():
    bad = 0
    files = subprocess.check_output(("git", "ls-files"), text=True).split()
    for name in files:
        if BINARY.search(name) or name == "scripts/check-words.py":
            continue
        with open(name, encoding="utf-8", errors="replace") as f:
            text = f.read()
        for form, (new, where) in FORMS.items():
            if (where and re.match(where, name)) or not form.search(text):
                continue
            for n, line in enumerate(text.splitlines(), 1):
                hit = form.search(ORDINARY.sub("", line))
                if hit:
                    print(f"{name}:{n}: {hit[1]}: write {new}")
                    bad += 1
    sys.exit(bad != 0)


if __name__ == "__main__":
    main()
