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
	return now < s->until ? HP3_CNP_CONSUME : HP3_CNP_PASS;
}

enum hp3_cnp_verdict hp3_withheld_cnp(struct hp3_withheld *w, uint16_t pkey, uint64_t now)
{
	if (now >= w->until)
		return HP3_CNP_PASS;
	w->owed = true;
	w->pkey = pkey;
	return HP3_CNP_CONSUME;
}

bool hp3_withheld_end(struct hp3_withheld *w, bool left)
{
	bool owed = w->owed && !left;

	w->until = 0;
	w->owed = false;
	return owed;
}
