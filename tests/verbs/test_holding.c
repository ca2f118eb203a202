/* SPDX-License-Identifier: BSD-3-Clause */
/* Posting while work requests are held: as with the provider itself. */
#include "tests/verbs/rig.h"

#include <errno.h>
#include <string.h>

#define PORT 0xd00d

static struct hp3d hp3d;

/* Suspended, with `before` work requests posted and completed. */
static struct hp3_verbs_cell *suspend(struct app *a, enum provider p, const struct app_options *o)
{
	struct hp3_verbs_cell *c;

	app_start(a, p, o);
	c = hp3d_cell(&hp3d, a->qp->qp_num, HP3_VERBS_RTS);
	assert_non_null(c);
	app_post(a, 1, 1);
	app_finish(a);
	assert_int_equal(hp3d_do(&hp3d, c, HP3_VERBS_SUSPEND, 0, NULL), HP3_VERBS_DRAINED);
	return c;
}

static int post_inline(struct app *a, char *data, uint32_t n, uint32_t length)
{
	struct ibv_sge sge[8] = {{0}};
	struct ibv_send_wr *bad, wr = {.wr_id = a->posted,
					 .sg_list = sge,
					 .num_sge = (int)n,
					 .opcode = IBV_WR_SEND_WITH_IMM,
					 .send_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED};
	int error;

	for (uint32_t i = 0; i < n; i++)
		sge[i] = (struct ibv_sge){(uintptr_t)data + i * length, length, 0};
	error = ibv_post_send(a->qp, &wr, &bad);
	a->posted += error == 0;
	a->due = error == 0 ? a->posted : a->due;
	return error;
}

/* Inline data are the caller's again at once. */
static void test_inline_data(void **state)
{
	char data[64];
	struct app a;
	struct hp3_verbs_cell *c = suspend(&a, MLX5, NULL);

	for (unsigned int i = 0; i < 5; i++) {
		memset(data, (int)i + 1, sizeof(data));
		assert_int_equal(post_inline(&a, data, 4, 16), 0);
	}
	memset(data, 99, sizeof(data));
	assert_int_equal(a.fake->logged, 1);
	assert_int_equal(hp3d_do(&hp3d, c, HP3_VERBS_MOVE, PORT, NULL), HP3_VERBS_MOVED);
	app_finish(&a);
	assert_int_equal(a.fake->logged, 6);
	for (unsigned int i = 1; i < 6; i++) {
		assert_int_equal(a.fake->log[i].sum, i * 64u);
		assert_int_equal(a.fake->log[i].bytes, 64);
		assert_int_equal(a.fake->log[i].wr_id, i);
		assert_int_equal(a.fake->log[i].port, PORT);
	}
	app_stop(&a);
}

/* As deep as it was made, then ENOMEM for the one that is too many: the same held and not. */
static void test_depth(void **state)
{
	for (enum provider p = RXE; p < PROVIDERS; p++) {
		struct app_options o = {.depth = 16};
		struct app a;
		struct hp3_verbs_cell *c = suspend(&a, p, &o);

		assert_int_equal(app_post(&a, 12, 4), 0);
		assert_int_equal(app_post(&a, 12, 4), ENOMEM);
		assert_int_equal(a.posted, 17);
		assert_int_equal(hp3d_do(&hp3d, c, HP3_VERBS_MOVE, PORT, NULL), HP3_VERBS_MOVED);
		app_poll(&a);
		assert_int_equal(app_post(&a, 3, 4), 0);
		app_finish(&a);
		app_check_order(&a);
		app_stop(&a);
	}
}

