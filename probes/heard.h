/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_PROBES_HEARD_H
#define HP3_PROBES_HEARD_H
/*
 * Which messages of peers act (rule 36): each one once, and none that was made before this hp3d
 * began. Reports, loads and agreements ask here before anybody acts on them.
 *
 * A message bears the wall clock of its sender, us, its stamp: no two messages of a sender have the
 * same one, later ones have greater ones (hp3_heard_stamp()). It counts if its stamp
 *
 *     is no further from this host's clock than clock_s,
 *     is newer than what the peer's clock said when it answered a probe of this hp3d for the first
 *         time; before it did so, newer than the beginning of this hp3d by its own clock,
 *     and was not heard before, of this sender and in this kind: the newest HP3_HEARD_STAMPS stamps
 *         are remembered, and what is older than all of them is too old.
 *
 * So messages may be lost, and overtake each other by HP3_HEARD_STAMPS - 1. Kinds are counted
 * apart, because they take different paths. VLANs are not: the tag does not speak for them.
 *
 * A record is given up only when all its stamps are so far behind the clock that they do not count;
 * no message as old as these counts any more, should a reload raise clock_s. A record whose stamps
 * are ahead of the clock, which was set back then, is kept. A sender for whom there is no room is
 * not heard. Sets are chosen by a hash with a seed, and only what bears a
 * right tag gets here.
 */
#include "probes/stats.h"
#include "probes/tag.h"

#define HP3_HEARD_STAMPS  8u
#define HP3_HEARD_WAYS    8u
#define HP3_HEARD_SENDERS 2048u

struct hp3_heard_sender {
	uint64_t print; /* of addresses and kind; 0: free */
	/* Ascending, the last n of them; of kind ANSWER what the peer's clock said first. */
	uint64_t stamp[HP3_HEARD_STAMPS];
	uint32_t n;
};

struct hp3_heard {
	struct hp3_probe_key seed;
	uint64_t born; /* wall clock, us */
	uint64_t gone; /* the greatest stamp of a record that was given up */
	struct hp3_heard_sender sender[HP3_HEARD_SENDERS];
};

/* Now, s, by the wall clock of this host, and how far others may be from it. */
struct hp3_heard_time {
	uint64_t clock;
	uint32_t clock_s;
};

/* `born`: of the wall clock, us. */
void hp3_heard_init(struct hp3_heard *h, uint64_t seed, uint64_t born);

enum hp3_heard_fate {
	HP3_HEARD_NEW, /* counts */
	HP3_HEARD_CLOCK, /* too far from this host's clock */
	HP3_HEARD_OLD, /* made before this hp3d began, perhaps */
	HP3_HEARD_AGAIN, /* heard before, or older than all that is remembered */
	HP3_HEARD_NO_ROOM,
};

/* Of the sender to the receiver of *a; NEW is remembered. */
enum hp3_heard_fate hp3_heard_take(struct hp3_heard *h, const struct hp3_addressing *a,
	enum hp3_tag_kind kind, uint64_t stamp, const struct hp3_heard_time *time);

/*
 * The sender of *a has answered a probe of this hp3d that nobody had answered yet, and its clock
 * said this (us, the low HP3_HEARD_CLOCK_BITS bits).
 */
#define HP3_HEARD_CLOCK_BITS 40u
void hp3_heard_clock(struct hp3_heard *h, const struct hp3_addressing *a, uint64_t clock_us,
	const struct hp3_heard_time *time);

/*
 * The stamp of the next message: the clock's, but never that of an earlier one, so that a clock
 * that is set back silences nobody. Where it is set back by more than clock_s the old stamps are
 * worth nothing to others, and it begins anew.
 */
static inline uint64_t hp3_heard_stamp(uint64_t last, uint64_t clock_us, uint32_t clock_s)
{
	if (clock_us > last || last - clock_us > clock_s * 1000000ull)
		return clock_us;
	return last + 1;
}

#endif
