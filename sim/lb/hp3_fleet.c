/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/lb/hp3.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/minmax.h"
#include "fleet/advice.h"
#include "fleet/fleet.h"
#include "fleet/message.h"
#include "sim/fabric/switch.h"

#define ALIGNMENT 64u
#define INTERVALS 3u /* a host that is silent for so long is gone; a plan is valid for so long */
#define TRIES     32u /* ports that are looked at for each path that a report may offer */

/* What a host knows of its fleet. */
struct host {
	struct sim_event again; /* it asks its engine once more */
	uint32_t number;
	bool waits; /* `again` is on its way */
	uint64_t seq;
	struct hp3_fleet_report report; /* the latest */
	struct hp3_fleet_advice advice;
};

struct hp3_sim_fleet {
	struct hp3_fleet *core;
	struct host *host;
	struct sim_event reports, plans; /* it is time for them */
	struct sim_pool messages;
	uint64_t rng, tag;
};

struct message {
	struct sim_event event;
	union {
		struct hp3_fleet_report report;
		struct hp3_fleet_plan plan;
	};
};

/* A flow, as its report is made. */
struct seen {
	struct sim_flow *flow;
	struct hp3_flow_info info;
	uint64_t kbps;
};

static struct hp3_sim_fleet *fleet_of(const struct sim *s)
{
	return ((struct hp3_balancer *)s->lb_state)->fleet;
}

static uint64_t now_us(const struct sim *s)
{
	return s->now / SIM_US;
}

static struct hp3_fleet_addr fleet_address(uint32_t number)
{
	struct hp3_fleet_addr a = {.len = 4};

	sim_put_address(a.b, number);
	return a;
}

static bool is_lost(struct sim *s)
{
	return hp3_random_below(&fleet_of(s)->rng, 100) < s->cfg.fleet.lost_percent;
}

/* --- reports --- */

/* The switch that packets of the flow meet above their leaf. */
static uint32_t spine_of(struct sim *s, struct sim_flow *f, uint16_t port)
{
	struct sim_packet p = {.kind = f->read ? SIM_READ : SIM_DATA, .flow = f, .sport = port};
	uint32_t leaf = s->topo.leaf[sim_flow_requester(f)];
	struct sim_port *out = sim_switch_hash_port(s, &s->sw[leaf - s->topo.hosts], &p);

	return s->topo.owner[s->topo.peer_port[out->number]];
}

static uint8_t hop_of(struct hp3_fleet_report *r, uint32_t spine)
{
	struct hp3_fleet_addr a = fleet_address(spine);

	return hp3_fleet_report_hop(r, &a);
}

static void add_alts(
	struct sim *s, struct hp3_fleet_report *r, struct hp3_fleet_flow *x, struct sim_flow *f)
{
	uint16_t port = f->home; /* the same ones each time: what is advised is still offered */

	for (unsigned i = 0; i < TRIES && x->n_alts < HP3_FLEET_ALTS; i++, port++) {
		uint16_t drawn = (uint16_t)(HP3_PORT_FIRST | port % HP3_PORT_COUNT);
		uint8_t hop = hop_of(r, spine_of(s, f, drawn));

		if (hp3_fleet_is_new_spine_path(x, hop))
			x->alt[x->n_alts++] = (struct hp3_fleet_alt){drawn, hop};
	}
}

