/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The streams of a capture's table of flows (flows.h), for the files that fill the table:
 * streams.c finds streams; requests.c and replies.c count packets; copies.c finds packets that the
 * capture has twice; connections.c decides which two streams belong to one connection; flows.c
 * adds packets, and reads the rows of the table.
 */
#include "app/hp3d/replay/flows.h"
#include <string.h>
#include "roce/opcode.h"

#define HP3D_REPLAY_NONE       UINT32_MAX
#define HP3D_REPLAY_SLOTS      (4 * HP3D_REPLAY_STREAMS) /* of the hash table: a power of two */
#define HP3D_REPLAY_WINDOW     8192 /* PSNs behind the newest one that a stream remembers */
#define HP3D_REPLAY_CANDIDATES 64u
#define HP3D_REPLAY_RECENT     65536u /* packets compared with new ones: a power of two */

/* A stream of requests that the replies of another stream may answer. */
struct hp3d_replay_candidate {
	uint32_t stream;
	uint64_t hits, misses;
	uint64_t early; /* replies whose request was recorded later, or never */
};

struct hp3d_replay_stream {
	struct hp3d_replay_key key;
	uint32_t reverse; /* list of the streams between the addresses in the other direction */
	uint32_t next; /* stream of the same list */
	uint32_t peer; /* stream of the other direction of this connection, or HP3D_REPLAY_NONE */
	bool reliable, ambiguous;
	bool known; /* connection management or a challenge gave peer_qpn */
	uint32_t peer_qpn;
	uint64_t began; /* number of the first packet */
	uint16_t sport;
	uint32_t ops;
	uint64_t requests, replies, good_replies, bytes, icrc_wrong, naks, rnrs;
	uint64_t retransmits, reordered, distinct, copies;
	bool doubled;

	bool has_psn; /* `hi` and `first` are valid */
	uint32_t first, hi;
	/* bit x % HP3D_REPLAY_WINDOW: a request with PSN x, x in (hi - HP3D_REPLAY_WINDOW, hi] */
	uint64_t seen[HP3D_REPLAY_WINDOW / 64];
	uint64_t gap_number, gap_ns; /* packet that left the newest gap */
	uint32_t read_span; /* PSNs of the request `hi`: more than 1 for a READ */
	bool late; /* the packet before was counted as out of order */
	uint32_t late_psn;
	uint64_t late_repeated; /* late packets before a packet that was recorded shortly before */

	struct hp3d_replay_candidate candidates[HP3D_REPLAY_CANDIDATES];
	uint32_t n;
	bool overflow; /* more streams fit than there are candidates */
};

/* The streams from one address to another. */
struct hp3d_replay_list {
	struct hp3d_replay_key key; /* qpn is HP3D_REPLAY_NONE */
	uint32_t first; /* stream, or HP3D_REPLAY_NONE */
	uint64_t nak; /* number of the newest NAK or RNR NAK; 0: none */
	uint64_t replies; /* packets */
};

struct hp3d_replay_recent {
	uint64_t hash, number, t_ns;
	uint32_t stream;
};

struct hp3d_replay_flows {
	struct hp3d_replay_stream **streams;
	uint32_t n;
	struct hp3d_replay_list *lists;
	uint32_t n_lists;
	uint32_t slots[HP3D_REPLAY_SLOTS], list_slots[HP3D_REPLAY_SLOTS]; /* index + 1; 0: free */
	struct hp3d_replay_recent recent[HP3D_REPLAY_RECENT];
	uint64_t number; /* packets so far */
};

static inline bool hp3d_replay_is_seen(const struct hp3d_replay_stream *s, uint32_t psn)
{
	return s->seen[psn % HP3D_REPLAY_WINDOW / 64] >> (psn % 64) & 1;
}

static inline uint64_t hp3d_replay_time_between(uint64_t a_ns, uint64_t b_ns)
{
	return a_ns > b_ns ? a_ns - b_ns : b_ns - a_ns;
}

/* A NAK or an RNR NAK. */
static inline bool hp3d_replay_is_nak(const struct hp3_view *v)
{
	return (v->flags & HP3_VF_AETH) && HP3_SYN_KIND(v->syndrome) != HP3_SYN_ACK;
}

static inline bool hp3d_replay_is_counted(const struct hp3_view *v)
{
	return v->class == HP3_CLASS_RC_REQUEST || v->class == HP3_CLASS_RC_REPLY ||
	       v->class == HP3_CLASS_UC;
}

static inline bool hp3d_replay_same_address(const struct hp3d_replay_stream *s)
{
	return memcmp(s->key.src, s->key.dst, 16) == 0;
}

/* streams.c */
uint64_t hp3d_replay_hash_key(const struct hp3d_replay_key *k);
/* The key of the other direction. */
struct hp3d_replay_key hp3d_replay_reverse_key(const struct hp3d_replay_key *k);
/* The stream of a key. HP3D_REPLAY_NONE: there is none, or with `add`, no room for it. */
uint32_t hp3d_replay_find_stream(
	struct hp3d_replay_flows *t, const struct hp3d_replay_key *k, bool add);
/* The list that has stream `s`. */
struct hp3d_replay_list *hp3d_replay_own_list(
	struct hp3d_replay_flows *t, const struct hp3d_replay_stream *s);

/* requests.c: counts a request: its PSN, and whether it was retransmitted or is out of order. */
void hp3d_replay_count_request(struct hp3d_replay_flows *t, struct hp3d_replay_stream *s,
	const struct hp3d_replay_frame *f, uint64_t t_ns);

/*
 * replies.c: counts a reply of stream `number`. If its ICRC is right, compares its PSN with the
 * PSNs of requests.
 */
void hp3d_replay_count_reply(struct hp3d_replay_flows *t, uint32_t number,
	const struct hp3d_replay_frame *f, bool icrc_wrong);

/*
 * copies.c: the stream of a packet. Sets *repeated if the same packet was recorded shortly before,
 * and no NAK in between. The stream is then that of the earlier packet. HP3D_REPLAY_NONE: see
 * hp3d_replay_find_stream().
 */
uint32_t hp3d_replay_take_packet(struct hp3d_replay_flows *t, const struct hp3d_replay_frame *f,
	uint64_t t_ns, bool add, bool *repeated);
/* After all packets: decides whether the repeated packets of a stream are copies. */
void hp3d_replay_decide_copies(struct hp3d_replay_flows *t);

/* connections.c: does some stream of requests fit the replies of stream `s`? */
bool hp3d_replay_fits_any(const struct hp3d_replay_stream *s);
