/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * peers: the hosts with which this host's RNIC communicates, the state of their hp3d, and the key
 * that authenticates them. Engines have the address pairs, agents the keys. This file reads both on
 * the lcores, a few at a time, and joins them. A list has two parts: first the pairs with flows;
 * then pairs with a record of key agreement but without a flow, because the local RNIC only
 * receives.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "app/hp3d/control/list.h"
#include "app/hp3d/control/requests.h"
#include "app/hp3d/lcores/eal.h"
#include "app/hp3d/pipe/agent.h"
#include "app/hp3d/pipe/pipe.h"
#include "config/bonds.h"

#define PEERS_PER_STEP 8u
#define KEYS_PER_STEP  64u

/* The key agreements of a pipe's agent. */
struct keys {
	unsigned rail, worker;
	uint32_t n;
	struct hp3_keying_info *info; /* NULL: no pipe yet */
};

struct keys_step {
	unsigned rail;
	uint32_t at, n;
	uint64_t now;
	struct hp3_keying_info info[KEYS_PER_STEP];
};

static void read_keys(struct hp3d_worker *w, void *arg)
{
	struct keys_step *s = arg;
	const struct hp3d_agent *a = hp3d_pipe_agent(hp3d_worker_pipe(w, s->rail));

	s->n = hp3d_agent_key_list(a, &s->at, s->info, KEYS_PER_STEP);
}

static int by_ends(const void *a, const void *b)
{
	return hp3_pair_ends_compare(&((const struct hp3_keying_info *)a)->ends,
		&((const struct hp3_keying_info *)b)->ends);
}

/* Reads the key agreements of one pipe, sorted. 0 or a negative errno. */
static int collect_keys(struct keys *k, unsigned rail, unsigned worker)
{
	struct keys_step s = {.rail = rail};

	*k = (struct keys){.rail = rail, .worker = worker, .info = k->info};
	do {
		struct hp3_keying_info *more;

		if (hp3d_worker_call(hp3d_worker(worker), read_keys, &s) < 0)
			return -ETIMEDOUT;
		more = realloc(k->info, (k->n + KEYS_PER_STEP) * sizeof(*more));
		if (more == NULL)
			return -ENOMEM;
		k->info = more;
		memcpy(k->info + k->n, s.info, s.n * sizeof(*more));
		k->n += s.n;
	} while (s.at != HP3_KEYING_LAST);
	qsort(k->info, k->n, sizeof(*k->info), by_ends);
	return 0;
}

static const struct hp3_keying_info *key_of(const struct keys *k, const struct hp3_pair_info *p)
{
	struct hp3_keying_info wanted = {0};

	if (k->n == 0)
		return NULL;
	wanted.ends = hp3_pair_ends_of(p->ipv6, p->local, p->remote);
	return bsearch(&wanted, k->info, k->n, sizeof(wanted), by_ends);
}

struct peer_entry {
	struct hp3_pair_info pair;
	uint32_t rtt_ns; /* of the path with the latest answer; 0: unknown */
	uint64_t now;
};

static bool take_peer_entry(
	const struct hp3_engine *e, uint32_t index, uint64_t now, void *item, const void *arg)
{
	struct hp3_path_info path[HP3_PATHS];
	struct peer_entry *x = item;
	uint64_t age = UINT64_MAX;
	uint32_t n;

	*x = (struct peer_entry){.now = now};
	if (hp3_pair_info(e, index, now, &x->pair) != 0)
		return false;
	n = hp3_pair_paths(e, index, now, path, HP3_PATHS);
	for (uint32_t i = 0; i < n; i++) {
		if (path[i].rtt_ns != 0 && path[i].age_ns < age) {
			age = path[i].age_ns;
			x->rtt_ns = path[i].rtt_ns;
		}
	}
	return true;
}

static json_t *known_or_null(uint64_t value)
{
	return value != 0 ? json_integer((json_int_t)value) : json_null();
}

/* A host that proved its identity has an hp3d, whether probed or not. */
static bool is_keyed(const struct hp3_keying_info *key)
{
	return key != NULL && key->state == HP3_KEYING_HAS_KEY;
}

static void add_peer_key(json_t *j, const struct hp3_keying_info *key, uint64_t now)
{
	char fingerprint[HP3_FINGERPRINT_LEN];
	enum hp3_keying_state state =
		key != NULL ? (enum hp3_keying_state)key->state : HP3_KEYING_NO_PEER;

	if (is_keyed(key))
		hp3_fingerprint(fingerprint, key->public);
	json_object_set_new(j, "agreement", json_string(hp3_keying_state_name(state)));
	json_object_set_new(j, "identity", is_keyed(key) ? json_string(fingerprint) : json_null());
	json_object_set_new(
		j, "keyed_ns", is_keyed(key) ? known_or_null(now - key->since) : json_null());
	json_object_set_new(j, "doubted", json_boolean(is_keyed(key) && key->doubted));
}

/* Time since the peer's last message, ns; 0: not known. */
static uint64_t seen_ns(const struct peer_entry *x, const struct hp3_keying_info *key)
{
	uint64_t seen = x->pair.peer_seen_ns;

	if (is_keyed(key) && (seen == 0 || x->now - key->heard < seen))
		seen = x->now - key->heard;
	return seen;
}

static const char *key_name(const struct hp3_config *cfg, const struct hp3_pair_info *p)
{
	if (cfg->probes.probe_key[0] != '\0')
		return "group";
	return p->keyed ? "auto" : "none";
}

