/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/control/find.h"
#include <stdlib.h>
#include <string.h>
#include "app/hp3d/control/event_json.h"
#include "app/hp3d/control/list.h"
#include "app/hp3d/control/requests.h"
#include "app/hp3d/lcores/eal.h"
#include "app/hp3d/pipe/pipe.h"
#include "config/bonds.h"

#define SEARCHED_PER_STEP   256u
#define FLOW_CANDIDATES_MAX 8u

/* --- by the id --- */

struct lookup {
	struct hp3_flowid id;
	bool there;
	hp3d_flow_fn *fn;
	void *arg;
	struct hp3d_found *found;
};

static void look_up(struct hp3d_worker *w, void *arg)
{
	struct lookup *l = arg;
	struct hp3d_pipe *p = hp3d_worker_pipe(w, l->found->rail);
	struct hp3_engine *e = hp3d_pipe_engine(p);
	uint64_t now = hp3d_now();
	uint32_t flow = hp3_flow_find(e, HP3_ENDS(&l->id), l->id.rqpn);

	l->there = flow != HP3_NO_FLOW && hp3_flow_info(e, flow, now, &l->found->info) == 0;
	if (l->there && l->fn)
		l->fn(p, flow, now, l->arg);
}

static json_t *not_found(const char *text)
{
	return hp3d_json_error(
		"not-found", "hp3ctl flows lists what hp3d knows", "no flow %s", text);
}

static json_t *find_by_id(const struct hp3_config *cfg, const char *text, struct lookup *l)
{
	struct hp3d_found *f = l->found;

	f->rail = hp3_config_flows_rail(cfg, l->id.rail);
	if (f->rail == cfg->n_rails)
		return hp3d_json_error(
			"not-found", "hp3ctl config lists the rails", "no rail %s", l->id.rail);
	hp3_flowid_format(&l->id, f->id, sizeof(f->id));
	for (f->worker = 0; f->worker < hp3d_worker_count(); f->worker++) {
		if (hp3d_worker_call(hp3d_worker(f->worker), look_up, l) < 0)
			return hp3d_json_timed_out();
		if (l->there)
			return NULL;
	}
	return not_found(text);
}

/* --- by a part of the id --- */

struct search {
	const char *text;
	bool by_qpn;
	uint32_t qpn;
	unsigned found;
	json_t *candidates; /* the first flows that match */
};

static bool take_flow_info(
	const struct hp3_engine *e, uint32_t index, uint64_t now, void *item, const void *arg)
{
	const struct search *s = arg;

	return (!s->by_qpn || hp3_flow_rqpn(e, index) == s->qpn) &&
	       hp3_flow_info(e, index, now, item) == 0;
}

static bool is_match(const struct search *s, const char *id)
{
	size_t n = strlen(s->text), m = strlen(id);

	if (s->by_qpn || strncmp(id, s->text, n) == 0)
		return true;
	return n < m && id[m - n - 1] == '/' && strcmp(id + m - n, s->text) == 0;
}

static void note_candidate(const struct hp3_config *cfg, struct search *s, unsigned rail,
	const struct hp3_flow_info *info)
{
	char id[HP3_FLOWID_MAX];

	hp3d_flow_name(cfg, rail, info, id);
	if (!is_match(s, id))
		return;
	if (s->found++ < FLOW_CANDIDATES_MAX)
		json_array_append_new(s->candidates, json_string(id));
}

/* Finds all flows that match. False: a worker did not answer. */
static bool search_flows(const struct hp3_config *cfg, struct search *s)
{
	static struct hp3_flow_info items[SEARCHED_PER_STEP]; /* of the control thread */
	const struct hp3d_list list = {.records = cfg->engine.max_flows,
		.items = items,
		.size = sizeof(items[0]),
		.room = SEARCHED_PER_STEP,
		.take = take_flow_info,
		.arg = s};
	struct hp3d_place at = {0}, from;
	unsigned n;
	int rc;

	while ((rc = hp3d_list_step(cfg, &list, &at, SEARCHED_PER_STEP, &from, &n)) > 0)
		for (unsigned i = 0; i < n; i++)
			note_candidate(cfg, s, from.rail, &items[i]);
	return rc == 0;
}

static json_t *ambiguous_flow_error(const struct search *s)
{
	json_t *answer = hp3d_json_error(
		"ambiguous", "give more of the id", "%s may be one of %u flows", s->text, s->found);
	json_t *error = json_object_get(answer, "error");

	json_object_set(error, "candidates", s->candidates);
	json_object_set_new(error, "found", json_integer(s->found));
	return answer;
}

/* Finds the only flow whose id has this part. */
static json_t *complete_flowid(
	const struct hp3_config *cfg, const char *text, struct hp3_flowid *id)
{
	struct search s = {.text = text, .candidates = json_array()};
	json_t *error = NULL;
	char *end;

	if (strncmp(text, "0x", 2) == 0) {
		s.qpn = (uint32_t)strtoul(text + 2, &end, 16);
		s.by_qpn = *end == '\0' && end > text + 2;
	}
	if (!search_flows(cfg, &s))
		error = hp3d_json_timed_out();
	else if (s.found == 0)
		error = not_found(text);
	else if (s.found > 1)
		error = ambiguous_flow_error(&s);
	else
		hp3_flowid_parse(json_string_value(json_array_get(s.candidates, 0)), id);
	json_decref(s.candidates);
	return error;
}

json_t *hp3d_find_id(const struct hp3_config *cfg, const char *text, struct hp3_flowid *id)
{
	if (!text || !*text)
		return hp3d_json_error("bad-request",
			"name it RAIL[.VLAN[.INNER]]/LOCAL-REMOTE/0xQPN as hp3ctl flows does, or a "
			"part of that",
			"\"flow\" is not a text");
	return hp3_flowid_parse(text, id) == 0 ? NULL : complete_flowid(cfg, text, id);
}

json_t *hp3d_find(const struct hp3_config *cfg, const char *text, hp3d_flow_fn *fn, void *arg,
	struct hp3d_found *found)
{
	struct lookup l = {.fn = fn, .arg = arg, .found = found};
	json_t *error = hp3d_find_id(cfg, text, &l.id);

	return error ? error : find_by_id(cfg, text, &l);
}
