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
 * Slow-down: the RNIC has no call to limit one queue pair, but a CNP of ours makes it reduce. Never
 * for an RNIC that does not know CNPs (rule 5): the caller asks under cc = native only.
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

struct hp3_slow_params {
	uint32_t max_cnps; /* handed to the RNIC per request; 0: never any */
	uint32_t interval; /* us between them: the RNIC's rate_reduce_monitor_period or more, for it
			      merges those that come closer */
};

/* All 0 to begin with. */
struct hp3_slow {
	uint64_t next; /* no CNP before */
	uint32_t owed;
};

/*
 * Slow the flow down from `rate` to `wanted` (same unit). Returns how many CNPs will be handed
 * over: a reduction halves the rate at most (alpha <= 1), so floor(log2(rate / wanted)) CNPs never
 * go below `wanted`; one at least if wanted < rate. A new request replaces what the last one left.
 */
uint32_t hp3_slow_ask(
	struct hp3_slow *s, const struct hp3_slow_params *p, uint64_t rate, uint64_t wanted);

/* True: hand the RNIC one CNP now. While s->owed, ask again at s->next. */
bool hp3_slow_due(struct hp3_slow *s, const struct hp3_slow_params *p, uint64_t now);

#endif
