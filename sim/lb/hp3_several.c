/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rfr.mode = auto or spray: messages between engines about sprayed queue pairs, and packets that
 * the receiver's engine resequences before the RNIC gets them. A message takes the time of an empty
 * path, because its class is served first. It takes no room on links: its bytes are counted with
 * those of probes.
 */
#include <string.h>
#include "sim/lb/hp3.h"

#define MESSAGE_BYTES 94u /* Ethernet, IPv4, UDP, probes/agree.h */

struct word {
	struct sim_event event;
	uint32_t from, to;
	struct hp3_agree what;
};

/* The host with this address, in the engine's format. */
static uint32_t host_at(const uint8_t address[4])
{
	uint32_t be;

	memcpy(&be, address, sizeof(be));
	return (__builtin_bswap32(be) - sim_host_address(0)) >> 8;
}

static void deliver_agreement(struct sim *s, struct sim_event *event)
{
	struct word *w = (struct word *)event;
	struct hp3_balancer *b = s->lb_state;
	uint8_t local[4], remote[4];
	struct hp3_ends ends = {
		.local = sim_put_address(local, w->to), .remote = sim_put_address(remote, w->from)};
	struct hp3_acts acts = {0};

	if (!b->host[w->to].absent) {
		hp3_agree_received(b->host[w->to].engine, &ends, &w->what, s->now / SIM_NS, &acts);
		hp3_sim_act(s, b, w->to, &acts);
	}
	sim_pool_put(&b->words, w);
}

void hp3_sim_several(struct hp3_balancer *b)
{
	sim_pool_init(&b->words, sizeof(struct word));
}

void hp3_sim_agree(
	struct sim *s, struct hp3_balancer *b, uint32_t host, const struct hp3_act_agree *a)
{
	struct word *w = sim_pool_get(&b->words);

	w->event.fire = deliver_agreement;
	w->from = host;
	w->to = host_at(a->remote);
	w->what = a->what;
	s->n.flow_reports++;
	s->n.probe_bytes += MESSAGE_BYTES;
	sim_at(s, &w->event,
		s->now + sim_topo_distance(&s->topo, host, w->to, MESSAGE_BYTES).delay);
}

void hp3_sim_deliver(struct sim *s, struct hp3_host *h, const struct hp3_act *a)
{
	uint32_t i = a->held;

	for (uint32_t n = a->count; n > 0; n--, i = hp3_held_next(h->engine, i)) {
		s->n.held_ps += s->now - h->held[i]->tag.word[0];
		sim_rnic_data(s, h->held[i]);
	}
}

/* What comes behind it is the engine's to say, so it goes to the RNIC from here. */
bool hp3_sim_arrived(struct sim *s, struct sim_flow *f, struct sim_packet *p)
{
	struct hp3_balancer *b = s->lb_state;
	/* the flow may be over when its data have reached the RNIC */
	uint32_t at = sim_packet_target(p);
	struct hp3_host *h = &b->host[at];
	uint8_t frame[HP3_SIM_FRAME];
	struct hp3_verdict vd;
	struct hp3_acts acts;
	struct hp3_pkt pkt;

	if (b->cfg.spray.mode == HP3_SPRAY_MOVE || !hp3_sim_flow_of(f)->managed || h->absent)
		return true;
	pkt = hp3_sim_view(s, frame, p);
	pkt.v.sport = p->sport;
	if (p->flags & SIM_CE)
		pkt.v.flags |= HP3_VF_CE;
	hp3_find_burst(h->engine, &pkt, 1, HP3_DIR_RX);
	hp3_rx(h->engine, &pkt, s->now / SIM_NS, &vd, &acts);
	if (vd.flags & HP3_CLEAR_BECN)
		p->flags &= (uint8_t)~SIM_ECHO;
	if (vd.kind == HP3_PASS) {
		sim_rnic_data(s, p);
	} else if (vd.kind == HP3_HOLD) {
		p->tag.word[0] = s->now;
		s->n.held_packets++;
		h->held[vd.held] = p;
	} else {
		sim_packet_drop(s, p, SIM_DROP_SUPERSEDED);
	}
	hp3_sim_act(s, b, at, &acts);
	return false;
}
