/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The path table as its header states it: identity, estimates, states and their evidence. What is
 * chosen from it: test_choice.c.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>
#include "ppp/paths.h"

#define SEED 0x9a7b5u
#define US   1000ull
#define MS   1000000ull

static const struct hp3_paths_params params = {
	.fresh_ns = 100 * MS,
	.recheck_ns = 1000 * MS,
	.retry_ns = 50 * MS,
	.window_ns = MS,
	.rtt_factor = 200,
	.ecn_fraction = 50,
	.losses = 3,
	.equal = 20,
};

static struct hp3_paths table;
static struct hp3_traces traces;

static int setup(void **state)
{
	hp3_paths_init(&table, &params, SEED);
	return 0;
}

static int entry(uint16_t port, uint64_t now)
{
	int i = hp3_paths_get(&table, port, 0, now);

	assert_true(i >= 0);
	return i;
}

static void reply(uint16_t port, uint32_t rtt, bool marked, uint64_t now)
{
	hp3_paths_reply(&table, entry(port, now), rtt, marked, now);
}

static enum hp3_quality quality(uint16_t port, uint64_t now)
{
	return hp3_paths_quality(&table, entry(port, now), now);
}

/* Makes `port` fail: three losses in separate windows while 0xc000 answers. Returns when. */
static uint64_t break_path(uint16_t port, uint64_t now)
{
	for (unsigned i = 0; i < params.losses; i++) {
		now += params.window_ns;
		hp3_paths_lost(&table, entry(port, now), now);
		reply(0xc000, 10 * US, false, now + 1);
	}
	now += params.window_ns;
	hp3_paths_lost(&table, entry(port, now), now);
	return now;
}

static void unknown_until_a_reply_and_after_fresh_ns(void **state)
{
	assert_int_equal(quality(0xc001, MS), HP3_QUALITY_UNKNOWN);
	reply(0xc001, 10 * US, false, MS);
	assert_int_equal(quality(0xc001, MS), HP3_QUALITY_GOOD);
	assert_int_equal(quality(0xc001, MS + params.fresh_ns), HP3_QUALITY_GOOD);
	assert_int_equal(quality(0xc001, MS + params.fresh_ns + 1), HP3_QUALITY_UNKNOWN);
	/* Stale estimates are not smoothed into new ones. */
	reply(0xc001, 90 * US, false, MS + params.fresh_ns + 2);
	assert_int_equal(table.path[entry(0xc001, 0)].rtt, 90 * US);
}

static void congested_by_marks_or_by_rtt(void **state)
{
	reply(0xc001, 10 * US, false, MS);
	reply(0xc002, 19 * US, false, MS);
	reply(0xc003, 20 * US, false, MS); /* twice the least RTT of any path */
	reply(0xc004, 10 * US, true, MS);
	assert_int_equal(quality(0xc001, MS), HP3_QUALITY_GOOD);
	assert_int_equal(quality(0xc002, MS), HP3_QUALITY_GOOD);
	assert_int_equal(quality(0xc003, MS), HP3_QUALITY_CONGESTED);
	assert_int_equal(quality(0xc004, MS), HP3_QUALITY_CONGESTED);
	/* Clean data replies, most of them not timed, make it good again; marked ones bad. */
	for (unsigned i = 0; i < 6; i++)
		reply(0xc004, 0, false, MS + i);
	assert_int_equal(quality(0xc004, 2 * MS), HP3_QUALITY_GOOD);
	for (unsigned i = 0; i < 6; i++)
		reply(0xc001, 0, true, MS + i);
	assert_int_equal(quality(0xc001, 2 * MS), HP3_QUALITY_CONGESTED);
	assert_int_equal(table.path[entry(0xc001, MS)].rtt, 10 * US);
}

static void every_mark_reaches_full_share(void **state)
{
	for (unsigned i = 0; i < 200; i++)
		reply(0xc001, 10 * US, i > 0, MS + i);
	struct hp3_paths_params all = params;
	all.ecn_fraction = 100;
	table.params = &all;
	assert_int_equal(quality(0xc001, 2 * MS), HP3_QUALITY_CONGESTED);
	for (unsigned i = 0; i < 200; i++)
		reply(0xc001, 10 * US, false, 2 * MS + i);
	all.ecn_fraction = 1;
	assert_int_equal(quality(0xc001, 3 * MS), HP3_QUALITY_GOOD);
	table.params = &params;
}

