/* SPDX-License-Identifier: BSD-3-Clause */
/* The quota of one host name: instances, reports, flows, moves, time. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>
#include "base/minmax.h"
#include "reports.h"

#define GBIT 1000000u

static struct hp3_fleet *fleet;
static struct hp3_fleet_plan plan;

static void begin_with(struct hp3_fleet_params p)
{
	free(fleet);
	fleet = make_fleet(&p);
	assert_non_null(fleet);
}

static int begin(void **state)
{
	begin_with(small_fleet());
	return 0;
}

static int end(void **state)
{
	free(fleet);
	fleet = NULL;
	return 0;
}

/* As hp3-fleet ships. */
static struct hp3_fleet_params large_fleet(void)
{
	struct hp3_fleet_params p = small_fleet();

	p.max_hosts = 4096;
	p.max_links = 8192;
	return p;
}

static uint64_t cpu_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* CPU time of a look and a plan. */
static uint64_t look(uint64_t now_ms)
{
	uint64_t began = cpu_us();

	hp3_fleet_look(fleet, now_ms);
	hp3_fleet_plan(fleet, 1, "p", now_ms, &plan);
	return cpu_us() - began;
}

static void two_instances_of_a_name(void **state)
{
	struct hp3_fleet_report r = host_report(0, 0, 2);

	for (unsigned i = 0; i < 10; i++) {
		r.instance = i;
		assert_int_equal(
			hp3_fleet_take(fleet, &r, 0), i < HP3_FLEET_INSTANCES ? 0 : -EUSERS);
	}
	look(0);
	assert_int_equal(hp3_fleet_counts(fleet)->hosts, 2);
	assert_int_equal(hp3_fleet_counts(fleet)->third_instance, 8);
	/* The second one goes on, the first one is silent: then there is room for another one. */
	r.instance = 1;
	r.seq++;
	assert_int_equal(hp3_fleet_take(fleet, &r, 3001), 0);
	look(3001);
	r.instance = 2;
	assert_int_equal(hp3_fleet_take(fleet, &r, 3002), 0);
	look(3002);
	assert_int_equal(hp3_fleet_counts(fleet)->hosts, 2);
}

static void reports_faster_than_report_ms(void **state)
{
	struct hp3_fleet_report r = host_report(0, 0, 2);
	unsigned taken = 0;

	for (unsigned ms = 0; ms < 10000; ms++) {
		r.seq++;
		taken += hp3_fleet_take(fleet, &r, ms) == 0;
	}
	assert_in_range(taken, 10000 / 50, 10000 / 50 + HP3_FLEET_BURST);
	assert_int_equal(hp3_fleet_counts(fleet)->too_often, 10000 - taken);
	/* A duplicate is one, and takes nothing from what comes. */
	assert_int_equal(hp3_fleet_take(fleet, &r, 10000), -EBUSY);
	r.seq = 1;
	assert_int_equal(hp3_fleet_take(fleet, &r, 10000), -EALREADY);
	r.seq = 100000;
	assert_int_equal(hp3_fleet_take(fleet, &r, 10050), 0);
}

static void an_interval_beyond_the_longest(void **state)
{
	struct hp3_fleet_report r = host_report(0, 0, 2), back;
	static uint8_t bytes[HP3_FLEET_BYTES];
	size_t n;

	r.interval_ms = HP3_FLEET_INTERVAL_MS;
	n = hp3_fleet_report_encode(&r, bytes, sizeof(bytes));
	assert_int_equal(hp3_fleet_report_decode(bytes, n, &back), 0);
	r.interval_ms++;
	n = hp3_fleet_report_encode(&r, bytes, sizeof(bytes));
	assert_int_equal(hp3_fleet_report_decode(bytes, n, &back), -EBADMSG);
}

static struct hp3_fleet_report full_report(unsigned host, unsigned hop)
{
	struct hp3_fleet_report r = host_report(host, host, 2);

	r.hop[0].b[1] = (uint8_t)(hop >> 8); /* where it is; the other one is to be had */
	r.hop[0].b[3] = (uint8_t)hop;
	r.hop[1].b[1] = 254;
	r.hop[1].b[3] = (uint8_t)hop;
	while (r.n_flows < HP3_FLEET_FLOWS) {
		struct hp3_fleet_flow *f = add_flow(&r, host, r.n_flows, 0, GBIT);

		f->flags |= HP3_FLEET_SEVERE;
	}
	return r;
}

