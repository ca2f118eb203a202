/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_ENGINE_QP_SOURCES_H
#define HP3_ENGINE_QP_SOURCES_H
/*
 * Sources of queue-pair events, and what each may change (rule 16). The only such table, used by
 * pass/qp.c; docs/internals/rules-pairing.md has it in words.
 *
 * A flow is found by addresses and remote QPN, and a local process can create a queue pair with any
 * remote QPN. So an event counts for the queue pair whose local QPN it carries. Events of another
 * queue pair do not change a flow that sends or waits for replies. Any local process can forge
 * events of the library's watcher, with any local QPN. So these only choose a path for a queue pair
 * that has sent nothing.
 */
#include "engine/engine.h"

/* State of the flow by its own packets. */
enum hp3_traffic {
	HP3_TRAFFIC_NONE, /* nothing was sent in this epoch */
	HP3_TRAFFIC_RESTS, /* all was acknowledged, or given up, long ago */
	HP3_TRAFFIC_BUSY,
};

enum hp3_up {
	HP3_UP_IGNORE,
	HP3_UP_PLACE, /* search a path; the local QPN is not trusted */
	HP3_UP_PAIR,
	HP3_UP_RELEASE, /* new epoch; held packets are sent in order */
	HP3_UP_DISCARD, /* new epoch; held packets are dropped, as the old queue pair's */
	HP3_UP_NOTE, /* applied once the stream begins anew with the PSN of the event */
};

struct hp3_may {
	uint8_t up; /* enum hp3_up */
	bool down; /* may the event remove the flow? */
};

static const struct hp3_may hp3_may[HP3_QP_SOURCES][HP3_TRAFFIC_BUSY + 1][2] = {
	/* the event's local QPN: another one; the flow's own, as far as is known */
	[HP3_QP_SOURCE_CM] = {[HP3_TRAFFIC_NONE] = {{HP3_UP_PAIR, false}, {HP3_UP_PAIR, false}},
		[HP3_TRAFFIC_RESTS] = {{HP3_UP_RELEASE, false}, {HP3_UP_RELEASE, false}},
		/* cm.c stores it until the stream begins anew */
		[HP3_TRAFFIC_BUSY] = {{HP3_UP_IGNORE, false}, {HP3_UP_RELEASE, false}}},
	[HP3_QP_SOURCE_LIBRARY] =
		{[HP3_TRAFFIC_NONE] = {{HP3_UP_PLACE, false}, {HP3_UP_PLACE, true}},
			[HP3_TRAFFIC_RESTS] = {{HP3_UP_IGNORE, false}, {HP3_UP_IGNORE, false}},
			[HP3_TRAFFIC_BUSY] = {{HP3_UP_IGNORE, false}, {HP3_UP_IGNORE, false}}},
	[HP3_QP_SOURCE_KERNEL] = {[HP3_TRAFFIC_NONE] = {{HP3_UP_PAIR, false}, {HP3_UP_PAIR, true}},
		[HP3_TRAFFIC_RESTS] = {{HP3_UP_RELEASE, false}, {HP3_UP_DISCARD, true}},
		[HP3_TRAFFIC_BUSY] = {{HP3_UP_NOTE, false}, {HP3_UP_DISCARD, true}}},
	/* app/hp3d/verbs passes only events from the owner of a queue pair. */
	[HP3_QP_SOURCE_VERBS] = {[HP3_TRAFFIC_NONE] = {{HP3_UP_PAIR, false}, {HP3_UP_PAIR, true}},
		[HP3_TRAFFIC_RESTS] = {{HP3_UP_RELEASE, false}, {HP3_UP_DISCARD, true}},
		[HP3_TRAFFIC_BUSY] = {{HP3_UP_NOTE, false}, {HP3_UP_DISCARD, true}}},
};

static inline enum hp3_pairing hp3_pairing_of(uint8_t source)
{
	return source == HP3_QP_SOURCE_CM ? HP3_PAIRING_CM : HP3_PAIRING_EVENT;
}

#endif
