/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3ctl/columns.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "app/hp3ctl/hp3ctl.h"

#define PSN_MASK    0xffffffu
#define HEADERS_MAX 128u /* of a packet, IP header included */

enum {
	FLOW,
	LOCAL_QPN,
	PORT,
	HOME,
	PATH,
	STATE,
	RATE,
	RTT,
	MARKED,
	IN_FLIGHT,
	MOVES,
	BYTES,
	IDLE,
	UNPAIRED
};

const struct hp3ctl_column hp3ctl_columns[] = {
	[FLOW] = {"flow", "FLOW", -42, false},
	[LOCAL_QPN] = {"local_qpn", "LOCALQPN", 8, false},
	[PORT] = {"port", "PORT", 6, true},
	[HOME] = {"home", "HOME", 6, true},
	[PATH] = {"path", "PATH", -15, false},
	[STATE] = {"state", "STATE", -9, false},
	[RATE] = {"rate", "Mb/s", 10, true},
	[RTT] = {"rtt", "RTT us", 9, true},
	[MARKED] = {"marked", "MARKED", 6, true},
	[IN_FLIGHT] = {"in_flight", "IN FLIGHT", 9, true},
	[MOVES] = {"moves", "MOVES", 6, true},
	[BYTES] = {"bytes", "BYTES", 15, true},
	[IDLE] = {"idle", "IDLE ms", 9, true},
	[UNPAIRED] = {"unpaired", "UNPAIRED", -13, false},
	{0},
};

const char *hp3ctl_column_name(unsigned i)
{
	return hp3ctl_columns[i].name;
}

unsigned hp3ctl_column(const char *name)
{
	unsigned i = 0;

	while (strcmp(hp3ctl_columns[i].name, name) != 0)
		i++;
	return i;
}

/* The value of a column: a member of the flow, or of its path. */
static json_t *column_value(unsigned column, json_t *flow)
{
	json_t *path = json_object_get(flow, "path");

	switch (column) {
	case PATH:
		return json_object_get(path, "hop");
	case RTT:
		return json_object_get(path, "rtt_ns");
	case MARKED:
		return json_object_get(path, "marked_permille");
	case RATE:
		return json_object_get(flow, "acked_kbps");
	case IDLE:
		return json_object_get(flow, "idle_ns");
	default:
		return json_object_get(flow, hp3ctl_columns[column].name);
	}
}

void hp3ctl_cell(unsigned column, json_t *flow, char text[HP3CTL_CELL_MAX])
{
	json_t *v = column_value(column, flow);
	double number = (double)json_integer_value(v);

	if (json_is_string(v))
		snprintf(text, HP3CTL_CELL_MAX, "%s", json_string_value(v));
	else if (!json_is_integer(v) || (column == RTT && number == 0))
		strcpy(text, "-");
	else if (column == LOCAL_QPN)
		snprintf(text, HP3CTL_CELL_MAX, "0x%06x", (unsigned)number);
	else if (column == RATE || column == RTT)
		snprintf(text, HP3CTL_CELL_MAX, "%.1f", number / 1e3);
	else if (column == IDLE)
		snprintf(text, HP3CTL_CELL_MAX, "%.1f", number / 1e6);
	else
		snprintf(text, HP3CTL_CELL_MAX, "%.0f", number);
}

struct order {
	unsigned column;
	bool down;
};

static int compare_text(json_t *a, json_t *b)
{
	const char *s = json_string_value(a), *t = json_string_value(b);

	return strcmp(s ? s : "", t ? t : "");
}

/* Unknown values come last in both orders. */
static int compare_flows(const void *p, const void *q, void *arg)
{
	const struct order *o = arg;
	json_t *a = *(json_t *const *)p, *b = *(json_t *const *)q;
	json_t *x = column_value(o->column, a), *y = column_value(o->column, b);
	bool known = x && !json_is_null(x), other = y && !json_is_null(y);
	int rc = 0;

	if (known != other)
		return known ? -1 : 1;
	if (json_is_integer(x) && json_is_integer(y))
		rc = (json_integer_value(x) > json_integer_value(y)) -
		     (json_integer_value(x) < json_integer_value(y));
	else if (known)
		rc = compare_text(x, y);
	if (rc != 0)
		return o->down ? -rc : rc;
	return compare_text(column_value(FLOW, a), column_value(FLOW, b));
}

void hp3ctl_sort(json_t *flows, unsigned column, bool reverse)
{
	struct order o = {column, hp3ctl_columns[column].number != reverse};
	size_t n = json_array_size(flows);
	json_t **list = hp3ctl_need((n + 1) * sizeof(*list));

	for (size_t i = 0; i < n; i++)
		list[i] = json_incref(json_array_get(flows, i));
	qsort_r(list, n, sizeof(*list), compare_flows, &o);
	json_array_clear(flows);
	for (size_t i = 0; i < n; i++)
		json_array_append_new(flows, list[i]);
	free(list);
}

static uint64_t flow_number(json_t *j, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(j, key));
}

/*
 * Bytes acknowledged between two reads of a flow: the number of PSNs acknowledged times the mean
 * bytes of PSNs sent. If PSNs may have wrapped between the reads, the bytes sent, which are then
 * nearly the same.
 */
static uint64_t acked_bytes(json_t *was, json_t *is)
{
	uint64_t una = (flow_number(is, "una") - flow_number(was, "una")) & PSN_MASK;
	uint64_t nxt = (flow_number(is, "nxt") - flow_number(was, "nxt")) & PSN_MASK;
	uint64_t bytes = flow_number(is, "bytes") - flow_number(was, "bytes");
	uint64_t most = flow_number(is, "pmtu") + HEADERS_MAX, mean = flow_number(is, "pmtu");

	if (bytes / most > PSN_MASK / 2)
		return bytes;
	if (nxt != 0 && nxt <= PSN_MASK / 2 && bytes / nxt < most)
		return bytes * una / nxt;
	return una * mean;
}

json_t *hp3ctl_rates(json_t *flows, json_t *before)
{
	json_t *now = json_object(), *flow;
	size_t i;

	json_array_foreach (flows, i, flow) {
		const char *id = json_string_value(json_object_get(flow, "flow"));
		json_t *was = json_object_get(before, id);
		uint64_t ns = flow_number(flow, "t_ns") - flow_number(was, "t_ns");

		if (was && ns != 0 && flow_number(flow, "bytes") >= flow_number(was, "bytes"))
			json_object_set_new(flow, "acked_kbps",
				json_integer((json_int_t)((double)acked_bytes(was, flow) * 8e6 /
							  (double)ns)));
		else
			json_object_set_new(flow, "acked_kbps", json_null());
		json_object_set(now, id, flow);
	}
	json_decref(before);
	return now;
}
