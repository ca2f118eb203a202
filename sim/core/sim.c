/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cc/dcqcn.h"
#include "sim/core/sim.h"
#include "sim/fabric/switch.h"
#include "sim/host/host.h"
#include "sim/lb/lb.h"
#include "sim/work/traffic.h"

#define PROGRESS_EVENTS 65536u
#define READ_STREAM     0x72656164u /* apart from other random numbers of the seed */

const char *sim_drop_name(enum sim_drop d)
{
	static const char *const names[] = {
#define SIM_DROP_TEXT(name, text) text,
		SIM_DROPS(SIM_DROP_TEXT)
#undef SIM_DROP_TEXT
	};

	return names[d];
}

struct sim_packet *sim_packet_new(
	struct sim *s, uint8_t kind, uint32_t bytes, struct sim_flow *flow, uint32_t psn)
{
	struct sim_packet *p = sim_pool_get(&s->packets);

	s->n.made++;
	p->to = NULL;
	p->flow = flow;
	p->sent_at = s->now;
	p->psn = psn;
	p->bytes = (uint16_t)bytes;
	p->sport = 0;
	p->back = 0;
	p->kind = kind;
	p->flags = 0;
	p->hop = 0;
	p->path = 0;
	p->arg = 0;
	if (flow != NULL)
		flow->in_air++;
	return p;
}

struct sim_packet *sim_packet_copy(struct sim *s, const struct sim_packet *of)
{
	struct sim_packet *p = sim_packet_new(s, of->kind, of->bytes, of->flow, of->psn);

	*p = *of;
	p->flags |= SIM_AGAIN;
	return p;
}

void sim_packet_end(struct sim *s, struct sim_packet *p)
{
	s->n.ended++;
	if (p->flow != NULL)
		sim_flow_unref(s, p->flow);
	sim_pool_put(&s->packets, p);
}

void sim_packet_drop(struct sim *s, struct sim_packet *p, enum sim_drop reason)
{
	s->n.dropped[reason]++;
	sim_packet_end(s, p);
}

