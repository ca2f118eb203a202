/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_TEST_MONITOR_STATE_H
#define HP3_TEST_MONITOR_STATE_H
/* State of the newest closed cycle of a path, from the monitor's fields. */
#include "ppp/monitor.h"

enum path_state { PATH_SILENT, PATH_CLEAN, PATH_CONGESTED, PATH_SEVERE };

/*
 * Closes the cycles that are over. SEVERE: congested, and so were the congestion_tolerance - 1
 * before it that were not silent.
 */
static inline enum path_state path_state(
	struct hp3_monitor *m, const struct hp3_monitor_params *p, uint64_t now)
{
	if (now >= m->cycle_end)
		hp3_monitor_close(m, p, now);
	if (m->silent != 0 || m->history == 0)
		return PATH_SILENT;
	if (m->run == 0)
		return PATH_CLEAN;
	return m->run >= p->congestion_tolerance ? PATH_SEVERE : PATH_CONGESTED;
}

#endif
