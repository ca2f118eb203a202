/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What hosts tell each other of their long flows (engine/paths/longs.c). A report takes the time of
 * an empty path, for its class is served first, and takes no room on links, which it would have a
 * ten-thousandth of: its bytes are counted with those of probes. Counts may be wrong, reports lost
 * or late (section [peers]).
 */
#include <string.h>
#include "base/minmax.h"
#include "sim/lb/hp3.h"

#define REPORT_BYTES 72u /* Ethernet, IPv4, UDP, probes/loads.h with two counts */
#define COUNTS       2u

struct report {
	struct sim_event ev;
	uint32_t from, to, n;
	uint64_t stamp;
	struct hp3_path_count count[COUNTS];
};

uint32_t hp3_sim_host(const uint8_t address[4])
{
	uint32_t be;

	memcpy(&be, address, sizeof(be));
	return (__builtin_bswap32(be) - sim_host_address(0)) >> 8;
}

static void arrives(struct sim *s, struct sim_event *ev)
{
	struct report *r = (struct report *)ev;
	struct hp3_balancer *b = s->lb_state;
	uint8_t local[4], remote[4];
	struct hp3_ends ends = {
		.local = hp3_sim_address(local, r->to), .remote = hp3_sim_address(remote, r->from)};

	if (!b->host[r->to].absent) {
		hp3_load_from_names(
			b->host[r->to].engine, &ends, r->stamp, r->count, r->n, s->now / SIM_NS);
		hp3_sim_wake(s, b, r->to);
	}
	sim_pool_put(&b->reports, r);
}

void hp3_sim_tell_init(struct hp3_balancer *b)
{
	sim_pool_init(&b->reports, sizeof(struct report));
}

static uint16_t as_told(const struct sim *s, uint16_t count)
{
	uint64_t told = ((uint64_t)count * s->cfg.peers.counts_percent + 99) / 100;

	return (uint16_t)hp3_min_u64(told, UINT16_MAX);
}

void hp3_sim_tell(struct sim *s, struct hp3_balancer *b, uint32_t host, uint32_t flow)
{
	struct hp3_engine *e = b->host[host].engine;
	struct hp3_flow_info info;
	struct report *r;

	if (hp3_flow_info(e, flow, s->now / SIM_NS, &info) < 0)
		return;
	s->n.flow_reports++;
	s->n.probe_bytes += REPORT_BYTES;
	if (s->cfg.peers.reports_lost_percent > 0 &&
		sim_rand_below(s, 100) < s->cfg.peers.reports_lost_percent)
		return;
	r = sim_pool_get(&b->reports);
	r->ev.fire = arrives;
	r->from = host;
	r->to = hp3_sim_host(info.remote);
	r->stamp = ++b->reported;
	r->n = hp3_load_to_names(e, flow, r->count, COUNTS);
	for (uint32_t i = 0; i < r->n; i++)
		r->count[i].count = as_told(s, r->count[i].count);
	sim_at(s, &r->ev,
		s->now + sim_topo_distance(&s->topo, host, r->to, REPORT_BYTES).delay +
			s->cfg.peers.reports_late_us * SIM_US);
}
