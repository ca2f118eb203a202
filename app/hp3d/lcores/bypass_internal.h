/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_BYPASS_INTERNAL_H
#define HP3D_BYPASS_INTERNAL_H
/* What the lcore's part (bypass.c) and the control thread's (bypass_start.c) share. */
#include <rte_branch_prediction.h>
#include <rte_common.h>
#include "app/hp3d/lcores/bypass.h"

struct hp3d_bypass {
	/* set before the lcore runs */
	struct hp3_bypass *side[2]; /* by direction: where its packets come in */
	struct hp3_bypass_port *port[2];
	uint64_t owner, stale_ns, back_ns;
	unsigned rail;
	/* the control thread's */
	uint32_t wish __rte_cache_aligned; /* enum hp3d_bypass_wish, atomic */
	/* the lcore's; others read phase and counts */
	enum hp3d_bypass_phase phase __rte_cache_aligned;
	uint32_t hangs, left_behind;
	uint32_t restored, not_kept; /* flows: see struct hp3d_bypass_info */
	bool forbidden;
	uint64_t keepalive_at, stepped, since; /* heartbeat; look at it; begin of the phase */
	uint64_t homing; /* RUNNING: since when moved flows go home; 0: they need not */
	uint64_t back_at; /* QUIET: not before */
	uint64_t emptied; /* QUIET: when something was given up last */
	bool ready; /* QUIET: all is empty, and what the engine knew is being forgotten */
	uint64_t received[2];
	uint64_t late[2]; /* frames that the kernel did not let out: counted so far */
} __rte_cache_aligned;

/* bypass_ports.c: flows begin on the ports that the kernel has kept. */
void hp3d_bypass_restore(struct hp3d_bypass *b, struct hp3d_pipe *p, uint64_t now);

#endif
