/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/replay/flows.h"
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "roce/opcode.h"

#define NONE         UINT32_MAX
#define SLOTS        (4 * HP3D_REPLAY_STREAMS) /* of the hash table: a power of two */
#define WINDOW       8192 /* PSNs behind the newest one that a stream remembers */
#define WORDS        (WINDOW / 64)
#define CANDIDATES   64u
#define RECENT       65536u /* packets compared with new ones: a power of two */
#define LATE_NS      4000000u /* a missing packet that comes later is a retransmission */
#define READ_UNKNOWN 4096u /* PSNs of a READ whose length is not recorded */
#define PMTU_MIN     256u
#define EARLY_MAX    64 /* PSNs that a reply may be recorded before its request */
/* One reply in 16 may have another PSN: a capture lacks packets, or has them out of order. */
#define MISSES_SHARE 16u

/* A stream of requests that the replies of another stream may answer. */
struct candidate {
	uint32_t stream;
	uint64_t hits, misses;
	uint64_t early; /* replies whose request was recorded later, or never */
};

struct stream {
	struct hp3d_replay_key key;
	uint32_t reverse; /* list of the streams between the addresses in the other direction */
	uint32_t next; /* stream of the same list */
	uint32_t peer; /* stream of the other direction of this connection, or NONE */
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
	uint64_t seen[WORDS]; /* bit x % WINDOW: a request with PSN x, x in (hi - WINDOW, hi] */
	uint64_t gap_number, gap_ns; /* packet that left the newest gap */
	uint32_t read_span; /* PSNs of the request `hi`: more than 1 for a READ */
	bool late; /* the packet before was counted as out of order */
	uint32_t late_psn;
	uint64_t late_repeated; /* late packets before a packet that was recorded shortly before */

	struct candidate candidates[CANDIDATES];
	uint32_t n;
	bool overflow; /* more streams fit than there are candidates */
};

/* The streams from one address to another. */
struct list {
	struct hp3d_replay_key key; /* qpn is NONE */
	uint32_t first; /* stream, or NONE */
	uint64_t nak; /* number of the newest NAK or RNR NAK; 0: none */
	uint64_t replies; /* packets */
};

struct recent {
	uint64_t hash, number, t_ns;
	uint32_t stream;
};

struct hp3d_replay_flows {
	struct stream **streams;
	uint32_t n;
	struct list *lists;
	uint32_t n_lists;
	uint32_t slots[SLOTS], list_slots[SLOTS]; /* index + 1; 0: free */
	struct recent recent[RECENT];
	uint64_t number; /* packets so far */
};

static uint64_t hash_key(const struct hp3d_replay_key *k)
{
	uint64_t h = hp3_hash((uint64_t)k->vlan << 32 | k->qpn, k->src, sizeof(k->src));

	return hp3_hash(h, k->dst, sizeof(k->dst));
}

static bool same_key(const struct hp3d_replay_key *a, const struct hp3d_replay_key *b)
{
	return a->qpn == b->qpn && a->vlan == b->vlan && a->ipv6 == b->ipv6 &&
	       memcmp(a->src, b->src, 16) == 0 && memcmp(a->dst, b->dst, 16) == 0;
}

static struct hp3d_replay_key reverse_of(const struct hp3d_replay_key *k)
{
	struct hp3d_replay_key r = *k;

	memcpy(r.src, k->dst, 16);
	memcpy(r.dst, k->src, 16);
	return r;
}

static struct hp3d_replay_key key_of(const struct hp3d_replay_frame *f)
{
	const uint8_t *ip = f->data + f->v.l3_off;
	struct hp3d_replay_key k = {
		.vlan = f->v.vlan, .qpn = f->v.dest_qpn, .ipv6 = (f->v.flags & HP3_VF_IPV6) != 0};

	memcpy(k.src, ip + (k.ipv6 ? 8 : 12), k.ipv6 ? 16 : 4);
	memcpy(k.dst, ip + (k.ipv6 ? 24 : 16), k.ipv6 ? 16 : 4);
	return k;
}

