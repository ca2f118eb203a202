/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* The rows of metrics.def. */
#include <stddef.h>

struct hp3d_page;
struct hp3d_source;

enum hp3d_metric_type {
	HP3D_METRIC_COUNTER,
	HP3D_METRIC_GAUGE,
	HP3D_METRIC_HISTOGRAM,
	HP3D_METRIC_INFO
};

struct hp3d_metric {
	enum hp3d_metric_type type;
	const char *name, *labels, *help;
	void (*read)(struct hp3d_page *page, const struct hp3d_source *from, size_t which);
	size_t which;
};

extern const struct hp3d_metric hp3d_metrics[];
extern const unsigned hp3d_metric_count;

/* The unit at the end of the metric's name: seconds, bytes, or "". */
const char *hp3d_metric_unit(const struct hp3d_metric *m);
/* The suffix of a sample's name: _total of a counter, _info of an info, or "". */
const char *hp3d_metric_suffix(const struct hp3d_metric *m);
const char *hp3d_metric_type_name(enum hp3d_metric_type type);
