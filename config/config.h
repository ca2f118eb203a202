/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The configuration of hp3d: a struct, and functions that read it from an INI file and write it. A
 * table has a row for each key of the file. The rows of the engine's keys are in engine/policy.def,
 * all other rows in keys.c. A new key needs one field and one row. Loader, checks, dump, look-up,
 * reload, hp3.ini(5) and the simulator use the row.
 *
 * The fields for keys of keys.c have the names of the keys. The suffix of a name is the unit of the
 * number (_us, _ms, _bytes, _mb = MiB). The member `engine` has the values as in the file. From
 * these values, hp3_policy_settled() computes the configuration of an engine.
 */
#include <string.h>
#include "config/ini.h"
#include "engine/engine.h"

#define HP3_CONFIG_RAILS_MAX   16u
#define HP3_CONFIG_BONDS_MAX   8u
#define HP3_CONFIG_DEVARGS_MAX 256u /* with NUL */

enum hp3_onoff { HP3_OFF = 0, HP3_ON = 1 };
enum hp3_lcore_spread { HP3_SPREAD_NIC, HP3_SPREAD_SOFTWARE };
enum hp3_idle { HP3_IDLE_POLL, HP3_IDLE_SLEEP };
enum hp3_capabilities { HP3_CAPABILITIES_DROP, HP3_CAPABILITIES_KEEP };
enum hp3_fail_open { HP3_FAIL_OPEN_AUTO, HP3_FAIL_OPEN_ON, HP3_FAIL_OPEN_OFF };
enum hp3_own_addresses { HP3_OWN_ADDRESSES_REFUSE, HP3_OWN_ADDRESSES_ACCEPT };
enum hp3_keys { HP3_KEYS_AUTO, HP3_KEYS_GROUP, HP3_KEYS_OFF };
enum hp3_bond_mode { HP3_BOND_LACP, HP3_BOND_ACTIVE_BACKUP };
enum hp3_watch_verbs { HP3_WATCH_AUTO, HP3_WATCH_KERNEL, HP3_WATCH_LIBRARY, HP3_WATCH_OFF };
struct hp3_config_rail {
	char name[16];
	char rnic[HP3_CONFIG_DEVARGS_MAX];
	char net[HP3_CONFIG_DEVARGS_MAX];
	char rdma[64];
	uint8_t own_addresses; /* enum hp3_own_addresses */
	uint8_t rfr_mode; /* 0: the value of [rfr] mode; else enum hp3_spray_mode + 1 */
};

/* Rails whose ports are the members of one bond (bonds.h). */
struct hp3_config_bond {
	char name[16];
	char rails[HP3_CONFIG_DEVARGS_MAX]; /* names of rails, separated by commas */
	uint8_t mode; /* enum hp3_bond_mode */
};

struct hp3_config {
	struct {
		char file_prefix[32];
		uint32_t memory_mb;
		enum hp3_onoff hugepages;
		uint32_t lcores;
		enum hp3_lcore_spread spread;
		char cpus[128];
		char extra[HP3_INI_VALUE_MAX];
		uint32_t mbufs;
		uint32_t mbuf_bytes;
		uint32_t burst;
		enum hp3_idle idle;
		uint32_t idle_sleep_us;
	} eal;
	struct hp3_config_rail rails[HP3_CONFIG_RAILS_MAX];
	uint32_t n_rails;
	struct hp3_config_bond bonds[HP3_CONFIG_BONDS_MAX];
	uint32_t n_bonds;
	struct hp3_engine_config engine; /* the keys of engine/policy.def; see engine/policy.h */
	struct {
		char peers[HP3_INI_VALUE_MAX];
		char dscp[128];
		char qpns[HP3_INI_VALUE_MAX];
	} filter; /* hp3_filter_make() parses these lists */
	struct {
		enum hp3_fail_open fail_open;
		uint32_t stale_ms;
		enum hp3_onoff carry_link;
	} bypass;
	struct {
		char socket[108]; /* sun_path; "": inline, not verbs mode */
		char group[64];
		uint32_t poll_us;
		char ibverbs[HP3_INI_VALUE_MAX]; /* "": hp3d has no queue pairs */
		char copies[HP3_INI_VALUE_MAX]; /* interfaces, separated by commas; "": none */
	} verbs;
	struct {
		enum hp3_watch_verbs verbs;
		char libraries[HP3_INI_VALUE_MAX];
		bool discover;
	} watch;
	struct {
		enum hp3_keys keys;
		char probe_key[HP3_INI_VALUE_MAX]; /* see key_file.h; "": none */
		char probe_key_old[HP3_INI_VALUE_MAX];
		uint32_t probe_key_wait_s;
		uint32_t port;
		uint32_t clock_s;
		uint32_t answers_per_second;
	} probes;
	struct {
		char socket[108]; /* sun_path */
		char group[64]; /* "": only root and hp3d's own user may connect */
		char moved[HP3_INI_VALUE_MAX]; /* path; "off"; "": the path `socket` + ".moved" */
		uint32_t stop_drain_ms;
	} control;
	struct {
		char socket[108];
		char listen[64];
		enum hp3_onoff remote;
		char sysfs[128];
	} metrics;
	struct {
		char audit[HP3_INI_VALUE_MAX];
	} log;
	struct {
		enum hp3_capabilities capabilities;
		char state[HP3_INI_VALUE_MAX]; /* folder; "": hp3d stores nothing */
	} service;
};