/* Rule 13: three losses, in separate windows, and others answered meanwhile. */
static void failed_only_on_evidence(void **state)
{
	uint64_t now = MS;

	/* Three in one window count once. */
	reply(0xc000, 10 * US, false, now);
	for (unsigned i = 0; i < 20; i++) {
		assert_false(hp3_paths_lost(&table, entry(0xc001, now), now + i));
		reply(0xc000, 10 * US, false, now + i);
	}
	/* Nobody else answers: the peer may be gone. */
	setup(state);
	reply(0xc000, 10 * US, false, now);
	for (unsigned i = 1; i < 20; i++)
		assert_false(hp3_paths_lost(&table, entry(0xc001, now), now + i * MS));
	/* Two, then a reply: starts anew. */
	setup(state);
	for (unsigned i = 1; i < 20; i++) {
		now += MS;
		assert_false(hp3_paths_lost(&table, entry(0xc001, now), now));
		reply(0xc000, 10 * US, false, now + 1);
		if (i % 2 == 0)
			reply(0xc001, 10 * US, false, now + 2);
	}
	/* A path with a fresh loss is not called good. */
	assert_int_equal(quality(0xc001, now), HP3_QUALITY_UNKNOWN);
	/* All of it. */
	now = break_path(0xc002, now);
	assert_int_equal(quality(0xc002, now), HP3_QUALITY_FAILED);
}

static void failure_ends_at_retry_time_or_with_a_reply(void **state)
{
	uint64_t now, at;
	unsigned steps = 0;

	now = break_path(0xc001, MS);
	at = table.path[entry(0xc001, now)].retry_at;
	assert_in_range(at, now, now + params.retry_ns);
	assert_int_equal(quality(0xc001, at - 1), HP3_QUALITY_FAILED);
	assert_int_equal(quality(0xc001, at), HP3_QUALITY_UNKNOWN);
	/* Each relapse doubles the time, up to 64 x: one loss is enough now. */
	for (uint64_t wait = 2 * params.retry_ns; steps < 10; steps++) {
		now = at;
		reply(0xc000, 10 * US, false, now);
		assert_true(hp3_paths_lost(&table, entry(0xc001, now), now));
		at = table.path[entry(0xc001, now)].retry_at;
		assert_int_equal(at - now, wait);
		if (wait < 64 * params.retry_ns)
			wait *= 2;
	}
	reply(0xc001, 10 * US, false, now + 1);
	assert_int_equal(quality(0xc001, now + 1), HP3_QUALITY_GOOD);
	/* A relapse soon after is remembered as one; after a long good time it is not. */
	now = break_path(0xc001, now + MS);
	assert_true(table.path[entry(0xc001, now)].retry_at > now + 60 * params.retry_ns);
	now += 100 * params.retry_ns;
	reply(0xc001, 10 * US, false, now);
	now = break_path(0xc001, now + MS);
	assert_true(table.path[entry(0xc001, now)].retry_at <= now + params.retry_ns);
}

/* Identity by trace: ports that draw one path share one entry, whenever that becomes known. */
static void traced_ports_share_a_path(void **state)
{
	int a, b;

	hp3_paths_identity_trace(&table, &traces);
	assert_int_equal(hp3_paths_id(&table, 0xc001, 0), HP3_PATH_BY_PORT | 0xc001);
	a = hp3_paths_enter(&table, 0xc001, 0, MS);
	b = hp3_paths_enter(&table, 0xc002, 0, MS);
	hp3_paths_reply(&table, a, 30 * US, false, MS);
	hp3_paths_reply(&table, b, 10 * US, true, 2 * MS);
	assert_true(hp3_paths_trace_due(&table, 0xc001, 0, MS));
	assert_false(hp3_paths_traced(&table, 0xc001, 0, 7, MS));
	assert_false(hp3_paths_traced(&table, 0xc002, 0, 7, MS));
	assert_false(hp3_paths_traced(&table, 0xc003, 0, 7, MS));
	assert_false(hp3_paths_trace_due(&table, 0xc001, 0, MS + params.recheck_ns));
	assert_true(hp3_paths_trace_due(&table, 0xc001, 0, MS + params.recheck_ns + 1));

	/* One path, two flows on it; the newer news count, the least RTT of both. */
	assert_int_equal(entry(0xc001, MS), entry(0xc003, MS));
	assert_int_equal(hp3_paths_flows(&table, 0xc003, 0), 2);
	assert_int_equal(quality(0xc003, 2 * MS), HP3_QUALITY_CONGESTED);
	assert_int_equal(table.path[entry(0xc003, MS)].min_rtt, 10 * US);
	/* Both indices still stand for it, whoever leaves first. */
	for (unsigned i = 0; i < 12; i++)
		hp3_paths_reply(&table, b, 10 * US, false, 3 * MS);
	assert_int_equal(quality(0xc001, 3 * MS), HP3_QUALITY_GOOD);
	hp3_paths_leave(&table, b);
	assert_int_equal(hp3_paths_flows(&table, 0xc001, 0), 1);
	hp3_paths_leave(&table, a);
	assert_int_equal(hp3_paths_flows(&table, 0xc001, 0), 0);
	assert_int_equal(quality(0xc002, 3 * MS), HP3_QUALITY_GOOD);
}

