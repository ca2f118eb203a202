/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Path discovery (HP3, section "Alternative Path Discovery"): one round of probes, the back-off
 * between searches, the probe budget of an address pair, and the verdict that a path is dead.
 *
 * A round sends a probe per candidate port. The incumbent is the port in use. The first answer that
 * is good enough wins: the probe is unmarked, and its RTT <= improve x the incumbent's RTT. Instead
 * of improve, the factor is HP3_LOSSY_RTT if the port in use is lossy, and HP3_NO_WORSE_RTT for an
 * advised port. The incumbent's RTT is the RTT of its own probe in this round. Before the answer to
 * this probe, the flow's smoothed RTT takes its place. PEER: if both RTTs are unknown, and the
 * incumbent's probe is lost, the fastest unmarked answer wins.
 *
 * Kinds:
 * - PEER: also probes the port in use; all probes leave back to back. Once the port in use has
 *   answered, slower answers cannot win, and the round ends (except with the two factors above).
 * - STANDARD: a duplicate of an acknowledged request (rule 2). Answers do not show to which probe
 *   they belong. So one probe is outstanding at a time, and only after a drain, while no READ or
 *   ATOMIC is outstanding. A loss ends the round. The next round starts guard_ns later, so that no
 *   answer is matched with a wrong probe. The port in use is probed first. The path is drained, so
 *   the RTT does not contain the flow's own queue, which would move with the flow.
 *
 * Invariants: the winner is a candidate, unmarked, and fast enough (see above). At most one
 * STANDARD probe is outstanding. A round ends at its deadline at the latest; later answers do not
 * change the outcome. Probes of an address pair never exceed burst + rate x time in any interval.
 *
 * Units: nanoseconds (monotonic), percent. Sans-IO: the caller sends what hp3_round_send() returns.
 */
#include <stdbool.h>
#include <stdint.h>
#include "base/minmax.h"

#define HP3_ROUND_PROBES 8u /* including the port in use */
#define HP3_NO_PROBE     (-1)
/*
 * Highest RTT of a winner, in percent of the incumbent's RTT, in two cases in which the winner may
 * be slower.
 */
#define HP3_LOSSY_RTT    150u /* if the port in use is lossy */
#define HP3_NO_WORSE_RTT 110u /* if the candidate was advised */

enum hp3_probe_kind { HP3_PROBE_PEER, HP3_PROBE_STANDARD };

struct hp3_round_params {
	uint64_t backoff_max_ns; /* longest wait after a search */
	uint32_t timeout_ns; /* time-out of a probe; >= the largest RTT, < 2^29 */
	uint32_t guard_ns; /* STANDARD: wait after a loss; >= the largest RTT */
	uint32_t backoff_min_ns; /* shortest wait after a search */
	uint32_t probes_per_second; /* rate of an address pair; 0: no probes */
	uint16_t probe_burst; /* burst of an address pair */
	uint16_t improve; /* highest RTT of a winner, in percent of the incumbent's RTT, 1..100 */
	uint8_t backoff_after; /* number of searches in a row from which on the flow waits, >= 1 */
};

/*
 * The RTT of a probe that left `since_ns` ago by the caller's clock; at least 1. took_ns: the RTT
 * by a clock closer to the wire, such as an RNIC's timestamps. If took_ns is 0, or longer than
 * since_ns, since_ns counts.
 */
static inline uint32_t hp3_probe_rtt(uint64_t since_ns, uint32_t took_ns)
{
	uint64_t rtt = took_ns != 0 ? hp3_min_u64(since_ns, took_ns) : since_ns;

	return (uint32_t)hp3_min_u64(hp3_max_u64(rtt, 1), UINT32_MAX);
}

/* --- Probe budget of an address pair: a token bucket, full when zeroed. --- */

struct hp3_probe_budget {
	uint64_t spent_until; /* virtual time up to which tokens are spent (GCRA) */
};

/*
 * Takes up to `want` tokens, or none if fewer than `least` are available. Returns the number of
 * tokens taken.
 */
uint32_t hp3_probe_budget_take(struct hp3_probe_budget *b, const struct hp3_round_params *p,
	uint32_t least, uint32_t want, uint64_t now);

/* --- A round. --- */

enum hp3_probe_state {
	HP3_PROBE_UNSENT,
	HP3_PROBE_OPEN, /* outstanding */
	HP3_PROBE_ANSWERED, /* in time; the round may have ended before the answer */
	HP3_PROBE_LOST, /* no answer within timeout_ns */
	HP3_PROBE_LATE, /* answered after timeout_ns */
};

