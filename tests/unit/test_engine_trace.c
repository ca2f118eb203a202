/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Path identity by traces: a fabric of leaves and spines answers what the engine sends, and what
 * the engine then tells of ports is held against it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <errno.h>
#include <stddef.h>
#include <cmocka.h>
#include "engine/info.h"
#include "engine/internal.h"
#include "scene.h"

#define RATE    1000u /* traces per second */
#define RECHECK (1000 * MS)
#define PORTS   16384u

/* The network between the two hosts. */
static struct fabric {
	uint32_t spines, seed;
	bool qpn; /* hashed, too */
	bool silent; /* all spines */
	uint32_t deaf; /* this spine is silent, 0: none; counted from 1 */
	bool odd; /* spines answer from addresses that name none */
	bool drunk; /* every answer bears another address */
	bool by_interface; /* spines have an address for each leaf */
	bool flat; /* both hosts are on one leaf */
	uint32_t lies; /* so many answers are forged */
	uint32_t answered; /* traces */
} net;

static void config(void)
{
	net = (struct fabric){.spines = 4, .seed = 0xbeef};
	probing_config();
	rig.cfg.idle_age_ns = 1000000 * MS;
	rig.cfg.trace = true;
	rig.cfg.traces = (struct hp3_limit){RATE, 4};
	rig.cfg.trace_timeout_ns = 5 * MS;
	rig.cfg.paths.recheck_ns = RECHECK;
	rig.cfg.load_paths = HP3_HOPS;
	rig.cfg.load_age_ns = 1000 * MS;
}

/* Number of the spine, from 1. */
static uint32_t spine_of(const struct qp *p, uint16_t port, uint32_t qpn)
{
	const struct hp3_hash h = {.kind = HP3_HASH_CRC32,
		.qpn = net.qpn,
		.paths = (uint16_t)net.spines,
		.seed = net.seed};
	struct hp3_tuple t = {
		.sport = port, .dport = HP3_ROCE_UDP_PORT, .qpn = qpn, .ipv6 = p->ipv6};

	memcpy(t.src, p->local, 16);
	memcpy(t.dst, p->remote, 16);
	return hp3_hash_hop(&h, &t) + 1;
}

static void answer(const struct qp *p, const struct hp3_act *a)
{
	struct hp3_flow_info f;
	uint8_t hop[16] = {10, 8, 1, 1};
	enum hp3_trace_outcome out = HP3_TRACE_HOP;
	uint32_t spine;

	assert_int_equal(hp3_flow_info(rig.e, a->flow, rig.now, &f), 0);
	spine = spine_of(p, a->port, f.rqpn);
	if (a->op >= (net.flat ? 2 : 4)) {
		out = HP3_TRACE_REACHED;
	} else if (a->op == 2) {
		hop[2] = 2;
		hop[3] = (uint8_t)spine;
		hop[1] = net.by_interface ? 7 : 8;
		if (net.odd)
			out = HP3_TRACE_ODD;
		if (net.silent || spine == net.deaf)
			out = HP3_TRACE_SILENT;
		if (net.drunk) {
			hop[0] = 11;
			hop[2] = (uint8_t)(net.answered >> 8);
			hop[3] = (uint8_t)net.answered;
		}
		if (net.lies != 0) {
			net.lies--;
			hop[3] = (uint8_t)(spine % net.spines + 1);
		}
	} else if (a->op == 3) {
		hop[3] = 2;
	}
	net.answered++;
	if (p->ipv6)
		hop[15] = 1;
	hp3_hop_told(rig.e, a->probe_id, out, p->ipv6, hop, rig.now);
}

static const struct qp *ends[8]; /* by rqpn: whose trace it is; default q */
static uint32_t nends;

static const struct qp *end_of(uint32_t rqpn)
{
	for (uint32_t i = 0; i < nends; i++) {
		if (ends[i]->rqpn == rqpn)
			return ends[i];
	}
	return &q;
}

