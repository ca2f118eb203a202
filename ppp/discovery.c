/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stddef.h>
#include "base/minmax.h"
#include "base/names.h"
#include "ppp/discovery.h"
#include "ppp/ports.h"

#define ID_MASK          (~(uint32_t)(HP3_ROUND_PROBES - 1))
#define LEAST_PROBES     2u /* of a round: the port in use, one candidate */
#define BACKOFF_UNIT     32768u /* ns */
#define BACKOFF_SPAN     (1u << 24) /* units */
#define BACKOFF_SEARCHES 31u
#define BACKOFF_SLOW     7u
#define BACKOFF_FORGET   32u /* waits */

uint32_t hp3_probe_budget_take(struct hp3_probe_budget *b, const struct hp3_round_params *p,
	uint32_t least, uint32_t want, uint64_t now)
{
	uint64_t interval, from, tokens, full;

	if (p->probes_per_second == 0)
		return 0;
	/* rounded up: never more probes than configured */
	interval = (1000000000u + (uint64_t)p->probes_per_second - 1) / p->probes_per_second;
	full = interval * p->probe_burst;
	from = hp3_max_u64(b->spent_until, now);
	/* a smaller burst or rate may have been configured meanwhile */
	if (from - now > full)
		return 0;
	tokens = (full - (from - now)) / interval;
	if (tokens < least || tokens == 0)
		return 0;
	want = (uint32_t)hp3_min_u64(tokens, want);
	b->spent_until = from + want * interval;
	return want;
}

static bool is_parallel(const struct hp3_round *r)
{
	return r->kind == HP3_PROBE_PEER;
}

static bool candidates_valid(const struct hp3_round_ask *ask)
{
	if (ask->n == 0 || ask->n > HP3_ROUND_PROBES - 1)
		return false;
	for (uint32_t i = 0; i < ask->n; i++)
		if (ask->candidates[i] == ask->port ||
			hp3_port_among(ask->candidates, i, ask->candidates[i]))
			return false;
	return true;
}

int hp3_round_start(struct hp3_round *r, const struct hp3_round_params *p,
	struct hp3_probe_budget *b, const struct hp3_round_ask *ask, uint64_t now)
{
	bool peer = ask->kind == HP3_PROBE_PEER;
	uint32_t got;

	if (!candidates_valid(ask))
		return -EINVAL;
	if (!peer && (!ask->drained || ask->reads))
		return -EBUSY;
	got = hp3_probe_budget_take(b, p, LEAST_PROBES, ask->n + 1, now);
	if (got == 0)
		return -EAGAIN;
	*r = (struct hp3_round){.start = now,
		.deadline = now + p->timeout_ns,
		.id = ask->nonce & ID_MASK,
		.rtt_ns = ask->rtt_ns,
		.kind = (uint8_t)ask->kind,
		.patient = peer && ask->patient,
		.again = ask->again,
		.lossy = ask->lossy,
		.no_worse = ask->no_worse,
		.as_data = peer && ask->as_data,
		.n = (uint8_t)got,
		.port = ask->port};
	for (uint32_t i = 0; i < got; i++)
		r->probe[i].port = i == 0 ? ask->port : ask->candidates[i - 1];
	return 0;
}

static uint64_t sent_at(const struct hp3_round *r, uint32_t i)
{
	return r->start + r->probe[i].sent_ns;
}

/* Number of the first probe in that state, or HP3_NO_PROBE. */
static int first_in(const struct hp3_round *r, enum hp3_probe_state state)
{
	for (uint32_t i = 0; i < r->n; i++) {
		if (r->probe[i].state == state)
			return (int)i;
	}
	return HP3_NO_PROBE;
}

int hp3_round_send(struct hp3_round *r, const struct hp3_round_params *p, uint64_t now)
{
	uint32_t i = r->next;

	if (hp3_round_tick(r, p, now) != HP3_ROUND_PENDING || i >= r->n)
		return HP3_NO_PROBE;
	if (!is_parallel(r) && first_in(r, HP3_PROBE_OPEN) != HP3_NO_PROBE)
		return HP3_NO_PROBE;
	r->probe[i].state = HP3_PROBE_OPEN;
	r->probe[i].sent_ns = (uint32_t)(now - r->start);
	r->next++;
	r->deadline = now + p->timeout_ns;
	return (int)i;
}

int hp3_round_in_air(const struct hp3_round *r)
{
	return is_parallel(r) ? HP3_NO_PROBE : first_in(r, HP3_PROBE_OPEN);
}

/* The fastest unmarked answer of the probes from number `i` on; NULL: there is none. */
static const struct hp3_probe *fastest_unmarked(const struct hp3_round *r, uint32_t i)
{
	const struct hp3_probe *best = NULL;

	for (; i < r->n; i++) {
		const struct hp3_probe *q = &r->probe[i];

		if (q->state == HP3_PROBE_ANSWERED && !q->ce &&
			(best == NULL || q->rtt_ns < best->rtt_ns))
			best = q;
	}
	return best;
}

