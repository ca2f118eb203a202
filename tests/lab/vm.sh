# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Virtual machines of one lab: start, recognise, watch, end. Sourced by `lab`.
#
# Nothing outlives its purpose: a guest is a child of timeout(1) and dies with
# it; a watcher ends the guests when whoever asked for the lab is gone; and
# only processes recorded here, with their start time, are ever signalled.

# The kernel command line switches off what costs much under emulation and
# protects nothing in a guest that lives for a minute.
KERNEL_ARGS='console=ttyS0 quiet loglevel=4 panic=-1 mitigations=off nokaslr
 random.trust_cpu=on tsc=reliable no_timer_check audit=0 nowatchdog net.ifnames=0 rdinit=/init'

# born PID: start time of a process; with the id it names one process for good.
# A zombie has ended already.
born() {
	local stat
	{ read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 1
	read -ra stat <<<"${stat##*) }"
	[ "${stat[0]}" != Z ] || return 1
	echo "${stat[19]}"
}

record() { # FILE PID; at once: whoever reads a file that is being written would take the process for gone
	echo "$2 $(born "$2")" >"$1.new" && mv "$1.new" "$1"
}

# recorded FILE: prints the recorded process if that very process still runs.
recorded() {
	local pid since
	{ read -r pid since <"$1"; } 2>/dev/null || return 1
	[ -n "$since" ] && [ "$(born "$pid")" = "$since" ] && echo "$pid"
}

# end FILE: ends the recorded process, politely first; bounded to 4 s.
end() {
	local pid i
	pid=$(recorded "$1") && kill -TERM "$pid" 2>/dev/null
	for ((i = 0; i < 40; i++)); do
		recorded "$1" >/dev/null || break
		[ "$i" = 30 ] && kill -KILL "$pid" 2>/dev/null
		nap 0.1
	done
	rm -f "$1"
}

# vm_accel WANTED: sets ACCEL to the arguments that choose an accelerator. KVM
# is used only where a guest boots under it; asked once per boot of the host.
vm_accel() {
	local answer boot
	read -r boot </proc/sys/kernel/random/boot_id
	answer=$CACHE/kvm.$boot
	if [ "$1" = auto ] && [ ! -e "$answer" ]; then
		find "$CACHE" -maxdepth 1 -name 'kvm.*' -delete
		if [ -w /dev/kvm ] && vm_probe kvm; then echo kvm; else echo tcg; fi >"$answer.$$"
		mv "$answer.$$" "$answer"
		say "accelerator: $(<"$answer")"
	fi
	ACCEL=$1
	[ "$1" = auto ] && ACCEL=$(<"$answer")
	return 0
}

# vm_probe ACCEL: does this kernel reach user space within 8 seconds?
vm_probe() {
	local console=$STATE/log/probe.console
	timeout -k 1 8 setpriv --pdeathsig KILL qemu-system-x86_64 -M q35 -accel "$1" -cpu max -m 256 -nodefaults -no-user-config \
		-display none -no-reboot -serial "file:$console" -kernel "$KERNEL/kernel" \
		-initrd "$STATE/initramfs" -append "${KERNEL_ARGS//$'\n'/} hp3.probe=1" \
		>"$STATE/log/probe.qemu" 2>&1 </dev/null
	grep -q 'hp3-lab: alive' "$console" 2>/dev/null
}

# vm_net N: sets NET to the arguments of guest N's uplink. Two guests share one
# cable; with more of them, guest 1 carries a hub and the others plug into it.
# HP3_LAB_TAPS="h1 h3": guests plug into these taps of our network namespace.
vm_net() {
	local sock=$STATE/wire n taps
	NET=()
	read -ra taps <<<"${HP3_LAB_TAPS-}"
	if [ ${#taps[@]} -gt 0 ]; then
		[ -n "${taps[$1 - 1]-}" ] || die "HP3_LAB_TAPS names no interface for guest $1"
		# without vnet_hdr a recording holds frames, and nothing before them
		NET=(-netdev "tap,id=up,ifname=${taps[$1 - 1]},script=no,downscript=no,vnet_hdr=off")
	elif [ "$1" != 1 ]; then
		NET=(-netdev "stream,id=up,server=off,addr.type=unix,addr.path=$sock$1")
	elif [ "$GUESTS" = 1 ]; then
		NET=(-netdev "hubport,id=up,hubid=0")
	elif [ "$GUESTS" = 2 ]; then
		NET=(-netdev "stream,id=up,server=on,addr.type=unix,addr.path=${sock}2")
	else
		NET=(-netdev "hubport,id=up,hubid=0")
		for ((n = 2; n <= GUESTS; n++)); do
			NET+=(-netdev "stream,id=s$n,server=on,addr.type=unix,addr.path=$sock$n")
			NET+=(-netdev "hubport,id=h$n,hubid=0,netdev=s$n")
		done
	fi
	NET+=(-device "virtio-net-pci,netdev=up,mac=02:09:00:00:02:0$1,host_mtu=$MTU,romfile=")
	if [ -n "$PCAP" ]; then
		NET+=(-object "filter-dump,id=dump,netdev=up,maxlen=$PCAP,file=$STATE/g$1.pcap")
	fi
}

vm_share() { # TAG DIRECTORY ro|rw
	SHARES+=(-virtfs "local,path=$2,mount_tag=$1,security_model=none,multidevs=remap$([ "$3" = ro ] && echo ,readonly=on)")
}

# vm_start N: starts guest N and records it. maxcpus: if a guest can have one CPU only, the emulator
# leaves out memory barriers, though QEMU's own threads run in parallel. A virtio queue may then miss
# a packet's notification, and send nothing more ("NETDEV WATCHDOG" on the console). With --icount,
# QEMU leaves out the barriers nevertheless.
vm_start() {
	local n=$1 append
	SHARES=()
	mkdir -p "$STATE/g$n/jobs"
	mkfifo -m 600 "$STATE/g$n.in" "$STATE/g$n.out" || return 1
	vm_share lab "$STATE/g$n" rw
	vm_share usr /usr ro
	vm_share modules "$KERNEL" ro
	append="${KERNEL_ARGS//$'\n'/} hp3.guest=$n hp3.mtu=$MTU hp3.life=$LIFE"
	if [ -n "$BUILD" ]; then
		vm_share build "$BUILD" ro
		append+=" hp3.build=$BUILD"
	fi
	vm_net "$n"
	[ -z "$ICOUNT" ] || NET+=(-icount "shift=$ICOUNT")
	setsid timeout -k 2 "$LIFE" setpriv --pdeathsig KILL \
		qemu-system-x86_64 -name "hp3-lab.$NAME.g$n" -M "q35,usb=off,vmport=off" -accel "$ACCEL" -cpu max \
		-smp "cpus=$CPUS,maxcpus=$((CPUS + 1))" -m "$MEM" -nodefaults -no-user-config -display none -no-reboot \
		-serial "file:$STATE/log/g$n.console" -kernel "$KERNEL/kernel" -initrd "$STATE/initramfs" \
		-append "$append" "${NET[@]}" "${SHARES[@]}" -device virtio-rng-pci,rng=rng -object rng-random,id=rng,filename=/dev/urandom \
		-device virtio-serial-pci,max_ports=2 -chardev "pipe,id=agent,path=$STATE/g$n" \
		-device virtserialport,chardev=agent,name=agent \
		>"$STATE/log/g$n.qemu" 2>&1 </dev/null &
	record "$STATE/g$n.pid" $!
}

# vm_watch: ends the lab when its owner is gone; ends with the lab. While the lab
# boots, the owner is the `lab up` that starts it.
vm_watch() {
	local n alive
	while sleep 1; do
		alive=0
		for ((n = 1; n <= GUESTS; n++)); do
			recorded "$STATE/g$n.pid" >/dev/null && alive=1
		done
		[ "$alive" = 1 ] || [ -e "$STATE/booting" ] || break
		[ -e "$STATE/owner" ] || continue
		recorded "$STATE/owner" >/dev/null && continue
		echo "owner is gone, ending the lab" >>"$STATE/log/watch"
		vm_end
		break
	done
	rm -f "$STATE/watch.pid"
}

# vm_end: ends every guest this lab recorded, whoever started them and whenever.
vm_end() {
	local file
	for file in "$STATE"/g*.pid; do
		[ -e "$file" ] && recorded "$file" >/dev/null && kill -TERM "$(recorded "$file")" 2>/dev/null
	done
	for file in "$STATE"/g*.pid; do
		[ -e "$file" ] && end "$file"
	done
	rm -f "$STATE"/g*.in "$STATE"/g*.out "$STATE"/wire[2-9] "$STATE/owner" "$STATE/booting" "$STATE/initramfs"
	rm -rf "$STATE"/tree.*
}
