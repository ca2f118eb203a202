/* SPDX-License-Identifier: BSD-3-Clause */
/* roce-gen's order check (rule 23), its percentiles, its message content. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "content.h"
#include "histogram.h"
#include "order.h"

static void loss_is_no_disorder(void **state)
{
	struct gen_order o = {0};

	for (uint64_t i = 0x7ff0; i < 0x8010; i++) /* the count wraps; every third is lost */
		if (i % 3)
			gen_order_note(&o, gen_mark(i, false), 1000);
	/* what was lost comes again, behind all, on the same port: no harm */
	for (uint64_t i = 0x8010; i < 0x8020; i++)
		gen_order_note(&o, gen_mark(i, true), 1000);
	assert_int_equal(o.overtaken, 0);
	assert_int_equal(o.late_duplicates, 0);
}

static void an_overtaken_first_transmission_counts(void **state)
{
	struct gen_order o = {0};

	gen_order_note(&o, gen_mark(0x7fff, false), 1000);
	gen_order_note(&o, gen_mark(0x8001, false), 1001);
	gen_order_note(&o, gen_mark(0x8000, false), 1000);
	gen_order_note(&o, gen_mark(0x8002, false), 1001);
	assert_int_equal(o.overtaken, 1);
	assert_int_equal(o.overtaken_across_ports, 1);
	gen_order_note(&o, gen_mark(0x8004, false), 1001);
	gen_order_note(
		&o, gen_mark(0x8003, false), 1001); /* by the network: the host sent them alike */
	assert_int_equal(o.overtaken, 2);
	assert_int_equal(o.overtaken_across_ports, 1);
}

/* Repeated on the old port, arriving behind a later first transmission on the new one. */
static void a_late_duplicate_from_another_port_counts(void **state)
{
	struct gen_order o = {0};

	gen_order_note(&o, gen_mark(1, false), 1000);
	gen_order_note(&o, gen_mark(3, false), 2000);
	gen_order_note(&o, gen_mark(2, true), 1000);
	assert_int_equal(o.late_duplicates, 1);
	gen_order_note(&o, gen_mark(4, true), 1000); /* emitted later: in order */
	gen_order_note(&o, gen_mark(2, true), 2000); /* the same port: a FIFO's own affair */
	assert_int_equal(o.late_duplicates, 1);
	assert_int_equal(o.overtaken, 0);
}

static void percentiles_are_within_a_class(void **state)
{
	static struct gen_histogram h;

	assert_int_equal(gen_histogram_percentile(&h, 0.5), 0);
	for (uint64_t i = 1; i <= 100000; i++)
		gen_histogram_add(&h, i * 1000);
	static const struct {
		double share;
		uint64_t exact;
	} want[] = {{0.5, 50000000}, {0.95, 95000000}, {0.99, 99000000}, {0.999, 99900000}};

	for (size_t i = 0; i < 4; i++)
		assert_in_range(gen_histogram_percentile(&h, want[i].share), want[i].exact,
			want[i].exact + want[i].exact / 125);
	assert_int_equal(gen_histogram_percentile(&h, 1), 100000000);
	assert_int_equal(h.min, 1000);
	assert_int_equal(h.sum, 100000ull * 100001 / 2 * 1000);
	memset(&h, 0, sizeof(h));
	gen_histogram_add(&h, UINT64_MAX);
	gen_histogram_add(&h, 0);
	assert_int_equal(gen_histogram_percentile(&h, 0.5), 0);
	assert_true(gen_histogram_percentile(&h, 0.9) == UINT64_MAX);
}

static void content_notices_every_single_bit(void **state)
{
	uint8_t a[2048], b[2048];
	uint64_t h = gen_header(77, 1531);

	gen_message_fill(a, h, 0, 1024);
	gen_message_fill(a + 1024, h, 1024, 507);
	gen_message_fill(b, h, 0, 1531);
	assert_memory_equal(a, b, 1531); /* pieces make the whole */
	for (uint32_t i = 0; i < 1531 * 8; i++) {
		a[i / 8] ^= (uint8_t)(1u << i % 8);
		assert_false(
			gen_message_ok(a, h, 0, 1024) && gen_message_ok(a + 1024, h, 1024, 507));
		a[i / 8] ^= (uint8_t)(1u << i % 8);
	}
	assert_true(gen_message_ok(a, h, 0, 1531));
	assert_false(gen_message_ok(a, gen_header(78, 1531), 0, 1531));
	/* another piece of the same message */
	assert_false(gen_message_ok(a + 8, h, 16, 8));
	gen_memory_fill(a, 5, GEN_MEMORY_BASE + 64, 100);
	assert_true(gen_memory_ok(a + 32, 5, GEN_MEMORY_BASE + 96, 68));
	assert_false(gen_memory_ok(a, 6, GEN_MEMORY_BASE + 64, 100));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loss_is_no_disorder),
		cmocka_unit_test(an_overtaken_first_transmission_counts),
		cmocka_unit_test(a_late_duplicate_from_another_port_counts),
		cmocka_unit_test(percentiles_are_within_a_class),
		cmocka_unit_test(content_notices_every_single_bit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
