/* SPDX-License-Identifier: BSD-3-Clause */
#include "p4-testbed/fabric/impair.h"
#include "p4-testbed/fabric/tm.h"
#include "p4-testbed/fabric/topo.h"

#define MILLION 1000000u

const struct hp3_impair_key hp3_impair_keys[] = {
#define X(key, unit, most, help) {#key, most, offsetof(struct hp3_impair, key)},
	HP3_IMPAIRMENTS(X)
#undef X
};
const size_t hp3_impair_n_keys = sizeof(hp3_impair_keys) / sizeof(hp3_impair_keys[0]);

const char *const hp3_impair_ecns[] = {
#define X(sym, text) [HP3_IMPAIR_ECN_##sym] = text,
	HP3_IMPAIR_ECNS(X)
#undef X
		[HP3_IMPAIR_ECN_MAX] = NULL};

static uint32_t draw_below(struct hp3_tm *tm, uint32_t below)
{
	tm->rng ^= tm->rng << 13; /* xorshift64 */
	tm->rng ^= tm->rng >> 7;
	tm->rng ^= tm->rng << 17;
	return (uint32_t)(((tm->rng >> 32) * below) >> 32);
}

static bool is_drawn(struct hp3_tm *tm, uint32_t ppm)
{
	return ppm > 0 && draw_below(tm, MILLION) < ppm;
}

static bool is_lost(struct hp3_tm *tm, struct hp3_lane *l)
{
	const struct hp3_impair *i = &l->impair;
	uint32_t burst = i->loss_burst > 1 ? i->loss_burst : 1;

	if (i->loss_ppm == 0) {
		l->to_lose = 0;
		return false;
	}
	if (l->to_lose == 0 && draw_below(tm, MILLION) < i->loss_ppm / burst)
		l->to_lose = burst;
	if (l->to_lose == 0)
		return false;
	l->to_lose--;
	return true;
}

static bool is_down(const struct hp3_tm *tm, const struct hp3_lane *l)
{
	const struct hp3_impair *i = &l->impair;
	uint64_t in = (tm->now - l->flaps_since) / 1000000;

	return i->flap_ms > 0 && in % i->flap_ms + i->flap_down_ms >= i->flap_ms;
}

int hp3_impair_drop(struct hp3_tm *tm, uint32_t lane, const struct hp3_frame *f)
{
	struct hp3_lane *l = &tm->lane[lane];
	const struct hp3_impair *i = &l->impair;

	if (i->blackhole_percent > 0 && tm->ops->flow(tm->arg, f) % 100 < i->blackhole_percent)
		return HP3_TM_DROP_BLACKHOLE;
	if (is_down(tm, l))
		return HP3_TM_DROP_FLAP;
	if (i->mtu > 0 && f->bytes > i->mtu + HP3_TOPO_ETHERNET)
		return HP3_TM_DROP_TOO_BIG;
	return is_lost(tm, l) ? HP3_TM_DROP_RANDOM : -1;
}

uint64_t hp3_impair_delay(struct hp3_tm *tm, uint32_t lane)
{
	struct hp3_lane *l = &tm->lane[lane];

	if (!is_drawn(tm, l->impair.reorder_ppm))
		return 0;
	l->stats.delayed++;
	return l->impair.reorder_us * 1000ull;
}

struct hp3_frame *hp3_impair_arrival(struct hp3_tm *tm, uint32_t lane, struct hp3_frame *f)
{
	struct hp3_lane *l = &tm->lane[lane];
	struct hp3_frame *copy = NULL;

	if (l->impair.ecn != HP3_IMPAIR_ECN_KEEP)
		l->stats.remarked +=
			tm->ops->remark(tm->arg, f, l->impair.ecn == HP3_IMPAIR_ECN_SET);
	if (is_drawn(tm, l->impair.corrupt_ppm)) {
		tm->ops->damage(tm->arg, f, (uint32_t)(tm->rng >> 32));
		l->stats.damaged++;
	}
	if (is_drawn(tm, l->impair.duplicate_ppm))
		copy = tm->ops->copy(tm->arg, f);
	l->stats.duplicated += copy != NULL;
	return copy;
}
