/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of an engine, and the cache lines that a packet touches (bench/lcores.md). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>
#include "engine/pass/burst.h"

#define MI (1u << 20)

/* The default limits of config/keys.c, as far as they take memory. */
static struct hp3_engine_config limits(uint32_t flows)
{
	return (struct hp3_engine_config){.max_flows = flows,
		.max_pairs = 8192,
		.max_moves = 1024,
		.hold_packets = 8192,
		.probing = true};
}

/* Two keys of 8 bytes at half load, the record, an entry of the ring of active flows, where replies
 * leave, where the stream began, what the network says of it; every fourth one a
 * place in the index of challenges. */
static void per_flow(void **state)
{
	struct hp3_engine_config small = limits(MI), large = limits(2 * MI);
	size_t bytes = (hp3_engine_size(&large) - hp3_engine_size(&small)) / MI;

	assert_int_equal(bytes, 2 * 2 * 8 + sizeof(struct hp3_flow) + sizeof(struct hp3_active) +
					sizeof(struct hp3_reply) + sizeof(struct hp3_began) +
					sizeof(struct hp3_unauth_state) + sizeof(uint32_t) / 4);
	assert_in_range(bytes, 1, 237);
}

static void a_million_flows(void **state)
{
	struct hp3_engine_config cfg = limits(MI);

	print_message("%zu MiB; per path table %zu, per pair %zu, per held packet %zu bytes\n",
		hp3_engine_size(&cfg) / MI, sizeof(struct hp3_paths), sizeof(struct hp3_pair),
		sizeof(struct hp3_held));
	assert_in_range(hp3_engine_size(&cfg), 1, 256 * (size_t)MI);
}

/* What the steady path reads of the engine lies ahead of what it does not. */
static void lines(void **state)
{
	assert_in_range(offsetof(struct hp3_engine, cfg), 0, 64);
	assert_int_equal(sizeof(struct hp3_bucket), 64);
	assert_int_equal(sizeof(struct hp3_flow), 128);
	/* Requests touch the first line alone, replies the second one too, for the monitor. */
	assert_in_range(offsetof(struct hp3_flow, pkey), 0, 62);
	assert_in_range(offsetof(struct hp3_flow, monitor), 64, 128 - sizeof(struct hp3_monitor));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(per_flow),
		cmocka_unit_test(a_million_flows),
		cmocka_unit_test(lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
