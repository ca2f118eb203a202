/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_CC_SHIELD_H
#define HP3_CC_SHIELD_H
/*
 * What is left to do where the RNIC does DCQCN itself (cc = native).
 *
 * Shield: CNPs name a queue pair, not a path. After a switch those that the old path provoked still
 * arrive; charged to the new path they would slow the queue pair down just where it has room. So
 * for a window after the switch they are consumed. The window ends when a reply proves that a
 * packet of the new port has arrived (with the old path drained, a CNP behind that reply can only
 * speak of the new one), or after the longest round-trip time, whichever is first. Congestion that
 * the new path itself reports goes unheard at most that long. The same verdict serves cc = dcqcn,
 * where a consumed CNP is not handed to the reaction point either.
 *
 * Withheld: while a better path is looked for, and while the one in use is drained, a CNP may be of
 * a path that the queue pair is about to leave; the RNIC would take the rate that it falls to
 * along. So it waits for what becomes of the search. Who leaves needs it no more: the reduction was
 * for the path that is left. Who stays is owed one, for all that came (RNICs merge those that come
 * within a period of theirs, so one is what they may count on), and so is who has not decided when
 * the bound is over. Never longer, for meanwhile nobody slows down: as long as a few round trips
 * while packets leave; while all are held, until the drain ends.
 */
#include <stdbool.h>
#include <stdint.h>

struct hp3_shield {
	uint64_t until; /* ns; CNPs before are stale */
	uint32_t psn; /* first one sent on the new port */
	bool by_reply; /* a reply at or behind psn ends the window */
};

enum hp3_cnp_verdict { HP3_CNP_PASS, HP3_CNP_CONSUME };

/*
 * The flow leaves on a new port from PSN `psn` on. `drained`: the old path is empty; false (dead
 * path) lets only time end the window. A switch within a window starts a new one.
 */
void hp3_shield_switch(
	struct hp3_shield *s, uint32_t psn, bool drained, uint64_t max_rtt_ns, uint64_t now);

/* A trusted reply (rule 6) with this PSN arrived. */
void hp3_shield_reply(struct hp3_shield *s, uint32_t psn);

/* A CNP for the flow arrived. */
enum hp3_cnp_verdict hp3_shield_cnp(const struct hp3_shield *s, uint64_t now);

/* All 0: none are. */
struct hp3_withheld {
	uint64_t until; /* ns; CNPs before wait */
	uint16_t pkey; /* of the newest one */
	bool owed; /* one came */
};

/* From now on; what is owed already stays so. */
void hp3_withheld_begin(struct hp3_withheld *w, uint64_t until);

/* A CNP for the flow arrived that the shield lets pass. */
enum hp3_cnp_verdict hp3_withheld_cnp(struct hp3_withheld *w, uint16_t pkey, uint64_t now);

/* The search, the drain or the bound is over; `left`: so is the old path. True: the RNIC is to be
 * handed a CNP. */
bool hp3_withheld_end(struct hp3_withheld *w, bool left);

#endif
