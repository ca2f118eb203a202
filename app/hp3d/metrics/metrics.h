/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * This module serves hp3d's metrics over HTTP, in the formats OpenMetrics 1.0.0 and Prometheus text
 * 0.0.4. It listens on a UNIX socket ([metrics] socket) and a TCP port ([metrics] listen).
 * metrics.def lists the metrics. Readers (source.h) write a page (page.h) with all metrics, and
 * server.h serves the page. Only main calls this module.
 *
 * The module runs in its own thread. The thread only reads single counters of lcores and of the
 * control thread. The thread waits for no lcore, and takes no lock that a packet could wait for. It
 * continues when lcores or the control thread hang.
 */
#include "config/config.h"

/* Ports and workers must run; `cfg` must outlive hp3d_metrics_stop(). Returns 0, or a negative
 * errno after a message on stderr that names the fix. */
int hp3d_metrics_start(const struct hp3_config *cfg);
/* Call it before workers are freed. Does nothing if the start failed or was never called. */
void hp3d_metrics_stop(void);

/* The control thread calls it in each iteration of its loop. */
void hp3d_metrics_heartbeat(void);
