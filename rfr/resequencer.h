/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_RFR_RESEQUENCER_H
#define HP3_RFR_RESEQUENCER_H
/*
 * The receiver of a sprayed queue pair: its packets come by several paths, and the RNIC gets them
 * in the order of their PSNs (IBTA 9.7.5: a responder executes requests in that order, and answers
 * a gap with one NAK). The PSN is the sequence number; nothing is added to packets.
 *
 * What is expected next passes at once. What is ahead of it is held, up to a window. When what was
 * lacking has come, all behind it follows in order. When it does not come for longer than the paths
 * differ (measured here, between two bounds) it is taken for lost: the RNIC gets a copy of the
 * packet behind the gap, and asks for what lacks by a NAK, once. All stays held: the requester
 * goes back, its first packet fills the gap, and what it repeats of what was held is no more than a
 * duplicate; and where the packet was merely late, all is there.
 * If the caller finds that it is lost (missing.h), the RNIC gets that copy at once.
 * Where it does not come even then, all that is held is given up, in order; likewise where a packet
 * has been held for the longest wait, that time and an eighth of it, however many gaps opened
 * before it one after the other: 5.5 longest waits with hp3d's parameters.
 *
 * The RNIC corrects what is expected. An acknowledgement raises it. A NAK sets it back, unless that
 * PSN was given to the RNIC since something behind it was: the NAK may be older than that.
 *
 * Time in which the caller looked at no packet proves nothing: what lacks may have come. That time
 * counts neither for a gap nor for a packet that is held. What lacks is waited for anew then,
 * HP3_RESEQ_AGAIN times for one gap at most, and what is held is given up no sooner than the
 * longest wait afterwards. All of this adds one longest wait to the bound above, however often the
 * caller stops.
 *
 * Each call takes a constant number of steps: bitmaps of two levels say where the next held packet
 * is, however many slots between are empty.
 *
 * A packet is a handle of the caller's, who holds it. Sans-IO: nothing here reads a clock or
 * allocates. PSNs are 24 bits, times ns. For RNICs that go back N: one that keeps what came out of
 * order would be told twice.
 */
#include <stdbool.h>
#include <stdint.h>
#include "roce/wire.h"

#define HP3_RESEQ_WINDOW 2048u /* PSNs; power of two */
#define HP3_RESEQ_WORDS  (HP3_RESEQ_WINDOW / 64)
#define HP3_RESEQ_AGAIN  2u
#define HP3_RESEQ_AGES   12u

struct hp3_reseq_params {
	uint32_t window; /* packets ahead that are held, < HP3_RESEQ_WINDOW */
	uint64_t least_ns, most_ns; /* between which it is waited for a packet that is late */
	uint64_t give_up_ns; /* from then on: until all that is held is given up */
};

enum hp3_reseq_verdict {
	HP3_RESEQ_PASS, /* in order; hp3_reseq_next() may have more */
	HP3_RESEQ_OLD, /* the RNIC had it: a repetition, passes */
	HP3_RESEQ_HOLD,
	HP3_RESEQ_COPY, /* of one that is held: it is not needed */
	HP3_RESEQ_BEYOND, /* the window: it passes, and the RNIC asks for what lacks */
};

struct hp3_reseq_slot {
	uint32_t handle;
	uint32_t span; /* PSNs that it takes: of a READ as many as its responses; 0: not known */
	uint64_t at; /* when it came */
};

struct hp3_reseq {
	uint32_t expected; /* what the RNIC waits for */
	uint32_t sweep; /* before it nothing is held */
	uint32_t top; /* the highest one held */
	uint32_t held; /* packets; some are only if `expected` lacks */
	bool told; /* the RNIC was made to ask for it */
	bool lost; /* `expected` is lost: hp3_reseq_lost() */
	bool again; /* the caller's: what comes now may have been sent again */
	bool asked; /* something behind `expected` was given to the RNIC */
	uint8_t anew; /* times that it was waited for anew */
	uint8_t ages; /* of `age`: in use */
	uint32_t words; /* bit i: word[i] is not 0 */
	/* PSNs [first, end) that were given to the RNIC when it may have asked for them already */
	uint32_t given_first, given_end;
	uint64_t gap_at; /* since when it lacks: what is held next came then */
	uint64_t read; /* until then the caller looked at no packet; 0: never so */
	/* For how long others lacked, the most: lately, until `until`; and before that */
	uint64_t late, before;
	uint64_t until;
	struct hp3_reseq_slot slot[HP3_RESEQ_WINDOW]; /* by PSN; valid with its bit */
	/* Bit PSN % 64 of word PSN / 64, modulo the window: a packet is held in that slot */
	uint64_t word[HP3_RESEQ_WORDS];
	/* Packets held from `at` on, until the next one's; the highest PSN of these. */
	struct hp3_reseq_age {
		uint64_t at;
		uint32_t top;
	} age[HP3_RESEQ_AGES];
};

