/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/fleet/answer.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/minmax.h"

#define TOP_LINKS      10u
#define NAME_MAX_BYTES 256u

struct rows {
	struct fleet_planner *p;
	unsigned limit;
	const char *flow; /* why */
	bool alarms; /* only links with an alarm */
	json_t *out;
};

const char *fleet_addr_text(const struct hp3_fleet_addr *a, char text[INET6_ADDRSTRLEN])
{
	if (a->len == 0 ||
		inet_ntop(a->len == 16 ? AF_INET6 : AF_INET, a->b, text, INET6_ADDRSTRLEN) == NULL)
		strcpy(text, "?");
	return text;
}

static void link_text(const struct hp3_fleet_link *l, char text[NAME_MAX_BYTES])
{
	const char *leaf = *l->leaf != '\0' ? l->leaf : "?";
	char hop[INET6_ADDRSTRLEN];

	fleet_addr_text(&l->hop, hop);
	snprintf(text, NAME_MAX_BYTES, "%s>%s", l->down ? hop : leaf, l->down ? leaf : hop);
}

static void flow_text(const char *host, const struct hp3_fleet_key *k, char text[NAME_MAX_BYTES])
{
	char src[INET6_ADDRSTRLEN], dst[INET6_ADDRSTRLEN];

	snprintf(text, NAME_MAX_BYTES, "%s/%s-%s/0x%06x", host, fleet_addr_text(&k->src, src),
		fleet_addr_text(&k->dst, dst), k->qpn);
}

static json_t *json_number(uint64_t n)
{
	return json_integer((json_int_t)n);
}

static json_t *link_json(const struct hp3_fleet_link *l)
{
	char name[NAME_MAX_BYTES], hop[INET6_ADDRSTRLEN];

	link_text(l, name);
	return json_pack("{s:s, s:s, s:s, s:s, s:o, s:i, s:i, s:i, s:o, s:s}", "link", name, "leaf",
		l->leaf, "hop", fleet_addr_text(&l->hop, hop), "direction", l->down ? "down" : "up",
		"load_kbps", json_number(l->load_kbps), "flows", (int)l->flows, "severe",
		(int)l->severe, "marked_permille", (int)l->marked_permille, "marks",
		json_number(l->marks), "alarm",
		hp3_fleet_level_name((enum hp3_fleet_level)l->level));
}

static const struct hp3_fleet *sorted; /* qsort has no argument; under the planner's lock */

static int compare_loads(const void *a, const void *b)
{
	struct hp3_fleet_link x, y;
	char nx[NAME_MAX_BYTES], ny[NAME_MAX_BYTES];

	hp3_fleet_link_at(sorted, *(const uint32_t *)a, &x);
	hp3_fleet_link_at(sorted, *(const uint32_t *)b, &y);
	if (x.load_kbps != y.load_kbps)
		return x.load_kbps > y.load_kbps ? -1 : 1;
	link_text(&x, nx);
	link_text(&y, ny);
	return strcmp(nx, ny);
}

static int compare_rates(const void *a, const void *b)
{
	struct hp3_fleet_place x, y;

	hp3_fleet_flow_at(sorted, *(const uint32_t *)a, &x);
	hp3_fleet_flow_at(sorted, *(const uint32_t *)b, &y);
	if (x.flow->rate_kbps != y.flow->rate_kbps)
		return x.flow->rate_kbps > y.flow->rate_kbps ? -1 : 1;
	return hp3_fleet_key_cmp(&x.flow->key, &y.flow->key);
}

/* The numbers 0..n-1 in the order of `cmp`; the caller frees them. */
static uint32_t *in_order(
	const struct hp3_fleet *f, uint32_t n, int (*cmp)(const void *, const void *))
{
	uint32_t *v = calloc(n + 1, sizeof(*v));

	if (v == NULL)
		return NULL;
	for (uint32_t i = 0; i < n; i++)
		v[i] = i;
	sorted = f;
	qsort(v, n, sizeof(*v), cmp);
	return v;
}

static void add_links(struct rows *r)
{
	const struct hp3_fleet *f = r->p->fleet;
	struct hp3_fleet_link l;
	uint32_t n = 0, *order;

	while (hp3_fleet_link_at(f, n, &l))
		n++;
	order = in_order(f, n, compare_loads);
	for (uint32_t i = 0; order != NULL && i < n && json_array_size(r->out) < r->limit; i++) {
		hp3_fleet_link_at(f, order[i], &l);
		if (r->alarms ? l.level != HP3_FLEET_QUIET : l.flows > 0)
			json_array_append_new(r->out, link_json(&l));
	}
	free(order);
}