/* Time passes, traces are answered. */
static void run(uint64_t ns)
{
	static uint32_t done;

	if (rig.acts[HP3_ACT_TRACE] < done || net.answered == 0)
		done = rig.acts[HP3_ACT_TRACE];
	for (uint64_t t = 0; t < ns; t += MS) {
		uint32_t before = rig.acts[HP3_ACT_TRACE];

		pass_time(MS);
		assert_in_range(rig.acts[HP3_ACT_TRACE] - before, 0, 4);
		for (; before < rig.acts[HP3_ACT_TRACE]; before++) {
			const struct hp3_act *a = &rig.trace[before % 32];
			struct hp3_flow_info f;

			assert_int_equal(hp3_flow_info(rig.e, a->flow, rig.now, &f), 0);
			answer(end_of(f.rqpn), a);
		}
	}
}

/* A queue pair that may be traced with: something was acknowledged, the peer's hp3d is alive. */
static void speak(const struct qp *p, uint32_t at)
{
	assert_int_equal(set_up(p), 0);
	last(p, at);
	ack(p, at);
	peer_alive(p);
}

static void begin(void)
{
	rig_configure();
	nends = 0;
	q = make_qp(0);
	speak(&q, 100);
}

static struct hp3_pair_info pair_info(const struct qp *p)
{
	struct hp3_pair_info i;

	for (uint32_t at = 0; (at = hp3_pair_next(rig.e, at)) != HP3_NO_PAIR; at++) {
		assert_int_equal(hp3_pair_info(rig.e, at, rig.now, &i), 0);
		if (memcmp(i.remote, p->remote, 16) == 0)
			return i;
	}
	fail();
	return i;
}

/* Spine that the engine names for a port, or 0. */
static uint32_t told(const struct qp *p, uint16_t port)
{
	struct hp3_hop hop;
	uint32_t id;

	return hp3_path_of_port(rig.e, flow_of(p), port, &id, &hop) ? hop.addr[3] : 0;
}

static void expect_all_told(const struct qp *p)
{
	assert_int_equal(pair_info(p).tracing, HP3_TRACE_LINEAR);
	assert_int_equal(pair_info(p).identity, HP3_IDENTITY_MODEL);
	for (uint32_t i = 0; i < PORTS; i++) {
		uint16_t port = (uint16_t)(HP3_PORT_FIRST + i);

		assert_int_equal(told(p, port), spine_of(p, port, p->rqpn));
	}
}

static void expect_none(const struct qp *p)
{
	assert_int_equal(pair_info(p).tracing, HP3_TRACE_REST);
	assert_int_equal(pair_info(p).identity, HP3_IDENTITY_NONE);
	for (uint32_t port = 50000; port < 50100; port++)
		assert_int_equal(told(p, (uint16_t)port), 0);
}

/* --- what is learnt --- */

static void a_few_traces_tell_all_ports(void **state)
{
	config();
	begin();
	run(300 * MS);
	expect_all_told(&q);
	assert_int_equal(pair_info(&q).ttl, 2);
	assert_in_range(net.answered, 50, 130);
	assert_int_equal(stats()->trace_linear, 1);
	net.answered = 1;
	run(RECHECK / 2);
	assert_int_equal(net.answered, 1); /* and then it is quiet */
	run(RECHECK);
	assert_in_range(net.answered, 1 + HP3_TRACE_CHECKS, 1 + HP3_TRACE_CHECKS);
	expect_all_told(&q);
}

static void with_ipv6_too(void **state)
{
	config();
	rig_configure();
	nends = 0;
	q = make_qp(0);
	q.ipv6 = true;
	speak(&q, 100);
	run(300 * MS);
	expect_all_told(&q);
}

static void rule_01_a_trace_bears_an_old_psn(void **state)
{
	config();
	begin();
	run(20 * MS);
	assert_in_range(rig.acts[HP3_ACT_TRACE], 5, 32);
	for (uint32_t i = 0; i < rig.acts[HP3_ACT_TRACE]; i++)
		assert_int_equal(rig.trace[i].psn, 100);
}

