#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Pages: relative links and their anchors exist, and so does each docs/... that a file names. Guides
and internals have at most LINES lines, of at most COLUMNS columns outside tables and commands.

usage: check-pages.py [ROOT]
"""
import os
import re
import subprocess
import sys

ROOT = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LINES, COLUMNS = 250, 100
LINK = re.compile(r"\]\(([^)\s]+)\)")
NAMED = re.compile(r"(?<![\w/.-])docs/[\w/-]+(?:\.[\w-]+)*\.(?:md|png|[1-8])\b")


def text_of(path):
    try:
        with open(os.path.join(ROOT, path), encoding="utf-8") as f:
            return f.read()
    except (UnicodeDecodeError, FileNotFoundError):
        return ""


def anchors(path, known={}):
    """As GitHub makes them of headings."""
    if path not in known:
        found, text = [], re.sub(r"^```.*?^```$", "", text_of(path), flags=re.M | re.S)
        for heading in re.findall(r"^#+ (.+)$", text, re.M):
            plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
            base = re.sub(r"[^\w\- ]", "", plain.strip().lower()).replace(" ", "-")
            again = sum(1 for f, _ in found if f == base)
            found.append((base, base + (f"-{again}" if again else "")))
        known[path] = {a for _, a in found}
    return known[path]


def dead_links(page):
    for n, line in enumerate(text_of(page).splitlines(), 1):
        for target in LINK.findall(line):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            full = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
            if not os.path.exists(os.path.join(ROOT, full)):
                yield f"{page}:{n}: {target} is not there"
            elif anchor and anchor not in anchors(full):
                yield f"{page}:{n}: {full} has no heading #{anchor}"


def too_long(page):
    lines, command = text_of(page).splitlines(), False
    if len(lines) > LINES:
        yield f"{page}: {len(lines)} lines, more than {LINES}: a page is about one thing"
    for n, line in enumerate(lines, 1):
        command ^= line.startswith("```")
        if len(line) > COLUMNS and not command and not line.startswith(("|", "    ")):
            yield f"{page}:{n}: more than {COLUMNS} columns"


def main():
    files = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True,
                           text=True).stdout.splitlines()
    bad, links = [], 0
    for path in files:
        text = text_of(path)
        if path.endswith(".md"):
            bad += dead_links(path)
            if path == "docs/README.md" or path.startswith(("docs/guide/", "docs/internals/")):
                bad += too_long(path)
            links += len(LINK.findall(text))
        for n, line in enumerate(text.splitlines(), 1):
            bad += [f"{path}:{n}: {name} is not there" for name in NAMED.findall(line)
                    if not os.path.exists(os.path.join(ROOT, name))]
    if not links:
        bad.append("no page has a link")
    for line in bad:
        print(line)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