static bool incumbent_answered(const struct hp3_round *r)
{
	return r->probe[0].state == HP3_PROBE_ANSWERED;
}

/* The RTT with which a winner's RTT is compared; 0: not known yet. */
static uint64_t reference_rtt(const struct hp3_round *r, const struct hp3_round_params *p)
{
	if (incumbent_answered(r))
		return r->probe[0].rtt_ns;
	if (r->rtt_ns == 0 && is_parallel(r) && r->probe[0].state == HP3_PROBE_LOST)
		return (uint64_t)p->timeout_ns * 100; /* any answer is better than no answer */
	return r->rtt_ns;
}

/* The fastest unmarked answer of another port wins if it is good enough. */
static bool find_winner(struct hp3_round *r, const struct hp3_round_params *p)
{
	uint32_t improve = r->again ? (100u + p->improve) / 2 : p->improve;
	uint64_t ref = reference_rtt(r, p);
	const struct hp3_probe *best = fastest_unmarked(r, 1);

	if (r->lossy)
		improve = HP3_LOSSY_RTT;
	else if (r->no_worse)
		improve = HP3_NO_WORSE_RTT;
	if (r->patient && !incumbent_answered(r))
		return false;
	if (best == NULL || (uint64_t)best->rtt_ns * 100 > ref * improve)
		return false;
	r->winner = (uint8_t)(best - r->probe);
	r->outcome = HP3_ROUND_WINNER;
	return true;
}

/* True: no outstanding or unsent probe can change the outcome any more. */
static bool is_hopeless(const struct hp3_round *r, uint64_t now)
{
	bool slower_wins = r->lossy || r->no_worse;

	return now >= r->deadline || (is_parallel(r) && incumbent_answered(r) && !slower_wins) ||
	       (r->next == r->n && first_in(r, HP3_PROBE_OPEN) == HP3_NO_PROBE);
}

static void judge_round(struct hp3_round *r, const struct hp3_round_params *p, uint64_t now)
{
	bool lost;

	if (r->outcome != HP3_ROUND_PENDING || find_winner(r, p) || !is_hopeless(r, now))
		return;
	lost = first_in(r, HP3_PROBE_ANSWERED) == HP3_NO_PROBE ||
	       (!is_parallel(r) && first_in(r, HP3_PROBE_LOST) != HP3_NO_PROBE);
	r->outcome = lost ? HP3_ROUND_TIMEOUT : HP3_ROUND_NO_BETTER;
}

enum hp3_round_outcome hp3_round_tick(
	struct hp3_round *r, const struct hp3_round_params *p, uint64_t now)
{
	for (uint32_t i = 0; i < r->next; i++) {
		if (r->probe[i].state == HP3_PROBE_OPEN && now - sent_at(r, i) >= p->timeout_ns)
			r->probe[i].state = HP3_PROBE_LOST;
	}
	judge_round(r, p, now);
	return r->outcome;
}

enum hp3_round_outcome hp3_round_reply(
	struct hp3_round *r, const struct hp3_round_params *p, uint32_t id, bool ce, uint64_t now)
{
	return hp3_round_timed(r, p, id, ce, 0, now);
}

enum hp3_round_outcome hp3_round_timed(struct hp3_round *r, const struct hp3_round_params *p,
	uint32_t id, bool ce, uint32_t took_ns, uint64_t now)
{
	uint32_t i = id & ~ID_MASK;
	struct hp3_probe *q = &r->probe[i];

	if ((id & ID_MASK) != r->id || i >= r->next)
		return r->outcome;
	hp3_round_tick(r, p, now);
	if (q->state != HP3_PROBE_OPEN && q->state != HP3_PROBE_LOST)
		return r->outcome;
	if ((q->state == HP3_PROBE_LOST || r->outcome != HP3_ROUND_PENDING) && r->late < UINT8_MAX)
		r->late++;
	q->rtt_ns = hp3_probe_rtt(now - sent_at(r, i), took_ns);
	q->ce = ce;
	q->state = q->state == HP3_PROBE_OPEN ? HP3_PROBE_ANSWERED : HP3_PROBE_LATE;
	judge_round(r, p, now);
	return r->outcome;
}

void hp3_round_cancel(struct hp3_round *r)
{
	if (r->outcome == HP3_ROUND_PENDING)
		r->outcome = HP3_ROUND_CANCELLED;
}

const struct hp3_probe *hp3_round_unmarked(const struct hp3_round *r)
{
	return fastest_unmarked(r, 0);
}

bool hp3_round_heard(const struct hp3_round *r)
{
	return first_in(r, HP3_PROBE_ANSWERED) != HP3_NO_PROBE;
}

bool hp3_round_settled(const struct hp3_round *r)
{
	return r->outcome != HP3_ROUND_PENDING && first_in(r, HP3_PROBE_OPEN) == HP3_NO_PROBE;
}