/* The list of a direction, made if there is none. */
static uint32_t find_list(struct hp3d_replay_flows *t, struct hp3d_replay_key k)
{
	uint32_t at;

	k.qpn = NONE;
	for (at = (uint32_t)hash_key(&k) % SLOTS; t->list_slots[at] != 0; at = (at + 1) % SLOTS) {
		if (same_key(&t->lists[t->list_slots[at] - 1].key, &k))
			return t->list_slots[at] - 1;
	}
	t->lists[t->n_lists] = (struct list){.key = k, .first = NONE};
	t->list_slots[at] = ++t->n_lists;
	return t->n_lists - 1;
}

/* The stream of a key. NONE: there is none, or with `add`, no room for it. */
static uint32_t find_stream(struct hp3d_replay_flows *t, const struct hp3d_replay_key *k, bool add)
{
	struct hp3d_replay_key back = reverse_of(k);
	struct stream *s;
	uint32_t at, list;

	for (at = (uint32_t)hash_key(k) % SLOTS; t->slots[at] != 0; at = (at + 1) % SLOTS) {
		if (same_key(&t->streams[t->slots[at] - 1]->key, k))
			return t->slots[at] - 1;
	}
	if (!add || t->n == HP3D_REPLAY_STREAMS)
		return NONE;
	s = calloc(1, sizeof(*s));
	if (s == NULL)
		return NONE;
	list = find_list(t, *k);
	s->key = *k;
	s->reverse = find_list(t, back);
	s->next = t->lists[list].first;
	s->peer = NONE;
	s->began = t->number;
	t->lists[list].first = t->n;
	t->streams[t->n] = s;
	t->slots[at] = ++t->n;
	return t->n - 1;
}

static struct list *own_list(struct hp3d_replay_flows *t, const struct stream *s)
{
	return &t->lists[find_list(t, s->key)];
}

static bool is_seen(const struct stream *s, uint32_t psn)
{
	return s->seen[psn % WINDOW / 64] >> (psn % 64) & 1;
}

static void set_seen(struct stream *s, uint32_t psn, bool seen)
{
	uint64_t bit = 1ull << (psn % 64);

	if (seen)
		s->seen[psn % WINDOW / 64] |= bit;
	else
		s->seen[psn % WINDOW / 64] &= ~bit;
}

/* PSNs that the responses to a request take, at most. */
static uint32_t span_of(const struct hp3d_replay_frame *f)
{
	if (f->v.opcode != HP3_OP_RC_READ_REQUEST)
		return 1;
	if (f->ext_cut)
		return READ_UNKNOWN;
	return f->v.dma_len > PMTU_MIN ? (f->v.dma_len - 1) / PMTU_MIN + 1 : 1;
}

/* A request newer than all before: the PSNs of a READ are not a gap. */
static void advance_newest(struct hp3d_replay_flows *t, struct stream *s,
	const struct hp3d_replay_frame *f, uint64_t t_ns)
{
	int32_t ahead = hp3_psn_diff(f->v.psn, s->hi);

	if ((uint32_t)ahead > s->read_span) {
		s->gap_number = t->number;
		s->gap_ns = t_ns;
	}
	if (ahead >= WINDOW)
		memset(s->seen, 0, sizeof(s->seen));
	for (int32_t i = 1; i < ahead && ahead < WINDOW; i++)
		set_seen(s, s->hi + (uint32_t)i, (uint32_t)ahead <= s->read_span);
	s->hi = f->v.psn;
	s->read_span = span_of(f);
	set_seen(s, s->hi, true);
}

static uint64_t time_between(uint64_t a_ns, uint64_t b_ns)
{
	return a_ns > b_ns ? a_ns - b_ns : b_ns - a_ns;
}

