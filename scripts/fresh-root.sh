#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: fresh-root.sh COMMAND...           such as: scripts/fresh-root.sh make check
#        fresh-root.sh --bare               prints where a minimal Debian 12 lies, made if need be; exit code 77: none can be had
#
# Runs COMMAND in a clone of this repository (its last commit) on a fresh Debian 12: a minimal root with
# scripts/packages.txt. So packages installed by hand on this machine do not hide that one is missing from the list.
# Exit code: COMMAND's.
#
# The root has its own mounts, /run, /dev and /tmp, and a network with only lo: downloads (packages, the lab's kernel)
# come before. The root and its processes are removed when COMMAND ends, also when this script is killed. Process ids
# are the machine's: hp3-watch must see where processes end.
#
# Mirror and the settings of Acquire:: are those of this machine's apt. $HP3_ROOT_CACHE (/var/cache/hp3-root) keeps
# the root as debootstrap left it, and downloaded packages; remove it to begin anew.
#
# If no root can be made (needs root rights, apt, a mirror), COMMAND runs on the machine, and one line reports it.
# Of the environment, only HP3_* and the variables of proxies are passed on.
set -u
release=bookworm # the Debian of scripts/packages.txt
tree=$(dirname "$(dirname "$(readlink -f "$0")")")
cache=${HP3_ROOT_CACHE:-/var/cache/hp3-root}/$release

say() { echo "fresh-root: $1"; }

on_machine() {
    say "no fresh root, running on this machine as it is: $1"
    exec 8>&- 9>&-
    cd "$tree" && exec "${command[@]}"
}

# Where this machine's apt gets Debian packages: one "URI RELEASE COMPONENT" per line.
sources() { apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 2>/dev/null; }

debian_mirror() { sources | awk -v release="$release" '$2 == release && $3 == "main" { print $1; exit }'; }

