/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_ENGINE_TELLERS_H
#define HP3_ENGINE_TELLERS_H
/*
 * Who tells of a queue pair, and what may that do to its flow (rule 16)? The one table of it, used
 * by pass/qp.c; docs/rules.md has it in words.
 *
 * A flow is found by addresses and remote QPN, and a local process can make a queue pair with any
 * remote QPN. So an event counts for the queue pair whose local QPN it bears. Events of another
 * one leave alone a flow that sends or waits for answers. The library's watcher believes what any
 * local process says, local QPNs included: it chooses a path for a queue pair that has sent
 * nothing, and nothing else.
 */
#include "engine/engine.h"

/* What the flow's own packets say. */
enum hp3_traffic {
	HP3_TRAFFIC_NONE, /* nothing was sent in this life of the queue pair */
	HP3_TRAFFIC_RESTS, /* all was acknowledged, or given up, long ago */
	HP3_TRAFFIC_BUSY,
};

enum hp3_up {
	HP3_UP_IGNORE,
	HP3_UP_PLACE, /* a path is chosen; which local QPN it has is not believed */
	HP3_UP_PAIR,
	HP3_UP_RELEASE, /* next life; what is held leaves in order */
	HP3_UP_DISCARD, /* next life; what is held is of the old one */
	HP3_UP_NOTE, /* believed once the stream begins anew with the PSN that it tells */
};

struct hp3_may {
	uint8_t up; /* enum hp3_up */
	bool down; /* the flow is removed */
};

static const struct hp3_may hp3_may[HP3_TELLERS][HP3_TRAFFIC_BUSY + 1][2] = {
	/* of another local queue pair; of the flow's own, as far as is known */
	[HP3_TELLER_CM] = {[HP3_TRAFFIC_NONE] = {{HP3_UP_PAIR, false}, {HP3_UP_PAIR, false}},
		[HP3_TRAFFIC_RESTS] = {{HP3_UP_RELEASE, false}, {HP3_UP_RELEASE, false}},
		/* cm.c has it until the stream begins anew */
		[HP3_TRAFFIC_BUSY] = {{HP3_UP_IGNORE, false}, {HP3_UP_RELEASE, false}}},
	[HP3_TELLER_LIBRARY] = {[HP3_TRAFFIC_NONE] = {{HP3_UP_PLACE, false}, {HP3_UP_PLACE, true}},
		[HP3_TRAFFIC_RESTS] = {{HP3_UP_IGNORE, false}, {HP3_UP_IGNORE, false}},
		[HP3_TRAFFIC_BUSY] = {{HP3_UP_IGNORE, false}, {HP3_UP_IGNORE, false}}},
	[HP3_TELLER_KERNEL] = {[HP3_TRAFFIC_NONE] = {{HP3_UP_PAIR, false}, {HP3_UP_PAIR, true}},
		[HP3_TRAFFIC_RESTS] = {{HP3_UP_RELEASE, false}, {HP3_UP_DISCARD, true}},
		[HP3_TRAFFIC_BUSY] = {{HP3_UP_NOTE, false}, {HP3_UP_DISCARD, true}}},
	/* app/hp3d/beside hands on only what the owner of a queue pair says. */
	[HP3_TELLER_VERBS] = {[HP3_TRAFFIC_NONE] = {{HP3_UP_PAIR, false}, {HP3_UP_PAIR, true}},
		[HP3_TRAFFIC_RESTS] = {{HP3_UP_RELEASE, false}, {HP3_UP_DISCARD, true}},
		[HP3_TRAFFIC_BUSY] = {{HP3_UP_NOTE, false}, {HP3_UP_DISCARD, true}}},
};

static inline enum hp3_pairing hp3_pairing_of(uint8_t teller)
{
	return teller == HP3_TELLER_CM ? HP3_PAIRING_CM : HP3_PAIRING_EVENT;
}

#endif
