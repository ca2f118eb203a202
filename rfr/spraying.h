/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The sender's state machine of an agreement to spray a queue pair. The packets of the queue pair
 * may take several paths at once, because the receiver's hp3d resequences them (resequencer.h).
 *
 * Guarantee: a first transmission takes another path than the first transmission before it only
 * while the peer's YES is recent. The sender requests a YES in each keep-alive interval. All other
 * packets take the port in use.
 *
 *     SINGLE --large message--> ASKING --yes--> SPRAYING --RNIC retransmits--> NARROW
 *                                  ^               |   ^--caught up, yes since----/
 *                                  |               \--no, stop--> ENDING --caught up--> SINGLE
 *
 * The sender sprays for HP3_SPRAY_TRUST keep-alive intervals after the newest YES arrived. It stops
 * earlier if the message that this YES answers left HP3_SPRAY_BOUND - HP3_SPRAY_TRUST intervals
 * ago. The receiver resequences for HP3_SPRAY_BOUND intervals after the sender's last message. So
 * the receiver still resequences the last sprayed packets when they arrive.
 *
 * The C code and its tests share one table of transitions.
 */
#include <stdint.h>

/* keep-alive intervals: how long a YES is recent; how long the receiver resequences */
#define HP3_SPRAY_TRUST 3u
#define HP3_SPRAY_BOUND 10u

/* X(symbol, text) */
#define HP3_SPRAY_STATES(X)                                                                        \
	X(SINGLE, "single") /* one path; no agreement */                                           \
	X(ASKING, "asking") /* one path; the peer has been asked */                                \
	X(SPRAYING, "spraying") /* several paths */                                                \
	X(NARROW, "narrow") /* one path for now; sprayed packets may be in flight */               \
	X(ENDING, "ending") /* one path; with CAUGHT_UP, the agreement ends */

#define HP3_SPRAY_INPUTS(X)                                                                        \
	X(LARGE, "large") /* a large message begins */                                             \
	X(YES, "yes") /* the peer resequences the queue pair */                                    \
	X(NO, "no") /* the peer refuses to resequence, or has stopped */                           \
	X(SILENT, "silent") /* the newest YES is not recent (HP3_SPRAY_TRUST) */                   \
	X(LOST, "lost") /* no YES from the peer for HP3_SPRAY_BOUND intervals */                   \
	X(BACK, "back") /* the RNIC retransmits */                                                 \
	X(FULL, "full") /* the peer can hold no more packets */                                    \
	X(CAUGHT_UP, "caught-up") /* all sprayed packets are acknowledged */                       \
	X(IDLE, "idle") /* no large message for long; no packet in flight */                       \
	X(STOP, "stop") /* spraying must end, for example by policy */

#define HP3_SPRAY_ACTIONS(X)                                                                       \
	X(NONE, "none")                                                                            \
	X(ASK, "ask") /* ask the peer until it answers */                                          \
	X(DRAIN, "drain") /* hold packets until all sent ones are acknowledged */                  \
	X(END, "end") /* send OVER to the peer */

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

/* The step for `input` in `state`. Inputs that are not in the table change nothing. */
struct hp3_spray_step hp3_spray_step(enum hp3_spray_state state, enum hp3_spray_input input);

const char *hp3_spray_state_name(enum hp3_spray_state s);
