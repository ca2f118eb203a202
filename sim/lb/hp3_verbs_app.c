/* SPDX-License-Identifier: BSD-3-Clause */
/* The application with its library: it posts, waits, and does what hp3d asks for. */
#include "sim/lb/hp3_verbs.h"
#include "sim/host/host.h"

static uint32_t bytes_of(
	const struct sim *s, const struct sim_message *m, uint32_t from, uint32_t end)
{
	return (end - from - 1) * s->cfg.rnic.payload_bytes + sim_message_payload(s, m, end - 1);
}

static void post_requests(struct sim *s, struct sim_flow *f)
{
	struct hp3_verbs_flow *x = verbs_of(f);
	uint32_t depth = s->cfg.verbs.wr_depth;
	uint32_t packets = s->cfg.verbs.wr_bytes / s->cfg.rnic.payload_bytes + 1u;

	while (!x->waits && !x->suspended && x->n < depth && x->edge < f->packets) {
		const struct sim_message *m = sim_flow_message(f, x->edge);
		struct hp3_verbs_wr *w = &x->wr[(x->oldest + x->n++) % HP3_SIM_VERBS_DEPTH];

		w->posted = s->now > f->up_at ? s->now : f->up_at;
		w->end = hp3_min_u32(m->end, x->edge + packets);
		w->bytes = bytes_of(s, m, x->edge, w->end);
		x->queued += w->bytes;
		w->queued = x->queued;
		x->posted += w->bytes;
		x->posted_wrs++;
		x->edge = w->end;
	}
	f->limit = x->edge;
}

static void turn_to_port(struct sim *s, struct sim_flow *f, uint16_t port)
{
	struct hp3_verbs_flow *x = verbs_of(f);

	f->sport = port;
	x->waits = x->suspended = false;
	x->to = 0;
	hp3_verbs_send(s, f, HP3_VERBS_MSG_MOVED, 0);
	post_requests(s, f);
	sim_host_schedule(s, f);
}

static void act_on_drain(struct sim *s, struct sim_flow *f)
{
	struct hp3_verbs_flow *x = verbs_of(f);

	if (x->to != 0)
		turn_to_port(s, f, x->to);
	else
		hp3_verbs_send(s, f, HP3_VERBS_MSG_DRAINED, 0);
}

void hp3_verbs_suspend(struct sim *s, struct sim_flow *f, uint16_t to)
{
	struct hp3_verbs_flow *x = verbs_of(f);

	if (!x->works && x->n > 0) { /* who posts may be somebody else */
		hp3_verbs_send(s, f, HP3_VERBS_MSG_FAILED, 0);
		return;
	}
	x->suspended = true;
	x->to = to;
	if (x->n == 0)
		act_on_drain(s, f);
}

void hp3_verbs_move(struct sim *s, struct sim_flow *f, uint16_t port, bool at_once)
{
	struct hp3_verbs_flow *x = verbs_of(f);

	if (at_once || x->n == 0)
		turn_to_port(s, f, port);
	else if (!x->suspended)
		hp3_verbs_suspend(s, f, port);
	else
		x->to = port;
}

void hp3_verbs_resume(struct sim *s, struct sim_flow *f)
{
	struct hp3_verbs_flow *x = verbs_of(f);

	x->waits = x->suspended = false;
	x->to = 0;
	post_requests(s, f);
	sim_host_schedule(s, f);
}

void hp3_verbs_posted(struct sim *s, struct sim_flow *f)
{
	if (!f->read)
		post_requests(s, f);
}

void hp3_verbs_acked(struct sim *s, struct sim_flow *f, const struct sim_packet *ack)
{
	struct hp3_verbs_flow *x = verbs_of(f);
	bool any = false;

	for (; x->n > 0 && f->una >= x->wr[x->oldest].end; x->n--) {
		const struct hp3_verbs_wr *w = &x->wr[x->oldest];

		x->took_ns = (uint32_t)hp3_min_u64((s->now - w->posted) / SIM_NS, UINT32_MAX);
		x->took_queued = w->queued;
		x->queued -= w->bytes;
		x->done += w->bytes;
		x->done_wrs++;
		x->oldest = (x->oldest + 1) % HP3_SIM_VERBS_DEPTH;
		x->works = any = true;
	}
	if (any && x->suspended && x->n == 0)
		act_on_drain(s, f);
	else if (any)
		post_requests(s, f);
}
