/* SPDX-License-Identifier: BSD-3-Clause */
#include "paths_table.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "ppp/paths_internal.h"

const struct hp3_paths_params params = {
	.fresh_ns = 100 * MS,
	.recheck_ns = 1000 * MS,
	.lossy_ns = 200 * MS,
	.retry_ns = 50 * MS,
	.window_ns = MS,
	.rtt_factor = 200,
	.ecn_fraction = 50,
	.losses = 3,
	.equal = 20,
};
struct hp3_paths table;
struct hp3_traces traces;

int paths_setup(void **state)
{
	hp3_paths_init(&table, &params, PATHS_SEED);
	return 0;
}

int entry(uint16_t port, uint64_t now)
{
	int i = hp3_paths_get(&table, port, 0, now);

	assert_true(i >= 0);
	return i;
}

void reply(uint16_t port, uint32_t rtt, bool marked, uint64_t now)
{
	hp3_paths_reply(&table, entry(port, now), rtt, marked, now);
}

uint32_t flows_on(uint16_t port)
{
	return hp3_paths_flows_on(&table, hp3_paths_id(&table, port, 0), 0);
}

enum hp3_quality quality(uint16_t port, uint64_t now)
{
	return hp3_paths_quality(&table, entry(port, now), now);
}

uint64_t break_path(uint16_t port, uint64_t now)
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
