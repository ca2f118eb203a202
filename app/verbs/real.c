/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looks up the functions of the real library by its handle: RTLD_NEXT depends on how this library
 * was loaded, and a call by name would find the function of this library.
 */
#include "app/clock.h"
#include "app/verbs/shim.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static struct hp3v_real real;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load_functions(void)
{
	void *library = dlopen("libibverbs.so.1", RTLD_LAZY | RTLD_LOCAL);
	const struct {
		void **function;
		const char *name, *version;
	} wanted[] = {
		{(void **)&real.open_device, "ibv_open_device", "IBVERBS_1.1"},
		{(void **)&real.import_device, "ibv_import_device", "IBVERBS_1.10"},
		{(void **)&real.close_device, "ibv_close_device", "IBVERBS_1.1"},
		{(void **)&real.create_qp, "ibv_create_qp", "IBVERBS_1.1"},
		{(void **)&real.modify_qp, "ibv_modify_qp", "IBVERBS_1.1"},
		{(void **)&real.query_qp, "ibv_query_qp", "IBVERBS_1.1"},
		{(void **)&real.destroy_qp, "ibv_destroy_qp", "IBVERBS_1.1"},
		{(void **)&real.destroy_cq, "ibv_destroy_cq", "IBVERBS_1.1"},
		{(void **)&real.query_gid, "ibv_query_gid", "IBVERBS_1.1"},
		{(void **)&real.get_async_event, "ibv_get_async_event", "IBVERBS_1.1"},
		{(void **)&real.ack_async_event, "ibv_ack_async_event", "IBVERBS_1.1"},
		{(void **)&real.qp_to_qp_ex, "ibv_qp_to_qp_ex", "IBVERBS_1.6"},
	};

	if (library == NULL) {
		fputs("libhp3verbs: libibverbs.so.1 cannot be opened: see LD_DEBUG=libs\n", stderr);
		abort(); /* cannot happen: this library is linked with it */
	}
	for (unsigned int i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		*wanted[i].function = dlvsym(library, wanted[i].name, wanted[i].version);
}

const struct hp3v_real *hp3v_real(void)
{
	pthread_once(&once, load_functions);
	return &real;
}

uint64_t hp3v_now(void)
{
	return hp3_clock_ns(CLOCK_MONOTONIC);
}
