/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of keys. Sections and keys of the engine come from engine/policy.def. Dumps and hp3.ini
 * have the sections in the order of the table.
 */
#include "config/address.h"
#include "config/config.h"
#include "config/filter.h"
#include "config/keys.h"
#include "engine/policy.h"

static const char *const onoff[] = {[HP3_OFF] = "off", [HP3_ON] = "on", NULL};
static const char *const spread[] = {
	[HP3_SPREAD_NIC] = "nic", [HP3_SPREAD_SOFTWARE] = "software", NULL};
static const char *const idle[] = {[HP3_IDLE_POLL] = "poll", [HP3_IDLE_SLEEP] = "sleep", NULL};

static const char *const capabilities[] = {
	[HP3_CAPABILITIES_DROP] = "drop", [HP3_CAPABILITIES_KEEP] = "keep", NULL};

static const char *const key_modes[] = {
	[HP3_KEYS_AUTO] = "auto", [HP3_KEYS_GROUP] = "group", [HP3_KEYS_OFF] = "off", NULL};
static const char *const verbs[] = {[HP3_WATCH_AUTO] = "auto",
	[HP3_WATCH_KERNEL] = "kernel",
	[HP3_WATCH_LIBRARY] = "library",
	[HP3_WATCH_OFF] = "off",
	NULL};
static const char *const fail_open[] = {[HP3_FAIL_OPEN_AUTO] = "auto",
	[HP3_FAIL_OPEN_ON] = "on",
	[HP3_FAIL_OPEN_OFF] = "off",
	NULL};
static const char *const own_addresses[] = {
	[HP3_OWN_ADDRESSES_REFUSE] = "refuse", [HP3_OWN_ADDRESSES_ACCEPT] = "accept", NULL};
static const char *const rail_modes[] = {"same", [1 + HP3_SPRAY_MOVE] = "move",
	[1 + HP3_SPRAY_ALL] = "spray", [1 + HP3_SPRAY_AUTO] = "auto", NULL};
static const char *const bond_modes[] = {
	[HP3_BOND_LACP] = "lacp", [HP3_BOND_ACTIVE_BACKUP] = "active-backup", NULL};
#define RELOAD       true
#define RESTART      false
#define SIZEOF(t, f) sizeof(((t *)0)->f)
#define WHERE(sec, name)                                                                           \
	.section = #sec, .key = #name, .offset = offsetof(struct hp3_config, sec.name),            \
	.size = SIZEOF(struct hp3_config, sec.name)

#define RAIL(name)                                                                                 \
	.section = "rail", .key = #name, .offset = offsetof(struct hp3_config_rail, name),         \
	.size = SIZEOF(struct hp3_config_rail, name)

#define BOND(name)                                                                                 \
	.section = "bond", .key = #name, .offset = offsetof(struct hp3_config_bond, name),         \
	.size = SIZEOF(struct hp3_config_bond, name)

#define INT(sec, name, u, d, lo, hi, rl, h)                                                        \
	{                                                                                          \
		WHERE(sec, name), .type = HP3_INI_INT, .unit = u, .def = d, .min = lo, .max = hi,  \
				  .reloadable = rl, .help = h                                      \
	}
#define ENUM(sec, name, list, d, rl, h)                                                            \
	{                                                                                          \
		WHERE(sec, name), .type = HP3_INI_ENUM, .choices = list, .def = d,                 \
				  .reloadable = rl, .help = h                                      \
	}
/* Strings of min..(field size - 1) bytes, not reloadable. */
#define STRING(sec, name, d, lo, ok, r, h)                                                         \
	{                                                                                          \
		WHERE(sec, name), .type = HP3_INI_STRING, .def_string = d, .min = lo,              \
				  .max = SIZEOF(struct hp3_config, sec.name) - 1, .valid = ok,     \
				  .rule = r, .help = h                                             \
	}
/* A list, empty by default. Reloadable. */
#define LIST(sec, name, ok, r, h)                                                                  \
	{                                                                                          \
		WHERE(sec, name), .type = HP3_INI_STRING, .def_string = "",                        \
				  .max = SIZEOF(struct hp3_config, sec.name) - 1, .valid = ok,     \
				  .rule = r, .reloadable = RELOAD, .help = h                       \
	}
