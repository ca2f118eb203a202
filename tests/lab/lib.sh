# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
#
# What lab scenarios are written with (bash, sourced): a lab that ends with the
# script, a bridge in each guest, perftest runs, and the RNIC's own counters.
#
#     . tests/lab/lib.sh
#     lab_begin NAME --build build
#     hp3d_start_all
#     before=$(rnic_counters)
#     rdma_start kind=write qps=8 mtu=4096 seconds=10
#     hp3ctl 1 move --all --random
#     rdma_finish                            # {"gbps":0.31,...}
#     rnic_judge "$before" "$(rnic_counters)" 1000
#
# Settings are KEY=VALUE words. Functions return non-zero and say why; every
# wait is bounded. Guest 1 runs the perftest client, guest 2 the server.

LIB_DIR=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")

note() { echo "$(basename "$0"): $*" >&2; }
lab() { "$LIB_DIR/lab" --name "$LAB" "$@"; }
guest() { lab exec "$1" --timeout "${LIMIT:-60}" -- "${@:2}"; }
guest_bg() { lab exec "$1" --bg --timeout "${LIMIT:-1800}" -- "${@:2}"; } # as long as the lab

# lab_begin NAME [lab up options]: brings a lab up; it ends with this shell.
lab_begin() {
	LAB=$1 LAB_MTU=4200 LAB_BUILD='' LAB_GUESTS=2
	local i
	for ((i = 2; i < $#; i++)); do
		case ${!i} in
		--mtu) LAB_MTU=${*:i+1:1} ;;
		--build) LAB_BUILD=$(readlink -f "${*:i+1:1}") ;;
		--guests) LAB_GUESTS=${*:i+1:1} ;;
		esac
	done
	LAB_STATE=${TMPDIR:-/tmp}/hp3-lab.$LAB
	declare -gA HP3D_JOB=() BRIDGE_JOB=()
	trap lab_end EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
	# LAB_VIA: words of a command to run it under, such as "ip netns exec NAME". In there, nothing can be downloaded.
	[ -z "${LAB_VIA-}" ] || lab fetch || return 1
	# shellcheck disable=SC2086
	${LAB_VIA-} "$LIB_DIR/lab" --name "$LAB" up --owner $$ "${@:2}"
}

# lab_end: consoles and jobs stay; recordings, which are large, only of a failed
# run (or with HP3_LAB_KEEP=1). Ends with lab_after, if the scenario defines it.
lab_end() {
	local code=$?
	lab down
	if declare -F lab_after >/dev/null; then lab_after; fi
	if [ $code = 0 ] && [ -z "${HP3_LAB_KEEP-}" ]; then rm -f "$LAB_STATE"/g*.pcap; fi
	[ $code = 0 ] || note "logs are in $LAB_STATE"
	return $code
}

# lab_port INDEX INTERFACE: devargs of a port whose frames fit the lab's MTU.
# A frame holds packet, VLAN tag and the ring's own header; a block has to be
# whole pages and whole frames. The ring takes what 8 queue pairs may have in
# flight (128 packets each) while another program has the guest's only CPU.
lab_port() {
	local frame=$(((LAB_MTU + 18 + 66 + 255) / 256 * 256))
	echo "net_af_packet$1,iface=$2,qpairs=1,qdisc_bypass=0,framesz=$frame,blocksz=$((frame * 16)),framecnt=2048"
}

# lab_paths GUEST MS: what the guest sends takes one of two paths, by the lowest
# bit of the UDP source port; the path of odd ports takes MS milliseconds longer.
# A packet that moved too early overtakes those before it.
lab_paths() {
	# shellcheck disable=SC2016
	guest "$1" sh -c 'set -e
		# What waits in the slow path counts against the send buffer of hp3d'"'"'s socket; when that is full,
		# net_af_packet leaves frames in its ring until the next packet: a release of held ones must fit.
		echo 16777216 >/proc/sys/net/core/wmem_max
		echo 16777216 >/proc/sys/net/core/wmem_default
		tc qdisc replace dev eth0 root handle 1: prio bands 2 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
		tc qdisc add dev eth0 parent 1:1 handle 10: pfifo limit 20000
		tc qdisc add dev eth0 parent 1:2 handle 20: netem delay "$1"ms limit 20000
		tc filter add dev eth0 parent 1: protocol ip u32 match ip protocol 17 0xff match ip sport 1 1 flowid 1:2' sh "$2"
}

