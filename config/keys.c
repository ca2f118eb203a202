/* SPDX-License-Identifier: BSD-3-Clause */
/* The table. Order here is order in dumps and in hp3.ini. */
#include "config/config.h"
#include "config/keys.h"

static const char *const onoff[] = {[HP3_OFF] = "off", [HP3_ON] = "on", NULL};
static const char *const idle[] = {[HP3_IDLE_POLL] = "poll", [HP3_IDLE_SLEEP] = "sleep", NULL};

static const char *const verbs[] = {[HP3_WATCH_AUTO] = "auto",
	[HP3_WATCH_KERNEL] = "kernel",
	[HP3_WATCH_LIBRARY] = "library",
	[HP3_WATCH_OFF] = "off",
	NULL};

#define RELOAD       true
#define RESTART      false
#define SIZEOF(t, f) sizeof(((t *)0)->f)
#define WHERE(sec, name)                                                                           \
	.section = #sec, .key = #name, .offset = offsetof(struct hp3_config, sec.name),            \
	.size = SIZEOF(struct hp3_config, sec.name)

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
/* Strings of min..(field size - 1) bytes. None is reloadable. */
#define STRING(sec, name, d, lo, ok, r, h)                                                         \
	{                                                                                          \
		WHERE(sec, name), .type = HP3_INI_STRING, .def_string = d, .min = lo,              \
				  .max = SIZEOF(struct hp3_config, sec.name) - 1, .valid = ok,     \
				  .rule = r, .help = h                                             \
	}
#define DEVARGS(name, h)                                                                           \
	{                                                                                          \
		.section = "rail", .key = #name, .offset = offsetof(struct hp3_config_rail, name), \
		.size = SIZEOF(struct hp3_config_rail, name), .type = HP3_INI_STRING,              \
		.required = true, .min = 1, .max = HP3_CONFIG_DEVARGS_MAX - 1,                     \
		.valid = hp3_config_valid_devargs,                                                 \
		.rule = "DPDK devargs without blanks, such as \"net_af_packet0,iface=veth0\"",     \
		.help = h                                                                          \
	}

static const struct hp3_ini_section sections[] = {
	{"eal", "DPDK: memory, cores, packet buffers, and what to do when idle."},
	{"rail",
		"One pair of ports between an RNIC and its network; as many sections as there are "
		"pairs.",
		.max = HP3_CONFIG_RAILS_MAX, .array = offsetof(struct hp3_config, rails),
		.stride = sizeof(struct hp3_config_rail),
		.count = offsetof(struct hp3_config, n_rails),
		.name_size = SIZEOF(struct hp3_config_rail, name)},
	{"policy", "Whether and how flows are moved."},
	{"flows", "Tables of flows and of address pairs."},
	{"pairing", "How the two queue pairs of a connection are found to belong together."},
	{"watch", "How the set-up of queue pairs on this host is seen, before their first packet."},
	{"ppp", "Path perception: when is the path in use severely congested?"},
	{"rfr", "Reorder-free rerouting: bounds of a move."},
	{"control", "Control socket and shutdown."},
};

