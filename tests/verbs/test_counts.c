/* SPDX-License-Identifier: BSD-3-Clause */
/* Work requests as hp3d sees them without moves: counts, and times of some of them. */
#include "tests/verbs/rig.h"

#include <errno.h>
#include <string.h>

#define QUICK 20000u
#define SLOW  150u

static struct hp3_verbs_cell *ready(struct app *a, struct hp3d *h, const struct app_options *o)
{
	struct hp3_verbs_cell *c;

	app_start(a, RXE, o);
	hp3d_start(h, 0, 0);
	c = hp3d_cell(h, a->qp->qp_num, HP3_VERBS_RTS);
	assert_non_null(c);
	return c;
}

static void done(struct app *a, struct hp3d *h)
{
	app_stop(a);
	hp3d_stop(h);
}

/* One message at a time, signalled each, by either of the two ways. */
static void one_by_one(struct app *a, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(app_post(a, 1, 1), 0);
		while (a->polled < a->posted)
			app_poll(a);
	}
}

/* Of those that are frequent 1 in many is timed, of those that are not each one, soon after. */
static void test_the_clock_is_read_seldom(void **state)
{
	struct hp3_verbs_cell *c;
	struct hp3d h;
	struct app a;
	uint32_t samples;

	c = ready(&a, &h, NULL);
	one_by_one(&a, QUICK);
	assert_int_equal(c->posted_wrs, QUICK);
	assert_int_equal(c->done_wrs, QUICK);
	assert_in_range(c->latency_count, 10, QUICK / 16);
	a.device->faults.delay_ns = 1000000;
	one_by_one(&a, SLOW);
	samples = c->latency_count;
	one_by_one(&a, 10);
	assert_int_equal(c->latency_count, samples + 10);
	assert_true(c->latency_ns >= 1000000);
	done(&a, &h);
}

/* Of those that alternate both kinds are timed. */
static void test_both_of_two_kinds(void **state)
{
	uint32_t small = 0, large = 0, samples = 0;
	struct ibv_sge sge = {.addr = 4096};
	struct hp3_verbs_cell *c;
	struct hp3d h;
	struct app a;

	c = ready(&a, &h, NULL);
	for (uint32_t i = 0; i < QUICK; i++) {
		struct ibv_send_wr *bad, wr = {.sg_list = &sge,
						 .num_sge = 1,
						 .opcode = IBV_WR_RDMA_WRITE,
						 .send_flags = IBV_SEND_SIGNALED};
		struct ibv_wc wc;

		sge.length = i % 2 == 0 ? 8 : 8192;
		assert_int_equal(ibv_post_send(a.qp, &wr, &bad), 0);
		while (ibv_poll_cq(a.cq, 1, &wc) == 0)
			;
		if (c->latency_count == samples)
			continue;
		samples = c->latency_count;
		small += c->latency_bytes == 8;
		large += c->latency_bytes == 8192;
	}
	assert_true(small > samples / 4 && large > samples / 4);
	done(&a, &h);
}

/* What the provider has no room for was not posted; the sample of it is not waited for. */
static void test_refused_ones_do_not_count(void **state)
{
	struct app_options o = {.depth = 8};
	struct hp3_verbs_cell *c;
	uint32_t samples;
	struct hp3d h;
	struct app a;

	c = ready(&a, &h, &o);
	a.device->faults.stuck = true;
	while (app_post(&a, 1, 1) == 0)
		;
	for (int i = 0; i < 100; i++)
		assert_int_equal(app_post(&a, 1, 1), ENOMEM);
	assert_int_equal(app_post(&a, 3, 1), ENOMEM); /* as a chain, too */
	assert_int_equal(c->posted_wrs, a.posted);
	assert_int_equal(c->posted_bytes, a.posted * 1000u);
	a.device->faults.stuck = false;
	app_finish(&a);
	assert_int_equal(c->done_wrs, a.posted);
	assert_int_equal(c->done_bytes, a.posted * 1000u);
	samples = c->latency_count;
	one_by_one(&a, 200);
	assert_true(c->latency_count > samples);
	assert_int_equal(hp3d_do(&h, c, HP3_VERBS_MOVE, 0xc123, NULL), HP3_VERBS_MOVED);
	done(&a, &h);
}

static void write_500(struct ibv_qp_ex *ex, uint64_t wr_id)
{
	ex->wr_id = wr_id;
	ex->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_rdma_write(ex, 1, 4096);
	ibv_wr_set_sge(ex, 1, 8192, 500);
}

/* Another thread begins its section as soon as the provider lets it. */
static void another_begins(struct ibv_qp_ex *ex)
{
	ibv_wr_start(ex);
	write_500(ex, 0);
}

/* A section that is refused takes back what was its own, although another one has begun. */
static void test_a_refused_section_takes_back_its_own(void **state)
{
	struct app_options o = {.extended = true};
	struct hp3_verbs_cell *c;
	struct ibv_qp_ex *ex;
	struct hp3d h;
	struct app a;

	c = ready(&a, &h, &o);
	ex = (struct ibv_qp_ex *)a.qp;
	a.device->faults.no_room = true;
	a.device->faults.refused = another_begins;
	ibv_wr_start(ex);
	for (uint64_t i = 0; i < 3; i++)
		write_500(ex, i);
	assert_int_equal(ibv_wr_complete(ex), ENOMEM);
	a.device->faults.no_room = false;
	a.device->faults.refused = NULL;
	assert_int_equal(ibv_wr_complete(ex), 0);
	assert_int_equal(c->posted_wrs, 1);
	assert_int_equal(c->posted_bytes, 500);
	a.due = a.posted = 1;
	app_finish(&a);
	assert_int_equal(c->done_wrs, 1);
	done(&a, &h);
}

/* A queue pair that begins anew, with the same number, is another one, from 0 on. */
static void test_reset(void **state)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};
	struct hp3_verbs_cell *c;
	uint32_t generation;
	struct hp3d h;
	struct app a;

	c = ready(&a, &h, NULL);
	one_by_one(&a, 10);
	generation = c->generation;
	assert_int_equal(verbs.modify_qp(a.qp, &attr, IBV_QP_STATE), 0);
	app_ready(&a, 0);
	assert_int_equal(c->state, HP3_VERBS_RTS);
	assert_int_not_equal(c->generation, generation);
	assert_int_equal(c->posted_wrs, 0);
	assert_int_equal(c->done_bytes, 0);
	a.posted = a.polled = a.due = 0;
	one_by_one(&a, 5);
	assert_int_equal(c->done_wrs, 5);
	assert_int_equal(hp3d_do(&h, c, HP3_VERBS_MOVE, 0xc123, NULL), HP3_VERBS_MOVED);
	done(&a, &h);
}

static int start(void **state)
{
	rig_load();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_clock_is_read_seldom),
		cmocka_unit_test(test_both_of_two_kinds),
		cmocka_unit_test(test_refused_ones_do_not_count),
		cmocka_unit_test(test_a_refused_section_takes_back_its_own),
		cmocka_unit_test(test_reset),
	};

	return cmocka_run_group_tests(tests, start, NULL);
}
