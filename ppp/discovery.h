/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_PPP_DISCOVERY_H
#define HP3_PPP_DISCOVERY_H
/*
 * Looks for a better path (HP3, section "Alternative Path Discovery"): one round of probes, the
 * back-off between rounds, the budget of an address pair, and the verdict that a path is dead.
 *
 * A round sends a probe per candidate port; the first reply wins if it is good enough: unmarked,
 * and its RTT <= improve x the incumbent's (where that loses packets HP3_LOSSY_RTT, where a
 * candidate was advised HP3_NO_WORSE_RTT). The incumbent's RTT is that of its own probe of this
 * round once it is back, else the flow's smoothed RTT; with neither, a round in which the port in
 * use does not answer is won by the fastest unmarked reply.
 *
 * Kinds:
 * - PEER: the port in use is probed too, all probes leave back to back. Once the port in use has
 *   answered, slower ones cannot win (but as said above), and the round ends.
 * - STANDARD (a duplicate of an acknowledged request, rule 2): every answer looks alike, so one
 *   probe is in the air at a time; only behind a drain and without READ or ATOMIC outstanding; a
 *   loss ends the round, and the next one waits for guard_ns, so that no answer is taken for
 *   another's. The port in use is asked first: drained, as the others find their paths, so that
 *   the flow's own queue, which it would take along, does not count for them.
 * - NAK (future PSN, rule 3): as STANDARD, but a single probe, and none of the port in use: a
 *   responder reports a gap once. Only where the operator asked for it.
 *
 * Invariants: the winner is a candidate, unmarked, and better than the port in use; at most one
 * STANDARD or NAK probe is in the air; a round ends, at the latest at its deadline; what comes
 * later changes no outcome; probes of an address pair never exceed burst + rate x time in any
 * stretch.
 *
 * Units: nanoseconds (monotonic), percent. Sans-IO: the caller sends what hp3_round_send() names.
 */
#include <stdbool.h>
#include <stdint.h>

#define HP3_ROUND_PROBES 8u /* the port in use included */
#define HP3_NO_PROBE     (-1)
/* Percent of the incumbent's RTT that a path may take which is not found because it is faster. */
#define HP3_LOSSY_RTT    150u
#define HP3_NO_WORSE_RTT 110u /* ... which somebody who sees more has named */

enum hp3_probe_kind { HP3_PROBE_PEER, HP3_PROBE_STANDARD, HP3_PROBE_NAK };

struct hp3_round_params {
	uint64_t backoff_max_ns; /* the wait after a search doubles up to this */
	uint32_t timeout_ns; /* unanswered for so long: lost; >= the largest RTT, < 2^29 */
	uint32_t guard_ns; /* STANDARD: silence after a loss; >= the largest RTT */
	uint32_t backoff_min_ns; /* the shortest such wait */
	uint32_t probes_per_second; /* of an address pair; 0: none */
	uint16_t probe_burst; /* of an address pair */
	uint16_t improve; /* percent of the incumbent's RTT that a winner may have, 1..100 */
	uint8_t backoff_after; /* searches, from which on they wait, >= 1 */
	bool allow_nak;
};

/* --- Budget of an address pair: a token bucket, full when zeroed. --- */

struct hp3_probe_budget {
	uint64_t spent_until; /* virtual time up to which tokens are spent (GCRA) */
};

/* Takes up to `want` tokens, none if fewer than `least` are there. Returns how many. */
uint32_t hp3_probe_budget_take(struct hp3_probe_budget *b, const struct hp3_round_params *p,
	uint32_t least, uint32_t want, uint64_t now);

/* --- A round. --- */

enum hp3_probe_state {
	HP3_PROBE_UNSENT,
	HP3_PROBE_OPEN, /* in the air */
	HP3_PROBE_ANSWERED, /* in time; the round may have ended before */
	HP3_PROBE_LOST, /* not answered within timeout_ns */
	HP3_PROBE_LATE, /* given up as lost, then answered */
};

enum hp3_round_outcome {
	HP3_ROUND_PENDING,
	HP3_ROUND_WINNER,
	HP3_ROUND_NO_BETTER, /* answers came, but none that was good enough */
	HP3_ROUND_TIMEOUT, /* PEER: no answer at all; else: the probe in the air was lost */
	HP3_ROUND_CANCELLED,
};