static void add_flow(struct sim *s, struct hp3_fleet_report *r, const struct seen *seen)
{
	struct hp3_fleet_flow *x = &r->flow[r->n_flows++];
	struct hp3_sim_flow *f = hp3_sim_flow_of(seen->flow);
	const struct hp3_flow_info *i = &seen->info;
	bool movable = i->paired && i->state == HP3_RFR_STEADY && i->barred == HP3_BAR_NONE;

	*x = (struct hp3_fleet_flow){
		.key = {r->addr[0], fleet_address(sim_flow_responder(seen->flow)), f->rqpn},
		.port = i->port,
		.hop = hop_of(r, spine_of(s, seen->flow, i->port)),
		.flags = (uint8_t)((movable ? HP3_FLEET_MOVABLE : 0u) |
				   (i->severe ? HP3_FLEET_SEVERE : 0u)),
		.marked_permille = i->path.marked_permille,
		.rtt_ns = (uint32_t)hp3_min_u64(i->path.rtt_ns, UINT32_MAX),
		.base_rtt_ns = (uint32_t)hp3_min_u64(i->path.base_rtt_ns, UINT32_MAX),
		.settled_ms = (uint32_t)(now_us(s) - f->report.settled_us),
		.failures = i->retransmits,
		.rate_kbps = seen->kbps,
		.bytes = i->bytes,
		.advised = f->report.advised,
		.advised_port = f->report.advised_port};
	add_alts(s, r, x, seen->flow);
}

/* What it did since the last time; false: the engine does not know it. */
static bool observe_fleet_flow(
	struct sim *s, struct hp3_engine *e, struct sim_flow *f, struct seen *out)
{
	struct hp3_sim_flow *x = hp3_sim_flow_of(f);
	uint64_t now = now_us(s), took = now - x->report.at_us;
	uint8_t local[4], remote[4];
	struct hp3_ends ends = {.local = sim_put_address(local, sim_flow_requester(f)),
		.remote = sim_put_address(remote, sim_flow_responder(f))};
	uint32_t flow = x->managed ? hp3_flow_find(e, &ends, x->rqpn) : HP3_NO_FLOW;

	if (flow == HP3_NO_FLOW || hp3_flow_info(e, flow, s->now / SIM_NS, &out->info) < 0)
		return false;
	out->flow = f;
	out->kbps = took > 0 && x->report.at_us > 0
			    ? (out->info.bytes - x->report.bytes) * 8000 / took
			    : 0;
	if (x->report.at_us == 0 || x->report.moves != out->info.moves)
		x->report.settled_us = now;
	x->report.at_us = now;
	x->report.bytes = out->info.bytes;
	x->report.moves = out->info.moves;
	return true;
}

/* Heaviest first. */
static int by_rate(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;

	if (x->kbps != y->kbps)
		return x->kbps < y->kbps ? 1 : -1;
	return (x->info.lqpn > y->info.lqpn) - (x->info.lqpn < y->info.lqpn);
}

static void fill_fleet_report(struct sim *s, struct hp3_engine *e, struct host *h)
{
	static struct seen seen[HP3_SIM_QPS];
	struct hp3_fleet_report *r = &h->report;
	struct sim_flow *f;
	uint32_t n = 0;

	*r = (struct hp3_fleet_report){.instance = h->number,
		.seq = ++h->seq,
		.interval_ms = s->cfg.fleet.interval_us,
		.capability = HP3_FLEET_CAN_MOVE | HP3_FLEET_CAN_TRACE,
		.n_addrs = 1,
		.addr = {fleet_address(h->number)}};
	snprintf(r->host, sizeof(r->host), "h%u", h->number);
	snprintf(r->leaf, sizeof(r->leaf), "l%u", s->topo.leaf[h->number]);
	TAILQ_FOREACH (f, &s->host[h->number].open, open)
		if (n < HP3_SIM_QPS && hp3_sim_choice(s, f->src, f->dst))
			n += observe_fleet_flow(s, e, f, &seen[n]);
	qsort(seen, n, sizeof(*seen), by_rate);
	r->all_flows = n;
	for (uint32_t i = 0; i < n && i < HP3_FLEET_FLOWS && seen[i].kbps > 0; i++)
		add_flow(s, r, &seen[i]);
}

static void report_came(struct sim *s, struct sim_event *event)
{
	struct message *m = (struct message *)event;

	hp3_fleet_take(fleet_of(s)->core, &m->report, now_us(s));
	sim_pool_put(&fleet_of(s)->messages, m);
}

