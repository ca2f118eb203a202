/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A page only reads: memory of workers, pipes, engines and agents is the same before and after, and
 * the page's values are their counters.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "app/hp3d/lcores/eal.h"
#include "app/hp3d/metrics/page.h"
#include "app/hp3d/metrics/source.h"
#include "app/hp3d/pipe/agent_internal.h"
#include "app/hp3d/pipe/internal.h"
#include "lcores_traffic.h"

struct piece {
	const void *at;
	void *copy;
	size_t n;
};

static struct piece pieces[16];
static unsigned n_pieces;

static void keep(const void *at, size_t n)
{
	struct piece *p = &pieces[n_pieces++];

	assert_in_range(n_pieces, 1, RTE_DIM(pieces));
	*p = (struct piece){at, malloc(n), n};
	assert_non_null(p->copy);
	memcpy(p->copy, at, n);
}

static void keep_all(void)
{
	keep(hp3d_lcores.workers, hp3d_lcores.n * sizeof(*hp3d_lcores.workers));
	for (unsigned w = 0; w < hp3d_lcores.n; w++) {
		const struct hp3d_pipe *p = hp3d_lcores.workers[w].pipes[0];

		keep(p, sizeof(*p));
		keep(p->engine, p->engine_size);
		keep(p->agent, sizeof(*p->agent));
	}
}

static bool all_the_same(void)
{
	bool same = true;

	while (n_pieces > 0) {
		struct piece *p = &pieces[--n_pieces];

		same &= memcmp(p->at, p->copy, p->n) == 0;
		free(p->copy);
	}
	return same;
}

static char *page_of(const struct hp3d_source *from)
{
	struct hp3d_page page;

	assert_true(hp3d_page_begin(&page, true));
	assert_true(hp3d_source_read(&page, from));
	return page.text.at;
}

/* The sum of all samples that begin so. */
static uint64_t total(const char *page, const char *name)
{
	uint64_t sum = 0;

	for (const char *s = page; (s = strstr(s, name)) != NULL; s++)
		if (s == page || s[-1] == '\n')
			sum += strtoull(strchr(s, ' '), NULL, 10);
	return sum;
}

static void a_page_only_reads(void **state)
{
	static struct ring_rail r;
	uint32_t next[2][LCORES_FLOWS] = {0};
	struct hp3d_source from = {.cfg = &lcores_cfg};
	char *page;

	lcores_begin(&r, "metrics", 2, false);
	for (uint32_t n = 0; n < LCORES_EACH; n++) {
		lcores_feed(&r, HP3_DIR_TX, n, false);
		if (n > 0)
			lcores_feed(&r, HP3_DIR_RX, n - 1, false);
		for (unsigned i = 0; i < 8; i++)
			for (unsigned w = 0; w < hp3d_lcores.n; w++)
				hp3d_worker_round(hp3d_worker(w));
		lcores_collect(&r, HP3_DIR_TX, next[0]);
		lcores_collect(&r, HP3_DIR_RX, next[1]);
	}
	keep_all();
	page = page_of(&from);
	assert_true(all_the_same());
	assert_int_equal(total(page, "hp3_packets_total{rail=\"east\",direction=\"tx\"}"),
		LCORES_FLOWS * LCORES_EACH);
	assert_int_equal(total(page, "hp3_packets_total{rail=\"east\",direction=\"rx\"}"),
		LCORES_FLOWS * (LCORES_EACH - 1));
	assert_int_equal(total(page, "hp3_engine_tx_requests_total"), LCORES_FLOWS * LCORES_EACH);
	assert_int_equal(total(page, "hp3_class_packets_total{rail=\"east\",class=\"rc_reply\"}"),
		LCORES_FLOWS * (LCORES_EACH - 1));
	assert_int_equal(total(page, "hp3_flows{"), LCORES_FLOWS);
	assert_int_equal(total(page, "hp3_flows_max{"), 2 * lcores_cfg.engine.max_flows);
	assert_int_equal(total(page, "hp3_pairs{"), LCORES_FLOWS);
	free(page);
	for (unsigned i = 0; i < LCORES_FLOWS; i++)
		assert_true(next[0][i] == LCORES_EACH && next[1][i] == LCORES_EACH - 1);
	assert_int_equal(hp3d_workers_free(), 0);
}

static int start(void **state)
{
	int ret = lcores_start(state);

	lcores_cfg.n_rails = 1;
	strcpy(lcores_cfg.rails[0].name, "east");
	return ret;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_page_only_reads),
	};

	return cmocka_run_group_tests(tests, start, lcores_stop);
}
