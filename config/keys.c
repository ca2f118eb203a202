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
static const char *const policies[] = {
	[HP3_POLICY_OFF] = "off", [HP3_POLICY_OBSERVE] = "observe", [HP3_POLICY_ON] = "on", NULL};
static const char *const probes[] = {[HP3_PROBE_MODE_OFF] = "off",
	[HP3_PROBE_MODE_AUTO] = "auto",
	[HP3_PROBE_MODE_PEER] = "peer",
	[HP3_PROBE_MODE_STANDARD] = "standard",
	[HP3_PROBE_MODE_NAK] = "nak",
	NULL};
static const char *const identities[] = {
	[HP3_IDENTITY_KEY_NONE] = "none", [HP3_IDENTITY_KEY_TRACE] = "trace", NULL};
static const char *const cc_modes[] = {[HP3_CC_KEY_NATIVE] = "native",
	[HP3_CC_KEY_DCQCN] = "dcqcn",
	[HP3_CC_KEY_OFF] = "off",
	NULL};
static const char *const np_modes[] = {
	[HP3_NP_KEY_AUTO] = "auto", [HP3_NP_KEY_ON] = "on", [HP3_NP_KEY_OFF] = "off", NULL};
static const char *const np_hows[] = {[HP3_NP_HOW_BECN] = "becn", [HP3_NP_HOW_CNP] = "cnp", NULL};

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
	{"cc", "Congestion control. Where the RNIC does it (native) hp3d only keeps stale "
	       "notifications from it; else it can do DCQCN itself, whose parameters bear the "
	       "names, units and ranges that ConnectX gives them."},
	{"probes", "Probes between hosts that run hp3d; all hosts of a fabric agree on these."},
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
	INT(eal, mbufs, "mbufs", 16384, 1024, 4194304, RESTART,
		"packet buffers of a rail, for all its lcores"),
	INT(eal, mbuf_bytes, "bytes", 4608, 2176, 16384, RESTART,
		"data room of a packet buffer, 128 bytes of headroom included; 4608 fits RoCE MTU "
		"4096, 2176 fits 1024"),
	INT(eal, burst, "packets", 32, 4, 256, RESTART, "most packets taken from a port at a time"),
	ENUM(eal, idle, idle, HP3_IDLE_SLEEP, RELOAD,
		"when no packet comes: sleep, or poll on and burn the core"),
	INT(eal, idle_sleep_us, "us", 200, 10, 10000, RELOAD,
		"longest sleep of an lcore that has just become idle"),
	INT(eal, idle_deep_us, "us", 1000, 10, 100000, RELOAD,
		"longest sleep of one idle for long: a 64th of that time at most"),
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

	ENUM(policy, mode, policies, HP3_POLICY_ON, RELOAD,
		"on: flows may be moved; observe: every decision is taken and reported, nothing is "
		"moved; off: forward only"),
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
	INT(pairing, challenge_quiet_ms, "ms", 200, 0, 60000, RELOAD,
		"no challenges for so long after the first packet of an address pair, or a queue "
		"pair's end: older requests may be answered"),

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
	INT(ppp, congestion_tolerance, "cycles", 2, 1, 7, RELOAD,
		"congested cycles in a row that congestion control may take before the path counts "
		"as severely congested"),
	INT(ppp, ecn_fraction, "%", 25, 1, 100, RELOAD,
		"share of replies with ECN feedback that makes a cycle congested"),
	INT(ppp, rtt_factor, "% of the base round trip", 200, 101, 10000, RELOAD,
		"a round trip as long as this makes a cycle congested"),
	ENUM(ppp, probe, probes, HP3_PROBE_MODE_AUTO, RESTART,
		"how to ask for other paths: auto finds out whether the peer runs hp3d (peer) or "
		"is a "
		"plain RNIC (standard); nak is the paper's way and may cost a time-out; off: flows "
		"are "
		"moved by command only"),
	INT(ppp, candidates, "ports", 3, 1, 6, RELOAD, "ports probed beside the one in use"),
	INT(ppp, probe_timeout_us, "us", 5000, 10, 500000, RELOAD,
		"a probe without an answer for so long is lost; longer than any round trip"),
	INT(ppp, probes_per_second, "probes/s", 2000, 1, 1000000, RELOAD,
		"most probes between two addresses"),
	INT(ppp, probe_burst, "probes", 32, 8, 4096, RELOAD,
		"probes between two addresses that may leave at once"),
	INT(ppp, improve, "% of the round trip in use", 80, 1, 100, RELOAD,
		"a path is better if it takes no more than this"),
	INT(ppp, backoff_min_us, "us", 1000, 10, 4000000, RELOAD,
		"wait of a flow after a fruitless round; it doubles with each"),
	INT(ppp, backoff_max_us, "us", 1000000, 10, 4000000, RELOAD, "longest such wait"),
	INT(ppp, max_concurrent, "rounds", 1, 1, 1024, RELOAD,
		"rounds and moves between two addresses at a time"),
	ENUM(ppp, setup, onoff, HP3_ON, RELOAD,
		"look for a path between queue-pair setup and first data"),
	INT(ppp, setup_rounds, "rounds", 2, 1, 16, RELOAD,
		"rounds of probes before the first data: what they see is soon gone, so paths are "
		"asked again each time that the wait has doubled"),
	INT(ppp, wake, "% of the base round trip", 50, 0, 10000, RELOAD,
		"a WRITE that takes so long or longer at line rate (cc.rpg_max_rate), and begins "
		"while its queue pair is idle, waits for answers to probes, at most two round "
		"trips, and leaves on the port of the first unmarked one; 0: none waits"),
	INT(ppp, peer_retry_ms, "ms", 60000, 10, 86400000, RELOAD,
		"a peer that did not answer is asked again after this"),
	INT(ppp, path_fresh_ms, "ms", 200, 1, 3600000, RELOAD,
		"what is known of a path and older than this counts as unknown"),
	INT(ppp, path_retry_ms, "ms", 1000, 1, 3600000, RELOAD,
		"a failed path is tried again after this; it doubles with every relapse"),
	ENUM(ppp, identity, identities, HP3_IDENTITY_KEY_TRACE, RESTART,
		"trace: learn which path a port draws from switches that say where the hop limit "
		"of a probe ended; a few traces tell all ports where the hash is linear; none: "
		"every port counts as a path of its own"),
	INT(ppp, traces_per_second, "traces/s", 50, 1, 10000, RELOAD,
		"most traces of an lcore; switches answer few per second"),
	INT(ppp, trace_recheck_ms, "ms", 60000, 10, 86400000, RELOAD,
		"what was learnt from traces is checked again after this"),
	ENUM(ppp, placement, onoff, HP3_ON, RESTART,
		"with traces: count active flows on each path, tell peers, and give a new queue "
		"pair the path that is least used at both ends"),

	INT(rfr, max_hold_us, "us", 10000, 100, 1000000, RELOAD,
		"longest hold of a packet; keep below a quarter of the RNIC's retransmission "
		"timeout"),
	INT(rfr, hold_bytes, "bytes", 4194304, 16384, 1073741824, RELOAD,
		"most held bytes of a flow"),
	INT(rfr, hold_bytes_total, "bytes", 67108864, 16384, 68719476736, RELOAD,
		"most held bytes of an lcore"),
	INT(rfr, hold_packets, "packets", 8192, 64, 4194304, RESTART,
		"most held packets of an lcore; those of all lcores together: at most three "
		"quarters of eal.mbufs"),
	INT(rfr, max_moves, "moves", 1024, 1, 65534, RESTART, "moves of an lcore at a time"),
	INT(rfr, close_timeout_us, "us", 1000000, 100, 60000000, RELOAD,
		"how long a requested move waits for a packet to close the old path with"),
	INT(rfr, cooldown_us, "us", 10000, 0, 60000000, RELOAD,
		"a flow that was moved stays that long"),
	INT(rfr, move_wait_us, "us", 2000, 0, 60000000, RELOAD,
		"a better path is asked about once more after a random part of this, and taken if "
		"the one in use is still congested: who shares a link would leave it together; 0: "
		"taken at once"),
	INT(rfr, stall_us, "us", 20000, 0, 60000000, RELOAD,
		"an answer that is due does not come for so long (twice as long if nobody of the "
		"address pair is heard), and four round trips, and twice the longest pause seen: "
		"probe whether the path is dead; 0: leave dead paths to the RNIC"),
	INT(rfr, verify_us, "us", 50000, 0, 60000000, RELOAD,
		"after a move: when to judge whether it paid off; 0: never"),

	ENUM(cc, mode, cc_modes, HP3_CC_KEY_NATIVE, RESTART,
		"native: the RNIC does congestion control; dcqcn: hp3d does, CNPs and BECN stop "
		"here; "
		"off: nobody does, they stop here (RNICs that do not know them, such as "
		"Soft-RoCE)"),
	INT(cc, max_rtt_us, "us", 10000, 10, 1000000, RELOAD,
		"longest round trip: how long a CNP may speak of a path that was left"),
	INT(cc, rto_us, "us", 67109, 0, 60000000, RELOAD,
		"dcqcn: retransmission timeout of the RNIC, 4.096 us x 2^timeout; pacing never "
		"makes a "
		"packet wait a quarter of it; 0: it has none"),
	INT(cc, burst_bytes, "bytes", 16384, 256, 16777216, RELOAD,
		"dcqcn: bytes of a flow that may leave at once"),
	ENUM(cc, np, np_modes, HP3_NP_KEY_AUTO, RESTART,
		"tell the sender's hp3d of marked packets that arrive; auto: unless the RNIC does "
		"(native)"),
	ENUM(cc, np_how, np_hows, HP3_NP_HOW_BECN, RELOAD,
		"becn: with the RNIC's next acknowledgement; cnp: by packets of our own"),
	INT(cc, min_time_between_cnps, "us", 4, 0, 1000000, RELOAD, "np_how = cnp"),
	INT(cc, clamp_tgt_rate, "", 0, 0, 1, RELOAD, "every reduction sets target = rate"),
	INT(cc, clamp_tgt_rate_after_time_inc, "", 1, 0, 1, RELOAD,
		"... only if the timer has raised the rate since the last one"),
	INT(cc, rpg_time_reset, "us", 300, 1, 1000000, RELOAD, "between increases by time"),
	INT(cc, rpg_byte_reset, "bytes", 32767, 0, 1073741824, RELOAD,
		"between increases by volume; 0: by time alone"),
	INT(cc, rpg_threshold, "steps", 1, 1, 31, RELOAD, "F: steps of fast recovery"),
	INT(cc, rpg_max_rate, "Mb/s", 100000, 1, 1000000, RELOAD, "line rate"),
	INT(cc, rpg_ai_rate, "Mb/s", 5, 1, 1000000, RELOAD, "additive increase"),
	INT(cc, rpg_hai_rate, "Mb/s", 50, 1, 1000000, RELOAD, "hyper increase"),
	INT(cc, rpg_min_rate, "Mb/s", 1, 1, 1000000, RELOAD, "least rate"),
	INT(cc, rpg_gd, "", 11, 10, 11, RELOAD, "10: a reduction by alpha; 11: by alpha / 2"),
	INT(cc, rpg_min_dec_fac, "%", 50, 0, 100, RELOAD, "what one reduction leaves at least"),
	INT(cc, rate_to_set_on_first_cnp, "Mb/s", 0, 0, 1000000, RELOAD,
		"0: the first CNP reduces like any other"),
	INT(cc, dce_tcp_g, "of 1024", 1019, 0, 1023, RELOAD, "what alpha keeps per dce_tcp_rtt"),
	INT(cc, dce_tcp_rtt, "us", 1, 1, 1000000, RELOAD, "the alpha period"),
	INT(cc, rate_reduce_monitor_period, "us", 4, 1, 1000000, RELOAD, "between reductions"),
	INT(cc, initial_alpha_value, "of 1024", 1023, 1, 1024, RELOAD, "alpha at the first CNP"),
	INT(cc, raise, "%", 50, 0, 100, RELOAD,
		"after a move: share of what the rate lacks to line rate that is given at once"),

	STRING(probes, probe_key, "", 0, hp3_config_valid_key,
		"32 hexadecimal digits, such as the output of \"openssl rand -hex 16\", or nothing",
		"secret of the fabric, which authenticates probes and answers; empty: anybody may "
		"probe, and clocks are not compared"),
	INT(probes, port, "", 4795, 1, 65535, RESTART,
		"UDP port of answers; not 4791, which is RoCEv2's"),
	INT(probes, clock_s, "s", 30, 1, 3600, RELOAD,
		"with a key: how far the clocks of two hosts may differ"),
	INT(probes, answers_per_second, "answers/s", 10000, 1, 1000000, RELOAD,
		"most probes answered by an lcore"),
	INT(probes, answers_per_source, "answers/s", 4000, 1, 1000000, RELOAD,
		"most probes of one host answered by an lcore"),

	STRING(control, socket, "/run/hp3/hp3.sock", 1, hp3_config_valid_path,
		"an absolute path, such as \"/run/hp3/hp3.sock\"",
		"UNIX socket that hp3ctl talks to"),
	INT(control, events_kept, "events", 4096, 16, 1048576, RESTART,
		"latest decisions kept for hp3ctl events; samples of rounds that found nothing: "
		"a quarter as many"),
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
