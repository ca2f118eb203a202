#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What scripts/times.py and scripts/run-tests.py report about where time was spent.

usage: times.py SOURCE_ROOT
"""
import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest

SCRIPTS = os.path.join(os.path.abspath(sys.argv.pop(1)), "scripts")
sys.path.insert(0, SCRIPTS)
BUSY = "import time\nwhile time.process_time() < {}: pass"


def load(name):
    spec = importlib.util.spec_from_file_location("run_tests", os.path.join(SCRIPTS, name))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Times(unittest.TestCase):
    def table(self, *command):
        """The cells of the row that a command leaves, and its exit code."""
        with tempfile.TemporaryDirectory() as work:
            file = os.path.join(work, "times.md")
            code = subprocess.call([os.path.join(SCRIPTS, "times.py"), "run", file, "what", *command])
            with open(file, encoding="utf-8") as f:
                return [c.strip() for c in f.read().splitlines()[2].split("|")[1:-1]], code

    def test_cpu_of_grandchildren(self):
        """A shell's child works, the shell waits."""
        row, code = self.table("sh", "-c", f"{sys.executable} -c '{BUSY.format(1.6)}'; exit 3")
        self.assertEqual(row[:2], ["what", ""])
        self.assertGreaterEqual(int(row[2]), 2)
        self.assertGreaterEqual(int(row[3]), 2)
        self.assertEqual(code, 3)

    def test_sleep_is_no_cpu(self):
        row, code = self.table("sleep", "1")
        self.assertEqual((row[2:], code), (["1", "0"], 0))

    def test_signals(self):
        self.assertEqual(self.table("sh", "-c", "kill -9 $$")[1], 128 + 9)

    def test_suites(self):
        """A mutation counts as one, any other test in the first of its suites that was named."""
        known = [{"name": "a/x", "cmd": ["/b/x", "1"]}, {"name": "a/mutation_y", "cmd": ["/b/y"]}, {"name": "a/z", "cmd": ["/b/z"]}]
        tests = [{"name": "hp3:check+unit / a/x", "duration": 1.5}, {"name": "hp3:unit+mutation / a/mutation_y", "duration": 2.0},
                 {"name": "hp3:unit / a/z", "duration": 4.0}]
        used = ["1.00 0.50\t/b/x 1\n", "0.25 0.00\t/b/y\n", "3.00 0.00\t/b/z\n", "9.00 0.00\t/b/other\n"]
        by_suite = load("run-tests.py").by_suite
        self.assertEqual(by_suite(tests, known, ["unit", "mutation"], used), [("mutation", 1, 2.0, 0.25), ("unit", 2, 5.5, 4.5)])
        self.assertEqual(by_suite(tests, known, ["unit", "mutation"], []), [("mutation", 1, 2.0, None), ("unit", 2, 5.5, None)])


if __name__ == "__main__":
    unittest.main()
