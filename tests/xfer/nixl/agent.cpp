/* SPDX-License-Identifier: BSD-3-Clause */
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <dlfcn.h>
#include <sched.h>
#include <unistd.h>
#include "tests/xfer/nixl/agent.h"

void fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fprintf(stderr, "process %d: ", static_cast<int>(getpid()));
	vfprintf(stderr, format, args);
	fprintf(stderr, "\n");
	va_end(args);
	_exit(1);
}

void expect(nixl_status_t status, nixl_status_t expected, const char *what)
{
	if (status != expected)
		fail("%s: status %d instead of %d", what, status, expected);
}

static double seconds()
{
	timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) / 1e9;
}

void wait_for(const char *what, const std::function<bool()> &step)
{
	double since = seconds();

	while (!step()) {
		if (seconds() - since > LIMIT_S)
			fail("%s: nothing happens for %d s", what, LIMIT_S);
		sched_yield();
	}
}

uint8_t byte_of(unsigned seed, size_t offset)
{
	return static_cast<uint8_t>((offset * 2654435761u + seed * 40503u) >> 7);
}

void Buffer::fill(unsigned seed)
{
	for (size_t i = 0; i < bytes.size(); i++)
		bytes[i] = byte_of(seed, i);
}

Agent::Agent(const char *path, const std::string &name, nixl_b_params_t more)
    : params(std::move(more))
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	nixlBackendInitParams init;

	if (library == nullptr)
		fail("%s", dlerror());
	auto entry = reinterpret_cast<nixlBackendPlugin *(*)()>(dlsym(library, "nixl_plugin_init"));
	if (entry == nullptr || dlsym(library, "nixl_plugin_fini") == nullptr)
		fail("%s has no nixl_plugin_init or nixl_plugin_fini", path);
	plugin = entry();
	if (plugin->api_version != NIXL_PLUGIN_API_VERSION ||
		std::string(plugin->get_plugin_name()) != "HP3" ||
		plugin->get_backend_mems() != nixl_mem_list_t{DRAM_SEG})
		fail("the table of the plugin has wrong entries");
	params.insert({{"provider", "tcp"}, {"rails", "127.0.0.1"}, {"listen", "127.0.0.1:0"}});
	init.localAgent = name;
	init.type = "HP3";
	init.customParams = &params;
	engine = plugin->create_engine(&init);
	if (engine == nullptr)
		fail("no engine");
}

Agent::~Agent()
{
	plugin->destroy_engine(engine);
}

void Agent::memory_register(Buffer &buffer, size_t size)
{
	buffer.bytes.assign(size, 0);
	nixlBlobDesc descriptor(buffer.at(0), size, 0);

	expect(engine->registerMem(descriptor, DRAM_SEG, buffer.metadata), NIXL_SUCCESS,
		"registerMem");
	expect(engine->getPublicData(buffer.metadata, buffer.public_data), NIXL_SUCCESS,
		"getPublicData");
}

std::string Agent::info() const
{
	std::string text;

	expect(engine->getConnInfo(text), NIXL_SUCCESS, "getConnInfo");
	return text;
}

nixl_status_t Agent::metadata_load(const std::string &agent, uintptr_t address, size_t size,
	const std::string &data, nixlBackendMD *&metadata)
{
	nixlBlobDesc descriptor(address, size, 0);

	descriptor.metaInfo = data;
	return engine->loadRemoteMD(descriptor, DRAM_SEG, agent, metadata);
}

nixl_status_t Agent::prepare(nixl_xfer_op_t op, const std::string &agent,
	const std::vector<Range> &ranges, nixlBackendReqH *&handle)
{
	nixl_meta_dlist_t local(DRAM_SEG), remote(DRAM_SEG);

	for (const Range &r : ranges) {
		local.addDesc({r.local->at(r.local_offset), r.length, 0, r.local->metadata});
		remote.addDesc({r.remote, r.length, 0, r.remote_metadata});
	}
	handle = nullptr;
	return engine->prepXfer(op, local, remote, agent, handle);
}

nixl_status_t Agent::post(nixl_xfer_op_t op, const std::string &agent, nixlBackendReqH *&handle,
	const char *notification)
{
	const nixl_meta_dlist_t none(DRAM_SEG);
	nixl_opt_b_args_t options;

	options.hasNotif = notification != nullptr;
	options.notifMsg = notification != nullptr ? notification : "";
	return engine->postXfer(op, none, none, agent, handle, &options);
}

nixl_status_t Agent::end_wait(nixlBackendReqH *handle)
{
	nixl_status_t status = NIXL_IN_PROG;

	wait_for("transfer", [&] {
		status = engine->checkXfer(handle);
		return status != NIXL_IN_PROG;
	});
	return status;
}

void Agent::transfer(nixl_xfer_op_t op, const std::string &agent, const std::vector<Range> &ranges,
	const char *notification)
{
	nixlBackendReqH *handle;
	nixl_status_t status;

	expect(prepare(op, agent, ranges, handle), NIXL_SUCCESS, "prepXfer");
	status = post(op, agent, handle, notification);
	if (status != NIXL_SUCCESS)
		expect(status, NIXL_IN_PROG, "postXfer");
	expect(end_wait(handle), NIXL_SUCCESS, "transfer");
	expect(engine->releaseReqH(handle), NIXL_SUCCESS, "releaseReqH");
}

std::string Agent::notification_wait(const std::string &agent)
{
	wait_for("notification", [&] {
		if (notifications.empty())
			expect(engine->getNotifs(notifications), NIXL_SUCCESS, "getNotifs");
		return !notifications.empty();
	});
	auto first = notifications.front();

	notifications.erase(notifications.begin());
	if (first.first != agent)
		fail("a notification of %s instead of %s", first.first.c_str(), agent.c_str());
	return first.second;
}
