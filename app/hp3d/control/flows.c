/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests about flows: the list, and one flow. */
#include "app/hp3d/control/event_json.h"
#include "app/hp3d/control/events.h"
#include "app/hp3d/control/filter.h"
#include "app/hp3d/control/find.h"
#include "app/hp3d/control/list.h"
#include "app/hp3d/control/requests.h"
#include "app/hp3d/pipe/pipe.h"
#include "config/bonds.h"
#include "engine/info.h"
#include "rfr/spraying.h"

#define LISTED_PER_STEP 64u

/* A flow, and the name of its path if traces found one. */
struct flow_entry {
	struct hp3_flow_info info;
	uint64_t t_ns;
	uint32_t path_id;
	bool named;
	struct hp3_hop hop;
};

static bool take_flow_entry(
	const struct hp3_engine *e, uint32_t index, uint64_t now, void *item, const void *arg)
{
	struct flow_entry *x = item;

	if (hp3_flow_info(e, index, now, &x->info) != 0)
		return false;
	x->t_ns = now;
	x->named = hp3_path_of_port(e, index, x->info.port, &x->path_id, &x->hop);
	return true;
}

/* Why the flow is not paired, and what helps. */
static void add_unpaired(json_t *j, const struct hp3_flow_info *f)
{
	enum hp3_unpaired_reason r = (enum hp3_unpaired_reason)f->unpaired;

	if (f->paired) {
		json_object_set_new(j, "unpaired", json_null());
		return;
	}
	json_object_set_new(j, "unpaired", json_string(hp3_unpaired_name(r)));
	json_object_set_new(j, "unpaired_text", json_string(hp3_unpaired_text(r)));
	json_object_set_new(j, "unpaired_help", json_string(hp3_unpaired_help(r)));
}

static json_t *flow_json(
	const struct hp3_config *cfg, unsigned rail, unsigned worker, const struct flow_entry *x)
{
	const struct hp3_flow_info *f = &x->info;
	json_t *path = hp3d_path_json(&f->path);
	char id[HP3_FLOWID_MAX];

	json_t *j;

	hp3d_flow_name(cfg, rail, f, id);
	json_object_set_new(
		path, "hop", x->named ? hp3d_json_hop(x->hop.ipv6, x->hop.addr) : json_null());
	j = json_pack(
		"{s:s, s:I, s:s, s:i, s:b, s:s, s:o, s:i, s:i, s:i, s:b, s:s, s:s, s:s, s:i, s:i, "
		"s:i, s:I, s:i, s:I, s:I, s:I, s:I, s:I, s:b, s:o, s:o, s:o}",
		"flow", id, "t_ns", (json_int_t)x->t_ns, "rail", hp3_config_flows_name(cfg, rail),
		"lcore", (int)worker, "paired", f->paired, "pairing",
		hp3_pairing_name((enum hp3_pairing)f->pairing), "local_qpn",
		f->paired ? json_integer(f->lqpn) : json_null(), "port", f->port, "home", f->home,
		"reply_port", f->replies, "moved", f->moved, "state",
		hp3_rfr_state_name((enum hp3_rfr_state)f->state), "spray",
		hp3_spray_state_name((enum hp3_spray_state)f->spray), "spray_reads",
		hp3_spray_state_name((enum hp3_spray_state)f->spray_reads), "evs", f->evs, "una",
		(int)f->una, "nxt", (int)f->nxt, "in_flight", (json_int_t)f->inflight, "pmtu",
		f->pmtu, "moves", (json_int_t)f->moves, "retransmits", (json_int_t)f->retransmits,
		"bytes", (json_int_t)f->bytes, "idle_ns", (json_int_t)f->idle_ns, "dcqcn_kbps",
		(json_int_t)(f->rate / 1000), "severe", f->severe, "dscp",
		f->dscp != HP3_NO_DSCP ? json_integer(f->dscp) : json_null(), "barred",
		f->barred != HP3_BAR_NONE ? json_string(hp3_bar_name((enum hp3_bar)f->barred))
					  : json_null(),
		"path", path);
	add_unpaired(j, f);
	return j;
}

static json_t *listed_flow_json(const struct hp3_config *cfg, const struct hp3d_place *at,
	const void *item, const void *arg)
{
	const struct flow_entry *x = item;
	char id[HP3_FLOWID_MAX];

	hp3d_flow_name(cfg, at->rail, &x->info, id);
	return hp3d_filter_fits(arg, id, &x->info) ? flow_json(cfg, at->rail, at->worker, x) : NULL;
}

json_t *hp3d_json_flows(const struct hp3_config *cfg, json_t *req)
{
	struct flow_entry items[LISTED_PER_STEP];
	struct hp3d_filter filter;
	const struct hp3d_list list = {.records = cfg->engine.max_flows,
		.items = items,
		.size = sizeof(items[0]),
		.room = LISTED_PER_STEP,
		.take = take_flow_entry,
		.json = listed_flow_json,
		.arg = &filter};
	json_t *error = hp3d_filter_read(req, &filter);

	return error ? error : hp3d_list_page(cfg, req, &list);
}

static void read_one_flow(struct hp3d_pipe *p, uint32_t flow, uint64_t now, void *arg)
{
	take_flow_entry(hp3d_pipe_engine(p), flow, now, arg, NULL);
}

json_t *hp3d_json_flow(const struct hp3_config *cfg, json_t *req)
{
	struct hp3d_found f;
	struct flow_entry x;
	json_t *error = hp3d_find(
		       cfg, json_string_value(json_object_get(req, "flow")), read_one_flow, &x, &f),
	       *j;

	if (error)
		return error;
	j = flow_json(cfg, f.rail, f.worker, &x);
	json_object_set_new(j, "fruitless", hp3d_events_fruitless(f.rail, f.worker, &f.info));
	return hp3d_json_ok(j);
}