static int by_start(const void *x, const void *y)
{
	const struct sim_demand *a = x, *b = y;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->src != b->src)
		return a->src < b->src ? -1 : 1;
	if (a->dst != b->dst)
		return a->dst < b->dst ? -1 : 1;
	return (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

/* A file in order keeps its order, equal times included: port numbers are given by it. */
static void sort_demands(struct sim *s)
{
	for (uint32_t i = 1; i < s->n_demands; i++) {
		if (s->demand[i].start >= s->demand[i - 1].start)
			continue;
		qsort(s->demand, s->n_demands, sizeof(*s->demand), by_start);
		return;
	}
}

static void start_known_flows(struct sim *s, struct sim_event *event)
{
	while (s->next_known < s->n_known && s->demand[s->next_known].start <= s->now)
		sim_flow_start(s, s->next_known++);
	if (s->next_known < s->n_known)
		sim_at(s, event, s->demand[s->next_known].start);
}

/* By its number and the seed alone. */
static bool is_read(const struct sim *s, uint32_t demand)
{
	uint64_t state = s->cfg.run.seed ^ ((uint64_t)demand << 32 | READ_STREAM);

	return s->cfg.traffic.read_percent > 0 &&
	       hp3_random_below(&state, 100) < s->cfg.traffic.read_percent;
}

uint32_t sim_demand_add(struct sim *s, const struct sim_demand *d)
{
	if (s->n_demands == s->cap_demands) {
		s->cap_demands = s->cap_demands == 0 ? 1024 : 2 * s->cap_demands;
		s->demand = sim_realloc(s->demand, s->cap_demands * sizeof(*s->demand));
		s->outcome = sim_realloc(s->outcome, s->cap_demands * sizeof(*s->outcome));
	}
	s->demand[s->n_demands] = *d;
	s->demand[s->n_demands].read = is_read(s, s->n_demands);
	s->outcome[s->n_demands] = (struct sim_outcome){0};
	return s->n_demands++;
}

void sim_demand_now(struct sim *s, const struct sim_demand *d)
{
	sim_flow_start(s, sim_demand_add(s, d));
}

static void create_nodes(struct sim *s)
{
	const struct sim_topo *t = &s->topo;

	s->port = sim_alloc(t->n_ports, sizeof(*s->port));
	s->host = sim_alloc(t->hosts, sizeof(*s->host));
	s->sw = sim_alloc(t->nodes - t->hosts, sizeof(*s->sw));
	for (uint32_t p = 0; p < t->n_ports; p++)
		sim_port_init(s, p);
	for (uint32_t h = 0; h < t->hosts; h++)
		sim_host_init(s, &s->host[h], h);
	for (uint32_t n = t->hosts; n < t->nodes; n++)
		sim_mmu_init(s, &s->sw[n - t->hosts], n);
}

/* The cause of a negative errno of a balancer's start(), and what to do. */
static const char *why_not_started(int ret)
{
	switch (-ret) {
	case EOPNOTSUPP:
		return "it decides in leaf switches, and hosts have links to several of them: give "
		       "each host one link, or take another balancer";
	case EDOM:
		return "it needs a choice of paths, and all hosts have one path: add links between "
		       "switches, or set hp3-ideal.model=off (hp3: peers.paths_known=off)";
	case E2BIG:
		return "it needs to know all paths, and these are too many: at most 64 between two "
		       "hosts. Set hp3-ideal.model=off (hp3: peers.paths_known=off)";
	case ERANGE:
		return "hosts have fewer links than xfer.rails: lower xfer.rails, or raise "
		       "fabric.planes (fabric.kind=rail)";
	case EINVAL:
		return "its keys of [cc] do not fit the rate of the hosts' links: set "
		       "cc.mode=native";
	default:
		return strerror(-ret);
	}
}

int sim_create(struct sim *s, const struct sim_config *cfg, struct sim_topo *topo, char *err,
	uint32_t err_size)
{
	const struct hp3_dcqcn_preset *preset = hp3_dcqcn_preset(cfg->rnic.preset);
	int ret = 0;

	*s = (struct sim){.asked = *cfg, .cfg = *cfg, .topo = *topo, .rng = cfg->run.seed};
	*topo = (struct sim_topo){0};
	sim_queue_init(&s->queue);
	s->lb = sim_lb_find(cfg->run.lb);
	if (s->lb == NULL)
		snprintf(err, err_size, "no load balancer '%s': `hp3-sim list` names them",
			cfg->run.lb);
	else if (preset == NULL)
		snprintf(err, err_size,
			"rnic.preset '%s' is unknown: paper, connectx, hpcc or conweave",
			cfg->rnic.preset);
	if (s->lb == NULL || preset == NULL) {
		sim_destroy(s);
		return -EINVAL;
	}
	s->rp = preset->rp;
	sim_pool_init(&s->packets, sizeof(struct sim_packet));
	sim_pool_init(&s->flow_pool, sizeof(struct sim_flow) + s->lb->flow_bytes);
	sim_pool_init(&s->message_pool, sizeof(struct sim_message));
	create_nodes(s);
	if (s->lb->start != NULL)
		ret = s->lb->start(s);
	if (ret < 0) {
		snprintf(err, err_size, "%s cannot run on this topology: %s", s->lb->name,
			why_not_started(ret));
		sim_destroy(s);
	}
	return ret;
}

void sim_destroy(struct sim *s)
{
	if (s->lb != NULL && s->lb_state != NULL && s->lb->stop != NULL)
		s->lb->stop(s);
	sim_flows_free(s);
	sim_jobs_free(s->jobs);
	sim_faults_free(s->faults);
	sim_queue_free(&s->queue);
	sim_pool_free(&s->packets);
	sim_pool_free(&s->flow_pool);
	sim_pool_free(&s->message_pool);
	free(s->port);
	free(s->host);
	free(s->sw);
	free(s->demand);
	free(s->outcome);
	sim_topo_free(&s->topo);
	*s = (struct sim){0};
}

int sim_run(struct sim *s, uint64_t limit)
{
	struct sim_event *event;

	sort_demands(s);
	s->n_known = s->n_demands;
	if (s->n_demands > 0) {
		s->first_start = s->demand[0].start;
		s->arrivals.fire = start_known_flows;
		sim_at(s, &s->arrivals, s->demand[0].start);
	}
	while (s->finished < s->n_demands || s->packets.used > 0 || s->open_work > 0) {
		event = sim_queue_pop(&s->queue);
		if (event == NULL || event->at > limit)
			return -ETIME;
		s->now = event->at;
		event->fire(s, event);
		if (s->queue.fired % PROGRESS_EVENTS == 0 && s->progress != NULL)
			s->progress(s, s->progress_arg);
	}
	return 0;
}
