#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The Debian packages: built from what git knows, checked, installed in a fresh root, started by the systemd of
that root, killed, upgraded while packets pass, purged. Then the one package of earlier versions is upgraded to them.
Everything happens in mount and network namespaces of the test's own.

usage: debian.py SOURCE_ROOT RC_ENDPOINT BUILD
The packages are kept in BUILD (fresh.py).
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
from fresh import PACKAGES, Booted, Fresh, built, check, own_mounts, remove_root, run, step  # noqa: E402
from harness import Endpoint, Link, own_namespace, wait_for  # noqa: E402

MANAGER = ("systemd", "libnats3.4", "nats-server")
EXPOSURE = {"hp3d": 3.9, "hp3-fleet": 1.2, "hp3-fleet-agent": 1.3}  # what systemd-analyze says of the units; more is a step back


def other_version(work, deb, name, version, more=None):
    """The same package with another version, and all files of a second one if `more` names it."""
    tree = os.path.join(work, name)
    run("dpkg-deb", "-R", deb, tree)
    if more:
        run("dpkg-deb", "-x", more, tree)
        shutil.rmtree(os.path.join(tree, "usr/share/doc/hp3-doc"))
    control = os.path.join(tree, "DEBIAN/control")
    with open(control) as f:
        text = f.read()
    version = version or re.search(r"(?m)^Version: (.*)$", text).group(1) + "+next"
    with open(control, "w") as f:
        f.write(re.sub(r"(?m)^Version: .*$", "Version: " + version, text))
    out = os.path.join(work, name + ".deb")
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


def of_verbs_mode(unit, root):
    """The configuration of docs/guide/nccl.md, with the service as it ships."""
    with open(os.path.join(ROOT, "docs/guide/nccl.md"), encoding="utf-8") as f:
        recipe, = re.findall(r"(?m)^ {8}\[verbs\]\n(?: {8}.*\n)+", f.read())
    inline = root.read("etc/hp3/hp3.ini")
    with open(root.at("etc/hp3/hp3.ini"), "w") as f:
        f.write(recipe)
    if subprocess.run(unit.words("systemctl", "start", "hp3d"), stderr=subprocess.DEVNULL).returncode != 0:
        raise SystemExit("package: systemd cannot start hp3d in verbs mode:\n" + unit.journal())
    rights = unit.run("stat", "-c", "%a %U %G", "/run/hp3/verbs.sock").split()
    check(rights == ["660", "root", "rdma"], f"the rights of the socket of verbs mode are {rights}")
    unit.run("systemctl", "stop", "hp3d")
    with open(root.at("etc/hp3/hp3.ini"), "w") as f:
        f.write(inline)
    step("started by systemd in verbs mode")


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


USERS = "hp3-fleet", "hp3-fleet-agent"  # as their services


def of_the_users(unit):
    """Both run as users that the package made. The agent's is in the group hp3, and hp3d refuses what the agent does not ask."""
    gid = unit.run("getent", "group", "hp3").split(":")[2]
    for name in USERS:
        pid = unit.run("systemctl", "show", "-p", "MainPID", "--value", name).strip()
        status = unit.run("cat", f"/proc/{pid}/status")
        uids = set(re.search(r"(?m)^Uid:(.*)$", status).group(1).split())
        wanted = unit.run("getent", "passwd", name).split(":")
        check(uids == {wanted[2]} and 0 < int(wanted[2]) < 1000, f"{name} runs as user {uids}, not as {wanted}")
        check(wanted[6].strip().endswith("nologin"), f"{name} can log in: {wanted}")
        check((gid in re.search(r"(?m)^Groups:(.*)$", status).group(1).split()) == (name == "hp3-fleet-agent"), f"{name} and the group hp3")
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
    of_the_users(unit)
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


def last_line(said, root):
    """The end of an installation names a command that is there."""
    last = [line for line in said.splitlines() if line.strip()][-1]
    found = re.match(r"hp3(?:-sim)?: next, type: (\S+)", last)
    check(found, f"the installation does not end with what to type next, but with: {last}")
    root.run("which", found[1])


