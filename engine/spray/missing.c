/* SPDX-License-Identifier: BSD-3-Clause */
/* The receiver's side of rfr/missing.h: is a missing packet lost, or late? */
#include "engine/spray/receive.h"

#define MUCH (HP3_RESEQ_WINDOW / 8) /* packets held: ask now, before the window is full */

static void judge_missing(struct hp3_turn *t, struct hp3_spray_in *in)
{
	if (in->reseq.shown || !hp3_missing_lost(&in->missing, in->reseq.expected))
		return;
	t->e->stats.reseq_lost++;
	hp3_reseq_lost(&in->reseq);
}

void hp3_in_came(struct hp3_turn *t, struct hp3_spray_in *in, const struct hp3_view *v)
{
	if (!hp3_in_has_missing(in) || hp3_psn_diff(v->psn, in->reseq.expected) <= 0)
		return;
	hp3_missing_behind(&in->missing, in->reseq.expected, in->reseq.gap_at,
		t->e->cfg.spray.wait_ns, v->sport);
	if (in->reseq.held >= MUCH)
		hp3_missing_hurry(&in->missing);
	judge_missing(t, in);
}

void hp3_in_ask(struct hp3_turn *t, struct hp3_spray_in *in)
{
	if (hp3_in_ask_due(in) > t->now || !hp3_missing_asks(&in->missing, in->reseq.expected,
						   t->e->cfg.spray.wait_ns, t->now))
		return;
	t->e->stats.reseq_asked++;
	hp3_presumption_late(&t->e->spraying->receives, t->now);
	hp3_spray_send_msg_in(t, in, HP3_AGREE_MISSING, 0);
}

void hp3_in_left(struct hp3_turn *t, struct hp3_spray_in *in, const struct hp3_agree *a)
{
	if (!in->numbered || in->number != a->number || !hp3_in_has_missing(in))
		return;
	hp3_missing_answered(&in->missing, a->next, a->in_use);
	judge_missing(t, in);
	hp3_in_wake(t->e, in, hp3_in_due(t, in));
}
