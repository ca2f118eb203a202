/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory: registered here, or described by another agent. */
#include "xfer/nixl/engine.h"

namespace hp3x_nixl
{

static const char *memory_name(nixl_mem_t type)
{
	static const char *const names[] = {"host", "device", "block", "object", "file"};

	return (size_t)type < sizeof(names) / sizeof(names[0]) ? names[type] : "unknown";
}

static nixl_status_t type_check(nixl_mem_t type)
{
	if (type == DRAM_SEG)
		return NIXL_SUCCESS;
	return fail_with(NIXL_ERR_NOT_SUPPORTED,
		"%s memory: this backend has host memory (DRAM_SEG) only; use another one for it",
		memory_name(type));
}

nixl_status_t engine::registerMem(
	const nixlBlobDesc &memory, const nixl_mem_t &type, nixlBackendMD *&out)
{
	char text[HP3X_DESCRIPTION];
	hp3x_region *region;
	int length;

	out = nullptr;
	if (type_check(type) != NIXL_SUCCESS)
		return NIXL_ERR_NOT_SUPPORTED;
	guard held(lock);
	if (hp3x_region_add(domain, (void *)memory.addr, memory.len, &region) < 0)
		return fail_with(
			NIXL_ERR_BACKEND, "%zu bytes of memory: %s", memory.len, hp3x_error());
	length = hp3x_region_describe(region, text, sizeof(text));
	if (length < 0) {
		hp3x_region_remove(region);
		return fail_with(NIXL_ERR_BACKEND, "descriptor of memory: %s", hp3x_error());
	}
	auto metadata = std::make_unique<local_metadata>();
	metadata->memory = std::make_shared<local_memory>(
		local_memory{region, memory.addr, memory.len, std::string(text, (size_t)length)});
	out = metadata.release();
	return NIXL_SUCCESS;
}

static bool uses_memory(const transfer &t, const local_memory *memory)
{
	for (const step &s : t.steps)
		if (s.local.get() == memory)
			return true;
	return false;
}

/*
 * NIXL ignores the result, and lets its caller free the memory. So a transfer that uses the memory
 * ends here, instead of an error.
 */
nixl_status_t engine::deregisterMem(nixlBackendMD *metadata)
{
	auto *m = static_cast<local_metadata *>(metadata);
	local_memory *memory = m->memory.get();
	guard held(lock);
	std::vector<transfer *> users;

	for (transfer *t : active)
		if (uses_memory(*t, memory))
			users.push_back(t);
	for (transfer *t : users)
		transfer_stop(*t, NIXL_ERR_CANCELED);
	for (transfer *t : users)
		if (!transfer_wait(held, t))
			return fail_with(NIXL_ERR_NOT_ALLOWED,
				"a transfer uses the memory and does not end: release it first");
	if (hp3x_region_remove(memory->region) < 0)
		return fail_with(
			NIXL_ERR_NOT_ALLOWED, "deregistration of memory: %s", hp3x_error());
	memory->region = nullptr; /* for transfers that are prepared with it */
	delete m;
	return NIXL_SUCCESS;
}

nixl_status_t engine::getPublicData(const nixlBackendMD *metadata, std::string &text) const
{
	text = static_cast<const local_metadata *>(metadata)->memory->description;
	return NIXL_SUCCESS;
}

static bool is_covered(const hp3x_remote &all, const nixlBlobDesc &part)
{
	return part.addr >= all.address && part.len <= all.length &&
	       part.addr - all.address <= all.length - part.len;
}

nixl_status_t engine::loadRemoteMD(const nixlBlobDesc &memory, const nixl_mem_t &type,
	const std::string &agent, nixlBackendMD *&out)
{
	hp3x_remote remote;

	out = nullptr;
	if (type_check(type) != NIXL_SUCCESS)
		return NIXL_ERR_NOT_SUPPORTED;
	guard held(lock);
	if (link_find(agent) == nullptr)
		return fail_with(NIXL_ERR_NOT_FOUND,
			"memory of agent %.64s: load its connection information first",
			agent.c_str());
	if (hp3x_remote_read(memory.metaInfo.data(), memory.metaInfo.size(), &remote) < 0)
		return fail_with(NIXL_ERR_MISMATCH,
			"metadata of agent %.64s: %s. Both agents need the same version of "
			"libplugin_HP3.so",
			agent.c_str(), hp3x_error());
	if (!is_covered(remote, memory))
		return fail_with(NIXL_ERR_MISMATCH,
			"metadata of agent %.64s are of other memory: load its metadata again",
			agent.c_str());
	auto metadata = std::make_unique<remote_metadata>();
	metadata->memory = std::make_shared<const hp3x_remote>(remote);
	out = metadata.release();
	return NIXL_SUCCESS;
}

nixl_status_t engine::unloadMD(nixlBackendMD *metadata)
{
	delete metadata;
	return NIXL_SUCCESS;
}

} // namespace hp3x_nixl
