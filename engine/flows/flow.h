/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_ENGINE_FLOW_H
#define HP3_ENGINE_FLOW_H
/*
 * One record per queue pair: its requester stream, found by two keys once it is paired: packets
 * from the RNIC by (addresses, remote QPN), packets from the network by (addresses, local QPN).
 *
 * Written only by the thread that drives the engine. The first cache line is all that a packet in
 * steady state touches; the second is for pairing and bookkeeping.
 */
#include "ppp/discovery.h"
#include "ppp/monitor.h"
#include "rfr/rfr.h"

#define HP3_NO_FLOW UINT32_MAX
#define HP3_NO_SLOT UINT16_MAX

/* hp3_flow.flags */
#define HP3_FF_USED   0x01u
#define HP3_FF_PAIRED 0x02u /* lqpn is known: replies belong to this flow */
#define HP3_FF_MOVED  0x04u /* port differs from what the RNIC writes */
/* newest packet: first transmission with AckReq, nothing went back since */
#define HP3_FF_LAST_CLOSE 0x08u
#define HP3_FF_IDLE_PROOF 0x10u /* a reply with a right ICRC proved that nothing is in flight */
#define HP3_FF_RNR        0x20u /* RNR NAK seen, mark_psn not yet acknowledged (rule 10) */
#define HP3_FF_IPV6       0x40u
#define HP3_FF_STARTED    0x80u /* a request packet was seen: stream is valid */
/* the newest packet was a retransmission: duplicates may travel (rule 7) */
#define HP3_FF_WENT_BACK  0x100u
#define HP3_FF_CLOSE_ACK  0x200u /* AckReq on every transmission of mark_psn (rule 8) */
#define HP3_FF_NATURAL    0x400u /* a natural challenge is under way */
#define HP3_FF_NATURAL_RD 0x800u /* ... and its packet is a READ */
#define HP3_FF_READS      0x1000u /* READ or ATOMIC outstanding: ACKs wait for responses */
#define HP3_FF_FRESH      0x2000u /* moved, nothing sent on the new port yet */
#define HP3_FF_SEVERE     0x4000u /* reported as severely congested, no clean spell since */
#define HP3_FF_PACED      0x8000u /* its rate is below line rate: packets go by the pacer */

/* hp3_flow.watch */
#define HP3_FW_ARMED 0x01u /* active: an entry of the ring in active.c names it */
/* a reply made progress: the peer is ready to receive, msn and pkey are known, and what lies before
 * una has arrived, so that a probe may bear its PSN (rule 1) */
#define HP3_FW_HEARD 0x02u
#define HP3_FW_NAKED 0x04u /* a NAK was handed over for the oldest PSN in flight (rule 4) */
/* stalled, but probes come through: not asked again until it moves on or sends */
#define HP3_FW_QUIET 0x08u
/* the RNIC may lack what una says has come: part of a READ, or it was reset: no NAK (rule 4) */
#define HP3_FW_DOUBT 0x10u
#define HP3_FW_ANEW  0x20u /* the ring's entry is of the queue pair before */
/* an RNIC may answer a duplicate of ours: the slot knows which ACKs stop (guard.c) */
#define HP3_FW_GUARD 0x40u
#define HP3_FW_SURE  0x80u /* the reply that moved una to where it is had a right ICRC (rule 26) */
#define HP3_FW_ASK   0x100u /* the next packet that leaves asks for its acknowledgement */
/* since READ data moved una, or held packets reached the RNIC, no checked ACK moved una (rule 4) */
#define HP3_FW_UNREAD 0x200u
#define HP3_FW_BLAMED 0x400u /* stalled, and probes say that it is the path */
#define HP3_FW_FELT   0x800u /* what it does is told by its completions: no packet is seen */
/* ... and whether its path is slow was never asked: it may know nothing else */
#define HP3_FW_BEGINS 0x2000u
#define HP3_FW_AGREED 0xd000u /* the three below */
#define HP3_FW_SPRAY  0x1000u /* there is, or is to be, an agreement to spray it (spray.h) */
#define HP3_FW_READS  0x4000u /* ... to put in order what it reads */
#define HP3_FW_READ   0x8000u /* ... to spray what is read from it */

#define HP3_NO_PATH         0xffu
#define HP3_RETRANSMITS_MAX 1023u

/* Where a pairing comes from. */
enum hp3_pairing { HP3_PAIRING_NONE, HP3_PAIRING_CHALLENGE, HP3_PAIRING_CM, HP3_PAIRING_EVENT };
const char *hp3_pairing_name(enum hp3_pairing p);

/* A forced challenge (pairing.c). */
enum hp3_challenge_state {
	HP3_CH_IDLE,
	HP3_CH_CHOOSING, /* its packet is not chosen yet */
	HP3_CH_ARMED, /* AckReq went out on ch_psn */
	HP3_CH_ANSWERED, /* that PSN came back; waiting whether another queue pair says the same */
};