/* A request behind a newer one. */
static void count_behind(struct hp3d_replay_flows *t, struct stream *s, uint32_t psn, uint64_t t_ns)
{
	const struct list *back = &t->lists[s->reverse];
	bool known = hp3_psn_diff(psn, s->hi) <= -WINDOW || is_seen(s, psn);
	bool late = !known && back->nak <= s->gap_number && time_between(t_ns, s->gap_ns) < LATE_NS;

	/* The RNIC went back: the packet before was the first one of a retransmission. */
	if (known && s->late && psn == hp3_psn_add(s->late_psn, 1)) {
		s->reordered--;
		s->retransmits++;
	}
	s->late = late;
	s->late_psn = psn;
	if (late)
		s->reordered++;
	else
		s->retransmits++;
	if (late && hp3_psn_diff(psn, s->first) < 0)
		s->first = psn;
	if (hp3_psn_diff(psn, s->hi) > -WINDOW)
		set_seen(s, psn, true);
}

static uint32_t op_of(uint8_t opcode)
{
	if (opcode <= HP3_OP_RC_SEND_ONLY_IMM || opcode == HP3_OP_RC_SEND_LAST_INV ||
		opcode == HP3_OP_RC_SEND_ONLY_INV)
		return HP3D_OP_SEND;
	if (opcode <= HP3_OP_RC_WRITE_ONLY_IMM)
		return HP3D_OP_WRITE;
	if (opcode == HP3_OP_RC_READ_REQUEST)
		return HP3D_OP_READ;
	if (opcode == HP3_OP_RC_CMP_SWAP || opcode == HP3_OP_RC_FETCH_ADD)
		return HP3D_OP_ATOMIC;
	if (opcode == HP3_OP_RC_FLUSH)
		return HP3D_OP_FLUSH;
	return opcode == HP3_OP_RC_ATOMIC_WRITE ? HP3D_OP_ATOMIC_WRITE : HP3D_OP_OTHER;
}

static void count_request(struct hp3d_replay_flows *t, struct stream *s,
	const struct hp3d_replay_frame *f, uint64_t t_ns)
{
	const struct hp3_view *v = &f->v;

	s->requests++;
	s->bytes += v->payload_len;
	s->sport = v->sport;
	s->ops |= op_of(v->opcode & 0x1f);
	if (!s->has_psn) {
		s->has_psn = true;
		s->first = s->hi = v->psn;
		s->gap_number = t->number;
		s->gap_ns = t_ns;
		s->read_span = span_of(f);
		set_seen(s, v->psn, true);
	} else if (hp3_psn_diff(v->psn, s->hi) > 0) {
		s->late = false;
		advance_newest(t, s, f, t_ns);
	} else {
		count_behind(t, s, v->psn, t_ns);
	}
}

enum match { MISS, EARLY, HIT };

/*
 * Compares the PSN of a reply with those of the stream's requests. A NAK has the PSN that the
 * responder expects.
 */
static enum match match_reply(const struct stream *s, const struct hp3_view *v)
{
	int32_t ahead = hp3_psn_diff(v->psn, s->hi);
	bool nak = (v->flags & HP3_VF_AETH) && HP3_SYN_KIND(v->syndrome) == HP3_SYN_NAK;

	if (!s->has_psn || ahead <= -WINDOW)
		return MISS;
	if (ahead <= 0)
		return is_seen(s, v->psn) || nak ? HIT : MISS;
	if ((uint32_t)ahead < s->read_span || (nak && ahead == 1))
		return HIT;
	return ahead < EARLY_MAX ? EARLY : MISS;
}

static struct candidate *find_candidate(struct stream *s, uint32_t stream)
{
	for (uint32_t i = 0; i < s->n; i++) {
		if (s->candidates[i].stream == stream)
			return &s->candidates[i];
	}
	return NULL;
}

/* The candidate, or a new one that missed all earlier replies; NULL: no room. */
static struct candidate *take_candidate(
	const struct hp3d_replay_flows *t, struct stream *s, uint32_t request)
{
	bool older = t->streams[request]->began < s->began;
	struct candidate *c = find_candidate(s, request);

	if (c != NULL)
		return c;
	if (s->n == CANDIDATES) {
		s->overflow = true;
		return NULL;
	}
	c = &s->candidates[s->n++];
	*c = (struct candidate){.stream = request, .misses = older ? s->good_replies - 1 : 0};
	return c;
}

