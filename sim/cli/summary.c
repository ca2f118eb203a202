/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/plain.h"
#include "sim/cli/summary.h"
#include "sim/cli/variant.h"
#include "sim/core/memory.h"

/* 0.975 quantile of Student's t, by degrees of freedom from 1 on. */
static const double t95[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
	2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086};
#define T95_MANY 2.04
#define N_T95    (sizeof(t95) / sizeof(t95[0]))

#define GREEN "\033[32m"
#define RED   "\033[31m"
#define PLAIN "\033[0m"

struct sample {
	double sum, squares;
	uint32_t n;
};

/* One balancer in one scenario at one load. */
struct line {
	const char *lb;
	struct sample metric, tail, ratio; /* over seeds */
};

/* One scenario at one load: runs [first, end). */
struct group {
	uint32_t first, end;
	bool jobs;
	struct line *line;
	uint32_t n_lines;
};

struct values {
	double metric, tail; /* metric 0: there is none */
	bool jobs;
};

static void sample_add(struct sample *s, double value)
{
	s->sum += value;
	s->squares += value * value;
	s->n++;
}

static double mean_of(const struct sample *s)
{
	return s->n > 0 ? s->sum / s->n : 0;
}

/* Half width of the 95 % interval of the mean; 0 with one value. */
static double half_of(const struct sample *s)
{
	double mean = mean_of(s), spread;

	if (s->n < 2)
		return 0;
	spread = fmax(s->squares - s->n * mean * mean, 0) / (s->n - 1) / s->n;
	return (s->n - 2 < N_T95 ? t95[s->n - 2] : T95_MANY) * sqrt(spread);
}

static struct values read_values(const char *out, const struct sim_one *one)
{
	char path[512];
	json_t *j, *jobs, *all;
	struct values v = {0};

	snprintf(path, sizeof(path), "%s/%s.json", out, one->name);
	j = json_load_file(path, 0, NULL);
	jobs = json_object_get(j, "jobs");
	all = json_object_get(json_object_get(j, "slowdown"), "overall");
	v.jobs = jobs != NULL;
	if (v.jobs) {
		v.metric = json_number_value(json_object_get(jobs, "jct_avg_us")) / 1e3;
		v.tail = json_number_value(json_object_get(jobs, "jct_p99_us")) / 1e3;
	} else {
		v.metric = json_number_value(json_object_get(all, "avg"));
		v.tail = json_number_value(json_object_get(all, "p99"));
	}
	json_decref(j);
	return v;
}

static bool same_group(const struct sim_one *a, const struct sim_one *b)
{
	return strcmp(a->stem, b->stem) == 0 &&
	       a->cfg.traffic.load_percent == b->cfg.traffic.load_percent;
}

static bool is_ecmp(const struct sim_one *one)
{
	return strcmp(one->cfg.run.lb, "ecmp") == 0;
}

/* ECMP's metric with the same seed; 0: there is none. */
static double base_of(const struct sim_runs *runs, const struct values *v, const struct group *g,
	const struct sim_one *one)
{
	for (uint32_t i = g->first; i < g->end; i++)
		if (is_ecmp(&runs->run[i]) && runs->run[i].cfg.run.seed == one->cfg.run.seed)
			return v[i].metric;
	return 0;
}

static struct line *line_of(struct group *g, const char *lb)
{
	for (uint32_t i = 0; i < g->n_lines; i++)
		if (strcmp(g->line[i].lb, lb) == 0)
			return &g->line[i];
	g->line[g->n_lines] = (struct line){.lb = lb};
	return &g->line[g->n_lines++];
}

static struct group next_group(const struct sim_runs *runs, const struct values *v, uint32_t first)
{
	struct group g = {.first = first, .end = first, .jobs = v[first].jobs};

	while (g.end < runs->n && same_group(&runs->run[first], &runs->run[g.end]))
		g.end++;
	g.line = sim_alloc(g.end - first, sizeof(*g.line));
	for (uint32_t i = first; i < g.end; i++) {
		const struct sim_one *one = &runs->run[i];
		struct line *l = line_of(&g, one->cfg.run.lb);
		double base = base_of(runs, v, &g, one);

		if (v[i].metric <= 0)
			continue;
		sample_add(&l->metric, v[i].metric);
		sample_add(&l->tail, v[i].tail);
		if (base > 0)
			sample_add(&l->ratio, v[i].metric / base);
	}
	return g;
}

static void title_of(const struct sim_one *one, char *title, size_t size)
{
	const struct sim_variant *v = one->variant;
	char load[16] = "";

	if (one->cfg.traffic.kind == SIM_POISSON)
		snprintf(load, sizeof(load), ", %u %%", one->cfg.traffic.load_percent);
	snprintf(title, size, "%s%s%s%s", v->scenario, load, v->swept != NULL ? ", " : "",
		v->swept != NULL ? v->swept : "");
	hp3_plain(title);
}

