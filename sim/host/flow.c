/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>
#include "sim/fabric/switch.h"
#include "sim/host/host.h"
#include "sim/lb/lb.h"
#include "sim/work/traffic.h"

#define ROCE_PORT   4791u
#define FIRST_SPORT 10000u /* counted port numbers, as ns-3's RDMA models give them */
#define FIRST_DPORT 100u

static void put_address(uint8_t *to, uint32_t address)
{
	uint32_t be = __builtin_bswap32(address);

	memcpy(to, &be, sizeof(be));
}

uint32_t sim_flow_hash(const struct sim *s, const struct sim_packet *p, uint32_t node)
{
	const struct sim_flow *f = p->flow;
	struct hp3_hash h = {.kind = (uint8_t)s->cfg.fabric.hash,
		.input = (uint8_t)s->cfg.fabric.hash_input,
		.paths = 1,
		.seed = s->cfg.fabric.hash_seed + node};
	struct hp3_tuple t = {0};

	if (p->kind == SIM_DATA || p->kind == SIM_PROBE) {
		put_address(t.src, sim_host_address(f->src));
		put_address(t.dst, sim_host_address(f->dst));
		t.sport = p->sport;
		t.dport = f->dport;
	} else {
		put_address(t.src, sim_host_address(f->dst));
		put_address(t.dst, sim_host_address(f->src));
		t.sport = f->dport;
		t.dport = f->home;
		if (s->cfg.rnic.ports == SIM_PORTS_ROCE) {
			t.sport = f->home;
			t.dport = f->dport;
		}
	}
	return hp3_hash(&h, &t);
}

void sim_flow_ports(const struct sim *s, struct sim_flow *f)
{
	uint16_t nth = s->host[f->src].next_sport;
	uint64_t state = s->cfg.run.seed ^ ((uint64_t)f->src << 32 | nth);

	if (s->cfg.rnic.ports == SIM_PORTS_ROCE) {
		f->sport = hp3_rand_port(&state);
		f->dport = ROCE_PORT;
	} else {
		f->sport = (uint16_t)(FIRST_SPORT + nth);
		f->dport = (uint16_t)(FIRST_DPORT + s->host[f->dst].next_dport);
	}
	f->home = f->sport;
}

static void open_flow(struct sim_host *h, struct sim_flow *f)
{
	f->prev = h->open_tail;
	if (h->open_tail != NULL)
		h->open_tail->next = f;
	else
		h->open = f;
	h->open_tail = f;
	h->flows++;
}

static void close_flow(struct sim_host *h, struct sim_flow *f)
{
	if (f->prev != NULL)
		f->prev->next = f->next;
	else
		h->open = f->next;
	if (f->next != NULL)
		f->next->prev = f->prev;
	else
		h->open_tail = f->prev;
	h->flows--;
}

/* Of the flow alone: see docs/sim.md, "Slowdown". */
static uint64_t base_time(const struct sim *s, const struct sim_demand *d, uint32_t packets)
{
	uint32_t payload = s->cfg.rnic.payload_bytes;
	struct sim_distance way = sim_topo_distance(&s->topo, d->src, d->dst, payload);
	uint64_t bits = 8 * (d->bytes + (uint64_t)packets * s->cfg.rnic.header_bytes);

	return 2 * way.delay + way.serialise +
	       (uint64_t)((unsigned __int128)bits * SIM_SEC / way.bps);
}

static struct sim_port *pick_port(struct sim *s, struct sim_flow *f)
{
	const struct sim_topo *t = &s->topo;
	const struct sim_group *g = &t->group[t->route[f->src * t->hosts + f->dst]];
	struct sim_packet p = {.kind = SIM_DATA, .flow = f, .sport = f->sport};

	return &s->port[g->port[g->n > 1 ? sim_flow_hash(s, &p, f->src) % g->n : 0]];
}

struct sim_flow *sim_flow_start(struct sim *s, uint32_t demand)
{
	const struct sim_demand *d = &s->demand[demand];
	uint32_t payload = s->cfg.rnic.payload_bytes;
	uint64_t bytes = d->bytes > 0 ? d->bytes : 1;
	struct sim_flow *f = sim_pool_get(&s->flow_pool);

	memset(f, 0, s->flow_pool.size);
	f->src = d->src;
	f->dst = d->dst;
	f->id = demand;
	f->packets = (uint32_t)((bytes + payload - 1) / payload);
	f->last_bytes = (uint32_t)(bytes - (uint64_t)(f->packets - 1) * payload);
	f->nak_psn = UINT32_MAX;
	sim_flow_ports(s, f);
	f->port = pick_port(s, f);
	s->host[f->src].next_sport++;
	s->host[f->dst].next_dport++;
	if (s->lb->flow_start != NULL)
		s->lb->flow_start(s, f);
	hp3_dcqcn_init(&f->rp, sim_host_rp(s, f));
	f->wake.fire = sim_host_wake;
	s->outcome[demand].base = base_time(s, d, f->packets);
	open_flow(&s->host[f->src], f);
	f->next_at = s->now + s->cfg.rnic.setup_us * SIM_US;
	sim_host_schedule(s, f);
	return f;
}

static void maybe_free(struct sim *s, struct sim_flow *f)
{
	if (!f->done || f->in_air > 0 || f->waiting || f->ready)
		return;
	free(f->got);
	free(f->sacked);
	sim_pool_put(&s->flow_pool, f);
}

void sim_flow_finish(struct sim *s, struct sim_flow *f)
{
	f->done = true;
	s->outcome[f->id].fct = s->now - s->demand[f->id].start - s->cfg.rnic.setup_us * SIM_US;
	s->last_end = s->now;
	s->finished++;
	if (s->lb->flow_end != NULL)
		s->lb->flow_end(s, f);
	close_flow(&s->host[f->src], f);
	if (s->jobs != NULL)
		sim_jobs_done(s, s->demand[f->id].tag);
	maybe_free(s, f);
}

void sim_flow_unref(struct sim *s, struct sim_flow *f)
{
	f->in_air--;
	maybe_free(s, f);
}

void sim_flow_idle(struct sim *s, struct sim_flow *f)
{
	maybe_free(s, f);
}