static json_t *link_name_json(const struct hp3_fleet *f, int i)
{
	struct hp3_fleet_link l;
	char name[NAME_MAX_BYTES];

	if (i < 0 || !hp3_fleet_link_at(f, (uint32_t)i, &l))
		return json_null();
	link_text(&l, name);
	return json_string(name);
}

static json_t *flow_json(const struct hp3_fleet *f, const struct hp3_fleet_place *at)
{
	static const char *const advised[] = {[HP3_FLEET_MOVED] = "moved",
		[HP3_FLEET_DECLINED] = "kept",
		[HP3_FLEET_REFUSED] = "refused"};
	const struct hp3_fleet_flow *x = at->flow;
	char name[NAME_MAX_BYTES];

	flow_text(at->host->report->host, &x->key, name);
	return json_pack("{s:s, s:o, s:i, s:o, s:o, s:i, s:o, s:o, s:o, s:b, s:b, s:i, s:s?, s:i}",
		"flow", name, "rate_kbps", json_number(x->rate_kbps), "port", x->port, "up",
		link_name_json(f, at->up), "down", link_name_json(f, at->down), "marked_permille",
		x->marked_permille, "rtt_ns", json_number(x->rtt_ns), "base_rtt_ns",
		json_number(x->base_rtt_ns), "settled_ms", json_number(x->settled_ms), "movable",
		(x->flags & HP3_FLEET_MOVABLE) != 0, "severe", (x->flags & HP3_FLEET_SEVERE) != 0,
		"others", x->n_alts, "advised", advised[x->advised], "advised_port",
		x->advised_port);
}

static void add_flows(struct rows *r)
{
	const struct hp3_fleet *f = r->p->fleet;
	struct hp3_fleet_place at;
	uint32_t n = 0, *order;

	while (hp3_fleet_flow_at(f, n, &at))
		n++;
	order = in_order(f, n, compare_rates);
	for (uint32_t i = 0; order != NULL && i < n && i < r->limit; i++) {
		hp3_fleet_flow_at(f, order[i], &at);
		json_array_append_new(r->out, flow_json(f, &at));
	}
	free(order);
}

static void add_hosts(struct rows *r)
{
	struct hp3_fleet_host h;

	for (uint32_t i = 0; i < r->limit && hp3_fleet_host_at(r->p->fleet, i, &h); i++)
		json_array_append_new(r->out,
			json_pack("{s:s, s:s, s:o, s:o, s:b, s:o}", "host", h.report->host, "leaf",
				h.report->leaf, "flows", json_number(h.report->all_flows),
				"heard_ms",
				json_number(
					r->p->now_ms > h.heard_ms ? r->p->now_ms - h.heard_ms : 0),
				"twin", h.twin, "interval_ms", json_number(h.report->interval_ms)));
}

static json_t *move_json(const struct fleet_past_move *past)
{
	const struct hp3_fleet_move *m = &past->move;
	char name[NAME_MAX_BYTES], from[INET6_ADDRSTRLEN], to[INET6_ADDRSTRLEN];

	flow_text(m->host, &m->key, name);
	return json_pack("{s:s, s:s, s:s, s:i, s:i, s:o, s:o, s:o, s:o, s:o}", "flow", name, "from",
		fleet_addr_text(&m->from_hop, from), "to", fleet_addr_text(&m->to_hop, to),
		"from_port", m->from_port, "to_port", m->to_port, "rate_kbps",
		json_number(m->rate_kbps), "before_kbps", json_number(m->before_kbps), "after_kbps",
		json_number(m->after_kbps), "epoch", json_number(past->epoch), "wall_ms",
		json_number(past->wall_ms));
}

/* Recent moves, the latest first. */
static void add_past_moves(struct rows *r)
{
	const struct fleet_planner *p = r->p;
	uint64_t kept = p->n_recent < FLEET_RECENT ? p->n_recent : FLEET_RECENT;

	for (uint64_t i = 0; i < kept && i < r->limit; i++)
		json_array_append_new(
			r->out, move_json(&p->recent[(p->n_recent - 1 - i) % FLEET_RECENT]));
}

