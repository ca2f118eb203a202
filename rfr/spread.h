/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Chooses the path of each packet of a sprayed queue pair. The packets have up to HP3_EVS_MAX
 * source ports, the entropy values (EVs). Each EV selects one path of the fabric; several EVs may
 * select the same path.
 *
 * The receiver measures the lateness of each EV. The lateness of a packet that fills a gap is the
 * time for which held packets waited for it; other packets have lateness 0. The receiver reports an
 * EV as slow if its packets are unusually late. It also does so if no packet arrives from the EV
 * while many arrive from other EVs. The receiver then starts to measure that EV from zero. The
 * sender stops using a slow EV for a time (a rest). Each further rest of an EV is longer. The
 * sender ignores reports about EVs that it has not used since their rest. An EV that is ECN-marked
 * far more than others also rests, always for the same time. Exception: more than half of the EVs
 * would then rest. If all EVs are marked, only congestion control reacts.
 *
 * Sans-IO; times ns.
 */
#include <stdbool.h>
#include <stdint.h>
#include "base/minmax.h"

#define HP3_EVS_MAX 64u

struct hp3_spread_params {
	uint32_t evs; /* EVs: 1 .. HP3_EVS_MAX */
	uint32_t alike; /* percent of the shortest RTT: EVs with an RTT up to this are used */
	/* if at least this percentage of the probed EVs is slower, unprobed EVs also rest */
	uint32_t differ;
	/* Only EVs whose RTT exceeds the best RTT by at most this are used; 0: all EVs are used. */
	uint64_t reach_ns;
	uint64_t late_ns; /* an EV is slow if its average lateness exceeds this */
	uint64_t rest_ns; /* length of the first rest */
};

/* All EVs, one bit each. */
static inline uint64_t hp3_spread_all(const struct hp3_spread_params *p)
{
	return p->evs == HP3_EVS_MAX ? UINT64_MAX : (1ull << p->evs) - 1;
}

#define HP3_EV_ALL_MARKED 256u /* value for "every packet is marked" */

/* The sender's state. Fields that each packet needs come first. */
struct hp3_spread {
	uint64_t resting; /* EVs that rest, one bit each */
	uint64_t known; /* EVs in use, one bit each; counts only if reach_ns is not 0 */
	uint64_t far; /* EVs that the newest comparison found too slow, one bit each */
	uint64_t next; /* earliest end of a rest */
	uint64_t since; /* time of the first of the current probes; 0: none */
	uint64_t asked; /* probed EVs, one bit each */
	uint32_t best; /* shortest RTT, ns */
	uint32_t at[HP3_EVS_MAX]; /* time of the probe, ns after `since` */
	uint32_t rtt[HP3_EVS_MAX]; /* ns; 0: no answer yet */
	uint64_t slow; /* EVs that rest because they were slow, one bit each */
	uint64_t until[HP3_EVS_MAX]; /* end of the newest rest; 0: none yet */
	uint64_t slow_until[HP3_EVS_MAX]; /* end of the newest rest of an EV that was slow */
	uint8_t level[HP3_EVS_MAX]; /* doublings of the next rest of a slow EV */
};

/* The receiver's state. */
struct hp3_lateness {
	uint32_t packets; /* packets so far */
	uint32_t usual; /* average lateness of all EVs, ns * 16 */
	uint32_t marked; /* average share of marked packets of all EVs, HP3_EV_ALL_MARKED * 512 */
	struct {
		uint32_t late; /* average lateness, ns * 8 */
		uint32_t marked; /* average share of marked packets, HP3_EV_ALL_MARKED * 32 */
		uint32_t seen; /* value of `packets` at the newest packet of this EV */
	} ev[HP3_EVS_MAX];
};

/*
 * EVs that a packet may take when they do not rest. `presumed`: also those not compared, unless a
 * comparison found an EV too slow.
 */
static inline uint64_t hp3_spread_usable(
	const struct hp3_spread *s, const struct hp3_spread_params *p, bool presumed)
{
	const uint64_t all = hp3_spread_all(p);

	if (p->reach_ns == 0)
		return all;
	return presumed && s->far == 0 ? all : s->known & all;
}
/* The part of hp3_spread_ev() for when some EVs rest, or may not be used. `use`: those that may. */
uint32_t hp3_spread_usable_ev(struct hp3_spread *s, const struct hp3_spread_params *p, uint64_t use,
	uint32_t random, uint64_t now);
/*
 * Returns the EV of the next packet. *s is all 0 at first. `random`: any random number. `presumed`:
 * paths are presumed alike (presume.h).
 */
static inline uint32_t hp3_spread_ev(struct hp3_spread *s, const struct hp3_spread_params *p,
	bool presumed, uint32_t random, uint64_t now)
{
	uint64_t use = hp3_spread_usable(s, p, presumed);

	if (s->resting == 0 && use == hp3_spread_all(p))
		return (uint32_t)((uint64_t)random * p->evs >> 32);
	return hp3_spread_usable_ev(s, p, use, random, now);
}
/* A probe with this EV leaves. */
void hp3_spread_probed(
	struct hp3_spread *s, const struct hp3_spread_params *p, uint32_t ev, uint64_t now);
/* The probe was answered. rtt_ns UINT32_MAX: the answer counts as bad, however fast it was. */
void hp3_spread_answered(struct hp3_spread *s, const struct hp3_spread_params *p, uint32_t ev,
	uint32_t rtt_ns, uint64_t now);
