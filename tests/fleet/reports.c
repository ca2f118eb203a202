/* SPDX-License-Identifier: BSD-3-Clause */
#include "reports.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/minmax.h"
#include "base/random.h"

static void any_name(uint64_t *rng, char *to, unsigned cap)
{
	static const char letters[] = "abcXYZ019-_";
	unsigned n = 1 + hp3_random_below(rng, cap - 1);

	for (unsigned i = 0; i < n; i++)
		to[i] = letters[hp3_random_below(rng, sizeof(letters) - 1)];
	to[n] = '\0';
}

static struct hp3_fleet_addr any_addr(uint64_t *rng, bool ipv6)
{
	struct hp3_fleet_addr a = {.len = ipv6 ? 16 : 4};

	for (unsigned i = 0; i < a.len; i++)
		a.b[i] = (uint8_t)hp3_random(rng);
	return a;
}

static struct hp3_fleet_key any_key(uint64_t *rng)
{
	bool ipv6 = hp3_random_below(rng, 2);
	struct hp3_fleet_key k = {.src = any_addr(rng, ipv6)};

	k.dst = any_addr(rng, ipv6);
	k.qpn = (uint32_t)hp3_random(rng) & 0xffffff;
	return k;
}

/* Small ones and large ones alike. */
static uint64_t any_number(uint64_t *rng, uint64_t max)
{
	return (hp3_random(rng) >> hp3_random_below(rng, 64)) & max;
}

static struct hp3_fleet_flow any_flow(uint64_t *rng, unsigned hops)
{
	struct hp3_fleet_flow f = {.key = any_key(rng), .hop = HP3_FLEET_NO_HOP};

	f.port = (uint16_t)hp3_random(rng);
	f.flags = (uint8_t)hp3_random_below(rng, 4);
	f.marked_permille = (uint16_t)hp3_random_below(rng, 1001);
	f.rtt_ns = (uint32_t)any_number(rng, UINT32_MAX);
	f.base_rtt_ns = (uint32_t)any_number(rng, UINT32_MAX);
	f.settled_ms = (uint32_t)any_number(rng, UINT32_MAX);
	f.failures = (uint32_t)any_number(rng, UINT32_MAX);
	f.rate_kbps = any_number(rng, UINT32_MAX);
	f.bytes = any_number(rng, UINT64_MAX);
	f.marks = any_number(rng, UINT64_MAX);
	f.advised = (uint8_t)hp3_random_below(rng, HP3_FLEET_ADVISED_MAX);
	f.advised_port = f.advised != 0 ? (uint16_t)(1 + hp3_random_below(rng, UINT16_MAX)) : 0;
	if (hops == 0)
		return f;
	f.hop = (uint8_t)hp3_random_below(rng, hops);
	f.n_alts = (uint8_t)hp3_random_below(rng, HP3_FLEET_ALTS + 1);
	for (unsigned i = 0; i < f.n_alts; i++)
		f.alt[i] = (struct hp3_fleet_alt){
			(uint16_t)hp3_random(rng), (uint8_t)hp3_random_below(rng, hops)};
	return f;
}

struct hp3_fleet_report any_report(uint64_t *rng)
{
	struct hp3_fleet_report r = {.instance = hp3_random(rng)};

	any_name(rng, r.host, sizeof(r.host));
	any_name(rng, r.leaf, sizeof(r.leaf));
	r.seq = any_number(rng, UINT64_MAX);
	r.wall_ms = any_number(rng, UINT64_MAX);
	r.interval_ms = (uint32_t)any_number(rng, UINT32_MAX) % (HP3_FLEET_INTERVAL_MS + 1);
	r.capability = hp3_random_below(rng, 4);
	r.all_flows = (uint32_t)any_number(rng, UINT32_MAX);
	r.n_addrs = (uint8_t)hp3_random_below(rng, HP3_FLEET_ADDRS + 1);
	for (unsigned i = 0; i < r.n_addrs; i++)
		r.addr[i] = any_addr(rng, i % 2);
	r.n_hops = (uint8_t)hp3_random_below(rng, HP3_FLEET_HOPS + 1);
	for (unsigned i = 0; i < r.n_hops; i++)
		r.hop[i] = any_addr(rng, i % 2);
	r.n_flows = (uint8_t)hp3_random_below(rng, HP3_FLEET_FLOWS + 1);
	for (unsigned i = 0; i < r.n_flows; i++)
		r.flow[i] = any_flow(rng, r.n_hops);
	return r;
}

