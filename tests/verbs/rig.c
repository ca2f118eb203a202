/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/verbs/rig.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct verbs verbs;
static void *provider_libraries[PROVIDERS];
static struct fake_device *(*device_of[PROVIDERS])(const char *name);

void rig_sleep_us(uint32_t us)
{
	struct timespec t = {us / 1000000u, (long)(us % 1000000u) * 1000};

	nanosleep(&t, NULL);
}

static void *name(const char *function)
{
	void *at = dlvsym(verbs.library, function, "IBVERBS_1.1");

	if (at == NULL) {
		fprintf(stderr, "%s: %s\n", function, dlerror());
		exit(1);
	}
	return at;
}

void rig_load(void)
{
	static const char *const providers[PROVIDERS] = {
		"HP3_TEST_RXE", "HP3_TEST_MLX5", "HP3_TEST_BNXT"};

	verbs.library = dlopen(getenv("HP3_TEST_VERBS"), RTLD_NOW | RTLD_LOCAL);
	if (verbs.library == NULL) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	*(void **)&verbs.open_device = name("ibv_open_device");
	*(void **)&verbs.close_device = name("ibv_close_device");
	*(void **)&verbs.alloc_pd = name("ibv_alloc_pd");
	*(void **)&verbs.create_cq = name("ibv_create_cq");
	*(void **)&verbs.destroy_cq = name("ibv_destroy_cq");
	*(void **)&verbs.create_qp = name("ibv_create_qp");
	*(void **)&verbs.modify_qp = name("ibv_modify_qp");
	*(void **)&verbs.query_qp = name("ibv_query_qp");
	*(void **)&verbs.destroy_qp = name("ibv_destroy_qp");
	*(void **)&verbs.get_async_event = name("ibv_get_async_event");
	for (int i = 0; i < PROVIDERS; i++) {
		void *library = dlopen(getenv(providers[i]), RTLD_NOW | RTLD_LOCAL);

		if (library == NULL)
			exit(1);
		provider_libraries[i] = library;
		*(void **)&device_of[i] = dlsym(library, "fake_device");
	}
}

void *rig_fake_break(enum provider provider)
{
	return dlsym(provider_libraries[provider], "fake_break");
}

/* What ibv_create_qp_ex(), which is inline, names although it is not called here. */
struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	return verbs.create_qp(pd, attr);
}

static struct ibv_qp *make(struct app *a, const struct app_options *o, uint32_t depth)
{
	struct ibv_qp_init_attr attr = {.send_cq = a->cq,
		.recv_cq = a->cq,
		.cap = {depth, 16, 4, 4, 64},
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = o->sig_all};
	struct ibv_qp_init_attr_ex ex = {.send_cq = a->cq,
		.recv_cq = a->cq,
		.cap = attr.cap,
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = o->sig_all,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = a->pd,
		.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_SEND_WITH_IMM};

	return o->extended ? ibv_create_qp_ex(a->context, &ex) : verbs.create_qp(a->pd, &attr);
}

void app_ready(struct app *a, unsigned int access)
{
	struct ibv_qp_attr init = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = access};
	struct ibv_qp_attr rtr = {.qp_state = IBV_QPS_RTR,
		.dest_qp_num = 0x77,
		.max_dest_rd_atomic = 1,
		.ah_attr = {.is_global = 1, .port_num = 1, .grh = {.sgid_index = 1}}};
	struct ibv_qp_attr rts = {.qp_state = IBV_QPS_RTS};

	assert_int_equal(
		verbs.modify_qp(a->qp, &init,
			IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
		0);
	assert_int_equal(
		verbs.modify_qp(a->qp, &rtr,
			IBV_QP_STATE | IBV_QP_AV | IBV_QP_DEST_QPN | IBV_QP_MAX_DEST_RD_ATOMIC),
		0);
	assert_int_equal(verbs.modify_qp(a->qp, &rts, IBV_QP_STATE | IBV_QP_SQ_PSN), 0);
}

void app_start(struct app *a, enum provider provider, const struct app_options *options)
{
	static const struct app_options plain;
	const struct app_options *o = options != NULL ? options : &plain;

	static uint32_t qpn = 16;

	memset(a, 0, sizeof(*a));
	a->device = device_of[provider]("fake0");
	a->device->qpn = qpn += 16;
	a->context = verbs.open_device(&a->device->device);
	assert_non_null(a->context);
	a->pd = verbs.alloc_pd(a->context);
	a->cq = verbs.create_cq(a->context, 4096, NULL, NULL, 0);
	a->qp = make(a, o, o->depth != 0 ? o->depth : 64u);
	assert_non_null(a->qp);
	a->fake = (struct fake_qp *)a->qp;
	app_ready(a, o->access);
}

