/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of keys of a scenario, and loading one. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sim/core/config.h"

#define FIELD(sec, name)                                                                           \
	.section = #sec, .key = #name, .offset = offsetof(struct sim_config, sec.name),            \
	.size = sizeof(((struct sim_config *)NULL)->sec.name)
#define NUM(sec, name, u, d, lo, hi, h)                                                            \
	{                                                                                          \
		FIELD(sec, name), .type = HP3_INI_INT, .unit = u, .def = d, .min = lo, .max = hi,  \
				  .help = h                                                        \
	}
#define ENUM(sec, name, list, d, h)                                                                \
	{                                                                                          \
		FIELD(sec, name), .type = HP3_INI_ENUM, .unit = "", .choices = list, .def = d,     \
				  .help = h                                                        \
	}
#define TEXT(sec, name, d, h)                                                                      \
	{                                                                                          \
		FIELD(sec, name), .type = HP3_INI_STRING, .unit = "", .def_string = d, .min = 0,   \
				  .max = sizeof(((struct sim_config *)NULL)->sec.name) - 1,        \
				  .help = h                                                        \
	}

static const char *const onoff[] = {"off", "on", NULL};
static const char *const kinds[] = {"leaf-spine", "fat-tree", "rail", "file", NULL};
static const char *const hashes[] = {"crc32", "crc16-ccitt", "crc16-ibm", "xor", "murmur3", NULL};
static const char *const inputs[] = {"tuple", "ns3", NULL};
static const char *const recoveries[] = {"go-back-n", "selective", "unordered", NULL};
static const char *const ccs[] = {"none", "dcqcn", NULL};
static const char *const feedbacks[] = {"ack", "cnp", NULL};
static const char *const qp_kinds[] = {"fresh", "kept", NULL};
static const char *const port_kinds[] = {"counted", "roce", NULL};

static const char *const identities[] = {"none", "model", "trace", NULL};
static const char *const traffics[] = {
	"poisson", "incast", "permutation", "allreduce", "alltoall", "collision", NULL};
static const char *const backgrounds[] = {"none", "allreduce", "alltoall", NULL};
static const char *const faults[] = {"none", "down", "flap", "loss", "black-hole", "degrade", NULL};

