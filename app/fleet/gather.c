/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/fleet/gather.h"
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include "app/flowid.h"
#include "base/minmax.h"
#include "fleet/message.h"

#define PMTU 1024u /* if hp3d does not know it */

/* A flow of the list, and its traffic since the last report. */
struct seen {
	json_t *flow;
	const char *id;
	struct hp3_flowid name;
	uint64_t kbps, marks, settled_ms;
};

static uint64_t flow_number(json_t *j, const char *key)
{
	json_int_t n = json_integer_value(json_object_get(j, key));

	return n > 0 ? (uint64_t)n : 0;
}

bool fleet_addr_parse(const char *text, struct hp3_fleet_addr *a)
{
	bool ipv6 = text != NULL && strchr(text, ':') != NULL;

	*a = (struct hp3_fleet_addr){.len = ipv6 ? 16 : 4};
	return text != NULL && inet_pton(ipv6 ? AF_INET6 : AF_INET, text, a->b) == 1;
}

static struct hp3_fleet_addr addr_of(const uint8_t b[16], bool ipv6)
{
	struct hp3_fleet_addr a = {.len = ipv6 ? 16 : 4};

	memcpy(a.b, b, a.len);
	return a;
}

static uint64_t kbps_of(uint64_t bytes, uint64_t ns)
{
	double kbps = (double)bytes * 8e6 / (double)ns;

	return kbps < UINT32_MAX ? (uint64_t)kbps : UINT32_MAX;
}

/* For a report between two regular ones: takes the rates of the last regular report. A rate over a
 * short time means little, and would hide a flow that has just stalled. */
static uint64_t recall_rates(struct seen *s, json_t *was, uint64_t now_ms)
{
	s->kbps = flow_number(was, "kbps");
	s->marks = flow_number(was, "marks");
	return was != NULL && flow_number(s->flow, "moves") == flow_number(was, "moves")
		       ? flow_number(was, "since_ms")
		       : now_ms;
}

/* Sets the traffic since the last report. Returns when the flow was first seen, or moved. */
static uint64_t count_traffic(struct seen *s, json_t *was, uint64_t now_ms)
{
	uint64_t bytes = flow_number(s->flow, "bytes"), t_ns = flow_number(s->flow, "t_ns");
	uint64_t marked = flow_number(json_object_get(s->flow, "path"), "marked_permille");
	uint64_t pmtu = flow_number(s->flow, "pmtu"), since = now_ms;

	if (was != NULL && bytes >= flow_number(was, "bytes") && t_ns > flow_number(was, "t_ns")) {
		uint64_t more = bytes - flow_number(was, "bytes");

		s->kbps = kbps_of(more, t_ns - flow_number(was, "t_ns"));
		s->marks = flow_number(was, "marks") +
			   more / (pmtu != 0 ? pmtu : PMTU) * hp3_min_u64(marked, 1000) / 1000;
		if (flow_number(s->flow, "moves") == flow_number(was, "moves"))
			since = flow_number(was, "since_ms");
	}
	return since;
}

static void compare_with_last(
	struct fleet_gather *g, struct seen *s, bool at_once, json_t *after, uint64_t now_ms)
{
	json_t *was = json_object_get(g->before, s->id);
	uint64_t since = at_once ? recall_rates(s, was, now_ms) : count_traffic(s, was, now_ms);

	s->settled_ms = now_ms - since;
	json_object_set_new(after, s->id,
		json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "bytes",
			(json_int_t)flow_number(s->flow, "bytes"), "t_ns",
			(json_int_t)flow_number(s->flow, "t_ns"), "moves",
			(json_int_t)flow_number(s->flow, "moves"), "kbps", (json_int_t)s->kbps,
			"marks", (json_int_t)s->marks, "since_ms", (json_int_t)since));
}

/* Heaviest first; equal ones in a fixed order. */
static int by_rate(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;

	if (x->kbps != y->kbps)
		return x->kbps < y->kbps ? 1 : -1;
	return strcmp(x->id, y->id);
}

static size_t look_at(
	struct fleet_gather *g, json_t *flows, bool at_once, struct seen *seen, uint64_t now_ms)
{
	json_t *after = json_object(), *flow;
	size_t i, n = 0;

	json_array_foreach (flows, i, flow) {
		struct seen *s = &seen[n];

		*s = (struct seen){
			.flow = flow, .id = json_string_value(json_object_get(flow, "flow"))};
		if (s->id == NULL || hp3_flowid_parse(s->id, &s->name) != 0 ||
			json_object_get(after, s->id) != NULL)
			continue;
		compare_with_last(g, s, at_once, after, now_ms);
		n++;
	}
	json_decref(at_once ? after : g->before);
	if (!at_once)
		g->before = after;
	qsort(seen, n, sizeof(*seen), by_rate);
	return n;
}

static uint8_t hop_index(struct hp3_fleet_report *r, const char *text)
{
	struct hp3_fleet_addr a;

	return fleet_addr_parse(text, &a) ? hp3_fleet_report_hop(r, &a) : HP3_FLEET_NO_HOP;
}

static void add_addr(struct hp3_fleet_report *r, const struct hp3_fleet_addr *a)
{
	for (uint8_t i = 0; i < r->n_addrs; i++)
		if (hp3_fleet_addr_cmp(&r->addr[i], a) == 0)
			return;
	if (r->n_addrs < HP3_FLEET_ADDRS)
		r->addr[r->n_addrs++] = *a;
}

