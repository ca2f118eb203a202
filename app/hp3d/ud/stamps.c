/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/ud/stamps.h"

#define STAMP_GOLDEN_RATIO 0x9e3779b1u
#define MASK_MIN           0xffffffu
#define KHZ_MIN            1000u /* a tick is at most 1 us, */
#define KHZ_MAX            100000000u /* and at least 10 ps */
#define DRIFT              1000u /* two clocks drift by less than one part in so many, */
#define GRAIN_NS           1000u /* plus their resolution */
#define NS_PER_MS          1000000u

void hp3d_ud_stamps_init(struct hp3d_ud_stamps *s, uint64_t mask, uint64_t khz)
{
	bool good =
		(mask & (mask + 1u)) == 0 && mask >= MASK_MIN && khz >= KHZ_MIN && khz <= KHZ_MAX;

	*s = (struct hp3d_ud_stamps){.mask = good ? mask : 0, .khz = good ? khz : 0};
}

static uint32_t place_of(uint32_t id)
{
	return id * STAMP_GOLDEN_RATIO >> 22;
}

_Static_assert(HP3D_UD_STAMPED == 1u << 10, "place_of() has ten bits");

void hp3d_ud_stamp_posted(struct hp3d_ud_stamps *s, uint32_t id, uint64_t now)
{
	uint32_t at = place_of(id);

	s->probe[at].id = id;
	s->probe[at].used = true;
	s->probe[at].has_left = false;
	s->probe[at].posted = now;
}

void hp3d_ud_stamp_left(struct hp3d_ud_stamps *s, uint32_t id, uint64_t ticks)
{
	uint32_t at = place_of(id);

	if (!s->probe[at].used || s->probe[at].id != id)
		return; /* another probe has replaced it */
	s->probe[at].left = ticks & s->mask;
	s->probe[at].has_left = true;
}

static uint64_t ns_of(const struct hp3d_ud_stamps *s, uint64_t ticks)
{
	return (uint64_t)((unsigned __int128)ticks * NS_PER_MS / s->khz);
}

/* Differences above half of the counter's range count as negative. */
static enum hp3d_ud_timing judge_ticks(
	const struct hp3d_ud_stamps *s, uint64_t ticks, uint64_t passed, uint32_t *took_ns)
{
	uint64_t ns = ns_of(s, ticks);

	if (ticks == 0 || ticks > s->mask / 2u)
		return HP3D_UD_TIMING_stamp_backwards;
	if (ns > passed + passed / DRIFT + GRAIN_NS)
		return HP3D_UD_TIMING_stamp_too_late;
	*took_ns = ns > UINT32_MAX ? UINT32_MAX : ns == 0 ? 1u : (uint32_t)ns;
	return HP3D_UD_TIMING_stamped;
}

enum hp3d_ud_timing hp3d_ud_stamp_judge(
	struct hp3d_ud_stamps *s, uint32_t id, uint64_t ticks, uint64_t now, uint32_t *took_ns)
{
	uint32_t at = place_of(id);
	enum hp3d_ud_timing timing;

	*took_ns = 0;
	if (s->mask == 0)
		return HP3D_UD_TIMING_unstamped;
	if (!s->probe[at].used || s->probe[at].id != id || !s->probe[at].has_left)
		return HP3D_UD_TIMING_stamp_missing;
	s->probe[at].used = false;
	if (now < s->distrusted)
		return HP3D_UD_TIMING_stamp_distrusted;
	timing = judge_ticks(
		s, (ticks - s->probe[at].left) & s->mask, now - s->probe[at].posted, took_ns);
	if (timing != HP3D_UD_TIMING_stamped)
		s->distrusted = now + HP3D_UD_DISTRUST_NS;
	return timing;
}
