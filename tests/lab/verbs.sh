# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
#
# For scenarios in verbs mode on the fabric (bash, sourced; brings fabric.sh along): hp3d without a
# rail in both guests, applications with libhp3verbs.so, and what queue pairs, events and paths say.
#
#     verbs_begin --build build
#     app_start 'kind=write qps=8 size=8192 depth=2 procs=2'
#     works                                   # all its queue pairs in guest 1 do
#     spines                                  # that they take, one a line
#     app_stop                                # APP_SAID has what it said, a line for each process
#
# kind=write, send and read are perftest's, procs of it at once, the other words are those of
# rdma_start (lib.sh). kind=collective and kind=reads: tests/lab/collective, with threads=N.

# shellcheck source=fabric.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/fabric.sh"

# Times are those of config/lab.ini; a drain takes as long as what is in flight on the slow path.
VERBS_INI='[eal]
memory_mb = 64
[verbs]
socket = "/run/hp3/verbs.sock"
[probes]
probe_key = "6c61626c61626c61626c61626c61626c"
[control]
socket = "/run/hp3/hp3.sock"
[policy]
study = on
[ppp]
cycle_us = 100000
rtt_factor = 200
probe_timeout_us = 500000
backoff_min_us = 50000
backoff_max_us = 500000
path_fresh_us = 2000000
[rfr]
close_timeout_us = 1000000
max_hold_us = 500000
cooldown_us = 500000
move_wait_us = 500000
stall_us = 1000000
[log]
audit = "off"'
VERBS_PEER=10.9.2.1
APP_QPS=0 APP_SAID='' APP_SERVERS=() APP_CLIENTS=() APP_WHAT=()

fail() { note "FAILED: $*" && exit 1; }
look() { "$LIB_DIR/reroute.py" "$@"; }

verbs_mode_hp3d() { # GUEST [NAME=VALUE...] PROGRAM: returns when it answers
    echo "$VERBS_INI" >"$LAB_STATE/g$1/hp3d.ini"
    # shellcheck disable=SC2016 # the guest's shell expands it
    HP3D_JOB[$1]=$(guest_bg "$1" sh -c 'mkdir -p /run/hp3 && exec nice -n -10 env "$@" --config /lab/hp3d.ini' sh "${@:2}")
    hp3d_await "$1" || fail "no hp3d: $(hp3d_log "$1" | tail -n 5)"
    ! hp3d_log "$1" | grep -q 'other paths are not asked' || fail "no datagrams: $(hp3d_log "$1")"
}

verbs_begin() {
    local g
    fabric_begin "$LIB_DIR/topo/spines.ini" "$@" || exit 1
    for g in 1 2; do bridge_start $g direct || fail 'no bridge'; done
    RDMA_SCRIPT="export LD_PRELOAD=$LAB_BUILD/app/verbs/libhp3verbs.so; $RDMA_SCRIPT"
}

collective_start() { # write|read THREADS SECONDS
    local words=(env "NCCL_IBVERBS_LIB=$LAB_BUILD/app/verbs/libhp3verbs.so" "$LAB_BUILD/tests/lab/lab-collective"
        "$1" 18600 "$2" "$3")
    RDMA_WHAT="collective $1 threads=$2"
    RDMA_SERVER=$(LIMIT=$(($3 + 60)) guest_bg 2 "${words[@]}") && rdma_listens 0 18600 &&
        RDMA_CLIENT=$(LIMIT=$(($3 + 60)) guest_bg 1 "${words[@]}" $VERBS_PEER)
}

collective_finish() {
    local out
    if out=$(lab wait "$RDMA_CLIENT" 2>&1) && lab wait "$RDMA_SERVER" >/dev/null 2>&1; then
        echo "$out"
    else
        note "$RDMA_WHAT: $out; $(cat "$LAB_STATE/g2/jobs/${RDMA_SERVER#*/}/"{out,err})"
        return 1
    fi
}

# word NAME DEFAULT TEXT
word() {
    local w
    for w in $3; do [ "${w%%=*}" = "$1" ] && echo "${w#*=}" && return; done
    echo "$2"
}

app_start() { # CASE
    local i kind rest
    kind=$(word kind write "$1")
    APP_SERVERS=() APP_CLIENTS=() APP_WHAT=()
    case $kind in
    collective | reads)
        APP_QPS=$((4 * $(word threads 1 "$1")))
        [ "$kind" = reads ] || kind="write"
        collective_start "${kind%s}" "$(word threads 1 "$1")" 500 || fail "$1"
        APP_SERVERS=("$RDMA_SERVER") APP_CLIENTS=("$RDMA_CLIENT") APP_WHAT=("$RDMA_WHAT")
        return
        ;;
    esac
    rest=$(tr ' ' '\n' <<<"$1" | grep -v '^procs=' | tr '\n' ' ')
    APP_QPS=$(($(word procs 1 "$1") * $(word qps 1 "$1")))
    for ((i = 0; i < $(word procs 1 "$1"); i++)); do
        # shellcheck disable=SC2086
        rdma_start $rest seconds=500 mtu=1024 peer=$VERBS_PEER port=$((18515 + i)) extra='--qp-timeout=18 -f 1' || fail "$1"
        APP_SERVERS+=("$RDMA_SERVER") APP_CLIENTS+=("$RDMA_CLIENT") APP_WHAT+=("$RDMA_WHAT")
    done
}