/* Compares a reply with all streams of requests between the same addresses. */
static void compare_reply(struct hp3d_replay_flows *t, uint32_t number, const struct hp3_view *v)
{
	struct stream *s = t->streams[number];

	s->good_replies++;
	for (uint32_t i = t->lists[s->reverse].first; i != NONE; i = t->streams[i]->next) {
		const struct stream *q = t->streams[i];
		enum match match = match_reply(q, v);
		struct candidate *c =
			match == MISS ? find_candidate(s, i) : take_candidate(t, s, i);

		/* The requests of the first replies may be older than the capture. */
		if (i == number || c == NULL)
			continue;
		c->hits += match == HIT;
		c->early += match == EARLY;
		c->misses += match == MISS && hp3_psn_diff(v->psn, q->first) >= 0;
	}
}

/* A NAK or an RNR NAK. */
static bool is_nak(const struct hp3_view *v)
{
	return (v->flags & HP3_VF_AETH) && HP3_SYN_KIND(v->syndrome) != HP3_SYN_ACK;
}

static void count_reply(struct hp3d_replay_flows *t, uint32_t number,
	const struct hp3d_replay_frame *f, bool icrc_wrong)
{
	struct stream *s = t->streams[number];
	struct list *list = own_list(t, s);

	s->replies++;
	list->replies++;
	if (is_nak(&f->v)) {
		s->naks += HP3_SYN_KIND(f->v.syndrome) == HP3_SYN_NAK;
		s->rnrs += HP3_SYN_KIND(f->v.syndrome) == HP3_SYN_RNR;
		list->nak = t->number;
	}
	if (!icrc_wrong)
		compare_reply(t, number, &f->v);
}

/*
 * The hash of all bytes that stay the same from hop to hop: a switch may also add a VLAN tag. The
 * ICRC covers these bytes; the other fields are for packets that have no ICRC.
 */
static uint64_t hash_packet(const struct hp3d_replay_frame *f, struct hp3d_replay_key key)
{
	const uint8_t *bth = f->data + f->v.udp_off + HP3_UDP_LEN;
	uint32_t ident = f->v.flags & HP3_VF_IPV6 ? 0 : hp3_be16(f->data + f->v.l3_off + 4);
	const uint64_t fields[] = {hp3_be32(f->data + f->v.icrc_off),
		(uint64_t)ident << 48 | (uint64_t)f->v.sport << 32 | hp3_be32(bth + 8),
		(uint64_t)f->v.payload_len << 8 | f->v.opcode};

	key.vlan = 0;
	return hp3_hash(hash_key(&key), fields, sizeof(fields));
}

/*
 * The stream of a packet. Sets *repeated if the same packet was recorded shortly before, and no NAK
 * in between. The stream is then that of the earlier packet. NONE: see find_stream().
 */
static uint32_t take_packet(struct hp3d_replay_flows *t, const struct hp3d_replay_frame *f,
	uint64_t t_ns, bool add, bool *repeated)
{
	const struct hp3d_replay_key k = key_of(f);
	uint64_t h = hash_packet(f, k);
	struct recent *r = &t->recent[h % RECENT];
	uint32_t stream;

	*repeated = r->number != 0 && r->hash == h &&
		    time_between(t_ns, r->t_ns) < HP3D_REPLAY_COPY_NS &&
		    t->lists[t->streams[r->stream]->reverse].nak < r->number;
	stream = *repeated ? r->stream : find_stream(t, &k, add);
	if (stream != NONE)
		*r = (struct recent){h, t->number, t_ns, stream};
	return stream;
}

static bool is_counted(const struct hp3_view *v)
{
	return v->class == HP3_CLASS_RC_REQUEST || v->class == HP3_CLASS_RC_REPLY ||
	       v->class == HP3_CLASS_UC;
}

