/* SPDX-License-Identifier: BSD-3-Clause */
/* Address handles of an RNIC's port are reused, for any ports and DSCP of peers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "app/hp3d/ud/rnic.h"
#include "app/hp3d/ud/ibverbs.h"

#define CHOSEN 100u
#define SETS   (HP3D_UD_HANDLES / 4)

static struct {
	struct hp3d_ibverbs verbs;
	struct ibv_context context;
	struct ibv_cq cq;
	struct ibv_qp qp;
	struct ibv_mr mr;
	struct ibv_ah ah;
	struct hp3d_ud_rnic rnic;
	unsigned made; /* address handles */
} rig;

static struct ibv_ah *create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	rig.made++;
	return &rig.ah;
}

static int destroy_ah(struct ibv_ah *ah)
{
	return 0;
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	return 0;
}

static int poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	return 0;
}

static int setup(void **state)
{
	struct hp3d_ud_rnic *r = &rig.rnic;

	rig.verbs.create_ah = create_ah;
	rig.verbs.destroy_ah = destroy_ah;
	rig.context.ops.post_send = post_send;
	rig.context.ops.poll_cq = poll_cq;
	rig.cq.context = rig.qp.context = &rig.context;
	r->verbs = &rig.verbs;
	r->how = HP3D_UD_LABEL;
	r->n = 1;
	r->qp[0] = &rig.qp;
	r->mr = &rig.mr;
	r->left.cq = &rig.cq;
	r->memory = calloc(HP3D_UD_QPS * HP3D_UD_RECEIVES + HP3D_UD_SENDS, HP3D_UD_SLOT);
	return r->memory == NULL;
}

static int teardown(void **state)
{
	free(rig.rnic.memory);
	return 0;
}

static void send_by(uint16_t sport)
{
	const struct hp3d_ud_route route = {.dst = {10, 0, 1, 2}, .sport = sport, .ttl = 64};
	const struct hp3_hello peer = {.n = 1, .qpn = {9}};

	rig.rnic.n_free = 1; /* the send before has completed */
	assert_int_equal(hp3d_ud_rnic_send(&rig.rnic, 0, &route, &peer, "probe", 5), 0);
}

static void begin(uint64_t seed)
{
	memset(rig.rnic.handle, 0, sizeof(rig.rnic.handle));
	rig.rnic.seed = seed;
}

/* Handles that are made anew when each port is used for the second time. */
static unsigned made_again(const uint16_t port[CHOSEN], uint64_t seed)
{
	begin(seed);
	for (unsigned i = 0; i < 2 * CHOSEN; i++) {
		if (i == CHOSEN)
			rig.made = 0;
		send_by(port[i % CHOSEN]);
	}
	return rig.made;
}

/* FNV-1a of what makes a handle: without a secret anybody can compute it. */
static uint32_t without_a_secret(uint16_t sport)
{
	const uint8_t dst[16] = {[10] = 0xff, [11] = 0xff, [12] = 10, [14] = 1, [15] = 2};
	uint32_t x = 2166136261u ^ sport;

	for (unsigned i = 0; i < sizeof(dst); i++)
		x = (x ^ dst[i]) * 16777619u;
	x = (x ^ 64u << 8) * 16777619u;
	return (x >> 12) % SETS;
}

static void ports_that_collide_without_a_secret(void **state)
{
	uint16_t port[CHOSEN];
	unsigned n = 0;

	for (uint32_t i = 0xc000; n < CHOSEN && i <= 0xffff; i++)
		if (without_a_secret((uint16_t)i) == 0)
			port[n++] = (uint16_t)i;
	assert_int_equal(n, CHOSEN);
	for (uint64_t seed = 0; seed < 50; seed++)
		assert_in_range(made_again(port, seed), 0, CHOSEN / 10);
}

static void ports_that_collide_under_one_seed(void **state)
{
	uint16_t port[CHOSEN];
	unsigned n = 0;

	for (uint32_t i = 0xc000; n < CHOSEN && i <= 0xffff; i++) {
		begin(7);
		send_by((uint16_t)i);
		for (unsigned k = 0; k < 4; k++)
			if (rig.rnic.handle[k].ah != NULL)
				port[n++] = (uint16_t)i;
	}
	assert_int_equal(n, CHOSEN);
	assert_int_equal(made_again(port, 7), CHOSEN);
	for (uint64_t seed = 8; seed < 58; seed++)
		assert_in_range(made_again(port, seed), 0, CHOSEN / 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ports_that_collide_without_a_secret),
		cmocka_unit_test(ports_that_collide_under_one_seed),
	};

	return cmocka_run_group_tests_name("ud_handles", tests, setup, teardown);
}