static json_t *peer_entry_json(const struct hp3_config *cfg, unsigned rail,
	const struct peer_entry *x, const struct hp3_keying_info *key)
{
	const struct hp3_pair_info *p = &x->pair;
	bool hp3d = p->peer == HP3_PEER_HP3D || is_keyed(key);
	json_t *j = json_pack("{s:s, s:o, s:o, s:o, s:s, s:o, s:s, s:i}", "rail",
		hp3_config_flows_name(cfg, rail), "local", hp3d_json_hop(p->ipv6, p->local), "peer",
		hp3d_json_hop(p->ipv6, p->remote), "vlan",
		p->vlan != 0 ? json_integer(p->vlan) : json_null(), "hp3d",
		hp3_peer_name(hp3d ? HP3_PEER_HP3D : (enum hp3_peer)p->peer), "version",
		hp3d ? json_integer(HP3_PROBES_VERSION) : json_null(), "key", key_name(cfg, p),
		"flows", (int)p->flows);

	if (j == NULL)
		return NULL;
	add_peer_key(j, key, x->now);
	json_object_update_new(
		j, json_pack("{s:b, s:b, s:s, s:i, s:i, s:i, s:i, s:o, s:o}", "probes", hp3d,
			   "reports", hp3d && p->keyed, "presumed",
			   hp3_presumed_name((enum hp3_presumed)p->presumed), "sprayed",
			   p->sprays_out, "sprayed_reads", p->reads_out, "resequenced",
			   p->sprays_in, "resequenced_reads", p->reads_in, "rtt_ns",
			   known_or_null(x->rtt_ns), "seen_ns", known_or_null(seen_ns(x, key))));
	return j;
}

static json_t *peer_json(const struct hp3_config *cfg, const struct hp3d_place *at,
	const void *item, const void *arg)
{
	const struct peer_entry *x = item;
	struct keys *k = (struct keys *)(uintptr_t)arg;

	if (k->info == NULL || k->rail != at->rail || k->worker != at->worker)
		if (collect_keys(k, at->rail, at->worker) < 0)
			return NULL;
	return peer_entry_json(cfg, at->rail, x, key_of(k, &x->pair));
}

/* --- peers without a flow --- */

struct silent {
	struct peer_entry entry;
	struct hp3_keying_info key;
};

static bool has_flow(const struct hp3_engine *e, const struct hp3_ends *ends)
{
	uint32_t pair = hp3_pair_find(e, ends);

	return pair != HP3_NO_PAIR && hp3_pair_is_used(e, pair);
}

/* Takes the agent's records of key agreement whose addresses have no flow. */
static uint32_t take_silent(
	struct hp3d_worker *w, unsigned rail, uint32_t *index, void *items, uint32_t want)
{
	struct hp3d_pipe *pipe = hp3d_worker_pipe(w, rail);
	const struct hp3_engine *e = hp3d_pipe_engine(pipe);
	struct hp3_keying_info keys[PEERS_PER_STEP];
	uint32_t n = hp3d_agent_key_list(hp3d_pipe_agent(pipe), index, keys, want);
	struct silent *s = items;

	for (const struct hp3_keying_info *k = keys; k < keys + n; k++) {
		const struct hp3_ends ends = {k->ends.ipv6 != 0, k->vlan, k->ends.src, k->ends.dst};

		if (has_flow(e, &ends))
			continue;
		*s = (struct silent){.entry.now = hp3d_now(), .key = *k};
		hp3_pair_info_without_flow(e, &ends, s->entry.now, &s->entry.pair);
		s++;
	}
	return (uint32_t)(s - (struct silent *)items);
}

static json_t *silent_json(const struct hp3_config *cfg, const struct hp3d_place *at,
	const void *item, const void *arg)
{
	const struct silent *s = item;

	return peer_entry_json(cfg, at->rail, &s->entry, &s->key);
}

#define SILENT "silent" /* this part of the list */

static json_t *silent_page(const struct hp3_config *cfg, json_t *req)
{
	struct silent items[PEERS_PER_STEP];
	const struct hp3d_list list = {.records = HP3_KEYING_LAST,
		.items = items,
		.size = sizeof(items[0]),
		.room = PEERS_PER_STEP,
		.step = take_silent,
		.json = silent_json,
		.part = SILENT};

	return hp3d_list_page(cfg, req, &list);
}

static json_t *flows_page(const struct hp3_config *cfg, json_t *req)
{
	struct peer_entry items[PEERS_PER_STEP];
	struct keys keys = {0};
	const struct hp3d_list list = {.records = cfg->engine.max_pairs,
		.items = items,
		.size = sizeof(items[0]),
		.room = PEERS_PER_STEP,
		.take = take_peer_entry,
		.json = peer_json,
		.arg = &keys};
	json_t *answer = hp3d_list_page(cfg, req, &list);

	free(keys.info);
	return answer;
}

json_t *hp3d_json_peers(const struct hp3_config *cfg, json_t *req)
{
	const char *after = json_string_value(json_object_get(req, "after"));
	json_t *answer;

	if (after != NULL && strncmp(after, SILENT, strlen(SILENT)) == 0)
		return silent_page(cfg, req);
	answer = flows_page(cfg, req);
	if (answer != NULL && json_is_true(json_object_get(answer, "ok")) &&
		json_object_get(answer, "next") == NULL)
		json_object_set_new(answer, "next", json_string(SILENT "@0.0.0"));
	return answer;
}
