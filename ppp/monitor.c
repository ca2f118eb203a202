/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/names.h"
#include "ppp/monitor.h"

#define SHARE_ONE   4000u
#define CYCLE_BITS  4u
#define CYCLE_MASK  0xfu
#define ALL_CLEAN   0x8888888u
#define BASE_RISE   64u
#define TIMED_LIMIT (1u << 30) /* ns; a later reply answers another packet */

void hp3_monitor_init(struct hp3_monitor *m, uint64_t now)
{
	*m = (struct hp3_monitor){
		.cycle_end = now, .tally = HP3_TALLY_SHARE_NONE << HP3_TALLY_SHARE_SHIFT};
}

void hp3_monitor_moved(struct hp3_monitor *m)
{
	hp3_monitor_init(m, m->cycle_end);
	m->watch = HP3_WATCH_FRESH;
}

static uint32_t replies_in_cycle(const struct hp3_monitor *m)
{
	return m->tally & HP3_TALLY_MAX;
}

static uint32_t marked_in_cycle(const struct hp3_monitor *m)
{
	return m->tally >> HP3_TALLY_MARKED_SHIFT & HP3_TALLY_MAX;
}

static uint32_t marked_share(const struct hp3_monitor *m)
{
	return m->tally >> HP3_TALLY_SHARE_SHIFT;
}

void hp3_monitor_offer_base(struct hp3_monitor *m, uint32_t rtt_ns)
{
	if (rtt_ns != 0 && (m->base == 0 || rtt_ns < m->base))
		m->base = rtt_ns;
}

/* The first sample is the value; 0: no sample yet. */
static uint32_t smooth_rtt(uint32_t value, uint32_t sample)
{
	return value == 0 ? sample : hp3_monitor_smoothed(value, sample);
}

/* Packet `psn` is answered: results now count for the new path, and there is an RTT. */
void hp3_monitor_answered(struct hp3_monitor *m, const struct hp3_monitor_params *p, uint64_t now)
{
	uint32_t rtt = (uint32_t)now - m->timed_at;
	bool timed = m->watch & HP3_WATCH_TIMING;

	m->watch = 0;
	if (!timed)
		return;
	if (rtt == 0)
		rtt = 1;
	hp3_monitor_offer_base(m, rtt);
	m->smooth = smooth_rtt(m->smooth, rtt);
	if ((uint64_t)rtt * 100 >= (uint64_t)m->base * p->rtt_factor)
		m->slow = 1;
}

static void update_estimates(struct hp3_monitor *m)
{
	uint32_t sample, value = marked_share(m);

	m->per_cycle = hp3_monitor_per_cycle(m);
	if (replies_in_cycle(m) != 0) {
		sample = marked_in_cycle(m) == 0
				 ? 0
				 : marked_in_cycle(m) * SHARE_ONE / replies_in_cycle(m);
		value = value == HP3_TALLY_SHARE_NONE ? sample
						      : hp3_monitor_smoothed(value, sample);
	}
	m->tally = value << HP3_TALLY_SHARE_SHIFT;
}

/* The result of the open cycle, HP3_CYCLE_*. */
static uint32_t judge_cycle(const struct hp3_monitor *m, const struct hp3_monitor_params *p)
{
	uint32_t signals = 0;

	if (m->cnp)
		signals |= HP3_CYCLE_CNP;
	if (marked_in_cycle(m) != 0 &&
		marked_in_cycle(m) * 100u >= replies_in_cycle(m) * p->ecn_fraction)
		signals |= HP3_CYCLE_ECN;
	if (m->slow)
		signals |= HP3_CYCLE_RTT;
	if (signals == 0)
		return replies_in_cycle(m) == 0 ? HP3_CYCLE_SILENT : HP3_CYCLE_CLEAN;
	return signals;
}

static void age_base(struct hp3_monitor *m, const struct hp3_monitor_params *p, uint64_t next_end)
{
	uint32_t room = m->smooth > m->base ? m->smooth - m->base : 0;
	uint32_t rise = m->base / BASE_RISE + 1;

	if (m->base != 0 && ((m->cycle_end ^ next_end) >> (p->base_age_log2 & 63u)) != 0)
		m->base += hp3_min_u32(rise, room);
}

