/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The receiver of a sprayed queue pair. Packets arrive by several paths, and the RNIC gets them in
 * PSN order. (IBTA 9.7.5: a responder executes requests in that order, and answers a gap with one
 * NAK.) The PSN is the sequence number; packets carry nothing else.
 *
 * The expected packet passes at once. Packets ahead of the expected one are held, up to a window.
 * When the missing packet arrives, the held packets behind it follow in order, up to the next gap.
 * The wait for the missing packet depends on the measured lateness of packets, within two bounds.
 * After the wait, the missing packet counts as lost. The RNIC gets a copy of the packet behind the
 * gap, and sends one NAK. All held packets stay held. The requester retransmits from the missing
 * PSN, so the first retransmission fills the gap. Its retransmissions of held packets are
 * duplicates. If the missing packet was only late, it fills the gap when it arrives.
 *
 * If the caller finds that the missing packet is lost (missing.h), the RNIC gets the copy at once.
 *
 * If the missing packet still does not arrive, the RNIC gets all held packets, in order ("given
 * up"). A packet is held for at most the longest wait plus 9/8 of give_up_ns, however many gaps
 * opened before it. With hp3d's parameters, this bound is 5.5 times the longest wait.
 *
 * ACKs and NAKs of the RNIC correct the expected PSN. An ACK raises it. A NAK sets it to the NAK's
 * PSN. Exception: the RNIC got the packet with that PSN after a packet behind it. The NAK may then
 * be older than the packet, so hp3d ignores the NAK.
 *
 * While the caller polls no packets, the missing packet may have arrived. So this time counts
 * neither for gaps nor for held packets. When the caller polls again, the wait for the missing
 * packet starts again, HP3_RESEQ_AGAIN times per gap at most. From then on, held packets are given
 * up after the longest wait at the earliest. This adds one longest wait to the bound above, however
 * often the caller stops polling.
 *
 * Each call takes a constant number of steps: two levels of bitmaps find the next held packet,
 * however many empty slots are in between.
 *
 * The caller holds the packets; a handle stands for a packet. Sans-IO: no clock, no allocation.
 * PSNs are 24 bits, times ns. The local RNIC has to use go-back-N: an RNIC that stores packets
 * which arrive out of order would get the copied packet twice.
 */
#include <stdbool.h>
#include <stdint.h>
#include "roce/wire.h"

#define HP3_RESEQ_WINDOW 2048u /* PSNs; power of two */
#define HP3_RESEQ_WORDS  (HP3_RESEQ_WINDOW / 64)
#define HP3_RESEQ_AGAIN  2u
#define HP3_RESEQ_AGES   12u

struct hp3_reseq_params {
	uint32_t window; /* largest distance of a held packet, in PSNs, < HP3_RESEQ_WINDOW */
	uint64_t least_ns, most_ns; /* bounds of the wait for a missing packet */
	uint64_t give_up_ns; /* time from the end of that wait until held packets are given up */
};

enum hp3_reseq_verdict {
	HP3_RESEQ_PASS, /* in order; hp3_reseq_next() may return more packets */
	HP3_RESEQ_OLD, /* the RNIC has it already: a retransmission; passes */
	HP3_RESEQ_HOLD,
	/* a packet with this PSN is held: the caller may swap them (hp3_reseq_swap()) */
	HP3_RESEQ_COPY,
	/* beyond the window: the caller passes or drops it; hp3d drops it if packets are held */
	HP3_RESEQ_BEYOND,
};

struct hp3_reseq_slot {
	uint32_t handle;
	uint32_t span; /* number of PSNs; a READ has one per response packet; 0: not known */
	uint64_t at; /* time of arrival */
};

struct hp3_reseq {
	uint32_t expected; /* PSN that the RNIC expects */
	uint32_t sweep; /* no packet with a lower PSN is held */
	uint32_t top; /* highest PSN held */
	uint32_t held; /* number of held packets */
	bool shown; /* the RNIC got a copy of a packet behind the gap */
	bool lost; /* `expected` is lost: hp3_reseq_lost() */
	bool again; /* set by the caller: the next arrival may be a retransmission */
	bool asked; /* the RNIC got a packet behind `expected` */
	uint8_t anew; /* times that the wait was started again */
	uint8_t ages; /* entries of `age` in use */
	uint32_t words; /* bit i: word[i] is not 0 */
	/* PSNs [first, end) that went to the RNIC after it may have sent a NAK for them */
	uint32_t given_first, given_end;
	uint64_t gap_at; /* start of the wait for `expected`: when the packet behind it arrived */
	uint64_t read; /* end of the newest time in which the caller polled no packets; 0: none */
	/* longest wait for a missing packet: since `until` was set; and before that */
	uint64_t late, before;
	uint64_t until;
	/* by PSN; valid if its bit in `word` is set */
	struct hp3_reseq_slot slot[HP3_RESEQ_WINDOW];
	/* bit PSN % 64 of word PSN / 64, modulo the window: the slot holds a packet */
	uint64_t word[HP3_RESEQ_WORDS];
	/* Packets that arrived from `at` until `at` of the next entry, and their highest PSN. */
	struct hp3_reseq_age {
		uint64_t at;
		uint32_t top;
	} age[HP3_RESEQ_AGES];
};

/* Sets up *r: the RNIC expects this PSN, and no packet is held. Slots may have any content. */
void hp3_reseq_init(struct hp3_reseq *r, uint32_t psn);

/* Is the expected packet held? If so, call hp3_reseq_next() again, before hp3_reseq_late(). */
static inline bool hp3_reseq_follows(const struct hp3_reseq *r)
{
	uint64_t word = r->word[r->expected / 64 % HP3_RESEQ_WORDS];

	return r->held != 0 && (word >> r->expected % 64 & 1);
}

/* How long held packets have waited for packet `psn`; 0: they do not wait for `psn`. */
static inline uint64_t hp3_reseq_lateness(const struct hp3_reseq *r, uint32_t psn, uint64_t now)
{
	return r->held != 0 && psn == r->expected ? now - r->gap_at : 0;
}

/*
 * A request or READ response arrived. span 0: a READ with an unknown number of PSNs. The sender of
 * such a READ uses one path, so packets behind the READ arrive in order.
 */
enum hp3_reseq_verdict hp3_reseq_arrive(struct hp3_reseq *r, const struct hp3_reseq_params *p,
	uint32_t psn, uint32_t span, uint32_t handle, uint64_t now);
/* Distance from the highest PSN that is held; if no packet is held, from the expected PSN. */
static inline int32_t hp3_reseq_leap(const struct hp3_reseq *r, uint32_t psn)
{
	return hp3_psn_diff(psn, r->held != 0 ? r->top : r->expected);
}
/*
 * After HP3_RESEQ_COPY: holds this packet in place of the held packet. Returns the handle of the
 * packet that was held.
 */
uint32_t hp3_reseq_swap(struct hp3_reseq *r, uint32_t psn, uint32_t span, uint32_t handle);
/* Call this after HP3_RESEQ_PASS. Returns, until false, the next held packet in order. */
bool hp3_reseq_next(struct hp3_reseq *r, uint64_t now, uint32_t *handle);

/*
 * May the caller stop calling hp3_reseq_next() for now, and continue later? True while the expected
 * packet is held, and no packet with a lower PSN is held. Until the caller continues, arriving
 * packets are held behind the expected one.
 */
bool hp3_reseq_pauses(struct hp3_reseq *r);

/* No packet before this PSN will arrive any more (owed.h): raises the expected PSN to this PSN. */
void hp3_reseq_skip(struct hp3_reseq *r, uint32_t psn);

/* Latest time at which a packet held since `since` is given up. */
uint64_t hp3_reseq_until(
	const struct hp3_reseq *r, const struct hp3_reseq_params *p, uint64_t since);
/* Time of the next hp3_reseq_late(); UINT64_MAX: no packet is missing. */
uint64_t hp3_reseq_due(const struct hp3_reseq *r, const struct hp3_reseq_params *p);
/*
 * Returns, until false, the packets that the RNIC gets although an earlier packet is missing.
 * Before packets are given up, *copy is true: the RNIC gets a copy of the packet behind the gap,
 * and this packet stays held. When packets are given up, the function returns all held packets, in
 * order.
 */
bool hp3_reseq_late(struct hp3_reseq *r, const struct hp3_reseq_params *p, uint64_t now,
	uint32_t *handle, bool *copy);

/* `expected` is lost: if the RNIC has not got a copy yet, hp3_reseq_late() is due now. */
static inline void hp3_reseq_lost(struct hp3_reseq *r)
{
	r->lost = true;
}

/* The caller passes a packet to the RNIC though `expected` is missing, so the RNIC sends a NAK. */
void hp3_reseq_passes(struct hp3_reseq *r);
/*
 * The RNIC has acknowledged all PSNs before this one. True: the expected PSN has risen. In this
 * case, call hp3_reseq_had() and hp3_reseq_next().
 */
bool hp3_reseq_acknowledged(struct hp3_reseq *r, uint32_t psn, uint64_t now);
/* Returns, until false, held packets that the RNIC already has. */
bool hp3_reseq_had(struct hp3_reseq *r, uint32_t *handle);
/*
 * The RNIC expects this PSN (NAK, RNR NAK). The PSN may be before `expected`: packets were lost
 * between hp3d and the RNIC, or the RNIC refused them. True: call hp3_reseq_had() and
 * hp3_reseq_next(). False: all held packets are before this PSN, or a held packet is too far ahead
 * of it. In this case, flush all held packets (hp3_reseq_flush()), and call this function again.
 */
bool hp3_reseq_refused(struct hp3_reseq *r, uint32_t psn, uint64_t now);
/*
 * The RNIC sends a READ again that begins at this PSN: all responses from this PSN on arrive again.
 * Returns as hp3_reseq_refused().
 */
bool hp3_reseq_repeated(struct hp3_reseq *r, uint32_t psn, uint64_t now);
/*
 * The caller polled no packets for `lost` ns in total since the last call, and polls again now.
 * These `lost` ns do not count. True: the wait for the missing packet starts again.
 */
bool hp3_reseq_stood(struct hp3_reseq *r, uint64_t lost, uint64_t now);
/* Returns, until false, the next held packet, in order, even if packets before it are missing. */
bool hp3_reseq_flush(struct hp3_reseq *r, uint32_t *handle);
