# SPDX-License-Identifier: BSD-3-Clause
"""What tests of the Debian packages share: the packages, built from what git knows; fresh roots, started by their own systemd.

usage: fresh.py KEEP     builds the packages, checks them by lintian and keeps them in that folder, unless those of the same files are there
"""
import ctypes
import fcntl
import glob
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Half of the time to build. Who sets the first in the environment gets neither (make test-long).
QUICK = {"DEB_BUILD_OPTIONS": "parallel=2 noddebs noopt", "DEB_CFLAGS_STRIP": "-g"}
sys.path[:0] = [os.path.join(ROOT, "tests/integration/pipeline")]
from harness import LIBC, die_with_parent, wait_for  # noqa: E402

CLONE_NEWNS, MS_BIND, MS_REC, MS_PRIVATE = 0x20000, 0x1000, 0x4000, 0x40000


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


def tracked():
    """Files that git knows: what lies about beside them must not be needed."""
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], stdout=subprocess.PIPE, check=True).stdout
    return [n for n in listed.decode().split("\0") if n and os.path.lexists(os.path.join(ROOT, n))]


PACKAGES = "libhp3x0", "libhp3x-dev", "hp3x-tools", "hp3", "hp3-sim", "hp3-tools", "hp3-doc"


def kept_debs(keep):
    """The folder for packages of the tree as it is now."""
    digest = hashlib.sha256(os.environ.get("DEB_BUILD_OPTIONS", "quick").encode())
    for name in tracked():
        path = os.path.join(ROOT, name)
        digest.update(name.encode() + b"\0" + (b"" if os.path.islink(path) or os.path.isdir(path) else pathlib.Path(path).read_bytes()))
    return os.path.join(keep, f"packages-{digest.hexdigest()[:16]}")


