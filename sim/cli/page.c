/* SPDX-License-Identifier: BSD-3-Clause */
/* report.html: one page that needs nothing beside it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "sim/cli/report.h"
#include "sim/lb/lb.h"

static const char head[] =
	"<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>hp3-sim</title>\n<style>"
	"body{font:14px sans-serif;margin:2em;max-width:100em}"
	"table{border-collapse:collapse;margin:1em 0}"
	"td,th{padding:2px 8px;text-align:right;border-bottom:1px solid #ddd;white-space:nowrap;"
	"font-variant-numeric:tabular-nums}"
	"td:first-child,th:first-child{text-align:left}"
	"th{vertical-align:bottom;border-bottom:1px solid #888}"
	".hp3 td,td.hp3{background:#eef4fb}.good{color:#060}.bad{color:#a00}"
	"dt{font-weight:bold;float:left;clear:left;width:9em}dd{margin-left:10em}"
	"svg{max-width:100%;height:auto}</style>\n<h1>hp3-sim</h1>\n";

static const char explained[] =
	"<h2>Columns</h2><dl>"
	"<dt>slowdown<dd>completion time of a flow over what it takes alone; mean and 99th "
	"percentile over all flows; below, and from, one bandwidth-delay product"
	"<dt>JCT<dd>completion time of a round of a job"
	"<dt>to ECMP<dd>slowdown (of jobs: JCT) over that of ECMP on the same traffic; &le;: upper "
	"end of "
	"the 95 % interval, from two seeds on; below 1 is better"
	"<dt>ECN %<dd>share of data packets that were marked"
	"<dt>imbalance<dd>(most - least) / mean of bytes per uplink of a leaf and 100 us"
	"<dt>reordered<dd>packets that arrive at the RNIC behind a later one of their flow"
	"<dt>resent<dd>retransmitted data"
	"<dt>pauses<dd>PFC frames<dt>moves<dd>changes of path after the first choice"
	"</dl><p>Values are means over the seeds. All definitions: docs/sim.md.</p>\n";

/* Rows from `i` on that are of one scenario and load. */
static uint32_t group(const struct sim_rows *rows, uint32_t i)
{
	const struct sim_row *first = &rows->row[i];
	uint32_t n = 1;

	while (i + n < rows->n && first[n].load == first->load &&
		strcmp(first[n].scenario, first->scenario) == 0)
		n++;
	return n;
}

static void title(const struct sim_row *r, char *text, size_t size)
{
	if (r->poisson)
		snprintf(text, size, "%s, %u %%", r->scenario, r->load);
	else
		snprintf(text, size, "%s", r->scenario);
}

static const char *class_of(const char *lb)
{
	return strcmp(lb, "hp3") == 0 ? " class=\"hp3\"" : "";
}

static void ratio_cell(FILE *f, const struct sim_mean *m, const char *lb)
{
	if (m == NULL || m->ratio <= 0)
		fprintf(f, "<td%s>", class_of(lb));
	else
		fprintf(f, "<td%s><span class=\"%s\">%.3f</span>", class_of(lb),
			m->ratio > 1.01   ? "bad"
			: m->ratio < 0.99 ? "good"
					  : "",
			m->ratio);
}

static const struct sim_mean *mean_of(const struct sim_mean *m, uint32_t n, const char *lb)
{
	for (uint32_t i = 0; i < n; i++)
		if (strcmp(m[i].lb, lb) == 0)
			return &m[i];
	return NULL;
}

static bool is_there(const struct sim_rows *rows, const char *lb)
{
	for (uint32_t i = 0; i < rows->n; i++)
		if (strcmp(rows->row[i].lb, lb) == 0)
			return true;
	return false;
}

/* All at a glance: ratios to ECMP. */
static void overview(FILE *f, const struct sim_rows *rows)
{
	static struct sim_mean m[SIM_MEANS_MAX];
	char text[96];
	uint32_t n, k;

	fputs("<h2>Ratio to ECMP</h2><p>Average slowdown, of jobs mean completion time, over that "
	      "of ECMP on the same traffic; below 1 is better.</p>\n<table><tr><th>scenario",
		f);
	for (unsigned b = 0; sim_lb_list(b) != NULL; b++)
		if (is_there(rows, sim_lb_list(b)->name))
			fprintf(f, "<th>%s", sim_lb_list(b)->name);
	fputs("</tr>\n", f);
	for (uint32_t i = 0; i < rows->n; i += n) {
		n = group(rows, i);
		k = sim_means(&rows->row[i], n, m);
		title(&rows->row[i], text, sizeof(text));
		fprintf(f, "<tr><td><a href=\"#%s-%u\">%s</a>", rows->row[i].scenario,
			rows->row[i].load, text);
		for (unsigned b = 0; sim_lb_list(b) != NULL; b++)
			if (is_there(rows, sim_lb_list(b)->name))
				ratio_cell(f, mean_of(m, k, sim_lb_list(b)->name),
					sim_lb_list(b)->name);
		fputs("</tr>\n", f);
	}
	fputs("</table>\n", f);
}

