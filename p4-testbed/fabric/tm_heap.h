/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_TESTBED_TM_HEAP_H
#define HP3_TESTBED_TM_HEAP_H
/* Events of the traffic manager in order of time, ties in the order in which they were added. */
#include "p4-testbed/fabric/tm.h"

enum hp3_tm_kind {
	HP3_TM_DEQUEUE, /* the serialiser is free */
	HP3_TM_ARRIVE, /* the first frame on a wire is at the far end; what = which wire */
	HP3_TM_PAUSE, /* a pause message reached the lane's sender; what = priority */
	HP3_TM_RESUME,
};

void hp3_tm_at(struct hp3_tm *tm, uint64_t at, uint32_t lane, enum hp3_tm_kind kind, uint32_t what);
bool hp3_tm_pop(struct hp3_tm *tm, uint64_t until, struct hp3_tm_event *e);

#endif
