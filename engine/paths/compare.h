/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Compares ports of an address pair by probes (ppp/compare.h), for an operator. An engine makes one
 * comparison at a time. The next burst of peer probes leaves when all probes of the last burst are
 * answered or lost. Bursts take at most half of the pair's probe budget.
 */
#include "engine/common.h"
#include "ppp/compare.h"

struct hp3_comparing {
	/* earliest time of the next burst; time-out of the current burst (0: no burst) */
	uint64_t next, end;
	/* time when the current burst left; time when the last burst of the comparison ended (0:
	 * not yet) */
	uint64_t sent, ended_at;
	uint32_t pair; /* HP3_NO_PAIR: no comparison yet */
	/* The slot in a probe id is HP3_COMPARE_SLOT for the first probe of a port, and
	 * HP3_COMPARE_SLOT + 1 for the second. */
	uint32_t nonce;
	uint16_t open; /* probes without an answer yet, one bit each */
	struct hp3_compare is;
};

/*
 * The answer to probe `id`, with the arguments of hp3_probe_timed(). False: not a probe of a
 * comparison.
 */
bool hp3_compare_reply(struct hp3_engine *e, uint32_t id, bool ce, uint32_t took_ns, uint64_t now);
void hp3_compare_forget(struct hp3_engine *e, uint32_t pair);
