/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The entries of the table, their keys and results. Choices are in choice.c.
 *
 * Two entries may get the same id when a port's path becomes known late. Then the first one keeps
 * the results. The other entry only counts the flows that have its index, and is freed when they
 * have left.
 */
#include <errno.h>
#include <string.h>
#include "base/minmax.h"
#include "base/names.h"
#include "ppp/paths_internal.h"

#define BACKOFF_MAX 6u
#define LOSSES_MAX  127u

int hp3_paths_find(const struct hp3_paths *t, uint32_t id, uint32_t qpn)
{
	for (int i = 0; id < HP3_PATH_ORPHAN && i < (int)HP3_PATHS; i++) {
		const struct hp3_path *p = &t->path[i];

		if (p->id == id && (!t->by_qpn || !hp3_path_by_port(id) || p->qpn == qpn))
			return i;
	}
	return -ENOENT;
}

static struct hp3_path *primary_path(struct hp3_paths *t, int index)
{
	struct hp3_path *p = &t->path[index];
	int first = hp3_paths_find(t, p->id, p->qpn);

	return first < 0 ? p : &t->path[first];
}

void hp3_path_free(struct hp3_path *p)
{
	memset(p, 0, sizeof(*p));
	p->id = HP3_PATH_NONE;
}

void hp3_paths_init(struct hp3_paths *t, const struct hp3_paths_params *params, uint64_t seed)
{
	memset(t, 0, sizeof(*t));
	t->params = params;
	t->rng = seed;
	for (unsigned i = 0; i < HP3_PATHS; i++)
		hp3_path_free(&t->path[i]);
}

uint32_t hp3_paths_least_rtt(const struct hp3_paths *t)
{
	uint32_t least = 0;

	for (unsigned i = 0; i < HP3_PATHS; i++) {
		uint32_t rtt = t->path[i].min_rtt;

		if (rtt && (!least || rtt < least))
			least = rtt;
	}
	return least;
}

static bool is_fresh(const struct hp3_paths_params *c, const struct hp3_path *p, uint64_t now)
{
	uint64_t age = now - p->seen, rtts = (uint64_t)p->min_rtt * c->fresh_rtts;

	return p->seen && (age <= c->fresh_ns || age <= rtts);
}

bool hp3_path_is_marked(const struct hp3_paths *t, const struct hp3_path *p)
{
	return (p->marked + HP3_MARKED_ALL / 200) / (HP3_MARKED_ALL / 100) >=
	       t->params->ecn_fraction;
}

enum hp3_quality hp3_path_quality(
	const struct hp3_paths *t, const struct hp3_path *p, uint32_t least, uint64_t now)
{
	const struct hp3_paths_params *c = t->params;

	if (p->retry_at && now < p->retry_at)
		return p->lossy ? HP3_QUALITY_LOSSY : HP3_QUALITY_FAILED;
	if (p->retry_at && !p->lossy)
		return HP3_QUALITY_UNKNOWN;
	if (p->losses || !is_fresh(c, p, now))
		return HP3_QUALITY_UNKNOWN;
	if (hp3_path_is_marked(t, p))
		return HP3_QUALITY_CONGESTED;
	if (p->rtt && (uint64_t)p->rtt * 100 >= (uint64_t)least * c->rtt_factor)
		return HP3_QUALITY_CONGESTED;
	return HP3_QUALITY_GOOD;
}

enum hp3_quality hp3_paths_quality(const struct hp3_paths *t, int index, uint64_t now)
{
	int first = hp3_paths_find(t, t->path[index].id, t->path[index].qpn);

	return hp3_path_quality(
		t, &t->path[first < 0 ? index : first], hp3_paths_least_rtt(t), now);
}

/*
 * The least useful entry: a free one; otherwise, of the entries without flows, the one with the
 * oldest result.
 */
static int choose_victim(const struct hp3_paths *t, uint64_t now)
{
	uint64_t oldest = UINT64_MAX, soonest = UINT64_MAX;
	int stale = -ENOSPC, failed = -ENOSPC;
	unsigned failures = 0;

	for (int i = 0; i < (int)HP3_PATHS; i++) {
		const struct hp3_path *p = &t->path[i];
		uint64_t news = hp3_max_u64(p->seen, p->lost);

		if (p->id == HP3_PATH_NONE)
			return i;
		failures += p->retry_at > now;
		if (p->flows)
			continue;
		if (p->retry_at > now) {
			if (p->retry_at < soonest) {
				soonest = p->retry_at;
				failed = i;
			}
		} else if (news < oldest) {
			oldest = news;
			stale = i;
		}
	}
	return failed >= 0 && (stale < 0 || failures > HP3_PATHS / 2) ? failed : stale;
}

int hp3_paths_get(struct hp3_paths *t, uint16_t port, uint32_t qpn, uint64_t now)
{
	uint32_t id = hp3_paths_id(t, port, qpn);
	int index = hp3_paths_find(t, id, qpn);

	if (index >= 0)
		return index;
	index = choose_victim(t, now);
	if (index >= 0) {
		struct hp3_path *p = &t->path[index];

		hp3_path_free(p);
		p->id = id;
		p->port = port;
		p->qpn = t->by_qpn ? qpn : 0;
	}
	return index;
}

