/* SPDX-License-Identifier: BSD-3-Clause */
#include "cc/shield.h"
#include "roce/parse.h"

void hp3_shield_switch(
	struct hp3_shield *s, uint32_t psn, bool drained, uint64_t max_rtt_ns, uint64_t now)
{
	s->until = now + max_rtt_ns;
	s->psn = psn;
	s->by_reply = drained;
}

void hp3_shield_reply(struct hp3_shield *s, uint32_t psn)
{
	if (s->by_reply && hp3_psn_diff(psn, s->psn) >= 0)
		s->until = 0;
}

enum hp3_cnp_verdict hp3_shield_cnp(const struct hp3_shield *s, uint64_t now)
{
#ifndef HP3_BREAK_STALE_CNP
	if (now < s->until)
		return HP3_CNP_CONSUME;
#endif
	return HP3_CNP_PASS;
}

uint32_t hp3_slow_ask(
	struct hp3_slow *s, const struct hp3_slow_params *p, uint64_t rate, uint64_t wanted)
{
	s->owed = 0;
	if (wanted >= rate || p->max_cnps == 0)
		return 0;
	s->owed = 1;
	for (rate /= 4; rate >= wanted && s->owed < p->max_cnps && rate > 0; rate /= 2)
		s->owed++;
	return s->owed;
}

bool hp3_slow_due(struct hp3_slow *s, const struct hp3_slow_params *p, uint64_t now)
{
	if (s->owed == 0 || now < s->next)
		return false;
	s->owed--;
	s->next = now + p->interval * UINT64_C(1000);
	return true;
}
