/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases of two processes. */
#include <algorithm>
#include <csignal>
#include <sys/wait.h>
#include <unistd.h>
#include "tests/xfer/nixl/cases.h"

#define MIB (1u << 20)

static void bytes_check(const Buffer &buffer, size_t from, size_t length, unsigned seed)
{
	for (size_t i = from; i < from + length; i++)
		if (buffer.bytes[i] != byte_of(seed, i))
			fail("round %u: byte %zu is %u instead of %u", seed, i, buffer.bytes[i],
				byte_of(seed, i));
}

void case_order(const char *plugin)
{
	constexpr size_t SIZE = 16 * MIB;
	constexpr unsigned ROUNDS = 8;
	/* The child looks at its buffer at once when a notification arrives. */
	Child child = child_start(plugin, SIZE, [](Agent &agent, Buffer &buffer, int socket) {
		for (unsigned round = 1; round <= ROUNDS; round++) {
			if (agent.notification_wait("parent") != std::to_string(round))
				fail("a notification has the wrong text");
			bytes_check(buffer, 0, SIZE, round);
			text_send(socket, "right");
		}
		text_receive(socket);
	});
	Agent agent(plugin, "parent");
	Buffer buffer;
	std::vector<Range> ranges;
	nixlBackendMD *metadata = child_meet(agent, child, SIZE);

	agent.memory_register(buffer, SIZE);
	for (size_t at = 0, i = 0; at < SIZE; i++) {
		size_t length = std::min(SIZE - at, (i * 7919 % 97 + 1) * 4099);

		ranges.push_back({&buffer, at, child.address + at, metadata, length});
		at += length;
	}
	for (unsigned round = 1; round <= ROUNDS; round++) {
		buffer.fill(round);
		agent.transfer(NIXL_WRITE, "child", ranges, std::to_string(round).c_str());
		if (text_receive(child.socket) != "right")
			fail("the child has found wrong content");
	}
	child_end(child);
	agent.engine->unloadMD(metadata);
}

/*
 * Each process writes into the second half of the other's buffer, and reads the first half of it,
 * with more descriptors than libhp3x has ops.
 */
static void both_run(
	Agent &agent, Buffer &buffer, const std::string &other, const Child &at, unsigned seed)
{
	constexpr size_t PIECE = 1000, N = 5000, HALF = PIECE * N;
	std::vector<Range> writes, reads;
	nixlBackendReqH *handles[2];
	nixlBackendMD *metadata;
	Buffer in;

	agent.memory_register(in, HALF);
	expect(agent.metadata_load(other, at.address, 2 * HALF, at.data, metadata), NIXL_SUCCESS,
		"loadRemoteMD");
	for (size_t i = 0; i < N; i++) {
		size_t k = N - 1 - i; /* so that descriptors do not follow each other */

		writes.push_back(
			{&buffer, k * PIECE, at.address + HALF + k * PIECE, metadata, PIECE});
		reads.push_back({&in, k * PIECE, at.address + k * PIECE, metadata, PIECE});
	}
	for (unsigned round = 0; round < 3; round++) {
		expect(agent.prepare(NIXL_WRITE, other, writes, handles[0]), NIXL_SUCCESS, "write");
		expect(agent.prepare(NIXL_READ, other, reads, handles[1]), NIXL_SUCCESS, "read");
		for (int i = 0; i < 2; i++) {
			nixl_status_t status = agent.post(i == 0 ? NIXL_WRITE : NIXL_READ, other,
				handles[i], i == 0 ? "written" : "read");

			if (status != NIXL_SUCCESS)
				expect(status, NIXL_IN_PROG, "postXfer");
		}
		for (int i = 0; i < 2; i++) {
			expect(agent.end_wait(handles[i]), NIXL_SUCCESS, "transfer");
			expect(agent.engine->releaseReqH(handles[i]), NIXL_SUCCESS, "release");
		}
		for (int i = 0; i < 2; i++)
			agent.notification_wait(other);
		for (size_t i = 0; i < HALF; i++)
			if (buffer.bytes[HALF + i] != byte_of(3 - seed, i) ||
				in.bytes[i] != byte_of(3 - seed, i))
				fail("byte %zu of a transfer is wrong", i);
		in.bytes.assign(in.bytes.size(), 0);
		std::fill(buffer.bytes.begin() + HALF, buffer.bytes.end(), 0);
		/* Both have looked at it: the next round may write. */
		expect(agent.engine->genNotif(other, "next"), NIXL_SUCCESS, "genNotif");
		if (agent.notification_wait(other) != "next")
			fail("a notification has the wrong text");
	}
	agent.engine->unloadMD(metadata);
}

