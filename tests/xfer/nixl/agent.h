/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Stand-in for NIXL's agent: loads the plugin as NIXL does, and has one engine. It calls the engine
 * in the order in which NIXL 1.4.0 does. Any call that does not return what it should ends the
 * process with exit code 1 and a line on stderr.
 */
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>
#include "backend/backend_plugin.h"

#define LIMIT_S 60 /* of a step; on a quiet machine, a step takes milliseconds */

[[noreturn]] void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
void expect(nixl_status_t status, nixl_status_t expected, const char *what);
/* Calls `step` until it returns true; fails after LIMIT_S. */
void wait_for(const char *what, const std::function<bool()> &step);

/* Memory that is registered. */
struct Buffer {
	std::vector<uint8_t> bytes;
	nixlBackendMD *metadata = nullptr; /* at its owner */
	std::string public_data;

	uintptr_t at(size_t offset) const
	{
		return reinterpret_cast<uintptr_t>(bytes.data()) + offset;
	}
	/* Each byte depends on its offset and on `seed`. */
	void fill(unsigned seed);
};

uint8_t byte_of(unsigned seed, size_t offset);

/* A range of a buffer of this process, and of one of another agent, in bytes. */
struct Range {
	const Buffer *local;
	size_t local_offset;
	uintptr_t remote;
	nixlBackendMD *remote_metadata; /* at the agent that transfers */
	size_t length;
};

class Agent
{
      public:
	Agent(const char *plugin, const std::string &name, nixl_b_params_t more = {});
	~Agent();

	void memory_register(Buffer &buffer, size_t size);
	std::string info() const;
	/* Loads metadata of a buffer at `address` of another agent. */
	nixl_status_t metadata_load(const std::string &agent, uintptr_t address, size_t size,
		const std::string &data, nixlBackendMD *&metadata);
	nixl_status_t prepare(nixl_xfer_op_t op, const std::string &agent,
		const std::vector<Range> &ranges, nixlBackendReqH *&handle);
	/* `notification` NULL: none. */
	nixl_status_t post(nixl_xfer_op_t op, const std::string &agent, nixlBackendReqH *&handle,
		const char *notification);
	/* Status at the end of the transfer. */
	nixl_status_t end_wait(nixlBackendReqH *handle);
	/* Prepares, posts, waits, releases: succeeds. */
	void transfer(nixl_xfer_op_t op, const std::string &agent, const std::vector<Range> &ranges,
		const char *notification);
	/* The next notification; it comes from `agent`. */
	std::string notification_wait(const std::string &agent);

	nixlBackendEngine *engine = nullptr;

      private:
	nixlBackendPlugin *plugin;
	nixl_b_params_t params;
	notif_list_t notifications;
};
