/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Builds a page of metrics. A page has families in the order of the table, each with its samples.
 * Its format is OpenMetrics 1.0.0 or Prometheus' text format 0.0.4. The formats differ in the names
 * in TYPE and HELP: OpenMetrics names a counter without _total. They also differ in UNIT, in the
 * type of an info, and in the last line.
 *
 * A family without samples is not on the page. After an allocation fails, hp3d_page_end() returns
 * false.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "app/hp3d/metrics/table.h"
#include "app/hp3d/pipe/tally.h"
#include "app/memory_text.h"

#define HP3D_LABELS_MAX 3u

struct hp3d_page {
	struct hp3_text text; /* complete after hp3d_page_end(); the caller frees text.at */
	bool openmetrics;
	const struct hp3d_metric *metric; /* the current family */
	bool begun; /* the family's TYPE, UNIT and HELP are written */
};

/* The label values of a sample, in the order of the row. */
struct hp3d_labels {
	const char *value[HP3D_LABELS_MAX];
};

/* False: no memory; there is no page to write or to end. */
bool hp3d_page_begin(struct hp3d_page *p, bool openmetrics);
void hp3d_page_family(struct hp3d_page *p, const struct hp3d_metric *m);
void hp3d_page_count(struct hp3d_page *p, struct hp3d_labels labels, uint64_t value);
void hp3d_page_number(struct hp3d_page *p, struct hp3d_labels labels, double value);
void hp3d_page_histogram(
	struct hp3d_page *p, struct hp3d_labels labels, const struct hp3d_histogram *h);
/* n[k]: number of values at most le[k] and above le[k - 1]; n[buckets]: number of values above all
 * bounds. */
void hp3d_page_buckets(struct hp3d_page *p, struct hp3d_labels labels, const double *le,
	const uint64_t *n, unsigned buckets, double sum);
/* True: the page is complete. */
bool hp3d_page_end(struct hp3d_page *p);
