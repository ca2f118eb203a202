/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/minmax.h"
#include "config/message.h"
#include "sim/cli/scenario.h"
#include "sim/core/sim.h"
#include "sim/lb/lb.h"
#include "sim/results/json.h"
#include "sim/results/series.h"
#include "sim/results/settings.h"
#include "sim/results/uplinks.h"
#include "sim/work/builtin.h"
#include "sim/work/traffic.h"

#define STEM "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

/* So many percent, but at least 1. */
static uint64_t reduce_value(uint64_t value, uint32_t percent)
{
	return hp3_max_u64(value * percent / 100, 1);
}

static void reduce_scenario(struct sim_config *cfg)
{
	uint32_t percent = cfg->sweep.quick_percent;

	cfg->traffic.duration_us = (uint32_t)reduce_value(cfg->traffic.duration_us, percent);
	if (cfg->traffic.kind == SIM_KVCACHE)
		cfg->traffic.layers = (uint32_t)reduce_value(cfg->traffic.layers, percent);
	else
		cfg->traffic.bytes = reduce_value(cfg->traffic.bytes, percent);
	cfg->traffic.repeat = hp3_min_u32(cfg->traffic.repeat, 1);
	cfg->background.bytes = reduce_value(cfg->background.bytes, percent);
	cfg->sweep.seeds = cfg->sweep.quick_seeds;
	if (cfg->sweep.quick_lbs[0] != '\0')
		memcpy(cfg->sweep.lbs, cfg->sweep.quick_lbs, sizeof(cfg->sweep.lbs));
	if (cfg->sweep.quick_loads[0] != '\0')
		memcpy(cfg->sweep.loads, cfg->sweep.quick_loads, sizeof(cfg->sweep.loads));
}

static int add_run(struct sim_runs *runs, const char *stem, uint32_t number,
	const struct sim_config *cfg, const char *lb, uint32_t load, uint32_t seed)
{
	struct sim_one *one;

	if (sim_lb_find(lb) == NULL || load == 0 || load > 200) {
		hp3_message(
			"hp3-sim: %s: %s '%s': `hp3-sim list` names balancers, loads are 1..200",
			stem, load == 0 ? "load beside balancer" : "no balancer", lb);
		return -EINVAL;
	}
	if (runs->n == SIM_RUNS_MAX) {
		hp3_message("hp3-sim: more than %u runs: use fewer seeds or loads", SIM_RUNS_MAX);
		return -E2BIG;
	}
	runs->run = sim_realloc(runs->run, (runs->n + 1) * sizeof(*runs->run));
	one = &runs->run[runs->n++];
	one->cfg = *cfg;
	one->scenario = number;
	one->cfg.traffic.load_percent = load;
	one->cfg.run.seed = seed;
	sim_config_choose(&one->cfg, lb);
	snprintf(one->stem, sizeof(one->stem), "%.60s", stem);
	snprintf(one->name, sizeof(one->name), "%s-%s-%u-%u", one->stem, lb, load, seed);
	return 0;
}

static int add_runs(
	struct sim_runs *runs, const char *stem, uint32_t number, const struct sim_config *cfg)
{
	char loads[HP3_INI_VALUE_MAX], lbs[HP3_INI_VALUE_MAX], *load, *lb, *save1, *save2;
	int ret = 0;

	snprintf(loads, sizeof(loads), "%s", cfg->sweep.loads);
	if (loads[0] == '\0')
		snprintf(loads, sizeof(loads), "%u", cfg->traffic.load_percent);
	for (load = strtok_r(loads, ", ", &save1); load != NULL && ret == 0;
		load = strtok_r(NULL, ", ", &save1)) {
		snprintf(lbs, sizeof(lbs), "%s", cfg->sweep.lbs);
		for (lb = strtok_r(lbs, ", ", &save2); lb != NULL && ret == 0;
			lb = strtok_r(NULL, ", ", &save2))
			for (uint32_t seed = 1; seed <= cfg->sweep.seeds && ret == 0; seed++)
				ret = add_run(runs, stem, number, cfg, lb,
					(uint32_t)strtoul(load, NULL, 10), seed);
	}
	return ret;
}

/* It names files, marks in the page and cells of the table; a leading '-', '=' or '+' would be a
 * formula. */
static bool is_stem(const char *stem)
{
	return isalnum((unsigned char)stem[0]) && stem[strspn(stem, STEM)] == '\0';
}

static void add_name(char *list, size_t size, const char *name)
{
	size_t n = strlen(list);

	snprintf(list + n, size - n, "%s%s", n > 0 ? ", " : "", name);
}

/* A built-in scenario, or a file that exists. */
static bool is_scenario(const char *name)
{
	char names[1024] = "";

	if (sim_builtin_text(name, "ini") != NULL || access(name, F_OK) == 0)
		return true;
	for (const struct sim_builtin *b = sim_builtins; b->name != NULL; b++)
		if (strcmp(b->kind, "ini") == 0)
			add_name(names, sizeof(names), b->name);
	hp3_message("hp3-sim: %s: no such scenario or file: write a file, or one of: all, %s", name,
		names);
	return false;
}

