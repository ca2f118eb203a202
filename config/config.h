/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_CONFIG_CONFIG_H
#define HP3_CONFIG_CONFIG_H
/*
 * The configuration of hp3d: one INI file, one struct, one table of keys (keys.c) between them. A
 * new key is one field here and one row there; loader, checks, dump, look-up and reload follow.
 *
 * Field names are the keys' names; numbers are in the unit that the name's suffix tells (_us, _ms,
 * _bytes, _mb = MiB). What each key means, its range and its default stand in the table and in
 * hp3.ini, which is the table's own dump.
 */
#include "config/ini.h"

#define HP3_CONFIG_RAILS_MAX   16u
#define HP3_CONFIG_DEVARGS_MAX 256u /* with NUL */

enum hp3_onoff { HP3_OFF = 0, HP3_ON = 1 };
enum hp3_idle { HP3_IDLE_POLL, HP3_IDLE_SLEEP };
enum hp3_watch_verbs { HP3_WATCH_AUTO, HP3_WATCH_KERNEL, HP3_WATCH_LIBRARY, HP3_WATCH_OFF };
enum hp3_policy { HP3_POLICY_OFF, HP3_POLICY_OBSERVE, HP3_POLICY_ON };
enum hp3_probe_mode {
	HP3_PROBE_MODE_OFF,
	HP3_PROBE_MODE_AUTO,
	HP3_PROBE_MODE_PEER,
	HP3_PROBE_MODE_STANDARD,
	HP3_PROBE_MODE_NAK
};
enum hp3_identity_key { HP3_IDENTITY_KEY_NONE, HP3_IDENTITY_KEY_TRACE };
enum hp3_cc_key { HP3_CC_KEY_NATIVE, HP3_CC_KEY_DCQCN, HP3_CC_KEY_OFF };
enum hp3_np_key { HP3_NP_KEY_AUTO, HP3_NP_KEY_ON, HP3_NP_KEY_OFF };
enum hp3_np_how { HP3_NP_HOW_BECN, HP3_NP_HOW_CNP };

struct hp3_config_rail {
	char name[16];
	char rnic[HP3_CONFIG_DEVARGS_MAX];
	char net[HP3_CONFIG_DEVARGS_MAX];
	char rdma[64];
};

