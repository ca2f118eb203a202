/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_LCORES_TRAFFIC_H
#define TEST_LCORES_TRAFFIC_H
/*
 * Two workers on a rail of rings, and packets of flows whose addresses belong to one or the other:
 * WRITEs that leave, ACKs that arrive. The test acts as the NIC.
 */
#include "app/hp3d/lcores/internal.h"
#include "bench/ring_rail.h"

#define LCORES_FLOWS   32u
#define LCORES_EACH    48u /* packets of a flow in each direction */
#define LCORES_PATIENT 20000000000ull /* time limit, far above that of a busy machine */

extern struct hp3_config lcores_cfg;

/* Of a group of tests; stop also where one has failed half-way, with all lcores told to return. */
int lcores_start(void **state);
int lcores_stop(void **state);

/* The workers are made, the rail is theirs, or as a whole that of one; all flows are known; nothing
 * runs yet. */
void lcores_begin(struct ring_rail *r, const char *name, unsigned queues, bool whole);

/* The worker of the flow's addresses, or of the whole rail. */
unsigned lcores_owner_of(uint32_t flow);
/* Packet n of every flow, in another order each time; `aside`: the NIC puts all into one queue. */
void lcores_feed(struct ring_rail *r, enum hp3_dir dir, uint32_t n, bool aside);
/* Takes what has left in a direction; every flow's packets in order, next[] counts them. */
void lcores_collect(struct ring_rail *r, enum hp3_dir dir, uint32_t next[LCORES_FLOWS]);

#endif