static const struct hp3_ini_key keys[] = {
	STRING(eal, file_prefix, "hp3", 1, hp3_config_valid_prefix,
		"letters, digits, '-', '_' and '.' only, beginning with a letter or digit",
		"name that keeps this process apart from other DPDK processes of the host"),
	INT(eal, memory_mb, "MiB", 256, 64, 1048576, RESTART,
		"memory to reserve when hugepages are off; holds the packet buffers"),
	ENUM(eal, hugepages, onoff, HP3_OFF, RESTART, "take memory from hugepages"),
	INT(eal, lcores, "lcores", 1, 1, 64, RESTART,
		"worker lcores; the flows of an address pair stay on one"),
	STRING(eal, cpus, "", 0, hp3_config_valid_cpus, "CPU numbers and ranges, such as \"0,2-3\"",
		"CPUs to run on, such as \"0,2-3\"; empty: any"),
	STRING(eal, extra, "", 0, NULL, NULL, "further EAL arguments, such as \"--log-level=8\""),
	INT(eal, mbufs, "mbufs", 16384, 1024, 4194304, RESTART, "packet buffers of each pool"),
	INT(eal, mbuf_bytes, "bytes", 4608, 2176, 16384, RESTART,
		"data room of a packet buffer, 128 bytes of headroom included; 4608 fits RoCE MTU "
		"4096, 2176 fits 1024"),
	INT(eal, burst, "packets", 32, 4, 256, RESTART, "most packets taken from a port at a time"),
	ENUM(eal, idle, idle, HP3_IDLE_SLEEP, RELOAD,
		"when no packet comes: sleep, or poll on and burn the core"),
	INT(eal, idle_sleep_us, "us", 200, 10, 10000, RELOAD, "longest sleep of an idle lcore"),
	INT(eal, idle_spins, "polls", 64, 1, 1000000, RELOAD, "empty polls before the first sleep"),

	DEVARGS(rnic, "port towards the local RNIC"),
	DEVARGS(net, "port towards the network"),
	{.section = "rail",
		.key = "rdma",
		.offset = offsetof(struct hp3_config_rail, rdma),
		.size = SIZEOF(struct hp3_config_rail, rdma),
		.type = HP3_INI_STRING,
		.def_string = "",
		.max = SIZEOF(struct hp3_config_rail, rdma) - 1,
		.help = "RDMA device behind this rail, such as mlx5_0, whose queue pairs [watch] "
			"hands to it; empty: those of devices that no rail names"},

	ENUM(policy, mode, onoff, HP3_ON, RELOAD, "on: flows may be moved; off: forward only"),
	INT(policy, seed, "", 1, 0, UINT64_MAX, RESTART,
		"seed of every random choice; equal seeds choose alike"),

	INT(flows, max_flows, "flows", 65536, 64, 16777216, RESTART,
		"flows of each lcore; further ones are forwarded untracked and counted"),
	INT(flows, max_pairs, "address pairs", 8192, 16, 16777216, RESTART,
		"address pairs of each lcore"),
	INT(flows, idle_age_ms, "ms", 60000, 1000, 86400000, RELOAD,
		"a flow with nothing in flight is forgotten after so long without packets"),
	INT(flows, dead_age_ms, "ms", 600000, 1000, 86400000, RELOAD,
		"any other flow is forgotten after so long without packets"),

	ENUM(pairing, cm, onoff, HP3_ON, RELOAD,
		"learn pairs from connection management packets on the wire"),
	ENUM(pairing, challenge, onoff, HP3_ON, RELOAD,
		"learn pairs by AckReq on a random packet whose exact PSN must come back"),
	INT(pairing, challenge_timeout_ms, "ms", 200, 1, 60000, RELOAD,
		"a challenge not answered for so long is void"),
	INT(pairing, challenge_hits, "challenges", 3, 1, 16, RELOAD,
		"challenges to be answered in a row before a pair is believed"),
	INT(pairing, challenge_spread, "packets", 16, 1, 65536, RELOAD,
		"the challenged packet is drawn from so many"),

	ENUM(watch, verbs, verbs, HP3_WATCH_AUTO, RESTART,
		"kernel: ib_core's calls, by BPF, all processes; library: libibverbs' calls, by "
		"uprobes; auto: the first of them that this host offers, or none; off: none"),
	STRING(watch, libraries, "", 0, NULL, NULL,
		"for library: paths of libibverbs, by comma; empty: what the loader takes"),

	ENUM(ppp, watch, onoff, HP3_ON, RELOAD,
		"watch round trips, CNPs and ECN feedback of each flow's path; report severe "
		"congestion as an event"),
	INT(ppp, cycle_us, "us", 100, 1, 1000000, RELOAD,
		"shortest monitoring cycle; a cycle is as long as the base round trip or longer"),
	INT(ppp, congestion_tolerance, "cycles", 3, 1, 7, RELOAD,
		"congested cycles in a row that congestion control may take before the path counts "
		"as severely congested"),
	INT(ppp, ecn_fraction, "%", 25, 1, 100, RELOAD,
		"share of replies with ECN feedback that makes a cycle congested"),
	INT(ppp, rtt_factor, "% of the base round trip", 200, 101, 10000, RELOAD,
		"a round trip as long as this makes a cycle congested"),

	INT(rfr, max_hold_us, "us", 10000, 100, 1000000, RELOAD,
		"longest hold of a packet; keep below a quarter of the RNIC's retransmission "
		"timeout"),
	INT(rfr, hold_bytes, "bytes", 4194304, 16384, 1073741824, RELOAD,
		"most held bytes of a flow"),
	INT(rfr, hold_bytes_total, "bytes", 67108864, 16384, 68719476736, RELOAD,
		"most held bytes of an lcore"),
	INT(rfr, hold_packets, "packets", 8192, 64, 4194304, RESTART,
		"most held packets of an lcore; at most three quarters of eal.mbufs"),
	INT(rfr, max_moves, "moves", 1024, 1, 65534, RESTART, "moves of an lcore at a time"),
	INT(rfr, close_timeout_us, "us", 1000000, 100, 60000000, RELOAD,
		"how long a requested move waits for a packet to close the old path with"),

	STRING(control, socket, "/run/hp3/hp3.sock", 1, hp3_config_valid_path,
		"an absolute path, such as \"/run/hp3/hp3.sock\"",
		"UNIX socket that hp3ctl talks to"),
	INT(control, events_kept, "events", 4096, 16, 1048576, RESTART,
		"latest events kept for hp3ctl events"),
	INT(control, stop_drain_ms, "ms", 500, 0, 60000, RELOAD,
		"longest time a clean stop spends on draining moved flows home"),
};

const struct hp3_ini_schema hp3_config_schema = {
	.sections = sections,
	.n_sections = sizeof(sections) / sizeof(sections[0]),
	.keys = keys,
	.n_keys = sizeof(keys) / sizeof(keys[0]),
	.title = "hp3 configuration. Integers are in the unit that the key's suffix names.",
	.check = hp3_config_check_rules,
};
