/* SPDX-License-Identifier: BSD-3-Clause */
/* Verbs calls to events, without BPF: order, bounds, messages of a hostile process. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>
#include <infiniband/verbs.h>
#include "app/watch/qps.h"

static struct {
	struct hp3_qps *qps;
	unsigned ups, downs;
	struct hp3_watch_event last;
} rig;

static const uint8_t mine[16] = {[10] = 0xff, 0xff, 10, 9, 0, 1};
static const uint8_t peer[16] = {[10] = 0xff, 0xff, 10, 9, 0, 2};

static int gid(void *ctx, const char *device, unsigned port, unsigned index, struct hp3_gid *out)
{
	if (strcmp(device, "rxe0") != 0 || port != 1 || index > 1)
		return -ENOENT;
	memcpy(out->gid, mine, sizeof(mine));
	out->vlan = index == 1 ? 100 : 0;
	return 0;
}

static void on_event(void *ctx, const struct hp3_watch_event *event)
{
	/* Never two of a kind in a row for a queue pair: all tests here use one at a time. */
	if (event->qp.kind == HP3_QP_UP)
		assert_int_equal(rig.ups++, rig.downs);
	else
		assert_int_equal(++rig.downs, rig.ups);
	rig.last = *event;
}

static int setup(void **state)
{
	struct hp3_qps_hooks hooks = {.gid = gid, .event = on_event};

	memset(&rig, 0, sizeof(rig));
	rig.qps = hp3_qps_create(&hooks);
	return rig.qps == NULL;
}

static int teardown(void **state)
{
	hp3_qps_free(rig.qps);
	return 0;
}

static struct hp3_verbs_call call(uint8_t state)
{
	struct hp3_verbs_call c = {.pid = 7,
		.mask = IBV_QP_STATE,
		.qpn = 0x11,
		.type = IBV_QPT_RC,
		.state = state,
		.device = "rxe0",
		.time_ns = 5};

	if (state == IBV_QPS_RTR) {
		c.mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
		c.dest_qpn = 0x22;
		c.rq_psn = 8;
		c.path_mtu = IBV_MTU_2048;
		c.global = 1;
		c.port = 1;
		memcpy(c.dgid, peer, sizeof(peer));
	} else if (state == IBV_QPS_RTS) {
		c.mask |= IBV_QP_SQ_PSN;
		c.sq_psn = 9;
	}
	return c;
}

static void give(struct hp3_verbs_call c)
{
	assert_int_equal(hp3_qps_call(rig.qps, &c), 0);
}

static void all_fields(void **state)
{
	struct hp3_verbs_call rtr = call(IBV_QPS_RTR);
	const struct hp3_watch_event *event = &rig.last;

	rtr.sgid_index = 1;
	give(call(IBV_QPS_INIT));
	give(rtr);
	assert_int_equal(rig.ups, 0);
	give(call(IBV_QPS_RTS));
	assert_int_equal(rig.ups, 1);
	assert_int_equal(event->qp.lqpn, 0x11);
	assert_int_equal(event->qp.rqpn, 0x22);
	assert_int_equal(event->qp.psn, 9);
	assert_true(event->qp.psn_known);
	assert_int_equal(event->rq_psn, 8);
	assert_int_equal(event->mtu, 2048);
	assert_int_equal(event->qp.vlan, 100);
	assert_false(event->qp.ipv6);
	assert_memory_equal(event->qp.local, mine + 12, 4);
	assert_memory_equal(event->qp.remote, peer + 12, 4);
	assert_string_equal(event->device, "rxe0");
}

static void doubled_calls_say_nothing_new(void **state)
{
	for (unsigned i = 0; i < 2; i++)
		give(call(IBV_QPS_RTR));
	for (unsigned i = 0; i < 2; i++)
		give(call(IBV_QPS_RTS));
	for (unsigned i = 0; i < 2; i++)
		give(call(IBV_QPS_ERR));
	assert_int_equal(rig.ups, 1);
	assert_int_equal(rig.downs, 1);
	give(call(IBV_QPS_RTS)); /* no way from ERR to RTS without a peer */
	assert_int_equal(rig.ups, 1);
}

static void set_up_anew_ends_the_old(void **state)
{
	give(call(IBV_QPS_RTR));
	give(call(IBV_QPS_RTS));
	give(call(IBV_QPS_RTR));
	assert_int_equal(rig.downs, 1);
	give(call(IBV_QPS_RTS));
	assert_int_equal(rig.ups, 2);
}

static void values_beyond_24_bits(void **state)
{
	struct hp3_verbs_call rtr = call(IBV_QPS_RTR), rts = call(IBV_QPS_RTS);

	rtr.dest_qpn = rtr.rq_psn = rts.sq_psn = 0xff000003;
	rtr.path_mtu = 0xff;
	give(rtr);
	give(rts);
	assert_int_equal(rig.last.qp.rqpn, 3);
	assert_int_equal(rig.last.qp.psn, 3);
	assert_int_equal(rig.last.rq_psn, 3);
	assert_int_equal(rig.last.mtu, 0);
	rtr.qpn = 0x1000000;
	give(rtr);
	assert_int_equal(hp3_qps_count(rig.qps), 1);
}

static void process_takes_only_its_own(void **state)
{
	struct hp3_verbs_call c = call(IBV_QPS_RTR);

	give(c);
	give(call(IBV_QPS_RTS));
	c.pid = 8;
	c.qpn = 0x12;
	give(c);
	hp3_qps_process_ended(rig.qps, 9, 1);
	assert_int_equal(hp3_qps_count(rig.qps), 2);
	hp3_qps_process_ended(rig.qps, 7, 1);
	assert_int_equal(rig.downs, 1);
	assert_int_equal(hp3_qps_count(rig.qps), 1);
}