/* Evidence of one probe. */
struct hp3_probe {
	uint32_t sent_ns; /* since the round's start */
	uint32_t rtt_ns; /* if answered */
	uint16_t port;
	uint8_t state; /* enum hp3_probe_state */
	bool ce; /* if answered: marked on its way */
};

struct hp3_round {
	uint64_t start;
	uint64_t deadline; /* when hp3_round_tick() wants to be called */
	uint32_t id; /* low 3 bits 0 */
	uint32_t rtt_ns; /* incumbent's smoothed RTT, 0: unknown */
	uint8_t kind : 3; /* enum hp3_probe_kind */
	uint8_t as_data : 1;
	uint8_t patient : 1;
	uint8_t again : 1;
	uint8_t lossy : 1;
	uint8_t no_worse : 1;
	uint8_t outcome; /* enum hp3_round_outcome */
	uint8_t n; /* probes; number 0 is the port in use, but of kind NAK */
	uint8_t next; /* first one not sent */
	uint8_t winner; /* number of the probe, if outcome is WINNER */
	uint8_t late; /* replies that came when the round or the probe had ended; up to 255 */
	uint16_t port; /* in use */
	struct hp3_probe probe[HP3_ROUND_PROBES];
};

_Static_assert(sizeof(struct hp3_round) == 128, "two cache lines");

struct hp3_round_ask {
	enum hp3_probe_kind kind;
	uint16_t port; /* in use */
	const uint16_t *candidates; /* without the port in use, most wanted first */
	uint32_t n;
	uint32_t rtt_ns; /* smoothed RTT of the port in use, 0: unknown */
	uint32_t nonce; /* drawn at random by the caller: unguessable, tells rounds apart */
	/* PEER: no winner before the port in use has answered: queues change, and what it took a
	 * while ago is no measure of what another one takes now */
	bool patient;
	bool again; /* the candidate has won before: half of `improve` is enough */
	bool lossy; /* the port in use loses packets: HP3_LOSSY_RTT instead of `improve` */
	bool no_worse; /* HP3_NO_WORSE_RTT instead of `improve` */
	bool as_data; /* PEER: probes are as long as packets of the flow */
	bool drained; /* nothing is in flight on the port in use */
	bool reads; /* READ or ATOMIC outstanding */
};

/*
 * Begins a round and pays for its probes; with a small budget the last candidates are left out.
 * Returns 0; -EINVAL no candidate, too many, or one twice; -EPERM NAK probes are not configured;
 * -EBUSY STANDARD or NAK while not drained or with READs outstanding; -ENODATA NAK, no RTT to
 * compare with; -EAGAIN the budget is used up. *r is written only on success.
 */
int hp3_round_start(struct hp3_round *r, const struct hp3_round_params *p,
	struct hp3_probe_budget *b, const struct hp3_round_ask *ask, uint64_t now);

/* Number of the probe to send now, which counts as sent; HP3_NO_PROBE if none is due. */
int hp3_round_send(struct hp3_round *r, const struct hp3_round_params *p, uint64_t now);

/* What probe `i` bears so that its reply names it. */
static inline uint32_t hp3_round_probe_id(const struct hp3_round *r, uint32_t i)
{
	return r->id | i;
}

/* STANDARD and NAK: number of the probe that an answer without a name belongs to. */
int hp3_round_in_air(const struct hp3_round *r);

/*
 * A reply to probe `id` arrived; `ce`: the probe was marked on its way. Unknown and repeated ids
 * are ignored; replies after the end are evidence, but change no outcome. Returns the outcome.
 */
enum hp3_round_outcome hp3_round_reply(
	struct hp3_round *r, const struct hp3_round_params *p, uint32_t id, bool ce, uint64_t now);
/*
 * The same, timed by a clock that is closer to the wire than the caller's, as stamps of an RNIC
 * are: `took_ns` from where the probe left until its answer arrived. 0, or more than has passed by
 * the caller's clock: what has passed by that counts.
 */
