#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The Debian package: built from what git knows, checked, installed in a fresh root, started by the systemd of
that root, killed, upgraded while packets pass, purged. Everything happens in mount and network namespaces of the test's own.

usage: debian.py SOURCE_ROOT RC_ENDPOINT BUILD
The package is kept in BUILD (fresh.py).
Exit code 77: no fresh root can be had, or its systemd does not boot here.
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT, RC_ENDPOINT, BUILD = map(os.path.abspath, sys.argv[1:4])
sys.argv[1:] = ["-", "-", RC_ENDPOINT, "-", ROOT]
sys.path[:0] = [os.path.join(ROOT, "tests/integration/pipeline"), os.path.join(ROOT, "tests/fleet/live")]
from broker import nkey  # noqa: E402
from fresh import Booted, Fresh, built, check, own_mounts, remove_root, run, step  # noqa: E402
from harness import Endpoint, Link, own_namespace, wait_for  # noqa: E402

MANAGER = ("systemd", "libnats3.4", "nats-server")
EXPOSURE = {"hp3d": 3.9, "hp3-fleet": 1.2, "hp3-fleet-agent": 1.3}  # what systemd-analyze says of the units; more is a step back


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


def of_the_service(unit, a, b):
    """Started, killed, hanging, reloaded, stopped, as systemd does these; packets pass all the time."""
    if subprocess.run(unit.words("systemctl", "start", "hp3d"), stderr=subprocess.DEVNULL).returncode != 0:
        raise SystemExit("package: systemd cannot start hp3d:\n" + unit.journal())
    unit.taken()
    traffic(a, b, 1000)
    check('"status":"ok"' in unit.run("hp3ctl", "--json", "health"), "hp3ctl health is not ok")
    unit.run("test", "-S", "/run/dpdk/hp3/dpdk_telemetry.v2")
    step("started by systemd, takes packets")
    unit.run("systemctl", "reload", "hp3d")
    wait_for("the reload", lambda: "hp3d: reloaded" in unit.journal())
    unit.another(lambda pid: unit.run("bash", "-c", f"kill -KILL {pid}"))
    traffic(a, b, 1000)
    step("reloaded; killed, and started again by systemd")
    unit.another(lambda pid: unit.run("bash", "-c", f"kill -STOP {pid}"))
    check("Watchdog timeout" in unit.journal(), "the watchdog did not end what hung")
    traffic(a, b, 1000)
    step("hung, and started again by systemd's watchdog")
    with open(os.path.join(ROOT, "docs/guide/operate.md"), encoding="utf-8") as f:
        out, = re.findall(r"`(systemctl stop --no-block hp3d; [^`]*)`", f.read())  # of the runbook card
    restarts = unit.show("NRestarts")
    unit.another_state("inactive failed", lambda pid: unit.run("bash", "-c", f"kill -STOP {pid}; {out}"))
    check(unit.show("NRestarts") == restarts and unit.show("SubState") != "auto-restart", "hp3d was started again")
    traffic(a, b, 1000)
    unit.run("systemctl", "start", "hp3d")
    unit.taken()
    traffic(a, b, 1000)
    step("hung, taken out as the runbook card says, and put back")
    for word in ("EAL: Error", "Read-only file system", "no fail-open"):
        check(word not in unit.journal(), f"the journal says \"{word}\":\n" + unit.journal())


ASK_HOSTS = ("hp3-fleet", "--config", "/root/fleet.ini", "--json", "hosts")


def lock_the_broker(root, work):
    """NATS refuses who has no key, and root alone may read the key: systemd hands it over."""
    public, seed = nkey(work, "fleet")
    with open(root.at("etc/nats-server.conf"), "w") as f:
        f.write(f'listen: "127.0.0.1:4222"\nauthorization {{ users = [ {{ nkey: {public} }} ] }}\n')
    shutil.copy(seed, root.at("root/fleet.nk"))
    os.chmod(root.at("root/fleet.nk"), 0o600)
    ini = root.read("etc/hp3/fleet.ini").replace('nkey = ""', f'nkey = "{public}"').replace('nkey_seed = ""', 'nkey_seed = "fleet.nk"')
    with open(root.at("etc/hp3/fleet.ini"), "w") as f:
        f.write(ini)
    with open(root.at("root/fleet.ini"), "w") as f:  # of root's commands
        f.write(ini.replace('"fleet.nk"', '"/root/fleet.nk"'))
    for name in ("hp3-fleet", "hp3-fleet-agent"):
        os.makedirs(root.at(f"etc/systemd/system/{name}.service.d"))
        with open(root.at(f"etc/systemd/system/{name}.service.d/key.conf"), "w") as f:
            f.write("[Service]\nLoadCredential=fleet.nk:/root/fleet.nk\n")


