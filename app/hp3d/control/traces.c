/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace: finds the switches on the paths of ports of a flow's address pair. A request with "ports"
 * begins traces; a later request without "ports" returns the answers so far.
 */
#include <errno.h>
#include "app/hp3d/control/find.h"
#include "app/hp3d/control/requests.h"
#include "app/hp3d/pipe/pipe.h"
#include "engine/info.h"

/* On the flow's lcore. */
struct traces {
	uint16_t port[HP3_TRACE_WANTED]; /* to trace */
	uint32_t n, missing;
	uint8_t ttl;
	bool ask;
	int rc;
	struct hp3_trace_answer answer[HP3_TRACE_WANTED];
	uint32_t id[HP3_TRACE_WANTED]; /* path identity of the port, without a trace */
	struct hp3_hop hop[HP3_TRACE_WANTED];
	bool named[HP3_TRACE_WANTED];
};

static void at_flow(struct hp3d_pipe *p, uint32_t flow, uint64_t now, void *arg)
{
	struct hp3_engine *e = hp3d_pipe_engine(p);
	struct traces *t = arg;

	if (t->ask) {
		t->rc = hp3_trace_ask(e, flow, t->ttl, t->port, t->n, now);
		return;
	}
	if (t->n == 0) {
		t->n = hp3_trace_answers(e, t->answer, &t->missing);
	} else {
		for (uint32_t i = 0; i < t->n; i++)
			t->answer[i].port = t->port[i];
	}
	for (uint32_t i = 0; i < t->n; i++)
		t->named[i] = hp3_path_of_port(e, flow, t->answer[i].port, &t->id[i], &t->hop[i]);
}

static json_t *refuse_trace(int rc)
{
	switch (-rc) {
	case EPERM:
		return hp3d_json_error(
			"off", "set identity = trace in [ppp], and probe", "traces are off");
	case EBUSY:
		return hp3d_json_error(
			"busy", "wait until they are answered", "other traces are in progress");
	case ENODATA:
		return hp3d_json_error("no-data",
			"the peer has to run hp3d and to be known (hp3ctl paths), and the flow to "
			"have sent a packet; with \"ttl\":N, traces do not need the distance",
			"this address pair cannot be traced yet");
	default:
		return hp3d_json_error(
			"not-found", "hp3ctl flows lists what hp3d knows", "no such flow");
	}
}

static json_t *trace_row_json(const struct traces *t, uint32_t i, bool traced)
{
	const struct hp3_trace_answer *a = &t->answer[i];
	bool hop = a->outcome == HP3_TRACE_HOP || a->outcome == HP3_TRACE_ODD;
	json_t *j = json_pack("{s:i, s:o, s:o}", "port", a->port, "path",
		t->id[i] < HP3_PATH_BY_PORT ? json_integer(t->id[i]) : json_null(), "known",
		t->named[i] ? hp3d_json_hop(t->hop[i].ipv6, t->hop[i].addr) : json_null());

	if (j == NULL || !traced)
		return j;
	json_object_set_new(j, "ttl", json_integer(a->ttl));
	json_object_set_new(j, "outcome",
		json_string(hp3_trace_outcome_name((enum hp3_trace_outcome)a->outcome)));
	json_object_set_new(j, "hop", hop ? hp3d_json_hop(a->ipv6, a->hop) : json_null());
	return j;
}

/* NULL: success. */
static json_t *read_ports(json_t *ports, struct traces *t)
{
	json_t *port;
	size_t i;

	if (json_array_size(ports) == 0 || json_array_size(ports) > HP3_TRACE_WANTED)
		return hp3d_json_error("bad-request", "name 1 to 64 ports",
			"\"ports\" is not a list, empty, or too long");
	json_array_foreach (ports, i, port) {
		if (json_integer_value(port) < 1 || json_integer_value(port) > UINT16_MAX)
			return hp3d_json_error("bad-request", "ports are numbers from 1 to 65535",
				"\"ports\" has another item");
		t->port[t->n++] = (uint16_t)json_integer_value(port);
	}
	return NULL;
}

json_t *hp3d_json_trace(const struct hp3_config *cfg, json_t *req)
{
	json_t *ports = json_object_get(req, "ports"), *error = NULL, *list;
	bool known = json_is_true(json_object_get(req, "known"));
	struct traces t = {.ask = ports && !known};
	struct hp3d_found f;
	uint64_t ttl = 0;

	if (!hp3d_json_number(req, "ttl", 1, HP3_TRACE_TTL, &ttl, &error))
		return error;
	t.ttl = (uint8_t)ttl;
	if (ports)
		error = read_ports(ports, &t);
	if (!error)
		error = hp3d_find(
			cfg, json_string_value(json_object_get(req, "flow")), at_flow, &t, &f);
	if (error)
		return error;
	if (t.ask)
		return t.rc < 0 ? refuse_trace(t.rc)
				: hp3d_json_ok(json_pack("{s:i}", "asked", t.rc));
	list = json_array();
	for (uint32_t i = 0; i < t.n; i++)
		json_array_append_new(list, trace_row_json(&t, i, !known));
	return hp3d_json_ok(json_pack("{s:i, s:o}", "missing", (int)t.missing, "ports", list));
}
