/* SPDX-License-Identifier: BSD-3-Clause */
/* Queue pairs and their messages: how they begin and end. */
#include <stdlib.h>
#include <string.h>
#include "sim/host/host.h"
#include "sim/lb/lb.h"
#include "sim/work/traffic.h"

#define BITS_WORDS 16u /* of a bitmap at first */

void sim_bits_set(struct sim_bits *b, uint32_t i)
{
	uint32_t words = b->words > 0 ? b->words : BITS_WORDS;

	while (words <= i / 64)
		words *= 2;
	if (words > b->words) {
		b->word = sim_realloc(b->word, words * sizeof(*b->word));
		memset(b->word + b->words, 0, (words - b->words) * sizeof(*b->word));
		b->words = words;
	}
	b->word[i / 64] |= UINT64_C(1) << (i % 64);
}

/* Of the message alone: see docs/guide/simulate.md, "Results". */
static uint64_t base_time(const struct sim *s, const struct sim_demand *d, uint32_t packets)
{
	uint32_t payload = s->cfg.rnic.payload_bytes;
	struct sim_distance way = sim_topo_distance(&s->topo, d->src, d->dst, payload);
	uint64_t bits = 8 * (d->bytes + (uint64_t)packets * s->cfg.rnic.header_bytes);

	return 2 * way.delay + way.serialise +
	       (uint64_t)((unsigned __int128)bits * SIM_SEC / way.bps);
}

struct sim_message *sim_flow_message(struct sim_flow *f, uint32_t psn)
{
	struct sim_message *m = f->sending;

	if (m == NULL || psn < m->first)
		m = f->oldest;
	while (psn >= m->end)
		m = m->next;
	f->sending = m;
	return m;
}

/* A message without data takes a packet, too. */
static uint64_t bytes_of(const struct sim_demand *d)
{
	return d->bytes > 0 ? d->bytes : 1;
}

static uint32_t packets_of(const struct sim *s, uint64_t bytes)
{
	uint32_t payload = s->cfg.rnic.payload_bytes;

	return (uint32_t)((bytes + payload - 1) / payload);
}

static void post_message(struct sim *s, struct sim_flow *f, uint32_t demand, uint64_t bytes)
{
	uint32_t packets = packets_of(s, bytes);
	struct sim_message *m = sim_pool_get(&s->message_pool);

	*m = (struct sim_message){.demand = demand,
		.first = f->packets,
		.end = f->packets + packets,
		.bytes = (uint32_t)bytes,
		.last_bytes =
			(uint32_t)(bytes - (uint64_t)(packets - 1) * s->cfg.rnic.payload_bytes),
		.posted = s->now};
	f->packets = m->end;
	if (!f->read)
		f->limit = f->packets;
	else if (f->unasked == NULL)
		f->unasked = m;
	if (f->newest != NULL)
		f->newest->next = m;
	else
		f->oldest = m;
	f->newest = m;
	if (f->sending == NULL)
		f->sending = m;
}

/* Until the first data may leave. Where it counts, only who has a use for it waits. */
static uint64_t setup_time(const struct sim *s)
{
	if (s->cfg.rnic.setup_counts == SIM_ON && !s->lb->probes_at_setup)
		return 0;
	return s->cfg.rnic.setup_us * SIM_US;
}

/* From when does the completion time of a message count that was posted at `start`? */
static uint64_t counts_from(const struct sim *s, const struct sim_flow *f, uint64_t start)
{
	return s->cfg.rnic.setup_counts == SIM_OFF && start < f->up_at ? f->up_at : start;
}

/* rail: see sim_flow.rail. */
static struct sim_flow *new_flow(struct sim *s, uint32_t demand, uint32_t rail)
{
	const struct sim_demand *d = &s->demand[demand];
	struct sim_flow *f = sim_pool_get(&s->flow_pool);
	struct sim_packet p = {.kind = SIM_DATA, .flow = f};

	memset(f, 0, s->flow_pool.size);
	f->src = d->src;
	f->dst = d->dst;
	f->id = demand;
	f->rail = (uint16_t)rail;
	f->read = d->read;
	f->kept = s->cfg.rnic.qps == SIM_QPS_KEPT || s->lb->split != NULL;
	f->own_cc = s->cfg.rnic.cc == SIM_CC_DCQCN;
	f->nak_psn = UINT32_MAX;
	f->wake.fire = f->read ? sim_read_up : sim_host_wake;
	f->next_at = f->up_at = s->now + setup_time(s);
	sim_flow_ports(s, f);
	p.sport = f->sport;
	f->port = sim_flow_out(s, &p, f->src);
	s->host[f->src].next_sport++;
	s->host[f->dst].next_dport++;
	return f;
}

/* The queue pair of this pair of hosts and verb, where it is kept. */
static struct sim_flow **kept_flow(struct sim *s, const struct sim_demand *d)
{
	struct sim_host *h = &s->host[d->src];