void hp3d_replay_flows_add(struct hp3d_replay_flows *t, const struct hp3d_replay_frame *f,
	uint64_t t_ns, bool icrc_wrong)
{
	struct stream *s;
	uint32_t number;
	bool repeated;

	t->number++;
	if (!is_counted(&f->v))
		return;
	number = take_packet(t, f, t_ns, true, &repeated);
	if (number == NONE)
		return;
	s = t->streams[number];
	if (repeated) {
		s->copies++;
		s->late_repeated += s->late && f->v.psn == hp3_psn_add(s->late_psn, 1);
		s->late = false;
		return;
	}
	s->icrc_wrong += icrc_wrong;
	s->distinct++;
	s->reliable = s->reliable || f->v.class != HP3_CLASS_UC;
	if (f->v.class == HP3_CLASS_RC_REPLY)
		count_reply(t, number, f, icrc_wrong);
	else
		count_request(t, s, f, t_ns);
}

void hp3d_replay_flows_pair(
	struct hp3d_replay_flows *t, const struct hp3d_replay_key *key, uint32_t peer_qpn)
{
	uint32_t i = find_stream(t, key, false);

	if (i == NONE || t->streams[i]->peer != NONE)
		return;
	t->streams[i]->known = true;
	t->streams[i]->peer_qpn = peer_qpn;
}

static void join_streams(struct hp3d_replay_flows *t, uint32_t a, uint32_t b)
{
	t->streams[a]->peer = b;
	t->streams[b]->peer = a;
	t->streams[a]->peer_qpn = t->streams[b]->key.qpn;
	t->streams[b]->peer_qpn = t->streams[a]->key.qpn;
	t->streams[a]->ambiguous = t->streams[b]->ambiguous = false;
}

static void join_known(struct hp3d_replay_flows *t)
{
	for (uint32_t i = 0; i < t->n; i++) {
		struct stream *s = t->streams[i];
		struct hp3d_replay_key k = reverse_of(&s->key);
		uint32_t other;

		if (!s->known || s->peer != NONE)
			continue;
		k.qpn = s->peer_qpn;
		other = find_stream(t, &k, false);
		if (other != NONE && other != i && t->streams[other]->peer == NONE)
			join_streams(t, i, other);
	}
}

static bool fits_replies(const struct candidate *c)
{
	return c->hits > 0 && c->early <= c->hits &&
	       c->misses * MISSES_SHARE <= c->hits + c->misses;
}

static bool fits_any(const struct stream *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		if (fits_replies(&s->candidates[i]))
			return true;
	}
	return false;
}

static bool has_peer(const struct hp3d_replay_flows *t, const struct candidate *c)
{
	const struct stream *q = t->streams[c->stream];

	return q->peer != NONE || q->known;
}

static uint64_t faults_of(const struct candidate *c)
{
	return c->misses + c->early;
}

/*
 * Does the best candidate fit far better than the second one? The capture may lack a few packets of
 * the true peer.
 */
static bool is_far_better(const struct candidate *best, const struct candidate *second)
{
	uint64_t faults = faults_of(second);

	return faults > 2 * faults_of(best) &&
	       faults >= faults_of(best) + 1 + best->hits / MISSES_SHARE;
}

/* The only stream of requests that fits the replies of `s`, or one that fits far better. */
static uint32_t best_request(const struct hp3d_replay_flows *t, const struct stream *s)
{
	const struct candidate *best = NULL, *second = NULL;

	for (uint32_t i = 0; i < s->n; i++) {
		const struct candidate *c = &s->candidates[i];

		if (has_peer(t, c) || !fits_replies(c))
			continue;
		if (best == NULL || faults_of(c) < faults_of(best)) {
			second = best;
			best = c;
		} else if (second == NULL || faults_of(c) < faults_of(second)) {
			second = c;
		}
	}
	if (best == NULL || s->overflow)
		return NONE;
	return second == NULL || is_far_better(best, second) ? best->stream : NONE;
}

