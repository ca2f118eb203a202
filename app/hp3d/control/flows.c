/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands about flows: the paged list, one flow, and the move. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "app/hp3d/control/requests.h"
#include "app/hp3d/control/event_json.h"
#include "app/hp3d/control/events.h"
#include "app/hp3d/lcores/eal.h"
#include "app/hp3d/pipe/pipe.h"

#define FLOWS_PER_CALL 64u

/* Where a list goes on: rail by rail, in each worker by worker, in each by index. */
struct cursor {
	unsigned rail, worker;
	uint32_t index;
};

struct page {
	unsigned rail, n, want;
	uint32_t index; /* in: first to look at; out: where to go on, HP3_NO_FLOW at the end */
	struct hp3_flow_info info[FLOWS_PER_CALL];
};

static void collect(struct hp3d_worker *w, void *arg)
{
	struct page *p = arg;
	struct hp3_engine *e = hp3d_pipe_engine(hp3d_worker_pipe(w, p->rail));
	uint64_t now = hp3d_now();

	p->n = 0;
	while ((p->index = hp3_flow_next(e, p->index)) != HP3_NO_FLOW && p->n < p->want)
		if (hp3_flow_info(e, p->index++, now, &p->info[p->n]) == 0)
			p->n++;
}

static json_t *flow_json(
	const struct hp3_config *cfg, unsigned rail, unsigned worker, const struct hp3_flow_info *f)
{
	char id[HP3_FLOWID_MAX];

	hp3d_flow_name(cfg, rail, f, id);
	return json_pack(
		"{s:s, s:s, s:i, s:b, s:s, s:o, s:i, s:i, s:i, s:b, s:s, s:i, s:i, s:I, s:i,"
		" s:I, s:I, s:I, s:I, s:I, s:b, s:o}",
		"flow", id, "rail", cfg->rails[rail].name, "worker", (int)worker, "paired",
		f->paired, "pairing", hp3_pairing_name((enum hp3_pairing)f->pairing), "local_qpn",
		f->paired ? json_integer(f->lqpn) : json_null(), "port", f->port, "home", f->home,
		"reply_port", f->replies, "moved", f->moved, "state",
		hp3_rfr_state_name((enum hp3_rfr_state)f->state), "una", (int)f->una, "nxt",
		(int)f->nxt, "in_flight", (json_int_t)f->inflight, "pmtu", f->pmtu, "moves",
		(json_int_t)f->moves, "retransmits", (json_int_t)f->retransmits, "bytes",
		(json_int_t)f->bytes, "idle_ns", (json_int_t)f->idle_ns, "dcqcn_kbps",
		(json_int_t)(f->rate / 1000), "severe", f->severe, "path",
		hp3d_path_json(&f->path));
}

json_t *hp3d_json_timed_out(void)
{
	return hp3d_json_error("timeout",
		"try again; if it stays, the core is overloaded or hung: see hp3ctl health and "
		"cpus= in [eal]",
		"a data lcore did not answer within a second");
}

/* One flow by its id: where it is, and what `fn` does there, on its lcore. */
struct lookup {
	struct hp3_flowid id;
	unsigned rail, worker;
	bool found;
	struct hp3_flow_info info; /* before the command */
	hp3d_flow_fn *fn; /* NULL: look only */
	void *arg;
};

/* A move: what the engine says to the command. */
struct order {
	struct hp3_cmd cmd;
	int rc;
};

static void look_up(struct hp3d_worker *w, void *arg)
{
	struct lookup *l = arg;
	struct hp3d_pipe *p = hp3d_worker_pipe(w, l->rail);
	struct hp3_engine *e = hp3d_pipe_engine(p);
	uint64_t now = hp3d_now();
	uint32_t flow = hp3_flow_find(e, HP3_ENDS(&l->id), l->id.rqpn);

	l->found = flow != HP3_NO_FLOW && hp3_flow_info(e, flow, now, &l->info) == 0;
	if (l->found && l->fn)
		l->fn(p, flow, now, l->arg);
}

static bool rail_by_name(const struct hp3_config *cfg, const char *name, unsigned *rail)
{
	for (*rail = 0; *rail < cfg->n_rails; (*rail)++)
		if (strcmp(cfg->rails[*rail].name, name) == 0)
			return true;
	return false;
}

/* Finds the flow that `text` names, wherever it is. NULL: found; else the answer that tells why
 * not. */
static json_t *find(const struct hp3_config *cfg, const char *text, struct lookup *l)
{
	if (!text || hp3_flowid_parse(text, &l->id) < 0)
		return hp3d_json_error("bad-request",
			"name it RAIL[.VLAN]/LOCAL-REMOTE/0xQPN as hp3ctl flows does",
			"\"flow\" is not a flow id: %s", text ? text : "(none)");
	if (!rail_by_name(cfg, l->id.rail, &l->rail))
		return hp3d_json_error(
			"not-found", "hp3ctl config lists the rails", "no rail %s", l->id.rail);
	for (l->worker = 0; l->worker < hp3d_worker_count(); l->worker++) {
		if (hp3d_worker_call(hp3d_worker(l->worker), look_up, l) < 0)
			return hp3d_json_timed_out();
		if (l->found)
			return NULL;
	}
	return hp3d_json_error(
		"not-found", "hp3ctl flows lists what hp3d knows", "no flow %s", text);
}