/* Colours are for terminals, unless NO_COLOR is set (no-color.org). */
static bool has_colours(void)
{
	const char *none = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && (none == NULL || none[0] == '\0') &&
	       (term == NULL || strcmp(term, "dumb") != 0);
}

static const char *colour_of(const struct sample *ratio)
{
	double mean = mean_of(ratio), half = half_of(ratio);

	if (ratio->n < 2 || !has_colours())
		return "";
	return mean + half < 1 ? GREEN : mean - half > 1 ? RED : "";
}

/* A value with its unit, in a cell. */
static const char *format_cell(char cell[32], double value, bool jobs)
{
	snprintf(cell, 32, "%.3f%s", value, jobs ? " ms" : "");
	return cell;
}

static void print_line(const struct line *l, const char *title, int width, bool jobs)
{
	const char *colour = colour_of(&l->ratio);
	double mean = mean_of(&l->ratio), half = half_of(&l->ratio);
	char average[32], tail[32];

	printf("%-*s  %-16s  %5u  %12s  %12s", width, title, l->lb, l->metric.n,
		format_cell(average, mean_of(&l->metric), jobs),
		format_cell(tail, mean_of(&l->tail), jobs));
	if (l->ratio.n > 0 && strcmp(l->lb, "ecmp") != 0) {
		printf("  %s%7.3f", colour, mean);
		if (l->ratio.n > 1)
			printf("  %.3f to %.3f", mean - half, mean + half);
		fputs(colour[0] != '\0' ? PLAIN : "", stdout);
	}
	putchar('\n');
}

static void print_group(const struct group *g, const char *title, int width)
{
	for (uint32_t i = 0; i < g->n_lines; i++)
		print_line(&g->line[i], i == 0 ? title : "", width, g->jobs);
}

/* hp3, or the balancer with the lowest ratio. NULL: there is no ratio. */
static const struct line *compared_line(const struct group *g)
{
	const struct line *best = NULL;

	for (uint32_t i = 0; i < g->n_lines; i++) {
		const struct line *l = &g->line[i];

		if (l->ratio.n == 0 || strcmp(l->lb, "ecmp") == 0)
			continue;
		if (strcmp(l->lb, "hp3") == 0)
			return l;
		if (best == NULL || mean_of(&l->ratio) < mean_of(&best->ratio))
			best = l;
	}
	return best;
}

static void print_sentence(const struct group *g, const char *title)
{
	const struct line *l = compared_line(g);
	double mean, half;
	int percent;

	if (title != NULL)
		printf("%s: ", title);
	if (l == NULL) {
		puts("no ratio to ECMP: run ecmp and another balancer, as with --lbs ecmp,hp3");
		return;
	}
	mean = mean_of(&l->ratio);
	half = half_of(&l->ratio);
	percent = (int)lround(fabs(mean - 1) * 100);
	if (percent == 0)
		printf("%s is as fast as ECMP: ", l->lb);
	else
		printf("%s is %d %% %s than ECMP: ", l->lb, percent,
			mean > 1 ? "slower" : "faster");
	if (l->ratio.n == 1)
		puts("one seed, which gives no interval (sweep.seeds)");
	else
		printf("mean of %u seeds, 95 %% interval %.2f to %.2f%s\n", l->ratio.n, mean - half,
			mean + half,
			mean - half <= 1 && mean + half >= 1 ? ", which includes 1" : "");
}

void sim_summary_print(const char *out, const struct sim_runs *runs)
{
	struct values *v = sim_alloc(runs->n, sizeof(*v));
	struct group *group = sim_alloc(runs->n, sizeof(*group));
	uint32_t n = 0;
	char title[160];
	int width = (int)strlen("scenario");

	for (uint32_t i = 0; i < runs->n; i++)
		v[i] = read_values(out, &runs->run[i]);
	for (uint32_t i = 0; i < runs->n; i = group[n++].end)
		group[n] = next_group(runs, v, i);
	for (uint32_t i = 0; i < n; i++) {
		title_of(&runs->run[group[i].first], title, sizeof(title));
		width = (int)strlen(title) > width ? (int)strlen(title) : width;
	}
	printf("%-*s  %-16s  %5s  %12s  %12s  %7s  %s\n", width, "scenario", "balancer", "seeds",
		"average", "p99", "to ECMP", "95 % interval");
	for (uint32_t i = 0; i < n; i++) {
		title_of(&runs->run[group[i].first], title, sizeof(title));
		print_group(&group[i], title, width);
	}
	for (uint32_t i = 0; i < n; i++) {
		title_of(&runs->run[group[i].first], title, sizeof(title));
		print_sentence(&group[i], n > 1 ? title : NULL);
		free(group[i].line);
	}
	free(group);
	free(v);
}
