/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases with faults: transfers that are released, memory that goes, agents that die. */
#include <csignal>
#include <cstring>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tests/xfer/nixl/agent.h"

#define MIB    (1u << 20)
#define LENGTH (48u * MIB) /* still under way when the next call comes */
#define ROUNDS 8

/* A page-aligned memory that can be unmapped. */
struct mapping {
	char *bytes;
	nixlBackendMD *metadata = nullptr;

	explicit mapping(agent &a)
	    : bytes((char *)mmap(
		      nullptr, LENGTH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
	{
		if (bytes == MAP_FAILED)
			fail("no memory");
		must(a.engine->registerMem({(uintptr_t)bytes, LENGTH, 0}, DRAM_SEG, metadata),
			"registerMem");
	}
	std::unique_ptr<request> read_all(
		agent &a, const std::string &to, const memory &from, nixlBackendMD *loaded)
	{
		auto r = std::make_unique<request>();

		r->operation = NIXL_READ;
		r->agent = to;
		r->here.addDesc({(uintptr_t)bytes, LENGTH, 0, metadata});
		r->there.addDesc({from.address(), LENGTH, 0, loaded});
		must(a.engine->prepXfer(NIXL_READ, r->here, r->there, to, r->handle, nullptr),
			"prepXfer");
		return r;
	}
};

/* Reads that end before they can be released do not count. */
static void check_rounds(int in_flight, const char *what)
{
	if (in_flight == 0)
		fail("%s: no transfer of %d was under way", what, ROUNDS);
}

/* After release, no rail of this host writes into the memory of a read. */
void case_release()
{
	agent a = agent_make("a"), b = agent_make("b");
	auto from = memory_make(b, LENGTH, 1), small = memory_make(a, MIB, 2);
	int in_flight = 0;

	agent_load(a, b);
	nixlBackendMD *loaded = memory_share(a, b, *from);
	transfer(a, NIXL_READ, "b", {{small.get(), 0, from.get(), loaded, 0, MIB}}, nullptr);
	for (int i = 0; i < ROUNDS; i++) {
		mapping to(a);
		auto r = to.read_all(a, "b", *from, loaded);

		in_flight += post(a, *r, "not to be sent") == NIXL_IN_PROG;
		release(a, *r);
		memset(to.bytes, 0, LENGTH);
		/* What was under way has arrived before this. */
		transfer(
			a, NIXL_READ, "b", {{small.get(), 0, from.get(), loaded, 0, MIB}}, nullptr);
		for (size_t at = 0; at < LENGTH; at++)
			if (to.bytes[at] != 0)
				fail("round %d: byte %zu was written after the release", i, at);
		must(a.engine->deregisterMem(to.metadata), "deregisterMem");
		munmap(to.bytes, LENGTH);
	}
	check_rounds(in_flight, "release");
	must(a.engine->genNotif("b", "end"), "genNotif");
	expect_notification(b, "a", "end"); /* and none of the transfers */
	agent_end(a), agent_end(b);
}

/* Memory of a transfer under way can be deregistered, and unmapped at once. */
void case_deregister()
{
	agent a = agent_make("a"), b = agent_make("b");
	auto from = memory_make(b, LENGTH, 3), small = memory_make(a, MIB, 4);
	int in_flight = 0;

	agent_load(a, b);
	nixlBackendMD *loaded = memory_share(a, b, *from);
	transfer(a, NIXL_READ, "b", {{small.get(), 0, from.get(), loaded, 0, MIB}}, nullptr);
	for (int i = 0; i < ROUNDS; i++) {
		mapping to(a);
		auto r = to.read_all(a, "b", *from, loaded);
		bool began = post(a, *r, nullptr) == NIXL_IN_PROG;

		must(a.engine->deregisterMem(to.metadata), "deregisterMem");
		munmap(to.bytes, LENGTH);
		nixl_status_t status = a.engine->checkXfer(r->handle);
		if (status != NIXL_ERR_CANCELED && status != NIXL_SUCCESS)
			fail("status %d after the memory was deregistered", status);
		in_flight += began && status == NIXL_ERR_CANCELED;
		expect_error(NIXL_ERR_INVALID_PARAM, "was deregistered",
			[&] { return post(a, *r, nullptr); });
		release(a, *r);
	}
	check_rounds(in_flight, "deregistration");
	/* The other end of a transfer: a refusal, no bytes. */
	auto gone = memory_make(b, MIB, 5);
	nixlBackendMD *stale = memory_share(a, b, *gone);
	memory_end(b, *gone);
	auto r = prepare(a, NIXL_WRITE, "b", {{small.get(), 0, gone.get(), stale, 0, MIB}});
	post(a, *r, "not to be sent");
	nixl_status_t status = finish(a, *r);
	if (status != NIXL_ERR_NOT_ALLOWED)
		fail("status %d of a write into deregistered memory", status);
	release(a, *r);
	transfer(a, NIXL_READ, "b", {{small.get(), 0, from.get(), loaded, 0, MIB}}, "end");
	expect_notification(b, "a", "end");
	agent_end(a), agent_end(b);
}

/* What the process of another agent passes to the test. */
struct hello {
	char connection[128], description[256];
	size_t connection_length, description_length;
	uintptr_t address;
};

static void run_victim(int fd)
{
	agent b = agent_make("b");
	auto m = memory_make(b, LENGTH, 6);
	std::string connection = connection_of(b), description = description_of(b, *m);
	hello h = {};

	h.connection_length = connection.copy(h.connection, sizeof(h.connection));
	h.description_length = description.copy(h.description, sizeof(h.description));
	h.address = m->address();
	if (send(fd, &h, sizeof(h), 0) != sizeof(h))
		fail("no socket");
	for (;;)
		pause();
}

static pid_t victim_start(hello &h)
{
	int fd[2];
	pid_t child;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd) < 0 || (child = fork()) < 0)
		fail("no process");
	if (child == 0) {
		close(fd[0]);
		run_victim(fd[1]);
	}
	close(fd[1]);
	if (recv(fd[0], &h, sizeof(h), MSG_WAITALL) != sizeof(h))
		fail("the other process has ended");
	close(fd[0]);
	return child;
}

