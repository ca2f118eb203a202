/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * A path search: its cause and its progress. A search begins in hp3_search_prepare(), sends rounds
 * of probes if its kind needs probes, and ends with the resulting move, or without a move. `kind`
 * selects the member of the union. The table in search_steps.h defines how `state` changes.
 * search/dispatch.c calls the code that probes and that evaluates answers.
 *
 * - OPERATOR: a command names the port; no probes.
 * - ADVISED: hp3-fleet names a port. One round probes this port and the port in use while the flow
 *   goes on sending (search/advised.c).
 * - CONGESTED: the path in use is severely congested, or lossy. Rounds of probes leave while the
 *   flow goes on sending (search/congested.c).
 * - BEHIND_DRAIN: as CONGESTED, but with probes of kind STANDARD, which leave one at a time, after
 *   a drain (search/drained.c).
 * - SETUP: a queue pair was set up. Rounds of probes leave until its first data, at most
 *   cfg.setup_rounds of them (search/setup.c).
 * - MESSAGE_START: a long message begins on an idle queue pair and waits for an answer
 *   (search/message_start.c).
 * - DEAD: no acknowledgement arrives any more. Probes show whether the path is dead (search/dead.c,
 *   failover.c).
 */
#include "engine/event.h"
#include "engine/search/search_steps.h"
#include "ppp/discovery.h"
#include "ppp/monitor.h"

#define HP3_DEAD_ALSO 3u

enum hp3_search_kind {
#define X(sym, text) HP3_SEARCH_##sym,
	HP3_SEARCH_KINDS(X)
#undef X
		HP3_SEARCH_KIND_MAX
};

enum hp3_search_state {
#define X(sym, text) HP3_SEARCH_##sym,
	HP3_SEARCH_STATES(X)
#undef X
		HP3_SEARCH_STATE_MAX
};

enum hp3_search_input {
#define X(sym, text) HP3_SEARCH_IN_##sym,
	HP3_SEARCH_INPUTS(X)
#undef X
		HP3_SEARCH_IN_MAX
};

struct hp3_search_step {
	bool known; /* false: the table has no such step, and nothing changes */
	uint8_t next; /* enum hp3_search_state */
	uint8_t move; /* enum hp3_rfr_input; for MOVE, begin.c chooses one of the MOVE inputs */
};

struct hp3_search_operator {
	uint64_t tag; /* of the command */
};

struct hp3_search_advised {
	uint64_t tag; /* of the command */
};

struct hp3_search_congested {
	uint64_t asked_at; /* time of the newest round */
	uint8_t doubt; /* hp3_backoff_doubt() */
	uint8_t reprobes; /* re-probes of the better path so far */
	uint8_t missed; /* re-probes that could not be sent, or that gave no clear result */
	bool slow; /* only RTTs show congestion of the path in use */
	bool lossy; /* the path in use is lossy */
	bool begins; /* verbs mode: no sign of congestion, but the path was never probed */
};

/* Saved state of a search that waits for its next re-probe (search/reprobe.c). */
struct hp3_put_off {
	uint16_t from, to;
	uint8_t cause, n_cycles, cycles[HP3_CYCLES_KEPT + 1]; /* evidence, for the event */
	struct hp3_search_congested so_far;
};

struct hp3_search_behind_drain {
	bool marked; /* a CNP arrived: the outstanding probe may have been marked */
	bool slow; /* only RTTs show congestion of the path in use */
	bool lossy; /* the path in use is lossy */
};

struct hp3_search_setup {
	uint8_t rounds; /* rounds so far */
	bool found; /* the target answered an earlier round */
	/* the round before the newest round; answers to its probes may still arrive */
	struct {
		uint8_t open; /* probes without an answer, one bit each */
		uint16_t port[HP3_ROUND_PROBES];
		uint32_t id; /* 0: there was none */
		uint64_t start; /* time when all probes of that round left */
	} earlier;
};

struct hp3_search_message_start {
	uint64_t hold_end; /* latest time at which held packets leave */
	bool clear; /* the first answer came on the port in use, unmarked */
};

struct hp3_search_dead {
	uint64_t since; /* una has not advanced since this time */
	uint32_t una; /* una at the beginning of the stall */
	uint32_t resume; /* RESUMING: the PSN that the receiver expects, or an earlier PSN */
	struct hp3_liveness live;
	uint16_t also[HP3_DEAD_ALSO]; /* ports of other stalled flows of the pair */
	uint8_t n_also;
	uint8_t silent; /* rounds without any answer */
	/* alive: rounds since the last report in which a probe of the port in use was answered;
	 * reports: number of reports */
	uint8_t alive, reports;
	uint8_t waits; /* waits for the address pair's probe budget since the last round */
	bool came_through; /* a probe of the port in use was answered in an earlier round */
	/* the RNIC gets a NAK as soon as a reply with a checked ICRC shows which packets have
	 * arrived */
	bool owed;
};

struct hp3_search {
	uint8_t kind; /* enum hp3_search_kind */
	/* enum hp3_search_state. In QUIET, move_at is the deadline of the move; in other states,
	 * the deadline of the round, or of the pause before the next round. */
	uint8_t state;
	/* What started the search, for events. Decisions depend only on HP3_CAUSE_SPRAY
	 * (hp3_move_drain()) and HP3_CAUSE_PEER (moves/peer_hold.h). */
	uint8_t cause; /* enum hp3_cause */
	uint8_t n_cycles, cycles[HP3_CYCLES_KEPT + 1];

	/* estimates of the path in use, at the beginning of the search */
	struct hp3_estimates before;
	struct hp3_round round; /* the newest round; empty if there was none */
	union {
		struct hp3_search_operator operator;
		struct hp3_search_advised advised;
		struct hp3_search_congested congested;
		struct hp3_search_behind_drain behind;
		struct hp3_search_setup setup;
		struct hp3_search_message_start start;
		struct hp3_search_dead dead;
	};
};

/* Are RTTs the only sign of congestion? */
static inline bool hp3_search_is_slow(const struct hp3_search *d)
{
	return d->kind == HP3_SEARCH_CONGESTED
		       ? d->congested.slow
		       : d->kind == HP3_SEARCH_BEHIND_DRAIN && d->behind.slow;
}

/* Is the path in use lossy? */
static inline bool hp3_search_is_lossy(const struct hp3_search *d)
{
	return d->kind == HP3_SEARCH_CONGESTED
		       ? d->congested.lossy
		       : d->kind == HP3_SEARCH_BEHIND_DRAIN && d->behind.lossy;
}

/*
 * Does the result of this search change the back-off of the flow's later searches? False for
 * operators, set-ups and dead paths.
 */
static inline bool hp3_search_is_own(const struct hp3_search *d)
{
	return d->kind == HP3_SEARCH_CONGESTED || d->kind == HP3_SEARCH_BEHIND_DRAIN ||
	       d->kind == HP3_SEARCH_MESSAGE_START || d->kind == HP3_SEARCH_ADVISED;
}
