/* SPDX-License-Identifier: BSD-3-Clause */
#include "cc/dcqcn.h"
#include "base/minmax.h"

#define FIRST_CNP 0x01u /* seen: alpha is valid */
#define RUNNING   0x02u /* the increase timer runs */
#define PENDING   0x04u /* a reduction is due at reduce_at */
#define CNP_SEEN  0x08u /* a CNP arrived in the alpha period that began at alpha_at */

#define STAGE_MAX 255u

static uint64_t ns_of_us(uint32_t us)
{
	return us * UINT64_C(1000);
}

static uint64_t bps_of_mbps(uint32_t mbps)
{
	return mbps * UINT64_C(1000000);
}

/* Product of two fractions of HP3_ALPHA_ONE, rounded to nearest. */
static uint32_t fraction_mul(uint32_t a, uint32_t b)
{
	return (uint32_t)(((uint64_t)a * b + (1u << 30)) >> 31);
}

/* rate * fraction, rate < 2^43: in two parts, so that no product exceeds 64 bits. */
static uint64_t rate_share(uint64_t rate, uint32_t fraction)
{
	return ((rate >> 20) * fraction + ((rate & 0xfffff) * fraction >> 20)) >> 11;
}

/* base^n. base <= 1023/1024, so the result is 0 from n = 2^16 on. */
static uint32_t fraction_pow(uint32_t base, uint64_t n)
{
	uint32_t result = HP3_ALPHA_ONE;

	if (n >= 1u << 16)
		return 0;
	for (; n != 0; n >>= 1) {
		if (n & 1)
			result = fraction_mul(result, base);
		base = fraction_mul(base, base);
	}
	return result;
}

/* x / 1024 as a fraction of HP3_ALPHA_ONE. */
static uint32_t of_1024(uint32_t x)
{
	return x << 21;
}

static uint32_t alpha_up(uint32_t alpha, const struct hp3_dcqcn_params *p)
{
	return fraction_mul(alpha, of_1024(p->dce_tcp_g)) + of_1024(1024 - p->dce_tcp_g);
}

/* alpha after `periods` more alpha periods; only the first one may have a CNP. */
static uint32_t alpha_after(
	const struct hp3_dcqcn *rp, const struct hp3_dcqcn_params *p, uint64_t periods)
{
	uint32_t alpha = rp->alpha;

	if (periods == 0)
		return alpha;
	if (rp->flags & CNP_SEEN) {
		alpha = alpha_up(alpha, p);
		periods--;
	}
	return fraction_mul(alpha, fraction_pow(of_1024(p->dce_tcp_g), periods));
}

static uint64_t alpha_periods(
	const struct hp3_dcqcn *rp, const struct hp3_dcqcn_params *p, uint64_t now)
{
	return now > rp->alpha_at ? (now - rp->alpha_at) / ns_of_us(p->dce_tcp_rtt) : 0;
}

uint32_t hp3_dcqcn_alpha(const struct hp3_dcqcn *rp, const struct hp3_dcqcn_params *p, uint64_t now)
{
	return alpha_after(rp, p, alpha_periods(rp, p, now));
}

/*
 * Updates the stored alpha. Only CNPs change it, so rounding does not depend on the number of
 * calls.
 */
static void alpha_cnp(struct hp3_dcqcn *rp, const struct hp3_dcqcn_params *p, uint64_t now)
{
	uint64_t periods = alpha_periods(rp, p, now);

	rp->alpha = alpha_after(rp, p, periods);
	if (p->alpha_per_cnp) {
		rp->alpha = alpha_up(rp->alpha, p);
		rp->alpha_at = now;
		return;
	}
	rp->alpha_at += periods * ns_of_us(p->dce_tcp_rtt);
	rp->flags |= CNP_SEEN;
}

/*
 * The number of steps of the stage `own` until its phase may change. *add: what each step adds to
 * the target.
 */