void app_share(struct app *a, const struct app *with, const struct app_options *o)
{
	*a = (struct app){
		.device = with->device, .context = with->context, .pd = with->pd, .cq = with->cq};
	a->qp = make(a, o, o->depth);
	assert_non_null(a->qp);
	a->fake = (struct fake_qp *)a->qp;
	app_ready(a, o->access);
}

void app_stop(struct app *a)
{
	assert_int_equal(verbs.destroy_qp(a->qp), 0);
	assert_int_equal(verbs.destroy_cq(a->cq), 0);
	free(a->pd);
	assert_int_equal(verbs.close_device(a->context), 0);
	free(a->device);
}

int app_post(struct app *a, uint32_t n, uint32_t every)
{
	struct ibv_sge sge = {.addr = 4096, .length = 1000};
	struct ibv_send_wr wr[64] = {{0}}, *bad = NULL;
	int error;

	assert_true(n <= 64);
	for (uint32_t i = 0; i < n; i++) {
		wr[i].wr_id = a->posted + i;
		wr[i].sg_list = &sge;
		wr[i].num_sge = 1;
		wr[i].opcode = IBV_WR_RDMA_WRITE;
		wr[i].send_flags = (a->posted + i + 1u) % every == 0 ? IBV_SEND_SIGNALED : 0;
		wr[i].next = i + 1u < n ? &wr[i + 1u] : NULL;
	}
	error = ibv_post_send(a->qp, wr, &bad);
	a->posted += error == 0 ? n : (uint64_t)(bad - wr);
	a->due = a->posted / every * every > a->due ? a->posted / every * every : a->due;
	memset(wr, 0xee, sizeof(wr)); /* the caller may use its memory again at once */
	sge.length = 1;
	return error;
}

void app_poll(struct app *a)
{
	struct ibv_wc wc[16];
	int n = ibv_poll_cq(a->cq, 16, wc);

	assert_true(n >= 0);
	for (int i = 0; i < n; i++) {
		a->errors += wc[i].status != IBV_WC_SUCCESS;
		assert_true(wc[i].wr_id >= a->polled);
		a->polled = wc[i].wr_id + 1u;
	}
}

void app_finish(struct app *a)
{
	for (int i = 0; i < 20000 && (a->fake->logged < a->posted || a->polled < a->due); i++) {
		app_poll(a);
		rig_sleep_us(50);
	}
}

void app_check_order(const struct app *a)
{
	assert_int_equal(a->fake->overtaken, 0);
	assert_int_equal(a->fake->logged, a->posted);
	for (uint64_t i = 0; i < a->posted; i++)
		if (a->fake->log[i].wr_id != i || a->fake->log[i].bytes != 1000)
			fail_msg("%lu left in place of %lu", a->fake->log[i].wr_id, i);
}

static void *go_on(void *of)
{
	struct runner *r = of;

	while (!__atomic_load_n(&r->end, __ATOMIC_RELAXED) && r->app->posted + 64 < FAKE_LOG) {
		uint64_t before = r->app->posted;

		app_post(r->app, r->chain, r->every); /* ENOMEM: full for now */
		__atomic_fetch_add(
			&r->posts, (uint32_t)(r->app->posted - before), __ATOMIC_RELAXED);
		app_poll(r->app);
		__atomic_store_n(&r->done, r->app->polled > 0, __ATOMIC_RELEASE);
		rig_sleep_us(20);
	}
	while (r->app->posted % r->every != 0) /* the last one is signalled */
		if (app_post(r->app, 1, r->every) != 0)
			app_poll(r->app);
	app_finish(r->app);
	return NULL;
}

void runner_wait(struct runner *r, uint32_t posts)
{
	uint32_t before = __atomic_load_n(&r->posts, __ATOMIC_RELAXED);

	for (int tries = 0; tries < 50000; tries++) {
		if (__atomic_load_n(&r->posts, __ATOMIC_RELAXED) - before >= posts)
			return;
		rig_sleep_us(200);
	}
}

void runner_start(struct runner *r, struct app *a, uint32_t chain, uint32_t every)
{
	*r = (struct runner){.app = a, .chain = chain, .every = every};
	assert_int_equal(pthread_create(&r->thread, NULL, go_on, r), 0);
	runner_wait(r, 20);
	for (int i = 0; i < 50000 && !__atomic_load_n(&r->done, __ATOMIC_ACQUIRE); i++)
		rig_sleep_us(200);
}

void runner_end(struct runner *r)
{
	__atomic_store_n(&r->end, 1, __ATOMIC_RELAXED);
	pthread_join(r->thread, NULL);
}
