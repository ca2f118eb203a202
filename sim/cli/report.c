/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <jansson.h>
#include "sim/cli/cli.h"
#include "sim/cli/report.h"
#include "sim/core/memory.h"
#include "sim/lb/lb.h"

static double number(const json_t *j, const char *key)
{
	return json_number_value(json_object_get(j, key));
}

static bool read_row(const char *dir, const char *file, struct sim_row *r)
{
	char path[1024], *dash;
	const json_t *d, *all, *lt, *ge, *jobs;
	const char *name, *kind;
	json_t *j;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	j = json_load_file(path, 0, NULL);
	name = json_string_value(json_object_get(j, "name"));
	d = json_object_get(j, "slowdown");
	if (name == NULL || d == NULL) {
		json_decref(j);
		return false;
	}
	all = json_object_get(d, "overall");
	lt = json_object_get(d, "lt_bdp");
	ge = json_object_get(d, "ge_bdp");
	jobs = json_object_get(j, "jobs");
	*r = (struct sim_row){.load = (uint32_t)number(j, "load_percent"),
		.seed = (uint32_t)number(j, "seed"),
		.avg = number(all, "avg"),
		.p50 = number(all, "p50"),
		.p95 = number(all, "p95"),
		.p99 = number(all, "p99"),
		.p999 = number(all, "p999"),
		.lt_avg = number(lt, "avg"),
		.lt_p99 = number(lt, "p99"),
		.ge_avg = number(ge, "avg"),
		.ge_p99 = number(ge, "p99"),
		.jct_us = number(jobs, "jct_avg_us"),
		.jct_p99_us = number(jobs, "jct_p99_us"),
		.bus_gbps = number(jobs, "bus_gbps"),
		.goodput = number(j, "goodput_gbps"),
		.ecn_share = number(j, "ecn_share"),
		.imbalance = number(j, "uplink_imbalance"),
		.reordered = number(j, "reordered"),
		.again_bytes = number(j, "retransmitted_bytes"),
		.pauses = number(j, "pfc_pauses"),
		.moves = number(j, "moves"),
		.probe_bytes = number(j, "probe_bytes"),
		.cpu_s = number(j, "cpu_s"),
		.hops = number(j, "hops"),
		.finished = number(j, "finished")};
	snprintf(r->lb, sizeof(r->lb), "%s", json_string_value(json_object_get(j, "lb")));
	snprintf(r->commit, sizeof(r->commit), "%s",
		json_string_value(json_object_get(j, "commit")));
	kind = json_string_value(json_object_get(json_object_get(j, "settings"), "traffic.kind"));
	r->poisson = kind != NULL && strcmp(kind, "poisson") == 0;
	snprintf(path, sizeof(path), "-%s-%u-", r->lb, r->load);
	dash = strstr(name, path);
	snprintf(r->scenario, sizeof(r->scenario), "%.*s",
		(int)(dash != NULL ? (size_t)(dash - name) : strlen(name)), name);
	json_decref(j);
	return true;
}

/* Where `hp3-sim list` has the balancer. */
static unsigned place(const char *lb)
{
	unsigned i = 0;

	while (sim_lb_list(i) != NULL && strcmp(sim_lb_list(i)->name, lb) != 0)
		i++;
	return i;
}

static int by_group(const void *x, const void *y)
{
	const struct sim_row *a = x, *b = y;
	int c = strcmp(a->scenario, b->scenario);

	if (c == 0 && a->load != b->load)
		c = a->load < b->load ? -1 : 1;
	if (c == 0)
		c = (int)place(a->lb) - (int)place(b->lb);
	return c != 0 ? c : (a->seed > b->seed) - (a->seed < b->seed);
}

static int read_rows(const char *dir, struct sim_rows *rows)
{
	DIR *d = opendir(dir);
	struct dirent *e;

	if (d == NULL) {
		fprintf(stderr, "hp3-sim: %s: %s\n", dir, strerror(errno));
		return -errno;
	}
	while ((e = readdir(d)) != NULL) {
		size_t len = strlen(e->d_name);

		if (len < 5 || strcmp(e->d_name + len - 5, ".json") != 0)
			continue;
		rows->row = sim_realloc(rows->row, (rows->n + 1) * sizeof(*rows->row));
		if (read_row(dir, e->d_name, &rows->row[rows->n]))
			rows->n++;
	}
	closedir(d);
	if (rows->n > 0)
		qsort(rows->row, rows->n, sizeof(*rows->row), by_group);
	return 0;
}

FILE *sim_report_create(const char *dir, const char *name)
{
	char path[1024];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	if (f == NULL)
		fprintf(stderr, "hp3-sim: %s: %s\n", path, strerror(errno));
	return f;
}

static int write_csv(const char *dir, const struct sim_rows *rows)
{
	FILE *f = sim_report_create(dir, "results.csv");

	if (f == NULL)
		return -EIO;
	fputs("scenario,lb,load_percent,seed,avg,p50,p95,p99,p999,lt_bdp_avg,lt_bdp_p99,ge_bdp_avg,"
	      "ge_bdp_p99,jct_avg_us,jct_p99_us,bus_gbps,goodput_gbps,ecn_share,uplink_imbalance,"
	      "reordered,retransmitted_bytes,pfc_pauses,moves,probe_bytes,cpu_s,hops,finished\n",
		f);
	for (uint32_t i = 0; i < rows->n; i++) {
		const struct sim_row *r = &rows->row[i];

		fprintf(f, "%s,%s,%u,%u,%.4f,%.4f,%.4f,%.4f,%.4f,%.4f,%.4f,%.4f,%.4f", r->scenario,
			r->lb, r->load, r->seed, r->avg, r->p50, r->p95, r->p99, r->p999, r->lt_avg,
			r->lt_p99, r->ge_avg, r->ge_p99);
		fprintf(f,
			",%.2f,%.2f,%.3f,%.3f,%.5f,%.4f,%.0f,%.0f,%.0f,%.0f,%.0f,%.2f,%.0f,%.0f\n",
			r->jct_us, r->jct_p99_us, r->bus_gbps, r->goodput, r->ecn_share,
			r->imbalance, r->reordered, r->again_bytes, r->pauses, r->moves,
			r->probe_bytes, r->cpu_s, r->hops, r->finished);
	}
	return fclose(f) == 0 ? 0 : -EIO;
}

int sim_report(const char *dir)
{
	struct sim_rows rows = {0};
	int ret = read_rows(dir, &rows);

	if (ret == 0 && rows.n == 0) {
		fprintf(stderr, "hp3-sim: %s: no results of `hp3-sim run` in there\n", dir);
		ret = -ENOENT;
	}
	if (ret == 0)
		ret = write_csv(dir, &rows);
	if (ret == 0)
		ret = sim_page(dir, &rows);
	if (ret == 0)
		fprintf(stderr, "hp3-sim: %s/report.html, %s/results.csv\n", dir, dir);
	free(rows.row);
	return ret;
}

int sim_report_main(int argc, char **argv)
{
	if (argc != 2)
		return sim_usage("report needs the folder that `hp3-sim run` wrote");
	return sim_report(argv[1]) == 0 ? 0 : 1;
}
