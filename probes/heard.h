/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Replay protection for messages of peers (rule 36): each message has at most one effect. Before
 * hp3d acts on a report of missing replies, or on a message about an agreement, it checks the stamp
 * here.
 *
 * Each message carries a stamp: the wall clock of its sender, in us. A later message of a sender
 * has a greater stamp (hp3_heard_stamp()). A message counts if its stamp
 *
 * - is within clock_s of this host's clock,
 * - is newer than the clock in the peer's first answer to a probe of this hp3d,
 * - and is new for this sender and this kind of message. The newest HP3_HEARD_STAMPS stamps are
 *   stored. A message whose stamp is older than all stored ones does not count.
 *
 * Until the peer's first answer, the second condition is that the stamp is newer than the start of
 * this hp3d, by this host's clock.
 *
 * So messages may be lost. A message still counts if up to HP3_HEARD_STAMPS - 1 later messages
 * arrived before it. A sender has one record for each kind of message, because messages of
 * different kinds take different paths. All VLANs share these records, because the tags of messages
 * do not cover the VLAN.
 *
 * A record is reused only when all its stamps are more than clock_s behind the clock. From then on,
 * stamps up to the greatest stamp of the reused record do not count, even if a reload raises
 * clock_s. If the clock was set back, the stamps of a record may be later than the clock. Such a
 * record is not reused.
 *
 * The records are in sets; a seeded hash selects the set of a sender. If a sender has no record,
 * and its set has no free record, its messages are dropped. Only messages with a right tag are
 * checked here.
 */
#include "probes/stats.h"
#include "probes/tag.h"

#define HP3_HEARD_STAMPS  8u
#define HP3_HEARD_WAYS    8u
#define HP3_HEARD_SENDERS 2048u

struct hp3_heard_sender {
	uint64_t print; /* hash of addresses and kind; 0: free */
	/*
	 * Ascending; the last n elements are in use. In a record of kind ANSWER, the only stamp is
	 * the clock in the peer's first answer.
	 */
	uint64_t stamp[HP3_HEARD_STAMPS];
	uint32_t n;
};

struct hp3_heard {
	struct hp3_probe_key seed;
	uint64_t born; /* wall clock at the start of this hp3d, us */
	uint64_t gone; /* the greatest stamp of all reused records */
	struct hp3_heard_sender sender[HP3_HEARD_SENDERS];
};

/* This host's wall clock, and how far a stamp may differ from it, both in s. */
struct hp3_heard_time {
	uint64_t clock;
	uint32_t clock_s;
};

/* What this host needs to authenticate messages, to detect replays, and to count drops. */
struct hp3_receiver {
	const struct hp3_probe_keys *keys;
	struct hp3_heard *heard;
	struct hp3_heard_time time;
	uint16_t port; /* hp3's own port */
	struct hp3_probe_stats *stats;
	const struct hp3_probe_key *secret; /* for hp3_probe_cookie() of this host's probes */
};

/* The result of reading an answer (answer.h) or a message about an agreement (agree.h). */
enum hp3_message_fate {
	HP3_MESSAGE_NONE, /* not such a message: forward it */
	HP3_MESSAGE_OK, /* consume it; the result is valid */
	HP3_MESSAGE_DROP, /* invalid, but with the magic of such a message: counted; consume it */
};

static inline enum hp3_message_fate hp3_message_drop(uint64_t *counter)
{
	++*counter;
	return HP3_MESSAGE_DROP;
}

/* `born`: the wall clock at the start of this hp3d, us. */
void hp3_heard_init(struct hp3_heard *h, uint64_t seed, uint64_t born);

enum hp3_heard_fate {
	HP3_HEARD_NEW, /* the message counts */
	HP3_HEARD_CLOCK, /* too far from this host's clock */
	HP3_HEARD_OLD, /* perhaps sent before this hp3d started */
	HP3_HEARD_AGAIN, /* a replay, or older than all stored stamps */
	HP3_HEARD_NO_ROOM,
};

/* Checks a message from the sender to the receiver of *a. Stores the stamp if the result is NEW. */
enum hp3_heard_fate hp3_heard_take(struct hp3_heard *h, const struct hp3_addressing *a,
	enum hp3_tag_kind kind, uint64_t stamp, const struct hp3_heard_time *time);

/*
 * The sender of *a answered a probe of this hp3d that had no answer yet. `clock_us`: the clock in
 * the answer, in us, its low HP3_HEARD_CLOCK_BITS bits. Only the first call for a peer has an
 * effect. Calls later than 2 x clock_s after the start of this hp3d have no effect.
 */
#define HP3_HEARD_CLOCK_BITS 40u
void hp3_heard_clock(struct hp3_heard *h, const struct hp3_addressing *a, uint64_t clock_us,
	const struct hp3_heard_time *time);

/*
 * The stamp of the next message. If the wall clock is later than the last stamp, the stamp is the
 * clock; otherwise, it is the last stamp + 1. So peers accept messages after the clock was set
 * back. If the clock was set back by more than clock_s, peers would refuse such a stamp; the stamp
 * is then the clock.
 */
static inline uint64_t hp3_heard_stamp(uint64_t last, uint64_t clock_us, uint32_t clock_s)
{
	if (clock_us > last || last - clock_us > clock_s * 1000000ull)
		return clock_us;
	return last + 1;
}