void case_both(const char *plugin)
{
	constexpr size_t SIZE = 10000000;
	Child child = child_start(plugin, SIZE, [](Agent &agent, Buffer &buffer, int socket) {
		Child parent = {};

		buffer.fill(2);
		parent.address = std::stoull(text_receive(socket));
		parent.info = text_receive(socket);
		parent.data = text_receive(socket);
		expect(agent.engine->loadRemoteConnInfo("parent", parent.info), NIXL_SUCCESS,
			"loadRemoteConnInfo");
		text_send(socket, "ready");
		both_run(agent, buffer, "parent", parent, 2);
		text_send(socket, "done");
		text_receive(socket);
	});
	Agent agent(plugin, "parent");
	Buffer buffer;

	agent.memory_register(buffer, SIZE);
	buffer.fill(1);
	text_send(child.socket, std::to_string(buffer.at(0)));
	text_send(child.socket, agent.info());
	text_send(child.socket, buffer.public_data);
	expect(agent.engine->loadRemoteConnInfo("child", child.info), NIXL_SUCCESS,
		"loadRemoteConnInfo");
	if (text_receive(child.socket) != "ready")
		fail("the child has failed");
	both_run(agent, buffer, "child", child, 1);
	if (text_receive(child.socket) != "done")
		fail("the child has failed");
	child_end(child);
}

/* Stops the child, so that a transfer with it stays in flight. */
static void child_stop(const Child &child)
{
	int status;

	if (kill(child.pid, SIGSTOP) < 0 || waitpid(child.pid, &status, WUNTRACED) < 0)
		fail("the child cannot be stopped");
}

/*
 * The first transfer takes all ops of libhp3x, the second one has none: it is in flight, too. The
 * child is stopped.
 */
static void waiting_release(Agent &agent, const Child &child, nixlBackendMD *metadata)
{
	std::vector<Range> many;
	nixlBackendReqH *handles[2];
	Buffer in[2];

	agent.memory_register(in[0], 5000);
	agent.memory_register(in[1], 5000);
	for (size_t i = 0; i < 5000; i++)
		many.push_back({&in[0], i, child.address + i, metadata, 1});
	expect(agent.prepare(NIXL_READ, "child", many, handles[0]), NIXL_SUCCESS, "prepXfer");
	expect(agent.prepare(NIXL_READ, "child", {{&in[1], 0, child.address, metadata, 5000}},
		       handles[1]),
		NIXL_SUCCESS, "prepXfer");
	for (nixlBackendReqH *&handle : handles)
		expect(agent.post(NIXL_READ, "child", handle, "first"), NIXL_IN_PROG, "postXfer");
	for (int i = 0; i < 2; i++) {
		expect(agent.engine->deregisterMem(in[i].metadata), NIXL_ERR_NOT_ALLOWED,
			"deregisterMem in flight");
		expect(agent.engine->checkXfer(handles[i]), NIXL_IN_PROG, "checkXfer");
	}
	for (int i = 1; i >= 0; i--) {
		expect(agent.engine->releaseReqH(handles[i]), NIXL_SUCCESS, "releaseReqH");
		expect(agent.engine->deregisterMem(in[i].metadata), NIXL_SUCCESS, "deregisterMem");
	}
}

/* Memory whose deregistration was refused is deregistered when its last transfer has ended. */
static void gone_check(const char *plugin, Agent &agent, const Buffer &buffer)
{
	Agent third(plugin, "third");
	Buffer from;
	nixlBackendReqH *handle;
	nixlBackendMD *metadata;

	third.memory_register(from, 100);
	expect(third.engine->loadRemoteConnInfo("parent", agent.info()), NIXL_SUCCESS,
		"loadRemoteConnInfo");
	expect(third.metadata_load("parent", buffer.at(0), 100, buffer.public_data, metadata),
		NIXL_SUCCESS, "loadRemoteMD");
	expect(third.prepare(
		       NIXL_WRITE, "parent", {{&from, 0, buffer.at(0), metadata, 100}}, handle),
		NIXL_SUCCESS, "prepXfer");
	third.post(NIXL_WRITE, "parent", handle, "x");
	expect(third.end_wait(handle), NIXL_ERR_NOT_FOUND, "a write to memory that is gone");
	expect(third.engine->releaseReqH(handle), NIXL_SUCCESS, "releaseReqH");
	third.engine->unloadMD(metadata);
}

