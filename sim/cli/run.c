/* SPDX-License-Identifier: BSD-3-Clause */
/* hp3-sim run: scenarios, one process per run, results that outlive an interruption. */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "sim/cli/cli.h"
#include "sim/cli/report.h"
#include "sim/cli/scenario.h"
#include "sim/results/json.h"
#include "sim/results/settings.h"
#include "sim/work/builtin.h"

#define SCENARIOS_MAX 64u
#define SETS_MAX      64u
#define JOBS_MAX      64u

struct options {
	const char *scenario[SCENARIOS_MAX], *set[SETS_MAX], *out;
	uint32_t n_scenarios;
	uint32_t jobs;
	struct sim_wanted want;
};

static void path_of(const struct options *o, const struct sim_one *one, char *path, size_t size)
{
	snprintf(path, size, "%s/%s.json", o->out, one->name);
}

/* The result is there, and is what a run would give now. */
static bool done_before(const struct options *o, const struct sim_one *one)
{
	char path[512], key[SIM_SHA256_HEX];
	const char *had;
	json_t *j;
	bool same;

	path_of(o, one, path, sizeof(path));
	j = json_load_file(path, 0, NULL);
	had = json_string_value(json_object_get(j, "key"));
	same = had != NULL && sim_key_of_scenario(&one->cfg, key) == 0 && strcmp(had, key) == 0;
	json_decref(j);
	return same;
}

/* In a process of its own: the file appears whole or not at all. */
static int one_run(const struct options *o, const struct sim_one *one)
{
	json_t *j = sim_scenario_run(one);
	char path[512], part[540];

	if (j == NULL)
		return 1;
	path_of(o, one, path, sizeof(path));
	snprintf(part, sizeof(part), "%s.part", path);
	if (sim_json_write(j, part) < 0 || rename(part, path) < 0) {
		fprintf(stderr, "hp3-sim: %s: %s\n", path, strerror(errno));
		return 1;
	}
	json_decref(j);
	return 0;
}

static void progress(uint32_t done, uint32_t all, const char *last)
{
	char bar[31] = "..............................";

	memset(bar, '#', all > 0 ? done * 30 / all : 30);
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r[%s] %u/%u %-50.50s%s", bar, done, all, last,
			done == all ? "\n" : "");
	else
		fprintf(stderr, "%u/%u %s\n", done, all, last);
}

static int wait_one(const struct sim_runs *runs, const pid_t *pid, uint32_t *ended)
{
	int status;
	pid_t p = wait(&status);

	if (p < 0)
		return -errno;
	for (uint32_t i = 0; i < runs->n; i++)
		if (pid[i] == p)
			progress(++*ended, runs->n, runs->run[i].name);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EIO;
}

static int run_all(const struct options *o, const struct sim_runs *runs)
{
	pid_t *pid = sim_alloc(runs->n, sizeof(*pid));
	uint32_t busy = 0, ended = 0;
	int ret = 0;

	for (uint32_t i = 0; i < runs->n; i++) {
		if (done_before(o, &runs->run[i])) {
			progress(++ended, runs->n, runs->run[i].name);
			continue;
		}
		if (busy == o->jobs) {
			ret |= wait_one(runs, pid, &ended);
			busy--;
		}
		fflush(NULL);
		pid[i] = fork();
		if (pid[i] == 0)
			_exit(one_run(o, &runs->run[i]));
		if (pid[i] < 0) {
			fprintf(stderr, "hp3-sim: fork: %s\n", strerror(errno));
			ret = -errno;
			break;
		}
		busy++;
	}
	for (; busy > 0; busy--)
		ret |= wait_one(runs, pid, &ended);
	free(pid);
	return ret;
}

static int parse(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {{"quick", no_argument, NULL, 'q'},
		{"out", required_argument, NULL, 'o'}, {"jobs", required_argument, NULL, 'n'},
		{"lbs", required_argument, NULL, 'l'}, {"set", required_argument, NULL, 's'},
		{NULL, 0, NULL, 0}};
	int c;

	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		switch (c) {
		case 'q':
			o->want.quick = true;
			break;
		case 'o':
			o->out = optarg;
			break;
		case 'n':
			o->jobs = (uint32_t)strtoul(optarg, NULL, 10);
			break;
		case 'l':
			o->want.lbs = optarg;
			break;
		case 's':
			if (o->want.n_sets == SETS_MAX)
				return sim_usage("too many --set: use a scenario file");
			o->set[o->want.n_sets++] = optarg;
			break;
		default:
			return sim_usage(NULL);
		}
	}
	o->want.set = o->set;
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

int sim_run_main(int argc, char **argv)
{
	struct options o = {
		.out = "hp3-sim-results", .jobs = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN)};
	struct sim_runs runs = {0};
	int ret = parse(argc, argv, &o);

	if (ret != 0)
		return ret;
	if (make_directory(o.out) < 0) {
		fprintf(stderr, "hp3-sim: %s: %s\n", o.out, strerror(errno));
		return 1;
	}
	for (uint32_t i = 0; i < o.n_scenarios && ret == 0; i++)
		ret = sim_scenario_runs(&runs, o.scenario[i], i, &o.want);
	if (ret == 0)
		ret = run_all(&o, &runs);
	free(runs.run);
	if (ret != 0)
		return 1;
	return sim_report(o.out) == 0 ? 0 : 1;
}