def installed(root):
    """What an operator finds right after the installation."""
    for words in (("hp3d",), ("hp3-sim",), ("roce-gen",), ("hp3-fleet-agents",)):
        check(root.run(*words, "--version").split()[0] == words[0], f"{words[0]} does not run")
    plan = root.run("hp3-fabric", "plan", "/usr/share/hp3/testbed/topo/micro.ini")
    check('"hosts"' in plan, "hp3-fabric does not run")
    found = root.run("python3", "-B", "-c", "import sys; sys.path.insert(0, '/usr/share/hp3/testbed'); from testbed import tools\n"
                     "print(*(tools.binary(tools.PROGRAMS, name) for name in ('hp3d', 'hp3ctl', 'roce-gen', 'hp3-fabric')))")
    check(found.split() == ["/usr/sbin/hp3d", "/usr/bin/hp3ctl", "/usr/bin/roce-gen", "/usr/bin/hp3-fabric"],
          "hp3-testbed runs other programs than those of the packages: " + found)
    root.run("hp3-testbed", "--help")
    check(root.run("dpkg-query", "-W", "-f", "${Conffiles}", "hp3").count("/etc/") == 3, "hp3.ini, fleet.ini or logrotate's file is no conffile")
    with open(os.path.join(BUILD, "config/hp3.ini")) as f:
        built_ini, ours = f.read(), root.read("etc/hp3/hp3.ini")
    check(ours.startswith(built_ini) and ours[len(built_ini):].startswith('\n[control]\ngroup = "hp3" #'),
          "hp3.ini is not the build's with [control] group = hp3")
    st = os.stat(root.at("etc/hp3/hp3.ini"))
    check((st.st_mode & 0o777, st.st_uid, st.st_gid) == (0o640, 0, 0), f"hp3.ini: mode {st.st_mode:o} of {st.st_uid}:{st.st_gid}")
    check(os.path.isdir(root.at("var/log/hp3")), "no directory for the audit log")
    set_by_us = [p for p in glob.glob(root.at("*/sysctl.d/*")) + glob.glob(root.at("usr/lib/sysctl.d/*")) if "hp3" in os.path.basename(p)]
    check(not set_by_us, f"a sysctl is set unasked: {set_by_us}")
    for name in EXPOSURE:
        check(not glob.glob(root.at(f"etc/systemd/system/*/{name}.service")), f"{name}.service is enabled by the installation")


LEFT = ("etc/hp3", "var/log/hp3", "var/lib/hp3", "run/hp3", "etc/logrotate.d/hp3", "usr/sbin/hp3d", "usr/share/hp3", "usr/share/doc/hp3",
        "usr/lib/sysusers.d/hp3.conf", *(f"lib/systemd/system/{name}.service" for name in EXPOSURE))


def purge(root):
    """Nothing remains: no file, no user, no group."""
    root.run("dpkg", "--purge", *reversed(PACKAGES))
    left = [p for p in LEFT if os.path.exists(root.at(p))]
    left += [p for p in glob.glob(root.at("usr/*bin/*")) if re.match("hp3|roce-gen", os.path.basename(p))]
    left += [line for kind in ("passwd", "group") for line in root.read("etc/" + kind).splitlines() if line.startswith("hp3")]
    check(not left, f"left behind by purge: {left}")


def of_the_one_package(work, root, debs):
    """One package with the guides came before these: an upgrade moves files, keeps settings, and prints what changes."""
    older, _ = other_version(work, debs["hp3"], "older", "0.1.0", more=debs["hp3-doc"])
    root.run("dpkg", "-i", *root.bring([older]))
    guide = "/usr/share/doc/hp3/guide/quickstart.md"
    check(root.run("dpkg", "-S", guide).startswith("hp3:"), "the older package has no guides")
    with open(root.at("etc/hp3/hp3.ini"), "a") as f:
        f.write("# edited\n")
    # The guides first: apt may choose this order, with this option.
    said = root.run("dpkg", "--auto-deconfigure", "-i", *root.bring([*reversed(debs.values())]))
    check("wmem_default" in said and "hp3: next" not in said, "the upgrade does not print that no sysctl is set:\n" + said)
    check(root.run("dpkg", "-S", guide).startswith("hp3-doc:"), "the guides belong to the older package")
    check(root.read("etc/hp3/hp3.ini").endswith("# edited\n"), "the upgrade changed hp3.ini")
    step("upgraded from one package to four")


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
        debs = built(BUILD)
        root = Fresh(work, bare.stdout.strip())
        root.install(debs.values(), "--download-only", *MANAGER)  # what was not downloaded before
        own_namespace()
        last_line(root.install(debs.values(), *MANAGER), root)
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
            of_verbs_mode(unit, root)
            of_the_service(unit, a, b)
            of_the_fleet(unit)
            deb, version = other_version(work, debs["hp3"], "next", None)
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
        purge(root)
        of_the_one_package(work, root, debs)
        purge(root)
        step("purged")
        if not booted:
            print("package: systemd cannot be booted here, so nothing is known of hp3d.service:\n" + root.read("tmp/boot.log"))
        return 0 if booted else 77
    finally:
        remove_root(work)
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
