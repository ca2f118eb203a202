/* SPDX-License-Identifier: BSD-3-Clause */
/* paths: the address pairs, who answers there, and what is known of their paths. */
#include <arpa/inet.h>
#include <stdio.h>
#include "app/hp3d/control/requests.h"
#include "app/hp3d/control/event_json.h"
#include "app/hp3d/lcores/eal.h"
#include "app/hp3d/pipe/pipe.h"
#include "engine/info.h"

#define PAIRS_PER_CALL 8u

struct entry {
	struct hp3_pair_info pair;
	struct hp3_path_info path[HP3_PATHS];
	uint32_t n_paths;
};

struct page {
	unsigned rail, n, want;
	uint32_t index; /* in: first to look at; out: where to go on, HP3_NO_PAIR at the end */
	struct entry entry[PAIRS_PER_CALL];
};

static void collect(struct hp3d_worker *w, void *arg)
{
	struct page *p = arg;
	struct hp3_engine *e = hp3d_pipe_engine(hp3d_worker_pipe(w, p->rail));
	uint64_t now = hp3d_now();

	p->n = 0;
	while (p->n < p->want && (p->index = hp3_pair_next(e, p->index)) != HP3_NO_PAIR) {
		struct entry *x = &p->entry[p->n++];

		hp3_pair_info(e, p->index, now, &x->pair);
		x->n_paths = hp3_pair_paths(e, p->index, now, x->path, HP3_PATHS);
		p->index++;
	}
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
		"rtt_ns", (json_int_t)p->rtt_ns, "min_rtt_ns", (json_int_t)p->min_rtt_ns,
		"marked_permille", p->marked_permille, "flows", p->flows, "losses", p->losses,
		"age_ns", (json_int_t)p->age_ns);
}

/* What tells which path a port draws; for traces how far that is, and why no map tells more. */
static json_t *identity_json(const struct hp3_pair_info *p)
{
	json_t *j = json_pack("{s:s, s:s, s:i}", "by",
		hp3_identity_name((enum hp3_identity)p->identity), "tracing",
		hp3_trace_state_name((enum hp3_trace_state)p->tracing), "ttl", p->ttl);

	if (j && p->tracing == HP3_TRACE_TRACES)
		json_object_set_new(j, "reason",
			json_string(hp3_linear_reason_text((enum hp3_linear_reason)p->reason)));
	return j;
}

/* "rail0/10.9.0.1-10.9.0.2": a flow id without its QPN. */
static json_t *pair_json(
	const struct hp3_config *cfg, unsigned rail, unsigned worker, const struct entry *x)
{
	const struct hp3_pair_info *p = &x->pair;
	struct hp3_flow_info f = {.ipv6 = p->ipv6, .vlan = p->vlan};
	json_t *paths = json_array();
	char id[HP3_FLOWID_MAX], *end;

	memcpy(f.local, p->local, sizeof(f.local));
	memcpy(f.remote, p->remote, sizeof(f.remote));
	hp3d_flow_name(cfg, rail, &f, id);
	end = strrchr(id, '/');
	if (end)
		*end = '\0';
	for (uint32_t i = 0; i < x->n_paths; i++)
		json_array_append_new(paths, path_json(&x->path[i]));
	return json_pack("{s:s, s:i, s:i, s:i, s:b, s:s, s:I, s:o, s:o}", "pair", id, "worker",
		(int)worker, "flows", (int)p->flows, "rounds", (int)p->rounds, "immovable",
		p->pinned, "peer", hp3_peer_name((enum hp3_peer)p->peer), "peer_seen_ns",
		(json_int_t)p->peer_seen_ns, "identity", identity_json(p), "paths", paths);
}

json_t *hp3d_json_paths(const struct hp3_config *cfg, json_t *req)
{
	const char *after = json_string_value(json_object_get(req, "after"));
	unsigned rail = 0, worker = 0;
	uint64_t left = HP3D_PAGE_DEFAULT;
	struct page p = {0};
	json_t *error, *list, *answer;
	char next[48];
	int used = 0;

	if (!hp3d_json_number(req, "limit", 1, HP3D_PAGE_MAX, &left, &error))
		return error;
	if (after && (sscanf(after, "@%u.%u.%u%n", &rail, &worker, &p.index, &used) != 3 ||
			     after[used] != '\0'))
		return hp3d_json_error("bad-request", "pass what \"next\" said",
			"\"after\" is no place in this list: %s", after);
	list = json_array();
	while (rail < cfg->n_rails && left) {
		if (worker >= hp3d_worker_count()) {
			rail++;
			worker = 0;
			p.index = 0;
			continue;
		}
		p.rail = rail;
		p.want = left < PAIRS_PER_CALL ? (unsigned)left : PAIRS_PER_CALL;
		if (hp3d_worker_call(hp3d_worker(worker), collect, &p) < 0) {
			json_decref(list);
			return hp3d_json_timed_out();
		}
		for (unsigned i = 0; i < p.n; i++)
			json_array_append_new(list, pair_json(cfg, rail, worker, &p.entry[i]));
		left -= p.n;
		if (p.index == HP3_NO_PAIR) {
			worker++;
			p.index = 0;
		}
	}
	answer = hp3d_json_ok(list);
	snprintf(next, sizeof(next), "@%u.%u.%u", rail, worker, p.index);
	if (answer && rail < cfg->n_rails)
		json_object_set_new(answer, "next", json_string(next));
	return answer;
}
