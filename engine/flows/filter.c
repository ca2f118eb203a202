/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/filter.h"
#include <string.h>
#include "base/names.h"
#include "engine/flows/barred.h"

static bool is_in_prefix(const struct hp3_prefix *p, bool ipv6, const uint8_t *addr)
{
	uint8_t whole = p->bits / 8, rest = p->bits % 8, mask = (uint8_t)(0xff00u >> rest);

	return p->ipv6 == ipv6 && memcmp(p->addr, addr, whole) == 0 &&
	       (rest == 0 || ((p->addr[whole] ^ addr[whole]) & mask) == 0);
}

bool hp3_filter_has_peer(const struct hp3_filter *f, bool ipv6, const uint8_t *addr)
{
	for (unsigned i = 0; i < f->peers; i++)
		if (is_in_prefix(&f->peer[i], ipv6, addr))
			return true;
	return f->peers == 0;
}

bool hp3_filter_has_dscp(const struct hp3_filter *f, uint8_t dscp)
{
	return f->dscp == 0 || (dscp < HP3_DSCPS && f->dscp >> dscp & 1);
}

bool hp3_filter_has_qpn(const struct hp3_filter *f, uint32_t lqpn)
{
	for (unsigned i = 0; i < f->qpns; i++)
		if (lqpn >= f->qpn[i].from && lqpn <= f->qpn[i].to)
			return true;
	return f->qpns == 0;
}

const char *hp3_bar_name(enum hp3_bar b)
{
	static const char *const names[] = {[HP3_BAR_NONE] = "none",
		[HP3_BAR_PEER] = "peer",
		[HP3_BAR_DSCP] = "dscp",
		[HP3_BAR_QPN] = "qpn"};

	return HP3_NAME(names, b);
}

bool hp3_pair_is_barred(const struct hp3_engine *e, const struct hp3_pair *p)
{
	return !hp3_filter_has_peer(&e->cfg.filter, p->ipv6, p->remote);
}

bool hp3_has_key(const struct hp3_engine *e, const struct hp3_ends *ends)
{
	struct hp3_addressing to = {.ipv6 = ends->ipv6};

	if (e->cfg.unkeyed || e->cfg.key == NULL)
		return !e->cfg.unkeyed;
	memcpy(to.src_ip, ends->local, ends->ipv6 ? 16 : 4);
	memcpy(to.dst_ip, ends->remote, ends->ipv6 ? 16 : 4);
	return hp3_pair_keyed(e->cfg.key, &to);
}

enum hp3_bar hp3_flow_bar(const struct hp3_engine *e, const struct hp3_flow *f)
{
	const struct hp3_filter *filter = &e->cfg.filter;

	if (hp3_pair_is_barred(e, &e->pairs.pairs[f->pair]))
		return HP3_BAR_PEER;
	if (!hp3_filter_has_dscp(filter, (uint8_t)e->began[f - e->flows].dscp))
		return HP3_BAR_DSCP;
	if (filter->qpns != 0 &&
		!((f->flags & HP3_FF_PAIRED) && hp3_filter_has_qpn(filter, f->lqpn)))
		return HP3_BAR_QPN;
	return HP3_BAR_NONE;
}

bool hp3_flow_may_leave(const struct hp3_engine *e, const struct hp3_flow *f, uint64_t now)
{
	return !e->forgetting && !hp3_is_pinned(&e->pairs.pairs[f->pair], now) &&
	       hp3_flow_bar(e, f) == HP3_BAR_NONE;
}