static void victim_kill(pid_t child)
{
	if (kill(child, SIGKILL) < 0 || waitpid(child, nullptr, 0) != child)
		fail("cannot end the other process");
}

/* The other agent is killed while it is written to; another one takes its name. */
void case_death()
{
	hello h, next;
	pid_t child = victim_start(h), heir = victim_start(next); /* before there are threads */
	agent a = agent_make("a");
	auto from = memory_make(a, LENGTH, 7);

	must(a.engine->loadRemoteConnInfo("b", std::string(h.connection, h.connection_length)),
		"loadRemoteConnInfo");
	nixlBackendMD *loaded = memory_load(
		a, "b", h.address, LENGTH, std::string(h.description, h.description_length));
	request r;
	r.operation = NIXL_WRITE;
	r.agent = "b";
	r.here.addDesc({from->address(), LENGTH, 0, from->metadata});
	r.there.addDesc({h.address, LENGTH, 0, loaded});
	must(a.engine->prepXfer(NIXL_WRITE, r.here, r.there, "b", r.handle, nullptr), "prepXfer");
	post(a, r, "first");
	must(finish(a, r), "first write");
	if (post(a, r, "second") != NIXL_IN_PROG)
		fail("a write of %u bytes is not under way", LENGTH);
	expect_error(NIXL_ERR_REPOST_ACTIVE, "post it again when it has ended",
		[&] { return post(a, r, nullptr); });
	victim_kill(child);
	nixl_status_t status = finish(a, r);
	if (status != NIXL_ERR_REMOTE_DISCONNECT)
		fail("status %d after the other agent died", status);
	expect_error(
		NIXL_ERR_REMOTE_DISCONNECT, "agent b is gone", [&] { return post(a, r, nullptr); });
	expect_error(NIXL_ERR_REMOTE_DISCONNECT, "agent b is gone",
		[&] { return a.engine->genNotif("b", "?"); });
	/* As NIXL invalidates an agent, and loads a new one. */
	must(a.engine->disconnect("b"), "disconnect");
	must(a.engine->unloadMD(loaded), "unloadMD");
	must(a.engine->loadRemoteConnInfo(
		     "b", std::string(next.connection, next.connection_length)),
		"loadRemoteConnInfo");
	expect_error(NIXL_ERR_NOT_FOUND, "prepare the transfer again",
		[&] { return post(a, r, nullptr); });
	release(a, r);
	loaded = memory_load(a, "b", next.address, LENGTH,
		std::string(next.description, next.description_length));
	r.there = nixl_meta_dlist_t(DRAM_SEG);
	r.there.addDesc({next.address, LENGTH, 0, loaded});
	must(a.engine->prepXfer(NIXL_WRITE, r.here, r.there, "b", r.handle, nullptr), "prepXfer");
	post(a, r, "to the new agent");
	must(finish(a, r), "write to the new agent");
	release(a, r);
	victim_kill(heir);
	agent_end(a);
}

