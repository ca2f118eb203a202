/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Answers from peers' hp3d. An answer carries the id of the probe, which names the slot of the
 * round. Answers that match no current round are ignored.
 */
#include "engine/paths/compare.h"
#include "engine/search/search.h"
#include "engine/spray/rounds.h"
#include "engine/spray/spray.h"

static bool is_of_round(const struct hp3_round *r, uint32_t id)
{
	return r->kind == HP3_PROBE_PEER && r->id != 0 && (id & ~(HP3_ROUND_PROBES - 1)) == r->id;
}

/* Is this the first answer to this probe? */
static bool is_first(const struct hp3_round *r, uint32_t id)
{
	uint32_t i = id & (HP3_ROUND_PROBES - 1);

	return i < r->next && r->probe[i].state != HP3_PROBE_ANSWERED &&
	       r->probe[i].state != HP3_PROBE_LATE;
}

static struct hp3_move *move_of(struct hp3_engine *e, uint32_t id)
{
	uint32_t slot = hp3_probe_slot(id);
	struct hp3_move *m = slot < e->cfg.max_moves ? &e->moves[slot] : NULL;

	if (m == NULL || m->active >= e->nmoves || e->slots[m->active] != slot ||
		m->search.state == HP3_SEARCH_QUIET || !is_of_round(&m->search.round, id))
		return NULL;
	return m;
}

static void is_there(struct hp3_engine *e, uint32_t pair, uint64_t now)
{
	struct hp3_pair *p = &e->pairs.pairs[pair];

	p->peer_seen = now;
	p->peer_silent = 0;
	p->peer_plain = false;
}

void hp3_peer_seen(struct hp3_engine *e, const struct hp3_ends *ends, uint64_t now)
{
	uint32_t pair = hp3_pairs_find(&e->pairs, ends);

	if (pair != HP3_NO_PAIR)
		is_there(e, pair, now);
}

/* A probe whose answer is late: its port, and when it left. */
struct late {
	uint16_t port;
	uint64_t sent;
};

/* Of the newest round. False: it is not of that round, or was answered before. */
static bool late_of_newest(struct hp3_round *r, uint32_t id, struct late *late)
{
	struct hp3_probe *p = &r->probe[id & (HP3_ROUND_PROBES - 1)];

	if (!is_of_round(r, id) || !is_first(r, id))
		return false;
	p->state = HP3_PROBE_LATE;
	*late = (struct late){p->port, r->start + p->sent_ns};
	return true;
}

/* Of the round at set-up before the newest. */
static bool late_of_earlier(struct hp3_search *d, uint32_t id, struct late *late)
{
	uint32_t i = id & (HP3_ROUND_PROBES - 1);

	if (d->kind != HP3_SEARCH_SETUP || d->setup.earlier.id == 0 ||
		id - i != d->setup.earlier.id || !(d->setup.earlier.open >> i & 1))
		return false;
	d->setup.earlier.open &= (uint8_t) ~(1u << i);
	*late = (struct late){d->setup.earlier.port[i], d->setup.earlier.start};
	return true;
}

/*
 * The answer came after the end of its round, so the round's result stays. But if a queue is longer
 * than the rounds' time-out, all answers are late, and such a peer runs hp3d. A late answer also
 * shows how long its EV takes: a round at set-up ends with the first good answers, and others
 * arrive soon after, mostly when the next round has begun. The slot keeps both rounds until another
 * flow takes it.
 */
static bool too_late(struct hp3_engine *e, uint32_t id, bool ce, uint32_t took_ns, uint64_t now)
{
	uint32_t slot = hp3_probe_slot(id);
	struct hp3_move *m = slot < e->cfg.max_moves ? &e->moves[slot] : NULL;
	struct late late;
	uint64_t rtt;

	e->stats.probe_strays++;
	if (m == NULL || (!late_of_newest(&m->search.round, id, &late) &&
				 !late_of_earlier(&m->search, id, &late)))
		return false;
	if (!(e->flows[m->flow].flags & HP3_FF_USED))
		return false;
	is_there(e, e->flows[m->flow].pair, now);
	rtt = now - hp3_min_u64(late.sent, now);
	if (took_ns != 0)
		rtt = hp3_min_u64(rtt, took_ns);
	if (e->spraying != NULL)
		hp3_spray_probe_answered(e, &e->flows[m->flow], late.port,
			(uint32_t)hp3_min_u64(rtt, UINT32_MAX - 1), ce, now);
	return true;
}

void hp3_probe_reply(
	struct hp3_engine *e, uint32_t id, bool ce, uint64_t now, struct hp3_acts *acts)
{
	hp3_probe_timed(e, id, ce, 0, now, acts);
}

bool hp3_probe_timed(struct hp3_engine *e, uint32_t id, bool ce, uint32_t took_ns, uint64_t now,
	struct hp3_acts *acts)
{
	struct hp3_move *m = move_of(e, id);
	bool first;

	acts->n = 0;
	if (m == NULL && (hp3_compare_reply(e, id, ce, took_ns, now) ||
				 hp3_spray_rounds_reply(e, id, took_ns, now))) {
		e->stats.probe_replies++;
		return true;
	}
	if (m == NULL)
		return too_late(e, id, ce, took_ns, now);
	first = is_first(&m->search.round, id);
	e->stats.probe_replies++;
	if (first)
		is_there(e, e->flows[m->flow].pair, now);
	hp3_search_answer(&(struct hp3_turn){e, now, acts}, m, id, ce, took_ns);
	return first;
}
