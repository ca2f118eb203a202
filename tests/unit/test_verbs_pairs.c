/* SPDX-License-Identifier: BSD-3-Clause */
/* Verbs mode: the address pairs of applications' queue pairs, with an engine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "app/hp3d/verbs/internal.h"
#include "base/random.h"
#include "engine/policy.h"

#define FLOWS  256u
#define PAIRS  64u
#define SECOND 1000000000ull

struct hp3d_pipe {
	struct hp3_engine *e;
	struct hp3_acts acts;
};

static struct hp3d_pipe pipe_of_all;
static struct hp3d_verbs_mode *b;
static uint64_t now;
static uint64_t late; /* since hp3d read the time */
static unsigned reports; /* hp3d_pipe_actuated() */
static unsigned meetings, ended; /* hp3d_ud_meet(), hp3d_ud_pair_ended() */

/* --- what hp3d's pipe is here: the engine --- */

struct hp3_engine *hp3d_pipe_engine(struct hp3d_pipe *p)
{
	return p->e;
}

int hp3d_pipe_qp(struct hp3d_pipe *p, const struct hp3_qp_event *event, uint64_t t)
{
	p->acts.n = 0;
	return hp3_qp(p->e, event, t, &p->acts);
}

int hp3d_pipe_completions(
	struct hp3d_pipe *p, uint32_t flow, const struct hp3_completions *felt, uint64_t t)
{
	p->acts.n = 0;
	return hp3_completions(p->e, flow, felt, t, &p->acts);
}

int hp3d_pipe_actuated(struct hp3d_pipe *p, uint32_t flow, struct hp3_actuated what, uint64_t t)
{
	reports++;
	p->acts.n = 0;
	return hp3_actuator(p->e, flow, what, t, &p->acts);
}

int hp3d_pipe_command(struct hp3d_pipe *p, const struct hp3_cmd *cmd, uint64_t t)
{
	p->acts.n = 0;
	return hp3_command(p->e, cmd, t, &p->acts);
}

void hp3d_pipe_place(struct hp3d_pipe *p, uint32_t flow, uint64_t t)
{
}

void hp3d_ud_meet(struct hp3d_ud *u, const struct hp3_ends *ends, uint8_t tclass, uint64_t t)
{
	meetings++;
}

void hp3d_ud_pair_ended(struct hp3d_ud *u, const struct hp3_ends *ends)
{
	ended++;
}

uint32_t hp3d_ud_ports(
	struct hp3d_ud *u, bool ipv6, const uint8_t *local, const uint16_t **ports, uint64_t t)
{
	*ports = NULL;
	return 0;
}

static uint64_t read_clock(void)
{
	return now + late;
}

/* --- applications --- */

static int setup(void **state)
{
	struct hp3_engine_config cfg;
	size_t size;

	b = calloc(1, sizeof(*b));
	hp3_policy_defaults(&cfg);
	cfg.max_flows = FLOWS;
	cfg.max_pairs = PAIRS;
	cfg.max_moves = 4;
	cfg.verbs = true;
	cfg.spray.mode = HP3_SPRAY_MOVE; /* as in app/hp3d/pipe/setup.c */
	cfg = hp3_policy_settled(&cfg);
	size = hp3_engine_size(&cfg);
	pipe_of_all.e = hp3_engine_create(aligned_alloc(64, (size + 63) / 64 * 64), size, &cfg);
	b->pipe = &pipe_of_all;
	b->clock = read_clock;
	b->max_flows = FLOWS;
	b->max_pairs = PAIRS;
	b->owners = calloc(FLOWS, sizeof(*b->owners));
	b->pairs = calloc(PAIRS, sizeof(*b->pairs));
	for (unsigned i = 0; i < HP3D_VERBS_SHIMS; i++)
		b->shims[i].fd = b->shims[i].bell = -1;
	now = 1000 * SECOND;
	meetings = ended = reports = 0;
	late = 0;
	return pipe_of_all.e != NULL && hp3d_claims_open(&b->claims, FLOWS, 7) == 0
		       ? hp3d_pair_users_open(&b->pair_users, FLOWS, 7)
		       : -1;
}

static void leave(unsigned shim)
{
	struct hp3d_verbs_shim *s = &b->shims[shim];

	hp3d_verbs_forget(b, shim, now);
	free(s->cells);
	free(s->known);
	*s = (struct hp3d_verbs_shim){.fd = -1, .bell = -1};
}

