/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of keys of a scenario; its sections of policy are those of engine/policy.def. */
#include "config/keys.h"
#include "config/rows.h"
#include "engine/policy.h"
#include "sim/core/config.h"

#define NUM(sec, name, ...)   HP3_ROW_INT(#sec, #name, struct sim_config, sec.name, __VA_ARGS__)
#define ENUM(sec, name, ...)  HP3_ROW_ENUM(#sec, #name, struct sim_config, sec.name, __VA_ARGS__)
#define TEXT(sec, name, d, h) HP3_ROW_TEXT(#sec, #name, struct sim_config, sec.name, d, 0, h)
/* Keys of sections that have a dash in their names. */
#define IDEAL(name, ...)                                                                           \
	HP3_ROW_ENUM("hp3-ideal", #name, struct sim_config, ideal.name, onoff, SIM_ON, __VA_ARGS__)
#define VERBS(name, ...) HP3_ROW_INT("hp3-verbs", #name, struct sim_config, verbs.name, __VA_ARGS__)

static const char *const onoff[] = {"off", "on", NULL};
static const char *const kinds[] = {"leaf-spine", "fat-tree", "rail", "file", NULL};
static const char *const hashes[] = {"crc32", "crc16-ccitt", "crc16-ibm", "xor", "murmur3", NULL};
static const char *const inputs[] = {"tuple", "ns3", NULL};
static const char *const bth_fields[] = {"none", "qpn", "opcode", "qpn-opcode", NULL};
static const char *const recoveries[] = {"go-back-n", "irn", "unordered", NULL};
static const char *const ccs[] = {"none", "dcqcn", NULL};
static const char *const feedbacks[] = {"ack", "cnp", NULL};
static const char *const qp_kinds[] = {"fresh", "kept", NULL};
static const char *const port_kinds[] = {"counted", "roce", NULL};

static const char *const traffics[] = {"poisson", "incast", "permutation", "allreduce", "alltoall",
	"kvcache", "collision", "connections", NULL};
static const char *const pairings[] = {"fixed", "random", NULL};
static const char *const backgrounds[] = {"none", "allreduce", "alltoall", NULL};
static const char *const faults[] = {"none", "down", "flap", "loss", "black-hole", "degrade", NULL};

static const struct hp3_ini_section sections[] = {
	{.name = "fabric", .help = "Topology and switches"},
	{.name = "rnic", .help = "Hosts"},
	{.name = "letflow", .help = "LetFlow (NSDI 2017)"},
	{.name = "conga", .help = "CONGA (SIGCOMM 2014)"},
	{.name = "conweave", .help = "ConWeave (SIGCOMM 2023); 0: by number of tiers"},
	{.name = "stellar", .help = "STELLAR (SIGCOMM 2025)"},
	{.name = "hermes", .help = "Hermes (SIGCOMM 2017); times of 0: by queue and rate"},
#define HP3_POLICY_SECTION(title, text) {.name = #title, .help = text},
#include "engine/policy.def"
	{.name = "hp3-ideal", .help = "What real hosts cannot have; only for hp3-ideal"},
	{.name = "hp3-verbs", .help = "hp3d in verbs mode; only for hp3-verbs"},
	{.name = "xfer", .help = "Messages split over several queue pairs; only for hp3x"},
	{.name = "peers",
		.help = "The hp3ds of other hosts; for all balancers that run the engine"},
	{.name = "fleet",
		.help = "hp3-fleet, as in its sections [map] and [plan]; for hp3, hp3-ideal and "
			"hp3-paper"},
	{.name = "traffic", .help = "Traffic of hosts"},
	{.name = "background", .help = "Additional jobs: a round, a pause, the next round"},
	{.name = "fault", .help = "Faults of links between switches"},
	{.name = "sweep", .help = "Runs of `hp3-sim run`: every balancer x load x seed"},
	{.name = "run", .help = "The run"},
};

static const struct hp3_ini_key keys[] = {
	ENUM(fabric, kind, kinds, SIM_LEAF_SPINE, "shape; file: as in `topology`"),
	TEXT(fabric, topology, "", "topology file, for kind = file"),
	NUM(fabric, leaves, "", 8, 1, 1024, "leaf switches (leaf-spine)"),
	NUM(fabric, spines, "", 8, 1, 1024, "spine switches (leaf-spine; rail: of each plane)"),
	NUM(fabric, hosts_per_leaf, "", 16, 1, 1024, "hosts of each leaf (leaf-spine)"),
	NUM(fabric, k, "", 8, 2, 64, "ports of a switch, even (fat-tree)"),
	NUM(fabric, oversubscription, "", 1, 1, 16, "of edge switches (fat-tree)"),
	NUM(fabric, planes, "", 2, 1, 8, "links of a host, each to a separate fabric (rail)"),
	NUM(fabric, rails, "", 4, 1, 64,
		"hosts (RNICs) of a server, each on different leaves (rail)"),
	NUM(fabric, segments, "", 4, 1, 64, "groups of servers that share leaves (rail)"),
	NUM(fabric, servers, "", 16, 1, 1024, "of a segment (rail)"),
	NUM(fabric, last_plane_percent, "percent", 100, 1, 100,
		"rate of all links of the last plane, as a share of host_mbps and core_mbps "
		"(rail)"),
	NUM(fabric, host_mbps, "mbps", 100000, 1, 1000000, "rate of host links"),
	NUM(fabric, core_mbps, "mbps", 100000, 1, 1000000, "rate of all other links"),
	NUM(fabric, delay_ns, "ns", 1000, 1, 10000000, "propagation of each link"),
	NUM(fabric, buffer_kib, "kib", 9216, 64, 4000000, "shared buffer of a switch"),
	ENUM(fabric, pfc, onoff, SIM_ON, "lossless; off: drops at the egress threshold"),
	NUM(fabric, ingress_alpha_permyriad, "permyriad", 625, 1, 1000000,
		"alpha of PFC: pause above this share of the free buffer"),
	NUM(fabric, egress_alpha_percent, "percent", 100, 1, 100000,
		"alpha of an egress queue's limit"),
	NUM(fabric, pause_us, "us", 5, 1, 60000, "pause time in a PFC frame"),
	ENUM(fabric, pause_renew, onoff, SIM_OFF, "renew pauses in time (ns-3: no)"),
	NUM(fabric, kmin_bytes, "bytes", 100000, 0, 1000000000, "queue where marking begins"),
	NUM(fabric, kmax_bytes, "bytes", 400000, 0, 1000000000,
		"queue above which all packets are marked; 0: no ECN"),
	NUM(fabric, pmax_percent, "percent", 20, 0, 100, "share marked at kmax"),
	ENUM(fabric, hash, hashes, 4, "ECMP hash"),
	ENUM(fabric, hash_input, inputs, 1, "fields that the hash reads"),
	ENUM(fabric, hash_bth, bth_fields, 0,
		"fields of the BTH that switches hash, too: destination QPN, opcode"),
	NUM(fabric, hash_seed, "", 0, 0, UINT32_MAX, "added to the switch's number: its seed"),
	NUM(fabric, grain_ps, "ps", 1000, 1, 1000000,
		"serialisation times are rounded down to multiples (ns-3: 1 ns); 1: exact"),
	NUM(fabric, icmp_per_second, "", 1000, 0, 1000000000,
		"ICMP time exceeded of a switch, at most; 0: none"),
	{HP3_ROW_KEY("fabric", "cnp_dscp", struct sim_config, fabric.cnp_dscp), .type = HP3_INI_INT,
		.unit = "", .def = 48, .max = 63, .word = "none",
		.help = "DSCP with priority, as ACKs and CNPs have; hp3's answers with "
			"another DSCP (ppp.answer_dscp) are queued with data"},
	NUM(rnic, payload_bytes, "bytes", 1000, 64, 9000, "of a full packet"),
	NUM(rnic, header_bytes, "bytes", 48, 0, 256, "headers of a packet on the wire"),
	NUM(rnic, ack_bytes, "bytes", 60, 1, 1000, "of an ACK or NAK on the wire"),
	NUM(rnic, ack_every, "packets", 1, 1, 1024,
		"packets per ACK; the last packet always gets an ACK"),
	ENUM(rnic, recovery, recoveries, SIM_GO_BACK_N, "from loss; see docs/guide/simulate.md"),
	NUM(rnic, rto_us, "us", 4000, 0, 10000000, "retransmission time-out; 0: none"),
	NUM(rnic, rto_low_us, "us", 100, 1, 10000000,
		"irn: time-out with at most three packets in flight"),
	NUM(rnic, rto_high_us, "us", 320, 1, 10000000, "irn: time-out with more packets in flight"),
	NUM(rnic, nak_us, "us", 4, 0, 1000000, "before the same NAK is sent again"),
	ENUM(rnic, cc, ccs, SIM_CC_DCQCN, "congestion control"),
	TEXT(rnic, preset, "conweave", "DCQCN: paper, connectx, hpcc or conweave"),
	ENUM(rnic, feedback, feedbacks, SIM_FEEDBACK_ACK, "marks come back on ACKs or by CNPs"),
	NUM(rnic, cnp_interval_us, "us", 4, 0, 1000000, "least time between CNPs of a flow"),
	NUM(rnic, window_bytes, "bytes", 0, 0, 1000000000, "most in flight; 0: no window"),
	ENUM(rnic, ports, port_kinds, SIM_PORTS_COUNTED,
		"UDP ports: counted up per host (ns-3), or random source and 4791"),
	NUM(rnic, setup_us, "us", 0, 0, 1000000,
		"from queue-pair setup to the first data: time for probes"),
	ENUM(rnic, setup_counts, onoff, SIM_ON,
		"FCT includes setup_us, only probing balancers wait; off: all wait, FCT without "
		"it"),
	ENUM(rnic, qps, qp_kinds, SIM_QPS_FRESH,
		"one queue pair per message, or per pair of hosts and verb"),
	NUM(rnic, read_depth, "", 16, 1, 255, "READ requests outstanding of a queue pair"),
	NUM(letflow, gap_us, "us", 100, 1, 1000000, "flowlet gap"),
	NUM(conga, gap_us, "us", 100, 1, 1000000, "flowlet gap"),
	NUM(conga, dre_us, "us", 50, 1, 1000000, "interval of the rate estimator's decay"),
	NUM(conga, alpha_percent, "percent", 20, 1, 100, "its decay"),
	NUM(conga, bits, "bits", 3, 1, 8, "of a congestion metric"),
	NUM(conga, age_us, "us", 500, 1, 1000000, "after which a metric is forgotten"),
	NUM(conga, samples, "", 4, 1, 64, "neighbouring paths that are compared"),
	NUM(conweave, reply_us, "us", 4, 0, 1000000, "reply deadline beyond the base RTT"),
	NUM(conweave, pause_us, "us", 16, 0, 1000000, "how long a marked path is avoided"),
	NUM(conweave, flush_us, "us", 0, 0, 1000000, "extra wait for the old path's packets"),
	NUM(conweave, wait_us, "us", 0, 0, 1000000, "the same without an estimate"),
	NUM(conweave, expiry_us, "us", 0, 0, 1000000,
		"idle time after which a flow's state is reset"),
	NUM(stellar, paths, "", 128, 1, 256, "source ports that a flow is sprayed over"),
	NUM(stellar, rto_us, "us", 250, 1, 10000000, "retransmission time-out"),
	NUM(hermes, ecn_percent, "percent", 40, 0, 100,
		"of marks, T_ECN: congested above, good below"),
	NUM(hermes, rtt_low_us, "us", 0, 0, 1000000, "T_RTT_low: good below"),
	NUM(hermes, rtt_high_us, "us", 0, 0, 1000000, "T_RTT_high: congested above"),
	NUM(hermes, delta_rtt_us, "us", 0, 0, 1000000, "by which a path is notably better"),
	NUM(hermes, delta_ecn_percent, "percent", 5, 0, 100, "of marks, the same"),
	NUM(hermes, rate_percent, "percent", 30, 1, 100, "R, of the link: faster flows stay"),
	NUM(hermes, sent_bytes, "bytes", 600000, 0, 4000000000, "S: shorter flows stay"),
	NUM(hermes, probe_us, "us", 50, 0, 1000000, "between probes of a rack; 0: none"),
	NUM(hermes, forget_us, "us", 25, 1, 1000000, "age at which samples are dropped"),
#define HP3_POLICY_OBJECT struct sim_config
#define HP3_POLICY_STUDIES
#include "config/policy_keys.h"
	IDEAL(model, "paths are known from the switches' hash, if ppp.identity = none"),
	IDEAL(rate_acts, "the RNIC's rates are saved, raised and rolled back with moves"),
	VERBS(poll_us, "us", 1000, 100, 1000000, "between polls of the queue pairs' counts"),
	VERBS(wake_us, "us", 5, 0, 1000, "for a message between hp3d and an application"),
	VERBS(wait_us, "us", 5000, 0, 1000000,
		"for a path before the first data, at most; 0: nobody waits"),
	VERBS(wr_bytes, "bytes", 65536, 1000, 1000000000, "of a work request, at most"),
	VERBS(wr_depth, "", 4, 1, 64, "work requests outstanding of a queue pair"),
	NUM(xfer, paths, "", 8, 1, 64,
		"queue pairs from one host to another, for each rail and verb"),
	NUM(xfer, rails, "", 0, 0, 8,
		"links of a host that hp3x uses, each of them an RNIC; 0: all (fabric.planes)"),
	NUM(xfer, slice_bytes, "bytes", 32768, 1000, 1000000000,
		"of a slice; more if a message would have more than 4096 slices"),
	NUM(xfer, window_percent, "percent", 200, 1, 10000,
		"limit of the bytes in flight, as a share of rate x RTT"),
	ENUM(xfer, pair_window, onoff, SIM_ON,
		"the limit also applies to all queue pairs between two hosts on a rail together"),
	NUM(peers, hp3_percent, "percent", 100, 0, 100,
		"hosts that run hp3d, evenly spread; 50: every other host, from the second on"),
	ENUM(peers, paths_known, onoff, SIM_OFF,
		"hosts have the path of each port from the start, as after complete traces, if "
		"ppp.identity = none"),
	NUM(fleet, interval_us, "us", 0, 0, 1000000,
		"interval of hosts' reports and of plans; 0: no hp3-fleet"),
	NUM(fleet, delay_us, "us", 100, 0, 1000000, "from a host to the planner, and back"),
	NUM(fleet, lost_percent, "percent", 0, 0, 100, "of reports and plans"),
	NUM(fleet, moves, "moves", 16, 0, 64, "most moves in a plan"),
	NUM(fleet, hold_us, "us", 5000, 0, 1000000,
		"time after a move or advice in which a flow gets no advice"),
	NUM(fleet, marked_permille, "per mille", 10, 0, 1000,
		"a link is hot if more packets of its flows arrived marked"),
	NUM(fleet, full_percent, "%", 75, 1, 100,
		"with link_known: load from which a link is hot, and which no move may exceed"),
	NUM(fleet, improve_percent, "%", 20, 1, 100,
		"how far the new path's links must stay below the load of the old path"),
	ENUM(fleet, link_known, onoff, SIM_OFF, "the planner has fabric.core_mbps"),
	ENUM(traffic, kind, traffics, SIM_POISSON, "pattern; see docs/guide/simulate.md"),
	TEXT(traffic, cdf, "AliStorage2019", "flow sizes: a built-in name, or a file"),
	NUM(traffic, load_percent, "percent", 50, 1, 200,
		"of the capacity above the leaves, per host (poisson)"),
	NUM(traffic, duration_us, "us", 10000, 1, 100000000, "of arrivals (poisson, incast)"),
	NUM(traffic, read_percent, "percent", 0, 0, 100,
		"of messages are READ by their destination, the others WRITten by their source"),
	NUM(traffic, bytes, "bytes", 1000000, 1, 4000000000,
		"per flow (incast, permutation, collision, connections), per rank and round "
		"(allreduce, alltoall), of the first message of a page (kvcache)"),
	NUM(traffic, fan_in, "", 16, 1, 65535, "senders of an incast; number of connections"),
	NUM(traffic, repeat, "", 1, 1, 100000, "rounds (jobs), or one after another (permutation)"),
	NUM(traffic, ranks, "hosts", 16, 2, 65535, "of a job (allreduce, alltoall)"),
	NUM(traffic, jobs, "", 1, 1, 4096,
		"at a time, on hosts drawn at random; kvcache: each has two hosts"),
	NUM(traffic, spacing_us, "us", 1000, 1, 1000000, "between incasts"),
	NUM(traffic, off_us, "us", 0, 0, 1000000, "between rounds of a job, on average"),
	NUM(traffic, layers, "", 61, 1, 10000, "of a KV cache (kvcache)"),
	NUM(traffic, pages, "", 32, 1, 10000, "of a layer (kvcache)"),
	NUM(traffic, more_bytes, "bytes", 16384, 0, 1000000000,
		"of the second message of a page; 0: a page is one message (kvcache)"),
	NUM(traffic, layer_us, "us", 400, 0, 1000000, "to compute a layer (kvcache)"),
	ENUM(traffic, pairing, pairings, SIM_PAIRING_FIXED,
		"decode host of a prefill host: always the same, or drawn for each round "
		"(kvcache)"),
	ENUM(background, kind, backgrounds, SIM_BACK_NONE, "of the jobs"),
	NUM(background, bytes, "bytes", 10000000, 1, 4000000000, "per rank and round"),
	NUM(background, ranks, "hosts", 16, 2, 65535, "of a job"),
	NUM(background, jobs, "", 4, 1, 4096, "at a time, on hosts drawn at random"),
	NUM(background, off_us, "us", 500, 0, 1000000, "between rounds, on average"),
	ENUM(fault, kind, faults, SIM_NO_FAULT, "what happens to each link drawn"),
	NUM(fault, links, "", 1, 0, 65535, "links drawn at random"),
	NUM(fault, links_percent, "percent", 0, 0, 100, "instead of links: chance of each link"),
	NUM(fault, at_us, "us", 0, 0, 100000000, "when (down, flap)"),
	NUM(fault, for_us, "us", 1000, 1, 100000000, "how long (down), up and down times (flap)"),
	NUM(fault, share_permyriad, "permyriad", 2000, 0, 10000,
		"share of packets lost, of flows dropped, or of the rate left"),
	NUM(fault, converge_us, "us", 1000, 0, 100000000, "until routing follows a link's state"),
	TEXT(sweep, lbs, "ecmp", "balancers, separated by commas"),
	TEXT(sweep, loads, "",
		"loads in percent, separated by commas; empty: traffic.load_percent"),
	NUM(sweep, seeds, "", 1, 1, 1000, "1 .. this"),
	TEXT(sweep, quick_lbs, "", "the same for --quick; empty: lbs"),
	TEXT(sweep, quick_loads, "", "empty: loads"),
	NUM(sweep, quick_seeds, "", 1, 1, 1000, "1 .. this"),
	NUM(sweep, quick_percent, "percent", 20, 1, 100, "of duration, and of bytes or layers"),
	TEXT(run, lb, "ecmp", "load balancer; `hp3-sim list` names them"),
	NUM(run, seed, "", 1, 0, UINT64_MAX, "of every random choice"),
	NUM(run, limit_ms, "ms", 10000, 1, 10000000, "simulated time after which to give up"),
};

static void check_config(struct hp3_ini_doc *doc, const void *obj, unsigned flags)
{
	const struct sim_config *c = obj;

	if (c->fabric.kind == SIM_FILE && c->fabric.topology[0] == '\0')
		hp3_ini_complain(doc, "fabric", "topology", "name a file, or set another kind");
	if (c->fabric.kmin_bytes > c->fabric.kmax_bytes && c->fabric.kmax_bytes > 0)
		hp3_ini_complain(doc, "fabric", "kmin_bytes", "must not exceed kmax_bytes");
	if (c->fleet.interval_us > 0 && c->fabric.kind != SIM_LEAF_SPINE)
		hp3_ini_complain(doc, "fleet", "interval_us",
			"the fleet is modelled on kind = leaf-spine alone: set 0");
	if (c->fabric.kind == SIM_FAT_TREE && c->fabric.k % 2 != 0)
		hp3_ini_complain(doc, "fabric", "k", "must be even");
	if (c->traffic.read_percent > 0 &&
		(c->rnic.payload_bytes < 256 || c->rnic.payload_bytes > 4096 ||
			(c->rnic.payload_bytes & (c->rnic.payload_bytes - 1)) != 0))
		hp3_ini_complain(doc, "traffic", "read_percent",
			"READs take as many PSNs as their path MTU says: set rnic.payload_bytes to "
			"256, 512, 1024, 2048 or 4096");
	hp3_config_check_policy(doc, &c->engine);
	if (c->engine.words.probe == HP3_PROBE_MODE_STANDARD)
		hp3_ini_complain(doc, "ppp", "probe",
			"standard probes are not modelled: set auto, peer or off");
	if (c->engine.cc.mode == HP3_CC_DCQCN && c->rnic.cc != SIM_CC_NONE)
		hp3_ini_complain(doc, "cc", "mode",
			"RNICs here do DCQCN themselves: set rnic.cc = none, or cc.mode = native");
}

const struct hp3_ini_schema sim_schema = {
	.sections = sections,
	.n_sections = sizeof(sections) / sizeof(sections[0]),
	.keys = keys,
	.n_keys = sizeof(keys) / sizeof(keys[0]),
	.title = "hp3-sim scenario",
	.check = check_config,
};
