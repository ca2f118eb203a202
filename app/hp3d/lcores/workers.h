/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_WORKERS_H
#define HP3D_WORKERS_H
/*
 * This module: lcores that run pipes, from DPDK's start (eal.h) and the ports to the loop of an
 * lcore and its sleep. It calls pipes; its caller handles events.
 *
 * A single worker polls all ports and sends directly. Of several workers, one that has a rail as a
 * whole does the same for that rail. Other rails' ports are shared: each worker polls those it
 * owns. It spreads packets over the workers by a symmetric hash of the two IP addresses, so flows
 * of an address pair stay on one worker. It also sends other workers' packets through its ports.
 * All hand-overs are FIFO rings, so order within a flow is kept. With idle = sleep, an idle worker
 * sleeps, longer each time up to idle_sleep_us, never past its next deadline.
 */
#include "app/hp3d/lcores/worker.h"
#include "config/config.h"

/* Ports must be started; `before` is called after the set-up, before any lcore runs. 0, or -1 after
 * a message on stderr. */
int hp3d_workers_start(const struct hp3_config *cfg, void (*before)(const struct hp3_config *cfg));
/* Reloadable keys take effect on all lcores, between bursts. False: one of them did not answer. */
bool hp3d_workers_reload(const struct hp3_config *cfg);
/* Asks all moved flows to move home, a few records per call. */
void hp3d_workers_home(uint32_t max_flows);

/*
 * Clean stop: moved flows are drained home within stop_drain_ms, and agreements with peers are
 * kept, for their lease at most (rule 35). Then packets still held leave on their old port, and
 * lcores end. `poll` is called meanwhile (control socket, events). Returns how many flows are not
 * at home.
 */
unsigned hp3d_workers_stop(const struct hp3_config *cfg, void (*poll)(int timeout_ms));
/* Frees pipes and queues; ports must be stopped. Returns packet buffers still in use: 0 unless
 * there is a leak. */
unsigned hp3d_workers_free(void);
uint64_t hp3d_workers_tx_drops(void);

#endif
