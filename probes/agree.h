/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Messages of two hp3ds about an agreement to spray one queue pair (rfr/spraying.h). While the
 * agreement lasts, the receiver's hp3d resequences the packets of the queue pair before they reach
 * its RNIC. The sender sends a keep-alive in each keep-alive interval, and the receiver answers it.
 *
 * Each message is a plain UDP datagram from hp3's own port to hp3's own port. The peer's hp3d
 * consumes it. All numbers are big-endian:
 *
 *      0  magic 8                              20  QPN of the responder 24, reads 8
 *      1  version 4 | kind 4                   24  QPN of the requester 24, room 8
 *      2  PMTU, log2, 8                        28  number of the agreement 32
 *      3  EVs 8                                32  turn 32
 *      4  wall clock of the sender, us 64      36  EVs reported, a bit for each, 64
 *     12  source port of EV 0, 16              44  next: 1 8, PSN 24; or 0
 *     14  port in use 16                       48  tag 64 (tag.h) over all other fields,
 *     16  keep-alive interval, us 32               addresses and ports
 *
 * An EV is an entropy value: one of the UDP source ports of a sprayed queue pair.
 *
 * Numbers of agreements increase, and none is 0. Turns increase. An answer carries the turn of the
 * message that it answers, so an old answer has no effect. Each message has an effect once
 * (heard.h). hp3d drops all messages of hosts without a key.
 *
 * reads 1: the agreement is about the READ responses of the queue pair. "Responder" is then the
 * host that receives and resequences them. Only that host sees which responses will arrive. So it
 * sends the first message (OFFER).
 *
 * "room" of a YES: how many packets of the path MTU the receiver can hold behind a late packet,
 * divided by 16. At most that many may be in flight. 0: no value given.
 *
 * "next" by kind:
 *
 *     ASK      no packet of the queue pair is in flight, and this PSN is the next one to leave. If
 *              a packet leaves before the answer, the sender asks again with another number.
 *              0: no value given.
 *     YES      the PSN that the receiver expects; 0: no value given
 *     MISSING  the missing PSN (rfr/missing.h)
 *     LEFT     the PSN of the MISSING
 *
 * "port in use" of a LEFT: the port from which that PSN left; 0: unknown.
 */
#include "probes/heard.h"

/*
 * X(symbol, text). The sender of sprayed packets sends the kinds from ASK to LEFT; the receiver
 * sends the others.
 */
#define HP3_AGREE_KINDS(X)                                                                         \
	X(ASK, "ask") /* requests an agreement */                                                  \
	X(SPRAYING, "spraying") /* keep-alive: packets are sprayed; asks for a YES */              \
	X(OVER, "over") /* ends the agreement */                                                   \
	X(LEFT, "left") /* answers MISSING with the port of that PSN */                            \
	X(YES, "yes") /* the receiver resequences */                                               \
	X(NO, "no") /* refuses, or has no such agreement */                                        \
	X(SLOW, "slow") /* packets of these EVs arrive late; answers no message */                 \
	X(MARKED, "marked") /* these EVs are marked (ECN) more often; answers no message */        \
	X(OFFER, "offer") /* for READ responses; OVER with number 0 declines it */                 \
	X(MISSING, "missing") /* asks from which port this missing PSN left */

enum hp3_agree_kind {
#define X(sym, text) HP3_AGREE_##sym,
	HP3_AGREE_KINDS(X)
#undef X
		HP3_AGREE_KIND_MAX
};

struct hp3_agree {
	uint8_t kind; /* enum hp3_agree_kind */
	bool reads; /* the agreement is about READ responses */
	uint8_t pmtu_log2, evs; /* pmtu_log2: 0: not known yet */
	uint16_t port; /* EV n is UDP source port `port` | n */
	uint16_t in_use; /* port of packets that are not sprayed, and of retransmissions */
	uint32_t responder, requester; /* QPNs */
	uint32_t number, turn;
	uint32_t keepalive_us; /* keep-alive interval of the sender */
	uint32_t next; /* PSN, or HP3_NO_PSN */
	uint16_t room; /* YES: packets, a multiple of 16; 0: no value given */
	uint64_t stamp_us; /* of the sender (hp3_heard_stamp()); the engine does not use it */
	uint64_t slow; /* SLOW, MARKED: a bit for each EV */
};

static inline bool hp3_agree_is_senders(const struct hp3_agree *a)
{
	return a->kind <= HP3_AGREE_LEFT;
}

/*
 * Builds a message from this host to the peer of *a. a->sport has to be hp3's own port, which is
 * both source and destination port of the message. Returns the length of the frame in buf, or
 * -ENOSPC.
 */
int hp3_agree_build(void *buf, size_t cap, const struct hp3_addressing *a,
	const struct hp3_agree *what, const struct hp3_probe_key *key);

/*
 * Reads a message. Call it for frames that hp3_parse() calls NOT_ROCE; the result for others is
 * NONE. OK once for each message (heard.h).
 */
enum hp3_message_fate hp3_agree_read(
	const struct hp3_parsed *f, const struct hp3_receiver *rx, struct hp3_agree *what);
