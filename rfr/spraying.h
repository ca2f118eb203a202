/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_RFR_SPRAYING_H
#define HP3_RFR_SPRAYING_H
/*
 * The sender's side of an agreement to spray a queue pair: its packets may take several paths at
 * once while the hp3d in front of the receiving RNIC puts them in order (resequencer.h).
 *
 * What it promises: a first transmission leaves by another path than the one before it only after
 * the peer has said that it puts this queue pair in order, and only as long as it says so again and
 * again. All else leaves on the port in use.
 *
 *     SINGLE --large message--> ASKING --yes--> SPRAYING --RNIC went back--> NARROW
 *                                  ^               |   ^--caught up, yes since--/
 *                                  |               \--peer no more--> ENDING --caught up--> SINGLE
 *
 * A receiver is bound for longer than a sender trusts it (HP3_SPRAY_BOUND beats without a word from
 * the sender, HP3_SPRAY_TRUST without one from the receiver), so what a sender stops to spray is
 * still put in order on its way.
 *
 * The transitions are one table that the C code and its tests share.
 */
#include <stdint.h>

#define HP3_SPRAY_TRUST 3u /* beats */
#define HP3_SPRAY_BOUND 10u

/* X(symbol, text) */
#define HP3_SPRAY_STATES(X)                                                                        \
	X(SINGLE, "single") /* one path; there is no agreement */                                  \
	X(ASKING, "asking") /* one path; the peer was asked */                                     \
	X(SPRAYING, "spraying") /* all paths */                                                    \
	X(NARROW, "narrow") /* one path for now; what left by others may still travel */           \
	X(ENDING, "ending") /* the same, and then no more */

#define HP3_SPRAY_INPUTS(X)                                                                        \
	X(LARGE, "large") /* a large message begins */                                             \
	X(YES, "yes") /* the peer puts the queue pair in order */                                  \
	X(NO, "no") /* it does not, or not any more */                                             \
	X(SILENT, "silent") /* no word from it for HP3_SPRAY_TRUST beats */                        \
	X(LOST, "lost") /* nor for HP3_SPRAY_BOUND beats */                                        \
	X(BACK, "back") /* the RNIC went back */                                                   \
	X(FULL, "full") /* as much is in flight as the peer can resequence */                      \
	X(CAUGHT_UP, "caught-up") /* what had left by several paths is acknowledged */             \
	X(IDLE, "idle") /* no large message for long, nothing is in flight */                      \
	X(STOP, "stop") /* not wanted any more: the policy has changed */

#define HP3_SPRAY_ACTIONS(X)                                                                       \
	X(NONE, "none")                                                                            \
	X(ASK, "ask") /* the peer, again and again until it answers */                             \
	X(DRAIN, "drain") /* hold what follows until all that has left is acknowledged */          \
	X(END, "end") /* tell the peer that the agreement is over */

/* X(state, input, next state, action) */
#define HP3_SPRAY_TRANSITIONS(X)                                                                   \
	X(SINGLE, LARGE, ASKING, ASK)                                                              \
	X(ASKING, YES, SPRAYING, NONE)                                                             \
	X(ASKING, NO, SINGLE, END)                                                                 \
	X(ASKING, LOST, SINGLE, END)                                                               \
	X(ASKING, IDLE, SINGLE, END)                                                               \
	X(ASKING, STOP, SINGLE, END)                                                               \
	X(SPRAYING, BACK, NARROW, NONE)                                                            \
	X(SPRAYING, SILENT, NARROW, NONE)                                                          \
	X(SPRAYING, FULL, NARROW, DRAIN)                                                           \
	X(SPRAYING, NO, ENDING, DRAIN)                                                             \
	X(SPRAYING, IDLE, SINGLE, END)                                                             \
	X(SPRAYING, STOP, ENDING, NONE)                                                            \
	X(NARROW, CAUGHT_UP, SPRAYING, NONE)                                                       \
	X(NARROW, NO, ENDING, NONE)                                                                \
	X(NARROW, LOST, ENDING, NONE)                                                              \
	X(NARROW, IDLE, SINGLE, END)                                                               \
	X(NARROW, STOP, ENDING, NONE)                                                              \
	X(ENDING, CAUGHT_UP, SINGLE, END)                                                          \
	X(ENDING, IDLE, SINGLE, END)

enum hp3_spray_state {
#define X(sym, text) HP3_SPRAY_##sym,
	HP3_SPRAY_STATES(X)
#undef X
		HP3_SPRAY_STATE_MAX
};

enum hp3_spray_input {
#define X(sym, text) HP3_SPRAY_IN_##sym,
	HP3_SPRAY_INPUTS(X)
#undef X
		HP3_SPRAY_IN_MAX
};

enum hp3_spray_action {
#define X(sym, text) HP3_SPRAY_DO_##sym,
	HP3_SPRAY_ACTIONS(X)
#undef X
		HP3_SPRAY_DO_MAX
};

struct hp3_spray_step {
	uint8_t next; /* enum hp3_spray_state */
	uint8_t action; /* enum hp3_spray_action */
};

/* What `input` does in `state`. What the table does not have changes nothing. */
struct hp3_spray_step hp3_spray_step(enum hp3_spray_state state, enum hp3_spray_input input);

const char *hp3_spray_state_name(enum hp3_spray_state s);

#endif