struct hp3_fleet_plan any_plan(uint64_t *rng)
{
	struct hp3_fleet_plan p = {.term = any_number(rng, UINT64_MAX)};

	any_name(rng, p.planner, sizeof(p.planner));
	p.epoch = any_number(rng, UINT64_MAX);
	p.valid_ms = (uint32_t)any_number(rng, UINT32_MAX);
	p.hosts = (uint32_t)any_number(rng, UINT32_MAX);
	p.flows = (uint32_t)any_number(rng, UINT32_MAX);
	p.links = (uint32_t)any_number(rng, UINT32_MAX);
	p.worst_before_kbps = any_number(rng, UINT64_MAX);
	p.worst_after_kbps = any_number(rng, UINT64_MAX);
	p.n_moves = (uint8_t)hp3_random_below(rng, HP3_FLEET_MOVES + 1);
	for (unsigned i = 0; i < p.n_moves; i++) {
		struct hp3_fleet_move *m = &p.move[i];

		*m = (struct hp3_fleet_move){.instance = hp3_random(rng), .key = any_key(rng)};
		any_name(rng, m->host, sizeof(m->host));
		m->from_hop = any_addr(rng, i % 2);
		m->to_hop = i % 3 ? any_addr(rng, i % 2) : (struct hp3_fleet_addr){0};
		m->from_port = (uint16_t)hp3_random(rng);
		m->to_port = (uint16_t)hp3_random(rng);
		m->rate_kbps = any_number(rng, UINT64_MAX);
		m->before_kbps = any_number(rng, UINT64_MAX);
		m->after_kbps = any_number(rng, UINT64_MAX);
	}
	return p;
}

struct hp3_fleet_addr host_addr(unsigned host)
{
	return (struct hp3_fleet_addr){.len = 4, .b = {10, 1, (uint8_t)(host >> 8), (uint8_t)host}};
}

struct hp3_fleet_addr spine_addr(unsigned spine)
{
	return (struct hp3_fleet_addr){.len = 4, .b = {10, 255, 0, (uint8_t)spine}};
}

struct hp3_fleet_report host_report(unsigned host, unsigned leaf, unsigned spines)
{
	struct hp3_fleet_report r = {.instance = 1000 + host,
		.seq = 1,
		.interval_ms = 1000,
		.capability = HP3_FLEET_CAN_MOVE | HP3_FLEET_CAN_TRACE,
		.n_addrs = 1,
		.addr = {host_addr(host)},
		.n_hops = (uint8_t)spines};

	snprintf(r.host, sizeof(r.host), "h%u", host);
	snprintf(r.leaf, sizeof(r.leaf), "leaf%u", leaf);
	for (unsigned i = 0; i < spines; i++)
		r.hop[i] = spine_addr(i);
	return r;
}

struct hp3_fleet_flow *add_flow(
	struct hp3_fleet_report *r, unsigned to, uint32_t qpn, unsigned spine, uint64_t rate_kbps)
{
	struct hp3_fleet_flow *f = &r->flow[r->n_flows++];

	*f = (struct hp3_fleet_flow){.key = {r->addr[0], host_addr(to), qpn},
		.port = (uint16_t)(0xc000 + spine),
		.hop = (uint8_t)spine,
		.flags = HP3_FLEET_MOVABLE,
		.settled_ms = UINT32_MAX,
		.rate_kbps = rate_kbps};
	for (unsigned i = 0; i < r->n_hops && f->n_alts < HP3_FLEET_ALTS; i++)
		if (i != spine)
			f->alt[f->n_alts++] =
				(struct hp3_fleet_alt){(uint16_t)(0xc000 + i), (uint8_t)i};
	r->all_flows = r->n_flows;
	return f;
}

struct hp3_fleet_params small_fleet(void)
{
	return (struct hp3_fleet_params){.max_hosts = 64,
		.max_links = 512,
		.hash_seed = 7,
		.age_ms = 3000,
		.report_ms = 50,
		.mark_permille = 10,
		.full_percent = 75,
		.improve_percent = 20,
		.moves = 4,
		.hold_ms = 30000,
		.valid_ms = 3000,
		.period_ms = 10000,
		.alarm_marks = 500,
		.middle_periods = 3,
		.high_alarms = 5,
		.window_ms = 30000};
}

struct hp3_fleet *make_fleet(const struct hp3_fleet_params *p)
{
	size_t size = hp3_fleet_size(p);
	void *mem = size > 0 ? aligned_alloc(64, (size + 63) / 64 * 64) : NULL;

	return mem != NULL ? hp3_fleet_create(mem, p) : NULL;
}
