/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/metrics/table.h"
#include <string.h>
#include "app/hp3d/verbs/verbs_mode.h"
#include "app/hp3d/ud/ud.h"
#include "app/hp3d/metrics/source.h"
#include "app/hp3d/pipe/agent.h"
#include "app/hp3d/pipe/tally.h"
#include "base/names.h"

const struct hp3d_metric hp3d_metrics[] = {
#define METRIC(type, name, labels, reader, which, help)                                            \
	{HP3D_METRIC_##type, #name, labels, help, hp3d_read_##reader, which},
#include "app/hp3d/metrics/metrics.def"
#undef METRIC
};

const unsigned hp3d_metric_count = sizeof(hp3d_metrics) / sizeof(hp3d_metrics[0]);

const char *hp3d_metric_unit(const struct hp3d_metric *m)
{
	static const char *const units[] = {"seconds", "bytes"};
	const char *end = strrchr(m->name, '_') + 1;

	for (unsigned i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(end, units[i]) == 0)
			return units[i];
	return "";
}

const char *hp3d_metric_suffix(const struct hp3d_metric *m)
{
	if (m->type == HP3D_METRIC_COUNTER)
		return "_total";
	return m->type == HP3D_METRIC_INFO ? "_info" : "";
}

const char *hp3d_metric_type_name(enum hp3d_metric_type type)
{
	static const char *const names[] = {[HP3D_METRIC_COUNTER] = "counter",
		[HP3D_METRIC_GAUGE] = "gauge",
		[HP3D_METRIC_HISTOGRAM] = "histogram",
		[HP3D_METRIC_INFO] = "info"};

	return HP3_NAME(names, type);
}
