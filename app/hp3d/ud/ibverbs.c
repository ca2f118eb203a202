/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/ud/ibverbs.h"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static int find_function(
	struct hp3d_ibverbs *v, const char *name, void *function, char *why, size_t cap)
{
	void *at = dlsym(v->library, name);

	if (at == NULL) {
		snprintf(why, cap, "it has no %s()", name);
		return -1;
	}
	memcpy(function, &at, sizeof(at));
	return 0;
}

int hp3d_ibverbs_load(struct hp3d_ibverbs *v, const char *path, char *why, size_t cap)
{
	int missing = 0;

	v->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (v->library == NULL) {
		snprintf(why, cap, "%s", dlerror());
		return -1;
	}
#define X(name, result, args) missing |= find_function(v, "ibv_" #name, &v->name, why, cap);
	HP3D_IBVERBS(X)
#undef X
	missing |= find_function(v, "_ibv_query_gid_ex", &v->query_gid_ex, why, cap);
	if (missing == 0)
		return 0;
	hp3d_ibverbs_unload(v);
	return -1;
}

void hp3d_ibverbs_unload(struct hp3d_ibverbs *v)
{
	if (v->library != NULL)
		dlclose(v->library);
	v->library = NULL;
}
