/* SPDX-License-Identifier: BSD-3-Clause */
#include "cc/pacer.h"
#include "base/minmax.h"

#define UNITS_PER_BYTE UINT64_C(8000000000) /* 8 bit of 10^9 units */
#define RATE_MIN       UINT64_C(10000) /* bit/s */

/* The level at `now`. */
static uint64_t debt_at(const struct hp3_pacer *p, uint64_t now)
{
	uint64_t paid;

	if (now <= p->at)
		return p->debt;
	if (__builtin_mul_overflow(now - p->at, p->rate, &paid) || paid >= p->debt)
		return 0;
	return p->debt - paid;
}

static void settle_debt(struct hp3_pacer *p, uint64_t now)
{
	p->debt = debt_at(p, now);
	p->at = hp3_max_u64(p->at, now);
}

void hp3_pacer_init(struct hp3_pacer *p, uint64_t rate, uint64_t now)
{
	*p = (struct hp3_pacer){.at = now, .rate = hp3_max_u64(rate, RATE_MIN)};
}

void hp3_pacer_set_rate(struct hp3_pacer *p, uint64_t rate, uint64_t now)
{
	settle_debt(p, now);
	p->rate = hp3_max_u64(rate, RATE_MIN);
}

uint64_t hp3_pacer_when(const struct hp3_pacer *p, uint32_t burst_bytes, uint64_t now)
{
	/*
	 * A packet may leave while the level is above the burst by less than one nanosecond of the
	 * rate. Waiting times are rounded up to whole nanoseconds, and without this the flow would
	 * lose the rest of each last nanosecond.
	 */
	uint64_t allowed, debt, wait;

	if (__builtin_mul_overflow(burst_bytes, UNITS_PER_BYTE, &allowed) ||
		__builtin_add_overflow(allowed, p->rate, &allowed))
		return now;
	debt = debt_at(p, now);
	if (debt <= allowed)
		return now;
	wait = (debt - allowed - 1) / p->rate + 1;
	return hp3_max_u64(now, p->at) + wait;
}

uint64_t hp3_pacer_owed(const struct hp3_pacer *p, uint32_t burst_bytes, uint64_t now)
{
	uint64_t debt = debt_at(p, now), bytes = debt == 0 ? 0 : (debt - 1) / UNITS_PER_BYTE + 1;

	return bytes > burst_bytes ? bytes - burst_bytes : 0;
}

void hp3_pacer_sent(struct hp3_pacer *p, uint32_t bytes, uint64_t now)
{
	uint64_t owed;

	settle_debt(p, now);
	if (__builtin_mul_overflow(bytes, UNITS_PER_BYTE, &owed) ||
		__builtin_add_overflow(p->debt, owed, &p->debt))
		p->debt = UINT64_MAX;
}

uint64_t hp3_pacer_floor(uint64_t queue_bytes, uint64_t rto_ns)
{
	uint64_t units;

	if (rto_ns == 0 || queue_bytes == 0)
		return 0;
	if (__builtin_mul_overflow(queue_bytes, 4 * UNITS_PER_BYTE, &units))
		return UINT64_MAX;
	return (units - 1) / rto_ns + 1;
}