static const struct hp3_ini_section sections[] = {
	{.name = "fabric", .help = "Topology and switches"},
	{.name = "rnic", .help = "Hosts"},
	{.name = "letflow", .help = "LetFlow (NSDI 2017)"},
	{.name = "conga", .help = "CONGA (SIGCOMM 2014)"},
	{.name = "conweave", .help = "ConWeave (SIGCOMM 2023); 0: by number of tiers"},
	{.name = "stellar", .help = "STELLAR (SIGCOMM 2025)"},
	{.name = "hp3", .help = "hp3 and hp3-paper; names as in hp3.ini"},
	{.name = "traffic", .help = "What hosts send"},
	{.name = "background", .help = "Jobs beside it: on for a round, off, on again"},
	{.name = "fault", .help = "What goes wrong, on links between switches"},
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
	NUM(fabric, planes, "", 2, 1, 8, "links of a host, each to a fabric of its own (rail)"),
	NUM(fabric, rails, "", 4, 1, 64,
		"hosts (RNICs) of a server, each with leaves of its own (rail)"),
	NUM(fabric, segments, "", 4, 1, 64, "groups of servers that share leaves (rail)"),
	NUM(fabric, servers, "", 16, 1, 1024, "of a segment (rail)"),
	NUM(fabric, host_mbps, "mbps", 100000, 1, 1000000, "rate of host links"),
	NUM(fabric, core_mbps, "mbps", 100000, 1, 1000000, "rate of the others"),
	NUM(fabric, delay_ns, "ns", 1000, 1, 10000000, "propagation of each link"),
	NUM(fabric, buffer_kib, "kib", 9216, 64, 4000000, "shared buffer of a switch"),
	ENUM(fabric, pfc, onoff, SIM_ON, "lossless; off: drops at the egress threshold"),
	NUM(fabric, ingress_alpha_permyriad, "permyriad", 625, 1, 1000000,
		"alpha of PFC: pause above this share of the free buffer"),
	NUM(fabric, egress_alpha_percent, "percent", 100, 1, 100000,
		"alpha of an egress queue's limit"),
	NUM(fabric, pause_us, "us", 5, 1, 60000, "time that a PFC frame pauses for"),
	ENUM(fabric, pause_renew, onoff, SIM_OFF, "renew pauses in time (ns-3: no)"),
	NUM(fabric, kmin_bytes, "bytes", 100000, 0, 1000000000, "queue where marking begins"),
	NUM(fabric, kmax_bytes, "bytes", 400000, 0, 1000000000,
		"queue from which all is marked; 0: no ECN"),
	NUM(fabric, pmax_percent, "percent", 20, 0, 100, "share marked at kmax"),
	ENUM(fabric, hash, hashes, 4, "ECMP hash"),
	ENUM(fabric, hash_input, inputs, 1, "what it reads"),
	NUM(fabric, hash_seed, "", 0, 0, UINT32_MAX, "added to the switch's number: its seed"),
	NUM(fabric, grain_ps, "ps", 1000, 1, 1000000,
		"serialisation times are cut to multiples of this (ns-3: 1 ns); 1: exact"),
	NUM(fabric, icmp_per_second, "", 1000, 0, 1000000000,
		"time exceeded that a switch says; 0: it is silent"),
	NUM(rnic, payload_bytes, "bytes", 1000, 64, 9000, "of a full packet"),
	NUM(rnic, header_bytes, "bytes", 48, 0, 256, "on the wire beside it"),
	NUM(rnic, ack_bytes, "bytes", 60, 1, 1000, "of an ACK or NAK on the wire"),
	NUM(rnic, ack_every, "packets", 1, 1, 1024, "packets per ACK; the last one always has one"),
	ENUM(rnic, recovery, recoveries, SIM_GO_BACK_N, "from loss; see docs/sim.md"),
	NUM(rnic, rto_us, "us", 4000, 0, 10000000, "retransmission time-out; 0: none"),
	NUM(rnic, nak_us, "us", 4, 0, 1000000, "before the same NAK is sent again"),
	ENUM(rnic, cc, ccs, SIM_CC_DCQCN, "congestion control"),
	TEXT(rnic, preset, "conweave", "DCQCN: paper, connectx, hpcc or conweave"),
	ENUM(rnic, feedback, feedbacks, SIM_FEEDBACK_ACK, "marks come back on ACKs or by CNPs"),
	NUM(rnic, cnp_interval_us, "us", 4, 0, 1000000, "least time between CNPs of a flow"),
	NUM(rnic, window_bytes, "bytes", 0, 0, 1000000000, "most in flight; 0: no window"),
	ENUM(rnic, ports, port_kinds, SIM_PORTS_COUNTED,
		"UDP ports: counted up per host (ns-3), or random source and 4791"),
	NUM(rnic, setup_us, "us", 0, 0, 1000000,
		"from queue-pair setup to the first data, from which FCT counts"),
	ENUM(rnic, qps, qp_kinds, SIM_QPS_FRESH,
		"a queue pair per message, or one kept per pair of hosts and verb"),
	NUM(rnic, read_depth, "", 16, 1, 255, "READ requests outstanding of a queue pair"),
	NUM(letflow, gap_us, "us", 100, 1, 1000000, "flowlet gap"),
	NUM(conga, gap_us, "us", 100, 1, 1000000, "flowlet gap"),
	NUM(conga, dre_us, "us", 50, 1, 1000000, "interval of the rate estimator's decay"),
	NUM(conga, alpha_percent, "percent", 20, 1, 100, "its decay"),
	NUM(conga, bits, "bits", 3, 1, 8, "of a congestion metric"),
	NUM(conga, age_us, "us", 500, 1, 1000000, "after which a metric is forgotten"),
	NUM(conga, samples, "", 4, 1, 64, "neighbouring paths that are compared"),
	NUM(conweave, reply_us, "us", 4, 0, 1000000, "reply deadline beyond the base RTT"),
	NUM(conweave, pause_us, "us", 16, 0, 1000000, "a marked path is avoided so long"),
	NUM(conweave, flush_us, "us", 0, 0, 1000000, "extra wait for the old path's packets"),
	NUM(conweave, wait_us, "us", 0, 0, 1000000, "the same without an estimate"),
	NUM(conweave, expiry_us, "us", 0, 0, 1000000, "a flow idle so long begins anew"),
	NUM(stellar, paths, "", 128, 1, 256, "source ports that a flow is sprayed over"),
	NUM(stellar, rto_us, "us", 250, 1, 10000000, "retransmission time-out"),
	ENUM(hp3, identity, identities, SIM_IDENTITY_MODEL, "what tells ports of one path apart"),
	ENUM(hp3, placement, onoff, SIM_OFF, "new queue pairs by counts (identity model)"),
	ENUM(hp3, rate_acts, onoff, SIM_ON, "rates are saved, raised and rolled back with moves"),
	ENUM(hp3, ideal_answers, onoff, SIM_OFF,
		"answers to probes in the class of ACKs; hp3d's ride behind data"),
	NUM(hp3, cycle_us, "us", 10, 1, 1000000, "shortest monitoring cycle"),
	NUM(hp3, congestion_tolerance, "cycles", 1, 1, 7, "congested ones in a row: severe"),
	NUM(hp3, ecn_fraction, "percent", 5, 1, 100, "of marked replies: congested"),
	NUM(hp3, rtt_factor, "percent", 300, 101, 10000, "of the base RTT: congested"),
	NUM(hp3, candidates, "ports", 2, 1, 6, "of a round of probes"),
	NUM(hp3, setup_rounds, "rounds", 2, 1, 16, "of probes before the first data"),
	NUM(hp3, wake, "percent", 50, 0, 10000,
		"of the base RTT that a message takes: it waits for a path; 0: none does"),
	NUM(hp3, improve, "percent", 80, 1, 100, "of the RTT in use that a winner may have"),
	NUM(hp3, max_concurrent, "moves", 2, 1, 65535, "of an address pair at a time"),
	NUM(hp3, cooldown_us, "us", 100, 1, 100000000, "a moved flow stays"),
	NUM(hp3, verify_us, "us", 200, 0, 100000000, "until a move is judged; 0: never"),
	NUM(hp3, stall_us, "us", 500, 0, 100000000, "without progress: dead path? 0: never"),
	NUM(hp3, probe_timeout_us, "us", 200, 1, 500000, "a probe not answered is lost"),
	NUM(hp3, backoff_min_us, "us", 50, 1, 4000000, "after a fruitless round"),
	NUM(hp3, backoff_max_us, "us", 2000, 1, 4000000, "it doubles up to this"),
	NUM(hp3, probes_per_second, "", 100000, 0, 4000000000, "of an address pair"),
	NUM(hp3, fresh_us, "us", 100, 1, 100000000, "what is known of a path is good for"),
	NUM(hp3, load_age_us, "us", 50, 0, 100000000, "the peer's counts are good for"),
	NUM(hp3, traces_per_second, "", 10000, 1, 1000000000, "of a host (identity trace)"),
	NUM(hp3, trace_timeout_us, "us", 100, 1, 1000000, "a trace not answered is lost"),
	NUM(hp3, max_hold_us, "us", 1000, 1, 1000000, "longest drain"),
	NUM(hp3, hold_bytes, "bytes", 4000000, 1000, 4000000000, "held of a flow"),
	ENUM(traffic, kind, traffics, SIM_POISSON, "pattern; see docs/sim.md"),
	TEXT(traffic, cdf, "AliStorage2019", "flow sizes: a built-in name, or a file"),
	NUM(traffic, load_percent, "percent", 50, 1, 200,
		"of the capacity above the leaves, per host (poisson)"),
	NUM(traffic, duration_us, "us", 10000, 1, 100000000, "of arrivals (poisson, incast)"),
	NUM(traffic, read_percent, "percent", 0, 0, 100,
		"of messages are READ by their destination, the others WRITten by their source"),
	NUM(traffic, bytes, "bytes", 1000000, 1, 4000000000,
		"per flow (incast, permutation, collision), per rank and round (jobs)"),
	NUM(traffic, fan_in, "hosts", 16, 1, 65535, "senders of an incast"),
	NUM(traffic, repeat, "", 1, 1, 100000, "rounds (jobs), or one after another (permutation)"),
	NUM(traffic, ranks, "hosts", 16, 2, 65535, "of a job (allreduce, alltoall)"),
	NUM(traffic, jobs, "", 1, 1, 4096, "at a time, on hosts drawn at random"),
	NUM(traffic, spacing_us, "us", 1000, 1, 1000000, "between incasts"),
	NUM(traffic, off_us, "us", 0, 0, 1000000, "between rounds of a job, on average"),
	ENUM(background, kind, backgrounds, SIM_BACK_NONE, "of the jobs"),
	NUM(background, bytes, "bytes", 10000000, 1, 4000000000, "per rank and round"),
	NUM(background, ranks, "hosts", 16, 2, 65535, "of a job"),
	NUM(background, jobs, "", 4, 1, 4096, "at a time, on hosts drawn at random"),
	NUM(background, off_us, "us", 500, 0, 1000000, "between rounds, on average"),
	ENUM(fault, kind, faults, SIM_NO_FAULT, "what happens to each link drawn"),
	NUM(fault, links, "", 1, 0, 65535, "links drawn at random"),
	NUM(fault, links_percent, "percent", 0, 0, 100, "instead: each link with this chance"),
	NUM(fault, at_us, "us", 0, 0, 100000000, "when (down, flap)"),
	NUM(fault, for_us, "us", 1000, 1, 100000000, "how long (down), up and down times (flap)"),
	NUM(fault, share_permyriad, "permyriad", 2000, 0, 10000,
		"lost packets, flows in the hole, or rate that is left"),
	NUM(fault, converge_us, "us", 1000, 0, 100000000, "until routing knows of a link's state"),
	TEXT(sweep, lbs, "ecmp", "balancers, by comma"),
	TEXT(sweep, loads, "", "loads in percent, by comma; empty: traffic.load_percent"),
	NUM(sweep, seeds, "", 1, 1, 1000, "1 .. this"),
	TEXT(sweep, quick_lbs, "", "the same for --quick; empty: lbs"),
	TEXT(sweep, quick_loads, "", "empty: loads"),
	NUM(sweep, quick_seeds, "", 1, 1, 1000, "1 .. this"),
	NUM(sweep, quick_percent, "percent", 20, 1, 100, "of duration, bytes and rounds"),
	TEXT(run, lb, "ecmp", "load balancer; `hp3-sim list` names them"),
	NUM(run, seed, "", 1, 0, UINT64_MAX, "of every random choice"),
	NUM(run, limit_ms, "ms", 10000, 1, 10000000, "simulated time after which to give up"),
};

