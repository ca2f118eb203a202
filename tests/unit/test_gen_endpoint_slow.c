/* SPDX-License-Identifier: BSD-3-Clause */
/* roce-gen's endpoints with slow responders: waiting packets leave in time, no other packets wait
 * for them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "gen_world.h"

#define S  UINT64_C(1000000000)
#define MS UINT64_C(1000000)

static struct world w;

/* Twenty messages, one at a time, on one queue pair. */
static void one_at_a_time(
	const struct gen_endpoint_params *p, enum gen_op op, uint32_t size, bool both)
{
	struct gen_workload_params load = {
		.load = GEN_LOAD_CLOSED, .size = size, .depth = 1, .messages = 20, .seed = 1};

	load.weight[op] = 1;
	world_open(&w, p, 1, both, 1);
	world_run(&w, &load, 60 * S);
	assert_int_equal(w.load[0].completed, 20);
	assert_int_equal(w.failed, 0);
	for (int e = 0; e < 2; e++)
		assert_int_equal(w.end[e].qps[0].requester.n.timeouts, 0);
}

static void a_read_takes_its_service_time(void **state)
{
	struct gen_endpoint_params p = world_params();

	p.requester.timeout = 18;
	p.responder.read_service_ns = 50 * MS;
	one_at_a_time(&p, GEN_READ, 64, false);
	assert_in_range(gen_histogram_percentile(&w.load[0].all, 0.5), 50 * MS, 51 * MS);
	world_close(&w);
}

/* Both ends send at a rate at which the next packet is due long after the ACK. */
static void a_delayed_ack_does_not_wait_for_data(void **state)
{
	struct gen_endpoint_params p = world_params();

	p.requester.timeout = 18;
	p.responder.ack_delay_ns = 10 * MS;
	p.requester.ack_every = 1;
	p.qp_bps = 100000; /* 88 ms for a packet */
	one_at_a_time(&p, GEN_WRITE, 5000, true);
	assert_in_range(gen_histogram_percentile(&w.end[0].rtt, 0.99), 10 * MS, 11 * MS);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_read_takes_its_service_time),
		cmocka_unit_test(a_delayed_ack_does_not_wait_for_data),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
