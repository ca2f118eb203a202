/* SPDX-License-Identifier: BSD-3-Clause */
/* What a host measures about its paths (hermes.h). */
#include "sim/lb/hermes.h"

#define HALVE_US     100u /* counts of marks */
#define EPOCH_US     10000u /* of the share that is missed, as in the paper */
#define EPOCH_LEAST  100u /* packets: fewer say nothing */
#define FAILED_US    100000u
#define TIMEOUTS_MAX 3u
#define RATE_HALF_US 50u

struct hermes_path *hermes_paths(struct sim *s, struct hermes *h, uint32_t src, uint32_t dst)
{
	uint32_t leaf = sim_paths_leaf(s, h->paths, dst);
	struct hermes_path **row = &h->row[(size_t)src * h->paths->leaves + leaf];

	if (*row == NULL)
		*row = sim_alloc(
			sim_paths_pair(s, h->paths, sim_paths_leaf(s, h->paths, src), leaf)->n,
			sizeof(**row));
	return *row;
}

static uint32_t marks_percent(const struct hermes_path *p)
{
	return p->acks > 0 ? p->marks * 100 / p->acks : 0;
}

static bool is_known(const struct sim *s, const struct hermes_path *p)
{
	return p->sensed_at != 0 && s->now - p->sensed_at <= s->cfg.hermes.forget_us * SIM_US;
}

enum hermes_class hermes_class(
	const struct sim *s, const struct hermes *h, const struct hermes_path *p)
{
	bool marked = marks_percent(p) > s->cfg.hermes.ecn_percent;

	if (s->now < p->failed_until)
		return HERMES_FAILED;
	if (!is_known(s, p))
		return HERMES_GRAY;
	if (!marked && p->rtt < h->rtt_low)
		return HERMES_GOOD;
	return marked && p->rtt > h->rtt_high ? HERMES_CONGESTED : HERMES_GRAY;
}

bool hermes_better(const struct sim *s, const struct hermes *h, const struct hermes_path *to,
	const struct hermes_path *from)
{
	return is_known(s, to) && to->rtt + h->delta_rtt < from->rtt &&
	       marks_percent(to) + s->cfg.hermes.delta_ecn_percent < marks_percent(from);
}

void hermes_heard(struct sim *s, struct hermes_path *p, uint64_t rtt, bool marked)
{
	p->rtt = is_known(s, p) ? (p->rtt + rtt) / 2 : rtt;
	p->sensed_at = s->now;
	p->timeouts = 0;
	while (p->acks > 0 && s->now - p->halved_at > HALVE_US * SIM_US) {
		p->acks /= 2;
		p->marks /= 2;
		p->halved_at += HALVE_US * SIM_US;
	}
	if (p->acks == 0)
		p->halved_at = s->now;
	p->acks++;
	p->marks += marked;
}

uint64_t hermes_rate(const struct sim *s, uint64_t *rate, uint64_t *at, uint32_t bytes)
{
	while (*rate > 0 && s->now - *at > RATE_HALF_US * SIM_US) {
		*rate /= 2;
		*at += RATE_HALF_US * SIM_US;
	}
	if (*rate == 0)
		*at = s->now;
	*rate += bytes;
	return *rate;
}

void hermes_sent(struct sim *s, struct hermes_path *p, uint32_t bytes)
{
	hermes_rate(s, &p->rate, &p->rate_at, bytes);
	if (s->now - p->epoch_at > EPOCH_US * SIM_US) {
		p->epoch_at = s->now;
		p->sent = p->missed = 0;
	}
	p->sent++;
}

void hermes_missed(struct sim *s, const struct hermes *h, struct hermes_path *p)
{
	p->missed++;
	if (p->sent >= EPOCH_LEAST && p->missed * 100 > p->sent &&
		hermes_class(s, h, p) != HERMES_CONGESTED)
		p->failed_until = s->now + FAILED_US * SIM_US;
}

void hermes_timed_out(struct sim *s, struct hermes_path *p)
{
	if (++p->timeouts >= TIMEOUTS_MAX)
		p->failed_until = s->now + FAILED_US * SIM_US;
}
