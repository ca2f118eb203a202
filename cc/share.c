/* SPDX-License-Identifier: BSD-3-Clause */
#include "cc/share.h"
#include "base/minmax.h"

#define LOSE      4u /* a loss takes this part of the earned share: 1/4 */
#define EARN      (HP3_SHARE_ONE / 64) /* a clean cycle earns this part of the share */
#define STEP      8u /* a lift is this part of the granted rate: 1/8 */
#define LOST_MOST (HP3_SHARE_ONE - HP3_SHARE_ONE / 64)

static bool is_long_rtt(uint32_t rtt, const struct hp3_share_params *p, uint32_t base)
{
	return (uint64_t)rtt * 100 > (uint64_t)base * p->rtt;
}

static bool judge_share_cycle(struct hp3_share *s, const struct hp3_share_params *p)
{
	if (!s->marked && !s->slow) {
		s->bad = 0;
		s->lost = (uint16_t)(s->lost > EARN ? s->lost - EARN : 0);
		return false;
	}
	if (!s->helped)
		return false;
	if (++s->bad < p->cycles)
		return false;
	s->bad = 0;
#ifndef HP3_BREAK_SHARE_NEVER_FALLS
	s->lost = (uint16_t)(s->lost + (HP3_SHARE_ONE - s->lost) / LOSE);
	if (s->lost > LOST_MOST)
		s->lost = LOST_MOST;
#endif
	return true;
}

static void open_cycle(struct hp3_share *s, uint64_t end)
{
	s->cycle_end = end;
	s->marked = s->slow = s->helped = false;
}

bool hp3_share_acked(
	struct hp3_share *s, const struct hp3_share_params *p, uint32_t base_rtt, uint64_t now)
{
	uint64_t len = (uint64_t)base_rtt * HP3_SHARE_CYCLE;
	bool fell;

	if (base_rtt == 0)
		return false;
	if (s->cycle_end == 0) {
		open_cycle(s, now + len);
		return false;
	}
	if (now < s->cycle_end)
		return false;
	fell = judge_share_cycle(s, p);
	open_cycle(s, now + len);
	return fell;
}

void hp3_share_timed(
	struct hp3_share *s, const struct hp3_share_params *p, uint32_t rtt, uint32_t base_rtt)
{
	s->rtt = rtt != 0 ? rtt : 1;
	s->fresh = true;
	s->slow |= is_long_rtt(s->rtt, p, base_rtt);
}

void hp3_share_marked(struct hp3_share *s)
{
	s->marked = true;
}

uint64_t hp3_share_granted(const struct hp3_share *s, const struct hp3_share_params *p,
	uint64_t share, uint32_t base_rtt)
{
	if (s->rtt == 0 || base_rtt == 0 || is_long_rtt(s->rtt, p, base_rtt))
		return 0;
	return share / HP3_SHARE_ONE * (HP3_SHARE_ONE - s->lost) / 100 * p->floor;
}

uint64_t hp3_share_lift(struct hp3_share *s, const struct hp3_share_params *p, uint64_t share,
	uint64_t rate, uint32_t base_rtt)
{
	uint64_t granted = hp3_share_granted(s, p, share, base_rtt);

	if (granted <= rate || !s->fresh)
		return 0;
	s->fresh = false;
	s->helped = true;
	return hp3_min_u64(granted, rate + granted / STEP);
}