/* Nobody but an hp3d is to get what a trace may become: a duplicate. */
static void rule_02_only_where_an_hp3d_answers(void **state)
{
	config();
	rig_configure();
	q = make_qp(0);
	assert_int_equal(set_up(&q), 0);
	peer_alive(&q);
	run(50 * MS);
	assert_int_equal(rig.acts[HP3_ACT_TRACE], 0); /* no PSN is known to be old */
	rig_configure();
	assert_int_equal(set_up(&q), 0);
	last(&q, 100);
	ack(&q, 100);
	run(50 * MS);
	assert_int_equal(rig.acts[HP3_ACT_TRACE], 0);
	peer_alive(&q);
	run(50 * MS);
	assert_int_not_equal(rig.acts[HP3_ACT_TRACE], 0);
	for (unsigned i = 0; i < 3; i++) {
		config();
		rig.cfg.trace = i != 0;
		rig.cfg.moves_allowed = i != 1;
		begin();
		if (i == 2) /* rule 17 */
			fragment(HP3_DIR_TX, &q);
		run(50 * MS);
		assert_int_equal(rig.acts[HP3_ACT_TRACE], 0);
	}
}

static void the_rate_is_kept(void **state)
{
	config();
	rig.cfg.traces = (struct hp3_limit){50, 1};
	begin();
	run(2000 * MS);
	assert_in_range(rig.acts[HP3_ACT_TRACE], 60, 101);
}

/* A hash modulo 3 is not linear: what was traced is told, the rest is not guessed. */
static void no_linear_map_no_prediction(void **state)
{
	uint32_t known = 0;

	config();
	net.spines = 3;
	begin();
	run(300 * MS);
	assert_int_equal(pair_info(&q).tracing, HP3_TRACE_TRACES);
	assert_int_equal(pair_info(&q).identity, HP3_IDENTITY_TRACE);
	assert_int_not_equal(pair_info(&q).reason, HP3_LINEAR_WHY_NONE);
	assert_int_equal(stats()->trace_refused, 1);
	for (uint32_t port = HP3_PORT_FIRST; port <= UINT16_MAX; port++) {
		uint32_t spine = told(&q, (uint16_t)port);

		known += spine != 0;
		assert_true(spine == 0 || spine == spine_of(&q, (uint16_t)port, q.rqpn));
	}
	assert_in_range(known, HP3_DEPTH_PORTS, HP3_TRACES);
}

/* TRACES: a port that comes into use is traced soon. */
static void ports_in_use_are_traced(void **state)
{
	struct qp other = make_qp(1);

	config();
	net.spines = 3;
	begin();
	run(300 * MS);
	for (other.home = 50000; told(&q, other.home) != 0; other.home++)
		;
	assert_int_equal(set_up(&other), 0);
	ends[nends++] = &other;
	last(&other, 100);
	last(&other, 101);
	run(RECHECK / 8);
	assert_int_equal(told(&q, other.home), spine_of(&q, other.home, q.rqpn));
}

static void a_pair_behind_the_same_switch_is_a_shift(void **state)
{
	struct qp other = make_qp(1);

	config();
	begin();
	run(300 * MS);
	other.remote[3] = 77;
	ends[nends++] = &other;
	net.answered = 1;
	speak(&other, 7);
	run(100 * MS);
	expect_all_told(&other);
	/* The same hash of other addresses is the same map, shifted. */
	assert_int_equal(net.answered, 1 + HP3_DEPTH_PORTS);
	expect_all_told(&q);
}

/* --- what is not --- */

static void where_nothing_names_a_path_the_port_is_the_path(void **state)
{
	for (unsigned i = 0; i < 6; i++) {
		rig_setup(state);
		config();
		net.silent = i == 0;
		net.deaf = i == 1 ? 2 : 0; /* one of four */
		net.odd = i == 2;
		net.drunk = i == 3;
		net.flat = i == 4;
		net.spines = i == 5 ? 1 : 4;
		begin();
		run(600 * MS);
		expect_none(&q);
		assert_int_equal(stats()->trace_nothing, 1);
		/* Switches may be told to answer. */
		net = (struct fabric){.spines = 4, .seed = 0xbeef};
		run(RECHECK + 300 * MS);
		expect_all_told(&q);
	}
}

static void traces_that_are_never_told_of(void **state)
{
	config();
	begin();
	for (unsigned i = 0; i < 600; i++)
		pass_time(MS);
	expect_none(&q);
	assert_int_equal(stats()->trace_asks, 2 * (HP3_DEPTH_MISSING + 1) * HP3_DEPTH_TRIES);
}