/* More than the pool holds, and what cannot be held: the move ends, nothing else. */
static void test_pool(void **state)
{
	struct app_options o = {.depth = 1024};
	char data[64] = {0};
	struct app a;
	struct hp3_verbs_cell *c = suspend(&a, BNXT, &o);
	int detail = 0;

	for (int i = 0; i < 16; i++)
		assert_int_equal(app_post(&a, 20, 10), 0);
	assert_int_equal(hp3d_after_drained(&hp3d, c, &detail), HP3_VERBS_FAILED);
	assert_int_equal(detail, ENOBUFS);
	app_finish(&a);
	app_check_order(&a);
	app_stop(&a);

	c = suspend(&a, BNXT, NULL);
	assert_int_equal(app_post(&a, 5, 1), 0);
	assert_int_equal(post_inline(&a, data, 5, 1), EINVAL); /* the provider's answer */
	assert_int_equal(hp3d_after_drained(&hp3d, c, &detail), HP3_VERBS_FAILED);
	assert_int_equal(detail, ENOBUFS);
	app_finish(&a);
	app_check_order(&a);
	app_stop(&a);
}

/* The provider has no room for what was held: it waits, and stays in order. */
static void test_no_room_for_the_held(void **state)
{
	struct app a;
	struct hp3_verbs_cell *c = suspend(&a, MLX5, NULL);

	assert_int_equal(app_post(&a, 6, 3), 0);
	a.device->faults.post_after = 2;
	__atomic_store_n(&a.device->faults.post, ENOMEM, __ATOMIC_RELEASE);
	assert_int_equal(hp3d_do(&hp3d, c, HP3_VERBS_MOVE, PORT, NULL), HP3_VERBS_MOVED);
	assert_int_equal(app_post(&a, 2, 2), 0);
	assert_int_equal(a.fake->logged, 3);
	__atomic_store_n(&a.device->faults.post, 0, __ATOMIC_RELEASE);
	app_finish(&a);
	assert_int_equal(app_post(&a, 1, 1), 0);
	app_finish(&a);
	app_check_order(&a);
	app_stop(&a);
}

/* What the provider refuses although it was held in good faith: the queue pair is in error. */
static void test_refused_late(void **state)
{
	struct app a;
	struct hp3_verbs_cell *c = suspend(&a, MLX5, NULL);

	assert_int_equal(app_post(&a, 6, 1), 0);
	a.device->faults.post_after = 2;
	__atomic_store_n(&a.device->faults.post, EIO, __ATOMIC_RELEASE);
	hp3d_do(&hp3d, c, HP3_VERBS_MOVE, PORT, NULL);
	for (int i = 0; i < 2000 && a.qp->state != IBV_QPS_ERR; i++)
		rig_sleep_us(500);
	assert_int_equal(a.qp->state, IBV_QPS_ERR);
	app_stop(&a);
}

static void section(struct app *a, uint32_t n, bool give_up, int expected)
{
	struct ibv_qp_ex *ex = (struct ibv_qp_ex *)a->qp;
	char data[10];

	ibv_wr_start(ex);
	for (uint32_t i = 0; i < n; i++) {
		ex->wr_id = a->posted + i;
		ex->wr_flags = i + 1u == n ? IBV_SEND_SIGNALED : 0;
		if (i % 2u == 0) {
			ibv_wr_rdma_write(ex, 1, 4096);
			ibv_wr_set_sge(ex, 1, 8192, 1000);
		} else {
			memset(data, 7, sizeof(data));
			ibv_wr_send_imm(ex, 5);
			ibv_wr_set_inline_data(ex, data, sizeof(data));
			memset(data, 0, sizeof(data));
		}
	}
	if (give_up)
		ibv_wr_abort(ex);
	else
		assert_int_equal(ibv_wr_complete(ex), expected);
	if (!give_up && expected == 0)
		a->due = a->posted += n;
}

static void check_sections(const struct app *a, uint32_t first)
{
	assert_int_equal(a->fake->overtaken, 0);
	assert_int_equal(a->fake->logged, a->posted);
	for (uint32_t i = 0; i < a->posted; i++)
		assert_int_equal(a->fake->log[i].wr_id, i);
	for (uint32_t i = first; i < a->posted; i++) {
		bool is_inline = a->fake->log[i].opcode == IBV_WR_SEND_WITH_IMM;

		assert_int_equal(a->fake->log[i].sum, is_inline ? 70 : 0);
		assert_int_equal(a->fake->log[i].bytes, is_inline ? 10 : 1000);
	}
}

