/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/metrics/page.h"
#include <inttypes.h>
#include <string.h>

bool hp3d_page_begin(struct hp3d_page *p, bool openmetrics)
{
	*p = (struct hp3d_page){.openmetrics = openmetrics};
	return hp3_text_begin(&p->text);
}

/* Escapes backslash and newline with a backslash; in quotes, and in HELP of OpenMetrics, also the
 * quote. Other bytes that are not printable ASCII become '?', as in base/plain.h. */
static void put_escaped(struct hp3d_page *p, const char *s, bool quotes)
{
	for (; *s != '\0'; s++) {
		if (*s == '\n' || *s == '\\' || (quotes && *s == '"'))
			hp3_text_put(&p->text, "\\");
		hp3_text_put(&p->text, "%c", *s == '\n' ? 'n' : *s < ' ' || *s > '~' ? '?' : *s);
	}
}

static void put_head(struct hp3d_page *p)
{
	const struct hp3d_metric *m = p->metric;
	const char *type = hp3d_metric_type_name(m->type), *unit = hp3d_metric_unit(m);
	const char *behind = p->openmetrics ? "" : hp3d_metric_suffix(m);

	if (m->type == HP3D_METRIC_INFO && !p->openmetrics)
		type = hp3d_metric_type_name(HP3D_METRIC_GAUGE);
	hp3_text_put(&p->text, "# HELP %s%s ", m->name, behind);
	put_escaped(p, m->help, p->openmetrics);
	hp3_text_put(&p->text, "\n# TYPE %s%s %s\n", m->name, behind, type);
	if (p->openmetrics && *unit != '\0')
		hp3_text_put(&p->text, "# UNIT %s %s\n", m->name, unit);
	p->begun = true;
}

/* Writes NAME{LABELS,le="LE"}; le NULL: no such label. */
static void put_name(
	struct hp3d_page *p, const char *behind, const struct hp3d_labels *labels, const char *le)
{
	const char *name = p->metric->labels;
	char open = '{';

	if (!p->begun)
		put_head(p);
	hp3_text_put(&p->text, "%s%s", p->metric->name, behind);
	for (unsigned i = 0; *name != '\0'; i++) {
		size_t n = strcspn(name, ",");

		hp3_text_put(&p->text, "%c%.*s=\"", open, (int)n, name);
		put_escaped(p, labels->value[i], true);
		hp3_text_put(&p->text, "\"");
		open = ',';
		name += n + (name[n] == ',');
	}
	if (le != NULL)
		hp3_text_put(&p->text, "%cle=\"%s\"", open, le);
	hp3_text_put(&p->text, "%s", open == ',' || le != NULL ? "} " : " ");
}

void hp3d_page_family(struct hp3d_page *p, const struct hp3d_metric *m)
{
	p->metric = m;
	p->begun = false;
}

void hp3d_page_count(struct hp3d_page *p, struct hp3d_labels labels, uint64_t value)
{
	put_name(p, hp3d_metric_suffix(p->metric), &labels, NULL);
	hp3_text_put(&p->text, "%" PRIu64 "\n", value);
}

void hp3d_page_number(struct hp3d_page *p, struct hp3d_labels labels, double value)
{
	put_name(p, hp3d_metric_suffix(p->metric), &labels, NULL);
	hp3_text_put(&p->text, "%.15g\n", value);
}

void hp3d_page_buckets(struct hp3d_page *p, struct hp3d_labels labels, const double *le,
	const uint64_t *n, unsigned buckets, double sum)
{
	uint64_t count = 0;
	char text[32];

	for (unsigned k = 0; k <= buckets; k++) {
		count += n[k];
		if (k < buckets)
			snprintf(text, sizeof(text), "%.9g", le[k]);
		put_name(p, "_bucket", &labels, k < buckets ? text : "+Inf");
		hp3_text_put(&p->text, "%" PRIu64 "\n", count);
	}
	put_name(p, "_sum", &labels, NULL);
	hp3_text_put(&p->text, "%.15g\n", sum);
	put_name(p, "_count", &labels, NULL);
	hp3_text_put(&p->text, "%" PRIu64 "\n", count);
}

void hp3d_page_histogram(
	struct hp3d_page *p, struct hp3d_labels labels, const struct hp3d_histogram *h)
{
	double le[HP3D_BUCKETS];

	for (unsigned k = 0; k < HP3D_BUCKETS; k++)
		le[k] = (double)(UINT64_C(1) << k) / 1e6;
	hp3d_page_buckets(p, labels, le, h->bucket, HP3D_BUCKETS, (double)h->sum_ns / 1e9);
}

bool hp3d_page_end(struct hp3d_page *p)
{
	if (p->openmetrics)
		hp3_text_put(&p->text, "# EOF\n");
	return hp3_text_end(&p->text);
}