static void an_answer_that_nobody_asked_for(void **state)
{
	const uint8_t hop[16] = {10, 8, 2, 9};

	config();
	begin();
	run(300 * MS);
	for (uint32_t id = 0; id < 1000; id++)
		hp3_hop_told(rig.e, id * 4999u, HP3_TRACE_HOP, false, hop, rig.now);
	expect_all_told(&q);
}

/* --- belief ends --- */

static void routes_change(void **state)
{
	config();
	begin();
	run(300 * MS);
	expect_all_told(&q);
	do { /* not any seed leads elsewhere */
		net.seed++;
	} while (spine_of(&q, 50000, q.rqpn) == told(&q, 50000));
	run(RECHECK + 300 * MS);
	assert_int_equal(stats()->trace_wrong, 1);
	expect_all_told(&q);
	net.spines = 3;
	run(RECHECK + 300 * MS);
	assert_int_equal(pair_info(&q).tracing, HP3_TRACE_TRACES);
	net.spines = 4;
	run(2 * RECHECK);
	expect_all_told(&q);
	net.silent = true;
	run(RECHECK + 300 * MS);
	expect_none(&q);
}

static void a_single_lie_is_not_believed(void **state)
{
	config();
	begin();
	run(300 * MS);
	net.lies = 1;
	run(RECHECK + 100 * MS);
	assert_int_equal(net.lies, 0);
	assert_int_equal(stats()->trace_wrong, 0);
	expect_all_told(&q);
}

static void a_failed_path_brings_the_check_forward(void **state)
{
	config();
	begin();
	run(300 * MS);
	net.answered = 1;
	hp3_trace_anew(rig.e, 0, rig.now);
	run(rig.cfg.paths.retry_ns / 2);
	assert_int_equal(net.answered, 1);
	run(rig.cfg.paths.retry_ns);
	assert_int_equal(net.answered, 1 + HP3_TRACE_CHECKS);
}

/* --- rule 18: switches that hash the queue pair number --- */

static void rule_18_paths_are_keyed_by_the_qpn(void **state)
{
	struct qp other = make_qp(1);

	config();
	net.qpn = true;
	begin();
	run(300 * MS);
	expect_all_told(&q); /* it is the only one: who could tell? */
	ends[nends++] = &other;
	speak(&other, 7);
	run(100 * MS);
	assert_int_equal(pair_info(&q).tracing, HP3_TRACE_BY_QPN);
	assert_int_equal(pair_info(&q).identity, HP3_IDENTITY_NONE);
	assert_int_equal(stats()->trace_by_qpn, 1);
	net.answered = 1;
	run(3 * RECHECK);
	assert_int_equal(net.answered, 1);
}

static void other_queue_pairs_draw_the_same_where_it_is_not_hashed(void **state)
{
	struct qp other = make_qp(1);

	config();
	begin();
	ends[nends++] = &other;
	speak(&other, 7);
	run(300 * MS);
	expect_all_told(&q);
	expect_all_told(&other);
	assert_int_equal(stats()->trace_by_qpn, 0);
}

/* --- life of a pair --- */

static void a_pair_that_is_gone_is_forgotten(void **state)
{
	config();
	begin();
	run(30 * MS); /* in the middle of a search, a trace perhaps under way */
	assert_int_equal(tear_down(&q), 0);
	run(50 * MS);
	speak(&q, 200);
	run(300 * MS);
	expect_all_told(&q);
	assert_int_equal(tear_down(&q), 0);
	net.answered = 1;
	speak(&q, 300);
	run(100 * MS);
	expect_all_told(&q);
	assert_int_equal(net.answered, 1 + HP3_DEPTH_PORTS); /* the map was kept */
}

static void more_kinds_of_maps_than_there_is_room_for(void **state)
{
	struct qp more[HP3_TRACE_MAPS - 1];
	uint32_t linear = 0;

	config();
	rig.cfg.max_pairs = 16;
	begin();
	run(300 * MS);
	for (uint32_t i = 0; i < HP3_TRACE_MAPS - 1; i++) {
		more[i] = make_qp(1 + i);
		more[i].remote[3] = (uint8_t)(10 + i);
		ends[nends++] = &more[i];
		net.seed += 0x1111111; /* another switch between each two */
		net.by_interface = i & 1;
		speak(&more[i], 7);
		run(300 * MS);
		linear += pair_info(&more[i]).tracing == HP3_TRACE_LINEAR;
		expect_all_told(&more[i]);
	}
	assert_int_equal(linear, HP3_TRACE_MAPS - 1);
}

