/* SPDX-License-Identifier: BSD-3-Clause */
/* The two functions that NIXL looks up, and the table that it gets. */
#include <exception>
#include "backend/backend_plugin.h"
#include "xfer/nixl/engine.h"

namespace
{

nixlBackendEngine *engine_create(const nixlBackendInitParams *params)
{
	try {
		return new hp3::Engine(params);
	} catch (const std::exception &e) {
		hp3::refuse(NIXL_ERR_BACKEND, "no engine: %s", e.what());
		return nullptr;
	}
}

void engine_destroy(nixlBackendEngine *engine)
{
	delete engine;
}

const char *plugin_name()
{
	return "HP3";
}

const char *plugin_version()
{
	return HP3_VERSION;
}

nixl_mem_list_t memory_types()
{
	return {DRAM_SEG};
}

nixlBackendPlugin table = {NIXL_PLUGIN_API_VERSION, engine_create, engine_destroy, plugin_name,
	plugin_version, hp3::options_list, memory_types};

} // namespace

extern "C" {

NIXL_PLUGIN_EXPORT nixlBackendPlugin *nixl_plugin_init()
{
	return &table;
}

/* Engines free all they have when NIXL destroys them. */
NIXL_PLUGIN_EXPORT void nixl_plugin_fini()
{
}
}