/* The RNIC waits for this PSN; nothing is held. Slots may have any content. */
void hp3_reseq_init(struct hp3_reseq *r, uint32_t psn);

/* Between two calls of hp3_reseq_next(): it is to be called again, before hp3_reseq_late(). */
static inline bool hp3_reseq_follows(const struct hp3_reseq *r)
{
	uint64_t word = r->word[r->expected / 64 % HP3_RESEQ_WORDS];

	return r->held != 0 && (word >> r->expected % 64 & 1);
}

/* How long what is held has been waiting for this packet; 0: nothing has. */
static inline uint64_t hp3_reseq_lateness(const struct hp3_reseq *r, uint32_t psn, uint64_t now)
{
	return r->held != 0 && psn == r->expected ? now - r->gap_at : 0;
}

/*
 * A request packet came. span 0: a READ, and it is not known how many PSNs it takes. Its sender
 * uses one path from there on: what came behind it is in order.
 */
enum hp3_reseq_verdict hp3_reseq_arrive(struct hp3_reseq *r, const struct hp3_reseq_params *p,
	uint32_t psn, uint32_t span, uint32_t handle, uint64_t now);
/* How far it is ahead of all that came. */
static inline int32_t hp3_reseq_leap(const struct hp3_reseq *r, uint32_t psn)
{
	return hp3_psn_diff(psn, r->held != 0 ? r->top : r->expected);
}
/* After HP3_RESEQ_COPY: it takes the place of the one that is held, which is returned. */
uint32_t hp3_reseq_swap(struct hp3_reseq *r, uint32_t psn, uint32_t span, uint32_t handle);
/* After HP3_RESEQ_PASS, until false: what follows in order. */
bool hp3_reseq_next(struct hp3_reseq *r, uint64_t now, uint32_t *handle);

/*
 * May hp3_reseq_next() be left off here, and be called again later? True while the packet that is
 * expected is held, and nothing before it. What arrives meanwhile is held behind it.
 */
bool hp3_reseq_pauses(struct hp3_reseq *r);

/* Between two of these: nothing comes before this PSN any more (rfr/owed.h). */
void hp3_reseq_skip(struct hp3_reseq *r, uint32_t psn);

/* So long a packet is held at most that is held since then. */
uint64_t hp3_reseq_until(
	const struct hp3_reseq *r, const struct hp3_reseq_params *p, uint64_t since);
/* When hp3_reseq_late() is to be called; UINT64_MAX: nothing lacks. */
uint64_t hp3_reseq_due(const struct hp3_reseq *r, const struct hp3_reseq_params *p);
/*
 * It is time: until false, a packet that the RNIC gets although what is before it lacks. The
 * first time a copy (*copy) of just the one behind the gap, which stays held; the second time all,
 * in order.
 */
bool hp3_reseq_late(struct hp3_reseq *r, const struct hp3_reseq_params *p, uint64_t now,
	uint32_t *handle, bool *copy);

/* `expected` is lost: hp3_reseq_late() is due now, unless the RNIC has got a copy already. */
static inline void hp3_reseq_lost(struct hp3_reseq *r)
{
	r->lost = true;
}

/* The packet in hand passes although what is expected lacks: the RNIC asks for that. */
void hp3_reseq_passes(struct hp3_reseq *r);
/*
 * The RNIC has acknowledged all before this PSN. True: that was not known. hp3_reseq_had(), and
 * then hp3_reseq_next(), may have some afterwards.
 */
bool hp3_reseq_acknowledged(struct hp3_reseq *r, uint32_t psn, uint64_t now);
/* Until false: a packet that is held, and that the RNIC has. */
bool hp3_reseq_had(struct hp3_reseq *r, uint32_t *handle);
/*
 * The RNIC said that it waits for this PSN (NAK, RNR NAK), which may lie before `expected`: what it
 * was given has not reached it, or was refused. hp3_reseq_had() and hp3_reseq_next() may have some
 * afterwards. False: what is held reaches too far ahead, flush it and say it again.
 */
bool hp3_reseq_refused(struct hp3_reseq *r, uint32_t psn, uint64_t now);
/* The RNIC sends a READ again that asks for this PSN: all from there comes again. Else likewise. */
bool hp3_reseq_repeated(struct hp3_reseq *r, uint32_t psn, uint64_t now);
/*
 * The caller looked at no packet until now, for `lost` ns in all since the last call: that does not
 * count. True: what lacks gets its time anew.
 */
bool hp3_reseq_stood(struct hp3_reseq *r, uint64_t lost, uint64_t now);
/* Until false: all that is held, in order. */
bool hp3_reseq_flush(struct hp3_reseq *r, uint32_t *handle);

#endif
