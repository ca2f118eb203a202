/* SPDX-License-Identifier: BSD-3-Clause */
/* hp3-sim run: scenarios, one process per run, results that outlive an interruption. */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "config/message.h"
#include "sim/cli/cli.h"
#include "sim/cli/scenario.h"
#include "sim/cli/summary.h"
#include "sim/cli/variant.h"
#include "sim/results/json.h"
#include "sim/work/builtin.h"

#define SCENARIOS_MAX 64u
#define JOBS_MAX      64u
#define POLL_US       50000u

struct run_options {
	const char *scenario[SCENARIOS_MAX], *out;
	struct sim_sets sets;
	uint32_t n_scenarios;
	uint32_t jobs;
	struct sim_wanted want;
	struct sim_sets swept; /* a setting for each value of --sweep */
	struct sim_variant *variant;
	uint32_t n_variants;
	bool progress, no_report;
};

struct pool {
	const struct sim_runs *runs;
	pid_t *pid; /* by run; 0: not running */
	bool *done; /* by run: its result was there */
	struct sim_meter *meter; /* by run, shared with its process */
	uint32_t busy, ended, to_do;
	struct sim_progress progress;
};

static void path_of(const struct run_options *o, const struct sim_one *one, char *path, size_t size)
{
	snprintf(path, size, "%s/%s.json", o->out, one->name);
}

/* In a process of its own: the file appears whole or not at all. */
static int one_run(const struct run_options *o, const struct sim_one *one, struct sim_meter *meter)
{
	json_t *j = sim_scenario_run(one, meter);
	char path[512], part[540];

	if (j == NULL)
		return 1;
	json_object_set_new(j, "command", json_string(sim_command()));
	sim_variant_json(j, one);
	path_of(o, one, path, sizeof(path));
	snprintf(part, sizeof(part), "%s.part", path);
	if (sim_json_write(j, part) < 0 || rename(part, path) < 0) {
		hp3_message("hp3-sim: %s: %s", path, strerror(errno));
		return 1;
	}
	json_decref(j);
	return 0;
}

/* What all children are at: their runs and shares, those that ended counted whole. */
static void show_pool_progress(struct pool *p)
{
	char text[512];
	double share = p->ended;
	size_t at;

	if (!sim_progress_due(&p->progress))
		return;
	at = (size_t)snprintf(text, sizeof(text), "%u of %u", p->ended, p->to_do);
	for (uint32_t i = 0; i < p->runs->n; i++) {
		if (p->pid[i] == 0)
			continue;
		share += p->meter[i].permyriad / 1e4;
		if (at < sizeof(text))
			at += (size_t)snprintf(text + at, sizeof(text) - at, ", %u %% of %s",
				p->meter[i].permyriad / 100, p->runs->run[i].name);
	}
	sim_progress_show(&p->progress, share / p->to_do, text);
}

static int wait_one(struct pool *p)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, p->progress.on ? WNOHANG : 0)) == 0) {
		show_pool_progress(p);
		usleep(POLL_US);
	}
	if (pid < 0)
		return -errno;
	p->busy--;
	p->ended++;
	for (uint32_t i = 0; i < p->runs->n; i++) {
		if (p->pid[i] != pid)
			continue;
		p->pid[i] = 0;
		if (!p->progress.terminal)
			hp3_message("%u/%u %s", p->ended, p->to_do, p->runs->run[i].name);
	}
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EIO;
}

static int start_one(const struct run_options *o, struct pool *p, uint32_t i)
{
	fflush(NULL);
	p->pid[i] = fork();
	if (p->pid[i] == 0)
		_exit(one_run(o, &p->runs->run[i], &p->meter[i]));
	if (p->pid[i] < 0) {
		hp3_message("hp3-sim: fork: %s", strerror(errno));
		p->pid[i] = 0;
		return -errno;
	}
	p->busy++;
	return 0;
}

static int run_all(const struct run_options *o, const struct sim_runs *runs)
{
	size_t size = (runs->n + 1) * sizeof(struct sim_meter);
	struct pool p = {.runs = runs,
		.pid = sim_alloc(runs->n, sizeof(*p.pid)),
		.done = sim_alloc(runs->n, sizeof(*p.done)),
		.meter = mmap(
			NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)};
	int ret = 0, failed = 0;

	if (p.meter == MAP_FAILED)
		return -errno;
	for (uint32_t i = 0; i < runs->n; i++)
		p.to_do += !(p.done[i] = sim_scenario_done(o->out, &runs->run[i]));
	if (p.to_do < runs->n)
		hp3_message(
			"hp3-sim: %u of %u results are there already", runs->n - p.to_do, runs->n);
	sim_progress_start(&p.progress, o->progress);
	for (uint32_t i = 0; i < runs->n && ret == 0; i++) {
		if (p.done[i])
			continue;
		while (p.busy >= o->jobs)
			failed |= wait_one(&p);
		ret = start_one(o, &p, i);
	}
	while (p.busy > 0)
		failed |= wait_one(&p);
	sim_progress_end(&p.progress);
	munmap(p.meter, size);
	free(p.pid);
	free(p.done);
	return ret | failed;
}