/*
 * Has packet `psn` had no reply for so long that the 32 bits of timed_at are ambiguous? The result
 * is exact for packets that left before the end of the open cycle; only these packets remain after
 * a pause of the replies. A packet that left during a pause counts as sent in the last 4 s of the
 * pause.
 */
static bool timed_out(const struct hp3_monitor *m, uint64_t now)
{
	uint64_t age = (uint32_t)now - m->timed_at;

	if (!m->paused)
		age = now - m->cycle_end + (uint32_t)((uint32_t)m->cycle_end - m->timed_at);
	return age >= TIMED_LIMIT;
}

static void keep_cycle(struct hp3_monitor *m, uint32_t cycle)
{
	m->history = (uint32_t)m->history << CYCLE_BITS | cycle;
	m->silent = 0;
	if (cycle == HP3_CYCLE_CLEAN)
		m->run = 0;
	else if (m->run < HP3_TOLERANCE_MAX)
		m->run++;
}

/* Cycles after the open one that have ended without a reply or CNP. */
static uint64_t missed_cycles(const struct hp3_monitor *m, uint64_t len, uint64_t now)
{
	uint64_t late = now - m->cycle_end;

	return late >= len ? late / len : 0;
}

/*
 * Closes the open cycle and the silent ones up to now, in constant time. True: with the open cycle,
 * congestion is severe. The silent cycles do not count.
 */
bool hp3_monitor_close(struct hp3_monitor *m, const struct hp3_monitor_params *p, uint64_t now)
{
	uint64_t len = hp3_monitor_cycle(m, p), silent = missed_cycles(m, len, now);
	uint64_t next_end = m->cycle_end + (silent + 1) * len;
	uint32_t cycle;
	bool severe = false;

	cycle = judge_cycle(m, p);
	if (cycle == HP3_CYCLE_SILENT) {
		silent++;
	} else {
		update_estimates(m);
		age_base(m, p, next_end);
		keep_cycle(m, cycle);
		severe = cycle != HP3_CYCLE_CLEAN && m->run >= p->congestion_tolerance;
	}
	silent += m->silent;
	m->silent = (uint32_t)hp3_min_u64(silent, HP3_PAST_SILENT);
	if ((m->watch & (HP3_WATCH_TIMING | HP3_WATCH_GUARD)) && timed_out(m, now))
		m->watch = 0;
	m->paused = 0;
	m->cycle_end = next_end;
	m->bytes = 0;
	m->cnp = 0;
	m->slow = 0;
	return severe;
}

bool hp3_monitor_cnp(struct hp3_monitor *m, const struct hp3_monitor_params *p, uint64_t now)
{
	bool severe = now >= m->cycle_end && hp3_monitor_close(m, p, now);

	if (!(m->watch & (HP3_WATCH_FRESH | HP3_WATCH_GUARD)))
		m->cnp = 1;
	return severe;
}

static bool is_half_way(const struct hp3_monitor *m, const struct hp3_monitor_params *p)
{
	return (uint64_t)m->smooth * 200 >= (uint64_t)m->base * (100u + p->rtt_factor);
}

/* The smoothed RTT is relative to the base RTT, which may change here. So it starts again. */
void hp3_monitor_compared(struct hp3_monitor *m, uint32_t used_ns, uint32_t other_ns)
{
	m->beyond = used_ns > other_ns ? used_ns - other_ns : 0;
	if (m->beyond == 0)
		return;
	hp3_monitor_offer_base(m, other_ns);
	m->smooth = 0;
}

/* No work completes faster than an RTT. */
static uint32_t without_queue(const struct hp3_monitor *m, uint32_t least_ns)
{
	if (m->beyond == 0)
		return least_ns;
	return hp3_max_u32(least_ns > m->beyond ? least_ns - m->beyond : 1, m->base);
}

/*
 * Each time is compared with the shortest time of its class, and scaled to the base RTT. Because
 * hosts delay single completions, the smoothed value has to have risen, too, by half of what
 * rtt_factor requires.
 */
