#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Functions of headers without a caller outside tests.

Every function declared or defined in a header of PRODUCT needs a use in C files other than those of
tests: a call, its address in a table, or a mention in a macro. Calls of a function by itself do not
count. Prints file, line and name of each that has none; exit code 1 if there is one. What is there
for others to use stands in ALLOWED with a reason; an entry that is not needed any more is an offence
too.
"""
import collections
import os
import re
import subprocess
import sys

PRODUCT = ("roce", "probes", "ppp", "rfr", "cc", "engine", "fleet", "config", "sim", "app", "base", "p4-testbed", "xfer")
CALLERS = PRODUCT + ("bench",)
ALLOWED = {
    "hp3_config_parse": "most tests of configurations have texts, and no files",
    "hp3_icrc_use": "every level of the instruction set is tested on one CPU",
    "hp3_isa_name": "as hp3_icrc_use",
    "hp3_isa_use": "as hp3_icrc_use",
    "hp3x_core_path_rails": "the network of the tests' worlds joins the rails of each path",
}

NOISE = re.compile(
    r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.S)
DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(\w+)((?:\\\n|[^\n])*)", re.M)
TOKEN = re.compile(r"[A-Za-z_]\w*|[{}();]")
WORDS = {"if", "for", "while", "switch", "return", "sizeof", "defined", "int", "void", "bool", "char"}


def blank(match):
    """Same number of lines, so that positions keep their line."""
    return " " + "\n" * match.group().count("\n")


def scan(text):
    """Functions declared at file scope as (name, line), and all other names, each with the function
    in whose body it stands (None outside of one)."""
    declared, used = [], []
    text = NOISE.sub(blank, text)
    for directive in DIRECTIVE.finditer(text):
        if directive.group(1) == "define":
            used += [(name, None) for name in re.findall(r"[A-Za-z_]\w*", directive.group(2))]
    text = DIRECTIVE.sub(blank, text)
    braces = parens = 0
    function, first, typedef, statement = None, None, False, True
    line, last = 1, 0
    tokens = list(TOKEN.finditer(text))
    for i, token in enumerate(tokens):
        word = token.group()
        line += text.count("\n", last, token.start())
        last = token.start()
        if word == "{":
            if braces == 0:
                function = first
            braces += 1
        elif word == "}":
            braces -= 1
            if braces == 0:
                function = first = None
                typedef, statement = False, True
        elif word == "(":
            parens += 1
        elif word == ")":
            parens -= 1
        elif word == ";":
            if braces == 0 and parens == 0:
                first, typedef, statement = None, False, True
        else:
            if braces == 0 and statement:
                typedef, statement = word == "typedef", False
            follows = tokens[i + 1].group() if i + 1 < len(tokens) else ""
            plain = text[token.end():tokens[i + 1].start()].strip() == "" if follows else False
            if braces == 0 and parens == 0 and follows == "(" and plain:
                if first is None and not typedef and word not in WORDS and not word.startswith("__"):
                    first = word
                    declared.append((word, line))
            else:
                used.append((word, function))
    return declared, used


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    names = [f"{d}/*.{e}" for d in CALLERS for e in ("c", "h", "def")]
    files = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", *names],
                           capture_output=True, text=True, check=True).stdout.split()
    offered, callers = {}, collections.Counter()
    for name in files:
        if not os.path.exists(name):  # taken out of the tree, not of the index yet
            continue
        with open(name, encoding="utf-8") as f:
            declared, used = scan(f.read())
        if name.endswith(".h") and name.startswith(tuple(d + "/" for d in PRODUCT)):
            for function, line in declared:
                offered.setdefault(function, (name, line))
        callers.update(n for n, function in used if n != function)
    unused = {f for f in offered if callers[f] == 0}
    for function in sorted(unused - set(ALLOWED), key=lambda f: offered[f]):
        print(f"{offered[function][0]}:{offered[function][1]}: {function}: nobody outside tests calls it")
    for function in sorted(set(ALLOWED) - unused):
        print(f"scripts/unused.py: {function}: is called or gone, take it out of ALLOWED")
    return 1 if unused != set(ALLOWED) else 0


if __name__ == "__main__":
    sys.exit(main())