/* Sections of extended calls are held whole, or given up whole; mixed with the other way to post.
 */
static void test_sections(void **state)
{
	for (enum provider p = RXE; p < PROVIDERS; p++) {
		struct app_options o = {.extended = true, .depth = 32};
		struct app a;
		struct hp3_verbs_cell *c = suspend(&a, p, &o);

		section(&a, 5, false, 0);
		section(&a, 3, true, 0);
		section(&a, 4, false, 0);
		assert_int_equal(a.fake->logged, 1);
		section(&a, 28, false, ENOMEM);
		assert_int_equal(hp3d_do(&hp3d, c, HP3_VERBS_MOVE, PORT, NULL), HP3_VERBS_MOVED);
		section(&a, 6, false, 0);
		app_finish(&a);
		check_sections(&a, 1);
		assert_int_equal(c->done_wrs, a.posted);
		assert_int_equal(hp3d_do(&hp3d, c, HP3_VERBS_SUSPEND, 0, NULL), HP3_VERBS_DRAINED);
		section(&a, 2, false, 0);
		assert_int_equal(app_post(&a, 2, 1), 0);
		section(&a, 3, false, 0);
		assert_int_equal(hp3d_do(&hp3d, c, HP3_VERBS_RESUME, 0, NULL), HP3_VERBS_RESUMED);
		app_finish(&a);
		check_sections(&a, (uint32_t)a.posted);
		app_stop(&a);
	}
}

/* A section that does not fit goes on with the provider, behind what was held. */
static void test_section_too_long(void **state)
{
	struct app_options o = {.extended = true, .depth = 1024};
	struct app a;
	struct hp3_verbs_cell *c = suspend(&a, MLX5, &o);
	int detail = 0;

	section(&a, 200, false, 0);
	section(&a, 100, false, 0);
	assert_int_equal(hp3d_after_drained(&hp3d, c, &detail), HP3_VERBS_FAILED);
	assert_int_equal(detail, ENOBUFS);
	app_finish(&a);
	check_sections(&a, 1);
	app_stop(&a);
}

/* The newest ones are unsignalled: closed behind the next one that is. */
static void test_unsignalled_tail(void **state)
{
	struct hp3_verbs_cell *c;
	struct app a;

	app_start(&a, MLX5, NULL);
	c = hp3d_cell(&hp3d, a.qp->qp_num, HP3_VERBS_RTS);
	app_post(&a, 1, 1);
	app_finish(&a);
	app_post(&a, 2, 64);
	hp3d_want(&hp3d, c, HP3_VERBS_SUSPEND, 0);
	rig_sleep_us(20000);
	assert_int_equal(hp3_verbs_unpack_code(c->did), 0);
	app_post(&a, 2, 64);
	app_post(&a, 1, 1);
	for (int i = 0; i < 4000 && hp3_verbs_unpack_code(c->did) == 0; i++) {
		app_poll(&a);
		rig_sleep_us(100);
	}
	assert_int_equal(hp3d_answer(&hp3d, c, NULL), HP3_VERBS_DRAINED);
	app_post(&a, 1, 1);
	assert_int_equal(a.fake->logged, 6);
	assert_int_equal(hp3d_do(&hp3d, c, HP3_VERBS_MOVE, PORT, NULL), HP3_VERBS_MOVED);
	app_finish(&a);
	app_check_order(&a);
	app_stop(&a);
}

static int start(void **state)
{
	struct app a;

	rig_load();
	app_start(&a, RXE, NULL);
	hp3d_start(&hp3d, 1000000, 1000000);
	app_stop(&a);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_inline_data),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_pool),
		cmocka_unit_test(test_no_room_for_the_held),
		cmocka_unit_test(test_refused_late),
		cmocka_unit_test(test_sections),
		cmocka_unit_test(test_section_too_long),
		cmocka_unit_test(test_unsignalled_tail),
	};

	return cmocka_run_group_tests(tests, start, NULL);
}
