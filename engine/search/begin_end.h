/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * How a path search (search_state.h) begins, goes on and ends. The module moves also uses these
 * functions: a command begins a search without probes, and the end of a move ends its search.
 *
 * Invariant: hp3_pair.nmoves is the number of the address pair's searches for which
 * hp3_search_is_own() is true. Only hp3_search_prepare() and hp3_search_release() change it.
 */
#include "engine/common.h"

/* begin.c */
/*
 * Takes the slot for a new search; NULL: all slots are in use. If the outcome of an earlier move
 * (moves/outcome.c) has not been reported yet, reports it now.
 */
struct hp3_move *hp3_search_prepare(struct hp3_turn *t, uint32_t flow, enum hp3_search_kind kind);
/*
 * Carries out a step of the search (search_steps.h) and the resulting input of the move. A STAY
 * before the first probe frees the slot.
 */
void hp3_search_input(struct hp3_turn *t, struct hp3_move *m, enum hp3_search_input input);

/* end.c */
/* The step for `input` to a search of this kind in `state`. */
struct hp3_search_step hp3_search_step(
	enum hp3_search_kind kind, enum hp3_search_state state, enum hp3_search_input input);
/*
 * The search, or the move that followed it, has ended: drops the uses HP3_USE_MOVE and `use` of the
 * slot.
 */
void hp3_search_release(struct hp3_engine *e, const struct hp3_move *m, uint8_t use);
/*
 * The move of this search has ended. Acts only if hp3_search_is_own(). If the flow has `moved` to
 * the path that the search chose, learns the base RTT of this path from the probes. If this search
 * is a reason to wait (end.c), sets the time before the flow's next search.
 */
void hp3_search_settle(struct hp3_turn *t, const struct hp3_move *m, bool moved);
/* Starts the back-off before the next search (ppp/discovery.h), of at least `least_ns`. */
void hp3_search_ended(struct hp3_turn *t, uint32_t flow, bool slow, uint64_t least_ns);