/* A failure seen before the path was known fails the path, not only the port. */
static void a_failed_port_fails_its_path(void **state)
{
	unsigned used = 0;
	uint64_t now;

	hp3_paths_identity_trace(&table, &traces);
	reply(0xc002, 15 * US, false, MS); /* good, by another port */
	now = break_path(0xc001, 2 * MS);
	hp3_paths_traced(&table, 0xc002, 0, 7, now);
	assert_int_equal(quality(0xc002, now), HP3_QUALITY_GOOD);
	hp3_paths_traced(&table, 0xc001, 0, 7, now);
	hp3_paths_traced(&table, 0xc003, 0, 7, now);
	assert_int_equal(quality(0xc002, now), HP3_QUALITY_FAILED);
	assert_int_equal(quality(0xc003, now), HP3_QUALITY_FAILED);
	/* One entry is left of the two; 0xc000 has the other. */
	for (unsigned i = 0; i < HP3_PATHS; i++)
		used += table.path[i].id != HP3_PATH_NONE;
	assert_int_equal(used, 2);
	/* A reply that came after the losses wins. */
	reply(0xc004, 15 * US, false, now + 1);
	hp3_paths_traced(&table, 0xc004, 0, 7, now + 1);
	assert_int_equal(quality(0xc001, now + 1), HP3_QUALITY_GOOD);
}

static void a_changed_trace_voids_what_was_learnt(void **state)
{
	int a;

	hp3_paths_identity_trace(&table, &traces);
	a = hp3_paths_enter(&table, 0xc001, 0, MS);
	hp3_paths_traced(&table, 0xc001, 0, 7, MS);
	hp3_paths_traced(&table, 0xc002, 0, 8, MS);
	reply(0xc001, 10 * US, false, MS);
	reply(0xc002, 10 * US, false, MS);
	assert_false(hp3_paths_traced(&table, 0xc001, 0, 7, 2 * MS));
	assert_true(hp3_paths_traced(&table, 0xc001, 0, 9, 3 * MS));
	assert_int_equal(hp3_paths_id(&table, 0xc001, 0), 9);
	assert_int_equal(hp3_paths_id(&table, 0xc002, 0), HP3_PATH_BY_PORT | 0xc002);
	assert_int_equal(quality(0xc001, 3 * MS), HP3_QUALITY_UNKNOWN);
	assert_int_equal(quality(0xc002, 3 * MS), HP3_QUALITY_UNKNOWN);
	assert_int_equal(hp3_paths_flows(&table, 0xc001, 0), 1);
	hp3_paths_leave(&table, a);
	assert_int_equal(hp3_paths_flows(&table, 0xc001, 0), 0);
}

/* The cache of traces is bounded; ports in the table keep their path beyond it. */
static void more_ports_than_the_trace_cache_holds(void **state)
{
	hp3_paths_identity_trace(&table, &traces);
	hp3_paths_enter(&table, 0xc000, 0, MS);
	for (uint16_t i = 0; i < 3 * HP3_TRACES; i++)
		assert_false(hp3_paths_traced(&table, 0xc000 + i, 0, i % 8, MS + i));
	assert_true(hp3_paths_trace_due(&table, 0xc000, 0, MS));
	assert_int_equal(hp3_paths_id(&table, 0xc000, 0), 0);
	assert_int_equal(hp3_paths_id(&table, 0xc001, 0), HP3_PATH_BY_PORT | 0xc001);
	for (uint16_t i = 2 * HP3_TRACES; i < 3 * HP3_TRACES; i++)
		assert_int_equal(hp3_paths_id(&table, 0xc000 + i, 0), i % 8);
	/* The next trace of a port that only the table remembers still shows a route change. */
	assert_true(hp3_paths_traced(&table, 0xc000, 0, 5, 2 * MS));
}

