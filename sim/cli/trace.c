/* SPDX-License-Identifier: BSD-3-Clause */
/* hp3-sim trace: a topology file, a flow file, one balancer, one result. */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
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

#define TRACE_SETS_MAX 64u

struct trace_options {
	const char *topology, *flows, *json, *pcap;
	const char *set[TRACE_SETS_MAX];
	unsigned n_sets;
	char lb[64], seed[64], hp3[PATH_MAX + 8]; /* options, as settings */
	bool per_flow, progress;
};

static int parse_trace_options(int argc, char **argv, struct trace_options *o)
{
	static const struct option longs[] = {{"topology", required_argument, NULL, 't'},
		{"flows", required_argument, NULL, 'f'}, {"lb", required_argument, NULL, 'l'},
		{"hp3", required_argument, NULL, 'h'}, {"set", required_argument, NULL, 's'},
		{"seed", required_argument, NULL, 'r'}, {"json", required_argument, NULL, 'j'},
		{"pcap", required_argument, NULL, 'c'}, {"per-flow", no_argument, NULL, 'p'},
		{"progress", no_argument, NULL, 'g'}, {NULL, 0, NULL, 0}};
	int c;

	opterr = 0; /* getopt's own message has the option as it is */
	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (o->n_sets + 3 > TRACE_SETS_MAX)
			return sim_usage("too many --set: 61 at most; use a scenario file");
		switch (c) {
		case 't':
			o->topology = optarg;
			break;
		case 'f':
			o->flows = optarg;
			break;
		case 'j':
			o->json = optarg;
			break;
		case 'p':
			o->per_flow = true;
			break;
		case 'g':
			o->progress = true;
			break;
		case 'c':
			o->pcap = optarg;
			break;
		case 's':
			o->set[o->n_sets++] = optarg;
			break;
		case 'h':
			snprintf(o->hp3, sizeof(o->hp3), "hp3=%s", optarg);
			o->set[o->n_sets++] = o->hp3;
			break;
		case 'l':
			snprintf(o->lb, sizeof(o->lb), "run.lb=%s", optarg);
			o->set[o->n_sets++] = o->lb;
			break;
		case 'r':
			snprintf(o->seed, sizeof(o->seed), "run.seed=%s", optarg);
			o->set[o->n_sets++] = o->seed;
			break;
		default:
			hp3_message("hp3-sim: %s: no such option, or its value is missing",
				argv[optind - 1]);
			return sim_usage(NULL);
		}
	}
	if (optind != argc)
		return sim_usage("an argument too many");
	if (o->topology == NULL || o->flows == NULL || o->json == NULL || o->lb[0] == '\0')
		return sim_usage("trace needs --topology, --flows, --lb and --json");
	return 0;
}

/* HOST:FILE */
static int open_capture(const char *arg, struct sim *s)
{
	char *file;
	unsigned long host = strtoul(arg, &file, 10);

	if (file == arg || *file != ':' || host >= s->topo.hosts) {
		hp3_message(
			"hp3-sim: --pcap %s: write HOST:FILE, host below %u", arg, s->topo.hosts);
		return -1;
	}
	s->capture = sim_capture_open(file + 1, (uint32_t)host);
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
	struct trace_options o = {0};
	struct sim_config cfg;
	struct hp3_config_errors errs = {0};
	int ret = parse_trace_options(argc, argv, &o);

	if (ret != 0)
		return ret;
	ret = sim_config_load(&cfg, NULL, NULL, o.set, o.n_sets, &errs);
	if (ret < 0) {
		hp3_config_errors_print(&errs, stderr);
		hp3_config_errors_free(&errs);
		return 1;
	}
	return run_trace(&o, &cfg);
}