# hp3d_ini GUEST [SECTION.KEY=VALUE...]: writes /lab/hp3d.ini of that guest: config/lab.ini, its ports as large as the lab's
# frames, a key that all guests share, and on top what the words say.
hp3d_ini() {
	local n=$1 word key section='' value
	local -A ini=()
	while IFS='= ' read -r key value; do
		case $key in
		'' | '#'*) ;;
		'['*) section=${key//[][]/} ;;
		*) ini[$section.$key]=${value//\"/} ;;
		esac
	done <"$LIB_DIR/../../config/lab.ini"
	ini[rail.rail0.rnic]=$(lab_port 0 port0) ini[rail.rail0.net]=$(lab_port 1 eth0)
	ini[probes.probe_key]=6c61626c61626c61626c61626c61626c
	for word in "${@:2}"; do ini[${word%%=*}]=${word#*=}; done
	for key in "${!ini[@]}"; do
		echo "${key%.*} ${key##*.} = \"${ini[$key]}\""
	done | sort | awk '$1 != s { s = $1; print "[" s "]" } { sub(/^[^ ]+ /, ""); print }' \
		>"$LAB_STATE/g$n/hp3d.ini"
}

# hp3d_start GUEST [SECTION.KEY=VALUE...]: returns when the control socket answers.
hp3d_start() { hp3d_launch "$@" && hp3d_await "$1"; }

# hp3d_start_all [SECTION.KEY=VALUE...]: in every guest, at once.
hp3d_start_all() {
	local n
	for ((n = 1; n <= LAB_GUESTS; n++)); do hp3d_launch "$n" "$@" || return 1; done
	for ((n = 1; n <= LAB_GUESTS; n++)); do hp3d_await "$n" || return 1; done
}

# The two halves of hp3d_start.
hp3d_launch() {
	local n=$1
	hp3d_ini "$@"
	# Ahead of the application, with which it shares the guest's only CPU; on a real host it has its own.
	# shellcheck disable=SC2016 # the guest's shell expands it
	HP3D_JOB[$n]=$(guest_bg "$n" sh -c 'mkdir -p /run/hp3 && exec nice -n -10 "$0" --config /lab/hp3d.ini' "${HP3D:-$LAB_BUILD/app/hp3d/hp3d}")
}

hp3d_await() {
	# shellcheck disable=SC2016
	guest "$1" sh -c 'for i in $(seq 300); do [ -S /run/hp3/hp3.sock ] && "$0" --json health 2>&1 | grep -Eq "\"status\":\"(ok|warning)\"" && exit; sleep 0.1; done; exit 1' \
		"$LAB_BUILD/app/hp3ctl/hp3ctl" || {
		note "hp3d in guest $1 does not answer: $(hp3d_log "$1" | tail -n 5)"
		return 1
	}
}

hp3ctl() { guest "$1" "$LAB_BUILD/app/hp3ctl/hp3ctl" "${@:2}"; }
hp3d_log() { cat "$LAB_STATE/g$1/jobs/${HP3D_JOB[$1]#*/}/"{out,err}; }
hp3d_signal() { lab kill "-$2" "${HP3D_JOB[$1]}"; } # GUEST SIGNAL

# hp3d_stop GUEST: a clean stop; returns hp3d's exit code.
hp3d_stop() {
	hp3d_signal "$1" TERM || return 1
	lab wait "${HP3D_JOB[$1]}" >/dev/null
}

# bridge_start GUEST direct|testpmd: what else can carry packets between port0
# and eth0: the kernel (fast, for recordings and base lines), or DPDK's testpmd.
bridge_start() {
	local n=$1 i
	# shellcheck disable=SC2016
	case $2 in
	direct) guest "$n" sh -c 'set -e
		for way in "port0 eth0" "eth0 port0"; do
			set -- $way
			tc qdisc add dev "$1" ingress
			tc filter add dev "$1" ingress matchall action mirred egress redirect dev "$2"
		done' ;;
	testpmd)
		BRIDGE_JOB[$n]=$(guest_bg "$n" stdbuf -oL dpdk-testpmd --lcores '0@0,1@0' --no-huge --no-shconf -m 128 --no-pci \
			--file-prefix bridge --vdev "$(lab_port 0 port0)" --vdev "$(lab_port 1 eth0)" -- \
			--forward-mode=io --mbuf-size=4608 --total-num-mbufs=4096 --no-lsc-interrupt \
			--auto-start --stats-period=3600) || return 1
		for ((i = 0; i < 200; i++)); do
			grep -qs 'forwarding - ports' "$LAB_STATE/g$n/jobs/${BRIDGE_JOB[$n]#*/}/out" && return
			[ -e "$LAB_STATE/g$n/jobs/${BRIDGE_JOB[$n]#*/}/rc" ] && break
			sleep 0.1
		done
		note "testpmd in guest $n does not run: $(tail -n 3 "$LAB_STATE/g$n/jobs/${BRIDGE_JOB[$n]#*/}/err")"
		return 1
		;;
	esac
}

