/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * How long a probe was on the wire. The RNIC's completion timestamps show this (ibv_create_cq_ex(),
 * IBV_WC_EX_WITH_COMPLETION_TIMESTAMP). The stamps of the probe's departure and of its answer's
 * arrival are ticks of one counter, so delays in this host's software do not count.
 *
 * The counter wraps, restarts with the RNIC, and may be wrong. hp3d's own clock bounds the result:
 * the probe was posted before it left, and its answer was polled after it had arrived. Stamps are
 * implausible if they are in the wrong order, or further apart than hp3d's clock allows. hp3d does
 * not use implausible stamps, and counts them by reason. After an implausible stamp, hp3d uses no
 * stamps for HP3D_UD_DISTRUST_NS. The reason: hp3d compares the answers of a round, so it must time
 * them in the same way.
 *
 * Units: ticks of the counter, kHz, ns. Sans-IO: the caller passes times, all from one clock.
 */
#include <stdbool.h>
#include <stdint.h>

#define HP3D_UD_STAMPED     1024u /* probes whose answers may still come */
#define HP3D_UD_DISTRUST_NS 1000000000u

/* How an answer is timed: `stamped`, or by hp3d's clock and the reason. X(name, help) */
#define HP3D_UD_TIMINGS(X)                                                                         \
	X(stamped, "answers timed by the RNIC's stamps")                                           \
	X(unstamped, "answers timed by hp3d's clock: the RNIC has no stamps")                      \
	X(stamp_missing, "answers timed by hp3d's clock: no stamp of the probe's departure, or "   \
			 "another RNIC's")                                                         \
	X(stamp_backwards, "answers timed by hp3d's clock: stamped no later than the probe")       \
	X(stamp_too_late, "answers timed by hp3d's clock: stamped later than the clock allows")    \
	X(stamp_distrusted, "answers timed by hp3d's clock: a stamp was wrong shortly before")

enum hp3d_ud_timing {
#define X(name, help) HP3D_UD_TIMING_##name,
	HP3D_UD_TIMINGS(X)
#undef X
		HP3D_UD_TIMING_MAX
};

struct hp3d_ud_stamps {
	uint64_t mask; /* mask of the counter, 2^n - 1; 0: there is no counter */
	uint64_t khz;
	uint64_t distrusted; /* no stamp is used before this time */
	struct {
		uint32_t id;
		bool used, has_left;
		uint64_t posted; /* time, ns */
		uint64_t left; /* ticks */
	} probe[HP3D_UD_STAMPED];
};

/* `mask` and `khz` as the device reports them; with implausible values, or in zeroed memory, there
 * is no counter. */
void hp3d_ud_stamps_init(struct hp3d_ud_stamps *s, uint64_t mask, uint64_t khz);
static inline bool hp3d_ud_stamps_are_there(const struct hp3d_ud_stamps *s)
{
	return s->mask != 0;
}

/* Call hp3d_ud_stamp_posted() before a probe is posted, and hp3d_ud_stamp_left() with the stamp of
 * its departure. */
void hp3d_ud_stamp_posted(struct hp3d_ud_stamps *s, uint32_t id, uint64_t now);
void hp3d_ud_stamp_left(struct hp3d_ud_stamps *s, uint32_t id, uint64_t ticks);

/*
 * The answer to probe `id` was stamped `ticks` and is polled at `now`. Returns how the answer is
 * timed. *took_ns: how long probe and answer were on the wire; 0 if no stamps show this. Call it
 * once per probe: a second answer finds no stamp of departure.
 */
enum hp3d_ud_timing hp3d_ud_stamp_judge(
	struct hp3d_ud_stamps *s, uint32_t id, uint64_t ticks, uint64_t now, uint32_t *took_ns);
