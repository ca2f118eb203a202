/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What hosts advertise to each other of their long flows (engine/paths/longs.c, spine_paths.c). A
 * report takes the time of an empty path, for its class is served first, and takes no room on
 * links, which it would have a thousandth of: its bytes are counted with those of probes. What goes
 * to a rack is one message, which its leaf copies. Counts may be wrong, reports lost or late
 * (section [peers]).
 */
#include <string.h>
#include "base/minmax.h"
#include "sim/lb/hp3.h"

#define PEER_REPORT_BYTES 72u /* Ethernet, IPv4, UDP, probes/loads.h with two counts */
#define RACK_BYTES        66u /* ... with none */
#define SPINE_PATH_BYTES  4u /* of a spine path: its name, two counts */
#define COUNTS            2u
#define SPINE_PATHS       32u

struct report {
	struct sim_event event;
	uint32_t from, to, n, spine_paths;
	uint64_t stamp;
	bool rack;
	struct hp3_path_count count[COUNTS];
	struct hp3_spine_path_count spine_path[SPINE_PATHS];
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

	if (r->rack) {
		hp3_rack_received(e, false, remote, r->stamp, r->spine_path, r->spine_paths, now);
		return;
	}
	hp3_load_from_names(e, &ends, r->stamp, r->count, r->n, now);
	hp3_spine_paths_from(e, &ends, r->stamp, r->spine_path, r->spine_paths, now);
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
	for (uint32_t i = 0; i < r->n; i++)
		r->count[i].count = as_advertised(s, r->count[i].count);
	for (uint32_t i = 0; i < r->spine_paths; i++) {
		r->spine_path[i].out = as_advertised(s, r->spine_path[i].out);
		r->spine_path[i].in = as_advertised(s, r->spine_path[i].in);
	}
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
	r.n = hp3_load_to_names(e, flow, r.count, COUNTS);
	r.spine_paths = hp3_spine_paths_to(e, flow, r.spine_path, SPINE_PATHS, s->now / SIM_NS);
	s->n.flow_reports++;
	s->n.probe_bytes += PEER_REPORT_BYTES + SPINE_PATH_BYTES * r.spine_paths;
	send_peer_report(s, b, &r);
}

void hp3_sim_rack(struct sim *s, struct hp3_balancer *b, uint32_t host)
{
	struct report r = {.from = host, .rack = true, .stamp = ++b->reported};

	r.spine_paths = hp3_rack_advertise(b->host[host].engine, r.spine_path, SPINE_PATHS);
	s->n.rack_reports++;
	s->n.probe_bytes += RACK_BYTES + SPINE_PATH_BYTES * r.spine_paths;
	for (r.to = 0; r.to < s->topo.hosts; r.to++)
		if (r.to != host && s->topo.leaf[r.to] == s->topo.leaf[host])
			send_peer_report(s, b, &r);
}
