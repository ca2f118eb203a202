/* SPDX-License-Identifier: BSD-3-Clause */
/* hp3-sim trace: a topology file, a flow file, one balancer, one result. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "config/message.h"
#include "sim/cli/cli.h"
#include "sim/cli/progress.h"
#include "sim/results/capture.h"
#include "sim/results/json.h"
#include "sim/results/series.h"
#include "sim/work/traffic.h"

struct trace_options {
	const char *topology, *flows, *json, *pcap, *lb;
	struct sim_sets sets;
	bool per_flow, progress;
};

static int parse_trace_options(int argc, char **argv, struct trace_options *o)
{
	const struct sim_option options[] = {
		{"topology", .text = &o->topology},
		{"flows", .text = &o->flows},
		{"lb", .text = &o->lb, .setting = "run.lb="},
		{"hp3", .setting = "hp3="},
		{"set", .setting = ""},
		{"seed", .setting = "run.seed="},
		{"json", .text = &o->json},
		{"pcap", .text = &o->pcap},
		{"per-flow", .flag = &o->per_flow},
		{"progress", .flag = &o->progress},
		{NULL},
	};
	int code = sim_parse_options(argc, argv, options, &o->sets);

	if (code != 0)
		return code;
	if (optind != argc)
		return sim_usage("an argument too many");
	if (o->topology == NULL || o->flows == NULL || o->json == NULL || o->lb == NULL)
		return sim_usage("trace needs --topology, --flows, --lb and --json");
	return 0;
}

/* HOST:FILE */
static int open_capture(const char *arg, struct sim *s)
{
	char *file;
	uint32_t host = sim_topo_host(&s->topo, strtoul(arg, &file, 10));

	if (file == arg || *file != ':' || host == UINT32_MAX) {
		hp3_message("hp3-sim: --pcap %s: write HOST:FILE, with the number of a host in the "
			    "topology file",
			arg);
		return -1;
	}
	s->capture = sim_capture_open(file + 1, host);
	if (s->capture == NULL)
		hp3_message("hp3-sim: %s: %s", file + 1, strerror(errno));
	return s->capture != NULL ? 0 : -1;
}

static int run_trace(const struct trace_options *o, const struct sim_config *cfg)
{
	static struct sim s;
	struct sim_series *series = NULL;
	struct sim_watch watch = {0};
	struct sim_topo topo;
	struct sim_cost cost;
	char err[512] = "";
	json_t *j;
	int ret;

	ret = sim_topo_load(&topo, o->topology, err, sizeof(err));
	if (ret == 0)
		ret = sim_topo_finish(&topo, cfg->rnic.payload_bytes, err, sizeof(err));
	if (ret == 0)
		ret = sim_create(&s, cfg, &topo, err, sizeof(err));
	if (ret == 0)
		ret = sim_flows_load(&s, o->flows, err, sizeof(err));
	if (ret < 0) {
		hp3_message("hp3-sim: %s", err);
		return 1;
	}
	if (o->pcap != NULL && open_capture(o->pcap, &s) < 0)
		return 1;
	hp3_message("hp3-sim: seed %llu", (unsigned long long)cfg->run.seed);
	if (o->per_flow)
		series = sim_series_start(&s);
	sim_watch_run(&s, &watch, o->progress);
	ret = sim_run(&s, cfg->run.limit_ms * SIM_MS);
	sim_progress_end(&watch.progress);
	if (ret < 0)
		hp3_message(
			"hp3-sim: only %u of %u flows ended within run.limit_ms = %u: raise it, or "
			"see `dropped`",
			s.finished, s.n_demands, cfg->run.limit_ms);
	if (s.capture != NULL && sim_capture_close(s.capture) < 0)
		hp3_message("hp3-sim: %s: not all was written: is the disk full?", o->pcap);
	cost = sim_cost_now();
	j = sim_result_json(&s, &cost, o->per_flow);
	if (series != NULL)
		json_object_set_new(j, "series", sim_series_json(series));
	free(series);
	ret = sim_json_write(j, o->json);
	json_decref(j);
	if (ret < 0)
		hp3_message("hp3-sim: %s: cannot be written", o->json);
	ret = ret < 0 || s.finished < s.n_demands;
	sim_destroy(&s);
	return ret;
}

int sim_trace_main(int argc, char **argv)
{
	static struct trace_options o;
	struct sim_config cfg;
	struct hp3_config_errors errs = {0};
	int ret = parse_trace_options(argc, argv, &o);

	if (ret != 0)
		return ret;
	ret = sim_config_load(&cfg, NULL, NULL, o.sets.text, o.sets.n, &errs);
	if (ret < 0) {
		hp3_config_errors_print(&errs, stderr);
		hp3_config_errors_free(&errs);
		return 1;
	}
	return run_trace(&o, &cfg);
}
