/* SPDX-License-Identifier: BSD-3-Clause */
/* A frame reaches an RNIC: is it as emitted, and in order? Then the RNIC processes it. */
#include <string.h>
#include "roce/icrc.h"
#include "tests/whole/sim.h"

static bool sums_up(const uint8_t *ip)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < 20; i += 2)
		sum += hp3_be16(ip + i);
	return (sum >> 16) + (sum & 0xffff) == 0xffff || (sum & 0xffff) + (sum >> 16) == 0x1fffe;
}

/* Would an RNIC take it? */
static bool is_sound(const struct frame *f, struct hp3_view *v)
{
	hp3_parse(f->data, f->len, v);
	return v->class >= HP3_CLASS_RC_REQUEST &&
	       (v->flags & HP3_VF_IPV6 || sums_up(f->data + v->l3_off)) &&
	       hp3_be16(f->data + v->udp_off + 6) == 0 && hp3_icrc_ok(f->data, v);
}

/* Rule 17: the label goes with the port. */
static bool is_labelled(const uint8_t *d, struct where at)
{
	return (hp3_be32(d + at.ip) & 0xfffff) == hp3_sport_to_flow_label(hp3_be16(d + at.udp));
}

/* But for what hp3d may write, and the network. */
static bool is_unaltered(const struct frame *f)
{
	uint8_t d[FRAME_ROOM];
	const uint8_t *o = f->sent;
	const struct where at = where_in(o);
	uint8_t *bth = d + at.udp + 8;

	memcpy(d, f->data, f->len);
	if (at.ipv6 && !is_labelled(d, at))
		return false;
	if (at.ipv6) {
		memcpy(d + at.ip + 1, o + at.ip + 1, 3);
	} else {
		d[at.ip + 1] = o[at.ip + 1];
		memcpy(d + at.ip + 10, o + at.ip + 10, 2);
	}
	memcpy(d + at.udp, o + at.udp, 2);
	bth[4] = o[at.udp + 12];
	if (bth[8] & 0x80)
		bth[8] ^= 0x80 & ~o[at.udp + 16];
	memcpy(d + f->len - 4, o + f->len - 4, 4);
	return memcmp(d, o, f->len) == 0;
}

/* Nothing is known of its order: it is a copy made to be out of turn, or of another life. */
static bool is_loose(const struct sim *s, const struct frame *f, bool another_life)
{
	return f->shown || f->loose || (s->reported && another_life);
}

static uint64_t place(const struct pkt *k)
{
	return (uint64_t)k->epoch << 48 | k->lin;
}

/* What was sent again overtook what was sent first: that is a duplicate, wherever it comes. */
static bool has_come(const struct sim *s, unsigned requester, const struct pkt *k)
{
	return s->given[requester][k->qp][k->lin % GIVEN] == place(k);
}

static void take_request(struct sim *s, const struct frame *f, const struct hp3_view *v)
{
	struct world *w = &s->w[f->from];
	struct qp *q = &w->qps[f->pkt.qp];
	uint64_t *last = &q->last_emit[f->era % ERAS];
	struct pkt *k = malloc(sizeof(*k));

	*k = f->pkt;
	k->era = f->era;
	k->port = v->sport;
	k->ackreq |= (v->flags & HP3_VF_ACKREQ) != 0;
	k->loose = is_loose(s, f, f->pkt.epoch != q->epoch) || (uint8_t)(q->era - f->era) >= ERAS;
	if (s->spray && !k->loose && k->epoch == q->epoch && k->era == q->era) {
		if (k->first && k->lin >= q->exp && k->lin < q->last_first &&
			!has_come(s, f->from, k))
			WRONG(s, "order: queue pair %u of host %u, packet %llu comes after %llu",
				k->qp, f->from, (unsigned long long)k->lin,
				(unsigned long long)q->last_first);
		if (k->first && k->lin > q->last_first)
			q->last_first = k->lin;
	}
	k->loose |= s->spray; /* copies that come late are the RNIC's duplicates */
	if (f->copy && *last == k->emit)
		--*last; /* the network's copy follows its original */
	s->r.arrived++;
	world_arrive(w, k);
}

/* Responses to a copy of a READ come behind, in any order. */
static uint64_t *read_at(struct sim *s, unsigned host, const struct frame *f)
{
	return &s->read[host][f->reply.qp][f->reply.view.psn % GIVEN];
}

static bool was_read(struct sim *s, unsigned host, const struct frame *f)
{
	return *read_at(s, host, f) == ((uint64_t)f->reply.gen << 32 | f->reply.view.psn);
}

static void note_read(struct sim *s, unsigned host, const struct frame *f)
{
	*read_at(s, host, f) = (uint64_t)f->reply.gen << 32 | f->reply.view.psn;
}

/* The RNIC requests a READ of this queue pair again, and the request is still in its hp3d. */
static bool reads_again(const struct sim *s, unsigned host, uint32_t qp)
{
	const struct frame *f = s->p[host].inside;

	while (f != NULL && (f->kind != FRAME_REQUEST || f->from != host || f->pkt.qp != qp ||
				    f->pkt.first || !is_read(f->pkt.opcode)))
		f = f->next;
	return f != NULL;
}

/*
 * A READ response that the RNIC waits for comes before all that the peer's RNIC emitted later and
 * that speaks of PSNs behind it.
 */
