/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * This module runs pipes on lcores: it starts DPDK (eal.h) and the ports, and has the loop and the
 * sleep of an lcore. The module calls pipes, and its caller handles the events of the pipes.
 *
 * A single worker polls all ports and sends directly. With several workers, a worker that has a
 * whole rail polls the ports of that rail and sends directly. The ports of other rails are shared:
 * each worker polls the ports or queues that it owns. A symmetric hash of a packet's two IP
 * addresses selects the worker that gets the packet (spread.h). So all flows of an address pair are
 * on one worker. Each worker also sends packets that other workers have handled, through the ports
 * that it owns. Workers hand over packets in FIFO rings, so order within a flow does not change.
 * With idle = sleep, an idle worker sleeps. Each sleep is longer than the previous one, up to a
 * bound (longest_sleep() in loop.c). No sleep lasts beyond the next deadline of the worker's
 * engines.
 */
#include "app/hp3d/lcores/worker.h"
#include "config/config.h"

/* Ports must be started; `before` is called after the set-up, before any lcore runs. Returns 0, or
 * -1 after a message on stderr. */
int hp3d_workers_start(const struct hp3_config *cfg, void (*before)(const struct hp3_config *cfg));
/* Reloadable keys take effect on all lcores, between bursts. False: an lcore did not answer. */
bool hp3d_workers_reload(const struct hp3_config *cfg);
/* Requests a move to the home port for each moved flow, a few records per call of a worker. */
void hp3d_workers_home(uint32_t max_flows);

/*
 * Clean stop. Inline, moved flows return to their home ports, each behind a drain, for at most
 * stop_drain_ms. In verbs mode, flows keep their EVs. Agreements to spray continue until both hosts
 * have ended them, for their lease at most (rule 35). Then packets that are still held leave on
 * their old port, and the lcores end. Meanwhile, calls `poll` (control socket, events). Returns the
 * number of flows that are not on their home ports; 0 in verbs mode.
 */
unsigned hp3d_workers_stop(const struct hp3_config *cfg, void (*poll)(int timeout_ms));
/* Frees pipes and queues; ports must be stopped. Returns the number of packet buffers still in use,
 * without those of rails with net_af_xdp. The number is 0 unless there is a leak. */
unsigned hp3d_workers_free(void);
uint64_t hp3d_workers_tx_drops(void);
