#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The Debian package: built from what git knows, checked, installed in a fresh root, started, upgraded
while packets pass, purged. Everything happens in mount and network namespaces of the test's own.

usage: debian.py SOURCE_ROOT RC_ENDPOINT
Exit code 77: no fresh root can be had.
"""
import ctypes
import glob
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

ROOT, RC_ENDPOINT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
sys.argv[1:] = ["-", "-", RC_ENDPOINT, "-", ROOT]
sys.path.insert(0, os.path.join(ROOT, "tests/integration/pipeline"))
from harness import LIBC, Endpoint, Link, die_with_parent, own_namespace, wait_for  # noqa: E402

CLONE_NEWNS, MS_BIND, MS_REC, MS_PRIVATE = 0x20000, 0x1000, 0x4000, 0x40000
EXPOSURE = 3.7  # what systemd-analyze says of the unit; more is a step back


def run(*words, **options):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, stdin=subprocess.DEVNULL,
                          preexec_fn=die_with_parent, **options)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(words)}: exit code {done.returncode}\n{done.stdout[-6000:]}")
    return done.stdout


def check(true, what):
    if not true:
        raise SystemExit("package: " + what)


def mount(kind, what, where, flags=0, options=None):
    os.makedirs(where, exist_ok=True)
    if LIBC.mount(what.encode(), where.encode(), kind and kind.encode(), flags, options and options.encode()) != 0:
        raise SystemExit(f"mount {what} on {where}: {os.strerror(ctypes.get_errno())}")


def step(what, began=time.monotonic()):
    print(f"{time.monotonic() - began:6.1f} s  {what}", flush=True)


def build(work):
    """The tree as git knows it: what lies about beside it must not be needed."""
    tree = os.path.join(work, "hp3")
    os.mkdir(tree)
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], stdout=subprocess.PIPE, check=True).stdout
    names = [n for n in listed.decode().split("\0") if n and os.path.lexists(os.path.join(ROOT, n))]
    for name in names:
        target = os.path.join(tree, name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy2(os.path.join(ROOT, name), target, follow_symlinks=False)
    run("dpkg-buildpackage", "-us", "-uc", "-b", cwd=tree, env={**os.environ, "DEB_BUILD_OPTIONS": "parallel=2 noddebs"})
    deb, = glob.glob(os.path.join(work, "hp3_*.deb"))
    changes, = glob.glob(os.path.join(work, "hp3_*.changes"))
    step("built " + os.path.basename(deb))
    said = run("lintian", "--allow-root", "--fail-on", "error", changes)
    step("lintian: no error" + (", but " + said.strip() if said.strip() else ""))
    return deb


def next_version(work, deb):
    """The same package with a higher version."""
    tree = os.path.join(work, "next")
    run("dpkg-deb", "-R", deb, tree)
    control = os.path.join(tree, "DEBIAN/control")
    with open(control) as f:
        text = f.read()
    version = re.search(r"(?m)^Version: (.*)$", text).group(1) + "+next"
    with open(control, "w") as f:
        f.write(re.sub(r"(?m)^Version: .*$", "Version: " + version, text))
    out = os.path.join(work, "next.deb")
    run("dpkg-deb", "--root-owner-group", "-b", tree, out)
    return out, version


class Fresh:
    """A minimal Debian over which everything is written elsewhere; packages come from what apt has."""

    def __init__(self, work, bare):
        self.path = os.path.join(work, "root")
        over = os.path.join(work, "over")
        mount("tmpfs", "tmpfs", over)
        for name in ("up", "work"):
            os.mkdir(os.path.join(over, name))
        mount("overlay", "overlay", self.path, 0, f"lowerdir={bare},upperdir={over}/up,workdir={over}/work")
        mount("proc", "proc", self.at("proc"))
        mount("sysfs", "sysfs", self.at("sys"))
        for kind in ("dev", "var/lib/apt/lists", "var/cache/apt/archives", "etc/apt"):
            mount(None, "/" + kind, self.at(kind), MS_BIND | MS_REC)
        mount("tmpfs", "tmpfs", self.at("run"))
        shutil.copy("/etc/resolv.conf", self.at("etc/resolv.conf"))

    def at(self, *path):
        return os.path.join(self.path, *path)

    def run(self, *words):
        return run("chroot", self.path, *words, env={
            **{k: v for k, v in os.environ.items() if k.lower().endswith("_proxy")},
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8"})

    def install(self, deb, *options):
        shutil.copy(deb, self.at("tmp/hp3.deb"))
        return self.run("apt-get", "install", "-y", "-qq", "--no-install-recommends", "-o", "APT::Sandbox::User=root",
                        *options, "/tmp/hp3.deb")

    def read(self, path):
        with open(self.at(path)) as f:
            return f.read()


class Service:
    """hp3d as the unit would have it, by a stand-in for the service manager."""

    def __init__(self, root):
        self.root = root
        self.unit = dict(line.split("=", 1) for line in root.read("lib/systemd/system/hp3d.service").splitlines()
                         if "=" in line and not line.startswith("#"))
        check(self.unit["Type"] == "notify", "the unit is not Type=notify")
        self.log = open(root.at("tmp/hp3d.log"), "w")
        self.manager = None

    def start(self):
        self.manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        path = self.root.at("run/notify")
        if os.path.exists(path):
            os.unlink(path)
        self.manager.bind(path)
        self.manager.settimeout(60)
        self.process = subprocess.Popen(["chroot", self.root.path, *self.unit["ExecStart"].split()], stdout=self.log,
                                        stderr=self.log, preexec_fn=die_with_parent, env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "NOTIFY_SOCKET": "/run/notify"})
        self.expect("READY=1")

    def expect(self, line):
        try:
            while line not in self.manager.recv(4096).decode().splitlines():
                pass
        except TimeoutError:
            raise SystemExit(f"package: hp3d never said {line}:\n{self.root.read('tmp/hp3d.log')}") from None

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.expect("STOPPING=1")
        check(self.process.wait(timeout=60) == 0, "hp3d did not stop cleanly:\n" + self.root.read("tmp/hp3d.log"))
        self.manager.close()


def judge_unit(work, root):
    unit = root.at("lib/systemd/system/hp3d.service")
    said = run("systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold=100", unit)
    exposure = float(re.search(r"Overall exposure level for hp3d.service: ([\d.]+)", said).group(1))
    check(exposure <= EXPOSURE, f"exposure of hp3d.service is {exposure}, it was {EXPOSURE}:\n{said}")
    # Keys and values; the commands are the fresh root's, not this machine's.
    copy = os.path.join(work, "hp3d.service")
    with open(copy, "w") as f:
        f.write(re.sub(r"(?m)^(Exec\w+)=.*$", r"\1=/bin/true", root.read("lib/systemd/system/hp3d.service")))
    said = run("systemd-analyze", "verify", "--man=no", copy)
    check("hp3d.service:" not in said, "systemd-analyze verify: " + said)
    step(f"unit: exposure {exposure}")


def installed(root):
    """What an operator finds right after the installation."""
    check(root.run("hp3d", "--version").split()[0] == "hp3d", "hp3d does not run")
    check(root.run("dpkg-query", "-W", "-f", "${Conffiles}", "hp3").count("/etc/") == 2, "hp3.ini or logrotate's file is no conffile")
    check(root.read("etc/hp3/hp3.ini") == open(os.path.join(ROOT, "config/hp3.ini")).read(), "hp3.ini is not the tree's")
    check(os.path.isdir(root.at("var/log/hp3")), "no directory for the audit log")
    check(not glob.glob(root.at("etc/systemd/system/*/hp3d.service")), "the unit is enabled although no port is named")


def traffic(a, b, expected):
    """So many more packets reach the other side."""
    before = sum(q["received"] for q in b.report()["qps"])
    a.tell("send 1000000")
    wait_for("packets through hp3d", lambda: sum(q["received"] for q in b.report()["qps"]) > before + expected)


def settled(a, b):
    """Everything sent has arrived, once, in order."""
    a.tell("stop")
    wait_for("all ACKs", a.all_acked)
    check(set(b.report()["faults"].values()) == {0}, f"packets came wrong: {b.report()['faults']}")
    check([q["sent"] for q in a.report()["qps"]] == [q["received"] for q in b.report()["qps"]], "packets were lost")


def main():
    bare = subprocess.run([os.path.join(ROOT, "scripts/fresh-root.sh"), "--bare"], stdout=subprocess.PIPE, text=True)
    if os.geteuid() != 0 or bare.returncode != 0:
        print("package: no fresh root can be had")
        return 77
    if LIBC.unshare(CLONE_NEWNS) != 0:
        raise SystemExit("package: no mount namespace")
    mount(None, "none", "/", MS_REC | MS_PRIVATE)
    work = tempfile.mkdtemp(prefix=f"hp3-pipeline-{os.getpid()}-", dir="/tmp")  # swept as those of the pipeline's tests
    try:
        deb = build(work)
        root = Fresh(work, bare.stdout.strip())
        root.install(deb, "--download-only")  # of what hp3 depends on, what was not downloaded before
        own_namespace()
        root.install(deb)
        step("installed")
        installed(root)
        judge_unit(work, root)

        rnic, net = Link("r"), Link("n")
        edited = root.read("etc/hp3/hp3.ini")
        for key, ports in (("rnic", rnic.devargs(0)), ("net", net.devargs(1))):
            edited = re.sub(rf"(?m)^{key} = .*$", f'{key} = "{ports}"', edited)
        with open(root.at("etc/hp3/hp3.ini"), "w") as f:
            f.write(edited)
        service = Service(root)
        service.start()
        a = Endpoint(RC_ENDPOINT, rnic.far, "a", qps=4)
        b = Endpoint(RC_ENDPOINT, net.far, "b", qps=4)
        traffic(a, b, 1000)
        check('"status":"ok"' in root.run("hp3ctl", "--json", "health"), "hp3ctl health is not ok")
        step("started, packets pass")

        deb, version = next_version(work, deb)
        before = sum(q["received"] for q in b.report()["qps"])
        root.install(deb)
        passed = sum(q["received"] for q in b.report()["qps"]) - before
        check(passed > 1000, f"only {passed} packets passed during the upgrade")
        check(root.run("dpkg-query", "-W", "-f", "${Version}", "hp3") == version, "not upgraded")
        check(root.read("etc/hp3/hp3.ini") == edited, "the upgrade changed hp3.ini")
        settled(a, b)
        service.stop()
        service.start()
        traffic(a, b, 1000)
        settled(a, b)
        step(f"upgraded while {passed} packets passed, none lost; started again")

        service.stop()
        a.kill()
        b.kill()
        check("stopping" in root.read("var/log/hp3/audit.log"), "nothing in the audit log")
        root.run("dpkg", "--purge", "hp3")
        left = [p for p in ("etc/hp3", "var/log/hp3", "run/hp3", "etc/logrotate.d/hp3", "usr/sbin/hp3d",
                            "lib/systemd/system/hp3d.service", "usr/lib/sysctl.d/60-hp3.conf")
                if os.path.exists(root.at(p))]
        check(not left, f"left behind by purge: {left}")
        step("purged")
        return 0
    finally:
        for path in ("root", "over"):  # whoever still holds something in there does not keep us
            subprocess.run(["umount", "-R", "-l", os.path.join(work, path)], check=False, stderr=subprocess.DEVNULL)
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