/* "@rail.worker.index" as `next` gave it, or the id of a flow that is still there. */
static json_t *cursor_after(const struct hp3_config *cfg, const char *text, struct cursor *at)
{
	struct lookup l = {0};
	json_t *error;
	int used = 0;

	if (sscanf(text, "@%u.%u.%u%n", &at->rail, &at->worker, &at->index, &used) == 3 &&
		text[used] == '\0')
		return NULL;
	error = find(cfg, text, &l);
	*at = (struct cursor){.rail = l.rail, .worker = l.worker, .index = l.info.flow + 1};
	return error;
}

json_t *hp3d_json_flows(const struct hp3_config *cfg, json_t *req)
{
	const char *after = json_string_value(json_object_get(req, "after"));
	uint64_t left = HP3D_PAGE_DEFAULT;
	struct cursor at = {0};
	json_t *error, *answer, *list;
	char next[48];
	struct page p;

	if (!hp3d_json_number(req, "limit", 1, HP3D_PAGE_MAX, &left, &error) ||
		(after && (error = cursor_after(cfg, after, &at))))
		return error;
	list = json_array();
	while (at.rail < cfg->n_rails && left) {
		if (at.worker >= hp3d_worker_count()) {
			at = (struct cursor){.rail = at.rail + 1};
			continue;
		}
		p.rail = at.rail;
		p.index = at.index;
		p.want = left < FLOWS_PER_CALL ? (unsigned)left : FLOWS_PER_CALL;
		if (hp3d_worker_call(hp3d_worker(at.worker), collect, &p) < 0) {
			json_decref(list);
			return hp3d_json_timed_out();
		}
		for (unsigned i = 0; i < p.n; i++)
			json_array_append_new(list, flow_json(cfg, at.rail, at.worker, &p.info[i]));
		left -= p.n;
		at.index = p.index;
		if (p.index == HP3_NO_FLOW)
			at = (struct cursor){.rail = at.rail, .worker = at.worker + 1};
	}
	answer = hp3d_json_ok(list);
	snprintf(next, sizeof(next), "@%u.%u.%u", at.rail, at.worker, at.index);
	if (answer && at.rail < cfg->n_rails)
		json_object_set_new(answer, "next", json_string(next));
	return answer;
}

json_t *hp3d_json_at_flow(
	const struct hp3_config *cfg, const char *text, hp3d_flow_fn *fn, void *arg)
{
	struct lookup l = {.fn = fn, .arg = arg};

	return find(cfg, text, &l);
}

json_t *hp3d_json_flow(const struct hp3_config *cfg, json_t *req)
{
	struct lookup l = {0};
	json_t *error = find(cfg, json_string_value(json_object_get(req, "flow")), &l), *j;

	if (error)
		return error;
	j = flow_json(cfg, l.rail, l.worker, &l.info);
	json_object_set_new(j, "fruitless", hp3d_events_fruitless(l.rail, l.worker, &l.info));
	return hp3d_json_ok(j);
}

static json_t *refused(int rc, const char *flow)
{
	static const struct {
		int err;
		const char *code, *text;
	} reasons[] = {
		{ENOLINK, "not-paired", "is not paired with its replies yet"},
		{EALREADY, "already-there", "is on that port already"},
		{EBUSY, "busy", "has a move under way"},
		{EAGAIN, "rnr-pending", "waits for a receiver that is not ready"},
		{ENOSPC, "no-slots", "cannot move: all move slots are taken"},
		{EPERM, "not-permitted", "may not be moved"},
		{ENODATA, "no-data", "has sent nothing yet"},
	};
	const char *code = "refused", *text = "cannot be moved";

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		if (reasons[i].err == -rc) {
			code = reasons[i].code;
			text = reasons[i].text;
		}
	}
	return hp3d_json_error(code, hp3_command_error(rc), "%s %s", flow, text);
}

/* Reads where to: exactly one of "port", "random", "home". NULL: good. */
static json_t *target(json_t *req, struct hp3_cmd *cmd)
{
	bool random = json_is_true(json_object_get(req, "random"));
	bool home = json_is_true(json_object_get(req, "home"));
	bool given = json_object_get(req, "port") != NULL;
	uint64_t port = 0;
	json_t *error;

	if (!hp3d_json_number(req, "port", 1, UINT16_MAX, &port, &error))
		return error;
	if (given + random + home != 1)
		return hp3d_json_error("bad-request",
			"give one of \"port\":N, \"random\":true, \"home\":true",
			"where to move is %s", given || random || home ? "said twice" : "missing");
	cmd->kind = home ? HP3_CMD_HOME : HP3_CMD_MOVE;
	cmd->port = (uint16_t)port;
	return NULL;
}

static void give_order(struct hp3d_pipe *p, uint32_t flow, uint64_t now, void *arg)
{
	struct order *o = arg;

	o->cmd.flow = flow;
	o->rc = hp3d_pipe_command(p, &o->cmd, now);
}

json_t *hp3d_json_move(const struct hp3_config *cfg, json_t *req)
{
	static uint64_t tag;
	const char *flow = json_string_value(json_object_get(req, "flow"));
	struct order o = {.cmd = {.cause = HP3_CAUSE_OPERATOR, .tag = ++tag}};
	struct lookup l = {.fn = give_order, .arg = &o};
	uint64_t since = hp3d_events_last();
	json_t *error = target(req, &o.cmd);

	if (!error)
		error = find(cfg, flow, &l);
	if (error)
		return error;
	if (o.rc < 0)
		return refused(o.rc, flow);
	return hp3d_json_ok(json_pack("{s:s, s:I, s:I, s:i}", "flow", flow, "tag",
		(json_int_t)o.cmd.tag, "since", (json_int_t)since, "from", l.info.port));
}