def build(work, kept):
    """The packages, built, checked, and kept in that folder: HP3.deb, without version and architecture in the name."""
    tree = os.path.join(work, "hp3")
    os.mkdir(tree)
    for name in tracked():
        target = os.path.join(tree, name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy2(os.path.join(ROOT, name), target, follow_symlinks=False)
    run("dpkg-buildpackage", "-us", "-uc", "-b", cwd=tree, env=os.environ if "DEB_BUILD_OPTIONS" in os.environ else {**os.environ, **QUICK})
    debs = {name: glob.glob(os.path.join(work, name + "_*.deb")) for name in PACKAGES}
    changes, = glob.glob(os.path.join(work, "hp3_*.changes"))
    step("built " + " ".join(PACKAGES))
    said = run("lintian", "--allow-root", "--fail-on", "error", changes)
    step("lintian: no error" + (", but " + said.strip() if said.strip() else ""))
    for old in glob.glob(os.path.join(os.path.dirname(kept), "packages-*")):
        shutil.rmtree(old)
    os.mkdir(kept + ".new")
    for name, (deb,) in debs.items():
        shutil.copy(deb, os.path.join(kept + ".new", name + ".deb"))
    os.rename(kept + ".new", kept)


def built(keep):
    """Package -> file: those kept in that folder, if the tree has not changed since; else new ones. Others who want them wait."""
    kept, lock = kept_debs(keep), os.open(os.path.join(keep, "package.lock"), os.O_RDWR | os.O_CREAT, 0o644)
    fcntl.flock(lock, fcntl.LOCK_EX)
    try:
        if not os.path.exists(kept):
            with tempfile.TemporaryDirectory(prefix=f"hp3-pipeline-{os.getpid()}-", dir="/tmp") as work:  # swept as those of the pipeline's tests
                build(work, kept)
        return {name: os.path.join(kept, name + ".deb") for name in PACKAGES}
    finally:
        os.close(lock)


def own_mounts():
    """What is mounted from here on is this process's and its children's."""
    if LIBC.unshare(CLONE_NEWNS) != 0:
        raise SystemExit("package: no mount namespace")
    mount(None, "none", "/", MS_REC | MS_PRIVATE)


def remove_root(work):
    """The mounts of a Fresh; whoever still holds something in there does not keep us."""
    for path in ("root.boot", "root", "over"):
        subprocess.run(["umount", "-R", "-l", os.path.join(work, path)], check=False, stderr=subprocess.DEVNULL)


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

    def bring(self, debs):
        """Their paths in the root."""
        for deb in debs:
            shutil.copy(deb, self.at("tmp"))
        return ["/tmp/" + os.path.basename(deb) for deb in debs]

    def install(self, debs, *options):
        """One at a time: all roots share this machine's cache of packages, which apt locks without patience."""
        with open(os.path.join(tempfile.gettempdir(), "hp3-package-apt.lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            return self.install_now(debs, *options)

    def install_now(self, debs, *options):
        return self.run("apt-get", "install", "-y", "-qq", "--no-install-recommends", "-o", "APT::Sandbox::User=root",
                        *options, *self.bring(debs))

    def read(self, path):
        with open(self.at(path)) as f:
            return f.read()


class Booted:
    """The root, started by its own systemd, in the network of the test: hp3d.service is what ships, and nothing stands in."""
    PREPARE = """mkdir -p /run/sysfs /sys/fs/bpf /sys/module && mount -t sysfs sysfs /run/sysfs &&
                 mount --bind /run/sysfs/module /sys/module && umount -l /run/sysfs && mount -t bpf bpf /sys/fs/bpf"""

    def __init__(self, root, network=f"/proc/{os.getpid()}/ns/net", name=f"hp3-{os.getpid()}"):
        self.log = open(root.at("tmp/boot.log"), "w+")
        bare = root.path + ".boot"  # without what chroot needs mounted
        mount(None, root.path, bare, MS_BIND)
        self.process = subprocess.Popen(
            ["systemd-nspawn", "-D", bare, "--boot", "--register=no", "--keep-unit", f"--machine={name}",
             f"--network-namespace-path={network}", "--capability=all",
             "--system-call-filter=bpf perf_event_open"],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, preexec_fn=die_with_parent,
            env={**os.environ, "SYSTEMD_NSPAWN_API_VFS_WRITABLE": "1"})
        wait_for("the boot", lambda: self.process.poll() is not None or self.is_up(), 120)
        if self.process.poll() is None:
            self.run("sh", "-c", self.PREPARE)

    def is_up(self):
        children = f"/proc/{self.process.pid}/task/{self.process.pid}/children"
        with open(children) as f:
            self.leader = f.read().strip()
        return self.leader and subprocess.run(
            self.words("systemctl", "is-active", "-q", "multi-user.target"), stderr=subprocess.DEVNULL).returncode == 0

    def words(self, *words):
        return ["nsenter", "-t", self.leader, "-a", *words]

    def run(self, *words):
        return run(*self.words(*words))

    def show(self, what):
        return self.run("systemctl", "show", "-p", what, "--value", "hp3d").strip()

    def journal(self):
        return self.run("journalctl", "-u", "hp3d", "--no-pager", "-o", "cat")

    def taken(self):
        """Fail-open is there, and packets go through hp3d. Otherwise within 20 s: what the journal says."""
        try:
            wait_for("fail-open", lambda: "rail0 taken" in subprocess.run(
                self.words("hp3ctl", "bypass"), capture_output=True, text=True).stdout)
        except AssertionError as e:
            raise SystemExit(f"package: {e}\n{self.journal()}") from e

    def another(self, why):
        """Restarted by itself."""
        before = int(self.show("NRestarts"))
        why(int(self.show("MainPID")))
        wait_for("the restart", lambda: int(self.show("NRestarts")) > before and self.show("ActiveState") == "active", 60)
        self.taken()

    def another_state(self, states, why):
        """Within the time that systemd takes to kill, not that in which it waits for a clean stop."""
        why(int(self.show("MainPID")))
        wait_for("one of " + states, lambda: self.show("ActiveState") in states.split())

    def end(self):
        self.process.terminate()
        self.process.wait(timeout=60)
        self.log.close()


if __name__ == "__main__":
    step("kept: " + os.path.dirname(built(os.path.abspath(sys.argv[1]))["hp3"]))