/* A write to a process that hangs can be released, long before the agent counts as gone. */
void case_stopped()
{
	hello h;
	pid_t child = victim_start(h);
	agent a = agent_make("a", "60000");
	auto from = memory_make(a, LENGTH, 12);
	request r;

	must(a.engine->loadRemoteConnInfo("b", std::string(h.connection, h.connection_length)),
		"loadRemoteConnInfo");
	nixlBackendMD *loaded = memory_load(
		a, "b", h.address, LENGTH, std::string(h.description, h.description_length));
	r.operation = NIXL_WRITE;
	r.agent = "b";
	r.here.addDesc({from->address(), LENGTH, 0, from->metadata});
	r.there.addDesc({h.address, LENGTH, 0, loaded});
	must(a.engine->prepXfer(NIXL_WRITE, r.here, r.there, "b", r.handle, nullptr), "prepXfer");
	post(a, r, "first");
	must(finish(a, r), "first write");
	if (kill(child, SIGSTOP) < 0 || waitpid(child, nullptr, WUNTRACED) != child)
		fail("cannot stop the other process");
	if (post(a, r, "second") != NIXL_IN_PROG)
		fail("a write to a process that is stopped has ended");
	release(a, r);
	memory_end(a, *from);
	victim_kill(child);
	agent_end(a);
}

/* Disconnecting ends what is under way; the backend may end with a handle that was not released. */
void case_disconnect()
{
	agent a = agent_make("a"), b = agent_make("b");
	auto from = memory_make(a, LENGTH, 8), to = memory_make(b, LENGTH, 9);

	agent_load(a, b);
	nixlBackendMD *loaded = memory_share(a, b, *to);
	auto r = prepare(a, NIXL_WRITE, "b", {{from.get(), 0, to.get(), loaded, 0, LENGTH}});
	post(a, *r, "x");
	must(a.engine->disconnect("b"), "disconnect");
	nixl_status_t status = finish(a, *r);
	if (status != NIXL_ERR_REMOTE_DISCONNECT && status != NIXL_SUCCESS)
		fail("status %d after the disconnection", status);
	release(a, *r);
	agent_load(a, b);
	r = prepare(a, NIXL_WRITE, "b", {{from.get(), 0, to.get(), loaded, 0, LENGTH}});
	post(a, *r, "y");
	must(finish(a, *r), "write after a new connection");
	expect_error(NIXL_ERR_NOT_FOUND, "agent c is unknown",
		[&] { return a.engine->disconnect("c"); });
	post(a, *r, "z");
	agent_end(a); /* the transfer is under way */
	agent_end(b);
}

/* More agents come and go than a domain of hp3x has peers. */
void case_peers()
{
	agent b = agent_make("b");

	for (int i = 0; i < 300; i++) {
		agent a = agent_make("agent " + std::to_string(i));

		agent_load(a, b);
		must(a.engine->genNotif("b", std::to_string(i)), "genNotif");
		expect_notification(b, a.name, std::to_string(i));
		agent_end(a);
	}
	agent_end(b);
}