void case_release(const char *plugin)
{
	constexpr size_t SIZE = 32 * MIB;
	Child child = child_start(plugin, SIZE, [](Agent &agent, Buffer &buffer, int socket) {
		/* There is none of the transfer that was released. */
		if (agent.notification_wait("parent") != "second")
			fail("a transfer that was released has sent its notification");
		bytes_check(buffer, 0, SIZE, 2);
		text_send(socket, "right");
		text_receive(socket);
	});
	Agent agent(plugin, "parent");
	Buffer buffer, other;
	nixlBackendReqH *handle;
	nixlBackendMD *metadata = child_meet(agent, child, SIZE);

	agent.memory_register(buffer, SIZE);
	agent.memory_register(other, SIZE);
	other.fill(2);
	agent.transfer(NIXL_WRITE, "child", {{&buffer, 0, child.address, metadata, SIZE}}, nullptr);
	child_stop(child);
	expect(agent.prepare(
		       NIXL_WRITE, "child", {{&buffer, 0, child.address, metadata, SIZE}}, handle),
		NIXL_SUCCESS, "prepXfer");
	expect(agent.post(NIXL_WRITE, "child", handle, "first"), NIXL_IN_PROG, "postXfer");
	expect(agent.engine->checkXfer(handle), NIXL_IN_PROG, "checkXfer");
	expect(agent.post(NIXL_WRITE, "child", handle, "first"), NIXL_ERR_REPOST_ACTIVE,
		"postXfer in flight");
	expect(agent.engine->deregisterMem(buffer.metadata), NIXL_ERR_NOT_ALLOWED,
		"deregisterMem in flight");
	expect(agent.engine->releaseReqH(handle), NIXL_SUCCESS, "releaseReqH in flight");
	gone_check(plugin, agent, buffer);
	expect(agent.engine->deregisterMem(buffer.metadata), NIXL_SUCCESS, "deregisterMem");
	waiting_release(agent, child, metadata);
	if (kill(child.pid, SIGCONT) < 0)
		fail("the child does not go on");
	agent.transfer(NIXL_WRITE, "child", {{&other, 0, child.address, metadata, SIZE}}, "second");
	if (text_receive(child.socket) != "right")
		fail("the child has found wrong content");
	child_end(child);
	agent.engine->unloadMD(metadata);
}

void case_death(const char *plugin)
{
	constexpr size_t SIZE = 32 * MIB;
	const ChildMain sleeper = [](Agent &, Buffer &, int socket) { text_receive(socket); };
	Child child = child_start(plugin, SIZE, sleeper);
	Agent agent(plugin, "parent");
	Buffer buffer;
	nixlBackendReqH *handle, *second;
	nixlBackendMD *metadata = child_meet(agent, child, SIZE);
	std::vector<Range> ranges;
	int status;

	agent.memory_register(buffer, SIZE);
	ranges = {{&buffer, 0, child.address, metadata, SIZE}};
	agent.transfer(NIXL_READ, "child", ranges, nullptr);
	child_stop(child);
	expect(agent.prepare(NIXL_WRITE, "child", ranges, handle), NIXL_SUCCESS, "prepXfer");
	expect(agent.prepare(NIXL_READ, "child", ranges, second), NIXL_SUCCESS, "prepXfer");
	expect(agent.post(NIXL_WRITE, "child", handle, "x"), NIXL_IN_PROG, "postXfer");
	expect(agent.post(NIXL_READ, "child", second, nullptr), NIXL_IN_PROG, "postXfer");
	if (kill(child.pid, SIGKILL) < 0 || waitpid(child.pid, &status, 0) < 0)
		fail("the child cannot be killed");
	expect(agent.end_wait(handle), NIXL_ERR_REMOTE_DISCONNECT, "a write to a dead process");
	expect(agent.end_wait(second), NIXL_ERR_REMOTE_DISCONNECT, "a read of a dead process");
	expect(agent.engine->releaseReqH(second), NIXL_SUCCESS, "releaseReqH");
	expect(agent.post(NIXL_WRITE, "child", handle, nullptr), NIXL_ERR_REMOTE_DISCONNECT,
		"postXfer to a dead process");
	expect(agent.engine->releaseReqH(handle), NIXL_SUCCESS, "releaseReqH");
	if (agent.engine->genNotif("child", "x") == NIXL_SUCCESS)
		fail("a notification to a dead process succeeds");
	agent.engine->unloadMD(metadata);
	close(child.socket);
	/* Started again, with the same name. Then this agent leaves first. */
	child = child_start(plugin, SIZE, sleeper);
	metadata = child_meet(agent, child, SIZE);
	ranges[0].remote = child.address;
	ranges[0].remote_metadata = metadata;
	agent.transfer(NIXL_WRITE, "child", ranges, "back");
	child_stop(child);
	expect(agent.prepare(NIXL_WRITE, "child", ranges, handle), NIXL_SUCCESS, "prepXfer");
	expect(agent.post(NIXL_WRITE, "child", handle, nullptr), NIXL_IN_PROG, "postXfer");
	expect(agent.engine->disconnect("child"), NIXL_SUCCESS, "disconnect");
	expect(agent.end_wait(handle), NIXL_ERR_REMOTE_DISCONNECT, "disconnect in flight");
	expect(agent.engine->releaseReqH(handle), NIXL_SUCCESS, "releaseReqH");
	agent.engine->unloadMD(metadata);
	if (kill(child.pid, SIGCONT) < 0)
		fail("the child does not go on");
	child_end(child);
}
