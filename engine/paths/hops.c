/* SPDX-License-Identifier: BSD-3-Clause */
/* Switches that traces found. */
#include "engine/paths/paths.h"
#include <errno.h>

/* Its entry, or a free one. */
static int entry_of(const struct hp3_engine *e, bool ipv6, const uint8_t addr[16])
{
	const struct hp3_hop *hop = e->tracing->hop;
	int at = 0;

	while (at < (int)HP3_HOPS && hop[at].seen != 0 &&
		(hop[at].ipv6 != ipv6 || memcmp(hop[at].addr, addr, ipv6 ? 16 : 4) != 0))
		at++;
	return at < (int)HP3_HOPS ? at : -ENOSPC;
}

bool hp3_hop_of(const struct hp3_engine *e, uint32_t id, struct hp3_hop *hop)
{
	if (e->tracing == NULL || id >= HP3_HOPS || e->tracing->hop[id].seen == 0)
		return false;
	*hop = e->tracing->hop[id];
	return true;
}

int hp3_hop_met(struct hp3_engine *e, bool ipv6, const uint8_t addr[16])
{
	int at = entry_of(e, ipv6, addr);
	struct hp3_hop *h;

	if (at < 0)
		return at;
	h = &e->tracing->hop[at];
	if (h->seen == 0) {
		*h = (struct hp3_hop){.ipv6 = ipv6};
		memcpy(h->addr, addr, ipv6 ? 16 : 4);
	}
	if (h->seen < UINT8_MAX)
		h->seen++;
	return at;
}
