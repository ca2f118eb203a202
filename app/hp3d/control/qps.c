/* SPDX-License-Identifier: BSD-3-Clause */
/* qps: queue pairs that applications share with hp3d in verbs mode. */
#include "app/hp3d/verbs/verbs_mode.h"
#include "app/hp3d/control/event_json.h"
#include "app/hp3d/control/list.h"
#include "app/hp3d/control/requests.h"
#include "app/hp3d/control/verbs_errors.h"
#include "base/names.h"

#define QPS_PER_STEP 16u

static bool take_qp(
	const struct hp3_engine *e, uint32_t index, uint64_t now, void *item, const void *verbs)
{
	return hp3d_verbs_read_qp(verbs, index, now, item);
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

static json_t *qp_json(const struct hp3_config *cfg, const struct hp3d_place *at, const void *item,
	const void *verbs)
{
	const struct hp3d_verbs_qp *q = item;
	const struct hp3_verbs_cell *c = &q->cell;
	char id[HP3_FLOWID_MAX];

	hp3d_flow_name(cfg, 0, &q->flow, id);
	return json_pack("{s:s, s:I, s:s, s:s, s:i, s:i, s:i, s:o, s:o, s:s, s:s, s:b, s:s, s:i,"
			 " s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:b, s:s?, s:s?}",
		"flow", id, "pid", (json_int_t)q->pid, "program", q->comm, "device", c->device,
		"device_port", c->port_num, "local_qpn", (int)c->qpn, "remote_qpn",
		(int)c->dest_qpn, "port", port_or_null(c->port), "home", port_or_null(c->home),
		"state", name_of_state(c->state), "method", name_of_method(c->method), "responds",
		(c->flags & HP3_VERBS_RESPONDS) != 0, "move",
		hp3_rfr_state_name((enum hp3_rfr_state)q->flow.state), "moves", c->moves,
		"posted_wrs", (json_int_t)c->posted_wrs, "posted_bytes",
		(json_int_t)c->posted_bytes, "done_wrs", (json_int_t)c->done_wrs, "done_bytes",
		(json_int_t)c->done_bytes, "rate_kbps", (json_int_t)(q->rate / 1000),
		"completion_ns", c->latency_ns != 0 ? json_integer(c->latency_ns) : json_null(),
		"completion_least_ns", q->least_ns != 0 ? json_integer(q->least_ns) : json_null(),
		"severe", q->flow.severe, "failed",
		q->failed != 0 ? hp3d_verbs_error_name(q->failed) : NULL, "failed_meaning",
		q->failed != 0 ? hp3d_verbs_error_meaning(q->failed) : NULL);
}

json_t *hp3d_json_qps(const struct hp3_config *cfg, json_t *req)
{
	struct hp3d_verbs_qp items[QPS_PER_STEP];
	const struct hp3d_list list = {.records = HP3D_VERBS_CELLS,
		.items = items,
		.size = sizeof(items[0]),
		.room = QPS_PER_STEP,
		.take = take_qp,
		.json = qp_json,
		.arg = hp3d_worker_verbs_mode(hp3d_worker(0))};

	if (list.arg == NULL)
		return hp3d_json_error("inline",
			"hp3ctl flows lists what passes; [verbs] socket in hp3.ini has hp3d work "
			"in verbs mode",
			"hp3d works inline: no application shares its queue pairs");
	return hp3d_list_page(cfg, req, &list);
}