static int teardown(void **state)
{
	for (unsigned i = 0; i < HP3D_VERBS_SHIMS; i++)
		if (b->shims[i].fd >= 0)
			leave(i);
	hp3d_counts_close(&b->claims.table);
	free(b->owners);
	hp3d_counts_close(&b->pair_users.qps);
	free(b->pairs);
	free(b);
	free(pipe_of_all.e);
	return 0;
}

static void come(unsigned shim, uid_t uid)
{
	struct hp3d_verbs_shim *s = &b->shims[shim];

	s->fd = 1000;
	s->uid = uid;
	s->cells = calloc(HP3_VERBS_CELLS, sizeof(*s->cells));
	s->known = calloc(HP3_VERBS_CELLS, sizeof(*s->known));
	for (uint32_t i = 0; i < HP3_VERBS_CELLS; i++)
		s->known[i].flow = HP3_NO_FLOW;
}

/* A queue pair with host `remote`. */
static void announce(unsigned shim, uint32_t cell, uint8_t remote)
{
	static uint32_t qpns;
	struct hp3_verbs_cell *c = &b->shims[shim].cells[cell];

	qpns++;
	*c = (struct hp3_verbs_cell){.generation = qpns,
		.qpn = qpns & HP3_QPN_MASK,
		.dest_qpn = qpns & HP3_QPN_MASK,
		.state = HP3_VERBS_RTS,
		.method = HP3_VERBS_SQD};
	memcpy(c->sgid, (uint8_t[16]){[10] = 0xff, 0xff, 10, 9, 0, 1}, 16);
	memcpy(c->dgid, (uint8_t[16]){[10] = 0xff, 0xff, 10, 9, 1, remote}, 16);
}

static void scan(unsigned shim)
{
	do
		hp3d_verbs_scan(b, shim, now);
	while (b->shims[shim].rung);
}

/* Once a minute, while there are queue pairs: hp3d may have given up a host in its tables. */
static void hosts_meet_again(void **state)
{
	b->ud = (struct hp3d_ud *)b;
	come(0, 0);
	for (uint32_t i = 0; i < 4; i++)
		announce(0, i, (uint8_t)(1 + i % 2));
	scan(0);
	assert_int_equal(meetings, 4);
	for (unsigned minute = 1; minute <= 10; minute++) {
		now += 60 * SECOND - 1;
		hp3d_verbs_sample(b, 0, now);
		assert_int_equal(meetings, 4 + 2 * (minute - 1));
		now++;
		hp3d_verbs_sample(b, 0, now);
		hp3d_verbs_sample(b, 0, now);
		assert_int_equal(meetings, 4 + 2 * minute); /* once for two queue pairs */
	}
}

/* Two users have two queue pairs each with one host: it makes room when the last one has ended. */
static void a_pair_ends_with_its_last_queue_pair(void **state)
{
	b->ud = (struct hp3d_ud *)b;
	for (unsigned shim = 0; shim < 2; shim++) {
		come(shim, 1000 * (shim + 1));
		announce(shim, 0, 1);
		announce(shim, 1, 1);
		scan(shim);
	}
	leave(0);
	b->shims[1].cells[0].state = HP3_VERBS_FREE;
	scan(1);
	assert_int_equal(ended, 0);
	announce(1, 1, 2); /* with another host */
	scan(1);
	assert_int_equal(ended, 1);
	leave(1);
	assert_int_equal(ended, 2);
}

/* hp3d was descheduled while it handled an event: its time is too old for the peer's hold. */
static void drains_are_reported_in_time(void **state)
{
	struct hp3_act suspend = {.kind = HP3_ACT_SUSPEND, .op = HP3_SUSPEND_PEER_HELD, .count = 5};
	struct hp3_verbs_cell *c;

	come(0, 0);
	announce(0, 0, 1);
	scan(0);
	c = &b->shims[0].cells[0];
	suspend.flow = b->shims[0].known[0].flow;
	hp3d_verbs_act(b, &suspend);
	assert_int_equal(hp3_verbs_unpack_code(c->want), HP3_VERBS_SUSPEND_HELD);
	c->did = hp3_verbs_pack(c->generation, hp3_verbs_unpack_seq(c->want), HP3_VERBS_DRAINED, 0);
	late = 5 * SECOND / 1000 + 1;
	hp3d_verbs_check_reports(b, 0, now);
	assert_int_equal(reports, 0);
	now++;
	late--;
	hp3d_verbs_sample(b, 0, now);
	assert_int_equal(reports, 1);
}