/* Why a flow is not paired (hp3_flow_info.unpaired). X(symbol, text) */
#define HP3_UNPAIRED_REASONS(X)                                                                    \
	X(PAIRED, "paired")                                                                        \
	X(OFF, "challenge-off") /* [pairing] challenge = off */                                    \
	X(MODE, "mode-off") /* nothing is moved */                                                 \
	X(BARRED, "barred") /* by [filter] */                                                      \
	X(SILENT, "nothing-sent")                                                                  \
	X(UNTRACKED, "untracked") /* packets of the pair may be answered that hp3d did not see */  \
	X(ASKING, "asking") /* a challenge is under way, or the next packet may be one */          \
	X(NEAR, "others-near") /* others may be answered with the PSNs of its requests */          \
	X(AHEAD, "others-ahead") /* other unpaired flows sent its PSNs before it */                \
	X(UNANSWERED, "unanswered") /* the last challenge found no answer */                       \
	X(AMBIGUOUS, "ambiguous") /* two queue pairs answered the last one, or different ones */

enum hp3_unpaired_reason {
#define X(symbol, text) HP3_UNPAIRED_##symbol,
	HP3_UNPAIRED_REASONS(X)
#undef X
};
const char *hp3_unpaired_name(enum hp3_unpaired_reason r);

#define HP3_CH_SHIFT 10u /* 2^10 ns */
#define HP3_CH_VOIDS 0x7fffu

/* While a flow looks for its local QPN (pairing.c). */
struct hp3_unpaired {
	uint64_t ch_until; /* end of ch_state, ns */
	uint32_t ch_psn : 24; /* of the forced challenge */
	uint32_t ch_state : 7; /* enum hp3_challenge_state */
	uint32_t ch_ambiguous : 1; /* two queue pairs answered, or another flow asked as well */
	uint32_t ch_lqpn : 24; /* that answered it */
	uint32_t cand_hits : 8;
	uint32_t ch_count : 17; /* packets until one is chosen */
	uint32_t ch_voids : 15; /* hp3_pair.voids when it left */
	uint32_t ch_sent; /* when it left, in HP3_CH_SHIFT units */
	uint32_t cand_lqpn; /* candidate by challenge */
	uint32_t nat_psn; /* PSN of the natural challenge under way */
	uint32_t nat_sent; /* when, in HP3_TICK_SHIFT units */
	uint16_t ch_wait; /* packets that a natural challenge was waited for */
	uint8_t misses; /* forced challenges in a row that nobody answered */
	uint8_t reason; /* enum hp3_unpaired_reason: what the newest attempt came to; 0: none yet */
};

/* Who, but packets of the local RNIC, has records of flows made? */
enum hp3_announcer { HP3_FROM_NOBODY, HP3_FROM_NETWORK, HP3_FROM_LIBRARY, HP3_ANNOUNCERS };

/* While it has sent nothing, and is not paired (announced.h). */
struct hp3_unsent {
	uint32_t older, newer; /* announced flows */
	uint32_t owner; /* LIBRARY: the process that said so */
	uint32_t lqpn : 24; /* LIBRARY: as that process said */
	uint32_t who : 2; /* enum hp3_announcer; NOBODY: the rest means nothing */
};

struct hp3_flow {
	/* hot */
	/* IPv4: local << 32 | remote; IPv6: keyed hash of both, the pair has the addresses */
	uint64_t addr;
	uint32_t rqpn : 24; /* remote QPN, on packets that leave */
	uint32_t pmtu_log2 : 8; /* 0: not known */
	uint32_t lqpn : 24; /* local QPN, on packets that arrive; valid if paired */
	uint32_t state : 4; /* enum hp3_rfr_state */
	uint32_t pairing : 3; /* enum hp3_pairing */
	uint32_t pending : 1; /* events of it wait for proof (pending.h) */
	struct hp3_stream stream;
	uint32_t vlan; /* of both tags (roce/tags.h) */
	uint16_t port; /* port in use; valid if moved */
	uint16_t home; /* port that the RNIC writes */
	uint16_t slot; /* of the move in progress, or HP3_NO_SLOT */
	uint16_t watch; /* HP3_FW_* */
	uint32_t last; /* last packet of either direction, in HP3_TICK_SHIFT units */
	uint16_t flags; /* HP3_FF_* */
	uint16_t pkey; /* of the last reply */
	uint64_t bytes : 48; /* IP bytes of request packets */
	uint64_t retransmits : 10; /* up to HP3_RETRANSMITS_MAX */
	uint64_t pause : 6; /* longest natural pause between two replies, as clock.h has it */
	/* cold */
	uint32_t pair; /* index in the pair table; free list link while unused */
	uint32_t next, prev; /* flows of the same pair */
	/* closing PSN (CLOSE_ACK), refused PSN (RNR); both: the later one */
	uint32_t mark_psn : 24;
	uint32_t moves : 8; /* completed; up to 255 */
	uint32_t msn : 24; /* of the last reply */
	/* entry of the pair's path table that counts it as active, or HP3_NO_PATH */
	uint32_t path : 8;
	struct hp3_backoff backoff; /* no round of probes before */
	union {
		struct hp3_unsent unsent; /* neither started nor paired */
		struct hp3_unpaired unpaired; /* started, until it is paired */
		struct hp3_monitor monitor; /* from then on */
	};
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct hp3_unpaired) <= sizeof(struct hp3_monitor), "no flow grows by it");

#define HP3_TICK_SHIFT 20u /* 2^20 ns = 1.05 ms: ageing granularity */

_Static_assert(sizeof(struct hp3_flow) == 128, "two cache lines");
_Static_assert(__builtin_offsetof(struct hp3_flow, pair) == 64, "hot part is one cache line");

#endif
