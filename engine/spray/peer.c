/* SPDX-License-Identifier: BSD-3-Clause */
/* The records of EVs per peer. */
#include "engine/spray/spray.h"
#include "engine/flows/keys.h"

#define LATE_MESSAGE_NS 1000000000u /* no message arrives later than this */

struct who {
	uint64_t addr;
	uint32_t vlan;
	bool ipv6;
};

static struct who who_of(const struct hp3_flow *f)
{
	return (struct who){f->addr, f->vlan, (f->flags & HP3_FF_IPV6) != 0};
}

static struct hp3_spray_peer *set_of_peer(const struct hp3_spraying *s, const struct who *w)
{
	uint64_t h = hp3_mix(w->addr ^ s->key[0], w->vlan ^ s->key[1]);

	return &s->peer[(h & (s->sets - 1)) * HP3_SPRAY_WAYS];
}

static struct hp3_spray_peer *find_peer(const struct hp3_spraying *s, const struct who *w)
{
	struct hp3_spray_peer *set = set_of_peer(s, w);

	for (uint32_t i = 0; i < HP3_SPRAY_WAYS; i++)
		if (set[i].used != 0 && set[i].addr == w->addr && set[i].vlan == w->vlan &&
			set[i].ipv6 == w->ipv6)
			return &set[i];
	return NULL;
}

const struct hp3_spray_peer *hp3_spray_peer_find(
	const struct hp3_engine *e, const struct hp3_ends *ends)
{
	const struct who w = {hp3_key_addr(e, ends), ends->vlan, ends->ipv6};

	return find_peer(e->spraying, &w);
}

/* No agreement uses the record, and no ASK at set-up from this peer may still arrive. */
static bool may_replace_peer(const struct hp3_spray_peer *p, uint64_t now)
{
	return p->users == 0 && (p->newest_at == 0 || now - p->newest_at >= LATE_MESSAGE_NS);
}

static uint32_t records_of(const struct hp3_spray_peer *set, const struct hp3_spray_peer *p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < HP3_SPRAY_WAYS; i++)
		n += set[i].addr == p->addr && set[i].ipv6 == p->ipv6;
	return n;
}

/*
 * If no record may be replaced, the address pair with the most records here, at least two, loses
 * the one used longest ago. So a peer that begins in many VLANs replaces its own records, not those
 * of others.
 */
static struct hp3_spray_peer *one_of_many(struct hp3_spray_peer *set)
{
	struct hp3_spray_peer *p = NULL;
	uint32_t most = 2;

	for (uint32_t i = 0; i < HP3_SPRAY_WAYS; i++) {
		uint32_t n = records_of(set, &set[i]);

		if (set[i].users != 0 || n < most)
			continue;
		if (n > most || p == NULL || set[i].used < p->used)
			p = &set[i];
		most = n;
	}
	return p;
}

/* Replaces the record that was used longest ago; NULL: none may be replaced. */
static struct hp3_spray_peer *add_peer(struct hp3_engine *e, const struct who *w, uint64_t now)
{
	struct hp3_spray_peer *set = set_of_peer(e->spraying, w), *p = NULL;

	for (uint32_t i = 0; i < HP3_SPRAY_WAYS; i++)
		if (may_replace_peer(&set[i], now) && (p == NULL || set[i].used < p->used))
			p = &set[i];
	if (p == NULL)
		p = one_of_many(set);
	if (p != NULL)
		*p = (struct hp3_spray_peer){.addr = w->addr,
			.vlan = w->vlan,
			.ipv6 = w->ipv6,
			.base = hp3_port_block(w->addr, e->block_salt, HP3_EVS_MAX)};
	return p;
}

static struct hp3_spray_peer *get_peer(struct hp3_engine *e, const struct who *w, uint64_t now)
{
	struct hp3_spray_peer *p = find_peer(e->spraying, w);

	if (p == NULL)
		p = add_peer(e, w, now);
	if (p != NULL)
		p->used = now | 1;
	return p;
}

uint16_t hp3_spray_peer_get(struct hp3_engine *e, const struct hp3_flow *f, uint64_t now)
{
	const struct who who = who_of(f);
	struct hp3_spray_peer *p = get_peer(e, &who, now);

	if (p == NULL)
		return HP3_NO_SPRAY;
	p->users++;
	return (uint16_t)(p - e->spraying->peer);
}

/* Numbers grow, except after a restart of the peer. */
bool hp3_spray_is_first(
	struct hp3_engine *e, const struct hp3_ends *ends, uint32_t number, uint64_t now)
{
	const struct who who = {hp3_key_addr(e, ends), ends->vlan, ends->ipv6};
	struct hp3_spray_peer *p = get_peer(e, &who, now);

	if (p == NULL || (p->newest_at != 0 && now - p->newest_at < LATE_MESSAGE_NS &&
				 (int32_t)(number - p->newest) <= 0))
		return false;
	p->newest = number;
	p->newest_at = now;
	return true;
}

/* The record that has this port as an EV; NULL: none. */
static struct hp3_spray_peer *peer_with_port(
	struct hp3_engine *e, const struct hp3_flow *f, uint16_t port)
{
	const struct who who = who_of(f);
	struct hp3_spray_peer *p = find_peer(e->spraying, &who);

	return p != NULL && (uint32_t)(port ^ p->base) < e->cfg.spray.evs ? p : NULL;
}

void hp3_spray_probe_sent(
	struct hp3_engine *e, const struct hp3_flow *f, uint16_t port, uint64_t now)
{
	struct hp3_spray_peer *p = peer_with_port(e, f, port);

	if (p != NULL)
		hp3_spread_probed(&p->spread, &e->spraying->spread, port ^ p->base, now);
}

void hp3_spray_probe_answered(struct hp3_engine *e, const struct hp3_flow *f, uint16_t port,
	uint32_t rtt_ns, bool marked, uint64_t now)
{
	struct hp3_spray_peer *p = peer_with_port(e, f, port);

	if (p != NULL)
		hp3_spread_answered(&p->spread, &e->spraying->spread, port ^ p->base,
			marked ? UINT32_MAX : rtt_ns, now);
}