#define SHARE (PAIRS * 7 / 12 + 1)

/* Announces queue pairs with hosts from `remote` on, in cells from `cell` on; how many hp3d takes
 * before it refuses one. */
static uint32_t fill(unsigned shim, uint32_t cell, uint8_t remote)
{
	uint64_t refused = b->c.refused_share;

	for (uint32_t i = 0;; i++) {
		assert_true(i <= PAIRS);
		announce(shim, cell + i, (uint8_t)(remote + i));
		scan(shim);
		if (b->c.refused_share != refused)
			return i;
	}
}

static void join(unsigned shim, uint8_t remote, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		announce(shim, i, (uint8_t)(remote + i));
	scan(shim);
	assert_int_equal(b->shims[shim].n_active, n);
}

/* Each of two takes over the address pairs of the other, which connects anew. */
static void a_user_with_two_applications(void **state)
{
	uint32_t n;

	come(0, 1000);
	come(1, 1000);
	n = fill(0, 0, 1);
	assert_in_range(n, SHARE - 1, SHARE);
	join(1, 1, n);
	for (unsigned round = 0; round < 6; round++) {
		leave(round % 2);
		come(round % 2, 1000);
		assert_int_equal(fill(round % 2, HP3_VERBS_CELLS / 2, (uint8_t)(100 + round)), 0);
		join(round % 2, 1, n);
	}
	assert_int_equal(hp3_engine_pairs(pipe_of_all.e), n);
}

/* Another user has the address pairs that the first one had: it is that user's share from then on,
 * and the first one has all of its own. */
static void a_pair_is_of_who_uses_it(void **state)
{
	uint32_t n, more;

	come(0, 1000);
	come(1, 2000);
	come(2, 3000);
	n = fill(0, 0, 1);
	join(1, 1, n);
	leave(0);
	assert_int_equal(fill(1, HP3_VERBS_CELLS / 2, 100), 0);
	come(0, 1000);
	more = fill(0, 0, 150);
	assert_true(more > 8); /* of those that are free as much as anybody */
	leave(0);
	assert_int_equal(fill(2, 0, 200), more);
}

/* All of it, whatever came before. */
static void who_ends_its_queue_pairs_has_its_share_again(void **state)
{
	uint32_t n;

	come(0, 1000);
	come(1, 2000);
	n = fill(0, 0, 1);
	join(1, 1, n);
	for (uint32_t i = 0; i < HP3_VERBS_CELLS; i++)
		b->shims[0].cells[i].state = HP3_VERBS_FREE;
	scan(0);
	assert_int_equal(b->shims[0].n_active, 0);
	assert_true(fill(0, 0, 100) > 8);
}

/* Any order of queue pairs that come and go: the table has what a plain list has. */
static void as_a_plain_list_has_them(void **state)
{
	uint32_t qps[PAIRS][6] = {0}, pairs[6] = {0}, all = 0;
	struct hp3d_pair_users p;
	uint64_t rng = 1;

	assert_int_equal(hp3d_pair_users_open(&p, FLOWS, 7), 0);
	for (unsigned i = 0; i < 200000; i++) {
		uint32_t pair = (uint32_t)hp3_random_below(&rng, PAIRS);
		uid_t uid = (uid_t)hp3_random_below(&rng, 6);
		uint32_t *n = &qps[pair][uid];

		if (all < FLOWS && hp3_random_below(&rng, 2)) {
			hp3d_pair_users_add(&p, pair, uid);
			pairs[uid] += (*n)++ == 0;
			all++;
		} else if (*n != 0) {
			hp3d_pair_users_drop(&p, pair, uid);
			pairs[uid] -= --*n == 0;
			all--;
		}
		for (uid = 0; uid < 6; uid++)
			assert_int_equal(hp3d_pair_users_count(&p, uid), pairs[uid]);
	}
	hp3d_counts_close(&p.qps);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(drains_are_reported_in_time),
		TEST(hosts_meet_again),
		TEST(a_pair_ends_with_its_last_queue_pair),
		TEST(as_a_plain_list_has_them),
		TEST(a_user_with_two_applications),
		TEST(a_pair_is_of_who_uses_it),
		TEST(who_ends_its_queue_pairs_has_its_share_again),
	};

	return cmocka_run_group_tests_name("verbs_pairs", tests, NULL, NULL);
}