struct hp3_config {
	struct {
		char file_prefix[32];
		uint32_t memory_mb;
		enum hp3_onoff hugepages;
		uint32_t lcores;
		char cpus[128];
		char extra[HP3_INI_VALUE_MAX];
		uint32_t mbufs;
		uint32_t mbuf_bytes;
		uint32_t burst;
		enum hp3_idle idle;
		uint32_t idle_sleep_us;
		uint32_t idle_deep_us;
		uint32_t idle_spins;
	} eal;
	struct hp3_config_rail rails[HP3_CONFIG_RAILS_MAX];
	uint32_t n_rails;
	struct {
		enum hp3_policy mode;
		uint64_t seed;
	} policy;
	struct {
		uint32_t max_flows;
		uint32_t max_pairs;
		uint32_t idle_age_ms;
		uint32_t dead_age_ms;
	} flows;
	struct {
		enum hp3_onoff cm;
		enum hp3_onoff challenge;
		uint32_t challenge_timeout_ms;
		uint32_t challenge_hits;
		uint32_t challenge_spread;
		uint32_t challenge_quiet_ms;
	} pairing;
	struct {
		enum hp3_watch_verbs verbs;
		char libraries[HP3_INI_VALUE_MAX];
	} watch;
	struct {
		enum hp3_onoff watch;
		uint32_t cycle_us;
		uint32_t congestion_tolerance;
		uint32_t ecn_fraction;
		uint32_t rtt_factor;
		enum hp3_probe_mode probe;
		uint32_t candidates;
		uint32_t probe_timeout_us;
		uint32_t probes_per_second;
		uint32_t probe_burst;
		uint32_t improve;
		uint32_t backoff_min_us;
		uint32_t backoff_max_us;
		uint32_t max_concurrent;
		enum hp3_onoff setup;
		uint32_t setup_rounds;
		uint32_t wake;
		uint32_t peer_retry_ms;
		uint32_t path_fresh_ms;
		uint32_t path_retry_ms;
		enum hp3_identity_key identity;
		uint32_t traces_per_second;
		uint32_t trace_recheck_ms;
		enum hp3_onoff placement;
	} ppp;
	struct {
		uint32_t max_hold_us;
		uint64_t hold_bytes;
		uint64_t hold_bytes_total;
		uint32_t hold_packets;
		uint32_t max_moves;
		uint32_t close_timeout_us;
		uint32_t cooldown_us;
		uint32_t move_wait_us;
		uint32_t stall_us;
		uint32_t verify_us;
	} rfr;
	struct {
		enum hp3_cc_key mode;
		uint32_t max_rtt_us;
		uint32_t rto_us;
		uint32_t burst_bytes;
		enum hp3_np_key np;
		enum hp3_np_how np_how;
		uint32_t min_time_between_cnps;
		/* as in struct hp3_dcqcn_params */
		uint32_t clamp_tgt_rate;
		uint32_t clamp_tgt_rate_after_time_inc;
		uint32_t rpg_time_reset;
		uint32_t rpg_byte_reset;
		uint32_t rpg_threshold;
		uint32_t rpg_max_rate;
		uint32_t rpg_ai_rate;
		uint32_t rpg_hai_rate;
		uint32_t rpg_min_rate;
		uint32_t rpg_gd;
		uint32_t rpg_min_dec_fac;
		uint32_t rate_to_set_on_first_cnp;
		uint32_t dce_tcp_g;
		uint32_t dce_tcp_rtt;
		uint32_t rate_reduce_monitor_period;
		uint32_t initial_alpha_value;
		uint32_t raise;
	} cc;
	struct {
		char probe_key[33];
		uint32_t port;
		uint32_t clock_s;
		uint32_t answers_per_second;
		uint32_t answers_per_source;
	} probes;
	struct {
		char socket[108]; /* sun_path */
		uint32_t events_kept;
		uint32_t stop_drain_ms;
	} control;
};

#define HP3_CONFIG_NO_RAILS 1u /* flag: a file without a rail is complete (replay) */

void hp3_config_defaults(struct hp3_config *cfg);

/*
 * 0, -EINVAL (the file has errors), or the negative errno of opening or reading it; every error is
 * in *errs. *out is written only on success, so a running configuration may be passed.
 */
int hp3_config_load(
	const char *path, unsigned flags, struct hp3_config *out, struct hp3_config_errors *errs);
int hp3_config_parse(const char *file, const char *text, size_t len, unsigned flags,
	struct hp3_config *out, struct hp3_config_errors *errs);

void hp3_config_dump(FILE *out, const struct hp3_config *cfg);

/* Value of "rfr.max_hold_us", "rail.rail0.net". 0 or -ENOENT with one error that names the nearest.
 */
int hp3_config_get(const struct hp3_config *cfg, const char *name, char *buf, size_t cap,
	struct hp3_config_errors *errs);

/*
 * Reload. hp3_config_diff_reload() calls fn (may be NULL) for each key whose value differs (rails
 * are matched by name; NULL stands for the value of a rail that is absent) and returns how many of
 * them need a restart. hp3_config_apply_reload() takes over the reloadable values alone.
 */
struct hp3_config_change {
	char section[HP3_INI_NAME_MAX];
	const struct hp3_ini_key *key; /* key->reloadable tells whether it applies at once */
	const char *from, *to;
};
unsigned hp3_config_diff_reload(const struct hp3_config *running, const struct hp3_config *wanted,
	void (*fn)(void *arg, const struct hp3_config_change *c), void *arg);
void hp3_config_apply_reload(struct hp3_config *running, const struct hp3_config *wanted);

#endif