# The clock of both programs is their alarm.
app_stop() {
    local i finish
    for i in "${APP_CLIENTS[@]}"; do lab kill -ALRM "$i"; done
    APP_SAID=''
    for i in "${!APP_CLIENTS[@]}"; do
        RDMA_SERVER=${APP_SERVERS[i]} RDMA_CLIENT=${APP_CLIENTS[i]} RDMA_WHAT=${APP_WHAT[i]}
        [[ $RDMA_WHAT = collective* ]] && finish=collective_finish || finish=rdma_finish
        APP_SAID+=$($finish)$'\n' || fail "$RDMA_WHAT did not end clean"
    done
}

qps() { hp3ctl 1 --json qps; }
# The spines that guest 1's queue pairs take, one a line. The fabric is asked without hp3-testbed, for all of them at once.
spines() {
    qps | python3 -c '
import json, sys
sys.path.insert(0, sys.argv[1])
from testbed import tools
fabric = tools.Control(sys.argv[2])
for line in sys.stdin:
    port = json.loads(line)["port"]
    print(fabric.ask("path", src="h1", dst="h2", sport=port, qpn=0, ipv6=False)["path"][1])' \
        "$LIB_DIR/../../p4-testbed" "/run/hp3-testbed/$BED/fabric.sock"
}
# The spine that most queue pairs take.
worst() { spines | sort | uniq -c | sort -rn | awk 'NR == 1 { print $2 }'; }

# All queue pairs of the application have worked, on ports that can be asked.
works() {
    local i
    for ((i = 0; i < 100; i++)); do
        qps | python3 -c '
import json, sys
q = [json.loads(l) for l in sys.stdin]
sys.exit(not (len(q) == int(sys.argv[1]) and all(x["done_wrs"] > 20 and (x["moves"] or x["responds"]) for x in q)))' $APP_QPS && return
        sleep 0.3
    done
    fail "queue pairs do not work: $(qps) $(hp3d_log 1 | tail -n 5)"
}

# leaves SPINE WHAT: nobody is on it any more. Says in TOOK how long that took, in ms.
leaves() {
    local i now left since=${EPOCHREALTIME/./}
    for ((i = 0; i < 240; i++)); do
        now=$(spines)
        left=$(grep -cx "$1" <<<"$now")
        # shellcheck disable=SC2034 # for who calls
        TOOK=$(((${EPOCHREALTIME/./} - since) / 1000))
        [ "$left" = 0 ] && [ -n "$now" ] && return
        sleep 0.2
    done
    fail "$2: $left queue pairs are on $1 still: $(hp3ctl 1 events | tail -n 12)"
}

# moved_by SEQ CAUSE[|CAUSE]...: moves since then for such a reason.
moved_by() { hp3ctl 1 --json events | python3 -c '
import json, sys
e = [json.loads(l) for l in sys.stdin]
print(sum(x["seq"] > int(sys.argv[1]) and x.get("cause") in sys.argv[2].split("|") and
          (x.get("outcome") == "moved" or x["type"] == "failover") for x in e))' "$1" "$2"; }
newest() { hp3ctl 1 --json events | tail -n 1 | python3 -c 'import json, sys; print(json.loads(sys.stdin.read() or "{\"seq\": 0}")["seq"])'; }

# counted WHAT BEFORE: the RNICs saw nothing out of order; timers may have gone off, and what was sent again came.
counted() {
    look counters "$2" "$(rnic_counters)" {1,2}:completer_retry_err=0..1000 {1,2}:duplicate_request=0..10000 \
        {1,2}:rcvd_seq_err=0..0 {1,2}:out_of_seq_request=0..0 2>"$LAB_STATE/why" || fail "$1: $(cat "$LAB_STATE/why")"
}
