/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of this process and of other agents. */
#include "xfer/nixl/engine.h"

namespace hp3
{

static nixl_status_t type_check(nixl_mem_t type)
{
	if (type == DRAM_SEG)
		return NIXL_SUCCESS;
	if (type == VRAM_SEG)
		return refuse(NIXL_ERR_NOT_SUPPORTED,
			"device memory (VRAM_SEG) is not supported: register host memory "
			"(DRAM_SEG), or use another backend");
	return refuse(NIXL_ERR_NOT_SUPPORTED,
		"memory of type %d is not supported: register host memory (DRAM_SEG)",
		static_cast<int>(type));
}

nixl_status_t Engine::registerMem(
	const nixlBlobDesc &mem, const nixl_mem_t &type, nixlBackendMD *&out)
{
	auto memory = std::make_shared<Memory>();
	char text[HP3X_DESCRIPTION];
	nixl_status_t status = type_check(type);
	int n;

	out = nullptr;
	if (status != NIXL_SUCCESS)
		return status;
	n = hp3x_region_add(domain, reinterpret_cast<void *>(mem.addr), mem.len, &memory->region);
	if (n < 0)
		return refuse(status_of_error(n), "%zu bytes of memory are not registered: %s",
			mem.len, hp3x_error());
	n = hp3x_region_describe(memory->region, text, sizeof(text));
	if (n < 0) {
		hp3x_region_remove(memory->region);
		return refuse(status_of_error(n), "memory has no descriptor: %s", hp3x_error());
	}
	memory->description.assign(text, static_cast<size_t>(n));
	memory->base = mem.addr;
	memory->size = mem.len;
	out = memory.get();
	std::lock_guard<std::mutex> guard(lock);
	memories.push_back(std::move(memory));
	return NIXL_SUCCESS;
}

/* False: a transfer uses it. With the engine's lock. */
static bool region_remove(Memory &memory)
{
	if (memory.users != 0 ||
		(memory.region != nullptr && hp3x_region_remove(memory.region) < 0))
		return false;
	memory.region = nullptr;
	return true;
}

void Engine::memories_tidy() const
{
	std::lock_guard<std::mutex> guard(lock);

	for (auto &memory : memories)
		if (memory->leaving)
			region_remove(*memory);
}

nixl_status_t Engine::deregisterMem(nixlBackendMD *meta)
{
	std::lock_guard<std::mutex> guard(lock);

	for (auto at = memories.begin(); at != memories.end(); ++at) {
		Memory *memory = at->get();

		if (memory != meta)
			continue;
		if (!region_remove(*memory)) {
			memory->leaving = true;
			return refuse(NIXL_ERR_NOT_ALLOWED,
				"a transfer uses this memory: release the transfer first, then "
				"deregister the memory");
		}
		memories.erase(at);
		return NIXL_SUCCESS;
	}
	return refuse(NIXL_ERR_NOT_FOUND, "this memory is not registered here");
}

nixl_status_t Engine::getPublicData(const nixlBackendMD *meta, std::string &text) const
{
	if (meta == nullptr)
		return refuse(NIXL_ERR_INVALID_PARAM, "getPublicData: no memory was passed");
	text = static_cast<const Memory *>(meta)->description;
	return NIXL_SUCCESS;
}

nixl_status_t Engine::loadRemoteMD(const nixlBlobDesc &input, const nixl_mem_t &type,
	const std::string &agent, nixlBackendMD *&output)
{
	auto memory = std::make_unique<RemoteMemory>();
	const hp3x_remote &r = memory->remote;
	nixl_status_t status = type_check(type);

	output = nullptr;
	if (status != NIXL_SUCCESS)
		return status;
	if (hp3x_remote_read(input.metaInfo.data(), input.metaInfo.size(), &memory->remote) < 0)
		return refuse(NIXL_ERR_MISMATCH,
			"metadata of agent %s are damaged, or of another version: load them again "
			"(%s)",
			agent.c_str(), hp3x_error());
	if (input.addr < r.address || input.addr - r.address > r.length ||
		input.len > r.length - (input.addr - r.address))
		return refuse(NIXL_ERR_MISMATCH,
			"metadata of agent %s are for %llu bytes at %#llx, not for %zu bytes at "
			"%#llx: load the metadata of this memory",
			agent.c_str(), static_cast<unsigned long long>(r.length),
			static_cast<unsigned long long>(r.address), input.len,
			static_cast<unsigned long long>(input.addr));
	output = memory.release();
	return NIXL_SUCCESS;
}

nixl_status_t Engine::unloadMD(nixlBackendMD *input)
{
	delete input;
	return NIXL_SUCCESS;
}

} // namespace hp3