static void cell(FILE *f, double value, int digits)
{
	if (value > 0)
		fprintf(f, "<td>%.*f", digits, value);
	else
		fputs("<td>&ndash;", f);
}

static void table(FILE *f, const struct sim_mean *m, uint32_t n)
{
	bool jobs = n > 0 && m[0].mean.jct_us > 0;

	fprintf(f,
		"<table><tr><th>balancer<th>seeds<th>%s<th>%s<th>&lt; BDP<br>avg<th>p99<th>&ge; "
		"BDP<br>avg<th>p99<th>to ECMP<th>&le;<th>goodput<br>Gb/s<th>ECN<br>%%"
		"<th>imbalance<th>reordered<th>resent<br>MB<th>pauses<th>moves<th>probes<br>KB"
		"</tr>\n",
		jobs ? "JCT us<br>avg" : "slowdown<br>avg", jobs ? "JCT us<br>p99" : "p99");
	for (uint32_t i = 0; i < n; i++) {
		const struct sim_row *r = &m[i].mean;

		fprintf(f, "<tr%s><td>%s<td>%u", class_of(m[i].lb), m[i].lb, m[i].n);
		cell(f, jobs ? r->jct_us : r->avg, jobs ? 1 : 3);
		cell(f, jobs ? r->jct_p99_us : r->p99, jobs ? 1 : 3);
		cell(f, r->lt_avg, 3);
		cell(f, r->lt_p99, 3);
		cell(f, r->ge_avg, 3);
		cell(f, r->ge_p99, 3);
		cell(f, m[i].ratio, 3);
		cell(f, m[i].ratio_high, 3);
		fprintf(f,
			"<td>%.1f<td>%.2f<td>%.3f<td>%.0f<td>%.2f<td>%.0f<td>%.0f<td>%.0f</tr>\n",
			r->goodput, r->ecn_share * 100, r->imbalance, r->reordered,
			r->again_bytes / 1e6, r->pauses, r->moves, r->probe_bytes / 1e3);
	}
	fputs("</table>\n", f);
}

static void figure(FILE *f, const char *dir, const char *name)
{
	char path[1024], line[4096];
	bool inside = false;
	FILE *svg;

	snprintf(path, sizeof(path), "%s/%s.svg", dir, name);
	svg = fopen(path, "r");
	if (svg == NULL)
		return;
	while (fgets(line, sizeof(line), svg) != NULL) {
		inside |= strncmp(line, "<svg", 4) == 0; /* without the XML head */
		if (inside)
			fputs(line, f);
	}
	fclose(svg);
}

/* Builds that made the results. */
static void builds(FILE *f, const struct sim_rows *rows)
{
	fprintf(f, "<p>%u runs; commit", rows->n);
	for (uint32_t i = 0; i < rows->n; i++) {
		uint32_t k = 0;

		while (strcmp(rows->row[k].commit, rows->row[i].commit) != 0)
			k++;
		if (k == i)
			fprintf(f, " %s", rows->row[i].commit);
	}
	fputs(".</p>\n", f);
}

int sim_page(const char *dir, const struct sim_rows *rows)
{
	static struct sim_mean m[SIM_MEANS_MAX];
	FILE *f = sim_report_create(dir, "report.html");
	int ret = 0;
	uint32_t n;

	if (f == NULL)
		return -EIO;
	fputs(head, f);
	builds(f, rows);
	overview(f, rows);
	for (uint32_t i = 0; i < rows->n; i += n) {
		const struct sim_row *first = &rows->row[i];
		char name[160], text[96];
		uint32_t k;

		n = group(rows, i);
		k = sim_means(first, n, m);
		snprintf(name, sizeof(name), "%s-%u", first->scenario, first->load);
		title(first, text, sizeof(text));
		fprintf(f, "<h2 id=\"%s\">%s</h2>\n", name, text);
		table(f, m, k);
		if (ret == 0)
			ret = sim_figure(dir, name, text, m, k);
		if (ret == 0)
			figure(f, dir, name);
	}
	fputs(explained, f);
	fputs("</html>\n", f);
	return fclose(f) == 0 ? 0 : -EIO;
}