/* --- names, and counts by them --- */

static void names_are_the_same_on_every_host(void **state)
{
	const uint8_t spine[16] = {10, 8, 2, 3}, v6[16] = {0xfd, 0, 0, 8, [15] = 3};
	struct hp3_hop hop;
	uint32_t id;
	int name;

	config();
	begin();
	run(300 * MS);
	for (uint16_t port = 50000; port < 50020; port++) {
		assert_true(hp3_path_of_port(rig.e, flow_of(&q), port, &id, &hop));
		name = hp3_path_name(rig.e, id);
		assert_int_equal(name, hp3_hop_name_of(false, hop.addr));
		assert_int_equal(hp3_path_number(rig.e, (uint16_t)name, false), id);
	}
	/* On the wire: they may not change. */
	assert_int_equal(hp3_hop_name_of(false, spine), 0xf0c9);
	assert_int_equal(hp3_hop_name_of(true, v6), 0xab84);
	assert_int_equal(hp3_path_number(rig.e, 0xabcd, false), -ENOENT);
	assert_int_equal(hp3_path_name(rig.e, HP3_HOPS), -ENOENT);
}

static void names_that_peers_tell_of_find_room(void **state)
{
	const uint8_t addr[16] = {10, 8, 2, 1};
	uint16_t count[HP3_HOPS] = {0};
	int first, n;

	config();
	begin();
	first = hp3_path_number(rig.e, 7, true);
	assert_in_range(first, 0, HP3_HOPS - 1);
	assert_int_equal(hp3_path_number(rig.e, 7, true), first);
	count[first] = 3;
	hp3_load_from(rig.e, false, 0, q.local, q.remote, count, HP3_HOPS, rig.now);
	for (n = 0; n < 1000; n++) { /* a flood does not take what is counted */
		int at = hp3_path_number(rig.e, (uint16_t)(1000 + n), true);

		assert_true(at != first && at < (int)HP3_HOPS);
	}
	assert_int_equal(hp3_path_name(rig.e, (uint32_t)first), 7);
	/* nor does it keep switches out. */
	run(300 * MS);
	expect_all_told(&q);
	assert_in_range(hp3_path_number(rig.e, hp3_hop_name_of(false, addr), false), 0, HP3_HOPS);
}

static uint32_t total(const uint16_t *count)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < HP3_HOPS; i++)
		sum += count[i];
	return sum;
}

static void to(const struct qp *p, uint16_t *count)
{
	memset(count, 0, HP3_HOPS * sizeof(*count));
	assert_int_equal(hp3_load_to(rig.e, p->ipv6, p->vlan, p->local, p->remote, count, HP3_HOPS),
		HP3_HOPS);
}

/* Flows were active before anything was known of paths, and while it changed. */
static void counts_follow_what_is_learnt(void **state)
{
	uint16_t count[HP3_HOPS], want[HP3_HOPS] = {0};
	struct qp more[6];
	struct hp3_hop hop;
	uint32_t id;

	config();
	begin();
	for (unsigned i = 0; i < 6; i++) {
		more[i] = make_qp(1 + i);
		assert_int_equal(set_up(&more[i]), 0);
		last(&more[i], 100);
		ends[nends++] = &more[i];
	}
	to(&q, count);
	assert_int_equal(total(count), 0);
	run(300 * MS);
	expect_all_told(&q);
	for (unsigned i = 0; i < 6; i++) {
		assert_true(hp3_path_of_port(rig.e, flow_of(&more[i]), more[i].home, &id, &hop));
		want[id]++;
	}
	to(&q, count);
	assert_memory_equal(count, want, sizeof(count));
	assert_memory_equal(rig.e->out.count, want, sizeof(want));
	for (unsigned i = 0; i < 6; i++)
		assert_int_equal(tear_down(&more[i]), 0);
	to(&q, count);
	assert_int_equal(total(count), 0);
	assert_int_equal(total(rig.e->out.count), 0);
}

