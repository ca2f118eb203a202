/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_WORKERS_H
#define HP3D_WORKERS_H
/*
 * This module: lcores that run pipes, from DPDK's start (eal.h) and the ports to what an lcore does
 * all day and how it sleeps. It calls pipes, and leaves to its caller what becomes of events.
 *
 * The data lcores. One worker polls all ports and sends directly; so does, of several, the one that
 * has a rail as a whole. They share the ports of other rails: each polls those it owns, spreads
 * packets over the workers by a symmetric hash of the two IP addresses (so that flows of an address
 * pair stay on one worker) and sends for the others what leaves through its ports; all hand-overs
 * are FIFO rings, so order within a flow is kept. With idle = sleep a worker that finds nothing
 * sleeps, longer and longer up to idle_sleep_us, never past its next deadline.
 */
#include "app/hp3d/lcores/worker.h"
#include "config/config.h"

/* Ports must be started; `before` is called when all is made and no lcore runs yet. 0, or -1 after
 * a message on stderr. */
int hp3d_workers_start(const struct hp3_config *cfg, void (*before)(const struct hp3_config *cfg));
/* Reloadable keys take effect on all lcores, between bursts. False: one of them did not answer. */
bool hp3d_workers_reload(const struct hp3_config *cfg);
/* Asks all flows that are elsewhere to move home, a few records to a call. */
void hp3d_workers_home(uint32_t max_flows);

/*
 * Clean stop: moved flows are drained home within stop_drain_ms, and what peers were promised is
 * kept, for its lease at most (rule 35); what is still held then leaves on its old port, lcores
 * end. `poll` is called meanwhile (control socket, events). Returns how many flows could not be
 * brought home.
 */
unsigned hp3d_workers_stop(const struct hp3_config *cfg, void (*poll)(int timeout_ms));
/* Frees pipes and queues; ports must be stopped. Returns packet buffers still in use: 0 unless
 * there is a leak. */
unsigned hp3d_workers_free(void);
uint64_t hp3d_workers_tx_drops(void);

#endif