/* A text that logs, dumps and bundles do not show. */
#define SECRET(sec, name, h)                                                                       \
	{                                                                                          \
		WHERE(sec, name), .type = HP3_INI_STRING, .def_string = "",                        \
				  .max = SIZEOF(struct hp3_config, sec.name) - 1,                  \
				  .valid = hp3_config_valid_key,                                   \
				  .rule = "32 hexadecimal digits, such as the output of "          \
					  "\"openssl rand -hex 16\", or the absolute path of a "   \
					  "file that \"hp3ctl keys\" wrote, or nothing",           \
				  .secret = true, .reloadable = RELOAD, .help = h                  \
	}
#define DEVARGS(name, h)                                                                           \
	{                                                                                          \
		RAIL(name), .type = HP3_INI_STRING, .required = true, .min = 1,                    \
			    .max = HP3_CONFIG_DEVARGS_MAX - 1, .valid = hp3_config_valid_devargs,  \
			    .rule = "DPDK devargs without blanks, such as "                        \
				    "\"net_af_packet0,iface=veth0\"",                              \
			    .help = h                                                              \
	}

static const struct hp3_ini_section sections[] = {
	{"eal", "DPDK: memory, cores, packet buffers, and what to do when idle."},
	{"rail",
		"A pair of ports between an RNIC and its network. The file has one such section "
		"per pair.",
		.max = HP3_CONFIG_RAILS_MAX, .array = offsetof(struct hp3_config, rails),
		.stride = sizeof(struct hp3_config_rail),
		.count = offsetof(struct hp3_config, n_rails),
		.name_size = SIZEOF(struct hp3_config_rail, name)},
	{"bond",
		"Rails whose ports are the members of one bond (LACP or active-backup): RNICs and "
		"switches choose a member for each packet, so replies may arrive on another rail "
		"than the requests. The rails share their flows.",
		.max = HP3_CONFIG_BONDS_MAX, .array = offsetof(struct hp3_config, bonds),
		.stride = sizeof(struct hp3_config_bond),
		.count = offsetof(struct hp3_config, n_bonds),
		.name_size = SIZEOF(struct hp3_config_bond, name)},
	{"bypass",
		"Fail-open: the kernel forwards packets that hp3d does not take. If hp3d does not "
		"run, the kernel forwards all packets."},
	{"filter", "hp3d may move only flows that match every key of this section. hp3d forwards "
		   "other flows unchanged. If a reload excludes a moved flow, the flow returns to "
		   "its home port behind a drain."},
	{"verbs", "Verbs mode: packets bypass hp3d, and the file has no rail. The library "
		  "libhp3verbs.so in applications moves queue pairs "
		  "(/usr/share/doc/hp3/guide/verbs.md)."},
	{"watch", "How hp3d detects the set-up of queue pairs of this host, before their first "
		  "packet."},
#define HP3_POLICY_SECTION(name, text) {#name, text},
#include "engine/policy.def"
	{"probes", "Probes between hosts that run hp3d. All hosts of a fabric should have the same "
		   "values."},
	{"control", "Control socket and shutdown."},
	{"metrics", "Metrics for Prometheus (hp3-metrics(7)), over HTTP at /metrics."},
	{"log", "Records of moves, failovers and refusals that remain after hp3d has ended."},
	{"service", "hp3d as a service of the host."},
};