/* No other stream of replies has this stream of requests as its best one. */
static bool is_only_answer(const struct hp3d_replay_flows *t, uint32_t reply, uint32_t request)
{
	const struct stream *s = t->streams[reply];

	for (uint32_t i = t->lists[t->streams[request]->reverse].first; i != NONE;
		i = t->streams[i]->next) {
		if (i != reply && i != request && t->streams[i]->peer == NONE &&
			t->streams[i]->good_replies > 0 && !t->streams[i]->known &&
			best_request(t, t->streams[i]) == request &&
			2 * t->streams[i]->good_replies > s->good_replies)
			return false;
	}
	return true;
}

static bool same_address(const struct stream *s)
{
	return memcmp(s->key.src, s->key.dst, 16) == 0;
}

/* Joins streams whose peer is certain. Each one leaves fewer candidates for the others. */
static void join_certain(struct hp3d_replay_flows *t)
{
	bool found = true;

	while (found) {
		found = false;
		for (uint32_t i = 0; i < t->n; i++) {
			struct stream *s = t->streams[i];
			uint32_t q = s->peer == NONE && !s->known && !same_address(s)
					     ? best_request(t, s)
					     : NONE;

			if (q == NONE || !is_only_answer(t, i, q))
				continue;
			join_streams(t, i, q);
			found = true;
		}
	}
}

static void mark_ambiguous(struct hp3d_replay_flows *t)
{
	for (uint32_t i = 0; i < t->n; i++) {
		const struct stream *s = t->streams[i];

		for (uint32_t k = 0; s->peer == NONE && k < s->n; k++) {
			if (!has_peer(t, &s->candidates[k]) && fits_replies(&s->candidates[k]))
				t->streams[s->candidates[k].stream]->ambiguous = true;
		}
	}
}

/* A stream whose packets are seldom recorded twice has retransmissions instead of copies. */
static void decide_copies(struct hp3d_replay_flows *t)
{
	for (uint32_t i = 0; i < t->n; i++) {
		struct stream *s = t->streams[i];

		s->doubled = s->copies > 0 && 3 * s->copies >= 2 * s->distinct;
		if (s->doubled)
			continue;
		if (s->requests > 0)
			s->retransmits += s->copies + s->late_repeated;
		s->reordered -= s->late_repeated;
		s->copies = s->late_repeated = 0;
	}
}

void hp3d_replay_flows_end(struct hp3d_replay_flows *t)
{
	decide_copies(t);
	join_known(t);
	join_certain(t);
	mark_ambiguous(t);
}

void hp3d_replay_flows_rewind(struct hp3d_replay_flows *t)
{
	memset(t->recent, 0, sizeof(t->recent));
	for (uint32_t i = 0; i < t->n_lists; i++)
		t->lists[i].nak = 0;
	t->number = 0;
}

bool hp3d_replay_flows_is_copy(
	struct hp3d_replay_flows *t, const struct hp3d_replay_frame *f, uint64_t t_ns)
{
	struct stream *s;
	uint32_t number;
	bool repeated;

	t->number++;
	if (!is_counted(&f->v))
		return false;
	number = take_packet(t, f, t_ns, false, &repeated);
	if (number == NONE)
		return false;
	s = t->streams[number];
	if (repeated)
		return s->doubled;
	if (f->v.class == HP3_CLASS_RC_REPLY && is_nak(&f->v))
		own_list(t, s)->nak = t->number;
	return false;
}

/* Why a stream that has only replies is not paired. */
static enum hp3_unpaired_reason reason_of_replies(const struct stream *s)
{
	if (s->overflow || fits_any(s))
		return HP3_UNPAIRED_MANY_REQUESTS;
	return s->n > 0 ? HP3_UNPAIRED_OTHER_REQUESTS : HP3_UNPAIRED_NO_REQUESTS;
}

static enum hp3_unpaired_reason reason_of(const struct hp3d_replay_flows *t, const struct stream *s)
{
	const struct list *back = &t->lists[s->reverse];
	bool good = false;

