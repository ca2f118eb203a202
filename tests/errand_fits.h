/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_TESTS_ERRAND_FITS_H
#define HP3_TESTS_ERRAND_FITS_H
/*
 * The invariant of a move's table (rfr/transitions.h) and its errand's
 * (engine/moves/errand_steps.h): an errand asks, or waits to ask again, exactly where answers can
 * be used: while traffic flows on in SEEKING, or for what is held in PROBING. Everywhere else it is
 * quiet.
 */
#include "engine/moves/errand.h"
#include "rfr/rfr.h"

static inline bool hp3_errand_fits(
	enum hp3_errand_kind kind, enum hp3_errand_state state, enum hp3_rfr_state move)
{
	bool held = kind == HP3_ERRAND_BEHIND_DRAIN || kind == HP3_ERRAND_MESSAGE_START;

	if (move == HP3_RFR_SEEKING)
		return state != HP3_ERRAND_QUIET && !held;
	if (move == HP3_RFR_PROBING)
		return state == HP3_ERRAND_ASKING && held;
	return state == HP3_ERRAND_QUIET;
}

#endif