int hp3_paths_enter(struct hp3_paths *t, uint16_t port, uint32_t qpn, uint64_t now)
{
	int index = hp3_paths_get(t, port, qpn, now);

	if (index >= 0 && t->path[index].flows == UINT16_MAX)
		return -ENOSPC;
	if (index >= 0)
		t->path[index].flows++;
	return index;
}

void hp3_paths_leave(struct hp3_paths *t, int index)
{
	struct hp3_path *p;

	if (index < 0)
		return;
	p = &t->path[index];
	p->flows--;
	if (p->flows == 0 &&
		(p->id == HP3_PATH_ORPHAN || hp3_paths_find(t, p->id, p->qpn) != index))
		hp3_path_free(p);
}

uint32_t hp3_paths_flows_on(const struct hp3_paths *t, uint32_t id, uint32_t qpn)
{
	uint32_t flows = 0;

	for (unsigned i = 0; i < HP3_PATHS; i++) {
		const struct hp3_path *p = &t->path[i];

		if (p->id == id && (!t->by_qpn || !hp3_path_by_port(id) || p->qpn == qpn))
			flows += p->flows;
	}
	return flows;
}

void hp3_paths_reply(struct hp3_paths *t, int index, uint32_t rtt, bool marked, uint64_t now)
{
	const struct hp3_paths_params *c = t->params;
	struct hp3_path *p = primary_path(t, index);
	int32_t share = marked ? (int32_t)HP3_MARKED_ALL : 0;

	if (now < p->seen)
		return;
	if (!is_fresh(c, p, now)) {
		p->rtt = rtt;
		p->marked = (uint16_t)share;
	} else {
		p->marked = (uint16_t)(p->marked + (share - p->marked) / 8);
		if (rtt)
			p->rtt = p->rtt ? (uint32_t)(p->rtt + ((int64_t)rtt - p->rtt) / 8) : rtt;
	}
	if (rtt && (!p->min_rtt || rtt < p->min_rtt))
		p->min_rtt = rtt;
	if (p->failures && now - p->lost > c->retry_ns << BACKOFF_MAX)
		p->failures = 0;
	p->seen = now;
	p->losses = 0;
	p->spoilt = marked;
	if (!p->lossy)
		p->retry_at = 0;
}

void hp3_paths_spoil(struct hp3_paths *t, int index)
{
	primary_path(t, index)->spoilt = true;
}

static bool another_answered(const struct hp3_paths *t, const struct hp3_path *p)
{
	for (unsigned i = 0; i < HP3_PATHS; i++) {
		const struct hp3_path *o = &t->path[i];

		if (o != p && o->id != HP3_PATH_NONE && o->seen > p->first_lost)
			return true;
	}
	return false;
}

static bool is_failed(const struct hp3_path *p, uint64_t now)
{
	return !p->lossy && p->retry_at > now;
}

bool hp3_paths_lost(struct hp3_paths *t, int index, uint64_t now)
{
	const struct hp3_paths_params *c = t->params;
	struct hp3_path *p = primary_path(t, index);

	if (p->losses == 0)
		p->first_lost = now;
	else if (now - p->lost < c->window_ns)
		return is_failed(p, now);
	p->lost = now;
	if (p->losses < LOSSES_MAX)
		p->losses++;
	if (p->losses >= c->losses && (p->lossy || p->retry_at <= now) && another_answered(t, p)) {
		p->retry_at = now + (c->retry_ns << p->failures);
		p->lossy = 0;
		if (p->failures < BACKOFF_MAX)
			p->failures++;
	}
	return is_failed(p, now);
}

void hp3_paths_lossy(struct hp3_paths *t, int index, uint64_t now)
{
	const struct hp3_paths_params *c = t->params;
	struct hp3_path *p = primary_path(t, index);

	if (now < p->retry_at) /* known already, or FAILED */
		return;
	if (!p->lossy || now - p->retry_at > c->lossy_ns << BACKOFF_MAX)
		p->relapses = 0;
	p->retry_at = now + (c->lossy_ns << p->relapses);
	p->lossy = 1;
	if (p->relapses < BACKOFF_MAX)
		p->relapses++;
}

void hp3_paths_pardon(struct hp3_paths *t, int index, uint64_t now)
{
	struct hp3_path *p = primary_path(t, index);

	if (p->lossy && p->retry_at > now)
		p->retry_at = now;
}

void hp3_paths_swallows(struct hp3_paths *t, int index, uint64_t now)
{
	struct hp3_path *p = primary_path(t, index);

	if (!p->lossy) {
		p->retry_at =
			/* any reply would end FAILED, but this state must not end with a reply */
			0;
		p->losses = 0;
	}
	hp3_paths_lossy(t, index, now);
}

const char *hp3_quality_name(enum hp3_quality q)
{
	static const char *const names[] = {
		[HP3_QUALITY_UNKNOWN] = "unknown",
		[HP3_QUALITY_GOOD] = "good",
		[HP3_QUALITY_CONGESTED] = "congested",
		[HP3_QUALITY_FAILED] = "failed",
		[HP3_QUALITY_LOSSY] = "lossy",
	};

	return HP3_NAME(names, q);
}