	if (!s->reliable)
		return HP3_UNPAIRED_UNRELIABLE;
	if (same_address(s))
		return HP3_UNPAIRED_SAME_ADDRESS;
	if (s->icrc_wrong > 0 && s->icrc_wrong >= s->requests + s->replies)
		return HP3_UNPAIRED_WRONG;
	if (s->requests == 0)
		return reason_of_replies(s);
	if (back->first == NONE)
		return HP3_UNPAIRED_ONE_WAY;
	if (s->ops == HP3D_OP_OTHER)
		return HP3_UNPAIRED_OPCODE;
	if (back->replies == 0)
		return HP3_UNPAIRED_NO_REPLIES;
	for (uint32_t i = back->first; i != NONE; i = t->streams[i]->next)
		good = good || t->streams[i]->good_replies > 0;
	if (!good)
		return HP3_UNPAIRED_ICRC;
	return s->ambiguous ? HP3_UNPAIRED_AMBIGUOUS : HP3_UNPAIRED_UNANSWERED;
}

static void fill_row(
	const struct hp3d_replay_flows *t, const struct stream *s, struct hp3d_replay_row *row)
{
	const struct stream *peer = s->peer != NONE ? t->streams[s->peer] : NULL;
	const bool paired = peer != NULL || s->known;

	*row = (struct hp3d_replay_row){.key = s->key,
		.paired = paired,
		.peer_qpn = s->peer_qpn,
		.reason = paired ? HP3_UNPAIRED_PAIRED : reason_of(t, s),
		.sport = s->sport,
		.ops = s->ops,
		.requests = s->requests,
		.replies = peer != NULL ? peer->replies : 0,
		.bytes = s->bytes,
		.first_psn = s->first,
		.last_psn = s->hi,
		.retransmits = s->retransmits,
		.reordered = s->reordered,
		.copies = s->copies,
		.naks = peer != NULL ? peer->naks : 0,
		.rnrs = peer != NULL ? peer->rnrs : 0};
}

struct hp3d_replay_totals hp3d_replay_flows_totals(const struct hp3d_replay_flows *t)
{
	struct hp3d_replay_totals sum = {0};
	struct hp3d_replay_row row;
	uint32_t at = 0;

	while (hp3d_replay_flows_next(t, &at, &row)) {
		sum.flows += row.requests > 0;
		sum.paired += row.requests > 0 && row.paired;
	}
	for (uint32_t i = 0; i < t->n; i++) {
		sum.retransmits += t->streams[i]->retransmits;
		sum.reordered += t->streams[i]->reordered;
		sum.naks += t->streams[i]->naks;
		sum.rnrs += t->streams[i]->rnrs;
	}
	return sum;
}

bool hp3d_replay_flows_next(
	const struct hp3d_replay_flows *t, uint32_t *at, struct hp3d_replay_row *row)
{
	while (*at < t->n) {
		const struct stream *s = t->streams[(*at)++];

		if (s->requests > 0 || (s->peer == NONE && !s->known)) {
			fill_row(t, s, row);
			return true;
		}
	}
	return false;
}

struct hp3d_replay_flows *hp3d_replay_flows_new(void)
{
	struct hp3d_replay_flows *t = calloc(1, sizeof(*t));

	if (t == NULL)
		return NULL;
	t->streams = calloc(HP3D_REPLAY_STREAMS, sizeof(struct stream *));
	t->lists = calloc(2 * HP3D_REPLAY_STREAMS, sizeof(*t->lists));
	if (t->streams == NULL || t->lists == NULL) {
		hp3d_replay_flows_free(t);
		return NULL;
	}
	return t;
}

void hp3d_replay_flows_free(struct hp3d_replay_flows *t)
{
	if (t == NULL)
		return;
	for (uint32_t i = 0; i < t->n; i++)
		free(t->streams[i]);
	free(t->streams);
	free(t->lists);
	free(t);
}
