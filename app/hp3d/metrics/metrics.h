/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_METRICS_H
#define HP3D_METRICS_H
/*
 * This module: hp3d's metrics over HTTP, in the forms of OpenMetrics 1.0.0 and of Prometheus' text
 * 0.0.4, on a UNIX socket and, if [metrics] listen= says so, a TCP port. metrics.def has every
 * metric; a page (page.h) is written from it by readers (source.h); server.h answers with it. The
 * module calls lcores and control for single counters alone; nobody but main calls it.
 *
 * A thread of its own does all of it. It only reads, and what it reads are single counters that
 * others write: it asks no lcore for anything, takes no lock that a packet could wait for, and
 * goes on when lcores or the control thread hang, which is when it is needed.
 */
#include "config/config.h"

/* Ports and workers must run; `cfg` must outlive hp3d_metrics_stop(). 0, or a negative errno after
 * a message on stderr that names the fix. */
int hp3d_metrics_start(const struct hp3_config *cfg);
/* Before workers are freed. Harmless if the start failed, or was never called. */
void hp3d_metrics_stop(void);

/* The control thread is alive: to be called each time that it comes round. */
void hp3d_metrics_heartbeat(void);

#endif
