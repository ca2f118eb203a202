/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_PROBES_AGREE_H
#define HP3_PROBES_AGREE_H
/*
 * What two hp3ds say to each other about one queue pair that is sprayed (rfr/spraying.h): whether
 * its packets are put in order before they reach the RNIC, again and again while that lasts. A
 * plain UDP datagram from hp3's own port to hp3's own port, as reports of flows are (loads.h). All
 * numbers big-endian:
 *
 *      0  magic 8                              20  QPN of the responder 24, reads 8
 *      1  version 4 | kind 4                   24  QPN of the requester 24, room 8
 *      2  PMTU, log2, 8                        28  number of the agreement 32
 *      3  lanes 8                              32  turn 32
 *      4  wall clock of who says it, us 64     36  lanes told of, a bit each, 64
 *     12  source port of lane 0, 16            44  next: 1 8, PSN 24; or 0
 *     14  port in use 16, beat, us 32          48  tag 64 (tag.h) over all of the above
 *
 * Later agreements have greater numbers, none has 0; turns count up, and an answer bears that of
 * what it answers, so that an old one means nothing. Each message acts once (heard.h). Without a
 * key nothing is believed.
 *
 * reads 1: it is the READ responses of the queue pair that are sprayed. "Responder" is then who
 * receives them, and so puts them in order; only it knows what they are to be, so it speaks first.
 *
 * "room" of a YES: so many times 16 packets of the path MTU may be in flight, for the receiver can
 * hold them behind one that is late; 0: it does not say.
 *
 * "next" of an ASK: nothing of the queue pair is on its way, and this PSN is the next one that
 * leaves. Where something leaves before the answer, another number is asked for. "next" of a YES:
 * the PSN that the receiver expects; 0: it does not say. "next" of a MISSING: the missing PSN
 * (rfr/missing.h); of a LEFT: the PSN of the question. "port in use" of a LEFT: the port from which
 * that PSN left; 0: the sender does not know.
 */
#include "probes/loads.h"

/* X(symbol, text): ASK, SPRAYING, OVER and LEFT are the sender's, the others the receiver's */
#define HP3_AGREE_KINDS(X)                                                                         \
	X(ASK, "ask") /* will you? */                                                              \
	X(SPRAYING, "spraying") /* it is; are you still? */                                        \
	X(OVER, "over")                                                                            \
	X(LEFT, "left") /* answers MISSING: from which port that PSN left */                       \
	X(YES, "yes")                                                                              \
	X(NO, "no") /* it will not, or knows of none */                                            \
	X(SLOW, "slow") /* it does, and these lanes hold the others up; answers nothing */         \
	X(MARKED, "marked") /* likewise; these are marked (ECN) while others are not */            \
	X(OFFER, "offer") /* it would: READ responses; OVER with number 0: no need */              \
	X(MISSING, "missing") /* this PSN has not arrived: from which port did it leave? */

enum hp3_agree_kind {
#define X(sym, text) HP3_AGREE_##sym,
	HP3_AGREE_KINDS(X)
#undef X
		HP3_AGREE_KIND_MAX
};

struct hp3_agree {
	uint8_t kind; /* enum hp3_agree_kind */
	bool reads; /* of READ responses */
	uint8_t pmtu_log2, lanes; /* PMTU: 0: not known yet */
	uint16_t port; /* lane n leaves on port | n */
	uint16_t in_use; /* port of what takes one path, and of what is sent again */
	uint32_t responder, requester; /* QPNs */
	uint32_t number, turn;
	uint32_t beat_us; /* the sender says something so often */
	uint32_t next; /* PSN, or HP3_NO_PSN */
	uint16_t room; /* YES: packets, a multiple of 16; 0: not said */
	uint64_t slow; /* SLOW, MARKED: a bit for each lane */
};

static inline bool hp3_agree_is_senders(const struct hp3_agree *a)
{
	return a->kind <= HP3_AGREE_LEFT;
}

/* *a: from here to the peer; sport is `port` as well. Length of the frame in buf, or -ENOSPC. */
int hp3_agree_build(void *buf, size_t cap, const struct hp3_addressing *a,
	const struct hp3_agree *what, uint64_t stamp_us, uint16_t port,
	const struct hp3_probe_key *key);

/* As hp3_loads_read(), OK once for each; what is dropped is counted as a report would be. */
enum hp3_loads_fate hp3_agree_read(const void *frame, uint32_t len, const struct hp3_view *v,
	const struct hp3_loads_ear *ear, struct hp3_agree *what);

#endif
