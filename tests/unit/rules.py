#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every rule of docs/internals/rules-*.md that binds the library has a registered unit test named after it.

rules.py RULES.md... TEST.c...   exit code 1, and what is missing, if not so. Rules have the numbers 1 to N without those in
UNUSED, in the order of the pages.

A test's name carries the number as rule_NN_. Only tests that a file hands to cmocka count.
"""
import re
import sys

# Rules that bind programs, not the library; their tests are where the program is.
ELSEWHERE = {
    19: "hand-over by XDP",
    20: "the verbs agent of verbs mode",
    21: "the verbs agent of verbs mode",
    22: "the verbs agent of verbs mode",
    23: "the oracle of tests in the lab",
}

UNUSED = {32}  # of a rule about a feature that is gone; code, tests and commits name the others by their numbers


def main() -> int:
    pages = [path for path in sys.argv[1:] if path.endswith(".md")]
    found: list[int] = []
    for path in pages:
        with open(path, encoding="utf-8") as f:
            found += [int(n) for n in re.findall(r"^(\d+)\. \*\*", f.read(), re.M)]
    rules = set(found)
    tests: dict[int, list[str]] = {}
    bad = []
    expected = [n for n in range(1, len(found) + len(UNUSED) + 1) if n not in UNUSED]
    if found != expected:
        bad.append(f"{', '.join(pages)}: rules {expected} expected, in order, found {found}")
    for path in sys.argv[1:]:
        if path in pages:
            continue
        with open(path, encoding="utf-8") as f:
            text = f.read()
        defined = set(re.findall(r"^static void (\w+)\(void \*\*state\)", text, re.M))
        table = "".join(re.findall(r"struct CMUnitTest \w+\[\] = \{(.*?)\n\t\};", text, re.S))
        listed = set(re.findall(r"\((\w+)\)|cmocka_unit_test_\w+\((\w+),", table))
        listed = {a or b for a, b in listed}
        for name in sorted(defined):
            if name not in listed:
                bad.append(f"{path}: {name} is no registered test: list it in main()")
            elif m := re.match(r"rule_(\d+)", name):
                number = int(m.group(1))
                if not re.match(r"rule_\d\d_", name) or number not in rules:
                    bad.append(f"{path}: {name}: name it rule_NN_..., NN as in docs/internals/rules.md")
                tests.setdefault(number, []).append(name)
    if not rules or not ELSEWHERE.keys() <= rules:
        bad.append(f"{', '.join(pages)}: rules 1 to 23 expected, found {sorted(rules)}")
    for number in sorted(rules - ELSEWHERE.keys() - tests.keys()):
        bad.append(f"rule {number} has no test: add one named rule_{number:02}_...")
    for line in bad:
        print(line)
    if not bad:
        print(f"{len(rules) - len(ELSEWHERE)} rules, {sum(map(len, tests.values()))} tests")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