/*
 * Result of a comparison: these EVs were probed at the same time, with these RTTs in ns (0: no
 * answer). From now on, packets use the probed EVs whose RTT is within reach_ns of the best, and no
 * other probed EV. True: many probed EVs are not used, because the RTTs differ more than queues
 * alone explain.
 */
bool hp3_spread_compared(struct hp3_spread *s, const struct hp3_spread_params *p, const uint8_t *ev,
	const uint32_t *rtt, uint32_t n);
/* Number of EVs in use now. */
uint32_t hp3_spread_used(const struct hp3_spread *s, const struct hp3_spread_params *p);
/*
 * Call it before packets leave with several EVs. Recently probed EVs rest if they were too slow. If
 * many of the probed EVs were too slow, unprobed EVs also rest. Returns true if the RTTs of many
 * EVs are several times the best RTT, which queues alone do not cause. If the result is false,
 * packets no longer use EVs whose probe was not answered. If `known` was empty before, and several
 * EVs were probed, packets now use all other EVs.
 */
bool hp3_spread_choose(struct hp3_spread *s, const struct hp3_spread_params *p, uint64_t now);
/*
 * Do more than half of the EVs rest because they were slow, or lost a packet, at least twice each?
 */
bool hp3_spread_differs(const struct hp3_spread *s, const struct hp3_spread_params *p);
/* Lets these EVs rest, one bit each: they are slow, or have lost a packet. */
void hp3_spread_rest(
	struct hp3_spread *s, const struct hp3_spread_params *p, uint64_t slow, uint64_t now);
/*
 * The receiver reports slow EVs. `tried`: EVs that this queue pair has used since their newest
 * rest. While an EV is not used, no packet arrives with it, and the receiver reports it as slow. So
 * the report counts only for EVs in `tried`. The report also does not count for an EV whose rest
 * ended less than half of rest_ns ago: such a report is about packets before the rest.
 */
void hp3_spread_slow(struct hp3_spread *s, const struct hp3_spread_params *p, uint64_t slow,
	uint64_t tried, uint64_t now);
/* The new value of `tried`, after a packet with this EV. */
static inline uint64_t hp3_spread_tried(const struct hp3_spread *s, uint64_t tried, uint32_t ev)
{
	return (tried & ~s->resting) | 1ull << ev;
}

/* The receiver reports marked EVs, one bit each. */
void hp3_spread_marked(
	struct hp3_spread *s, const struct hp3_spread_params *p, uint64_t marked, uint64_t now);

#define HP3_LATENESS_MOST    (1u << 20) /* ns: higher values count as this */
#define HP3_LATENESS_UNUSUAL 4u /* times the usual lateness */
#define HP3_EV_MARK_SAMPLES  512u /* packets in the average of all EVs */
#define HP3_EV_MARKED_MIN    (HP3_EV_ALL_MARKED / 12) /* three of 32 packets */
#define HP3_EV_MARKED_FACTOR 2u /* times the average of all EVs */

/*
 * A packet with this EV arrived, marked or not. Held packets had waited for it for `late_ns`.
 * `spread`: the sender chose the EV at random from all EVs in use. False: the packet is no evidence
 * that other EVs are silent. *l is all 0 at first.
 */
static inline void hp3_lateness_seen(
	struct hp3_lateness *l, uint32_t ev, uint64_t late_ns, bool marked, bool spread)
{
	uint32_t all = marked ? HP3_EV_ALL_MARKED : 0;
	uint32_t late = (uint32_t)hp3_min_u64(late_ns, HP3_LATENESS_MOST);

	l->packets += spread;
	l->ev[ev].seen = l->packets;
	l->ev[ev].late += late - l->ev[ev].late / 8;
	l->usual += late - l->usual / 16;
	l->ev[ev].marked += all - l->ev[ev].marked / 32;
	l->marked += all - l->marked / HP3_EV_MARK_SAMPLES;
}

/* An EV is slow if its average lateness exceeds this, ns. */
static inline uint32_t hp3_lateness_bound(
	const struct hp3_lateness *l, const struct hp3_spread_params *p)
{
	return hp3_max_u32((uint32_t)p->late_ns, HP3_LATENESS_UNUSUAL * (l->usual / 16));
}

/* Is the EV marked far more than the others? False until the average has enough packets. */
static inline bool hp3_ev_is_marked(const struct hp3_lateness *l, uint32_t ev)
{
	return l->packets >= HP3_EV_MARK_SAMPLES &&
	       l->ev[ev].marked / 32 >
		       hp3_max_u32(HP3_EV_MARKED_MIN,
			       HP3_EV_MARKED_FACTOR * (l->marked / HP3_EV_MARK_SAMPLES));
}

/* Is a check of all EVs worthwhile? A packet with this EV has just arrived, marked or not. */
static inline bool hp3_lateness_suspects(
	const struct hp3_lateness *l, const struct hp3_spread_params *p, uint32_t ev, bool marked)
{
	return l->ev[ev].late / 8 > hp3_lateness_bound(l, p) ||
	       (marked && hp3_ev_is_marked(l, ev)) || l->packets % HP3_EVS_MAX == 0;
}
/* Slow EVs to report, one bit each. Their measurement starts from zero. */
uint64_t hp3_lateness_slow(struct hp3_lateness *l, const struct hp3_spread_params *p);
/* EVs to report that are marked far more than the others. */
uint64_t hp3_lateness_marked(struct hp3_lateness *l, const struct hp3_spread_params *p);