static void send_fleet_report(struct sim *s, struct host *h)
{
	struct message *m;

	s->n.fleet_reports++;
	if (is_lost(s))
		return;
	m = sim_pool_get(&fleet_of(s)->messages);
	m->event.fire = report_came;
	m->report = h->report;
	sim_at(s, &m->event, s->now + s->cfg.fleet.delay_us * SIM_US);
}

static void all_report(struct sim *s, struct sim_event *event)
{
	struct hp3_balancer *b = s->lb_state;

	for (uint32_t i = 0; i < s->topo.hosts; i++) {
		if (b->host[i].absent)
			continue;
		fill_fleet_report(s, b->host[i].engine, &b->fleet->host[i]);
		send_fleet_report(s, &b->fleet->host[i]);
	}
	sim_at(s, event, s->now + s->cfg.fleet.interval_us * SIM_US);
}

/* --- plans --- */

/* What came of it is told from now on. */
static void remember_advice(struct hp3_host *h, struct hp3_engine *e, uint32_t flow, uint16_t port)
{
	struct hp3_flow_info info;
	struct hp3_sim_flow *x;

	if (hp3_flow_info(e, flow, 0, &info) < 0 || h->qp[info.lqpn & (HP3_SIM_QPS - 1)] == NULL)
		return;
	x = hp3_sim_flow_of(h->qp[info.lqpn & (HP3_SIM_QPS - 1)]);
	x->report.advised = HP3_FLEET_NOT_ADVISED;
	x->report.advised_port = port;
}

static void ask_engine(struct sim *s, struct host *h, const struct hp3_fleet_move *m)
{
	struct hp3_balancer *b = s->lb_state;
	struct hp3_engine *e = b->host[h->number].engine;
	struct hp3_ends ends = {.local = m->key.src.b, .remote = m->key.dst.b};
	struct hp3_cmd cmd = {.flow = hp3_flow_find(e, &ends, m->key.qpn),
		.port = m->to_port,
		.tag = ++b->fleet->tag};
	struct hp3_acts acts = {0};
	int ret = cmd.flow == HP3_NO_FLOW ? -ENOENT : hp3_advise(e, &cmd, s->now / SIM_NS, &acts);

	s->n.fleet_asked++;
	if (ret == -EBUSY)
		hp3_fleet_advice_busy(&h->advice, now_us(s));
	if (ret == 0)
		remember_advice(&b->host[h->number], e, cmd.flow, m->to_port);
	hp3_sim_act(s, b, h->number, &acts);
}

static void apply_advice(struct sim *s, struct host *h)
{
	const struct hp3_fleet_move *m;
	unsigned flow;

	while ((m = hp3_fleet_advice_next(&h->advice, &h->report, now_us(s), &flow)) != NULL)
		ask_engine(s, h, m);
	if (!hp3_fleet_advice_waits(&h->advice) || h->waits)
		return;
	h->waits = true;
	sim_at(s, &h->again, s->now + HP3_FLEET_ADVICE_RETRY_MS * SIM_US);
}

static void retry_advice(struct sim *s, struct sim_event *event)
{
	struct host *h = (struct host *)event;

	h->waits = false;
	apply_advice(s, h);
}

static void plan_came(struct sim *s, struct sim_event *event)
{
	struct message *m = (struct message *)event;
	struct hp3_balancer *b = s->lb_state;

	for (uint32_t i = 0; i < s->topo.hosts; i++) {
		struct host *h = &b->fleet->host[i];

		if (b->host[i].absent || is_lost(s))
			continue;
		hp3_fleet_advice_plan(&h->advice, &m->plan, now_us(s));
		apply_advice(s, h);
	}
	sim_pool_put(&b->fleet->messages, m);
}

