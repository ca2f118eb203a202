#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Everything of hp3 that a guide or a manual page names is in a package: commands, manual pages, files, pages behind links. Each
program has a manual page and a completion, in its own package.

usage: named.py BUILD
Pages are those of the packages in BUILD (fresh.py).
"""
import collections
import gzip
import os
import re
import sys
import tempfile

from fresh import ROOT, built, check, run, step

# Words in code that look like commands.
OTHER_WORDS = {
    "hp3", "hp3-ideal", "hp3-paper", "hp3-verbs",  # balancers of hp3-sim
    "hp3-metrics", "hp3-sim-results", "hp3d-carry", "hp3ds", "hp3x",  # a manual page, a folder, a process, more than one hp3d, a name of pkg-config
}
# Files that users or hp3d make: never in a package.
MADE_LATER = re.compile(r"/etc/hp3/(nats\.creds|.*\.key)$|/etc/sysctl\.d/60-hp3\.conf$|/etc/hp3/keys$")
# Of the sources, which pages name as such: tests, benchmarks, what lint checks.
SOURCES = ("bench/", "tests/", "scripts/")
PROGRAM = re.compile(r"(?<![\w./@=\"-])(hp3[a-z]*(?:-[a-z]+)*|roce-[a-z]+)(?![\w./@:*-]|-\w)")
MANUAL = re.compile(r"\b((?:hp3|roce)[\w.-]*) ?\((\d)\)")
ABSOLUTE = re.compile(r"(?<![\w$}.~-])(/(?:usr|etc|lib)/[\w./*-]*hp3[\w./*-]*)")
RELATIVE = re.compile(r"(?<![\w./$~-])([a-z][\w-]*(?:/[\w.*-]+)+/?)")


def contents(debs, where):
    """Unpacks the packages; path -> package."""
    owner = {}
    for name, deb in debs.items():
        run("dpkg-deb", "-x", deb, os.path.join(where, name))
        for folder, _, files in os.walk(os.path.join(where, name)):
            for file in files:
                owner["/" + os.path.relpath(os.path.join(folder, file), os.path.join(where, name))] = name
    return owner


def code(page):
    """Code of a page of Markdown: fenced and indented lines, spans."""
    fenced = re.findall(r"(?ms)^```\w*[^\n]*\n(.*?)^```$", page)
    rest = re.sub(r"(?ms)^```.*?^```$", "", page)
    return "\n".join([*fenced, *re.findall(r"(?m)^    .*$", rest), *re.findall(r"`([^`]+)`", rest)])


def plain(page):
    """The text of a manual page."""
    page = re.sub(r'(?m)^\.\\".*$|^\.TH.*$', "", page.replace("\\-", "-").replace("\\&", ""))
    page = re.sub(r"\\f(\([A-Z]{2}|[A-Z])|\\s[+-]?\d", "", page)
    return re.sub(r"(?m)^\.[A-Z]{1,2} ?", "", page).replace('"', "")


def pages(where, owner):
    """(name, text, its code) of guides and manual pages."""
    for path, package in sorted(owner.items()):
        full = os.path.join(where, package + path)
        if re.match(r"/usr/share/doc/hp3/guide/.*\.md$", path):
            with open(full, encoding="utf-8") as f:
                text = f.read()
            yield path, text, code(text)
        elif re.match(r"/usr/share/man/", path):
            with gzip.open(full, "rt", encoding="utf-8") as f:
                text = plain(f.read())
            yield path, text, text


class Missing:
    def __init__(self, owner):
        self.owner, self.found = owner, collections.Counter()
        self.folders = {os.path.dirname(p) for p in owner} | {os.path.dirname(os.path.dirname(p)) for p in owner}
        self.programs = {os.path.basename(p) for p in owner if re.match(r"/usr/s?bin/", p)}
        self.programs |= set(owner.values())  # apt-get install NAME
        self.programs |= {os.path.basename(p)[:-len(".service")] for p in owner if p.endswith(".service")}
        self.manuals = {tuple(os.path.basename(p)[:-3].rsplit(".", 1)) for p in owner if p.startswith("/usr/share/man/")}
        self.texts = []

    def judge(self, kind, page, what, there):
        self.found[kind] += 1
        if not there:
            self.texts.append(f"{page}: {kind} {what}")

    def has(self, path):
        path = path.rstrip("/.").replace("/usr/local/", "/usr/")
        path = re.sub(r"^/usr/lib/(\w+-linux-gnu)/", "/usr/lib/*/", path)
        pattern = re.compile(re.escape(path).replace(r"\*", "[^/]*") + "$")
        return path in self.folders or any(pattern.match(p) for p in (*self.owner, *self.folders))

    def commands(self, page, text):
        for word in sorted(set(PROGRAM.findall(text)) - OTHER_WORDS):
            self.judge("command", page, word, word in self.programs)

    def files(self, page, text, its_code):
        for path in sorted(set(ABSOLUTE.findall(its_code))):
            if not MADE_LATER.search(path):
                self.judge("file", page, path, self.has(path))
        for path in sorted(set(RELATIVE.findall(its_code))):
            there = os.path.exists(os.path.join(ROOT, path)) and not path.startswith("build-")
            if (path.startswith("build/") or there) and not path.startswith(SOURCES):
                # Beside what the packages have: "in a clone, it is `build/...`".
                self.judge("file", page, path, re.search(rf"\b(clone|sources)\b[^.|]{{0,60}}`{re.escape(path)}`", text))

    def links(self, page, text):
        for link in re.findall(r"\]\((?!https?:)([^)#]+)", text):
            path = os.path.normpath(os.path.join(os.path.dirname(page), link))
            of_sources = os.path.normpath(os.path.join("docs/guide", link))
            self.judge("link", page, link, path in self.owner or of_sources.startswith(SOURCES + ("README.md",)))


def judge_programs(missing):
    for path, package in missing.owner.items():
        name = os.path.basename(path)
        if not re.match(r"/usr/s?bin/", path):
            continue
        for kind, pattern in (("manual page", rf"/usr/share/man/man\d/{name}\.\d\.gz"),
                              ("completion", rf"/usr/share/bash-completion/completions/{name}")):
            missing.judge(kind, path, "of its own in " + package,
                          any(re.fullmatch(pattern, p) and of == package for p, of in missing.owner.items()))


def main():
    with tempfile.TemporaryDirectory(prefix=f"hp3-pipeline-{os.getpid()}-", dir="/tmp") as where:  # swept as those of the pipeline's tests
        missing = Missing(contents(built(os.path.abspath(sys.argv[1])), where))
        for page, text, its_code in pages(where, missing.owner):
            missing.commands(page, its_code)
            missing.files(page, text, its_code)
            for name, section in sorted(set(MANUAL.findall(text))):
                missing.judge("manual page", page, f"{name}({section})", (name, section) in missing.manuals)
            if page.endswith(".md"):
                missing.links(page, text)
        judge_programs(missing)
    check(not missing.texts, "in no package:\n" + "\n".join(missing.texts))
    for kind, least in (("command", 60), ("file", 15), ("manual page", 40), ("link", 80), ("completion", 9)):
        check(missing.found[kind] >= least, f"only {missing.found[kind]} of kind {kind} found, of {least} at least")
    step("all in a package: " + ", ".join(f"{kind} {n}" for kind, n in sorted(missing.found.items())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
