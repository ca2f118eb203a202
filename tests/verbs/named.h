/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Loads verbs as collective libraries do: dlopen() of the library in NCCL_IBVERBS_LIB, and dlvsym()
 * with the version. If a symbol is missing, the program ends with exit code 2.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static inline void *verbs_found(void *what)
{
	if (what == NULL) {
		fprintf(stderr, "collective: %s\n", dlerror());
		exit(2);
	}
	return what;
}

static inline void *verbs_library(void)
{
	const char *path = getenv("NCCL_IBVERBS_LIB");

	return verbs_found(dlopen(path != NULL ? path : "libibverbs.so.1", RTLD_NOW | RTLD_LOCAL));
}

static inline void *verbs_named(void *library, const char *function)
{
	return verbs_found(dlvsym(library, function, "IBVERBS_1.1"));
}
