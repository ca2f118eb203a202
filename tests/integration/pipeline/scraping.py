# SPDX-License-Identifier: BSD-3-Clause
"""Requests hp3d's metrics and parses the answer."""
import http.client
import os
import re
import socket
import subprocess
import time
from harness import listens, wait_for

OPENMETRICS = "application/openmetrics-text; version=1.0.0"
SAMPLE = re.compile(r'([a-z_:][a-z0-9_:]*)(?:\{((?:[a-z_]+="(?:[^"\\]|\\.)*",?)*)\})? (\S+)')
LABEL = re.compile(r'([a-z_]+)="((?:[^"\\]|\\.)*)"')


def at_rest(count):
    """The least that count() returns within 0.4 s: hp3d has then closed the connections that the test has closed."""
    seen = []
    for _ in range(20):
        seen.append(count())
        time.sleep(0.02)
    return min(seen)


def loopback():
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout=20):
        super().__init__("hp3", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def auto_socket(daemon):
    """Where [metrics] socket = auto is."""
    return daemon.socket.removesuffix(".sock") + "-metrics.sock"


def metrics_socket(daemon):
    """The same, once it is there: a moment after the control socket."""
    path = auto_socket(daemon)
    wait_for("the socket for metrics", lambda: listens(daemon.process, path))
    return path


def ask(where, path="/metrics", method="GET", body=None, **headers):
    """The response, its text read; `where`: a path, or an address and port."""
    connection = UnixConnection(where) if isinstance(where, str) else http.client.HTTPConnection(*where, timeout=20)
    try:
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        response.text = response.read().decode()
        return response
    finally:
        connection.close()


def samples(text):
    """{(name, ((label, value), ...)): value}; a line that is none raises."""
    found = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        match = SAMPLE.fullmatch(line)
        if match is None:
            raise AssertionError("no sample: " + line)
        key = match[1], tuple(sorted(LABEL.findall(match[2] or "")))
        if key in found:
            raise AssertionError("twice: " + line)
        found[key] = float(match[3])
    return found


def value(found, name, **labels):
    """The one sample of this name and these labels, or the sum of those that have these labels."""
    wanted = set(labels.items())
    hits = [v for (n, have), v in found.items() if n == name and wanted <= set(have)]
    if not hits:
        raise AssertionError(f"no {name} {labels}")
    return sum(hits)


def promtool(*args, text=None):
    """What it says; it must find nothing wrong."""
    run = subprocess.run(["promtool", *args], input=text, capture_output=True, text=True, timeout=60)
    if run.returncode != 0 or run.stderr.strip():
        raise AssertionError(f"promtool {' '.join(args)}: {run.returncode}: {run.stdout}{run.stderr}")
    return run.stdout


def make_rnic(root, device, port, state="4: ACTIVE", **counters):
    """An RNIC as sysfs shows it."""
    directory = os.path.join(root, "class/infiniband", device, "ports", port)
    os.makedirs(os.path.join(directory, "hw_counters"), exist_ok=True)
    for name, text in {"state": state, **{"hw_counters/" + k: v for k, v in counters.items()}}.items():
        with open(os.path.join(directory, name), "w") as f:
            f.write(f"{text}\n")
