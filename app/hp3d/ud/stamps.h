/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_UD_STAMPS_H
#define HP3D_UD_STAMPS_H
/*
 * How long a probe was on the wire, by the stamps that an RNIC gives completions
 * (ibv_create_cq_ex(), IBV_WC_EX_WITH_COMPLETION_TIMESTAMP): that of the probe's departure and that
 * of its answer's arrival are ticks of one counter, so how late this host posted or looked is no
 * part of it.
 *
 * The counter comes round; it begins anew when the RNIC does; and it may be nonsense. What is
 * believed of it is bounded by hp3d's own clock: the probe was posted before it left, its answer
 * was looked at after it had arrived. Stamps the other way round, or further apart than that, are
 * refused under a name, and none is believed for a second: the answers of a round are compared
 * with each other, so they are to be timed alike.
 *
 * Units: ticks of the counter, kHz, ns. Sans-IO: times are the caller's, of one clock.
 */
#include <stdbool.h>
#include <stdint.h>

#define HP3D_UD_STAMPED     1024u /* probes whose answers may still come */
#define HP3D_UD_DISTRUST_NS 1000000000u

/* What an answer is timed by; all but the first one: by hp3d's clock. X(name, help) */
#define HP3D_UD_TIMINGS(X)                                                                         \
	X(stamped, "answers timed by the RNIC's stamps")                                           \
	X(unstamped, "answers timed by hp3d's clock: the RNIC has no stamps")                      \
	X(stamp_missing, "answers timed by hp3d's clock: no stamp of the probe's departure, or "   \
			 "another RNIC's")                                                         \
	X(stamp_backwards, "answers timed by hp3d's clock: stamped no later than the probe")       \
	X(stamp_too_late, "answers timed by hp3d's clock: stamped later than that has it")         \
	X(stamp_distrusted, "answers timed by hp3d's clock: nonsense was stamped shortly before")

enum hp3d_ud_timing {
#define X(name, help) HP3D_UD_TIMING_##name,
	HP3D_UD_TIMINGS(X)
#undef X
		HP3D_UD_TIMING_MAX
};

struct hp3d_ud_stamps {
	uint64_t mask; /* of the counter: 2^n - 1; 0: there is none */
	uint64_t khz;
	uint64_t distrusted; /* until then */
	struct {
		uint32_t id;
		bool used, has_left;
		uint64_t posted; /* ns */
		uint64_t left; /* ticks */
	} probe[HP3D_UD_STAMPED];
};

/* As the device says of itself; what cannot be a counter of time is none. Zeroed memory is none,
 * too. */
void hp3d_ud_stamps_init(struct hp3d_ud_stamps *s, uint64_t mask, uint64_t khz);
static inline bool hp3d_ud_stamps_are_there(const struct hp3d_ud_stamps *s)
{
	return s->mask != 0;
}

/* A probe is about to be posted; its departure was stamped. */
void hp3d_ud_stamp_posted(struct hp3d_ud_stamps *s, uint32_t id, uint64_t now);
void hp3d_ud_stamp_left(struct hp3d_ud_stamps *s, uint32_t id, uint64_t ticks);

/*
 * Its answer was stamped `ticks` and is looked at `now`. How it is timed; *took_ns is how long both
 * were on the wire if by stamps, else 0. Once per probe: a second answer has no stamp to go with.
 */
enum hp3d_ud_timing hp3d_ud_stamp_judge(
	struct hp3d_ud_stamps *s, uint32_t id, uint64_t ticks, uint64_t now, uint32_t *took_ns);

#endif
