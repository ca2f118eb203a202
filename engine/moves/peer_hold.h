/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Verbs mode: holds the peer's queue pair while a queue pair moves.
 *
 * A move also changes the path of the responses to the peer's READs and ATOMICs (rule 20). So these
 * must have completed, and the peer's queue pair must send no new ones, until the port has changed.
 * If the actuator refuses to suspend a queue pair (EPERM), the engine sends HOLD to the peer's hp3d
 * (probes/agree.h). That hp3d suspends the peer's queue pair, and answers with HELD once all its
 * work requests have completed. Then this queue pair drains and moves, and CONTINUE ends the hold.
 *
 *     this host     CLOSING, EPERM -> HOLD ... HELD -> drain -> move -> CONTINUE
 *     peer's host                   suspend, drain -> HELD ... CONTINUE -> resume
 *
 * Datagrams may be lost: HOLD is sent up to HP3_PEER_HOLD_TRIES times, CONTINUE twice. Without
 * CONTINUE, the hold ends with its lease. Messages, commands and reports may be late. These three
 * times make sure that the peer's queue pair sends nothing while the port changes:
 *
 * - The peer's actuator holds posts for HP3_PEER_HOLDS times max_hold from the end of the drain on,
 *   even if its engine ends. Its engine promises this time from the command to suspend on, which is
 *   earlier.
 * - HELD has the time that remains. This engine counts it from the HOLD that HELD answers, which is
 *   also earlier.
 * - This engine commands MOVE only if max_hold remains. The actuator does not change the port later
 *   than max_hold / 2 after it has reported DRAINED. hp3d passes DRAINED to the engine with a time
 *   that is at most max_hold / 2 too early.
 *
 * Limit: if the peer's hp3d is descheduled between reading its clock and sending HELD, HELD has too
 * long a time. Up to max_hold / 2, this does no harm.
 *
 * Here, max_hold is at least 2 ms, because the actuator counts in ms, and at most a third of a
 * second. A change of the configuration does not affect holds that have begun.
 *
 * If the peer does not answer or refuses, the move fails with EPERM. The peer refuses if its queue
 * pair is being moved or cannot be suspended, or if too many of its queue pairs are held. Two more
 * limits protect the peer's application (peer_rest.c):
 *
 * - After a hold, a queue pair rests HP3_PEER_REST times as long as the hold lasted. Until then,
 *   it is not held again, so holds take at most a fifth of the time.
 * - A HOLD that arrives after the end of the hold that it asks for is refused. Otherwise, a HOLD
 *   that arrives after the CONTINUE of its move would hold posts until the lease ends.
 *
 * Holds do not depend on the mode. In mode off, queue pairs return to their home ports, and those
 * whose peer may READ need a hold for that. If both hosts are set to off, each still grants the
 * holds that the other one needs.
 */
#include <stdbool.h>
#include <stdint.h>

#define HP3_PEER_HOLD_TRIES      8u /* one each max_hold / 2 */
#define HP3_PEER_HOLD_LONGEST_NS 1000000000u /* the actuator holds posts no longer */
#define HP3_PEER_HOLDS           3u /* lease, in times of max_hold, but at most a second */
/* A peer may hold at most this part of the slots of moves: slots / HP3_PEER_HOLD_SHARE. */
#define HP3_PEER_HOLD_SHARE 4u
#define HP3_PEER_REST       4u /* rest after a hold, in times of the hold */

enum hp3_peer_hold_state {
	HP3_PEER_HOLD_NONE,
	HP3_PEER_HOLD_ASKED, /* HOLD was sent */
	HP3_PEER_HOLD_GRANTED, /* HELD arrived, and the lease has not been ended by CONTINUE */
	HP3_PEER_HOLD_HOLDS, /* this queue pair is held for the peer's move */
};

struct hp3_peer_hold {
	uint8_t state; /* enum hp3_peer_hold_state */
	uint32_t number, turn; /* of the move that caused the hold; of the newest HOLD */
	/* times of the first and the newest HOLD; HOLDS: `asked` is the beginning of the hold */
	uint64_t asked, asked_last;
	uint64_t change; /* max_hold when the hold began (hp3_peer_hold_change_ns()) */
	uint64_t until; /* end of the lease */
};

/* By flow, from the end of a hold on. */
struct hp3_peer_rest {
	uint32_t ended; /* number of the move whose hold ended last; 0: none */
	uint32_t until; /* in units of 2^HP3_TICK_SHIFT ns: end of the rest */
};