static void stem_of(const char *name, char *stem, size_t size)
{
	const char *base = strrchr(name, '/');
	size_t n;

	base = base != NULL ? base + 1 : name;
	n = strlen(base);
	if (n > 4 && strcmp(base + n - 4, ".ini") == 0)
		n -= 4;
	snprintf(stem, size, "%.*s", (int)n, base);
}

int sim_scenario_runs(
	struct sim_runs *runs, const char *name, uint32_t number, const struct sim_wanted *want)
{
	const char *text = sim_builtin_text(name, "ini");
	struct hp3_config_errors errs = {0};
	struct sim_config cfg;
	char stem[64];
	int ret;

	if (!is_scenario(name))
		return -ENOENT;
	ret = sim_config_load(&cfg, name, text, want->set, want->n_sets, &errs);
	if (ret < 0) {
		hp3_config_errors_print(&errs, stderr);
		hp3_config_errors_free(&errs);
		return ret;
	}
	if (want->quick)
		reduce_scenario(&cfg);
	if (want->lbs != NULL)
		snprintf(cfg.sweep.lbs, sizeof(cfg.sweep.lbs), "%s", want->lbs);
	stem_of(name, stem, sizeof(stem));
	if (!is_stem(stem)) {
		hp3_message("hp3-sim: %s: results are named after the file: rename it, a letter or "
			    "digit first, then letters, digits, '.', '_', '-'",
			name);
		return -EINVAL;
	}
	return add_runs(runs, stem, number, &cfg);
}

bool sim_scenario_done(const char *out, const struct sim_one *one)
{
	char path[512], key[SIM_SHA256_HEX];
	const char *had;
	json_t *j;
	bool same;

	snprintf(path, sizeof(path), "%s/%s.json", out, one->name);
	j = json_load_file(path, 0, NULL);
	had = json_string_value(json_object_get(j, "key"));
	same = had != NULL && sim_key_of_scenario(&one->cfg, key) == 0 && strcmp(had, key) == 0;
	json_decref(j);
	return same;
}

static void add_jobs(json_t *j, const struct sim *s, const char *name, bool background)
{
	struct sim_job_results r;

	if (!sim_job_results(s, background, &r))
		return;
	json_object_set_new(j, name,
		json_pack("{s:i, s:f, s:f, s:f, s:f}", "rounds", (int)r.rounds, "jct_avg_us",
			r.jct_avg_us, "jct_p99_us", r.jct_p99_us, "jct_max_us", r.jct_max_us,
			"bus_gbps", r.bus_gbps));
	if (r.layers > 0)
		json_object_update_new(json_object_get(j, name),
			json_pack("{s:i, s:f, s:f}", "layers", (int)r.layers, "layer_avg_us",
				r.layer_avg_us, "layer_p99_us", r.layer_p99_us));
}

static json_t *result_of_run(
	struct sim *s, const struct sim_one *one, double imbalance, double cpu_s)
{
	struct sim_cost cost = sim_cost_now();
	json_t *j;

	cost.cpu_s -= cpu_s;
	j = sim_result_json(s, &cost, false);
	json_object_set_new(j, "name", json_string(one->name));
	json_object_set_new(j, "load_percent", json_integer(s->cfg.traffic.load_percent));
	json_object_set_new(j, "uplink_imbalance", json_real(imbalance));
	add_jobs(j, s, "jobs", false);
	add_jobs(j, s, "background", true);
	return j;
}

json_t *sim_scenario_run(const struct sim_one *one, struct sim_meter *meter)
{
	static struct sim s;
	struct sim_topo topo = {0};
	struct sim_imbalance *imbalance;
	struct sim_series *series;
	struct sim_uplinks *uplinks;
	double cpu_s = sim_cost_now().cpu_s;
	char err[512] = "";
	json_t *j;
	int ret;

	ret = sim_topo_make(&topo, &one->cfg, err, sizeof(err));
	if (ret == 0)
		ret = sim_create(&s, &one->cfg, &topo, err, sizeof(err));
	if (ret == 0)
		ret = sim_traffic(&s, err, sizeof(err));
	if (ret == 0)
		ret = sim_faults(&s, err, sizeof(err));
	if (ret < 0) {
		hp3_message("hp3-sim: %s: %s", one->name, err);
		return NULL;
	}
	imbalance = sim_imbalance_start(&s);
	series = sim_series_start(&s);
	uplinks = sim_uplinks_start(&s);
	sim_meter_watch(&s, meter);
	if (sim_run(&s, one->cfg.run.limit_ms * SIM_MS) < 0)
		hp3_message("hp3-sim: %s: %u of %u flows ended within run.limit_ms", one->name,
			s.finished, s.n_demands);
	j = result_of_run(&s, one, sim_imbalance_mean(imbalance), cpu_s);
	json_object_set_new(j, "uplinks", sim_uplinks_json(&s, uplinks));
	json_object_set_new(j, "series", sim_series_json(series));
	sim_imbalance_free(imbalance);
	free(series);
	sim_uplinks_free(uplinks);
	sim_destroy(&s);
	return j;
}