static int parse_run_options(int argc, char **argv, struct run_options *o)
{
	const char *jobs = NULL, *sweep = NULL;
	const struct sim_option options[] = {
		{"quick", .flag = &o->want.quick},
		{"out", .text = &o->out},
		{"jobs", .text = &jobs},
		{"lbs", .text = &o->want.lbs},
		{"set", .setting = ""},
		{"sweep", .text = &sweep, .once = true},
		{"hp3", .setting = "hp3="},
		{"progress", .flag = &o->progress},
		{"no-report", .flag = &o->no_report},
		{NULL},
	};
	int code = sim_parse_options(argc, argv, options, &o->sets);

	if (code != 0)
		return code;
	if (sweep != NULL && (o->sets.n == SIM_SETS_MAX || sim_variant_split(sweep, &o->swept) < 0))
		return sim_usage("--sweep: write SECTION.KEY=A,B,C once, with different values; "
				 "not for sweep, run and traffic.load_percent");
	o->want.set = o->sets.text;
	o->want.n_sets = o->sets.n;
	o->jobs = (uint32_t)(jobs != NULL ? strtol(jobs, NULL, 10) : sysconf(_SC_NPROCESSORS_ONLN));
	if (o->jobs == 0 || o->jobs > JOBS_MAX)
		return sim_usage("--jobs: 1 to 64");
	for (; optind < argc; optind++) {
		bool all = strcmp(argv[optind], "all") == 0;

		for (const struct sim_builtin *b = sim_builtins; b->name != NULL; b++)
			if (all && strcmp(b->kind, "ini") == 0 && o->n_scenarios < SCENARIOS_MAX)
				o->scenario[o->n_scenarios++] = b->name;
		if (!all && o->n_scenarios < SCENARIOS_MAX)
			o->scenario[o->n_scenarios++] = argv[optind];
	}
	return o->n_scenarios > 0 ? 0 : sim_usage("run needs a scenario, or all");
}

/* DIR and those above it that are missing. */
static int make_directory(const char *dir)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s", dir) >= (int)sizeof(path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	for (char *p = path + 1; *p != '\0'; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		if (mkdir(path, 0777) < 0 && errno != EEXIST)
			return -1;
		*p = '/';
	}
	return mkdir(path, 0777) < 0 && errno != EEXIST ? -1 : 0;
}

/* `swept`: a setting of --sweep, or NULL. */
static int add_variant(struct run_options *o, struct sim_runs *runs, uint32_t i, const char *swept)
{
	struct sim_variant *v = &o->variant[o->n_variants++];
	uint32_t from = runs->n;
	int ret = sim_scenario_runs(runs, o->scenario[i], i, &o->want);

	if (ret != 0)
		return ret;
	*v = (struct sim_variant){.set = sim_variant_set(o->want.set, o->want.n_sets),
		.given = o->want.n_sets > 0,
		.swept = swept};
	if (runs->n > from)
		snprintf(v->scenario, sizeof(v->scenario), "%.60s", runs->run[from].stem);
	sim_variant_name(o->out, runs, from, v);
	return 0;
}

/* One variant, or one for each value of --sweep. */
static int add_scenario(struct run_options *o, struct sim_runs *runs, uint32_t i)
{
	int ret = 0;

	if (o->swept.n == 0)
		return add_variant(o, runs, i, NULL);
	o->want.n_sets = o->sets.n + 1;
	for (uint32_t k = 0; k < o->swept.n && ret == 0; k++) {
		o->sets.text[o->sets.n] = o->swept.text[k];
		ret = add_variant(o, runs, i, o->swept.text[k]);
	}
	return ret;
}

static void free_variants(struct run_options *o)
{
	for (uint32_t i = 0; i < o->n_variants; i++)
		json_decref(o->variant[i].set);
	free(o->variant);
}

int sim_run_main(int argc, char **argv)
{
	static struct run_options o = {.out = "hp3-sim-results"};
	struct sim_runs runs = {0};
	int ret = parse_run_options(argc, argv, &o);

	if (ret != 0)
		return ret;
	o.variant = sim_alloc(o.n_scenarios * (o.swept.n + 1), sizeof(*o.variant));
	for (uint32_t i = 0; i < o.n_scenarios && ret == 0; i++)
		ret = add_scenario(&o, &runs, i);
	if (ret == 0 && make_directory(o.out) < 0) {
		hp3_message("hp3-sim: %s: %s", o.out, strerror(errno));
		ret = -EIO;
	}
	if (ret == 0)
		ret = run_all(&o, &runs);
	if (ret == 0) {
		ret = o.no_report ? 0 : sim_report(o.out);
		sim_summary_print(o.out, &runs);
	}
	free_variants(&o);
	free(runs.run);
	return ret == 0 ? 0 : 1;
}