enum hp3_round_outcome {
	HP3_ROUND_PENDING,
	HP3_ROUND_WINNER,
	HP3_ROUND_NO_BETTER, /* answers arrived, but no answer was good enough */
	HP3_ROUND_TIMEOUT, /* PEER: no answer at all; STANDARD: the outstanding probe was lost */
	HP3_ROUND_CANCELLED,
};

/* A probe and its result. */
struct hp3_probe {
	uint32_t sent_ns; /* since hp3_round.start */
	uint32_t rtt_ns; /* if answered */
	uint16_t port;
	uint8_t state; /* enum hp3_probe_state */
	bool ce; /* if answered: the probe was marked CE */
};

struct hp3_round {
	uint64_t start;
	uint64_t deadline; /* time of the next hp3_round_tick() */
	uint32_t id; /* low 3 bits 0 */
	uint32_t rtt_ns; /* the incumbent's smoothed RTT; 0: unknown */
	uint8_t kind : 3; /* enum hp3_probe_kind */
	uint8_t as_data : 1;
	uint8_t patient : 1;
	uint8_t again : 1;
	uint8_t lossy : 1;
	uint8_t no_worse : 1;
	uint8_t outcome; /* enum hp3_round_outcome */
	uint8_t n; /* number of probes; probe 0 is on the port in use */
	uint8_t next; /* first probe not sent yet */
	uint8_t winner; /* WINNER: number of the probe */
	/* answers that came after the end of the round or after the time-out of the probe; up to
	 * 255 */
	uint8_t late;
	uint16_t port; /* in use */
	struct hp3_probe probe[HP3_ROUND_PROBES];
};

_Static_assert(sizeof(struct hp3_round) == 128, "two cache lines");

struct hp3_round_ask {
	enum hp3_probe_kind kind;
	uint16_t port; /* in use */
	const uint16_t *candidates; /* without the port in use, best first */
	uint32_t n;
	uint32_t rtt_ns; /* smoothed RTT of the port in use; 0: unknown */
	uint32_t nonce; /* random, from the caller: unguessable, different for each round */
	/*
	 * PEER: no winner before the probe of the port in use is answered. Queues change, so an
	 * older RTT is no reference.
	 */
	bool patient;
	bool again; /* the candidate has won before: (100 + `improve`) / 2 instead of `improve` */
	bool lossy; /* the port in use is lossy: HP3_LOSSY_RTT instead of `improve` */
	bool no_worse; /* HP3_NO_WORSE_RTT instead of `improve` */
	bool as_data; /* PEER: probes are as long as packets of the flow */
	bool drained; /* nothing is in flight on the port in use */
	bool reads; /* a READ or ATOMIC is outstanding */
};

/*
 * Begins a round and takes its probes from the budget. If the budget is low, the last candidates
 * are dropped. Returns 0; -EINVAL: there is no candidate, there are too many, or two are equal;
 * -EBUSY: STANDARD without a drain or with READs outstanding; -EAGAIN: no budget. *r is written
 * only on success.
 */
int hp3_round_start(struct hp3_round *r, const struct hp3_round_params *p,
	struct hp3_probe_budget *b, const struct hp3_round_ask *ask, uint64_t now);

/* The number of the probe to send now, which then counts as sent; HP3_NO_PROBE if none is due. */
int hp3_round_send(struct hp3_round *r, const struct hp3_round_params *p, uint64_t now);

/* The id of probe `i`, which its answer repeats. */
static inline uint32_t hp3_round_probe_id(const struct hp3_round *r, uint32_t i)
{
	return r->id | i;
}

/* STANDARD: the number of the outstanding probe, to which an answer without an id belongs. */
int hp3_round_in_air(const struct hp3_round *r);

/*
 * An answer to probe `id`; `ce`: the probe was marked CE. Unknown and repeated ids are ignored.
 * Answers after the end are recorded, but do not change the outcome. Returns the outcome.
 */
enum hp3_round_outcome hp3_round_reply(
	struct hp3_round *r, const struct hp3_round_params *p, uint32_t id, bool ce, uint64_t now);
/* As hp3_round_reply(), with `took_ns` of hp3_probe_rtt(). */
enum hp3_round_outcome hp3_round_timed(struct hp3_round *r, const struct hp3_round_params *p,
	uint32_t id, bool ce, uint32_t took_ns, uint64_t now);