bridge_stop() { # GUEST: whichever bridge it is
	if [ -n "${BRIDGE_JOB[$1]-}" ]; then
		lab kill -TERM "${BRIDGE_JOB[$1]}" && lab wait "${BRIDGE_JOB[$1]}" >/dev/null 2>&1
		unset "BRIDGE_JOB[$1]"
	else
		guest "$1" sh -c 'tc qdisc del dev port0 ingress; tc qdisc del dev eth0 ingress'
	fi
}

# The gid index differs with the order in which addresses came up: look it up.
# shellcheck disable=SC2016
RDMA_SCRIPT='family=$1 dev=$2 program=$3; shift 3
for i in 0 1 2 3 4 5 6 7; do
	read -r gid </sys/class/infiniband/$dev/ports/1/gids/$i
	case $family.$gid in 4.*:ffff:*:*) x=$i ;; 6.fd00:*) x=$i ;; esac
done
[ -n "$x" ] || { echo "$dev has no IPv$family gid" >&2; exit 1; }
exec "$program" -d "$dev" -x "$x" "$@"'

# rdma_start [KEY=VALUE...]: starts perftest and returns while it runs.
#   kind=write|send|read|atomic  qps=1  mtu=1024  size=65536  bidir=0|1
#   seconds=5 | iters=N   cm=0|1 (rdma_cm)  ip=4|6  tclass=2  depth=N  port=18515
#   dev=rxe0  peer=10.9.0.2  extra='...'  lat=0|1 (the latency program)
rdma_start() {
	local kind=write qps=1 mtu=1024 size=65536 bidir=0 seconds=5 iters='' cm=0 ip=4 tclass=2
	local depth='' port=18515 dev=rxe0 peer=10.9.0.2 extra='' lat=0 word args program
	for word; do
		case ${word%%=*} in
		kind | qps | mtu | size | bidir | seconds | iters | cm | ip | tclass | depth | port | dev | peer | extra | lat) ;;
		*) note "rdma_start knows no '$word'" && return 2 ;;
		esac
		local "$word"
	done
	[ "$lat" = 1 ] && program=ib_${kind}_lat || program=ib_${kind}_bw
	args=(-F --qp-timeout=18 "--tclass=$tclass" -p "$port")
	[ "$kind" = atomic ] || args+=(-s "$size")
	[ "$cm" = 1 ] && args+=(-R) || args+=(-m "$mtu")
	[ "$lat" = 1 ] || args+=(-q "$qps" --report_gbits)
	[ "$bidir" = 1 ] && args+=(-b)
	[ -n "$depth" ] && args+=(-t "$depth")
	if [ -n "$iters" ]; then args+=(-n "$iters"); else args+=(-D "$seconds"); fi
	# shellcheck disable=SC2206 # words on purpose
	args+=($extra)
	RDMA_WHAT="$program qps=$qps mtu=$mtu bidir=$bidir cm=$cm ip=$ip"
	local limit=$((seconds + 60))
	RDMA_SERVER=$(LIMIT=$limit guest_bg 2 sh -c "$RDMA_SCRIPT" "$program" "$ip" "$dev" "$program" "${args[@]}") || return 1
	rdma_listens "$cm" "$port" || return 1
	RDMA_CLIENT=$(LIMIT=$limit guest_bg 1 sh -c "$RDMA_SCRIPT" "$program" "$ip" "$dev" "$program" "${args[@]}" "$peer")
}

