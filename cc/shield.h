/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * CNPs around a move, where the RNIC does DCQCN itself ([cc] mode = native).
 *
 * Shield: a CNP names a queue pair, not a path. After a move, CNPs that the old path caused still
 * arrive. These CNPs would slow the queue pair down on the new path, which is free. So hp3 consumes
 * CNPs for some time after the move (the window). The window ends when a reply proves that a packet
 * of the new port has arrived, or after the longest round-trip time. The old path is drained, so
 * CNPs behind that reply are about the new path. Within the window, hp3 also consumes CNPs about
 * the new path. With [cc] mode = dcqcn, hp3's reaction point does not get the consumed CNPs.
 *
 * Withheld CNPs: hp3 searches for a better path, and then drains the old path. A CNP that arrives
 * during this time may be about the path that the queue pair will leave. The RNIC would take the
 * reduced rate to the new path. So CNPs wait until the search and the drain are over:
 *
 *     moved        hp3 drops them: the reduction was for the old path
 *     not moved    the RNIC gets one CNP for all: RNICs also merge the CNPs of one period
 *     undecided    the RNIC gets one CNP for all when the longest wait is over
 *
 * The longest wait is short, because the sender does not slow down while CNPs wait. While packets
 * leave, the longest wait is a part of a base round trip (a quarter by default). While all packets
 * are held, CNPs wait until the end of the drain.
 */
#include <stdbool.h>
#include <stdint.h>

struct hp3_shield {
	uint64_t until; /* ns; hp3 consumes CNPs before this time */
	uint32_t psn; /* first PSN sent on the new port */
	bool by_reply; /* a reply with this PSN or a later one ends the window */
};

enum hp3_cnp_verdict { HP3_CNP_PASS, HP3_CNP_CONSUME };

/*
 * Starts a window: from PSN `psn` on, the flow leaves on a new port. `drained`: the old path is
 * empty. If false (a dead path), only time ends the window. A move within a window starts a new
 * window.
 */
void hp3_shield_switch(
	struct hp3_shield *s, uint32_t psn, bool drained, uint64_t max_rtt_ns, uint64_t now);

/* A trusted reply (rule 6) with this PSN arrived. */
void hp3_shield_reply(struct hp3_shield *s, uint32_t psn);

/* Returns what to do with a CNP of the flow. */
enum hp3_cnp_verdict hp3_shield_cnp(const struct hp3_shield *s, uint64_t now);

/* CNPs that wait; if all fields are 0, no CNP waits. */
struct hp3_withheld {
	uint64_t until; /* ns; CNPs before this time wait; set by the caller */
	uint16_t pkey; /* P_Key of the newest CNP */
	bool owed; /* a CNP waits */
};

/* A CNP for the flow arrived, and the shield did not consume it. */
enum hp3_cnp_verdict hp3_withheld_cnp(struct hp3_withheld *w, uint16_t pkey, uint64_t now);

/*
 * Ends the wait after a search, a drain or the longest wait. `left`: the flow has left the old
 * path. True: the caller hands the RNIC a CNP.
 */
bool hp3_withheld_end(struct hp3_withheld *w, bool left);
