/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_SERVICE_H
#define HP3D_SERVICE_H
/*
 * This module: hp3d as a service of the host. It tells the service manager (sd_notify(3), by
 * $NOTIFY_SOCKET; without one nothing is told) when packets pass, that it reloads or stops, and,
 * with a watchdog ($WATCHDOG_USEC), that it is alive: the main thread calls, and every lcore made a
 * round of its loop within half of that time. It calls the lcores, to ask for their latest rounds.
 *
 * Main thread only.
 */
#include "config/config.h"

/* The lcores run from now on. Capabilities to keep: hp3d_capabilities_needed(). */
void hp3d_service_start(const struct hp3_config *cfg, uint64_t keep);

/*
 * To be called again and again, also while it stops. The first time that each lcore was seen to
 * make a round, capabilities are dropped (capabilities.h), the service is ready, and one line on
 * stderr says so.
 */
void hp3d_service_pulse(void);

/* Since then: nothing changes what this process may any more. */
bool hp3d_service_is_ready(void);

void hp3d_service_reloading(void);
void hp3d_service_reloaded(void);
void hp3d_service_stopping(void);

#endif
