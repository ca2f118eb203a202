/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* State of the newest closed monitoring cycle of a path, from the monitor's fields. */
#include "ppp/monitor.h"

enum path_state { PATH_SILENT, PATH_CLEAN, PATH_CONGESTED, PATH_SEVERE };

/*
 * Closes the cycles that have ended. SEVERE: the newest cycle is congested, and so are the
 * congestion_tolerance - 1 cycles before it, not counting silent cycles.
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
