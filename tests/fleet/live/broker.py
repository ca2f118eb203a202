# SPDX-License-Identifier: BSD-3-Clause
"""Starts NATS servers, hp3-fleet and simulated hosts; all of them end with the test."""
import base64
import contextlib
import ctypes
import inspect
import itertools
import json
import os
import signal
import socket
import subprocess
import tempfile
import threading
import time
import urllib.request

# Everything ten times and more as fast as it ships.
QUICK = """
[fleet]
servers = "{servers}"
name = {name}
listen = "{listen}"
keepalive_ms = 100
takeover_ms = 400
{extra}
[plan]
interval_ms = 100
valid_ms = {valid_ms}
{plan}
"""


def die_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


# Below the kernel's ephemeral ports: a client may get one of those while a server is away. Each process begins elsewhere.
NUMBERS = itertools.count(20000 + os.getpid() % 300 * 40)


def free_port():
    while True:
        port = next(NUMBERS)
        with socket.socket() as s, contextlib.suppress(OSError):
            s.bind(("127.0.0.1", port))
            return port


def wait_for(what, seconds=15, why=None):
    """The first true value of what(). why(): what to print if there is none."""
    end = time.monotonic() + seconds
    while True:
        got = what()
        if got:
            return got
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds} s: {inspect.getsource(what).strip()}\n{why() if why else ''}")
        time.sleep(0.02)


class Process:
    def __init__(self, args, log):
        self.log = log
        with open(log, "ab") as out:
            self.process = subprocess.Popen(args, stdout=subprocess.PIPE, stderr=out, preexec_fn=die_with_parent)

    def kill(self, sig=signal.SIGKILL):
        if self.process.poll() is None:
            self.process.send_signal(sig)
        self.process.stdout.close()
        return self.process.wait(timeout=20)

    def said(self):
        with open(self.log, encoding="utf-8", errors="replace") as f:
            return f.read()