/* The peer says, over several answers, which of its last hops is least used. */
static void placed_by_counts_told_in_parts(void **state)
{
	struct qp fresh = make_qp(1);

	for (uint32_t spine = 1; spine <= 4; spine++) {
		struct hp3_hop hop;
		uint32_t id;

		rig_setup(state);
		config();
		rig.cfg.setup_probing = true;
		begin();
		run(300 * MS);
		rig.cfg.paths.fresh_ns = 1;
		assert_int_equal(set_up_at(&fresh, 40), 0);
		assert_int_equal(rig.nprobes, ASKED);
		for (uint8_t s = 1; s <= 4; s++) {
			const uint8_t addr[16] = {10, 8, 2, s};
			uint16_t count = s == spine ? 1 : 5;
			const struct hp3_path_count told = {hp3_hop_name_of(false, addr), count};

			hp3_load_told_names(rig.e, rig.probe_ids[0], &told, 1, rig.now);
		}
		probe_reply(0, false);
		assert_true(info(&fresh).moved);
		assert_true(hp3_path_of_port(rig.e, flow_of(&fresh), info(&fresh).port, &id, &hop));
		assert_int_equal(hop.addr[3], spine);
	}
}

/* --- what hosts tell each other --- */

/* Changes are told, not too often; that nothing is left, too, and that something still is. */
static void the_peer_is_told_of_our_flows(void **state)
{
	struct hp3_path_count told[HP3_HOPS];
	struct hp3_hop hop;
	uint32_t id;

	config();
	rig.cfg.tell_ns = 5 * MS;
	rig.cfg.stall_ns = 0;
	begin();
	run(300 * MS);
	assert_int_equal(rig.acts[HP3_ACT_TELL], 0); /* nothing is active */
	for (uint32_t i = 0; i < 20; i++) {
		last(&q, 101 + i);
		run(MS);
		ack(&q, 101 + i);
		run(MS);
	}
	assert_in_range(rig.acts[HP3_ACT_TELL], 1, 40 / 5 + 2);
	last(&q, 121);
	run(20 * MS);
	assert_true(hp3_path_of_port(rig.e, flow_of(&q), q.home, &id, &hop));
	assert_int_equal(hp3_load_to_names(rig.e, flow_of(&q), told, HP3_HOPS), 1);
	assert_int_equal(told[0].name, hp3_hop_name_of(false, hop.addr));
	assert_int_equal(told[0].count, 1);
	ack(&q, 121);
	run(20 * MS);
	assert_int_equal(hp3_load_to_names(rig.e, flow_of(&q), told, HP3_HOPS), 0);
	rig.acts[HP3_ACT_TELL] = 0;
	run(100 * MS);
	assert_int_equal(rig.acts[HP3_ACT_TELL], 0);
}

/* Reports are summed up by name, an old one changes nothing, and answers say the sum. */
static void what_comes_in_is_told_by_name(void **state)
{
	const struct hp3_path_count first[] = {{7, 3}, {9, 1}}, second[] = {{9, 4}};
	struct hp3_path_count in[HP3_HOPS];
	struct qp other = make_qp(1);

	config();
	begin();
	other.remote[3] = 77;
	speak(&other, 7);
	assert_int_equal(hp3_load_in_names(rig.e, in, HP3_HOPS), 0);
	assert_int_equal(
		hp3_load_from_names(rig.e, false, 0, q.local, q.remote, 100, first, 2, rig.now), 0);
	assert_int_equal(
		hp3_load_from_names(rig.e, false, 0, q.local, other.remote, 5, second, 1, rig.now),
		0);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(hp3_load_in_names(rig.e, in, HP3_HOPS), 2);
		assert_int_equal(in[0].name + in[1].name, 16);
		assert_int_equal(in[in[0].name == 9 ? 0 : 1].count, 5);
		assert_int_equal(in[in[0].name == 7 ? 0 : 1].count, 3);
		assert_int_equal(hp3_load_from_names(rig.e, false, 0, q.local, q.remote, 100 - i,
					 second, 1, rig.now),
			-ESTALE);
	}
	assert_int_equal(
		hp3_load_from_names(rig.e, false, 0, q.local, q.remote, 101, first, 0, rig.now), 0);
	assert_int_equal(hp3_load_in_names(rig.e, in, HP3_HOPS), 2); /* none is news, too */
	assert_int_equal(in[in[0].name == 7 ? 0 : 1].count, 0);
	assert_int_equal(in[in[0].name == 9 ? 0 : 1].count, 4);
	assert_int_equal(
		hp3_load_from_names(rig.e, false, 0, q.remote, q.local, 9, first, 2, rig.now),
		-ENOENT);
}