# rdma_listens CM PORT: waits for the server in guest 2.
rdma_listens() {
	# shellcheck disable=SC2016
	guest 2 sh -c 'for i in $(seq 150); do
			if [ "$1" = 1 ]; then rdma resource show cm_id | grep -q "state LISTEN.*:$2 "
			else grep -qi ":$3 0*:0000 0A" /proc/net/tcp /proc/net/tcp6; fi && exit
			sleep 0.1
		done; exit 1' sh "$1" "$2" "$(printf %04X "$2")" && return
	note "perftest server does not listen: $(cat "$LAB_STATE/g2/jobs/${RDMA_SERVER#*/}/"{out,err} | tail -n 3)"
	return 1
}

# rdma_finish: waits for the run and prints its result as one JSON line.
rdma_finish() {
	local out code
	out=$(lab wait "$RDMA_CLIENT" 2>&1) || {
		code=$?
		note "$RDMA_WHAT: client failed ($code): $(tail -n 4 <<<"$out")"
		note "... and its server says: $(cat "$LAB_STATE/g2/jobs/${RDMA_SERVER#*/}/"{out,err,rc} 2>&1 | tail -n 12)"
		lab kill -TERM "$RDMA_SERVER" 2>/dev/null
		return 1
	}
	lab wait "$RDMA_SERVER" >/dev/null 2>&1 || {
		note "$RDMA_WHAT: server failed: $(tail -n 4 "$LAB_STATE/g2/jobs/${RDMA_SERVER#*/}/err")"
		return 1
	}
	awk -v what="$RDMA_WHAT" '/^ *#bytes/ { lat = /t_min/; getline
		printf "{\"run\":\"%s\",\"bytes\":%d,\"iterations\":%d,\"%s\":%s}\n", what, $1, $2, lat ? "typical_us" : "gbps", lat ? $5 : $4
		found = 1; exit } END { exit !found }' <<<"$out" || {
		note "$RDMA_WHAT: no result in: $(tail -n 4 <<<"$out")"
		return 1
	}
}

rdma_run() { rdma_start "$@" && rdma_finish; }

# rnic_counters: all counters of every guest's RNIC: {"1":{...},"2":{...}}.
rnic_counters() {
	local n sep='{'
	for ((n = 1; n <= LAB_GUESTS; n++)); do
		printf '%s"%s":' "$sep" "$n"
		# shellcheck disable=SC2016
		guest "$n" sh -c 'cd /sys/class/infiniband/rxe0/ports/1/hw_counters || exit
			for f in *; do read -r v <$f; printf "\"%s\":%s " $f $v; done' | sed 's/^/{/; s/ $/}/; s/ /,/g' | tr -d '\n'
		sep=,
	done
	echo '}'
}

rnic_delta() { "$LIB_DIR/rnic.py" delta "$1" "$2"; } # BEFORE AFTER
# rnic_judge BEFORE AFTER MIN_PACKETS: nothing out of order, repeated or lost on
# any RNIC, and not because nothing was sent.
rnic_judge() { "$LIB_DIR/rnic.py" judge "$1" "$2" "$3"; }
