/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * State machine of path searches, and the resulting inputs of the move (rfr/transitions.h), as one
 * table. The table is compiled into end.c. Tests compare engines with the table, and
 * tests/model/generate.c generates the model from it.
 */

/* X(symbol, text). search_state.h has the meaning of each kind. */
#define HP3_SEARCH_KINDS(X)                                                                        \
	X(OPERATOR, "operator")                                                                    \
	X(ADVISED, "advised")                                                                      \
	X(CONGESTED, "congested")                                                                  \
	X(BEHIND_DRAIN, "behind-drain")                                                            \
	X(SETUP, "setup")                                                                          \
	X(MESSAGE_START, "message-start")                                                          \
	X(DEAD, "dead")

#define HP3_SEARCH_STATES(X)                                                                       \
	X(QUIET, "quiet") /* no probes outstanding; answers are ignored */                         \
	X(ASKING, "asking") /* a round of probes is outstanding */                                 \
	X(WAITING, "waiting") /* between two rounds */

#define HP3_SEARCH_INPUTS(X)                                                                       \
	X(BEGUN, "begun") /* a round begins */                                                     \
	X(LATER, "later") /* another round is needed, but later */                                 \
	X(GO, "go") /* a target is known */                                                        \
	X(STAY, "stay") /* no better path, no port to probe, or no reason to move */               \
	X(HELD, "held") /* packets have waited long enough for an answer */                        \
	X(OVER, "over") /* the move has ended, for whatever reason */

/* X(kind, state, input, next state, input for the move) */
#define HP3_SEARCH_STEPS(X)                                                                        \
	X(OPERATOR, QUIET, GO, QUIET, MOVE)                                                        \
	X(ADVISED, QUIET, BEGUN, ASKING, SEARCH)                                                   \
	X(ADVISED, QUIET, STAY, QUIET, NONE)                                                       \
	X(ADVISED, ASKING, GO, QUIET, MOVE)                                                        \
	X(ADVISED, ASKING, STAY, QUIET, NO_BETTER)                                                 \
	X(ADVISED, ASKING, OVER, QUIET, NONE)                                                      \
	X(CONGESTED, QUIET, BEGUN, ASKING, SEARCH)                                                 \
	X(CONGESTED, QUIET, GO, QUIET, MOVE) /* lossy: the target is known */                      \
	X(CONGESTED, QUIET, STAY, QUIET, NONE)                                                     \
	X(CONGESTED, ASKING, LATER, WAITING, NONE)                                                 \
	X(CONGESTED, ASKING, GO, QUIET, MOVE)                                                      \
	X(CONGESTED, ASKING, STAY, QUIET, NO_BETTER)                                               \
	X(CONGESTED, ASKING, OVER, QUIET, NONE)                                                    \
	X(CONGESTED, WAITING, BEGUN, ASKING, NONE)                                                 \
	X(CONGESTED, WAITING, STAY, QUIET, NO_BETTER)                                              \
	X(CONGESTED, WAITING, OVER, QUIET, NONE)                                                   \
	X(BEHIND_DRAIN, QUIET, GO, QUIET, MOVE) /* drains first, then probes */                    \
	X(BEHIND_DRAIN, QUIET, BEGUN, ASKING, NONE)                                                \
	X(BEHIND_DRAIN, QUIET, STAY, QUIET, NO_BETTER)                                             \
	X(BEHIND_DRAIN, ASKING, GO, QUIET, WON)                                                    \
	X(BEHIND_DRAIN, ASKING, STAY, QUIET, NO_BETTER)                                            \
	X(BEHIND_DRAIN, ASKING, HELD, QUIET, TIMEOUT)                                              \
	X(BEHIND_DRAIN, ASKING, OVER, QUIET, NONE)                                                 \
	X(SETUP, QUIET, BEGUN, ASKING, SEARCH)                                                     \
	X(SETUP, QUIET, GO, QUIET, MOVE_IDLE)                                                      \
	X(SETUP, QUIET, STAY, QUIET, NONE)                                                         \
	X(SETUP, ASKING, LATER, WAITING, NONE)                                                     \
	X(SETUP, ASKING, GO, QUIET, MOVE_IDLE)                                                     \
	X(SETUP, ASKING, STAY, QUIET, NO_BETTER)                                                   \
	X(SETUP, ASKING, OVER, QUIET, NONE)                                                        \
	X(SETUP, WAITING, BEGUN, ASKING, NONE)                                                     \
	X(SETUP, WAITING, GO, QUIET, MOVE_IDLE)                                                    \
	X(SETUP, WAITING, STAY, QUIET, NO_BETTER)                                                  \
	X(SETUP, WAITING, OVER, QUIET, NONE)                                                       \
	X(MESSAGE_START, QUIET, BEGUN, ASKING, MESSAGE_START)                                      \
	X(MESSAGE_START, QUIET, STAY, QUIET, NONE)                                                 \
	X(MESSAGE_START, ASKING, GO, QUIET, WON)                                                   \
	X(MESSAGE_START, ASKING, STAY, QUIET, NO_BETTER)                                           \
	X(MESSAGE_START, ASKING, HELD, QUIET, TIMEOUT)                                             \
	X(MESSAGE_START, ASKING, OVER, QUIET, NONE)                                                \
	X(DEAD, QUIET, BEGUN, ASKING, SEARCH)                                                      \
	X(DEAD, QUIET, GO, QUIET, DEAD)                                                            \
	X(DEAD, QUIET, STAY, QUIET, NONE)                                                          \
	X(DEAD, ASKING, BEGUN, ASKING, NONE) /* the next round, at once */                         \
	X(DEAD, ASKING, LATER, WAITING, NONE)                                                      \
	X(DEAD, ASKING, GO, QUIET, DEAD)                                                           \
	X(DEAD, ASKING, STAY, QUIET, NO_BETTER)                                                    \
	X(DEAD, ASKING, OVER, QUIET, NONE)                                                         \
	X(DEAD, WAITING, BEGUN, ASKING, NONE)                                                      \
	X(DEAD, WAITING, LATER, WAITING, NONE)                                                     \
	X(DEAD, WAITING, STAY, QUIET, NO_BETTER)                                                   \
	X(DEAD, WAITING, OVER, QUIET, NONE)