/* Whoever calls the library may name any queue pair: only his own ones are ended. */
static void a_process_names_another_one_s(void **state)
{
	struct hp3_qps_hooks hooks = {.gid = gid, .event = on_event, .by_process = true};
	struct hp3_verbs_call c = call(IBV_QPS_RTR);

	hp3_qps_free(rig.qps);
	rig.qps = hp3_qps_create(&hooks);
	give(c);
	give(call(IBV_QPS_RTS));
	assert_int_equal(rig.ups, 1);
	c.pid = 8;
	give(c);
	c.state = IBV_QPS_RESET;
	give(c);
	c.kind = HP3_VERBS_DESTROY;
	give(c);
	assert_int_equal(rig.downs, 0);
	assert_int_equal(hp3_qps_count(rig.qps), 1);
	c.pid = 7;
	give(c);
	assert_int_equal(rig.downs, 1);
	assert_int_equal(rig.last.pid, 7);
}

/* A user who names queue pairs without end leaves room for those of others; what he gives back, or
 * a process of his that ends, he may use again. Root has no such bound: memory_is_bounded(). */
static void a_user_has_a_share(void **state)
{
	struct hp3_verbs_call c = call(IBV_QPS_INIT), other = call(IBV_QPS_RTR);

	c.uid = 1000;
	for (c.qpn = 0; c.qpn < HP3_QPS_OF_USER; c.qpn++) {
		c.pid = 100 + c.qpn % 64; /* however many processes he has */
		give(c);
	}
	assert_int_equal(hp3_qps_call(rig.qps, &c), -EDQUOT);
	c.pid = 500; /* a new one */
	assert_int_equal(hp3_qps_call(rig.qps, &c), -EDQUOT);
	other.qpn = HP3_QPS_MAX;
	other.uid = 1001;
	other.pid = 9;
	give(other);
	other.state = IBV_QPS_RTS;
	other.mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
	give(other);
	assert_int_equal(rig.ups, 1);
	hp3_qps_process_ended(rig.qps, 100, 1);
	assert_int_equal(hp3_qps_count(rig.qps), HP3_QPS_OF_USER - HP3_QPS_OF_USER / 64 + 1);
	for (uint32_t i = 0; i < HP3_QPS_OF_USER / 64; i++, c.qpn++)
		give(c);
	assert_int_equal(hp3_qps_call(rig.qps, &c), -EDQUOT);
	c.qpn--;
	c.kind = HP3_VERBS_DESTROY;
	give(c);
	c.kind = HP3_VERBS_MODIFY;
	give(c);
	other = call(IBV_QPS_INIT); /* the number is another user's now, who has room */
	other.qpn = c.qpn;
	other.uid = 1001;
	give(other);
	c.qpn++;
	give(c);
}

/* Most that hp3_qps_call() may be told of by one user, in processor time. */
static clock_t time_of(uint32_t (*qpn)(uint32_t i), uint64_t seed)
{
	struct hp3_qps_hooks hooks = {
		.gid = gid, .event = on_event, .by_process = true, .seed = seed};
	struct hp3_verbs_call c = call(IBV_QPS_INIT);
	clock_t began = clock();

	hp3_qps_free(rig.qps);
	rig.qps = hp3_qps_create(&hooks);
	for (uint32_t i = 0; i < HP3_QPS_OF_USER; i++) {
		c.qpn = qpn(i);
		c.pid = 100 + i / 512;
		give(c);
	}
	assert_int_equal(hp3_qps_count(rig.qps), HP3_QPS_OF_USER);
	return clock() - began;
}

static uint32_t any_number(uint32_t i)
{
	return i * 7919 & 0xffffff;
}

/* 512 numbers whose product with the golden ratio begins alike; processes have the same ones. */
static uint32_t chosen_number(uint32_t i)
{
	static uint32_t number[512], n;

	for (uint32_t q = 0; n < 512; q++)
		if ((q * 0x9e3779b1u) >> 19 == 0)
			number[n++] = q;
	return number[i % 512];
}

/* Whoever calls the library may name any number, in any process: a look-up takes as long. */
static void chosen_numbers_share_no_chain(void **state)
{
	clock_t any = time_of(any_number, 1), chosen = time_of(chosen_number, 1);

	for (uint64_t seed = 2; seed < 5; seed++) {
		clock_t a = time_of(any_number, seed), c = time_of(chosen_number, seed);

		any = a < any ? a : any;
		chosen = c < chosen ? c : chosen;
	}
	print_message("any numbers, chosen ones: %ld and %ld us\n", (long)any, (long)chosen);
	assert_true(chosen < 20 * any); /* in one chain: thousands of times as long */
}

static void memory_is_bounded(void **state)
{
	struct hp3_verbs_call c = call(IBV_QPS_INIT);

	for (c.qpn = 0; c.qpn < HP3_QPS_MAX; c.qpn++)
		give(c);
	assert_int_equal(hp3_qps_call(rig.qps, &c), -ENOSPC);
	c.qpn = 5;
	c.kind = HP3_VERBS_DESTROY;
	give(c);
	assert_int_equal(hp3_qps_count(rig.qps), HP3_QPS_MAX - 1);
	c.kind = HP3_VERBS_MODIFY;
	c.qpn = HP3_QPS_MAX;
	give(c);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(all_fields),
		TEST(doubled_calls_say_nothing_new),
		TEST(set_up_anew_ends_the_old),
		TEST(values_beyond_24_bits),
		TEST(process_takes_only_its_own),
		TEST(a_process_names_another_one_s),
		TEST(a_user_has_a_share),
		TEST(chosen_numbers_share_no_chain),
		TEST(memory_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
