/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two workers: with a NIC that spreads packets (the test acts as the NIC: correct, or all packets
 * in one queue), without one, or with the whole rail on one worker. Flows keep their order and stay
 * on the worker of their addresses, in both directions.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <time.h>
#include <rte_launch.h>
#include "app/hp3d/lcores/eal.h"
#include "app/hp3d/pipe/pipe.h"
#include "lcores_traffic.h"

static void all_out(struct ring_rail *r, enum hp3_dir dir, uint32_t next[LCORES_FLOWS])
{
	uint64_t start = hp3d_now();

	for (uint32_t i = 0; i < LCORES_FLOWS; i++) {
		while (next[i] < LCORES_EACH) {
			struct timespec ts = {.tv_nsec = 1000000};

			assert_true(hp3d_now() - start < LCORES_PATIENT);
			nanosleep(&ts, NULL);
			lcores_collect(r, dir, next);
		}
		assert_int_equal(next[i], LCORES_EACH);
	}
}

static void no_poll(int timeout_ms)
{
}

struct layout {
	const char *name;
	unsigned queues;
	bool aside; /* the NIC puts all into one queue */
	bool whole;
};

static void spread_over_two(const struct layout *l)
{
	static struct ring_rail r;
	uint32_t sent[LCORES_FLOWS] = {0}, acked[LCORES_FLOWS] = {0}, flows[2] = {0};
	uint64_t handed = 0;

	lcores_begin(&r, l->name, l->queues, l->whole);
	for (unsigned w = 0; w < 2; w++)
		rte_eal_remote_launch(
			hp3d_worker_run, hp3d_worker(w), hp3d_lcores.workers[w].lcore);
	for (uint32_t n = 0; n < LCORES_EACH; n++)
		lcores_feed(&r, HP3_DIR_TX, n, l->aside);
	all_out(&r, HP3_DIR_TX, sent);
	for (uint32_t n = 0; n < LCORES_EACH; n++)
		lcores_feed(&r, HP3_DIR_RX, n, l->aside);
	all_out(&r, HP3_DIR_RX, acked);
	hp3d_workers_stop(&lcores_cfg, no_poll);
	for (uint32_t i = 0; i < LCORES_FLOWS; i++)
		flows[lcores_owner_of(i)]++;
	for (unsigned w = 0; w < 2; w++) {
		struct hp3d_pipe *p = hp3d_worker_pipe(hp3d_worker(w), 0);
		const struct hp3_stats *s = hp3_engine_stats(hp3d_pipe_engine(p));

		assert_true(l->whole ? flows[w] == (w == 0 ? LCORES_FLOWS : 0) : flows[w] > 0);
		assert_int_equal(s->tx_requests, flows[w] * LCORES_EACH);
		assert_int_equal(s->rx_replies, flows[w] * LCORES_EACH);
		assert_int_equal(s->retransmits + s->untracked, 0);
		assert_int_equal(hp3_engine_flows(hp3d_pipe_engine(p)), flows[w]);
		handed += hp3d_pipe_counters(p)->handed_over;
	}
	if (l->queues > 1 || l->whole)
		assert_int_equal(handed, l->aside ? 2 * LCORES_EACH * flows[0] : 0);
	else
		assert_int_equal(handed, LCORES_EACH * LCORES_FLOWS);
	assert_int_equal(hp3d_workers_free(), 0);
}

static void nic_spreads(void **state)
{
	spread_over_two(&(struct layout){"right", 2});
}

static void nic_spreads_wrongly(void **state)
{
	spread_over_two(&(struct layout){"aside", 2, .aside = true});
}

static void software_spreads(void **state)
{
	spread_over_two(&(struct layout){"soft", 1});
}

/* Neither packets nor flows where the other worker is. */
static void one_has_the_rail(void **state)
{
	spread_over_two(&(struct layout){"whole", 1, .whole = true});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nic_spreads),
		cmocka_unit_test(nic_spreads_wrongly),
		cmocka_unit_test(software_spreads),
		cmocka_unit_test(one_has_the_rail),
	};

	return cmocka_run_group_tests(tests, lcores_start, lcores_stop);
}
