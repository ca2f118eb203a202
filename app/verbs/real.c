/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looks up the functions of the real library by its handle: RTLD_NEXT depends on how this library
 * was loaded, and a call by name would find the function of this library.
 */
#include "app/verbs/shim.h"

#include <dlfcn.h>
#include <stdlib.h>

static struct hp3v_real real;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load_functions(void)
{
	void *library = dlopen("libibverbs.so.1", RTLD_LAZY | RTLD_LOCAL);

	if (library == NULL)
		abort(); /* cannot happen: this library is linked with it */

#define X(name, version) *(void **)&real.name = dlvsym(library, "ibv_" #name, version);
	HP3V_REAL(X)
#undef X
}

const struct hp3v_real *hp3v_real(void)
{
	pthread_once(&once, load_functions);
	return &real;
}
