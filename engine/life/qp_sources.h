/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Sources of queue-pair events, and what each source may change (rule 16). The table is used by
 * pass/qp.c; docs/internals/rules-pairing.md has its content in words.
 *
 * The engine finds a flow by addresses and remote QPN, and a local process can create a queue pair
 * with any remote QPN. So an event counts only for the queue pair with the local QPN in the event.
 * Events about other queue pairs do not change a flow that sends or waits for replies. Any local
 * process can forge events of the library's watcher, with any local QPN. So the engine uses these
 * events only to choose a path for a queue pair that has sent nothing.
 */
#include "engine/engine.h"

/* State of the flow, as its own packets show it. */
enum hp3_traffic {
	HP3_TRAFFIC_NONE, /* nothing was sent in this epoch */
	/* no packet for 200 ms and all are acknowledged, or no packet for idle_age_ns */
	HP3_TRAFFIC_RESTS,
	HP3_TRAFFIC_BUSY,
};

enum hp3_up {
	HP3_UP_IGNORE,
	HP3_UP_PLACE, /* search a path; the local QPN is not trusted */
	HP3_UP_PAIR,
	HP3_UP_RELEASE, /* new epoch; held packets are sent in order */
	/* new epoch; held packets, which are of the old queue pair, are dropped */
	HP3_UP_DISCARD,
	HP3_UP_NOTE, /* stored; applied once a new stream begins with the PSN of the event */
};

struct hp3_may {
	uint8_t up; /* enum hp3_up */
	bool down; /* may the event remove the flow? */
};

static const struct hp3_may hp3_may[HP3_QP_SOURCES][HP3_TRAFFIC_BUSY + 1][2] = {
	/* first: the event has another local QPN than the flow, or the flow's local QPN is unknown;
	 * second: the event has the flow's local QPN (is_own() in pass/qp.c) */
	[HP3_QP_SOURCE_CM] = {[HP3_TRAFFIC_NONE] = {{HP3_UP_PAIR, false}, {HP3_UP_PAIR, false}},
		[HP3_TRAFFIC_RESTS] = {{HP3_UP_RELEASE, false}, {HP3_UP_RELEASE, false}},
		/* IGNORE: cm.c stores the event until a new stream begins */
		[HP3_TRAFFIC_BUSY] = {{HP3_UP_IGNORE, false}, {HP3_UP_RELEASE, false}}},
	[HP3_QP_SOURCE_LIBRARY] =
		{[HP3_TRAFFIC_NONE] = {{HP3_UP_PLACE, false}, {HP3_UP_PLACE, true}},
			[HP3_TRAFFIC_RESTS] = {{HP3_UP_IGNORE, false}, {HP3_UP_IGNORE, false}},
			[HP3_TRAFFIC_BUSY] = {{HP3_UP_IGNORE, false}, {HP3_UP_IGNORE, false}}},
	[HP3_QP_SOURCE_KERNEL] = {[HP3_TRAFFIC_NONE] = {{HP3_UP_PAIR, false}, {HP3_UP_PAIR, true}},
		[HP3_TRAFFIC_RESTS] = {{HP3_UP_RELEASE, false}, {HP3_UP_DISCARD, true}},
		[HP3_TRAFFIC_BUSY] = {{HP3_UP_NOTE, false}, {HP3_UP_DISCARD, true}}},
	/* app/hp3d/verbs passes only events from the owner of a queue pair. */
	[HP3_QP_SOURCE_APPLICATION] =
		{[HP3_TRAFFIC_NONE] = {{HP3_UP_PAIR, false}, {HP3_UP_PAIR, true}},
			[HP3_TRAFFIC_RESTS] = {{HP3_UP_RELEASE, false}, {HP3_UP_DISCARD, true}},
			[HP3_TRAFFIC_BUSY] = {{HP3_UP_NOTE, false}, {HP3_UP_DISCARD, true}}},
};

static inline enum hp3_pairing hp3_pairing_of(uint8_t source)
{
	return source == HP3_QP_SOURCE_CM ? HP3_PAIRING_CM : HP3_PAIRING_EVENT;
}