	if (h->kept == NULL)
		h->kept = sim_alloc(2 * (size_t)s->topo.hosts, sizeof(*h->kept));
	return &h->kept[2 * d->dst + d->read];
}

static void begin_flow(struct sim *s, struct sim_flow *f)
{
	if (s->lb->flow_start != NULL)
		s->lb->flow_start(s, f);
	hp3_dcqcn_init(&f->rp, sim_host_rp(s, f));
	TAILQ_INSERT_TAIL(&s->host[sim_flow_requester(f)].open, f, open);
}

static void begin_set_up(struct sim *s, struct sim_flow *f)
{
	f->waiting = true;
	sim_at(s, &f->wake, f->up_at);
}

struct sim_flow *sim_flow_open(struct sim *s, uint32_t demand, uint32_t rail)
{
	struct sim_flow *f = new_flow(s, demand, rail + 1);

	begin_flow(s, f);
	if (f->read)
		begin_set_up(s, f);
	return f;
}

void sim_flow_post(struct sim *s, struct sim_flow *f, uint32_t demand, uint32_t bytes)
{
	post_message(s, f, demand, bytes);
	if (f->read)
		sim_read_ask(s, f);
	else
		sim_host_schedule(s, f);
}

static void post_whole(struct sim *s, uint32_t demand)
{
	struct sim_flow *fresh = NULL;
	struct sim_flow **slot = &fresh, *f;
	bool begins;

	if (s->cfg.rnic.qps == SIM_QPS_KEPT)
		slot = kept_flow(s, &s->demand[demand]);
	begins = *slot == NULL;
	if (begins)
		*slot = new_flow(s, demand, 0);
	f = *slot;
	post_message(s, f, demand, bytes_of(&s->demand[demand]));
	if (begins)
		begin_flow(s, f);
	if (s->lb->posted != NULL)
		s->lb->posted(s, f);
	if (!f->read) {
		sim_host_schedule(s, f);
	} else if (begins) {
		begin_set_up(s, f);
	} else {
		sim_read_ask(s, f);
	}
}

void sim_flow_start(struct sim *s, uint32_t demand)
{
	const struct sim_demand *d = &s->demand[demand];

	s->outcome[demand].base = base_time(s, d, packets_of(s, bytes_of(d)));
	if (s->lb->split != NULL)
		s->lb->split(s, demand);
	else
		post_whole(s, demand);
}

void sim_flow_idle(struct sim *s, struct sim_flow *f)
{
	if (!f->done || f->in_air > 0 || f->waiting || f->ready)
		return;
	sim_pool_put(&s->flow_pool, f);
}

static void free_bits(struct sim_flow *f)
{
	free(f->got.word);
	free(f->sacked.word);
	f->got = f->sacked = (struct sim_bits){0};
}

static void finish_flow(struct sim *s, struct sim_flow *f)
{
	f->done = true;
	if (s->lb->flow_end != NULL)
		s->lb->flow_end(s, f);
	TAILQ_REMOVE(&s->host[sim_flow_requester(f)].open, f, open);
	free_bits(f);
}

static void end_demand(struct sim *s, const struct sim_flow *f, uint32_t demand)
{
	s->outcome[demand].fct = s->now - counts_from(s, f, s->demand[demand].start);
	s->last_end = s->now;
	s->finished++;
	s->known_done += demand < s->n_known;
}

static void tell_jobs(struct sim *s, uint32_t demand)
{
	if (s->jobs != NULL)
		sim_jobs_done(s, s->demand[demand].tag);
}

void sim_flow_demand_done(struct sim *s, const struct sim_flow *f, uint32_t demand)
{
	end_demand(s, f, demand);
	tell_jobs(s, demand);
}

void sim_flow_progress(struct sim *s, struct sim_flow *f, uint32_t psn)
{
	struct sim_message *m;

	while ((m = f->oldest) != NULL && psn >= m->end) {
		struct sim_message done = *m;

		f->oldest = m->next;
		if (f->newest == m)
			f->newest = NULL;
		if (f->sending == m)
			f->sending = m->next;
		if (f->read)
			f->outstanding--;
		sim_pool_put(&s->message_pool, m);
		if (s->lb->split != NULL) {
			s->lb->part_done(s, f, &done);
			continue;
		}
		end_demand(s, f, done.demand);
		if (f->oldest == NULL && !f->kept)
			finish_flow(s, f);
		tell_jobs(s, done.demand);
	}
	sim_flow_idle(s, f);
}

void sim_flow_unref(struct sim *s, struct sim_flow *f)
{
	f->in_air--;
	sim_flow_idle(s, f);
}

void sim_flows_free(struct sim *s)
{
	struct sim_flow *f;

	for (uint32_t h = 0; s->host != NULL && h < s->topo.hosts; h++) {
		TAILQ_FOREACH (f, &s->host[h].open, open)
			free_bits(f);
		free(s->host[h].kept);
	}
}