/* Both instances of a name have the room of one. */
static void flows_of_a_name(void **state)
{
	struct hp3_fleet_report r = full_report(0, 0), other = host_report(1, 1, 2);

	add_flow(&other, 0, 7, 0, GBIT);
	assert_int_equal(hp3_fleet_take(fleet, &r, 0), 0);
	assert_int_equal(hp3_fleet_take(fleet, &other, 0), 0);
	r.instance++;
	for (unsigned i = 0; i < r.n_flows; i++)
		r.flow[i].key.qpn += 1000;
	assert_int_equal(hp3_fleet_take(fleet, &r, 0), 0);
	look(0);
	assert_int_equal(hp3_fleet_counts(fleet)->flows, HP3_FLEET_FLOWS + 1);
	assert_int_equal(hp3_fleet_counts(fleet)->over_quota, HP3_FLEET_FLOWS);
}

/* Flows that are new each time are no way to be named without end, and no way to be named for
 * another host's flow. */
static void moves_of_a_name(void **state)
{
	unsigned named[2] = {0}, alt;
	struct hp3_fleet_report honest = host_report(9, 9, 2);
	uint64_t now = 1000, after;

	add_flow(&honest, 8, 1, 0, GBIT)->flags |= HP3_FLEET_SEVERE;
	add_flow(&honest, 8, 2, 0, GBIT);
	for (unsigned i = 0; i < 40; i++, now += 500) {
		struct hp3_fleet_report r = full_report(0, i);

		r.seq = i + 1;
		r.flow[0].key = honest.flow[0].key;
		for (unsigned k = 1; k < r.n_flows; k++)
			r.flow[k].key.qpn = 100 * i + k;
		assert_int_equal(hp3_fleet_take(fleet, &r, now), 0);
		if (i >= 20) {
			honest.seq++;
			assert_int_equal(hp3_fleet_take(fleet, &honest, now), 0);
		}
		look(now);
		for (unsigned k = 0; k < plan.n_moves; k++)
			named[strcmp(plan.move[k].host, "h9") == 0]++;
	}
	assert_int_equal(named[0], HP3_FLEET_FLOWS);
	assert_int_equal(named[1], 2);
	for (uint32_t i = 0; i < HP3_FLEET_FLOWS; i++)
		assert_int_equal(hp3_fleet_why(fleet, i, now, &alt, &after),
			i == 0 ? HP3_FLEET_SETTLING : HP3_FLEET_QUOTA);
}

/* 1,024 instances of one name, 32 flows each: 33 s of one look before instances were bounded. */
static void the_time_that_one_name_takes(void **state)
{
	struct hp3_fleet_report r = full_report(0, 0);
	uint64_t most = 0;

	begin_with(large_fleet());
	for (unsigned second = 0; second < 5; second++) {
		for (unsigned i = 0; i < 1024; i++) {
			r.instance = i;
			r.seq++;
			for (unsigned k = 0; k < r.n_flows; k++)
				r.flow[k].key.qpn = 100 * i + k;
			hp3_fleet_take(fleet, &r, second * 1000);
		}
		most = hp3_max_u64(most, look(second * 1000));
	}
	print_message("a look and a plan: %llu us at most\n", (unsigned long long)most);
	assert_true(most < 200000);
}

/* `n` hosts, each of which makes two links hot that nothing can leave. */
static uint64_t time_of_hot_links(unsigned n)
{
	uint64_t least = UINT64_MAX;

	begin_with(large_fleet());
	for (unsigned i = 0; i < n; i++) {
		struct hp3_fleet_report r = host_report(i, i, 1);

		add_flow(&r, i, 1, 0, GBIT)->flags = HP3_FLEET_SEVERE;
		assert_int_equal(hp3_fleet_take(fleet, &r, 0), 0);
	}
	for (unsigned i = 0; i < 5; i++)
		least = hp3_min_u64(least, look(i));
	assert_int_equal(hp3_fleet_counts(fleet)->links, 2 * n);
	return least;
}

static void the_time_that_hot_links_take(void **state)
{
	uint64_t few = time_of_hot_links(500), many = time_of_hot_links(4000);

	print_message("a look and a plan, 1,000 and 8,000 hot links: %llu and %llu us\n",
		(unsigned long long)few, (unsigned long long)many);
	assert_true(many < 24 * few); /* eight times as many: 64 times the square */
}

#define T(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(two_instances_of_a_name),
		T(reports_faster_than_report_ms),
		T(an_interval_beyond_the_longest),
		T(flows_of_a_name),
		T(moves_of_a_name),
		T(the_time_that_one_name_takes),
		T(the_time_that_hot_links_take),
	};

	return cmocka_run_group_tests_name("fleet quota", tests, NULL, NULL);
}