/* Does hp3d run in verbs mode? In verbs mode, rails have no ports. */
static inline bool hp3_config_is_verbs_mode(const struct hp3_config *cfg)
{
	return cfg->verbs.socket[0] != '\0';
}
/* The index of a rail; n_rails: none has this name. See also hp3_config_flows_rail(). */
static inline unsigned hp3_config_rail(const struct hp3_config *cfg, const char *name)
{
	unsigned rail = 0;

	while (rail < cfg->n_rails && strcmp(cfg->rails[rail].name, name) != 0)
		rail++;
	return rail;
}
static inline uint32_t hp3_config_ports(const struct hp3_config *cfg)
{
	return hp3_config_is_verbs_mode(cfg) ? 0 : 2 * cfg->n_rails;
}

/* Do two hosts agree on a key? False: the hosts have a configured key, or have no key. */
static inline bool hp3_config_agrees_on_keys(const struct hp3_config *cfg)
{
	return cfg->probes.keys == HP3_KEYS_AUTO && cfg->probes.probe_key[0] == '\0';
}
/* Does the memory of hp3d contain a secret (an identity, or a configured key)? */
static inline bool hp3_config_has_secret(const struct hp3_config *cfg)
{
	return cfg->probes.keys == HP3_KEYS_AUTO || cfg->probes.probe_key[0] != '\0';
}

/* The mode of a rail: enum hp3_spray_mode. */
static inline uint8_t hp3_config_rfr_mode(const struct hp3_config *cfg, unsigned rail)
{
	bool own = rail < cfg->n_rails && cfg->rails[rail].rfr_mode != 0;

	return own ? cfg->rails[rail].rfr_mode - 1 : cfg->engine.spray.mode;
}

#define HP3_CONFIG_NO_RAILS 1u /* flag: accept a file without a rail (replay) */

void hp3_config_defaults(struct hp3_config *cfg);

/*
 * hp3_config_load() loads a file; hp3_config_parse() parses a text. Both return 0; -EINVAL: there
 * are errors; otherwise the negative errno of opening or reading the file. *errs lists all errors.
 * *out changes only on success, so *out may be the running configuration.
 */
int hp3_config_load(
	const char *path, unsigned flags, struct hp3_config *out, struct hp3_config_errors *errs);
int hp3_config_parse(const char *file, const char *text, size_t len, unsigned flags,
	struct hp3_config *out, struct hp3_config_errors *errs);

/*
 * Replaces each port that is the name of a kernel interface of this network namespace by devargs of
 * net_af_packet, and prints that. `program`: begins the line.
 */
void hp3_config_name_ports(struct hp3_config *cfg, const char *program);

/*
 * Both functions write a configuration file. hp3_config_dump() writes all keys.
 * hp3_config_dump_short() writes the ports of each rail, the keys that most hosts set, and the keys
 * that differ from their defaults. If there is no rail, it writes a sample rail, except in verbs
 * mode.
 */
void hp3_config_dump(FILE *out, const struct hp3_config *cfg);
void hp3_config_dump_short(FILE *out, const struct hp3_config *cfg);

/*
 * Reload of the configuration. hp3_config_diff_reload() compares two configurations, and calls fn
 * (may be NULL) for each key whose value differs. It compares rails of the same name. `from` is
 * NULL if *running does not have the rail; `to` is NULL if *wanted does not have the rail. Returns
 * how many of the keys with different values need a restart. hp3_config_apply_reload() copies only
 * the values that a reload may change.
 */
struct hp3_config_change {
	char section[HP3_INI_NAME_MAX];
	const struct hp3_ini_key *key; /* key->reloadable: the change takes effect at once */
	const char *from, *to;
};
unsigned hp3_config_diff_reload(const struct hp3_config *running, const struct hp3_config *wanted,
	void (*fn)(void *arg, const struct hp3_config_change *c), void *arg);
void hp3_config_apply_reload(struct hp3_config *running, const struct hp3_config *wanted);
