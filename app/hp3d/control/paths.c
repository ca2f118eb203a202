/* SPDX-License-Identifier: BSD-3-Clause */
/* paths: all address pairs, or the pair of one flow, with their paths and with what answers the
 * probes. */
#include <arpa/inet.h>
#include <string.h>
#include "app/hp3d/control/event_json.h"
#include "app/hp3d/control/find.h"
#include "app/hp3d/control/list.h"
#include "app/hp3d/control/requests.h"
#include "app/hp3d/pipe/pipe.h"
#include "engine/info.h"

#define LISTED_PAIRS_PER_STEP 8u

struct pair_entry {
	struct hp3_pair_info pair;
	struct hp3_path_info path[HP3_PATHS];
	uint32_t n_paths;
};

static bool take_pair_entry(
	const struct hp3_engine *e, uint32_t index, uint64_t now, void *item, const void *arg)
{
	struct pair_entry *x = item;

	if (hp3_pair_info(e, index, now, &x->pair) != 0)
		return false;
	x->n_paths = hp3_pair_paths(e, index, now, x->path, HP3_PATHS);
	return true;
}

json_t *hp3d_json_hop(bool ipv6, const uint8_t addr[16])
{
	char text[INET6_ADDRSTRLEN];

	return json_string(inet_ntop(ipv6 ? AF_INET6 : AF_INET, addr, text, sizeof(text)));
}

static json_t *path_json(const struct hp3_path_info *p)
{
	json_t *id = p->id < HP3_PATH_BY_PORT ? json_integer(p->id) : json_null();
	json_t *hop = p->named ? hp3d_json_hop(p->hop.ipv6, p->hop.addr) : json_null();

	return json_pack("{s:i, s:o, s:o, s:s, s:I, s:I, s:i, s:i, s:i, s:I}", "port", p->port,
		"path", id, "hop", hop, "state", hp3_quality_name((enum hp3_quality)p->quality),
		"rtt_ns", (json_int_t)p->rtt_ns, "base_rtt_ns", (json_int_t)p->base_rtt_ns,
		"marked_permille", p->marked_permille, "flows", p->flows, "losses", p->losses,
		"age_ns", (json_int_t)p->age_ns);
}

/* How the path of a port is identified; for traces, their state, and why there is no map. */
static json_t *identity_json(const struct hp3_pair_info *p)
{
	json_t *j = json_pack("{s:s, s:s, s:i}", "by",
		hp3_path_identity_name((enum hp3_path_identity)p->identity), "tracing",
		hp3_trace_state_name((enum hp3_trace_state)p->tracing), "ttl", p->ttl);

	if (j && p->tracing == HP3_TRACE_TRACES)
		json_object_set_new(j, "reason",
			json_string(hp3_linear_reason_text((enum hp3_linear_reason)p->reason)));
	return j;
}

void hp3d_pair_name(const struct hp3_config *cfg, unsigned rail, const struct hp3_pair_info *p,
	char buf[HP3_FLOWID_MAX])
{
	struct hp3_flow_info f = {.ipv6 = p->ipv6, .vlan = p->vlan};
	char *end;

	memcpy(f.local, p->local, sizeof(f.local));
	memcpy(f.remote, p->remote, sizeof(f.remote));
	hp3d_flow_name(cfg, rail, &f, buf);
	end = strrchr(buf, '/');
	if (end)
		*end = '\0';
}

static json_t *pair_json(const struct hp3_config *cfg, const struct hp3d_place *at,
	const void *item, const void *arg)
{
	const struct pair_entry *x = item;
	const struct hp3_pair_info *p = &x->pair;
	json_t *paths = json_array();
	char id[HP3_FLOWID_MAX];

	hp3d_pair_name(cfg, at->rail, p, id);
	for (uint32_t i = 0; i < x->n_paths; i++)
		json_array_append_new(paths, path_json(&x->path[i]));
	return json_pack("{s:s, s:i, s:i, s:i, s:b, s:s, s:I, s:o, s:o}", "pair", id, "lcore",
		(int)at->worker, "flows", (int)p->flows, "rounds", (int)p->rounds, "immovable",
		p->pinned, "peer", hp3_peer_name((enum hp3_peer)p->peer), "peer_seen_ns",
		(json_int_t)p->peer_seen_ns, "identity", identity_json(p), "paths", paths);
}

/* The address pair of one flow, on its lcore. */
struct one {
	struct pair_entry entry;
	bool there;
};

static void read_flow_pair(struct hp3d_pipe *p, uint32_t flow, uint64_t now, void *arg)
{
	const struct hp3_engine *e = hp3d_pipe_engine(p);
	struct one *o = arg;

	o->there = take_pair_entry(e, hp3_pair_of(e, flow), now, &o->entry, NULL);
}

static json_t *of_flow(const struct hp3_config *cfg, const char *text)
{
	struct hp3d_found f;
	struct one o = {0};
	json_t *error = hp3d_find(cfg, text, read_flow_pair, &o, &f);
	struct hp3d_place at;

	if (error)
		return error;
	at = (struct hp3d_place){.rail = f.rail, .worker = f.worker};
	return hp3d_json_ok(
		o.there ? json_pack("[o]", pair_json(cfg, &at, &o.entry, NULL)) : json_array());
}

json_t *hp3d_json_paths(const struct hp3_config *cfg, json_t *req)
{
	struct pair_entry items[LISTED_PAIRS_PER_STEP];
	const struct hp3d_list list = {.records = cfg->engine.max_pairs,
		.items = items,
		.size = sizeof(items[0]),
		.room = LISTED_PAIRS_PER_STEP,
		.take = take_pair_entry,
		.json = pair_json};
	json_t *flow = json_object_get(req, "flow");

	return flow ? of_flow(cfg, json_string_value(flow)) : hp3d_list_page(cfg, req, &list);
}