class Server(Process):
    """A NATS server; start() again after kill()."""

    def __init__(self, directory, name="n", cluster=None, config="", port=None):
        self.port, self.monitor = port or free_port(), free_port()
        self.url = f"nats://127.0.0.1:{self.port}"
        self.file = os.path.join(directory, f"{name}.conf")
        self.name, self.directory = name, directory
        with open(self.file, "w", encoding="utf-8") as f:
            f.write(f'listen: "127.0.0.1:{self.port}"\nhttp: "127.0.0.1:{self.monitor}"\nserver_name: {name}\n{config}\n')
            if cluster:
                mine, others = cluster
                routes = ", ".join(f'"nats://127.0.0.1:{p}"' for p in others)
                f.write(f'cluster {{ name: fleet, listen: "127.0.0.1:{mine}", routes: [ {routes} ] }}\n')
        self.start()

    def start(self):
        super().__init__(["nats-server", "-c", self.file], os.path.join(self.directory, f"{self.name}.log"))
        wait_for(self.answers, why=lambda: "nats-server did not come up: " + self.said())

    def answers(self):
        try:
            with socket.create_connection(("127.0.0.1", self.port), 1) as s:
                return s.recv(5) == b"INFO "
        except OSError:
            return False

    def listeners(self, subject):
        """What the server reports of each connection that has subscribed to it."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.monitor}/connz?subs=1", timeout=5) as page:
            return [c for c in json.load(page)["connections"] if subject in c.get("subscriptions_list", [])]


def cluster_of_three(directory):
    routes = [free_port() for _ in range(3)]
    return [Server(directory, f"n{i}", (routes[i], routes)) for i in range(3)]


class Proxy:
    """TCP to a port, until it is cut: then neither end hears anything of the other, or of its end. Mended, it takes new connections."""

    def __init__(self, port):
        self.to, self.up, self.ends = port, True, []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near = self.listener.accept()[0]
                far = socket.create_connection(("127.0.0.1", self.to), 5)
            except OSError:
                if self.listener.fileno() < 0:
                    return
                continue
            self.ends += [near, far]
            for a, b in ((near, far), (far, near)):
                threading.Thread(target=self.carry, args=(a, b, self.up), daemon=True).start()

    def carry(self, a, b, up):
        try:
            while data := a.recv(65536):
                if up and self.up:
                    b.sendall(data)
                else:
                    up = False  # what was lost is never made up for
            b.close()
        except OSError:
            b.close()

    def cut(self):
        self.up = False

    def mend(self):
        self.up = True

    def close(self):
        for s in [self.listener, *self.ends]:
            s.close()


class Planner(Process):
    def __init__(self, program, directory, servers, name="p0", extra="", plan="", valid_ms=500, waits=True):
        self.port = free_port()
        self.program, self.name = program, name
        self.config = os.path.join(directory, f"{name}.ini")
        with open(self.config, "w", encoding="utf-8") as f:
            f.write(QUICK.format(servers=servers, name=name, listen=f"127.0.0.1:{self.port}", extra=extra, plan=plan,
                                 valid_ms=valid_ms))
        super().__init__([program, "--config", self.config, "run"], os.path.join(directory, f"{name}.log"))
        if waits:
            wait_for(self.is_up, why=lambda: "hp3-fleet did not come up: " + self.said())

    def get(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=5) as r:
            return r.read().decode()

    def is_up(self):
        try:
            return self.metric("connected") is not None
        except OSError:
            return False

    def state(self):
        return json.loads(self.get("/state.json"))

    def metric(self, name):
        for line in self.get("/metrics").splitlines():
            if line.startswith(f"hp3_fleet_{name} "):
                return int(line.split()[1])
        return None

    def memory_mib(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as f:
            return next(int(line.split()[1]) // 1024 for line in f if line.startswith("VmRSS"))

    def ask(self, *args, check=True):
        r = subprocess.run([self.program, "--config", self.config, "--json", *args], capture_output=True, text=True,
                           timeout=20, check=check)
        return json.loads(r.stdout)


def agents(program, directory, servers, *args):
    return Process([program, "--servers", servers, "--interval", "100", *map(str, args)],
                   os.path.join(directory, "agents.log"))


def publish(port, subject, *payloads):
    """As any unauthenticated client may who reaches the server."""
    with socket.create_connection(("127.0.0.1", port), 5) as s:
        s.recv(4096)
        said = b"".join(b"PUB %s %d\r\n%s\r\n" % (subject.encode(), len(p), p) for p in payloads)
        s.sendall(b'CONNECT {"verbose":false}\r\n' + said + b"PING\r\n")
        while b"PONG" not in s.recv(4096):
            pass


def answering(port, answer):
    """An unauthenticated client that answers each question on hp3.ask. To be closed."""
    s = socket.create_connection(("127.0.0.1", port), 5)
    lines = s.makefile("rb")
    lines.readline()
    s.sendall(b'CONNECT {"verbose":false}\r\nSUB hp3.ask 1\r\nPING\r\n')
    text = json.dumps(answer).encode()

    def serve():
        try:
            while line := lines.readline().split():
                if line[0] == b"PING":
                    s.sendall(b"PONG\r\n")
                elif line[0] == b"MSG":
                    lines.readline()
                    s.sendall(b"PUB %s %d\r\n%s\r\n" % (line[3], len(text), text))
        except (OSError, ValueError):
            pass
    threading.Thread(target=serve, daemon=True).start()
    return s


def cbor(x):
    """As fleet/message.h has it: the shortest form of each."""
    kind = {int: 0, bytes: 2, str: 3, list: 4}[type(x)]
    n = x if kind == 0 else len(x.encode() if kind == 3 else x)
    if n < 24:
        head = bytes([kind << 5 | n])
    else:
        size = next(s for s in range(4) if n < 1 << (8 << s))
        head = bytes([kind << 5 | 24 + size]) + n.to_bytes(1 << size, "big")
    return head + (b"" if kind == 0 else x if kind == 2 else x.encode() if kind == 3 else b"".join(map(cbor, x)))


def crc16(data):
    crc = 0
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ 0x1021 if crc & 0x8000 else crc << 1) & 0xffff
    return crc.to_bytes(2, "little")


ED25519 = bytes.fromhex("302e020100300506032b657004220420")  # PKCS #8, before the key (RFC 8410)


def nkey(directory, name, private=None):
    """A user's public NKey, and the file with its seed, as `nk -gen user` makes them: of this private key, or of a new one."""
    private = private or os.urandom(32)
    public = subprocess.run(["openssl", "pkey", "-inform", "DER", "-pubout", "-outform", "DER"], input=ED25519 + private,
                            capture_output=True, check=True).stdout[-32:]
    seed_kind, user = 18 << 3, 20 << 3

    def text(data):
        return base64.b32encode(data + crc16(data)).decode().rstrip("=")

    path = os.path.join(directory, name + ".nk")
    with open(path, "w", encoding="ascii") as f:
        f.write(text(bytes([seed_kind | user >> 5, (user & 31) << 3]) + private))
    os.chmod(path, 0o600)
    return text(bytes([user]) + public), path


def openssl(directory, *args):
    subprocess.run(["openssl", *args], cwd=directory, capture_output=True, check=True)


NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]


def authority(directory, name):
    openssl(directory, "req", "-x509", *NEW_KEY, "-keyout", name + ".key", "-out", name + ".pem", "-subj", "/CN=" + name, "-days", "2")


def certificate(directory, ca, name, address=None):
    alt = ["-addext", "subjectAltName=IP:" + address] if address else []
    openssl(directory, "req", *NEW_KEY, "-keyout", name + ".key", "-out", name + ".csr", "-subj", "/CN=" + name, *alt)
    openssl(directory, "x509", "-req", "-in", name + ".csr", "-CA", ca + ".pem", "-CAkey", ca + ".key", "-CAcreateserial", "-days", "2",
            "-copy_extensions", "copy", "-out", name + ".pem")


def scratch():
    return tempfile.TemporaryDirectory(prefix="hp3-fleet-")
