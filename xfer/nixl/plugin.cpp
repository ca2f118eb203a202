/* SPDX-License-Identifier: BSD-3-Clause */
/* What NIXL loads. */
#include <cstdio>
#include <exception>
#include "xfer/nixl/engine.h"

namespace hp3x_nixl
{

static nixlBackendEngine *engine_create(const nixlBackendInitParams *params)
{
	try {
		return new engine(params);
	} catch (const std::exception &e) {
		fail_with(NIXL_ERR_BACKEND, "no backend: %s", e.what());
		return nullptr;
	}
}

static void engine_destroy(nixlBackendEngine *e)
{
	delete e;
}

static const char *plugin_name()
{
	return "HP3";
}

static const char *plugin_version()
{
	return HP3_VERSION;
}

static nixl_b_params_t plugin_options()
{
	return options_default();
}

static nixl_mem_list_t plugin_memory()
{
	return {DRAM_SEG};
}

static nixlBackendPlugin plugin = {NIXL_PLUGIN_API_VERSION, engine_create, engine_destroy,
	plugin_name, plugin_version, plugin_options, plugin_memory};

} // namespace hp3x_nixl

nixlBackendPlugin *nixl_plugin_init()
{
	return &hp3x_nixl::plugin;
}

void nixl_plugin_fini()
{
}