/* Handles time-outs of probes, and the end of the round. Also records losses after the end. */
enum hp3_round_outcome hp3_round_tick(
	struct hp3_round *r, const struct hp3_round_params *p, uint64_t now);

/* Ends the round (fast recovery). A round that has ended keeps its outcome. */
void hp3_round_cancel(struct hp3_round *r);

/* The fastest unmarked answer so far, on any port; NULL: none. */
const struct hp3_probe *hp3_round_unmarked(const struct hp3_round *r);

/* Was any probe answered in time? */
bool hp3_round_heard(const struct hp3_round *r);

/* Has the round ended, and is every probe answered or lost? */
bool hp3_round_settled(const struct hp3_round *r);

const char *hp3_round_outcome_name(enum hp3_round_outcome o);
const char *hp3_probe_kind_name(enum hp3_probe_kind k);
const char *hp3_probe_state_name(enum hp3_probe_state s);

/*
 * --- Back-off of a flow. If a flow searches many times in a row, searches do not help it, whether
 * it moved or not. Congestion control builds a queue on every path from time to time, and a flow
 * that moved regains its rate slowly. So searches become rare, and their results are re-probed
 * (engine/search/reprobe.c). Zeroed: no wait, no doubt. ---
 */

/*
 * 32 bits, for the flow record: `until` counts units of 2^15 ns (33 us) modulo 2^24. A wait is at
 * most 2^23 units (4.5 minutes). hp3_backoff_age() must clear `until` within 2^23 units after the
 * end of a wait: after that, `until` would be in the future again.
 */
struct hp3_backoff {
	uint32_t until : 24; /* 0: no wait */
	uint32_t searches : 5; /* searches in a row, without those that `slow` counts; up to 31 */
	uint32_t slow : 3; /* searches without a result that only RTTs started; up to 7 */
};

_Static_assert(sizeof(struct hp3_backoff) == 4, "part of every flow record");

/*
 * The doubt about a search: 0 for the first `backoff_after` searches, 1 for the next search, and so
 * on. Searches that hp3_backoff.slow counts raise only the doubt about searches with `slow`. The
 * reason: hosts also make RTTs longer, so long RTTs are no evidence of a queue that marks packets.
 */
uint32_t hp3_backoff_doubt(
	const struct hp3_backoff *b, const struct hp3_round_params *p, bool slow);
/*
 * A search has ended, with or without a move. `slow`: without a result, and only RTTs had started
 * it. From the backoff_after-th search on, the next search waits for backoff_min_ns, doubled for
 * each further search, at most backoff_max_ns. A random part of up to three quarters is subtracted,
 * so that flows whose searches failed together do not search together again (rule 29). The wait is
 * at least least_ns.
 */
void hp3_backoff_search(struct hp3_backoff *b, const struct hp3_round_params *p, bool slow,
	uint64_t least_ns, uint32_t random, uint64_t now);
bool hp3_backoff_ready(const struct hp3_backoff *b, uint64_t now);
/*
 * Call it before a search, and at least every two minutes. Clears the back-off of a flow that has
 * not searched for some time after the end of its wait: 32 times the wait, or 2.3 minutes if that
 * is shorter.
 */
void hp3_backoff_age(struct hp3_backoff *b, const struct hp3_round_params *p, uint64_t now);

/*
 * --- Dead path (rule 13): three probes of the port in use are lost in separate windows, while
 * probes of other ports are answered in the same windows. An answer on the port in use resets the
 * count. A round without any answer does not count. Zeroed: alive. ---
 */

#define HP3_DEAD_LOSSES 3u

struct hp3_liveness {
	uint64_t window_end;
	uint16_t port;
	uint8_t lost;
};

/*
 * Takes a settled PEER round into account. Ignores other rounds, and a round whose window overlaps
 * the window of the last round that counted.
 */
void hp3_liveness_round(struct hp3_liveness *l, const struct hp3_round *r);

/*
 * Is `port` dead according to probes? Before a failover, the caller also checks that no reply
 * acknowledged new packets for >= 4 RTTs, and that the peer is ready to receive.
 */
static inline bool hp3_liveness_dead(const struct hp3_liveness *l, uint16_t port)
{
	return l->port == port && l->lost >= HP3_DEAD_LOSSES;
}