static json_t *why_json(const struct rows *r, uint32_t i, const struct hp3_fleet_place *at)
{
	json_t *j = flow_json(r->p->fleet, at);
	char hop[INET6_ADDRSTRLEN];
	uint64_t after = 0;
	unsigned alt = 0;
	enum hp3_fleet_verdict v = hp3_fleet_why(r->p->fleet, i, r->p->now_ms, &alt, &after);

	json_object_set_new(j, "why", json_string(hp3_fleet_verdict_text(v)));
	if (v == HP3_FLEET_BETTER)
		json_object_update_new(
			j, json_pack("{s:i, s:s, s:o}", "to_port", at->flow->alt[alt].port, "to",
				   fleet_addr_text(
					   &at->host->report->hop[at->flow->alt[alt].hop], hop),
				   "after_kbps", json_number(after)));
	return j;
}

static void add_why(struct rows *r)
{
	struct hp3_fleet_place at;
	char name[NAME_MAX_BYTES];

	for (uint32_t i = 0;
		json_array_size(r->out) < r->limit && hp3_fleet_flow_at(r->p->fleet, i, &at); i++) {
		flow_text(at.host->report->host, &at.flow->key, name);
		if (strstr(name, r->flow) != NULL)
			json_array_append_new(r->out, why_json(r, i, &at));
	}
}

static const struct {
	const char *name;
	void (*add)(struct rows *r);
	unsigned most; /* rows */
	bool alarms;
} answer_kinds[] = {
	{"top", add_links, TOP_LINKS},
	{"links", add_links, FLEET_ROWS_MAX},
	{"flows", add_flows, FLEET_ROWS_MAX},
	{"hosts", add_hosts, FLEET_ROWS_MAX},
	{"alarms", add_links, FLEET_ROWS_MAX, .alarms = true},
	{"plan", add_past_moves, FLEET_ROWS_MAX},
	{"why", add_why, FLEET_ROWS_MAX},
};

static json_t *refuse_question(const char *what, const char *fix)
{
	return json_pack("{s:b, s:s, s:s}", "ok", 0, "error", what, "fix", fix);
}

static json_t *rows_of(struct rows *r, const char *kind)
{
	for (size_t i = 0; i < sizeof(answer_kinds) / sizeof(answer_kinds[0]); i++) {
		if (strcmp(answer_kinds[i].name, kind) != 0)
			continue;
		r->limit = hp3_min_u32(r->limit, answer_kinds[i].most);
		r->alarms = answer_kinds[i].alarms;
		r->out = json_array();
		answer_kinds[i].add(r);
		return r->out;
	}
	return NULL;
}

/* Everything on the page, in one answer. */
static json_t *page_json(struct rows *r)
{
	return json_pack("{s:o, s:o, s:o}", "links", rows_of(r, "links"), "flows",
		rows_of(r, "flows"), "moves", rows_of(r, "plan"));
}

static json_t *answer_question(struct fleet_planner *p, json_t *q)
{
	const char *kind = json_string_value(json_object_get(q, "ask"));
	const char *flow = json_string_value(json_object_get(q, "flow"));
	json_t *limit = json_object_get(q, "limit"), *rows;
	struct rows r = {.p = p, .limit = 50, .flow = flow != NULL ? flow : ""};

	if (limit != NULL &&
		(json_integer_value(limit) < 1 || json_integer_value(limit) > FLEET_ROWS_MAX))
		return refuse_question("\"limit\" is out of range", "1 to 1000");
	if (limit != NULL)
		r.limit = (unsigned)json_integer_value(limit);
	if (kind == NULL)
		return refuse_question("\"ask\" is missing", "set it, such as to \"links\"");
	rows = strcmp(kind, "page") == 0          ? page_json(&r)
	       : strcmp(kind, "spine_paths") == 0 ? fleet_spine_paths(p->fleet, q)
						  : rows_of(&r, kind);
	if (rows == NULL)
		return refuse_question("\"ask\" is unknown",
			"top, links, flows, hosts, alarms, plan, why, spine_paths or page");
	return json_pack("{s:b, s:s, s:b, s:o, s:o}", "ok", 1, "planner", p->election.name, "leads",
		p->led_since_ms != 0, "summary", fleet_summary(p), "rows", rows);
}

char *fleet_answer(struct fleet_planner *p, const char *question, size_t len)
{
	json_t *q = json_loadb(question, len, 0, NULL), *a;
	char *text;

	pthread_mutex_lock(&p->lock);
	a = json_is_object(q) ? answer_question(p, q)
			      : refuse_question("no JSON object", "see hp3-fleet(1)");
	pthread_mutex_unlock(&p->lock);
	text = json_dumps(a, JSON_COMPACT);
	json_decref(a);
	json_decref(q);
	return text;
}
