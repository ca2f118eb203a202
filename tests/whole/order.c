/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * In which cases packets may arrive in another order than the RNIC emitted them: each begins
 * another era of a queue pair, and order is judged within an era (rules 11 and 13).
 */
#include "tests/whole/sim.h"

#define SPRAYS_NS                                                                                  \
	(8 * MS) /* a peer that hears nothing takes one path (its third question), and more */
#define CHANGE_NS (20 * MS) /* after a change of members of a bond; includes queues of ports */
#define STUCK_NS  (2 * MS) /* in a port for longer than that: the agreement may be over */

/* The RNIC has given up what came behind a loss; hp3d gives it that until it sees the READ. */
void rnics_go_back(struct sim *s, unsigned host, uint32_t qp)
{
	s->furthest[host][qp] = (struct furthest){0};
	s->read_again_at[host][qp] = s->now;
}

/*
 * What hp3d had sent before a failover may wait in a port that the line takes nothing from, and
 * leave behind it: the path that was given up held that, too (rule 13). A port that is not stuck
 * holds what hp3d sent since its threads slept last, at this very time.
 */
static bool is_of_before(
	const struct sim *s, unsigned host, uint32_t qp, uint16_t port, uint64_t since)
{
	uint64_t oldest = since != 0 ? since : s->now;

	return s->over_at[host][qp] >= oldest && port != s->left_on[host][qp];
}

static void begin_reply_era(struct sim *s, unsigned requester, uint32_t qp)
{
	s->reply_era[requester][qp]++;
	s->reply_last[requester][qp] = 0;
	s->furthest[requester][qp] = (struct furthest){0};
}

/* The same for replies, which hp3d moves when their path is dead (rule 13). */
static void reply_leaves(
	struct sim *s, unsigned host, struct frame *f, uint16_t port, uint64_t since)
{
	uint32_t i = f->reply.qp;
	uint64_t oldest = since != 0 ? since : s->now;

	if (s->replies_at[host] >= oldest && port != s->replies_left_on[host][i])
		begin_reply_era(s, !host, i);
	s->replies_left_on[host][i] = port;
	f->era = s->reply_era[!host][i];
}

void rnics_leave(struct sim *s, unsigned host, struct frame *f, uint64_t since)
{
	uint16_t port;
	struct qp *q;

	f->loose = s->spray &&
		   (s->now < s->loose_until[!host] || (since != 0 && s->now > since + STUCK_NS));
	if (f->kind != FRAME_REQUEST && f->kind != FRAME_REPLY)
		return;
	port = hp3_be16(f->data + where_in(f->data).udp);
	if (f->kind == FRAME_REPLY) {
		reply_leaves(s, host, f, port, since);
		return;
	}
	q = &s->w[host].qps[f->pkt.qp];
	if (is_read(f->pkt.opcode) && !f->pkt.first)
		rnics_go_back(s, host, f->pkt.qp);
	if (s->resuming[host][f->pkt.qp] || f->emitted <= s->resumed_at[host][f->pkt.qp] ||
		is_of_before(s, host, f->pkt.qp, port, since))
		q->last_emit[++q->era % ERAS] = 0;
	s->left_on[host][f->pkt.qp] = port;
	f->era = q->era;
	if (s->home_only && port != HOME_PORT + f->pkt.qp)
		WRONG(s, "hp3d %c: mode off, queue pair %u leaves on port %u", 'a' + (int)host,
			f->pkt.qp, port);
}

static void new_reply_era(struct sim *s, unsigned requester)
{
	for (unsigned i = 0; i < SIM_QPS; i++)
		begin_reply_era(s, requester, i);
}

/* Rule 13: what a dead path held belongs to another era, and what leaves until the responder has
 * said how far it is. */
void rnics_event(struct sim *s, unsigned host, const struct hp3_event *event)
{
	uint32_t i = rnics_index(s, !host, event->rqpn);
	struct qp *q = &s->w[host].qps[i % SIM_QPS];

	sim_trace_event(s, host, event);
	s->r.moves += event->type == HP3_EVENT_SWITCH || event->type == HP3_EVENT_IDLE_SWITCH;
	s->r.paired += event->type == HP3_EVENT_PAIR;
	s->r.recovered += event->type == HP3_EVENT_RECOVER;
	if (event->type == HP3_EVENT_REPLIES) {
		new_reply_era(s, !host);
		s->replies_at[host] = s->now;
	}
	if ((event->type != HP3_EVENT_FAILOVER && event->type != HP3_EVENT_RESUME) ||
		i >= s->w[host].p.qps)
		return;
	s->r.failovers += event->type == HP3_EVENT_FAILOVER;
	s->resuming[host][i] = event->type == HP3_EVENT_FAILOVER;
	if (event->type == HP3_EVENT_FAILOVER)
		s->over_at[host][i] = s->now;
	else
		s->resumed_at[host][i] = s->now;
	q->last_emit[++q->era % ERAS] = 0;
}

static void new_era(struct sim *s, unsigned host)
{
	struct world *w = &s->w[host];

	for (uint32_t i = 0; i < w->p.qps; i++) {
		w->qps[i].last_emit[++w->qps[i].era % ERAS] = 0;
		s->resuming[host][i] = false;
	}
	new_reply_era(s, !host);
}

void rnics_doubt(struct sim *s, unsigned host, uint64_t ns)
{
	new_era(s, !host);
	if (s->loose_until[host] < s->now + ns)
		s->loose_until[host] = s->now + ns;
}

void rnics_change_members(struct sim *s)
{
	s->members++;
	for (unsigned h = 0; h < 2; h++)
		rnics_doubt(s, h, CHANGE_NS);
}

/* Rule 11: may reorder once. What the peer sprays comes in any order until it knows. */
void rnics_crashed(struct sim *s, unsigned host)
{
	new_era(s, host);
	if (s->spray)
		rnics_doubt(s, host, SPRAYS_NS);
}
