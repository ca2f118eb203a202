/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "dcqcn_reference.h"

#define OFF UINT64_MAX

static double lesser(double a, double b)
{
	return a < b ? a : b;
}

static double greater(double a, double b)
{
	return a > b ? a : b;
}

static double keep(const struct reference *r)
{
	return r->p->dce_tcp_g / 1024.0;
}

static void increase_step(struct reference *r, unsigned *stage)
{
	const struct hp3_dcqcn_params *p = r->p;
	unsigned t = r->time_stage, b = p->rpg_byte_reset ? r->byte_stage : t;

	if ((t > b ? t : b) < p->rpg_threshold)
		; /* fast recovery: the target stays */
	else if ((t < b ? t : b) > p->rpg_threshold)
		r->target = lesser(r->target + p->rpg_hai_rate, p->rpg_max_rate);
	else
		r->target = lesser(r->target + p->rpg_ai_rate, p->rpg_max_rate);
	r->rate = (r->rate + r->target) / 2;
	++*stage;
}

static void start_over(struct reference *r, uint64_t now)
{
	r->time_stage = 0;
	r->byte_stage = 0;
	r->bytes = 0;
	r->inc_timer = now + r->p->rpg_time_reset * 1000ull;
	r->reduced = now;
	r->pending_at = OFF;
}

static void cut(struct reference *r, uint64_t now)
{
	const struct hp3_dcqcn_params *p = r->p;
	double gd = p->rpg_gd == 11 ? 2 : 1, rate = r->rate * (1 - r->alpha / gd);

	if (p->clamp_tgt_rate || (p->clamp_tgt_rate_after_time_inc && r->time_stage != 0))
		r->target = r->rate;
	rate = greater(rate, r->rate * p->rpg_min_dec_fac / 100);
	r->rate = greater(rate, p->rpg_min_rate);
	start_over(r, now);
}

static void alpha_period_ends(struct reference *r)
{
	r->alpha *= keep(r);
	if (r->cnp_in_period)
		r->alpha += 1 - keep(r);
	r->cnp_in_period = false;
	r->alpha_timer += r->p->dce_tcp_rtt * 1000ull;
}

void reference_init(struct reference *r, const struct hp3_dcqcn_params *p)
{
	*r = (struct reference){.p = p,
		.rate = p->rpg_max_rate,
		.target = p->rpg_max_rate,
		.alpha_timer = OFF,
		.inc_timer = OFF,
		.pending_at = OFF};
}

/* At the same instant: alpha, increase, reduction. */
void reference_run(struct reference *r, uint64_t now)
{
	for (;;) {
		uint64_t next = r->alpha_timer;

		next = r->inc_timer < next ? r->inc_timer : next;
		next = r->pending_at < next ? r->pending_at : next;
		if (next > now || next == OFF)
			return;
		if (next == r->alpha_timer) {
			alpha_period_ends(r);
		} else if (next == r->inc_timer) {
			r->inc_timer += r->p->rpg_time_reset * 1000ull;
			increase_step(r, &r->time_stage);
		} else {
			cut(r, next);
		}
	}
}

void reference_cnp(struct reference *r, uint64_t now)
{
	const struct hp3_dcqcn_params *p = r->p;
	uint64_t period = p->rate_reduce_monitor_period * 1000ull;

	reference_run(r, now);
	if (r->alpha_timer == OFF) {
		r->alpha = p->initial_alpha_value / 1024.0;
		r->alpha_timer = now + p->dce_tcp_rtt * 1000ull;
		if (p->rate_to_set_on_first_cnp != 0 && p->rate_to_set_on_first_cnp <= r->rate) {
			r->rate = p->rate_to_set_on_first_cnp;
			r->target = r->rate;
			start_over(r, now);
		} else {
			cut(r, now);
		}
	} else if (now - r->reduced >= period) {
		cut(r, now);
	} else {
		r->pending_at = r->reduced + period;
	}
	if (p->alpha_per_cnp) {
		r->alpha = r->alpha * keep(r) + 1 - keep(r);
		r->alpha_timer = now + p->dce_tcp_rtt * 1000ull;
	} else {
		r->cnp_in_period = true;
	}
}

void reference_sent(struct reference *r, unsigned bytes, uint64_t now)
{
	reference_run(r, now);
	if (r->inc_timer == OFF || r->p->rpg_byte_reset == 0)
		return;
	for (r->bytes += bytes; r->bytes >= r->p->rpg_byte_reset; r->bytes -= r->p->rpg_byte_reset)
		increase_step(r, &r->byte_stage);
}

struct hp3_dcqcn_params sound_preset(const char *name)
{
	const struct hp3_dcqcn_preset *s = hp3_dcqcn_preset(name);
	struct hp3_dcqcn_params p;

	assert_non_null(s);
	p = s->rp;
	if (p.rpg_max_rate == 0)
		p.rpg_max_rate = 100000;
	assert_null(hp3_dcqcn_check(&p));
	return p;
}