enum hp3_round_outcome hp3_round_timed(struct hp3_round *r, const struct hp3_round_params *p,
	uint32_t id, bool ce, uint32_t took_ns, uint64_t now);

/* Time passes: probes get lost, the round ends. Goes on to find losses after its end. */
enum hp3_round_outcome hp3_round_tick(
	struct hp3_round *r, const struct hp3_round_params *p, uint64_t now);

/* Fast recovery: the round is over, whatever comes. A round that has ended keeps its outcome. */
void hp3_round_cancel(struct hp3_round *r);

/* The fastest unmarked answer so far, of any port; NULL: none. */
const struct hp3_probe *hp3_round_unmarked(const struct hp3_round *r);

/* True if some probe was answered in time. */
bool hp3_round_heard(const struct hp3_round *r);

/* True if the round has ended and the fate of every probe sent is known. */
bool hp3_round_settled(const struct hp3_round *r);

const char *hp3_round_outcome_name(enum hp3_round_outcome o);
const char *hp3_probe_kind_name(enum hp3_probe_kind k);
const char *hp3_probe_state_name(enum hp3_probe_state s);

/*
 * --- Back-off of a flow: who searches again and again finds nothing that lasts, whether he moved
 * or not, for congestion control leaves a queue on every path now and then, and what it takes back
 * of a rate comes back slowly. So searches become rare, and are made in doubt
 * (engine/seek/looks.c). Ready, and without a doubt, when zeroed. ---
 */

/*
 * 32 bits, so that it fits every flow record: `until` counts units of 2^15 ns (33 us) modulo 2^24.
 * A wait can be at most 2^23 units (4.5 minutes) long, and hp3_backoff_age() must forget it within
 * as much again.
 */
struct hp3_backoff {
	uint32_t until : 24; /* 0: no wait */
	uint32_t searches : 5; /* one soon after the other, but for those of `slow`; up to 31 */
	uint32_t slow : 3; /* set off by round trips alone, and found nothing; up to 7 */
};

_Static_assert(sizeof(struct hp3_backoff) == 4, "part of every flow record");

/*
 * 0 for the first `backoff_after` searches, 1 for the next one, and so on. What found nothing and
 * was set off by round trips alone casts doubt on its likes only: they grow for reasons of hosts,
 * too, and say nothing about a queue that marks.
 */
uint32_t hp3_backoff_doubt(
	const struct hp3_backoff *b, const struct hp3_round_params *p, bool slow);
/*
 * A search ended, with a move or without; `slow`: found nothing, and round trips alone had set it
 * off. From the backoff_after-th on the next one waits for backoff_min_ns, doubled for every
 * further one, at most backoff_max_ns, less up to three quarters drawn from `random`: who failed
 * together must not come back together (rule 29). Never less than least_ns.
 */
void hp3_backoff_search(struct hp3_backoff *b, const struct hp3_round_params *p, bool slow,
	uint64_t least_ns, uint32_t random, uint64_t now);
bool hp3_backoff_ready(const struct hp3_backoff *b, uint64_t now);
/*
 * To be called before a search, and at least every two minutes: who did not search for long after
 * his wait was over, 32 times as long as it was, begins anew.
 */
void hp3_backoff_age(struct hp3_backoff *b, const struct hp3_round_params *p, uint64_t now);

/*
 * --- Dead path (rule 13): three probes of the port in use lost in separate windows, while others
 * answered in the same window. One answer on the port in use starts anew; a round in which nobody
 * answers says nothing about a port. Zeroed: alive. ---
 */

#define HP3_DEAD_LOSSES 3u

struct hp3_liveness {
	uint64_t window_end;
	uint16_t port;
	uint8_t lost;
};

/*
 * Takes a settled PEER round into account; others, and those whose window overlaps the last one
 * that was taken, change nothing.
 */
void hp3_liveness_round(struct hp3_liveness *l, const struct hp3_round *r);

/*
 * True if `port` is dead as far as probes can tell. Before failing over the caller also sees to it
 * that there was no progress for >= 4 RTT and that the peer is ready to receive.
 */
static inline bool hp3_liveness_dead(const struct hp3_liveness *l, uint16_t port)
{
	return l->port == port && l->lost >= HP3_DEAD_LOSSES;
}

#endif