static uint64_t steps_of_phase(
	const struct hp3_dcqcn_params *p, uint32_t own, uint32_t other, uint64_t *add)
{
	uint32_t f = p->rpg_threshold;

	if (p->rpg_byte_reset == 0)
		other = own;
	if (own < f && other < f) {
		*add = 0;
		return f - own;
	}
	if (own > f && other > f) {
		*add = bps_of_mbps(p->rpg_hai_rate);
		return UINT64_MAX;
	}
	*add = bps_of_mbps(p->rpg_ai_rate);
	if (own <= f && (other > f || p->rpg_byte_reset == 0))
		return f + 1 - own;
	return UINT64_MAX;
}

/*
 * Makes `n` steps that each add the same to the target. Within 41 steps, the distance target - rate
 * becomes constant: that value, or one less. Afterwards, both rise alike, until the target is line
 * rate. Then each step halves the distance.
 */
static void make_steps(struct hp3_dcqcn *rp, uint64_t n, uint64_t add, uint64_t line)
{
	while (n > 0 && !(rp->rate == rp->target && (add == 0 || rp->target == line))) {
		uint64_t distance = rp->target - rp->rate, jump;

		rp->target = hp3_min_u64(rp->target + add, line);
		rp->rate += (rp->target - rp->rate + 1) / 2;
		n--;
		if (add == 0 || rp->target - rp->rate != distance)
			continue;
		jump = hp3_min_u64((line - rp->target) / add, n);
		rp->target += jump * add;
		rp->rate += jump * add;
		n -= jump;
	}
}

/* Makes `n` increase steps, and counts them in *own, one of rp's two stages. */
static void increase_rate(struct hp3_dcqcn *rp, const struct hp3_dcqcn_params *p, uint8_t *own,
	uint8_t other, uint64_t n)
{
	while (n > 0) {
		uint64_t add, m = hp3_min_u64(steps_of_phase(p, *own, other, &add), n);

		make_steps(rp, m, add, bps_of_mbps(p->rpg_max_rate));
		*own = (uint8_t)hp3_min_u64(*own + m, STAGE_MAX);
		n -= m;
	}
}

static void restart_increase(struct hp3_dcqcn *rp, const struct hp3_dcqcn_params *p, uint64_t now)
{
	rp->time_stage = 0;
	rp->byte_stage = 0;
	rp->bytes = 0;
	rp->inc_at = now + ns_of_us(p->rpg_time_reset);
	rp->flags = (uint8_t)((rp->flags & ~PENDING) | RUNNING);
}

static void reduce_rate(struct hp3_dcqcn *rp, const struct hp3_dcqcn_params *p, uint64_t now)
{
	uint32_t alpha = hp3_dcqcn_alpha(rp, p, now);
	uint64_t rate = rp->rate - (rate_share(rp->rate, alpha) >> (p->rpg_gd - 10));
	uint64_t least = rp->rate / 100 * p->rpg_min_dec_fac;

	if (p->clamp_tgt_rate || (p->clamp_tgt_rate_after_time_inc && rp->time_stage > 0))
		rp->target = rp->rate;
	rp->rate = hp3_max_u64(hp3_max_u64(rate, least), bps_of_mbps(p->rpg_min_rate));
	rp->reduce_at = now + ns_of_us(p->rate_reduce_monitor_period);
	restart_increase(rp, p, now);
}

static void time_steps(struct hp3_dcqcn *rp, const struct hp3_dcqcn_params *p, uint64_t now)
{
	uint64_t n;

	if (!(rp->flags & RUNNING) || now < rp->inc_at)
		return;
	n = (now - rp->inc_at) / ns_of_us(p->rpg_time_reset) + 1;
	rp->inc_at += n * ns_of_us(p->rpg_time_reset);
	increase_rate(rp, p, &rp->time_stage, rp->byte_stage, n);
}

/* Line rate and minimum rate may have changed since the last call. */
static void bound_rate(struct hp3_dcqcn *rp, const struct hp3_dcqcn_params *p)
{
	uint64_t line = bps_of_mbps(p->rpg_max_rate), least = bps_of_mbps(p->rpg_min_rate);

	rp->target = hp3_min_u64(rp->target, line);
	rp->rate = hp3_max_u64(hp3_min_u64(rp->rate, rp->target), least);
	rp->target = hp3_max_u64(rp->target, rp->rate);
}

