/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* Stand-in for a header of NIXL, for tests: what nixl_plugin_init() returns (see nixl_types.h). */
#include "backend/backend_engine.h"

#define NIXL_PLUGIN_API_VERSION 1
#define NIXL_PLUGIN_EXPORT      __attribute__((visibility("default")))

class nixlBackendPlugin
{
      public:
	int api_version;
	nixlBackendEngine *(*create_engine)(const nixlBackendInitParams *params);
	void (*destroy_engine)(nixlBackendEngine *engine);
	const char *(*get_plugin_name)();
	const char *(*get_plugin_version)();
	nixl_b_params_t (*get_backend_options)();
	nixl_mem_list_t (*get_backend_mems)();
};

extern "C" {
NIXL_PLUGIN_EXPORT nixlBackendPlugin *nixl_plugin_init();
NIXL_PLUGIN_EXPORT void nixl_plugin_fini();
}
