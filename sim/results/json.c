/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include "sim/lb/lb.h"
#include "sim/results/json.h"
#include "sim/results/settings.h"
#include "sim/results/slowdown.h"

struct sim_cost sim_cost_now(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (struct sim_cost){
		.cpu_s = (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
			 (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6,
		.peak_bytes = (uint64_t)u.ru_maxrss * 1024,
	};
}

static json_t *slowdown_json(const struct sim_slowdown *d)
{
	return json_pack("{s:i, s:f, s:f, s:f, s:f, s:f}", "n", (int)d->n, "avg", d->avg, "p50",
		d->p50, "p95", d->p95, "p99", d->p99, "p999", d->p999);
}

static void add_distribution(json_t *j, const struct sim *s)
{
	static struct sim_distribution d;
	struct sim_size size[SIM_SIZES];
	json_t *percent = json_array(), *fct = json_array(), *slowdown = json_array();
	json_t *sizes = json_array();

	bool any = sim_distribution(s, &d);

	for (uint32_t i = 0; any && i < SIM_QUANTILES; i++) {
		json_array_append_new(percent, json_real(d.percent[i]));
		json_array_append_new(fct, json_real(d.fct_us[i]));
		json_array_append_new(slowdown, json_real(d.slowdown[i]));
	}
	json_object_set_new(j, "distribution",
		json_pack("{s:o, s:o, s:o}", "percent", percent, "fct_us", fct, "slowdown",
			slowdown));
	sim_slowdown_by_size(s, size);
	for (uint32_t i = 0; i < SIM_SIZES; i++) {
		json_t *one = slowdown_json(&size[i].slowdown);

		json_object_set_new(one, "limit_bytes", json_integer((json_int_t)size[i].limit));
		if (size[i].slowdown.n > 0)
			json_array_append(sizes, one);
		json_decref(one);
	}
	json_object_set_new(j, "by_size", sizes);
}

static json_t *drops_json(const struct sim *s)
{
	json_t *j = json_object();

	for (unsigned i = 0; i < SIM_DROP_N; i++)
		json_object_set_new(j, sim_drop_name(i), json_integer((json_int_t)s->n.dropped[i]));
	return j;
}

static json_t *flows_json(const struct sim *s)
{
	json_t *j = json_array();

	for (uint32_t i = 0; i < s->n_demands; i++) {
		const struct sim_demand *d = &s->demand[i];
		const struct sim_outcome *o = &s->outcome[i];

		json_array_append_new(j,
			json_pack("[I,I,I,I,I,I]", (json_int_t)sim_topo_number(&s->topo, d->src),
				(json_int_t)sim_topo_number(&s->topo, d->dst), (json_int_t)d->bytes,
				(json_int_t)d->start, (json_int_t)o->fct, (json_int_t)o->base));
	}
	return j;
}

static void add_counters(json_t *j, const struct sim *s)
{
	const struct sim_counters *n = &s->n;
	const struct {
		const char *name;
		uint64_t value;
	} list[] = {
		{"reordered", n->reordered},
		{"pfc_pauses", n->pauses},
		{"pfc_pauses_started", n->pauses_started},
		{"pfc_pause_ns", n->pause_ps / SIM_NS},
		{"moves", n->moves},
		{"moves_wasted", n->moves_wasted},
		{"probes", n->probes},
		{"probe_bytes", n->probe_bytes},
		{"traces", n->traces},
		{"hops_reported", n->hops_reported},
		{"flow_reports", n->flow_reports},
		{"fleet_reports", n->fleet_reports},
		{"fleet_moves", n->fleet_moves},
		{"fleet_asked", n->fleet_asked},
		{"fleet_moved", n->fleet_moved},
		{"ack_solicitations", n->ack_solicitations},
		{"reports", n->reports},
		{"replies_moved", n->replies_moved},
		{"held_packets", n->held_packets},
		{"held_ns", n->held_ps / SIM_NS},
		{"data_packets", n->data},
		{"data_bytes", n->data_bytes},
		{"retransmitted_packets", n->again},
		{"retransmitted_bytes", n->again_bytes},
		{"acks", n->acks},
		{"naks", n->naks},
		{"cnps", n->cnps},
		{"read_requests", n->reads},
		{"delivered", n->delivered},
		{"duplicates", n->duplicates},
		{"marked", n->marked},
		{"timeouts", n->timeouts},
		{"finished", s->finished},
		{"sim_ns", s->now / SIM_NS},
		{"hops", n->hops},
		{"events", s->queue.fired},
	};

	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		json_object_set_new(j, list[i].name, json_integer((json_int_t)list[i].value));
	json_object_set_new(j, "dropped", drops_json(s));
}

/* Payload of finished flows over the time from the first start to the last end. */
static double goodput_gbps(const struct sim *s)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < s->n_demands; i++)
		if (s->outcome[i].fct > 0)
			bytes += s->demand[i].bytes;
	if (s->last_end <= s->first_start)
		return 0;
	return (double)bytes * 8000 / (double)(s->last_end - s->first_start);
}

json_t *sim_result_json(const struct sim *s, const struct sim_cost *cost, bool per_flow)
{
	struct sim_slowdowns d;
	struct sim_inputs in = {.topology = &s->topo.file, .sizes = &s->sizes, .flows = &s->flows};
	char key[SIM_SHA256_HEX];
	json_t *j = json_object();

	sim_slowdowns(s, &d);
	sim_key(&s->asked, &in, key);
	json_object_set_new(j, "v", json_integer(1));
	json_object_set_new(j, "commit", json_string(sim_commit()));
	json_object_set_new(j, "source", json_string(sim_source(s->asked.run.lb)));
	json_object_set_new(j, "key", json_string(key));
	json_object_set_new(j, "seed", json_integer((json_int_t)s->cfg.run.seed));
	json_object_set_new(j, "lb", json_string(s->lb->name));
	json_object_set_new(j, "settings", sim_settings_json(&s->asked, &in));
	json_object_set_new(j, "inputs", sim_inputs_json(&in));
	json_object_set_new(j, "fabric",
		json_pack("{s:i, s:i, s:i}", "hosts", (int)s->topo.hosts, "switches",
			(int)(s->topo.nodes - s->topo.hosts), "links", (int)s->topo.n_links));
	json_object_set_new(j, "n_flows", json_integer(s->n_demands));
	json_object_set_new(j, "bdp_bytes", json_integer((json_int_t)d.bdp));
	json_object_set_new(j, "slowdown",
		json_pack("{s:o, s:o, s:o}", "overall", slowdown_json(&d.overall), "lt_bdp",
			slowdown_json(&d.lt_bdp), "ge_bdp", slowdown_json(&d.ge_bdp)));
	add_distribution(j, s);
	add_counters(j, s);
	json_object_set_new(j, "ecn_share",
		json_real(s->n.data > 0 ? (double)s->n.marked / (double)s->n.data : 0));
	json_object_set_new(j, "goodput_gbps", json_real(goodput_gbps(s)));
	json_object_set_new(j, "cpu_s", json_real(cost->cpu_s));
	json_object_set_new(j, "peak_bytes", json_integer((json_int_t)cost->peak_bytes));
	if (per_flow)
		json_object_set_new(j, "flows", flows_json(s));
	return j;
}

int sim_json_write(json_t *j, const char *path)
{
	int ret;

	if (strcmp(path, "-") == 0)
		ret = json_dumpf(j, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(6));
	else
		ret = json_dump_file(j, path, JSON_INDENT(1) | JSON_REAL_PRECISION(6));
	if (strcmp(path, "-") == 0)
		putchar('\n');
	return ret == 0 ? 0 : -EIO;
}