void hp3_dcqcn_advance(struct hp3_dcqcn *rp, const struct hp3_dcqcn_params *p, uint64_t now)
{
	bound_rate(rp, p);
	if ((rp->flags & PENDING) && now >= rp->reduce_at) {
		time_steps(rp, p, rp->reduce_at);
		reduce_rate(rp, p, rp->reduce_at);
	}
	time_steps(rp, p, now);
}

static void first_cnp(struct hp3_dcqcn *rp, const struct hp3_dcqcn_params *p, uint64_t now)
{
	uint64_t rate = bps_of_mbps(p->rate_to_set_on_first_cnp);

	rp->flags |= FIRST_CNP;
	rp->alpha = of_1024(p->initial_alpha_value);
	rp->alpha_at = now;
	if (rate == 0 || rate > rp->rate) { /* the first CNP may only lower the rate */
		reduce_rate(rp, p, now);
		return;
	}
	rp->rate = rate;
	rp->target = rate;
	rp->reduce_at = now + ns_of_us(p->rate_reduce_monitor_period);
	restart_increase(rp, p, now);
}

void hp3_dcqcn_cnp(struct hp3_dcqcn *rp, const struct hp3_dcqcn_params *p, uint64_t now)
{
	hp3_dcqcn_advance(rp, p, now);
	if (!(rp->flags & FIRST_CNP))
		first_cnp(rp, p, now);
	else if (now >= rp->reduce_at)
		reduce_rate(rp, p, now);
	else
		rp->flags |= PENDING;
	alpha_cnp(rp, p, now);
}

void hp3_dcqcn_sent(
	struct hp3_dcqcn *rp, const struct hp3_dcqcn_params *p, uint32_t bytes, uint64_t now)
{
	uint64_t sum;

	hp3_dcqcn_advance(rp, p, now);
	if (!(rp->flags & RUNNING) || p->rpg_byte_reset == 0)
		return;
	sum = (uint64_t)rp->bytes + bytes;
	if (sum < p->rpg_byte_reset) {
		rp->bytes = (uint32_t)sum;
		return;
	}
	rp->bytes = (uint32_t)(sum % p->rpg_byte_reset);
	increase_rate(rp, p, &rp->byte_stage, rp->time_stage, sum / p->rpg_byte_reset);
}

void hp3_dcqcn_init(struct hp3_dcqcn *rp, const struct hp3_dcqcn_params *p)
{
	*rp = (struct hp3_dcqcn){
		.rate = bps_of_mbps(p->rpg_max_rate), .target = bps_of_mbps(p->rpg_max_rate)};
}

void hp3_dcqcn_take(struct hp3_dcqcn_snapshot *s, struct hp3_dcqcn *rp,
	const struct hp3_dcqcn_params *p, uint64_t now)
{
	hp3_dcqcn_advance(rp, p, now);
	s->rp = *rp;
	s->at = now;
}

void hp3_dcqcn_rollback(struct hp3_dcqcn *rp, const struct hp3_dcqcn_snapshot *s, uint64_t now)
{
	uint64_t pause = now - s->at;

	*rp = s->rp;
	if (rp->flags & RUNNING)
		rp->inc_at += pause;
	if (rp->flags & FIRST_CNP) {
		rp->reduce_at += pause;
		rp->alpha_at += pause;
	}
}

void hp3_dcqcn_raise(struct hp3_dcqcn *rp, const struct hp3_dcqcn_params *p,
	const struct hp3_dcqcn_snapshot *s, uint64_t now)
{
	struct hp3_dcqcn old = s->rp;

	hp3_dcqcn_init(rp, p);
	if (!(old.flags & RUNNING))
		return;
	bound_rate(&old, p);
	rp->rate = old.rate + (rp->target - old.rate) * p->raise / 100;
	restart_increase(rp, p, now);
}