static void check(struct hp3_ini_doc *doc, const void *obj, unsigned flags)
{
	const struct sim_config *c = obj;

	if (c->fabric.kind == SIM_FILE && c->fabric.topology[0] == '\0')
		hp3_ini_complain(doc, "fabric", "topology", "name a file, or set another kind");
	if (c->fabric.kmin_bytes > c->fabric.kmax_bytes && c->fabric.kmax_bytes > 0)
		hp3_ini_complain(doc, "fabric", "kmin_bytes", "must not exceed kmax_bytes");
	if (c->fabric.kind == SIM_FAT_TREE && c->fabric.k % 2 != 0)
		hp3_ini_complain(doc, "fabric", "k", "must be even");
	if (c->traffic.read_percent > 0 &&
		(c->rnic.payload_bytes < 256 || c->rnic.payload_bytes > 4096 ||
			(c->rnic.payload_bytes & (c->rnic.payload_bytes - 1)) != 0))
		hp3_ini_complain(doc, "traffic", "read_percent",
			"READs take as many PSNs as their path MTU says: set rnic.payload_bytes to "
			"256, 512, 1024, 2048 or 4096");
}

const struct hp3_ini_schema sim_schema = {
	.sections = sections,
	.n_sections = sizeof(sections) / sizeof(sections[0]),
	.keys = keys,
	.n_keys = sizeof(keys) / sizeof(keys[0]),
	.title = "hp3-sim scenario",
	.check = check,
};