bool hp3_monitor_completions(struct hp3_monitor *m, const struct hp3_monitor_params *p,
	uint32_t took_ns, uint32_t least_ns, uint32_t bytes, uint64_t now)
{
	bool severe = now >= m->cycle_end && hp3_monitor_close(m, p, now);
	uint64_t rtt;

	m->watch = 0;
	if (took_ns != 0 && least_ns != 0) {
		least_ns = without_queue(m, least_ns);
		hp3_monitor_offer_base(m, least_ns);
		rtt = hp3_min_u64((uint64_t)took_ns * m->base / least_ns, UINT32_MAX);
		m->smooth = smooth_rtt(m->smooth, (uint32_t)rtt);
		if ((uint64_t)took_ns * 100 >= (uint64_t)least_ns * p->rtt_factor &&
			is_half_way(m, p))
			m->slow = 1;
	}
	if (__builtin_add_overflow(m->bytes, bytes, &m->bytes))
		m->bytes = UINT32_MAX;
	if ((m->tally & HP3_TALLY_MAX) != HP3_TALLY_MAX)
		m->tally++;
	return severe;
}

void hp3_monitor_port_cnp(struct hp3_monitor *m, const struct hp3_monitor_params *p)
{
	if (m->base != 0 && is_half_way(m, p))
		m->cnp = 1;
}

bool hp3_monitor_congested_since(
	struct hp3_monitor *m, const struct hp3_monitor_params *p, uint64_t t, uint64_t now)
{
	uint64_t len = hp3_monitor_cycle(m, p), n;
	bool clean = false;

	if (now >= m->cycle_end)
		hp3_monitor_close(m, p, now);
	n = m->cycle_end > t + len ? (m->cycle_end - t) / len - 1 : 0; /* one is open */
	for (uint32_t i = 0; i < HP3_CYCLES_KEPT && i < n; i++) {
		uint32_t cycle = (uint32_t)m->history >> (i * CYCLE_BITS) & CYCLE_MASK;

		if (cycle & HP3_CYCLE_CONGESTED)
			return true;
		clean |= cycle == HP3_CYCLE_CLEAN;
	}
	return !clean;
}

bool hp3_monitor_marked(const struct hp3_monitor *m)
{
	uint32_t before = marked_share(m);

	return m->cnp || marked_in_cycle(m) != 0 || (before != 0 && before != HP3_TALLY_SHARE_NONE);
}

bool hp3_monitor_calm(const struct hp3_monitor *m)
{
	return m->history == ALL_CLEAN;
}

void hp3_monitor_estimates(
	const struct hp3_monitor *m, const struct hp3_monitor_params *p, struct hp3_estimates *est)
{
	uint64_t kbps = (uint64_t)m->per_cycle * 8000000u / hp3_monitor_cycle(m, p);

	est->base_rtt_ns = m->base;
	est->rtt_ns = m->smooth;
	est->marked_permille =
		marked_share(m) == HP3_TALLY_SHARE_NONE ? 0 : marked_share(m) * 1000u / SHARE_ONE;
	est->rate_kbps = (uint32_t)hp3_min_u64(kbps, UINT32_MAX);
}

uint32_t hp3_monitor_evidence(const struct hp3_monitor *m, uint8_t cycles[HP3_CYCLES_KEPT + 1])
{
	uint32_t n = 0;

	for (uint32_t i = HP3_CYCLES_KEPT; i-- > 0;) {
		uint8_t cycle = m->history >> (i * CYCLE_BITS) & CYCLE_MASK;

		if (cycle != HP3_CYCLE_SILENT)
			cycles[n++] = cycle;
	}
	if (m->cnp)
		cycles[n++] = HP3_CYCLE_CNP;
	else if (m->silent != 0)
		cycles[n++] = HP3_CYCLE_SILENT;
	return n;
}

const char *hp3_cycle_name(uint8_t cycle)
{
	static const char *const names[] = {"silent", "cnp", "ecn", "cnp+ecn", "rtt", "cnp+rtt",
		"ecn+rtt", "cnp+ecn+rtt", "clean"};

	return HP3_NAME(names, cycle);
}
