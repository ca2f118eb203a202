/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Why a flow is not paired (flows/unpaired.h). The engine stores the result of each challenge. It
 * derives all other reasons from the flow, its address pair and the configuration.
 */
#include "engine/life/life.h"

/* Has a reply to a local QPN without a flow arrived since the flow's newest packets left? */
static bool is_peer_replying(const struct hp3_engine *e, const struct hp3_flow *f)
{
	uint32_t at = e->pairs.pairs[f->pair].unclaimed_at;
	uint32_t since = f->last - (uint32_t)(e->cfg.challenge_timeout_ns >> HP3_TICK_SHIFT) - 1;

	return at != 0 && (int32_t)(at - since) >= 0;
}

/* Why a challenge got no answer. */
static enum hp3_unpaired_reason missed_reason(const struct hp3_engine *e, const struct hp3_flow *f)
{
	if (f->unpaired.ch_ambiguous)
		return HP3_UNPAIRED_AMBIGUOUS;
	if (f->unpaired.bad_icrc)
		return HP3_UNPAIRED_ICRC;
	if (f->unpaired.odd_opcode)
		return HP3_UNPAIRED_OPCODE;
	return is_peer_replying(e, f) ? HP3_UNPAIRED_UNANSWERED : HP3_UNPAIRED_NO_REPLIES;
}

void hp3_challenge_missed(struct hp3_turn *t, struct hp3_flow *f)
{
	t->e->stats.challenge_misses++;
	f->unpaired.reason = (uint8_t)missed_reason(t->e, f);
}

void hp3_challenge_begun(struct hp3_flow *f)
{
	uint8_t *reason = &f->unpaired.reason;

	switch ((enum hp3_unpaired_reason) * reason) {
	case HP3_UNPAIRED_AMBIGUOUS:
	case HP3_UNPAIRED_ICRC:
	case HP3_UNPAIRED_OPCODE:
	case HP3_UNPAIRED_UNANSWERED:
	case HP3_UNPAIRED_NO_REPLIES:
		return; /* the result stays until a challenge is answered */
	default:
		*reason = HP3_UNPAIRED_ASKING;
	}
}

void hp3_challenge_answered(struct hp3_flow *f)
{
	f->unpaired.misses = 0;
	f->unpaired.bad_icrc = f->unpaired.odd_opcode = false;
	f->unpaired.reason = HP3_UNPAIRED_ASKING;
}

/*
 * Did replies fail to come, although no later packet of the flow has shown that? The flow then has
 * a challenge that expired. Or all its packets left before challenges were possible, and the RNIC
 * only waits or retransmits.
 */
static bool is_waiting_in_vain(const struct hp3_engine *e, const struct hp3_flow *f, uint64_t now)
{
	const struct hp3_unpaired *u = &f->unpaired;
	uint32_t age = (uint32_t)(now >> HP3_TICK_SHIFT) - u->nat_sent;

	if (u->natural)
		return age > e->cfg.challenge_timeout_ns >> HP3_TICK_SHIFT;
	if (u->ch_state == HP3_CH_ARMED)
		return now >= u->ch_until;
	return !is_peer_replying(e, f) &&
	       (hp3_is_silent(e, f, now) || (f->flags & HP3_FF_WENT_BACK));
}

enum hp3_unpaired_reason hp3_flow_unpaired_reason(
	const struct hp3_engine *e, const struct hp3_flow *f, uint64_t now)
{
	const struct hp3_pair *p = &e->pairs.pairs[f->pair];

	if (f->flags & HP3_FF_PAIRED)
		return HP3_UNPAIRED_PAIRED;
	if (!e->cfg.pair_by_challenge)
		return HP3_UNPAIRED_OFF;
	if (!hp3_is_pairing_wanted(e, f))
		return HP3_UNPAIRED_MODE;
	if (hp3_pair_is_barred(e, p))
		return HP3_UNPAIRED_BARRED;
	if (!(f->flags & HP3_FF_STARTED))
		return HP3_UNPAIRED_SILENT;
	if (hp3_pair_is_untracked(e, p, now))
		return HP3_UNPAIRED_UNTRACKED;
	if (f->unpaired.reason == 0 || f->unpaired.reason == HP3_UNPAIRED_ASKING)
		return is_waiting_in_vain(e, f, now) ? missed_reason(e, f) : HP3_UNPAIRED_ASKING;
	return (enum hp3_unpaired_reason)f->unpaired.reason;
}

/* --- numbers of flows, by reason --- */

void hp3_unpaired_count(struct hp3_engine *e, uint32_t flow, uint64_t now)
{
	struct hp3_unpaired_counts *c = &e->unpaired_counts;
	const struct hp3_flow *f = &e->flows[flow];

	if (flow == 0) {
		memcpy(c->last, c->next, sizeof(c->last));
		memset(c->next, 0, sizeof(c->next));
	}
	if ((f->flags & (HP3_FF_USED | HP3_FF_PAIRED)) == HP3_FF_USED)
		c->next[hp3_flow_unpaired_reason(e, f, now)]++;
}

uint32_t hp3_engine_unpaired_by(const struct hp3_engine *e, enum hp3_unpaired_reason r)
{
	return (unsigned)r < HP3_UNPAIRED_MAX ? e->unpaired_counts.last[r] : 0;
}

uint32_t hp3_engine_unpaired(const struct hp3_engine *e)
{
	return e->near.unpaired;
}