static void send_fleet_plan(struct sim *s, struct sim_event *event)
{
	struct hp3_sim_fleet *f = fleet_of(s);
	struct message *m = sim_pool_get(&f->messages);

	hp3_fleet_look(f->core, now_us(s));
	hp3_fleet_plan(f->core, 1, "p0", now_us(s), &m->plan);
	s->n.fleet_moves += m->plan.n_moves;
	m->event.fire = plan_came;
	sim_at(s, &m->event, s->now + s->cfg.fleet.delay_us * SIM_US);
	sim_at(s, event, s->now + s->cfg.fleet.interval_us * SIM_US);
}

void hp3_sim_fleet_outcome(struct sim *s, struct sim_flow *f, const struct hp3_event *event)
{
	struct hp3_sim_flow *x = hp3_sim_flow_of(f);
	bool moved = event->type == HP3_EVENT_SWITCH || event->type == HP3_EVENT_IDLE_SWITCH;

	if (!moved && event->type != HP3_EVENT_RECOVER)
		return;
	s->n.fleet_moved += moved;
	x->report.advised = moved ? HP3_FLEET_MOVED : HP3_FLEET_DECLINED;
}

/* --- start --- */

static struct hp3_fleet_params fleet_params(const struct sim *s)
{
	const struct sim_config *c = &s->cfg;

	return (struct hp3_fleet_params){.max_hosts = s->topo.hosts,
		.max_links = 2 * s->topo.n_links,
		.hash_seed = c->run.seed,
		.age_ms = INTERVALS * c->fleet.interval_us,
		.link_kbps =
			c->fleet.link_known == SIM_ON ? c->fabric.core_mbps * UINT64_C(1000) : 0,
		.mark_permille = c->fleet.marked_permille,
		.full_percent = c->fleet.full_percent,
		.improve_percent = c->fleet.improve_percent,
		.moves = c->fleet.moves,
		.hold_ms = c->fleet.hold_us,
		.valid_ms = INTERVALS * c->fleet.interval_us,
		/* alarms are for people */
		.period_ms = 10000000,
		.alarm_marks = UINT32_MAX,
		.middle_periods = 1,
		.high_alarms = 1,
		.window_ms = 10000000};
}

int hp3_sim_fleet_start(struct sim *s, struct hp3_balancer *b)
{
	struct hp3_sim_fleet *f = sim_alloc(1, sizeof(*f));
	struct hp3_fleet_params p = fleet_params(s);
	size_t size = (hp3_fleet_size(&p) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	void *memory = size > 0 ? aligned_alloc(ALIGNMENT, size) : NULL;
	char name[HP3_FLEET_NAME];

	b->fleet = f;
	sim_pool_init(&f->messages, (sizeof(struct message) + 15) & ~(size_t)15);
	f->host = sim_alloc(s->topo.hosts, sizeof(*f->host));
	f->rng = s->cfg.run.seed;
	if (memory == NULL)
		return -ENOMEM;
	f->core = hp3_fleet_create(memory, &p);
	for (uint32_t i = 0; i < s->topo.hosts; i++) {
		f->host[i].number = i;
		f->host[i].again.fire = retry_advice;
		snprintf(name, sizeof(name), "h%u", i);
		hp3_fleet_advice_init(&f->host[i].advice, name, i);
	}
	f->reports.fire = all_report;
	f->plans.fire = send_fleet_plan;
	sim_at(s, &f->reports, s->cfg.fleet.interval_us * SIM_US);
	/* Reports of this moment have come. */
	sim_at(s, &f->plans, (s->cfg.fleet.interval_us + s->cfg.fleet.delay_us) * SIM_US + SIM_NS);
	return 0;
}

void hp3_sim_fleet_stop(struct hp3_balancer *b)
{
	if (b->fleet == NULL)
		return;
	sim_pool_free(&b->fleet->messages);
	free(b->fleet->core); /* where its memory begins */
	free(b->fleet->host);
	free(b->fleet);
}
