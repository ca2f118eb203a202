/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * An invariant over the states of a move (rfr/transitions.h) and of its path search
 * (engine/search/search_steps.h). A search is active (it probes, or waits to probe again) exactly
 * if the move can use answers: in SEARCHING, while traffic continues; or in PROBING, while packets
 * are held. In all other states of the move, the search is inactive.
 */
#include "engine/search/search_state.h"
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