static void check_sprayed(struct sim *s, unsigned host, const struct frame *f)
{
	uint32_t i = f->reply.qp;
	const struct qp *q = &s->w[host].qps[i];
	const bool data = f->reply.view.flags & (HP3_VF_READ | HP3_VF_ATOMIC);
	uint64_t lin = linear(q, f->reply.view.psn, q->una);
	struct furthest *last = &s->furthest[host][i];

	/* Of what hp3d handles at one time, some may have passed before it saw the READ. */
	if (s->now == s->read_again_at[host][i])
		return;
	if (data && lin == q->una && !f->copy && last->seq > f->seq && last->lin > lin &&
		!was_read(s, host, f) && !reads_again(s, host, i))
		WRONG(s, "order: queue pair %u of host %u, READ response %llu after %llu", i, host,
			(unsigned long long)f->seq, (unsigned long long)last->seq);
	if (last->seq == 0 || lin >= last->lin)
		*last = (struct furthest){f->seq, lin};
}

static void take_reply(struct sim *s, unsigned host, const struct frame *f)
{
	struct world *w = &s->w[host];
	uint32_t i = f->reply.qp;
	uint64_t *last = &s->reply_last[host][i];
	bool another_life = f->reply.gen != w->qps[i].epoch;

	if (s->spray) {
		if (f->era == s->reply_era[host][i] && !is_loose(s, f, another_life))
			check_sprayed(s, host, f);
	} else if (f->era == s->reply_era[host][i] && !is_loose(s, f, another_life)) {
		if (f->seq < *last || (f->seq == *last && !f->copy))
			WRONG(s, "order: queue pair %u of host %u, reply %llu after %llu", i, host,
				(unsigned long long)f->seq, (unsigned long long)*last);
		*last = f->seq;
	}
	if (f->reply.gen == w->qps[i].epoch)
		world_rnic_reply(w, i, &f->reply.view, f->reply.ours);
}

/* A packet that an hp3d made: the peer's, that looks like data; or ours, that looks like the peer.
 */
static void take_own(struct sim *s, unsigned host, const struct frame *f, const struct hp3_view *v)
{
	struct world *w = &s->w[v->class == HP3_CLASS_RC_REQUEST ? !host : host];
	uint32_t i = rnics_index(s, host, v->dest_qpn);
	struct pkt *k;

	/* it may have waited in a port since an earlier life */
	if (i >= w->p.qps || f->emitted < s->set_up_at[w - s->w][i])
		return;
	if (v->class == HP3_CLASS_RC_REQUEST) {
		k = malloc(sizeof(*k));
		*k = (struct pkt){.qp = i,
			.epoch = w->qps[i].epoch,
			.span = 1,
			.lin = linear(&w->qps[i], v->psn, w->qps[i].exp),
			.opcode = v->opcode,
			.probe = true,
			.ackreq = true};
		world_arrive(w, k);
	} else if (v->class == HP3_CLASS_RC_REPLY) {
		world_rnic_reply(w, i, v, true);
	} else if (v->class == HP3_CLASS_CNP) {
		world_throttle(w, i);
	}
}

static void take_other(struct sim *s, unsigned host, const struct frame *f)
{
	bool ip = where_in(f->sent).udp != 0;
	uint64_t *last = &s->other_last[host][ip];
	uint32_t *members = &s->other_members[host][ip];

	if (f->dirty)
		return;
	if (memcmp(f->data, f->sent, f->len) != 0)
		WRONG(s, "a frame that is not RoCE was altered");
	if (f->loose || f->members < *members)
		return;
	if (f->members > *members)
		*last = 0;
	*members = f->members;
	if (f->seq < *last || (f->seq == *last && !f->copy))
		WRONG(s, "order: frame %llu after %llu", (unsigned long long)f->seq,
			(unsigned long long)*last);
	*last = f->seq;
}

static unsigned opcode_of(const struct frame *f)
{
	return f->sent[where_in(f->sent).udp + 8];
}

static void take_rdma(struct sim *s, unsigned host, const struct frame *f)
{
	struct hp3_view v;

	if (!is_sound(f, &v)) {
		s->r.refused++;
		if (!f->dirty)
			WRONG(s, "frame of %u bytes, opcode 0x%x: its ICRC is wrong", f->len,
				opcode_of(f));
		return;
	}
	if (f->kind == FRAME_OWN) {
		take_own(s, host, f, &v);
		return;
	}
	if (!f->dirty && !is_unaltered(f))
		WRONG(s, "frame of %u bytes, opcode 0x%x, was altered", f->len, opcode_of(f));
	if (f->kind == FRAME_REQUEST)
		take_request(s, f, &v);
	else if (f->kind == FRAME_REPLY)
		take_reply(s, host, f);
	else
		world_throttle(&s->w[host], f->reply.qp);
}

void rnics_take(struct sim *s, unsigned host, struct frame *f)
{
	if (f->kind == FRAME_OTHER)
		take_other(s, host, f);
	else
		take_rdma(s, host, f);
	if (f->kind == FRAME_REPLY)
		note_read(s, host, f);
	else if (f->kind == FRAME_REQUEST)
		s->given[f->from][f->pkt.qp][f->pkt.lin % GIVEN] = place(&f->pkt);
	free(f);
}