static const struct hp3_ini_key keys[] = {
	STRING(eal, file_prefix, "hp3", 1, hp3_config_valid_prefix,
		"letters, digits, '-', '_' and '.' only, beginning with a letter or digit",
		"name that distinguishes this process from other DPDK processes of the host"),
	INT(eal, memory_mb, "MiB", 256, 64, 1048576, RESTART,
		"memory to reserve when hugepages are off; holds the packet buffers"),
	ENUM(eal, hugepages, onoff, HP3_OFF, RESTART, "take memory from hugepages"),
	INT(eal, lcores, "lcores", 1, 1, 64, RESTART,
		"worker lcores; all flows of an address pair stay on the same lcore"),
	ENUM(eal, spread, spread, HP3_SPREAD_NIC, RESTART,
		"how a rail's packets reach the lcores. nic: the NIC spreads them; if it cannot, "
		"the rail stays on one lcore. software: the lcores hand packets to each other; "
		"two lcores are slower than one, or hardly faster"),
	STRING(eal, cpus, "", 0, hp3_config_valid_cpus, "CPU numbers and ranges, such as \"0,2-3\"",
		"CPUs to run on, such as \"0,2-3\"; empty: any"),
	STRING(eal, extra, "", 0, NULL, NULL, "further EAL arguments, such as \"--log-level=8\""),
	INT(eal, mbufs, "mbufs", 16384, 1024, 4194304, RESTART,
		"packet buffers of a rail, for all lcores of the rail"),
	INT(eal, mbuf_bytes, "bytes", 4608, 2176, 16384, RESTART,
		"data size of a packet buffer, with 128 bytes of headroom; 4608 bytes fit a RoCE "
		"MTU of 4096, 2176 bytes fit 1024"),
	INT(eal, burst, "packets", 32, 4, 256, RESTART, "most packets taken from a port at a time"),
	ENUM(eal, idle, idle, HP3_IDLE_SLEEP, RELOAD,
		"if no packet arrives: sleep, or continue to poll and use all CPU time of the "
		"core"),
	INT(eal, idle_sleep_us, "us", 200, 10, 10000, RELOAD,
		"longest sleep of an lcore that has just become idle"),

	DEVARGS(rnic, "port towards the local RNIC: DPDK devargs, or the name of a kernel "
		      "interface (eth0 is the same as net_af_packet0,iface=eth0)"),
	DEVARGS(net, "port towards the network"),
	{RAIL(rdma), .type = HP3_INI_STRING, .def_string = "",
		.max = SIZEOF(struct hp3_config_rail, rdma) - 1,
		.help = "RDMA device behind this rail, such as mlx5_0. The rail gets the queue "
			"pairs of this device from [watch]. Empty: the rail gets the queue pairs "
			"of devices that no rail names"},
	{RAIL(own_addresses), .type = HP3_INI_ENUM, .choices = own_addresses,
		.help = "refuse: hp3d does not start if an interface of this rail has addresses of "
			"this host or the default route, or is a port of a bridge or a bond, and "
			"hp3d would take its frames from the host. accept: hp3d starts, and the "
			"host "
			"loses this traffic. With fail-open, the loss lasts until hp3d --detach"},
	{RAIL(rfr_mode), .type = HP3_INI_ENUM, .choices = rail_modes,
		.help = "[rfr] mode of this rail; same: the value of mode in [rfr]"},

	{BOND(rails), .type = HP3_INI_STRING, .required = true, .min = 1,
		.max = SIZEOF(struct hp3_config_bond, rails) - 1, .valid = hp3_config_valid_names,
		.rule = "names of rails, separated by commas, such as \"rail0, rail1\"",
		.help = "the rails whose ports are the members of the bond, two at least"},
	{BOND(mode), .type = HP3_INI_ENUM, .choices = bond_modes,
		.help = "mode of the bond of the RNIC's ports. lacp: the RNIC sends and receives "
			"on all members. active-backup: it sends and receives on one member; hp3d "
			"sends its own packets on the member on which the RNIC last sent"},

	ENUM(bypass, fail_open, fail_open, HP3_FAIL_OPEN_AUTO, RESTART,
		"auto: fail-open on rails with one lcore whose two ports are net_af_packet or "
		"net_af_xdp, if BPF is available. on: hp3d does not start without fail-open. off: "
		"no fail-open"),
	INT(bypass, stale_ms, "ms", 40, 5, 1000, RESTART,
		"packets bypass hp3d if hp3d hangs for this long"),

	ENUM(bypass, carry_link, onoff, HP3_OFF, RESTART,
		"while one port of a rail has no link, set the other port down, so that the device "
		"connected to the other port detects the failure. If only one port is a kernel "
		"interface, this interface stays up"),

	LIST(filter, peers, hp3_filter_valid_peers,
		"up to 16 addresses or prefixes by comma, such as \"10.1.0.0/16, fd00::/8\"",
		"addresses of remote hosts, such as \"10.1.0.0/16, fd00::/8\"; empty: all"),
	LIST(filter, dscp, hp3_filter_valid_dscp,
		"numbers and ranges from 0 to 63, such as \"26,46-48\"",
		"DSCP of a queue pair's first packet, such as \"26,46-48\"; empty: all"),
	LIST(filter, qpns, hp3_filter_valid_qpns,
		"up to 16 local QPNs or ranges by comma, decimal or 0x..., at most 0xffffff",
		"local QPNs, as \"rdma resource show qp\" shows them, such as \"0x100-0x1ff\"; "
		"empty: all"),

	STRING(verbs, socket, "", 0, hp3_config_valid_path,
		"an absolute path of at most 107 bytes, such as \"/run/hp3/verbs.sock\"",
		"UNIX socket to which applications with libhp3verbs.so connect, such as "
		"\"/run/hp3/verbs.sock\". hp3d then works in verbs mode, without any [rail.NAME]. "
		"Empty: hp3d works inline"),
	STRING(verbs, group, "", 0, NULL, NULL,
		"group whose members may connect to the socket, such as \"rdma\"; root and hp3d's "
		"own user "
		"always may. Empty: nobody else"),
	INT(verbs, poll_us, "us", 1000, 100, 1000000, RELOAD,
		"how often hp3d reads the state of queue pairs"),
	STRING(verbs, ibverbs, "libibverbs.so.1", 0, NULL, NULL,
		"library with which hp3d creates queue pairs of its own, to probe other paths. "
		"Empty: only an operator moves queue pairs"),
	STRING(verbs, copies, "", 0, NULL, NULL,
		"up to 8 interfaces, separated by commas, on which hp3d sees CNPs that arrive at "
		"the RNICs: network interfaces to which the packets are mirrored, or RDMA devices "
		"on which libpcap can capture. Empty: none"),

	ENUM(watch, verbs, verbs, HP3_WATCH_AUTO, RESTART,
		"kernel: watch the calls of ib_core by all processes, with BPF. library: watch the "
		"calls of libibverbs, with uprobes. auto: the first of these two that this host "
		"supports, or none. off: none"),
	STRING(watch, libraries, "", 0, NULL, NULL,
		"for library: paths of libibverbs, separated by commas; empty: the one that the "
		"loader finds. Root owns each file, and nobody else may write it"),
	ENUM(watch, discover, onoff, HP3_OFF, RESTART,
		"for library. on: in processes that use RDMA, hp3-watch searches other copies of "
		"libibverbs, such as copies in containers or bundled copies. It also watches "
		"these copies if root owns them"),

#define HP3_POLICY_OBJECT struct hp3_config
#include "config/policy_keys.h"

	ENUM(probes, keys, key_modes, HP3_KEYS_AUTO, RESTART,
		"how hosts authenticate their messages to each other. group: by probe_key; hp3d "
		"refuses hosts without it. auto: by probe_key if it is set; otherwise two hosts "
		"agree on a key when traffic between them begins. off: no authentication; hp3d "
		"answers probes, within bounds, but ignores advertisements of other hosts, does "
		"not spray, and does not compare clocks"),
	SECRET(probes, probe_key,
		"secret of the fabric. Hosts authenticate their messages to each other with keys "
		"derived from it and from their addresses. The value may also be the path of a "
		"file with the keys of this host, written by hp3ctl keys: with that file nobody "
		"can impersonate other hosts. Empty: see keys"),
	SECRET(probes, probe_key_old,
		"the previous secret. hp3d also accepts this secret while hosts change to "
		"probe_key"),
	INT(probes, probe_key_wait_s, "s", 60, 0, 86400, RELOAD,
		"after a reload that moves the value of probe_key to probe_key_old: hp3d sends "
		"with the old key for this long, so that other hosts have time to get the new key"),
	INT(probes, port, "", 4795, 1, 65535, RESTART,
		"UDP port of answers; 4791 is not possible, because RoCEv2 uses it"),
	INT(probes, clock_s, "s", 30, 1, 3600, RELOAD,
		"with a key: largest permitted difference of the clocks of two hosts"),
	INT(probes, answers_per_second, "answers/s", 10000, 1, 1000000, RELOAD,
		"most probes that an lcore answers"),

	STRING(control, socket, "/run/hp3/hp3.sock", 1, hp3_config_valid_path,
		"an absolute path, such as \"/run/hp3/hp3.sock\"",
		"UNIX socket to which hp3ctl connects"),
	STRING(control, group, "", 0, NULL, NULL,
		"group whose members may connect to the socket. They may request flows, paths, "
		"events, and moves that probes have to confirm, as hp3-fleet agent does. Only root "
		"may make other requests. Empty: only root may connect"),
	STRING(control, moved, "", 0, hp3_config_valid_path_or_off,
		"an absolute path, off, or nothing",
		"flow state file: has the EV of each moved flow, for the next hp3d if this hp3d "
		"is killed. off: no file. Empty: the path of the socket with .moved appended"),
	INT(control, stop_drain_ms, "ms", 500, 0, 60000, RELOAD,
		"longest time that a clean stop may take to return moved flows to their home "
		"ports"),

	STRING(metrics, socket, "auto", 1, hp3_config_valid_metrics_socket,
		"an absolute path, such as \"/run/hp3/hp3-metrics.sock\", or auto, or off",
		"UNIX socket. auto: a socket in the directory of [control] socket; for hp3.sock, "
		"its name is hp3-metrics.sock. off: no socket"),
	STRING(metrics, listen, "", 0, hp3_address_is_valid,
		"an address and a port, such as \"127.0.0.1:9795\" or \"[::1]:9795\"",
		"TCP address and port, such as 127.0.0.1:9795 or [::1]:9795; empty: none"),
	ENUM(metrics, remote, onoff, HP3_OFF, RESTART,
		"on: listen= may be an address that other hosts can reach, although there is "
		"neither password nor encryption"),
	STRING(metrics, sysfs, "/sys", 1, hp3_config_valid_path,
		"an absolute path, such as \"/sys\"",
		"directory where sysfs is mounted; class/infiniband in it has the counters of "
		"RNICs. In a container: the directory where the sysfs of the host is mounted"),

	STRING(log, audit, "/var/log/hp3/audit.log", 1, hp3_config_valid_path_or_off,
		"an absolute path, such as \"/var/log/hp3/audit.log\", or \"off\"",
		"file to which hp3d appends each decision as a line of JSON; off: no file. The "
		"directory has to exist. At SIGHUP, hp3d opens the file again"),

	ENUM(service, capabilities, capabilities, HP3_CAPABILITIES_DROP, RESTART,
		"drop: once hp3d forwards packets, it gives up the capabilities(7) that only its "
		"start needed. keep: it keeps all capabilities"),
	STRING(service, state, "/var/lib/hp3", 0, hp3_config_valid_path,
		"an absolute path, such as \"/var/lib/hp3\", or nothing",
		"directory for the identity of this host; hosts use identities to agree on a key "
		"([probes] keys = auto). Empty: hp3d makes a new identity at each start"),
};

static bool takes_studies(const void *obj)
{
	return ((const struct hp3_config *)obj)->engine.words.study;
}

static const struct hp3_ini_common common[] = {
	{"policy", "mode", "observe: watch and report, move nothing; off: only forward"},
	{"ppp", "identity", "trace: learn the path of each port from switches that answer traces"},
	{"probes", "probe_key",
		"secret of all hosts (openssl rand -hex 16); empty: each two hosts agree on a key"},
	{"metrics", "listen", "for Prometheus, such as 127.0.0.1:9795; empty: no TCP"},
};

const struct hp3_ini_schema hp3_config_schema = {
	.sections = sections,
	.n_sections = sizeof(sections) / sizeof(sections[0]),
	.keys = keys,
	.n_keys = sizeof(keys) / sizeof(keys[0]),
	.title = "hp3 configuration. Integers are in the unit that the key's suffix names.",
	.title_short = "All keys, with their defaults: hp3d --dump-config=all, and hp3.ini(5).",
	.common = common,
	.n_common = sizeof(common) / sizeof(common[0]),
	.check = hp3_config_check_rules,
	.takes_studies = takes_studies,
	.switch_of_studies = "[policy] study = on",
};
