/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that is linked with libhp3verbs.so in front of libibverbs: contexts are the library's.
 */
#include "tests/verbs/fake.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	return 0;
}

static int poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	return 0;
}

static struct ibv_context *open_context(struct fake_device *device)
{
	static struct verbs_context v = {.sz = sizeof(v)};

	v.context.device = &device->device;
	v.context.ops.post_send = post_send;
	v.context.ops.poll_cq = poll_cq;
	return &v.context;
}

static void test_linked(void **state)
{
	static const struct fake_calls calls = {.open = open_context};
	static struct fake_device device = {.device = {.name = "linked"}, .calls = &calls};
	struct ibv_context *context = ibv_open_device(&device.device);
	Dl_info from;

	assert_non_null(context);
	assert_true(context->ops.post_send != post_send && context->ops.poll_cq != poll_cq);
	assert_int_not_equal(dladdr((void *)context->ops.post_send, &from), 0);
	assert_non_null(strstr(from.dli_fname, "libhp3verbs.so"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_linked)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
