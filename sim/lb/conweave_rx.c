/* SPDX-License-Identifier: BSD-3-Clause */
/* ConWeave: the destination leaf, which holds what overtook the TAIL of the old path. */
#include "base/minmax.h"
#include "sim/lb/conweave.h"

#define CONTROL_BYTES 64u

struct flush_timer {
	struct sim_event event;
	struct sim_flow *flow;
};

static void send_control(
	struct sim *s, struct sim_switch *sw, const struct sim_packet *data, uint8_t flag)
{
	struct sim_packet *p = sim_packet_new(s, SIM_CTRL, CONTROL_BYTES, data->flow, 0);

	p->path = data->path;
	p->tag.conweave = data->tag.conweave;
	p->tag.conweave.flag = flag;
	if (flag == CONWEAVE_TAIL)
		p->tag.conweave.phase = 1;
	sim_switch_send(s, sw, sim_switch_hash_port(s, sw, p), p);
}

static void release_flow(struct sim *s, struct sim_flow *f)
{
	struct conweave_rx *rx = &conweave_of(f)->rx;
	struct sim_switch *sw = &s->sw[s->topo.leaf[f->dst] - s->topo.hosts];
	struct sim_packet *p;

	rx->reordering = false;
	rx->phase = 1;
	rx->flush_at = 0;
	while ((p = sim_fifo_take(&rx->held)) != NULL) {
		s->n.held_ps += s->now - p->tag.word[0];
		sim_switch_send(s, sw, sim_switch_hash_port(s, sw, p), p);
	}
}

static void set_timer(struct sim *s, struct conweave *c, struct sim_flow *f);

static void timer_fires(struct sim *s, struct sim_event *event)
{
	struct flush_timer *t = (struct flush_timer *)event;
	struct conweave *c = s->lb_state;
	struct sim_flow *f = t->flow;
	struct conweave_rx *rx = &conweave_of(f)->rx;

	if (rx->timer_at == s->now) {
		rx->timer_at = 0;
		if (rx->reordering && rx->flush_at <= s->now)
			release_flow(s, f);
		else if (rx->reordering)
			set_timer(s, c, f);
	}
	sim_pool_put(&c->timers, t);
	sim_flow_unref(s, f);
}

/* One for flush_at, unless an earlier one will see to it. */
static void set_timer(struct sim *s, struct conweave *c, struct sim_flow *f)
{
	struct conweave_rx *rx = &conweave_of(f)->rx;
	struct flush_timer *t;

	if (rx->timer_at != 0 && rx->timer_at <= rx->flush_at)
		return;
	t = sim_pool_get(&c->timers);
	t->event.fire = timer_fires;
	t->flow = f;
	f->in_air++;
	rx->timer_at = rx->flush_at;
	sim_at(s, &t->event, rx->flush_at);
}

/* Takes in epoch and phase of a packet of this epoch or a new one. True: it overtook the TAIL. */
static bool has_overtaken_tail(struct conweave_rx *rx, const struct sim_tag_conweave *tag)
{
	bool ahead;

	if (tag->epoch > rx->epoch) {
		rx->epoch = tag->epoch;
		rx->phase = tag->flag == CONWEAVE_TAIL;
		rx->cached = tag->phase == 0;
		return tag->phase > rx->phase;
	}
	ahead = tag->flag != CONWEAVE_TAIL && rx->phase < tag->phase;
	if (tag->flag == CONWEAVE_TAIL && !rx->reordering)
		rx->phase = 1;
	rx->cached |= tag->phase == 0;
	return ahead;
}

/* When the TAIL should have come at the latest. */
static uint64_t tail_expected(const struct sim *s, const struct conweave *c,
	const struct conweave_rx *rx, const struct sim_tag_conweave *tag)
{
	uint64_t gap = c->wait, from = s->now;

	if (rx->cached) {
		gap = rx->tail_at > rx->phase0_tx ? rx->tail_at - rx->phase0_tx : 0;
		if (tag->phase == 1)
			from = rx->phase0_rx;
	}
	return from + gap + c->flush;
}

static void hold_packet(struct sim *s, struct conweave *c, struct sim_packet *p, uint64_t until)
{
	struct conweave_rx *rx = &conweave_of(p->flow)->rx;

	if (!rx->reordering) {
		rx->reordering = true;
		rx->flush_at = hp3_max_u64(until, s->now);
		set_timer(s, c, p->flow);
	}
	p->tag.word[0] = s->now;
	sim_fifo_put(&rx->held, p);
	s->n.held_packets++;
}

bool conweave_arrive(struct sim *s, struct conweave *c, struct sim_switch *sw,
	const struct sim_where *w, struct sim_packet *p)
{
	struct conweave_rx *rx = &conweave_of(p->flow)->rx;
	const struct sim_tag_conweave tag = p->tag.conweave;
	bool ahead;
	uint64_t until;

	if (tag.epoch < rx->epoch)
		return true;
	if (tag.phase == 0) {
		rx->phase0_tx = tag.tx_at;
		rx->phase0_rx = s->now;
	}
	ahead = has_overtaken_tail(rx, &tag);
	if (tag.flag == CONWEAVE_TAIL || tag.phase == 1)
		rx->tail_at = tag.tail_at;
	until = tail_expected(s, c, rx, &tag);
	if (p->flags & SIM_CE)
		send_control(s, sw, p, CONWEAVE_NOTIFY);
	if (tag.flag == CONWEAVE_INIT || tag.flag == CONWEAVE_TAIL)
		send_control(s, sw, p, tag.flag);
	if (ahead) {
		hold_packet(s, c, p, until);
		return false;
	}
	if (rx->reordering && tag.flag == CONWEAVE_TAIL) {
		sim_switch_send(s, sw, sim_switch_hash_port(s, sw, p), p);
		release_flow(s, p->flow);
		return false;
	}
	if (rx->reordering && tag.phase == 0) {
		rx->flush_at = until;
		set_timer(s, c, p->flow);
	}
	return true;
}
