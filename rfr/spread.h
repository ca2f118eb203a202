/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_RFR_SPREAD_H
#define HP3_RFR_SPREAD_H
/*
 * Which path a packet of a sprayed queue pair takes. Its source ports are up to HP3_LANES lanes, by
 * number; each is one path of the fabric, several may be the same.
 *
 * The receiver knows which lane holds the others up: a packet that fills the gap for which what
 * came sooner had to wait was late by as long as that, all others by nothing. A lane that is late
 * beyond what is usual, or that brings nothing although many packets came, is told to the sender,
 * and is judged anew from then on. The sender leaves it out, for longer each time, and then tries
 * it again. So it does with a lane that is marked (ECN) while others are not, each time for as
 * long, and half of the lanes at most: where all are marked that is congestion control's.
 *
 * Sans-IO; times ns.
 */
#include <stdbool.h>
#include <stdint.h>

#define HP3_LANES 64u

struct hp3_spread_params {
	uint32_t lanes; /* in use: 1 .. HP3_LANES */
	uint32_t alike; /* % of the best answer: lanes that take no longer are used */
	uint32_t
		differ; /* % of the lanes asked: where so many are slower, unknown ones rest, too */
	/* Lanes are used that have answered no later than the best one by more; 0: all are */
	uint64_t reach_ns;
	uint64_t late_ns; /* a lane is slow that is late by more, on average */
	uint64_t rest_ns; /* a lane is left out so long, the first time */
};

#define HP3_LANE_MARKED 256u /* every packet */

/* The sender's. What a packet needs comes first. */
struct hp3_spread {
	uint64_t resting; /* bit by lane */
	uint64_t known; /* reach_ns: used, bit by lane */
	uint64_t next; /* the first of them may be tried again, no sooner */
	uint64_t since; /* these probes; 0: there are none */
	uint64_t asked; /* bit by lane */
	uint32_t best; /* the shortest answer, ns */
	uint32_t at[HP3_LANES]; /* when it was asked, ns behind `since` */
	uint32_t rtt[HP3_LANES]; /* ns; 0: none yet */
	uint64_t until[HP3_LANES];
	uint8_t level[HP3_LANES]; /* doublings of the next rest */
};

/* The receiver's. */
struct hp3_lateness {
	uint32_t packets; /* so far */
	uint32_t usual; /* ns * 16, of all lanes */
	uint32_t marked; /* of HP3_LANE_MARKED, * 512, of all lanes */
	struct {
		uint32_t late; /* ns * 8 */
		uint32_t marked; /* of HP3_LANE_MARKED, * 32 */
		uint32_t seen; /* `packets` when one came last */
	} lane[HP3_LANES];
};

/* All 0 at first. `random`: any number. The lane of the next packet. */
uint32_t hp3_spread_lane(
	struct hp3_spread *s, const struct hp3_spread_params *p, uint32_t random, uint64_t now);
/* A probe leaves by the lane. */
void hp3_spread_asked(
	struct hp3_spread *s, const struct hp3_spread_params *p, uint32_t lane, uint64_t now);
/* It was answered: the lane's round trip; UINT32_MAX: no good one, however long. */
void hp3_spread_answered(struct hp3_spread *s, const struct hp3_spread_params *p, uint32_t lane,
	uint32_t rtt_ns, uint64_t now);
/*
 * These lanes were asked at a time, and answered after rtt ns, or did not (0). Those are used from
 * now on that are within reach, and no others of them. True: many are not. Queues alone make no
 * path differ by so much.
 */
bool hp3_spread_compared(struct hp3_spread *s, const struct hp3_spread_params *p,
	const uint8_t *lane, const uint32_t *rtt, uint32_t n);
/* Lanes that packets take now. */
uint32_t hp3_spread_used(const struct hp3_spread *s, const struct hp3_spread_params *p);
/*
 * Packets are about to leave: lanes rest that have not answered soon enough, of those asked lately,
 * and where many have not, those of which nothing is known rest as well. True: many take times as
 * long, which is no mere queue. Else all lanes are known, if any answered, but for those that were
 * asked and did not.
 */
bool hp3_spread_choose(struct hp3_spread *s, const struct hp3_spread_params *p, uint64_t now);
/* More than half of the lanes rest because they were told of again and again. */
bool hp3_spread_differs(const struct hp3_spread *s, const struct hp3_spread_params *p);
/* The receiver tells of slow lanes, bit by lane. */
void hp3_spread_told(
	struct hp3_spread *s, const struct hp3_spread_params *p, uint64_t slow, uint64_t now);

/* ... and of marked ones. */
void hp3_spread_marked(
	struct hp3_spread *s, const struct hp3_spread_params *p, uint64_t marked, uint64_t now);

/* All 0 at first. A packet came by this lane, marked or not, and others had to wait for it so long.
 */
void hp3_lateness_seen(struct hp3_lateness *l, uint32_t lane, uint64_t late_ns, bool marked);
/* Is it worth a look at all lanes? One came by this lane just now, marked or not. */
bool hp3_lateness_suspects(const struct hp3_lateness *l, const struct hp3_spread_params *p,
	uint32_t lane, bool marked);
/* Slow lanes, bit by lane, that are to be told; they are judged anew. */
uint64_t hp3_lateness_slow(struct hp3_lateness *l, const struct hp3_spread_params *p);
/* Likewise those that are marked far more than the others. */
uint64_t hp3_lateness_marked(struct hp3_lateness *l, const struct hp3_spread_params *p);

#endif