/*
 * The text of `cfg` with one value replaced. Reading it again checks name, value and the rules
 * between keys as for a file.
 */
static int with_value(const struct sim_config *cfg, const char *set, char **out, size_t *len)
{
	const char *dot = strchr(set, '.'), *eq = strchr(set, '=');
	char *dump = NULL, *line, *save = NULL;
	size_t n = 0;
	bool inside = false, done = false;
	FILE *f;

	if (dot == NULL || eq == NULL || dot > eq)
		return -EINVAL;
	f = open_memstream(&dump, &n);
	hp3_ini_dump(&sim_schema, cfg, f);
	fclose(f);
	f = open_memstream(out, len);
	for (line = strtok_r(dump, "\n", &save); line != NULL; line = strtok_r(NULL, "\n", &save)) {
		size_t key = (size_t)(eq - dot - 1);

		if (line[0] == '[')
			inside = strncmp(line + 1, set, (size_t)(dot - set)) == 0 &&
				 line[1 + (dot - set)] == ']';
		if (inside && strncmp(line, dot + 1, key) == 0 &&
			strspn(line + key, " ") == strcspn(line + key, "=")) {
			fprintf(f, "%.*s = \"%s\"\n", (int)key, dot + 1, eq + 1);
			done = true;
		} else {
			fprintf(f, "%s\n", line);
		}
	}
	fclose(f);
	free(dump);
	return done ? 0 : -ENOENT;
}

int sim_config_load(struct sim_config *cfg, const char *path, const char *text,
	const char *const *set, unsigned n, struct hp3_config_errors *errs)
{
	struct hp3_ini_schema part = sim_schema; /* rules between keys wait for the last one */
	int ret = 0;

	*cfg = (struct sim_config){0};
	part.check = n > 0 ? NULL : check;
	if (text != NULL)
		ret = hp3_ini_parse(&part, path, text, strlen(text), 0, cfg, errs);
	else if (path != NULL)
		ret = hp3_ini_load(&part, path, 0, cfg, errs);
	else
		hp3_ini_defaults(&sim_schema, cfg);
	for (unsigned i = 0; ret == 0 && i < n; i++) {
		struct sim_config next = {0};
		char *changed = NULL;
		size_t len = 0;

		part.check = i + 1 < n ? NULL : check;
		ret = with_value(cfg, set[i], &changed, &len);
		if (ret == 0)
			ret = hp3_ini_parse(&part, set[i], changed, len, 0, &next, errs);
		else
			fprintf(stderr,
				"hp3-sim: --set %s: write section.key=value with a key that "
				"`hp3-sim keys` prints\n",
				set[i]);
		if (ret == 0)
			*cfg = next;
		free(changed);
	}
	return ret;
}
