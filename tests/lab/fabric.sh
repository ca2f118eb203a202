# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The lab's guests on the P4 testbed's fabric, for scenarios (bash, sourced; brings lib.sh along).
#
#     . tests/lab/fabric.sh
#     fabric_begin TOPOLOGY --build build [lab up options]
#     testbed degrade l1-s1 --delay-us 60000      # p4-testbed/hp3-testbed, all its commands
#     spine_of h1 h2 50000                        # s3: which way this source port goes
#
# Guest N is host N of the topology: its addresses, its gateway. Fabric and guests end with this
# shell, also if it is killed.

# shellcheck source=lib.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"

testbed() { "$LIB_DIR/../../p4-testbed/hp3-testbed" --name "$BED" --build "$LAB_BUILD" "$@"; }

# fabric_begin TOPOLOGY --build DIR [lab up options]
fabric_begin() {
    local topology=$1 i g
    BED=r$(($$ % 100000)) LAB_BUILD=''
    for ((i = 2; i < $#; i++)); do
        [ "${!i}" = --build ] && LAB_BUILD=$(readlink -f "${*:i+1:1}")
    done
    # shellcheck disable=SC2016
    setsid bash -c '. "$1/vm.sh"; since=$(born "$2")
        while [ "$(born "$2")" = "$since" ]; do sleep 1; done
        exec "$1/../../p4-testbed/hp3-testbed" --name "$3" --build "$4" down' keeper \
        "$LIB_DIR" $$ "$BED" "$LAB_BUILD" >/dev/null 2>&1 </dev/null &
    FABRIC_KEEPER=$!
    testbed up "$topology" --bare --tap h1 --tap h2 >/dev/null || return 1
    LAB_VIA="ip netns exec hp3tb-$BED-fabric" HP3_LAB_TAPS="h1 h2" lab_begin "$BED" --mtu 1500 "${@:2}" || return 1
    for g in 1 2; do fabric_settle $g || return 1; done
}

lab_after() { # by lab_end; who kills this meanwhile leaves it to the keeper
    testbed down
    kill "$FABRIC_KEEPER" 2>/dev/null
}

# Guest N becomes host N: its addresses, its leaf's MAC.
fabric_settle() {
    # shellcheck disable=SC2016
    guest "$1" sh -c 'set -e
        ip addr flush dev rnic0
        ip link set rnic0 address 02:09:00:00:0$1:01
        ip addr add 10.9.$1.1/32 dev rnic0
        ip route add 10.9.$1.254/32 dev rnic0
        ip route add 10.0.0.0/8 via 10.9.$1.254 dev rnic0 src 10.9.$1.1
        ip neigh replace 10.9.$1.254 lladdr 02:08:00:00:01:0$1 dev rnic0 nud permanent' sh "$1"
}

# spine_of FROM TO PORT: the spine that RoCEv2 packets with this source port take.
spine_of() { testbed path "$1" "$2" "$3" | awk '{ print $3 }'; }

# port_over SPINE: a source port that leads from h1 to h2 over it.
port_over() {
    local p
    for ((p = 50000; p < 50400; p++)); do [ "$(spine_of h1 h2 "$p")" = "$1" ] && echo "$p" && return; done
    return 1
}

# --- one connection from guest 1 to guest 2, for scenarios that begin with --pcap=96 ---

A=10.9.1.1 B=10.9.2.1
fail() { note "FAILED: $*" && exit 1; }
look() { "$LIB_DIR/reroute.py" "$@"; }
port_of_data() { look port "$LAB_STATE/g1.pcap" $A data; }
field() { python3 -c 'import json, sys; print(json.loads(sys.argv[1])[sys.argv[2]])' "$1" "$2"; }

follow_events() {
    local job
    job=$(guest_bg 1 "$LAB_BUILD/app/hp3ctl/hp3ctl" --json events --follow) || fail 'no events'
    EVENTS=$LAB_STATE/g1/jobs/${job#*/}/out
}
await_data() { # SECONDS WHAT: a tenth of a second full of new data, from now on
    local since i
    since=$(look mark "$LAB_STATE/g2.pcap")
    for ((i = 0; i < $1 * 5; i++)); do
        sleep 0.2
        look pause "$LAB_STATE/g2.pcap" $A "$since" >/dev/null 2>&1 && return
    done
    fail "$2"
}
# hp3d knows the flow and the round trip of a path that is well: what is slow is measured by that.
await_base() {
    local i
    for ((i = 0; i < 40; i++)); do
        hp3ctl 1 --json flows | python3 -c '
import json, sys
f = min((json.loads(l) for l in sys.stdin), key=lambda f: f["idle_ns"])
sys.exit(not (f["paired"] and f["pairing"] == "event" and 0 < f["path"]["base_rtt_ns"] < 5e7))' && return
        sleep 0.3
    done
    fail "$1: hp3d has measured no round trip: $(hp3ctl 1 flows)"
}

# The first connection pages hp3d and perftest in, over the guest's file system: it is seen late.
warm_up() { rdma_run kind=write iters=20 size=8192 depth=2 peer=$B >/dev/null || fail 'no connection'; }