/* Rule 18: what one QPN learnt of a port says nothing to another one. */
static void rule_18_ports_are_told_apart_by_qpn_once_it_is_hashed(void **state)
{
	int before = hp3_paths_enter(&table, 0xc001, 11, MS), a, b;

	assert_int_equal(before, hp3_paths_get(&table, 0xc001, 22, MS));
	hp3_paths_reply(&table, before, 10 * US, false, MS);
	hp3_paths_by_qpn(&table);
	a = hp3_paths_get(&table, 0xc001, 11, MS);
	b = hp3_paths_get(&table, 0xc001, 22, MS);
	assert_true(a != b && a != before && b != before);
	hp3_paths_reply(&table, b, 10 * US, true, MS);
	assert_int_equal(hp3_paths_quality(&table, a, MS), HP3_QUALITY_UNKNOWN);
	assert_int_equal(hp3_paths_quality(&table, b, MS), HP3_QUALITY_CONGESTED);
	hp3_paths_leave(&table, before);
	assert_int_equal(table.path[before].id, HP3_PATH_NONE);
}

/* A model is used only once it is believed; then all ports have a path at once. */
static void models_must_be_believed(void **state)
{
	const struct hp3_stage stage = {.hash = {.kind = HP3_HASH_CRC32, .paths = 8, .seed = 3}};
	struct hp3_tuple t = {.src = {10, 0, 0, 1}, .dst = {10, 0, 0, 2}, .dport = 4791};
	struct hp3_linear linear;
	struct hp3_model model;
	uint64_t rng = SEED;
	uint32_t paths = 0;
	int flow;

	hp3_model_init(&model, &stage, 1);
	hp3_linear_init(&linear, HP3_LABELS_INDEX, 8, SEED);
	assert_int_equal(hp3_paths_identity_model(&table, &model, &t), -EAGAIN);
	assert_int_equal(hp3_paths_identity_linear(&table, &linear, 0), -EAGAIN);
	flow = hp3_paths_enter(&table, 0xc123, 0, MS);
	while (!hp3_model_believed(&model)) {
		t.sport = hp3_rand_port(&rng);
		hp3_model_trace(&model, &t, hp3_model_path(&model, &t));
	}
	while (linear.state != HP3_LINEAR_BELIEVED) {
		t.sport = hp3_linear_next(&linear);
		hp3_linear_add(&linear, t.sport, hp3_hash_hop(&stage.hash, &t));
	}
	for (unsigned kind = 0; kind < 2; kind++) {
		assert_int_equal(kind ? hp3_paths_identity_linear(&table, &linear, 0)
				      : hp3_paths_identity_model(&table, &model, &t),
			0);
		for (uint32_t port = HP3_PORT_FIRST; port < 65536; port++) {
			t.sport = (uint16_t)port;
			assert_int_equal(hp3_paths_id(&table, (uint16_t)port, 0),
				hp3_hash_hop(&stage.hash, &t));
			paths |= 1u << hp3_paths_id(&table, (uint16_t)port, 0);
		}
		assert_int_equal(paths, 0xff);
		assert_int_equal(hp3_paths_flows(&table, 0xc123, 0), 1);
		assert_int_equal(entry(0xc123, MS), flow);
	}
	hp3_paths_identity_none(&table);
	assert_int_equal(hp3_paths_id(&table, 0xc123, 0), HP3_PATH_BY_PORT | 0xc123);
	assert_int_equal(entry(0xc123, MS), flow);
}

/* The oldest news make room; flows never, failures only when they fill half of the table. */
static void what_makes_room(void **state)
{
	int flow[HP3_PATHS];
	uint64_t now = MS;

	reply(0xc000, 10 * US, false, MS);
	for (uint16_t i = 1; i < HP3_PATHS; i++)
		reply(0xc000 + i, 10 * US, false, MS + (i == 5 ? 0 : i));
	int oldest = entry(0xc000, MS);
	hp3_paths_reply(&table, oldest, 10 * US, false, 2 * MS);
	int next = entry(0xc005, MS);
	assert_int_equal(entry(0xd000, 2 * MS), next);

	setup(state);
	for (uint16_t i = 1; i <= 200; i++)
		now = break_path(0xc000 + i, now);
	unsigned failed = 0;
	for (unsigned i = 0; i < HP3_PATHS; i++)
		failed += hp3_paths_quality(&table, (int)i, now) == HP3_QUALITY_FAILED;
	assert_in_range(failed, HP3_PATHS / 4, HP3_PATHS / 2 + 1);

	setup(state);
	for (uint16_t i = 0; i < HP3_PATHS; i++)
		flow[i] = hp3_paths_enter(&table, 0xc000 + i, 0, now);
	assert_int_equal(hp3_paths_enter(&table, 0xd000, 0, now), -ENOSPC);
	assert_int_equal(hp3_paths_enter(&table, 0xc000, 0, now), flow[0]);
	hp3_paths_leave(&table, -ENOSPC);
	hp3_paths_leave(&table, flow[7]);
	assert_int_equal(hp3_paths_enter(&table, 0xd000, 0, now), flow[7]);
	assert_int_equal(hp3_paths_flows(&table, 0xc000, 0), 2);
}

