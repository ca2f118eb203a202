/* SPDX-License-Identifier: BSD-3-Clause */
#include "fleet/election.h"
#include <string.h>
#include "base/minmax.h"

void hp3_election_init(
	struct hp3_election *e, const char *name, uint32_t takeover_ms, uint64_t now_ms)
{
	struct hp3_election fresh = {.takeover_ms = takeover_ms, .led_ms = now_ms};

	strncpy(fresh.name, name, sizeof(fresh.name) - 1); /* may be e's */
	*e = fresh;
}

/* The planner's entry; otherwise a free one, or the one with the oldest keep-alive. */
static void note_peer(struct hp3_election *e, const char *name, uint64_t now_ms)
{
	unsigned at = 0;

	for (unsigned i = 0; i < HP3_ELECTION_PEERS; i++) {
		if (strcmp(e->peer[i].name, name) == 0) {
			at = i;
			break;
		}
		if (e->peer[i].heard_ms < e->peer[at].heard_ms)
			at = i;
	}
	memcpy(e->peer[at].name, name, sizeof(e->peer[at].name));
	e->peer[at].heard_ms = now_ms;
}

bool hp3_election_heard(
	struct hp3_election *e, const struct hp3_fleet_keepalive *b, uint64_t now_ms)
{
	int names = strcmp(b->planner, e->name);

	if (names == 0)
		return false;
	note_peer(e, b->planner, now_ms);
	if (b->leads) {
		e->led_ms = now_ms;
		if (e->leads && (b->term > e->term || (b->term == e->term && names < 0)))
			e->leads = false;
	}
	e->term = hp3_max_u64(e->term, b->term);
	return true;
}

static bool is_first(const struct hp3_election *e, uint64_t now_ms)
{
	for (unsigned i = 0; i < HP3_ELECTION_PEERS; i++)
		if (e->peer[i].name[0] != '\0' && now_ms - e->peer[i].heard_ms <= e->takeover_ms &&
			strcmp(e->peer[i].name, e->name) < 0)
			return false;
	return true;
}

bool hp3_election_tick(struct hp3_election *e, uint64_t now_ms)
{
	if (!e->leads && now_ms - e->led_ms > e->takeover_ms && is_first(e, now_ms)) {
		e->leads = true;
		e->term++;
	}
	if (e->leads)
		e->led_ms = now_ms;
	return e->leads;
}

struct hp3_fleet_keepalive hp3_election_keepalive(const struct hp3_election *e)
{
	struct hp3_fleet_keepalive b = {.term = e->term, .leads = e->leads};

	memcpy(b.planner, e->name, sizeof(b.planner));
	return b;
}