/* --- operators --- */

static void ports_that_an_operator_names(void **state)
{
	struct hp3_trace_answer answers[HP3_TRACE_WANTED];
	uint16_t port[HP3_TRACE_WANTED];
	uint32_t missing;

	config();
	begin();
	for (uint32_t i = 0; i < HP3_TRACE_WANTED; i++)
		port[i] = (uint16_t)(60000 + i);
	assert_int_equal(hp3_trace_ask(rig.e, flow_of(&q), 0, port, 3, rig.now), -ENODATA);
	run(300 * MS);
	assert_int_equal(hp3_trace_ask(rig.e, flow_of(&q), 0, port, HP3_TRACE_WANTED, rig.now),
		HP3_TRACE_WANTED);
	assert_int_equal(hp3_trace_ask(rig.e, flow_of(&q), 0, port, 1, rig.now), -EBUSY);
	assert_int_equal(hp3_trace_answers(rig.e, answers, &missing), HP3_TRACE_WANTED);
	assert_int_equal(missing, HP3_TRACE_WANTED);
	run(100 * MS);
	hp3_trace_answers(rig.e, answers, &missing);
	assert_int_equal(missing, 0);
	for (uint32_t i = 0; i < HP3_TRACE_WANTED; i++) {
		assert_int_equal(answers[i].port, port[i]);
		assert_int_equal(answers[i].outcome, HP3_TRACE_HOP);
		assert_int_equal(answers[i].hop[3], spine_of(&q, port[i], q.rqpn));
	}
	assert_int_equal(hp3_trace_ask(rig.e, flow_of(&q), 1, port, 1, rig.now), 1);
	run(10 * MS);
	assert_int_equal(hp3_trace_answers(rig.e, answers, &missing), 1);
	assert_int_equal(answers[0].hop[2], 1); /* the leaf */
	assert_int_equal(hp3_trace_ask(rig.e, 999, 1, port, 1, rig.now), -ENOENT);
	assert_int_equal(hp3_trace_ask(rig.e, flow_of(&q), 2, port, 2, rig.now), 2);
	assert_int_equal(tear_down(&q), 0);
	assert_int_equal(hp3_trace_answers(rig.e, answers, &missing), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(a_few_traces_tell_all_ports),
		RIG_TEST(with_ipv6_too),
		RIG_TEST(rule_01_a_trace_bears_an_old_psn),
		RIG_TEST(rule_02_only_where_an_hp3d_answers),
		RIG_TEST(the_rate_is_kept),
		RIG_TEST(no_linear_map_no_prediction),
		RIG_TEST(ports_in_use_are_traced),
		RIG_TEST(a_pair_behind_the_same_switch_is_a_shift),
		RIG_TEST(where_nothing_names_a_path_the_port_is_the_path),
		RIG_TEST(traces_that_are_never_told_of),
		RIG_TEST(an_answer_that_nobody_asked_for),
		RIG_TEST(routes_change),
		RIG_TEST(a_single_lie_is_not_believed),
		RIG_TEST(a_failed_path_brings_the_check_forward),
		RIG_TEST(rule_18_paths_are_keyed_by_the_qpn),
		RIG_TEST(other_queue_pairs_draw_the_same_where_it_is_not_hashed),
		RIG_TEST(a_pair_that_is_gone_is_forgotten),
		RIG_TEST(more_kinds_of_maps_than_there_is_room_for),
		RIG_TEST(names_are_the_same_on_every_host),
		RIG_TEST(names_that_peers_tell_of_find_room),
		RIG_TEST(counts_follow_what_is_learnt),
		RIG_TEST(placed_by_counts_told_in_parts),
		RIG_TEST(the_peer_is_told_of_our_flows),
		RIG_TEST(what_comes_in_is_told_by_name),
		RIG_TEST(ports_that_an_operator_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
