/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* State of a fail-open rail, shared by the lcore (bypass.c) and the control thread
 * (bypass_start.c). */
#include <rte_branch_prediction.h>
#include <rte_common.h>
#include "app/hp3d/lcores/bypass.h"

struct hp3d_bypass {
	/* set before the lcore runs */
	struct hp3_bypass *side[2]; /* by direction: port where packets of that direction arrive */
	struct hp3_bypass_port *port[2];
	uint64_t owner, stale_ns;
	unsigned rail;
	/* written by the control thread */
	uint32_t wish __rte_cache_aligned; /* enum hp3d_bypass_wish, atomic */
	/* written by the lcore; other threads read phase and counts */
	enum hp3d_bypass_phase phase __rte_cache_aligned;
	uint32_t hangs, left_behind;
	uint32_t restored, not_kept; /* flows: see struct hp3d_bypass_info */
	bool forbidden;
	uint64_t heartbeat_at, stepped,
		since; /* latest heartbeat; latest step; begin of the phase */
	uint64_t homing; /* RUNNING: when moved flows began to return home; 0: they do not return */
	uint64_t back_at; /* QUIET: do not leave this phase before this time */
	uint64_t emptied; /* QUIET: when frames were last dropped */
	uint64_t fell_at; /* when the rail last went direct because of a hang */
	bool ready; /* QUIET: the rings are empty, and the engine is being reset */
	uint64_t received[2];
	uint64_t late[2]; /* frames that the kernel dropped (hp3_bypass_late()), counted so far */
} __rte_cache_aligned;

/* bypass_ports.c: sets the engine's flows to the EVs that the kernel has stored. */
void hp3d_bypass_restore(struct hp3d_bypass *b, struct hp3d_pipe *p, uint64_t now);
