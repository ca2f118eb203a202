/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reports of long flows between hosts (engine/paths/longs.c). A report takes the time of an empty
 * path, because its class is served first. It takes no room on links (it would take a thousandth):
 * its bytes are counted with those of probes. Counts may be wrong, reports lost or late (section
 * [peers]).
 */
#include <string.h>
#include "base/minmax.h"
#include "sim/lb/hp3.h"

#define PEER_REPORT_BYTES 66u /* Ethernet, IPv4, UDP, probes/loads.h */

struct report {
	struct sim_event event;
	uint32_t from, to;
	uint64_t stamp;
	struct hp3_long_counts count;
};

uint32_t hp3_sim_host(const uint8_t address[4])
{
	uint32_t be;

	memcpy(&be, address, sizeof(be));
	return (__builtin_bswap32(be) - sim_host_address(0)) >> 8;
}

static void take_peer_report(struct hp3_engine *e, const struct report *r, uint64_t now)
{
	uint8_t local[4], remote[4];
	struct hp3_ends ends = {
		.local = hp3_sim_address(local, r->to), .remote = hp3_sim_address(remote, r->from)};

	hp3_longs_from(e, &ends, r->stamp, &r->count, now);
}

static void deliver_peer_report(struct sim *s, struct sim_event *event)
{
	struct report *r = (struct report *)event;
	struct hp3_balancer *b = s->lb_state;

	if (!b->host[r->to].absent) {
		take_peer_report(b->host[r->to].engine, r, s->now / SIM_NS);
		hp3_sim_wake(s, b, r->to);
	}
	sim_pool_put(&b->reports, r);
}

void hp3_sim_advertise_init(struct hp3_balancer *b)
{
	sim_pool_init(&b->reports, (sizeof(struct report) + 15) & ~(size_t)15);
}

static uint16_t as_advertised(const struct sim *s, uint16_t count)
{
	uint64_t advertised = ((uint64_t)count * s->cfg.peers.counts_percent + 99) / 100;

	return (uint16_t)hp3_min_u64(advertised, UINT16_MAX);
}

/* Leaves, or is lost. */
static void send_peer_report(struct sim *s, struct hp3_balancer *b, const struct report *what)
{
	struct report *r;

	if (s->cfg.peers.reports_lost_percent > 0 &&
		sim_rand_below(s, 100) < s->cfg.peers.reports_lost_percent)
		return;
	r = sim_pool_get(&b->reports);
	*r = *what;
	r->event.fire = deliver_peer_report;
	r->count.out = as_advertised(s, r->count.out);
	r->count.in = as_advertised(s, r->count.in);
	sim_at(s, &r->event,
		s->now + sim_topo_distance(&s->topo, r->from, r->to, PEER_REPORT_BYTES).delay +
			s->cfg.peers.reports_late_us * SIM_US);
}

void hp3_sim_advertise(struct sim *s, struct hp3_balancer *b, uint32_t host, uint32_t flow)
{
	struct hp3_engine *e = b->host[host].engine;
	struct report r = {.from = host, .stamp = ++b->reported};
	struct hp3_flow_info info;

	if (hp3_flow_info(e, flow, s->now / SIM_NS, &info) < 0)
		return;
	r.to = hp3_sim_host(info.remote);
	r.count = hp3_longs_to(e, flow);
	s->n.flow_reports++;
	s->n.probe_bytes += PEER_REPORT_BYTES;
	send_peer_report(s, b, &r);
}
