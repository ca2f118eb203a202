/* SPDX-License-Identifier: BSD-3-Clause */
/* qps: queue pairs that applications share with hp3d in verbs mode. */
#include <stdio.h>
#include <string.h>
#include "app/hp3d/verbs/verbs_mode.h"
#include "app/hp3d/control/event_json.h"
#include "app/hp3d/control/requests.h"
#include "app/hp3d/lcores/eal.h"
#include "base/names.h"
#include "base/plain.h"

#define QPS_PER_STEP 16u
#define STRETCH      4096u /* cells read in one step: delays applications, not packets */

struct qps_step {
	uint32_t index, n; /* in: first cell; out: next cell */
	uint32_t want;
	bool inlined; /* not verbs mode */
	struct hp3d_verbs_qp qp[QPS_PER_STEP];
};

static void collect_qps(struct hp3d_worker *w, void *arg)
{
	struct hp3d_verbs_mode *b = hp3d_worker_verbs_mode(w);
	struct qps_step *s = arg;
	uint64_t now = hp3d_now();

	s->n = 0;
	s->inlined = b == NULL;
	for (uint32_t i = 0;
		b != NULL && i < STRETCH && s->n < s->want && s->index < HP3D_VERBS_CELLS;
		i++, s->index++)
		s->n += hp3d_verbs_read_qp(b, s->index, now, &s->qp[s->n]);
}

static const char *name_of_state(uint8_t state)
{
	static const char *const names[] = {[HP3_VERBS_FREE] = "free",
		[HP3_VERBS_RTR] = "rtr",
		[HP3_VERBS_RTS] = "rts",
		[HP3_VERBS_ERR] = "err"};

	return HP3_NAME(names, state);
}

static const char *name_of_method(uint8_t method)
{
	static const char *const names[] = {
		[HP3_VERBS_NONE] = "none", [HP3_VERBS_SQD] = "sqd", [HP3_VERBS_SPORT] = "sport"};

	return HP3_NAME(names, method);
}

static json_t *port_or_null(uint16_t port)
{
	return port != 0 ? json_integer(port) : json_null();
}

static json_t *qp_json(const struct hp3_config *cfg, struct hp3d_verbs_qp *q)
{
	const struct hp3_verbs_cell *c = &q->cell;
	char id[HP3_FLOWID_MAX];

	hp3d_flow_name(cfg, 0, &q->flow, id);
	return json_pack("{s:s, s:I, s:s, s:s, s:i, s:i, s:i, s:o, s:o, s:s, s:s, s:b, s:s, s:i,"
			 " s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:b, s:o}",
		"flow", id, "pid", (json_int_t)q->pid, "program", q->comm, "device",
		hp3_plain(q->cell.device), "device_port", c->port_num, "local_qpn", (int)c->qpn,
		"remote_qpn", (int)c->dest_qpn, "port", port_or_null(c->port), "home",
		port_or_null(c->home), "state", name_of_state(c->state), "method",
		name_of_method(c->method), "responds", (c->flags & HP3_VERBS_RESPONDS) != 0, "move",
		hp3_rfr_state_name((enum hp3_rfr_state)q->flow.state), "moves", c->moves,
		"posted_wrs", (json_int_t)c->posted_wrs, "posted_bytes",
		(json_int_t)c->posted_bytes, "done_wrs", (json_int_t)c->done_wrs, "done_bytes",
		(json_int_t)c->done_bytes, "rate_kbps", (json_int_t)(q->rate / 1000),
		"completion_ns", c->latency_ns != 0 ? json_integer(c->latency_ns) : json_null(),
		"completion_least_ns", q->least_ns != 0 ? json_integer(q->least_ns) : json_null(),
		"severe", q->flow.severe, "failed",
		q->failed != 0 ? json_string(strerrorname_np(q->failed) != NULL
						     ? strerrorname_np(q->failed)
						     : "unknown")
			       : json_null());
}

/* NULL: success. */
static json_t *read_qps_after(json_t *req, uint32_t *index)
{
	const char *after = json_string_value(json_object_get(req, "after"));
	int used = 0;

	if (!after || (sscanf(after, "@%u%n", index, &used) == 1 && after[used] == '\0'))
		return NULL;
	return hp3d_json_error("bad-request", "pass the value of \"next\"",
		"\"after\" is not a position in this list: %s", after);
}

json_t *hp3d_json_qps(const struct hp3_config *cfg, json_t *req)
{
	struct qps_step s = {0};
	uint64_t left = HP3D_PAGE_DEFAULT;
	json_t *error, *list, *answer;
	char next[24];

	if (!hp3d_json_number(req, "limit", 1, HP3D_PAGE_MAX, &left, &error) ||
		(error = read_qps_after(req, &s.index)))
		return error;
	list = json_array();
	while (left > 0 && s.index < HP3D_VERBS_CELLS && !s.inlined) {
		s.want = left < QPS_PER_STEP ? (uint32_t)left : QPS_PER_STEP;
		if (hp3d_worker_call(hp3d_worker(0), collect_qps, &s) < 0) {
			json_decref(list);
			return hp3d_json_timed_out();
		}
		for (uint32_t i = 0; i < s.n; i++)
			json_array_append_new(list, qp_json(cfg, &s.qp[i]));
		left -= s.n;
	}
	if (s.inlined) {
		json_decref(list);
		return hp3d_json_error("inline",
			"hp3ctl flows lists what passes; [verbs] socket in hp3.ini has hp3d work "
			"in verbs mode",
			"hp3d works inline: no application shares its queue pairs");
	}
	answer = hp3d_json_ok(list);
	snprintf(next, sizeof(next), "@%u", s.index);
	if (answer && s.index < HP3D_VERBS_CELLS)
		json_object_set_new(answer, "next", json_string(next));
	return answer;
}
