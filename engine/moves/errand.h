/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_ENGINE_ERRAND_H
#define HP3_ENGINE_ERRAND_H
/*
 * Why a flow may move, and how far it has come with finding out where to. An errand begins in
 * hp3_move_prepare(), asks (rounds of probes, or nothing at all), and ends with the move that comes
 * of it, or with none. `kind` says which member of the union is there. How far it has come is its
 * state, which steps by one table (errand_steps.h); what is asked, and what is made of answers:
 * seek/errand.c.
 *
 * - OPERATOR: a port is named (hp3ctl, an actuator), nobody is asked;
 * - ADVISED: a port is named by somebody who sees more than this host; a round asks it and the one
 * in use while traffic flows on (seek/advised.c);
 * - CONGESTED: the path in use is, severely, or it is lossy: rounds while traffic flows on
 * (seek/congested.c);
 * - BEHIND_DRAIN: the same where probes look like a duplicate or a gap: one by one, the flow
 *   drained (seek/drained.c);
 * - SETUP: a queue pair was set up: rounds until its first data (seek/setup.c);
 * - MESSAGE_START: a long message begins on an idle queue pair: it waits for an answer
 *   (seek/wake.c);
 * - DEAD: nothing is acknowledged any more: is the path dead? (seek/dead.c, failover.c).
 */
#include "engine/event.h"
#include "engine/moves/errand_steps.h"
#include "ppp/discovery.h"
#include "ppp/monitor.h"

#define HP3_DEAD_ALSO 3u

enum hp3_errand_kind {
#define X(sym, text) HP3_ERRAND_##sym,
	HP3_ERRAND_KINDS(X)
#undef X
		HP3_ERRAND_KIND_MAX
};

enum hp3_errand_state {
#define X(sym, text) HP3_ERRAND_##sym,
	HP3_ERRAND_STATES(X)
#undef X
		HP3_ERRAND_STATE_MAX
};

enum hp3_errand_input {
#define X(sym, text) HP3_ERRAND_IN_##sym,
	HP3_ERRAND_INPUTS(X)
#undef X
		HP3_ERRAND_IN_MAX
};

struct hp3_errand_step {
	bool known; /* in the table; else nothing changes */
	uint8_t next; /* enum hp3_errand_state */
	uint8_t move; /* enum hp3_rfr_input; MOVE: whichever wish to move it is (moves.c) */
};

/* What `input` does to an errand of this kind in `state`. */
struct hp3_errand_step hp3_errand_step(
	enum hp3_errand_kind kind, enum hp3_errand_state state, enum hp3_errand_input input);

struct hp3_errand_operator {
	uint64_t tag; /* of the command */
};

struct hp3_errand_advised {
	uint64_t tag; /* of the command */
	bool counted; /* by counts of long flows: there is no command */
};

struct hp3_errand_congested {
	uint64_t asked_at; /* when the better path was asked about last */
	uint8_t doubt; /* hp3_backoff_doubt() */
	uint8_t looks; /* at a better path that was found, before it is taken */
	uint8_t missed; /* looks that could not be made */
	bool slow; /* nothing but round trips speaks against the path in use */
	bool lossy; /* retransmissions do */
	bool begins; /* beside: nothing does, but it was never asked for */
};

/* What a search in doubt knows, until its next look (looks.c). */
struct hp3_put_off {
	uint16_t from, to;
	uint8_t cause, n_cycles, cycles[HP3_CYCLES_KEPT + 1]; /* what set it off */
	struct hp3_errand_congested so_far;
};

struct hp3_errand_behind_drain {
	bool marked; /* a CNP came: the probe in the air may have been marked */
	bool slow; /* nothing but round trips speaks against the path in use */
	bool lossy; /* retransmissions do */
};

struct hp3_errand_setup {
	uint8_t rounds; /* so far */
	bool found; /* the target answered an earlier round */
};

struct hp3_errand_message_start {
	uint64_t hold_end; /* what is held leaves then, at the latest */
	bool clear; /* the path in use answered first, unmarked */
};

struct hp3_errand_dead {
	uint64_t since; /* no progress since */
	uint32_t una; /* as the stall began */
	uint32_t resume; /* RESUMING: the PSN with which the receiver can go on */
	struct hp3_liveness live;
	uint16_t also[HP3_DEAD_ALSO]; /* ports of other flows of the pair that stalled, too */
	uint8_t n_also;
	uint8_t silent; /* rounds that nobody answered */
	uint8_t alive, reports; /* rounds that the port in use survived; reports since */
	uint8_t waits; /* for probes of the address pair's budget, since the last round */
	bool came_through; /* a probe of the port in use, in an earlier round */
	bool owed; /* a NAK, as soon as it is sure what has arrived */
};

struct hp3_errand {
	uint8_t kind; /* enum hp3_errand_kind */
	/* enum hp3_errand_state. QUIET: the deadline is the move's; else it is the errand's: of the
	 * round, or of the wait for the next one. */
	uint8_t state;
	/* For people, and for nothing else: what set it off. */
	uint8_t cause; /* enum hp3_cause */
	uint8_t n_cycles, cycles[HP3_CYCLES_KEPT + 1];

	struct hp3_estimates before; /* of the path in use, as it began */
	struct hp3_round round; /* the latest; empty: none so far */
	union {
		struct hp3_errand_operator operator;
		struct hp3_errand_advised advised;
		struct hp3_errand_congested congested;
		struct hp3_errand_behind_drain behind;
		struct hp3_errand_setup setup;
		struct hp3_errand_message_start start;
		struct hp3_errand_dead dead;
	};
};

/* Does nothing but round trips speak against the path in use? */
static inline bool hp3_errand_is_slow(const struct hp3_errand *d)
{
	return d->kind == HP3_ERRAND_CONGESTED
		       ? d->congested.slow
		       : d->kind == HP3_ERRAND_BEHIND_DRAIN && d->behind.slow;
}

/* Do retransmissions speak against it? */
static inline bool hp3_errand_is_lossy(const struct hp3_errand *d)
{
	return d->kind == HP3_ERRAND_CONGESTED
		       ? d->congested.lossy
		       : d->kind == HP3_ERRAND_BEHIND_DRAIN && d->behind.lossy;
}

/* The engine decided, and learns from what came of it: not people, nor the pair's life. */
static inline bool hp3_errand_is_own(const struct hp3_errand *d)
{
	return d->kind == HP3_ERRAND_CONGESTED || d->kind == HP3_ERRAND_BEHIND_DRAIN ||
	       d->kind == HP3_ERRAND_MESSAGE_START || d->kind == HP3_ERRAND_ADVISED;
}

#endif