/*
 * Flows per path stay exact through traces, evictions, losses; through route changes and other
 * providers, if the flows are entered anew then.
 */
enum { FLOWS = 40 };
static struct {
	uint16_t port;
	int index;
} flow[FLOWS];
static unsigned flows;

static void enter_anew(uint64_t now)
{
	unsigned n = flows;

	for (unsigned i = 0; i < n; i++)
		hp3_paths_leave(&table, flow[i].index);
	for (unsigned i = flows = 0; i < n; i++) {
		int e = hp3_paths_enter(&table, flow[i].port, 0, now);

		if (e >= 0) {
			flow[flows].port = flow[i].port;
			flow[flows++].index = e;
		}
	}
}

static void assert_counts(unsigned of)
{
	unsigned counted = 0, same = 0;

	for (unsigned p = 0; p < HP3_PATHS; p++) {
		counted += table.path[p].flows;
		assert_true(table.path[p].id != HP3_PATH_NONE || !table.path[p].flows);
	}
	assert_int_equal(counted, flows);
	if (!flows)
		return;
	for (unsigned i = 0; i < flows; i++) {
		same += hp3_paths_id(&table, flow[i].port, 0) ==
			hp3_paths_id(&table, flow[of].port, 0);
	}
	assert_int_equal(hp3_paths_flows(&table, flow[of].port, 0), same);
}

static void flow_counts_are_exact(void **state)
{
	uint64_t rng = SEED, now = MS;
	unsigned changes = 0, full = 0;

	hp3_paths_identity_trace(&table, &traces);
	for (unsigned step = 0; step < 100000; step++, now += MS) {
		uint16_t port = (uint16_t)(0xc000 + hp3_rand_below(&rng, 60));
		unsigned i = flows ? hp3_rand_below(&rng, flows) : 0;
		int e;

		switch (hp3_rand_below(&rng, 8)) {
		case 0:
		case 1:
			e = flows < FLOWS ? hp3_paths_enter(&table, port, 0, now) : -ENOSPC;
			full += flows < FLOWS && e < 0;
			if (e >= 0) {
				flow[flows].port = port;
				flow[flows++].index = e;
			}
			break;
		case 2:
			if (flows) {
				hp3_paths_leave(&table, flow[i].index);
				flow[i] = flow[--flows];
			}
			break;
		case 3:
			if (flows)
				hp3_paths_reply(&table, flow[i].index, 10 * US, step & 1, now);
			break;
		case 4:
			e = hp3_paths_get(&table, port, 0, now);
			if (e >= 0)
				hp3_paths_lost(&table, e, now);
			break;
		case 5:
		case 6:
			if (table.identity == HP3_IDENTITY_TRACE) {
				uint32_t id = port % 7u + (hp3_rand_below(&rng, 500) == 0);

				if (hp3_paths_traced(&table, port, 0, id, now)) {
					enter_anew(now);
					changes++;
				}
			}
			break;
		default:
			if (hp3_rand_below(&rng, 100) < 2) {
				if (table.identity == HP3_IDENTITY_TRACE)
					hp3_paths_identity_none(&table);
				else
					hp3_paths_identity_trace(&table, &traces);
				enter_anew(now);
			}
		}
		assert_counts(flows ? hp3_rand_below(&rng, flows) : 0);
	}
	assert_true(changes > 20 && full > 0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup(f, setup)
	const struct CMUnitTest tests[] = {
		T(unknown_until_a_reply_and_after_fresh_ns),
		T(congested_by_marks_or_by_rtt),
		T(every_mark_reaches_full_share),
		T(failed_only_on_evidence),
		T(failure_ends_at_retry_time_or_with_a_reply),
		T(traced_ports_share_a_path),
		T(a_failed_port_fails_its_path),
		T(a_changed_trace_voids_what_was_learnt),
		T(more_ports_than_the_trace_cache_holds),
		T(rule_18_ports_are_told_apart_by_qpn_once_it_is_hashed),
		T(models_must_be_believed),
		T(what_makes_room),
		T(flow_counts_are_exact),
	};

	print_message("seed %#x\n", SEED);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