# The root as debootstrap leaves it, made once. A name that is not whole is never taken for it.
bare_root() {
    local mirror log=$cache/debootstrap.log with=()
    [ -d "$cache/bare" ] && return
    mirror=$(debian_mirror)
    [ -n "$mirror" ] || { why="apt knows no mirror with $release"; return 1; }
    if ! type -P debootstrap >/dev/null; then
        { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends debootstrap; } \
            >"$log" 2>&1 || { why="debootstrap cannot be installed (see $log)"; return 1; }
    fi
    ! sources | grep -q ^https: || with=(--include=ca-certificates)
    say "making a minimal $release in $cache"
    rm -rf --one-file-system "$cache/bare.new"
    timeout 900 debootstrap --variant=minbase "${with[@]}" "$release" "$cache/bare.new" "$mirror" >"$log" 2>&1 ||
        { why="debootstrap failed (see $log): is the mirror in reach?"; return 1; }
    rm -f "$cache/bare.new"/var/cache/apt/archives/*.deb
    mv "$cache/bare.new" "$cache/bare"
}

bare() {
    if [ ! -d "$cache/bare" ]; then
        mkdir -p "$cache" && exec 8>"$cache/lock" && flock -w 900 8 && bare_root >&2 || { say "${why:-$cache is not ours}" >&2; exit 77; }
    fi
    echo "$cache/bare"
}

# A copy of it with this machine's way to the mirrors, and the sources to build.
fill() {
    local file
    cp -a --reflink=auto "$cache/bare" "$work/root" || return 1
    sources | awk '$2 ~ "^'$release'" { print "deb", $1, $2, $3 }' >"$work/root/etc/apt/sources.list"
    apt-config dump | grep '^Acquire::' >"$work/root/etc/apt/apt.conf.d/00machine"
    echo force-unsafe-io >"$work/root/etc/dpkg/dpkg.cfg.d/throw-away"
    for file in /etc/resolv.conf /etc/hosts /etc/ssl/certs/ca-certificates.crt; do
        [ ! -e "$file" ] || [ ! -d "$work/root${file%/*}" ] || cp -L "$file" "$work/root$file" || return 1
    done
    git clone -q --no-hardlinks "$tree" "$work/root/hp3" || return 1
    [ -z "$(git -C "$tree" status --porcelain)" ] || say "what is not committed is not in this run"
}

# The root's first process. Mounts are seen in here only, and end with the last one.
inside() {
    local dev
    mount --bind "$1" "$1" && cd "$1" && mount -t proc proc proc && mount -t sysfs sysfs sys &&
        mount -t tmpfs -o mode=755 tmpfs run && mount -t tmpfs -o mode=755 tmpfs dev || exit 77
    mkdir -p run/lock dev/pts dev/shm dev/net && mount -t tmpfs tmpfs dev/shm &&
        mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts dev/pts || exit 77
    for dev in null zero full random urandom tty net/tun kvm vhost-net; do
        [ ! -e "/dev/$dev" ] || { : >"dev/$dev" && mount --bind "/dev/$dev" "dev/$dev"; } || exit 77
    done
    ln -s pts/ptmx dev/ptmx && ln -s /proc/self/fd dev/fd && ln -s fd/0 dev/stdin && ln -s fd/1 dev/stdout && ln -s fd/2 dev/stderr
    [ ! -d sys/fs/bpf ] || mount -t bpf bpf sys/fs/bpf
    [ ! -d sys/fs/cgroup ] || mount --rbind /sys/fs/cgroup sys/fs/cgroup # for a systemd of a test's own
    [ ! -d sys/kernel/tracing ] || mount -t tracefs tracefs sys/kernel/tracing
    mount --bind "$2" var/cache/apt/archives || exit 77
    # For tests that want a fresh root of their own.
    mkdir -p ".$cache/bare" && mount --bind -o ro "$cache/bare" ".$cache/bare" || exit 77
    # Not chroot: unshare and ip want a root that is a mount.
    pivot_root . . && umount -l . && cd /hp3 || exit 77
    "${@:3}"
}

# Only here is the outside in reach.
packages() {
    apt-get -qq -o APT::Update::Error-Mode=any update || exit 77
    scripts/install-deps.sh && apt-get -qq autoclean >/dev/null && tests/lab/lab fetch
}

without_network() { ip link set lo up && "$@"; }

# in_root [UNSHARE OPTIONS] FUNCTION...: a function of this script in the root.
in_root() {
    local options=() keep=()
    while [[ $1 == -* ]]; do options+=("$1") && shift; done
    mapfile -t keep < <(env | grep -E '^(HP3_[A-Z_]+|CI|TERM|[a-z]+_proxy|[A-Z]+_PROXY)=')
    env -i --default-signal=INT,QUIT "${keep[@]}" PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
        setpriv --pdeathsig KILL unshare --mount --ipc --uts "${options[@]}" "$0" _inside "$work/root" "$cache/debs" "$@" \
        <&0 8>&- 9>&- &
    wait $!
    code=$?
}

# Who has the root for its own is known by the directory's inode, whatever namespaces it went to.
clean_up() {
    local root pid there i
    trap '' HUP INT TERM
    root=$(stat -c %d:%i "$work/root" 2>/dev/null)
    for ((i = 0; i < 100; i++)); do
        there=()
        for pid in /proc/[0-9]*; do
            [ "$(stat -Lc %d:%i "$pid/root" 2>/dev/null)" = "${root:-none}" ] && there+=("${pid#/proc/}")
        done
        [ ${#there[@]} -gt 0 ] || break
        kill -KILL "${there[@]}" 2>/dev/null
        sleep 0.1
    done
    rm -rf --one-file-system "$work"
}

# Read as a whole before it runs: the tree may change meanwhile.
main() {
    local old
    command=("$@")
    case ${1--h} in
    -h | --help) sed -n '3,19s/^# \{0,1\}//p' "$0"; exit 0 ;;
    --bare) bare; exit ;;
    _inside) inside "${@:2}"; exit ;;
    _keep) work=$2 && flock "$work/lock" true && clean_up; exit ;;
    esac
    [ "$(id -u)" = 0 ] || on_machine 'not root'
    type -P apt-get unshare pivot_root setpriv flock git >/dev/null || on_machine 'apt, util-linux or git is missing'
    unshare --mount --net true 2>/dev/null || on_machine 'namespaces are forbidden here'
    mkdir -p "$cache/debs" 2>/dev/null && exec 8>"$cache/lock" || on_machine "cannot write $cache"
    flock -w 900 8 || on_machine "another run has held $cache/lock for 15 minutes"
    bare_root || on_machine "$why"
    for old in "$cache"/run.*/; do # of a machine that went down; a living run holds its lock
        [ ! -d "$old" ] || flock -n "$old/lock" rm -rf --one-file-system "$old"
    done
    work=$(mktemp -d "$cache/run.XXXXXX") || on_machine "cannot write $cache"
    trap clean_up EXIT
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 143' TERM
    # The keeper waits for the lock, which only this script holds: it removes what is left, however this script ended.
    exec 9>"$work/lock"
    flock 9
    setsid "$0" _keep "$work" 9>&- 8>&- >/dev/null 2>&1 </dev/null &
    fill || { say "cannot fill $work: is the disk full?"; exit 1; }
    say 'installing what scripts/packages.txt lists'
    in_root packages
    case $code in
    0) ;;
    77) clean_up; on_machine 'the root cannot be entered, or the mirror is not in reach' ;;
    *) say 'the packages cannot be installed'; exit 1 ;;
    esac
    flock -u 8
    say "$* ($SECONDS s since start)"
    in_root --net without_network "$@"
    exit "$code"
}
main "$@"
