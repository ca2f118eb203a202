/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_SERVICE_H
#define HP3D_SERVICE_H
/*
 * This module makes hp3d a service of the host. It notifies the service manager (sd_notify(3), if
 * $NOTIFY_SOCKET is set) when packets pass, when it reloads and when it stops. With a watchdog
 * ($WATCHDOG_USEC), hp3d also reports that it works. The report means: the main thread runs, and
 * every lcore made a round of its loop within half of the watchdog's time. This module calls the
 * lcores' functions for the times of their latest rounds.
 *
 * Main thread only.
 */
#include "config/config.h"

/* Call it when the lcores run. `keep`: the capabilities to keep, from
 * hp3d_capabilities_needed(). */
void hp3d_service_start(const struct hp3_config *cfg, uint64_t keep);

/*
 * Call it again and again, also while stopping. Once each lcore has made a round, it drops
 * capabilities (capabilities.h), reports the service as ready, and prints one line on stderr.
 */
void hp3d_service_pulse(void);

/* True: the service is ready, and the process's privileges do not change any more. */
bool hp3d_service_is_ready(void);

void hp3d_service_reloading(void);
void hp3d_service_reloaded(void);
void hp3d_service_stopping(void);

#endif
