/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * A stand-in for the agent of NIXL, for tests of the plugin: loads it with dlopen(), and calls it
 * as an agent does. Functions end the program with exit code 1 and a sentence if a step fails.
 */
#include <memory>
#include "backend/backend_plugin.h"

#define LIMIT_S 60 /* of a step; on a quiet machine, a step takes milliseconds */

[[noreturn]] void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
void must(nixl_status_t status, const char *what);
/* Seconds, monotonic. */
double seconds();
/* Ends the program if `since` is LIMIT_S ago; else lets other threads run. */
void check_time(double since, const char *what);
/* What fd 2 gets while `call` runs must have `text`, and its result must be `status`. */
template <class F> void expect_error(nixl_status_t status, const char *text, F call);

/* One backend, and the memory that it registered. */
struct agent {
	std::string name;
	nixlBackendEngine *engine = nullptr;
};

struct memory {
	std::string bytes;
	nixlBackendMD *metadata = nullptr;

	uintptr_t address() const
	{
		return (uintptr_t)bytes.data();
	}
};

/* One part of a transfer: memory here, and memory of the other agent, as metadata name it. */
struct part {
	const memory *here;
	size_t from;
	const memory *there;
	nixlBackendMD *loaded;
	size_t to, length;
};

/* A request as NIXL keeps it. */
struct request {
	nixl_xfer_op_t operation;
	nixl_meta_dlist_t here{DRAM_SEG}, there{DRAM_SEG};
	std::string agent;
	nixlBackendReqH *handle = nullptr;
};

void plugin_load(const char *path);
const nixlBackendPlugin *plugin_get();
/* NULL: the backend says that it failed. */
nixlBackendEngine *engine_make(const std::string &name, nixl_b_params_t params);
/* A backend over TCP on 127.0.0.1. */
agent agent_make(const std::string &name, const char *peer_timeout_ms = "10000");
void agent_end(agent &a);
std::string connection_of(const agent &a);
/* `a` learns of `b`. */
void agent_load(agent &a, const agent &b);
/* Memory with random bytes, registered. */
std::unique_ptr<memory> memory_make(agent &a, size_t length, uint32_t seed);
void memory_end(agent &a, memory &m);
std::string description_of(const agent &a, const memory &m);
/* `a` loads memory at `address` of another agent. */
nixlBackendMD *memory_load(agent &a, const std::string &owner, uintptr_t address, size_t length,
	const std::string &description);
/* As above, of an agent in this process. */
nixlBackendMD *memory_share(agent &a, const agent &owner, const memory &m);

/* Prepares a transfer with the agent `to`. */
std::unique_ptr<request> prepare(
	agent &a, nixl_xfer_op_t operation, const std::string &to, const std::vector<part> &parts);
/* Posts it; NULL: without a notification. */
nixl_status_t post(agent &a, request &r, const char *notification);
/* The status with which it ends. */
nixl_status_t finish(agent &a, request &r);
void release(agent &a, request &r);
/* Prepares, posts, waits for success, releases. */
void transfer(agent &a, nixl_xfer_op_t operation, const std::string &to,
	const std::vector<part> &parts, const char *notification);
/* Waits for one notification; it must be this one. */
void expect_notification(agent &a, const std::string &from, const std::string &text);

/* See expect_error(). */
int stderr_catch();
std::string stderr_release(int kept);

template <class F> void expect_error(nixl_status_t status, const char *text, F call)
{
	int kept = stderr_catch();
	nixl_status_t got = call();
	std::string said = stderr_release(kept);

	if (got != status)
		fail("status %d instead of %d (\"%s\"): %s", got, status, text, said.c_str());
	if (said.find(text) == std::string::npos)
		fail("the error says \"%s\" instead of \"%s\"", said.c_str(), text);
}

/* Cases: see main.cpp. */
void case_data();
void case_many();
void case_long();
void case_notification();
void case_both();
void case_release();
void case_deregister();
void case_death();
void case_stopped();
void case_disconnect();
void case_peers();
void case_refusals();
void case_metadata();
void case_messages();