/* Adds ports whose paths cross other switches and are not known to be bad. */
static void add_alts(struct hp3_fleet_report *r, struct hp3_fleet_flow *f, json_t *pair)
{
	json_t *path;
	size_t i;

	json_array_foreach (json_object_get(pair, "paths"), i, path) {
		const char *state = json_string_value(json_object_get(path, "state"));
		uint64_t port = flow_number(path, "port");
		uint8_t hop;

		if (state == NULL ||
			(strcmp(state, "good") != 0 && strcmp(state, "unknown") != 0) ||
			port == 0 || port > UINT16_MAX || f->n_alts == HP3_FLEET_ALTS)
			continue;
		hop = hop_index(r, json_string_value(json_object_get(path, "hop")));
		if (hp3_fleet_is_new_spine_path(f, hop))
			f->alt[f->n_alts++] =
				(struct hp3_fleet_alt){.port = (uint16_t)port, .hop = hop};
	}
}

/* Compares the names up to the QPN. */
static bool is_of_pair(const char *id, const char *pair, size_t n)
{
	return strncmp(id, pair, n) == 0 && id[n] == '/' && strchr(id + n + 1, '/') == NULL;
}

static uint8_t flags_of(json_t *flow)
{
	const char *state = json_string_value(json_object_get(flow, "state"));
	bool movable = json_is_true(json_object_get(flow, "paired")) && state != NULL &&
		       strcmp(state, "steady") == 0 &&
		       !json_is_string(json_object_get(flow, "barred"));

	return (uint8_t)((movable ? HP3_FLEET_MOVABLE : 0u) |
			 (json_is_true(json_object_get(flow, "severe")) ? HP3_FLEET_SEVERE : 0u));
}

static void add_flow(struct fleet_gather *g, struct hp3_fleet_report *r, const struct seen *s)
{
	struct hp3_fleet_flow *f = &r->flow[r->n_flows];
	json_t *path = json_object_get(s->flow, "path");

	*f = (struct hp3_fleet_flow){.key = {.src = addr_of(s->name.local, s->name.ipv6),
					     .dst = addr_of(s->name.remote, s->name.ipv6),
					     .qpn = s->name.rqpn},
		.port = (uint16_t)hp3_min_u64(flow_number(s->flow, "port"), UINT16_MAX),
		.hop = hop_index(r, json_string_value(json_object_get(path, "hop"))),
		.flags = flags_of(s->flow),
		.marked_permille =
			(uint16_t)hp3_min_u64(flow_number(path, "marked_permille"), 1000),
		.rtt_ns = (uint32_t)hp3_min_u64(flow_number(path, "rtt_ns"), UINT32_MAX),
		.base_rtt_ns = (uint32_t)hp3_min_u64(flow_number(path, "base_rtt_ns"), UINT32_MAX),
		.settled_ms = (uint32_t)hp3_min_u64(s->settled_ms, UINT32_MAX),
		.failures = (uint32_t)hp3_min_u64(flow_number(s->flow, "retransmits"), UINT32_MAX),
		.rate_kbps = s->kbps,
		.bytes = flow_number(s->flow, "bytes"),
		.marks = s->marks};
	memset(g->id[r->n_flows], 0, HP3_FLOWID_MAX);
	memcpy(g->id[r->n_flows++], s->id, strnlen(s->id, HP3_FLOWID_MAX - 1));
}

void fleet_gather(struct fleet_gather *g, json_t *flows, bool at_once, uint64_t now_ms,
	uint64_t wall_ms, struct hp3_fleet_report *out)
{
	size_t most = json_array_size(flows), n = 0;
	struct seen *seen = calloc(most + 1, sizeof(*seen));

	*out = (struct hp3_fleet_report){.instance = g->instance,
		.seq = ++g->seq,
		.wall_ms = wall_ms,
		.interval_ms = g->interval_ms,
		.capability = g->applies_plans ? HP3_FLEET_CAN_MOVE : 0,
		.n_addrs = g->n_addrs};
	memcpy(out->host, g->host, sizeof(out->host));
	memcpy(out->leaf, g->leaf, sizeof(out->leaf));
	memcpy(out->addr, g->addr, sizeof(out->addr));
	if (seen != NULL)
		n = look_at(g, flows, at_once, seen, now_ms);
	out->all_flows = (uint32_t)n;
	for (size_t i = 0; i < n; i++) {
		struct hp3_fleet_addr local = addr_of(seen[i].name.local, seen[i].name.ipv6);

		add_addr(out, &local);
		if (i < HP3_FLEET_FLOWS && seen[i].kbps != 0)
			add_flow(g, out, &seen[i]);
	}
	if (out->n_hops != 0)
		out->capability |= HP3_FLEET_CAN_TRACE;
	free(seen);
}

const char *fleet_gather_asks(const struct fleet_gather *g, unsigned i)
{
	size_t n = (size_t)(strrchr(g->id[i], '/') - g->id[i]);

	for (unsigned k = 0; k < i; k++)
		if (is_of_pair(g->id[k], g->id[i], n))
			return NULL;
	return g->id[i];
}

void fleet_gather_pair(const struct fleet_gather *g, json_t *pair, struct hp3_fleet_report *out)
{
	const char *name = json_string_value(json_object_get(pair, "pair"));

	for (unsigned i = 0; name != NULL && i < out->n_flows; i++)
		if (is_of_pair(g->id[i], name, strlen(name)))
			add_alts(out, &out->flow[i], pair);
	if (out->n_hops != 0)
		out->capability |= HP3_FLEET_CAN_TRACE;
}