/* No search for this long (at most 4.5 minutes), whatever wait was set before. */
static void wait_for(struct hp3_backoff *b, uint64_t wait_ns, uint64_t now)
{
	uint64_t units = ((now & (BACKOFF_UNIT - 1)) + wait_ns + BACKOFF_UNIT - 1) / BACKOFF_UNIT;

	units = hp3_min_u64(units, BACKOFF_SPAN / 2 - 1);
	b->until = (uint32_t)(now / BACKOFF_UNIT + units) & (BACKOFF_SPAN - 1);
	if (b->until == 0)
		b->until = 1; /* one unit later: 0 means no wait */
}

static uint32_t doubt_of(uint32_t searches, const struct hp3_round_params *p)
{
	return searches < p->backoff_after ? 0 : searches - p->backoff_after + 1u;
}

uint32_t hp3_backoff_doubt(const struct hp3_backoff *b, const struct hp3_round_params *p, bool slow)
{
	return doubt_of(b->searches + (slow ? b->slow : 0u), p);
}

/* The wait before its random part; 0 for the first searches. */
static uint64_t longest_wait(const struct hp3_backoff *b, const struct hp3_round_params *p)
{
	uint32_t doubt = doubt_of((uint32_t)b->searches + b->slow, p);

	if (doubt == 0)
		return 0;
	return doubt > 32
		       ? p->backoff_max_ns
		       : hp3_min_u64((uint64_t)p->backoff_min_ns << (doubt - 1), p->backoff_max_ns);
}

void hp3_backoff_search(struct hp3_backoff *b, const struct hp3_round_params *p, bool slow,
	uint64_t least_ns, uint32_t random, uint64_t now)
{
	uint64_t wait;

	if (slow && b->slow < BACKOFF_SLOW)
		b->slow++;
	if (!slow && b->searches < BACKOFF_SEARCHES)
		b->searches++;
	wait = longest_wait(b, p);
	wait -= (wait / 4 * 3 * random) >> 32;
	wait_for(b, hp3_max_u64(wait, least_ns), now);
}

static uint64_t units_since(const struct hp3_backoff *b, uint64_t now)
{
	return ((uint32_t)(now / BACKOFF_UNIT) - b->until) & (BACKOFF_SPAN - 1);
}

bool hp3_backoff_ready(const struct hp3_backoff *b, uint64_t now)
{
	return b->until == 0 || units_since(b, now) < BACKOFF_SPAN / 2;
}

void hp3_backoff_age(struct hp3_backoff *b, const struct hp3_round_params *p, uint64_t now)
{
	uint64_t wait = hp3_max_u64(longest_wait(b, p), p->backoff_min_ns);
	uint64_t past = units_since(b, now);

	if (b->until == 0 || !hp3_backoff_ready(b, now))
		return;
	if (past >= BACKOFF_SPAN / 4 || past * BACKOFF_UNIT >= BACKOFF_FORGET * wait)
		*b = (struct hp3_backoff){0};
}

void hp3_liveness_round(struct hp3_liveness *l, const struct hp3_round *r)
{
	uint32_t others = 0;

	if (!is_parallel(r) || !hp3_round_settled(r) || r->start < l->window_end)
		return;
	l->window_end = r->deadline;
	if (l->port != r->port) {
		l->port = r->port;
		l->lost = 0;
	}
	for (uint32_t i = 1; i < r->n; i++)
		others += r->probe[i].state == HP3_PROBE_ANSWERED;
	if (r->probe[0].state == HP3_PROBE_ANSWERED || r->probe[0].state == HP3_PROBE_LATE)
		l->lost = 0;
	else if (r->probe[0].state == HP3_PROBE_LOST && others != 0 && l->lost < HP3_DEAD_LOSSES)
		l->lost++;
}

const char *hp3_round_outcome_name(enum hp3_round_outcome o)
{
	static const char *const names[] = {[HP3_ROUND_PENDING] = "pending",
		[HP3_ROUND_WINNER] = "winner",
		[HP3_ROUND_NO_BETTER] = "no-better",
		[HP3_ROUND_TIMEOUT] = "timeout",
		[HP3_ROUND_CANCELLED] = "cancelled"};

	return HP3_NAME(names, o);
}

const char *hp3_probe_kind_name(enum hp3_probe_kind k)
{
	static const char *const names[] = {
		[HP3_PROBE_PEER] = "peer", [HP3_PROBE_STANDARD] = "standard"};

	return HP3_NAME(names, k);
}

const char *hp3_probe_state_name(enum hp3_probe_state s)
{
	static const char *const names[] = {[HP3_PROBE_UNSENT] = "unsent",
		[HP3_PROBE_OPEN] = "open",
		[HP3_PROBE_ANSWERED] = "answered",
		[HP3_PROBE_LATE] = "late",
		[HP3_PROBE_LOST] = "lost"};

	return HP3_NAME(names, s);
}
