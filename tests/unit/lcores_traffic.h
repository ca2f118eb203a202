/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Two workers on a rail of rings, and packets of flows: WRITEs that leave, ACKs that arrive. The
 * addresses of a flow determine which worker handles it. The test acts as the NIC.
 */
#include "app/hp3d/lcores/internal.h"
#include "bench/ring_rail.h"

#define LCORES_FLOWS   32u
#define LCORES_EACH    48u /* packets of a flow in each direction */
#define LCORES_PATIENT 20000000000ull /* time limit, far above that of a busy machine */

extern struct hp3_config lcores_cfg;

/* cmocka group fixtures. lcores_stop() also works after a test has failed half-way: it makes all
 * lcores return. */
int lcores_start(void **state);
int lcores_stop(void **state);

/* Makes the workers. The workers share the rail or, if `whole`, one worker has all of it. The
 * engines have all flows. No lcore runs yet. */
void lcores_begin(struct ring_rail *r, const char *name, unsigned queues, bool whole);

/* Number of the worker that handles the flow. */
unsigned lcores_owner_of(uint32_t flow);
/* Sends packet n of every flow, in a new order of flows each time. `aside`: the NIC puts all
 * packets into one queue. */
void lcores_feed(struct ring_rail *r, enum hp3_dir dir, uint32_t n, bool aside);
/* Takes the packets that have left in a direction. Checks that each flow's packets are in order;
 * next[] counts them by flow. */
void lcores_collect(struct ring_rail *r, enum hp3_dir dir, uint32_t next[LCORES_FLOWS]);