def of_the_agents_user(unit):
    """It has no uid of the system's, is in the group, and hp3d refuses what the agent does not ask."""
    pid = unit.run("systemctl", "show", "-p", "MainPID", "--value", "hp3-fleet-agent").strip()
    status = unit.run("cat", f"/proc/{pid}/status")
    uids = [int(n) for n in re.search(r"(?m)^Uid:(.*)$", status).group(1).split()]
    check(all(61184 <= n <= 65519 for n in uids), f"the agent's user is none that systemd makes up: {uids}")
    gid = unit.run("getent", "group", "hp3").split(":")[2]
    check(gid in re.search(r"(?m)^Groups:(.*)$", status).group(1).split(), "the agent is not in the group hp3")
    check(unit.run("stat", "-c", "%a %U %G", "/run/hp3/hp3.sock").split() == ["660", "root", "hp3"], "the control socket's rights")
    for words, refused in ((["flows"], False), (["mode", "off"], True), (["stats"], True)):
        said = subprocess.run(unit.words("setpriv", "--reuid=65533", "--regid=65533", f"--groups={gid}", "hp3ctl", *words),
                              capture_output=True, text=True)
        check(("may not ask" in said.stdout + said.stderr) == refused == (said.returncode != 0),
              f"a member of the group asks for {words}: {said.returncode} {said.stdout}{said.stderr}")


def of_the_fleet(unit):
    """Planner and agent, as they are installed, beside a NATS server: the planner knows this host's flows."""
    unit.run("systemctl", "start", "nats-server", "hp3-fleet", "hp3-fleet-agent")

    def hosts():
        said = subprocess.run(unit.words(*ASK_HOSTS), capture_output=True, text=True)
        return said.returncode == 0 and re.search(r'"flows": ?[1-9]', said.stdout)
    try:
        wait_for("the agent's report", hosts, 30)
    except AssertionError as e:
        raise SystemExit(f"package: {e}\n" + unit.run("sh", "-c", " ".join(ASK_HOSTS) + "; true") +
                         unit.run("journalctl", "-u", "hp3-fleet*", "--no-pager", "-o", "cat")) from e
    of_the_agents_user(unit)
    unit.run("systemctl", "stop", "hp3-fleet-agent", "hp3-fleet", "nats-server")
    step("hp3-fleet and its agent: started by systemd as users of their own, the planner knows this host")


def judge_unit(work, root, name, limit):
    unit = root.at(f"lib/systemd/system/{name}.service")
    said = run("systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold=100", unit)
    exposure = float(re.search(rf"Overall exposure level for {name}.service: ([\d.]+)", said).group(1))
    check(exposure <= limit, f"exposure of {name}.service is {exposure}, it was {limit}:\n{said}")
    # Keys and values; the commands are the fresh root's, not this machine's.
    copy = os.path.join(work, name + ".service")
    with open(copy, "w") as f:
        f.write(re.sub(r"(?m)^(Exec\w+)=.*$", r"\1=/bin/true", root.read(f"lib/systemd/system/{name}.service")))
    said = run("systemd-analyze", "verify", "--man=no", copy)
    check(f"{name}.service:" not in said, "systemd-analyze verify: " + said)
    step(f"unit {name}: exposure {exposure}")


def installed(root):
    """What an operator finds right after the installation."""
    check(root.run("hp3d", "--version").split()[0] == "hp3d", "hp3d does not run")
    check(root.run("dpkg-query", "-W", "-f", "${Conffiles}", "hp3").count("/etc/") == 3, "hp3.ini, fleet.ini or logrotate's file is no conffile")
    with open(os.path.join(BUILD, "config/hp3.ini")) as f:
        built, ours = f.read(), root.read("etc/hp3/hp3.ini")
    check(ours.startswith(built) and ours[len(built):].startswith('\n[control]\ngroup = "hp3" #'),
          "hp3.ini is not the build's with [control] group = hp3")
    st = os.stat(root.at("etc/hp3/hp3.ini"))
    check((st.st_mode & 0o777, st.st_uid, st.st_gid) == (0o640, 0, 0), f"hp3.ini: mode {st.st_mode:o} of {st.st_uid}:{st.st_gid}")
    check(os.path.isdir(root.at("var/log/hp3")), "no directory for the audit log")
    for guide in ("concepts", "operate", "quickstart", "security"):
        check(glob.glob(root.at(f"usr/share/doc/hp3/guide/{guide}.md*")), f"no guide {guide}")
    for page in ("man5/hp3.ini.5", "man7/hp3-metrics.7"):
        check(os.path.exists(root.at(f"usr/share/man/{page}.gz")), f"no manual page {page}")
    for name in EXPOSURE:
        check(not glob.glob(root.at(f"etc/systemd/system/*/{name}.service")), f"{name}.service is enabled by the installation")


