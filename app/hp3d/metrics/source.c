/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/metrics/source.h"
#include "app/hp3d/metrics/page.h"

bool hp3d_source_read(struct hp3d_page *page, const struct hp3d_source *from)
{
	for (unsigned i = 0; i < hp3d_metric_count; i++) {
		hp3d_page_family(page, &hp3d_metrics[i]);
		hp3d_metrics[i].read(page, from, hp3d_metrics[i].which);
	}
	return hp3d_page_end(page);
}
