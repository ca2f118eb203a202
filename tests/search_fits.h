/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_TESTS_SEARCH_FITS_H
#define HP3_TESTS_SEARCH_FITS_H
/*
 * The invariant of a move's table (rfr/transitions.h) and its search's
 * (engine/moves/search_steps.h): a search probes, or waits to probe again, exactly where answers
 * can be used: in SEARCHING, while traffic continues, or in PROBING, for held packets. In all other
 * states it does nothing.
 */
#include "engine/moves/search_state.h"
#include "rfr/rfr.h"

static inline bool hp3_search_fits(
	enum hp3_search_kind kind, enum hp3_search_state state, enum hp3_rfr_state move)
{
	bool held = kind == HP3_SEARCH_BEHIND_DRAIN || kind == HP3_SEARCH_MESSAGE_START;

	if (move == HP3_RFR_SEARCHING)
		return state != HP3_SEARCH_QUIET && !held;
	if (move == HP3_RFR_PROBING)
		return state == HP3_SEARCH_ASKING && held;
	return state == HP3_SEARCH_QUIET;
}

#endif
