/* SPDX-License-Identifier: BSD-3-Clause */
/* What is remembered of the lanes to each peer. */
#include "engine/spray/spray.h"
#include "base/random.h"
#include "ppp/ports.h"

uint32_t hp3_spray_peers(uint32_t flows)
{
	uint32_t sets = 1;

	while (sets * 2 < flows)
		sets *= 2;
	return sets * HP3_SPRAY_WAYS;
}

static bool is_of(const struct hp3_spray_peer *p, const struct hp3_flow *f)
{
	return p->used != 0 && p->addr == f->addr && p->vlan == f->vlan &&
	       p->ipv6 == ((f->flags & HP3_FF_IPV6) != 0);
}

static uint32_t set_of(const struct hp3_spraying *s, const struct hp3_flow *f)
{
	uint64_t h = (f->addr ^ (uint64_t)f->vlan << 48) * 0x9e3779b97f4a7c15u;

	return (uint32_t)(h >> 40) & (s->sets - 1);
}

static bool is_better(const struct hp3_spray_peer *p, const struct hp3_spray_peer *than)
{
	return p->users == 0 && (than == NULL || p->used < than->used);
}

uint16_t hp3_spray_peer_get(struct hp3_engine *e, const struct hp3_flow *f, uint64_t now)
{
	struct hp3_spraying *s = e->spraying;
	struct hp3_spray_peer *set = &s->peer[set_of(s, f) * HP3_SPRAY_WAYS], *found = NULL;

	for (uint32_t i = 0; i < HP3_SPRAY_WAYS; i++) {
		if (is_of(&set[i], f)) {
			found = &set[i];
			break;
		}
		if (is_better(&set[i], found))
			found = &set[i];
	}
	if (found == NULL)
		return HP3_NO_SPRAY;
	if (!is_of(found, f))
		*found = (struct hp3_spray_peer){.addr = f->addr,
			.vlan = f->vlan,
			.ipv6 = (f->flags & HP3_FF_IPV6) != 0,
			.base = hp3_random_port(&e->rng) & (uint16_t) ~(HP3_LANES - 1)};
	found->used = now | 1;
	found->users++;
	return (uint16_t)(found - s->peer);
}
