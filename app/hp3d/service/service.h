/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_SERVICE_H
#define HP3D_SERVICE_H
/*
 * This module: hp3d as a service of the host. It notifies the service manager (sd_notify(3), if
 * $NOTIFY_SOCKET is set) when packets pass, when it reloads and when it stops. With a watchdog
 * ($WATCHDOG_USEC), it also reports that it is alive: the main thread runs, and every lcore made a
 * round of its loop within half of that time. It calls the lcores for the times of their latest
 * rounds.
 *
 * Main thread only.
 */
#include "config/config.h"

/* The lcores run from now on. Capabilities to keep: hp3d_capabilities_needed(). */
void hp3d_service_start(const struct hp3_config *cfg, uint64_t keep);

/*
 * Call it again and again, also while stopping. Once each lcore has made a round, it drops
 * capabilities (capabilities.h), reports the service as ready, and prints one line on stderr.
 */
void hp3d_service_pulse(void);

/* The service is ready: from then on, the process's privileges do not change. */
bool hp3d_service_is_ready(void);

void hp3d_service_reloading(void);
void hp3d_service_reloaded(void);
void hp3d_service_stopping(void);

#endif