def traffic(a, b, expected):
    """So many more packets reach the other side."""
    before = sum(q["received"] for q in b.report()["qps"])
    a.tell("send 1000000")
    wait_for("packets through hp3d", lambda: sum(q["received"] for q in b.report()["qps"]) > before + expected)


def settled(a):
    """Everything sent has arrived."""
    a.tell("stop")
    wait_for("all ACKs", a.all_acked)


def main():
    bare = subprocess.run([os.path.join(ROOT, "scripts/fresh-root.sh"), "--bare"], stdout=subprocess.PIPE, text=True)
    if os.geteuid() != 0 or bare.returncode != 0:
        print("package: no fresh root can be had")
        return 77
    own_mounts()
    work = tempfile.mkdtemp(prefix=f"hp3-pipeline-{os.getpid()}-", dir="/tmp")  # swept as those of the pipeline's tests
    try:
        deb = built(BUILD)
        root = Fresh(work, bare.stdout.strip())
        root.install(deb, "--download-only", *MANAGER)  # what was not downloaded before
        own_namespace()
        root.install(deb, *MANAGER)
        step("installed")
        installed(root)
        for name, limit in EXPOSURE.items():
            judge_unit(work, root, name, limit)

        rnic, net = Link("r"), Link("n")
        edited = root.read("etc/hp3/hp3.ini")
        for key, ports in (("rnic", rnic.devargs(0)), ("net", net.devargs(1))):
            edited = re.sub(rf"(?m)^{key} = .*$", f'{key} = "{ports}"', edited)
        with open(root.at("etc/hp3/hp3.ini"), "w") as f:
            f.write(edited)
        a = Endpoint(RC_ENDPOINT, rnic.far, "a", qps=4, timeout=14)
        b = Endpoint(RC_ENDPOINT, net.far, "b", qps=4, timeout=14)
        lock_the_broker(root, work)
        unit = Booted(root)
        booted = unit.process.poll() is None
        if booted:
            of_the_service(unit, a, b)
            of_the_fleet(unit)
            deb, version = next_version(work, deb)
            shutil.copy(deb, root.at("root/next.deb"))
            before, pid = b.report(), unit.show("MainPID")
            unit.run("dpkg", "-i", "/root/next.deb")
            passed = b.report()["received"] - before["received"]
            check(passed > 1000, f"only {passed} packets passed during the upgrade")
            check(unit.run("dpkg-query", "-W", "-f", "${Version}", "hp3") == version, "not upgraded")
            check(root.read("etc/hp3/hp3.ini") == edited, "the upgrade changed hp3.ini")
            unit.taken()
            check(unit.show("MainPID") != pid, "the upgrade did not restart hp3d")
            traffic(a, b, 1000)
            step(f"upgraded while {passed} packets passed")
            unit.run("systemctl", "stop", "hp3d")
            check(unit.show("Result") == "success", "hp3d did not stop cleanly:\n" + unit.journal())
            settled(a)
            check(b.report()["faults"] == before["faults"], f"the upgrade, or the stop, cost packets: {before['faults']}, then {b.report()['faults']}")
            check("stopping" in root.read("var/log/hp3/audit.log"), "nothing in the audit log")
            unit.end()
        a.kill()
        b.kill()
        root.run("dpkg", "--purge", "hp3")
        left = [p for p in ("etc/hp3", "var/log/hp3", "run/hp3", "etc/logrotate.d/hp3", "usr/sbin/hp3d",
                            *(f"lib/systemd/system/{name}.service" for name in EXPOSURE), "usr/lib/sysctl.d/60-hp3.conf")
                if os.path.exists(root.at(p))]
        check(not left, f"left behind by purge: {left}")
        step("purged")
        if not booted:
            print("package: systemd cannot be booted here, so nothing is known of hp3d.service:\n" + root.read("tmp/boot.log"))
        return 0 if booted else 77
    finally:
        remove_root(work)
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
