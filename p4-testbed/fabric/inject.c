/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Single packets through single switches, without links: what the conformance vectors are run with.
 *     in   {"switch":"l1","port":0,"frame":"0209...","depth":0,"counters":true}
 *     out  {"port":2,"priority":3,"frame":"0208...","counters":{"port_rx":1,...}}  or
 * {"drop":true,...} `depth` is what the queue claims to hold. Counters are those that the
 * packet changed, with the index: "port_tx[2]".
 *     in   {"switch":"l1","route":"10.9.2.128/25","group":3}      one more route, from now on
 *     out  {"route":true}
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/minmax.h"
#include "config/message.h"
#include "p4-testbed/fabric/fabric_main.h"
#include "p4-testbed/spec/program.h"

#define LINE_MAX_BYTES 65536
#define FRAME_MAX      4400u

struct inject {
	struct hp3_switches s;
	uint32_t depth;
	json_t *result;
};

static void keep_result(
	void *arg, struct hp3_swx *sw, uint32_t port, uint32_t priority, struct rte_mbuf *m)
{
	struct inject *in = arg;
	char hex[2 * FRAME_MAX + 1] = "";

	for (uint32_t i = 0; i < m->data_len && i < FRAME_MAX; i++)
		snprintf(hex + 2 * i, 3, "%02x", rte_pktmbuf_mtod(m, const uint8_t *)[i]);
	in->result = json_pack(
		"{s:i, s:i, s:s}", "port", (int)port, "priority", (int)priority, "frame", hex);
	rte_pktmbuf_free(m);
}

static uint32_t claimed_depth(void *arg, struct hp3_swx *sw, uint32_t port, uint32_t priority)
{
	return ((struct inject *)arg)->depth;
}

static const struct hp3_swx_ops inject_ops = {keep_result, claimed_depth};

static const struct {
	const char *name, *array;
	uint32_t size;
} counters[] = {
	{"port_rx", "port_rx_packets", HP3_PROGRAM_PORTS},
	{"port_rx_bytes", "port_rx_bytes", HP3_PROGRAM_PORTS},
	{"port_tx", "port_tx_packets", HP3_PROGRAM_PORTS},
	{"port_tx_bytes", "port_tx_bytes", HP3_PROGRAM_PORTS},
	{"port_ce", "port_ce_packets", HP3_PROGRAM_PORTS},
	{"flow", "flow_packets", HP3_PROGRAM_FLOWS},
	{"drops", "drops_packets", HP3_DROP_MAX},
};

static uint64_t seen[RTE_DIM(counters)][HP3_PROGRAM_FLOWS];

/* What differs from the counters as they were last. */
static json_t *counter_changes(const struct hp3_swx *sw, bool report)
{
	json_t *j = json_object();
	char name[64];

	for (size_t c = 0; c < RTE_DIM(counters); c++) {
		for (uint32_t i = 0; i < counters[c].size; i++) {
			uint64_t v = hp3_swx_counter(sw, counters[c].array, i);

			snprintf(name, sizeof(name), "%s[%u]", counters[c].name, i);
			if (report && v != seen[c][i])
				json_object_set_new(
					j, name, json_integer((json_int_t)(v - seen[c][i])));
			seen[c][i] = v;
		}
	}
	return j;
}

static struct rte_mbuf *frame_of(struct inject *in, const char *hex)
{
	size_t n = strlen(hex) / 2;
	struct rte_mbuf *m = n >= 14 && n <= FRAME_MAX ? rte_pktmbuf_alloc(in->s.pool) : NULL;
	uint8_t *p = m != NULL ? (uint8_t *)rte_pktmbuf_append(m, (uint16_t)n) : NULL;

	for (size_t i = 0; p != NULL && i < n; i++) {
		unsigned byte;

		if (sscanf(hex + 2 * i, "%2x", &byte) != 1) {
			rte_pktmbuf_free(m);
			return NULL;
		}
		p[i] = (uint8_t)byte;
	}
	return m;
}

static int add_route(struct inject *in, int s, const char *prefix, uint32_t group)
{
	struct hp3_entry e;

	if (s < 0 || hp3_entry_route(prefix, group, &e) != 0) {
		hp3_message("hp3-fabric: route '%s': write ADDRESS/LENGTH", prefix);
		return 1;
	}
	if (hp3_swx_add(&in->s.sw[s], &e) != 0)
		return 1;
	puts("{\"route\":true}");
	return 0;
}

static int inject_line(struct inject *in, const char *line)
{
	json_t *rq = json_loads(line, 0, NULL);
	const char *prefix = json_string_value(json_object_get(rq, "route"));
	const char *name = json_string_value(json_object_get(rq, "switch"));
	const char *hex = json_string_value(json_object_get(rq, "frame"));
	int s = HP3_TOPO_FIND(in->s.net.sw, in->s.net.n_switches, name);
	uint32_t port = (uint32_t)json_integer_value(json_object_get(rq, "port"));
	struct rte_mbuf *m = hex != NULL ? frame_of(in, hex) : NULL;
	bool count;

	if (prefix != NULL) {
		int code = add_route(
			in, s, prefix, (uint32_t)json_integer_value(json_object_get(rq, "group")));

		json_decref(rq);
		return code;
	}
	if (s < 0 || m == NULL || port >= in->s.sw[s].n_ports) {
		hp3_message("hp3-fabric: not a packet for a switch of this topology: %.*s",
			(int)hp3_min_u64(strcspn(line, "\n"), 120), line);
		rte_pktmbuf_free(m);
		json_decref(rq);
		return 1;
	}
	in->depth = (uint32_t)json_integer_value(json_object_get(rq, "depth"));
	count = json_is_true(json_object_get(rq, "counters"));
	in->result = NULL;
	if (count)
		json_decref(counter_changes(&in->s.sw[s], false));
	hp3_swx_process(&in->s.sw[s], port, m);
	if (in->result == NULL)
		in->result = json_pack("{s:b}", "drop", 1);
	if (count)
		json_object_set_new(in->result, "counters", counter_changes(&in->s.sw[s], true));
	json_dumpf(in->result, stdout, JSON_COMPACT | JSON_SORT_KEYS);
	putchar('\n');
	fflush(stdout);
	json_decref(in->result);
	json_decref(rq);
	return 0;
}

int hp3_fabric_inject(const struct hp3_fabric_args *a, const struct hp3_topo *topo)
{
	static struct inject in;
	char *line = malloc(LINE_MAX_BYTES);
	int code = line == NULL || hp3_switches_open(&in.s, a, topo, &inject_ops, &in) != 0;

	while (code == 0 && fgets(line, LINE_MAX_BYTES, stdin) != NULL)
		code = inject_line(&in, line);
	hp3_switches_close(&in.s);
	free(line);
	return code;
}
