/* SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>
#include "probes/stats.h"

const struct hp3_probe_stat_info hp3_probe_stat_info[] = {
#define X(field, help) {#field, help, (uint16_t)offsetof(struct hp3_probe_stats, field)},
	HP3_PROBE_STATS(X)
#undef X
};
const unsigned hp3_probe_stat_count = sizeof(hp3_probe_stat_info) / sizeof(hp3_probe_stat_info[0]);
