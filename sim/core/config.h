/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * All keys of scenario files and of --set section.key=value. Two tables define unit, range, default
 * and help of each key. The table in engine/policy.def has the policy of hp3, with the key names of
 * hp3.ini. The table in keys.c has all other keys, which have the names of the fields below. The
 * command `hp3-sim keys` prints both tables.
 */
#include "config/ini.h"
#include "engine/engine.h"

enum sim_fabric_kind { SIM_LEAF_SPINE, SIM_FAT_TREE, SIM_RAIL, SIM_FILE };
enum sim_recovery { SIM_GO_BACK_N, SIM_IRN, SIM_UNORDERED };
enum sim_cc { SIM_CC_NONE, SIM_CC_DCQCN };
enum sim_qps { SIM_QPS_FRESH, SIM_QPS_KEPT };
enum sim_feedback { SIM_FEEDBACK_ACK, SIM_FEEDBACK_CNP };
enum sim_ports { SIM_PORTS_COUNTED, SIM_PORTS_ROCE };
enum sim_traffic {
	SIM_POISSON,
	SIM_INCAST,
	SIM_PERMUTATION,
	SIM_ALLREDUCE,
	SIM_ALLTOALL,
	SIM_KVCACHE,
	SIM_COLLISION,
	SIM_CONNECTIONS
};
enum sim_pairing { SIM_PAIRING_FIXED, SIM_PAIRING_RANDOM };
enum sim_background { SIM_BACK_NONE, SIM_BACK_ALLREDUCE, SIM_BACK_ALLTOALL };
enum sim_fault_kind {
	SIM_NO_FAULT,
	SIM_FAULT_DOWN,
	SIM_FAULT_FLAP,
	SIM_FAULT_LOSS,
	SIM_FAULT_BLACK_HOLE,
	SIM_FAULT_DEGRADE
};
enum sim_onoff { SIM_OFF, SIM_ON };
/* Balancers that run engines. Each of them has its own policy. */
enum sim_policy {
	SIM_POLICY_HP3, /* does the same as hp3d with this policy */
	SIM_POLICY_IDEAL,
	SIM_POLICY_PAPER,
	SIM_POLICY_VERBS,
	SIM_POLICIES
};

struct sim_config {
	struct {
		enum sim_fabric_kind kind;
		char topology[256];
		uint32_t leaves, spines, hosts_per_leaf, k, oversubscription;
		uint32_t planes, rails, segments, servers, last_plane_percent;
		uint32_t host_mbps, core_mbps, delay_ns;
		uint32_t buffer_kib;
		enum sim_onoff pfc;
		uint32_t ingress_alpha_permyriad;
		uint32_t egress_alpha_percent;
		uint32_t pause_us;
		enum sim_onoff pause_renew;
		uint32_t kmin_bytes, kmax_bytes, pmax_percent;
		uint32_t hash; /* enum sim_hash_kind */
		uint32_t hash_input; /* enum sim_hash_input */
		uint32_t hash_bth; /* enum sim_hash_bth */
		uint32_t hash_seed;
		uint32_t grain_ps;
		uint32_t icmp_per_second;
		uint32_t cnp_dscp;
	} fabric;
	struct {
		uint32_t payload_bytes, header_bytes, ack_bytes, ack_every;
		enum sim_recovery recovery;
		uint32_t rto_us, rto_low_us, rto_high_us, nak_us;
		enum sim_cc cc;
		char preset[16];
		enum sim_feedback feedback;
		uint32_t cnp_interval_us;
		uint64_t window_bytes;
		enum sim_ports ports;
		uint32_t setup_us;
		enum sim_onoff setup_counts;
		enum sim_qps qps;
		uint32_t read_depth;
	} rnic;
	struct {
		uint32_t gap_us;
	} letflow;
	struct {
		uint32_t gap_us, dre_us, alpha_percent, bits, age_us, samples;
	} conga;
	struct {
		uint32_t reply_us, pause_us, flush_us, wait_us, expiry_us;
	} conweave;
	struct {
		uint32_t paths, rto_us;
	} stellar;
	struct {
		uint32_t ecn_percent, rtt_low_us, rtt_high_us, delta_rtt_us, delta_ecn_percent;
		uint32_t rate_percent, sent_bytes, probe_us, forget_us;
	} hermes;
	/* The keys of engine/policy.def, for the chosen balancer; see engine/policy.h. */
	struct hp3_engine_config engine;
	struct hp3_engine_config policy[SIM_POLICIES]; /* by enum sim_policy; no keys */
	struct {
		enum sim_onoff model, rate_acts;
	} ideal; /* section [hp3-ideal] */
	struct {
		uint32_t poll_us, wake_us, wait_us, wr_bytes, wr_depth;
	} verbs; /* section [hp3-verbs] */
	struct {
		uint32_t paths, rails, slice_bytes, window_percent;
		enum sim_onoff pair_window;
	} xfer; /* for hp3x */
	struct {
		uint32_t hp3_percent;
		enum sim_onoff paths_known;
	} peers;
	struct {
		uint32_t interval_us, delay_us, lost_percent, moves, hold_us;
		uint32_t marked_permille, full_percent, improve_percent;
		enum sim_onoff link_known;
	} fleet;
	struct {
		enum sim_traffic kind;
		char cdf[256];
		uint32_t load_percent, duration_us;
		uint32_t read_percent;
		uint64_t bytes;
		uint32_t fan_in, repeat, ranks, jobs, spacing_us, off_us;
		uint32_t layers, pages, more_bytes, layer_us; /* kvcache */
		enum sim_pairing pairing;
	} traffic;
	struct {
		enum sim_background kind;
		uint64_t bytes;
		uint32_t ranks, jobs, off_us;
	} background;
	struct {
		enum sim_fault_kind kind;
		uint32_t links, links_percent, at_us, for_us, share_permyriad, converge_us;
	} fault;
	struct {
		char lbs[HP3_INI_VALUE_MAX], loads[64];
		uint32_t seeds;
		char quick_lbs[HP3_INI_VALUE_MAX], quick_loads[64];
		uint32_t quick_seeds, quick_percent;
	} sweep;
	struct {
		char lb[24];
		uint64_t seed;
		uint32_t limit_ms;
	} run;
};

extern const struct hp3_ini_schema sim_schema;

/*
 * Loads a configuration from `text`, which error messages call `path`. If `text` is NULL, loads the
 * file `path`; if `path` is also NULL, loads the defaults. Then applies `set`, which has n texts
 * "section.key=value". The last text for a key has effect. A text "hp3=FILE" loads the whole policy
 * from a configuration file of hp3d, and is applied before the other texts. Returns 0, or a
 * negative errno with the errors in *errs.
 *
 * The four balancers with engines start from the shipped policy. sim/lb/hp3-ideal.policy changes
 * the policy of hp3-ideal and hp3-paper; sim/lb/hp3-paper.policy changes that of hp3-paper. Policy
 * keys in `text` and `set` apply to all four balancers. hp3=FILE applies only to hp3.
 */
int sim_config_load(struct sim_config *cfg, const char *path, const char *text,
	const char *const *set, unsigned n, struct hp3_config_errors *errs);

/* Sets run.lb to `lb`, and `engine` to the policy of this balancer. */
void sim_config_choose(struct sim_config *cfg, const char *lb);
/* The policy of the balancer; SIM_POLICIES: the balancer runs no engines. */
enum sim_policy sim_policy_of(const char *lb);
