/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases without faults: content, many descriptors, notifications, both directions at once. */
#include <cstring>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tests/xfer/nixl/agent.h"

#define MIB (1u << 20)

/* Unequal descriptors in two memories of each agent, with gaps that must keep their bytes. */
void case_data()
{
	static const size_t lengths[] = {1, 4096, 0, 65537, 3 * MIB + 7, 100, 2 * MIB, 13};
	agent a = agent_make("a"), b = agent_make("b");
	auto a0 = memory_make(a, 8 * MIB, 1), a1 = memory_make(a, 8 * MIB, 2),
	     b0 = memory_make(b, 8 * MIB, 3), b1 = memory_make(b, 8 * MIB, 4);
	std::string expected0 = b0->bytes, expected1 = b1->bytes;
	std::vector<part> parts;
	size_t at = 5;

	agent_load(a, b);
	must(a.engine->connect("b"), "connect");
	nixlBackendMD *l0 = memory_share(a, b, *b0), *l1 = memory_share(a, b, *b1);
	for (size_t i = 0; i < 8; i++) {
		bool second = i == 3 || i == 4;
		const memory *from = i % 2 != 0 ? a1.get() : a0.get();

		parts.push_back({from, at, second ? b1.get() : b0.get(), second ? l1 : l0, at + 1,
			lengths[i]});
		(second ? expected1 : expected0)
			.replace(at + 1, lengths[i], from->bytes, at, lengths[i]);
		at += lengths[i] + 33;
	}
	auto r = prepare(a, NIXL_WRITE, "b", parts);
	for (int again = 0; again < 2; again++) { /* the same handle, twice */
		nixl_status_t status = post(a, *r, again ? "second" : nullptr);

		if (status != NIXL_IN_PROG)
			must(status, "postXfer");
		must(finish(a, *r), "write");
		if (b0->bytes != expected0 || b1->bytes != expected1)
			fail("the other agent's memory has the wrong content after write %d",
				again);
		if (again == 0) /* the second write has to write all of it again */
			for (const part &p : parts)
				memset((char *)p.there->address() + p.to, 0, p.length);
	}
	release(a, *r);
	expect_notification(b, "a", "second"); /* the first write had none */
	std::string kept0 = a0->bytes, kept1 = a1->bytes;
	memset(&a0->bytes[0], 0, a0->bytes.size());
	memset(&a1->bytes[0], 0, a1->bytes.size());
	transfer(a, NIXL_READ, "b", parts, "was read");
	expect_notification(b, "a", "was read");
	for (const part &p : parts) {
		const std::string &wanted = p.here == a0.get() ? kept0 : kept1;

		if (p.here->bytes.compare(p.from, p.length, wanted, p.from, p.length) != 0)
			fail("a read of %zu bytes has the wrong content", p.length);
		if (p.here->bytes[p.from + p.length] != 0)
			fail("a read of %zu bytes wrote behind its end", p.length);
	}
	must(a.engine->unloadMD(l0), "unloadMD");
	must(a.engine->unloadMD(l1), "unloadMD");
	memory_end(a, *a0), memory_end(a, *a1), memory_end(b, *b0), memory_end(b, *b1);
	must(a.engine->disconnect("b"), "disconnect");
	agent_end(a), agent_end(b);
}

/* More ops than a domain of hp3x has, in four transfers at a time. */
void case_many()
{
	const size_t n = 6000, length = 96;
	agent a = agent_make("a"), b = agent_make("b");
	auto from = memory_make(a, 2 * n * length, 5), to = memory_make(b, 2 * n * length, 6);
	auto in = memory_make(a, 2 * n * length, 7);
	std::vector<part> parts, back;
	std::unique_ptr<request> reads[4];

	agent_load(a, b);
	nixlBackendMD *loaded = memory_share(a, b, *to);
	for (size_t i = 0; i < n; i++) { /* in another order there, with gaps */
		parts.push_back({from.get(), i * 2 * length, to.get(), loaded,
			(n - 1 - i) * 2 * length, length});
		back.push_back({in.get(), i * 2 * length, to.get(), loaded,
			(n - 1 - i) * 2 * length, length});
	}
	transfer(a, NIXL_WRITE, "b", parts, "pages");
	expect_notification(b, "a", "pages");
	for (const part &p : parts)
		if (to->bytes.compare(p.to, length, from->bytes, p.from, length) != 0)
			fail("page at %zu has the wrong content", p.to);
	for (auto &r : reads) {
		r = prepare(a, NIXL_READ, "b", back);
		post(a, *r, nullptr);
	}
	for (auto &r : reads) {
		must(finish(a, *r), "read of pages");
		release(a, *r);
	}
	for (const part &p : back)
		if (in->bytes.compare(p.from, length, from->bytes, p.from, length) != 0)
			fail("page read to %zu has the wrong content", p.from);
	agent_end(a), agent_end(b);
}

/* Descriptors that are longer than an op. */
void case_long()
{
	const size_t length = 65 * MIB + 3;
	agent a = agent_make("a"), b = agent_make("b");
	auto from = memory_make(a, length + 10, 10), to = memory_make(b, length + 10, 11);
	std::string expected = to->bytes;

	agent_load(a, b);
	nixlBackendMD *loaded = memory_share(a, b, *to);
	expected.replace(7, length, from->bytes, 1, length);
	transfer(a, NIXL_WRITE, "b", {{from.get(), 1, to.get(), loaded, 7, length}}, nullptr);
	if (to->bytes != expected)
		fail("a long write has the wrong content");
	memset(&from->bytes[0], 0, from->bytes.size());
	transfer(a, NIXL_READ, "b", {{from.get(), 1, to.get(), loaded, 7, length}}, nullptr);
	if (from->bytes.compare(1, length, expected, 7, length) != 0 || from->bytes[0] != 0 ||
		from->bytes[length + 1] != 0)
		fail("a long read has the wrong content");
	agent_end(a), agent_end(b);
}

/* When a notification is there, so are all data of its transfer. */
void case_notification()
{
	agent a = agent_make("a"), b = agent_make("b");
	auto from = memory_make(a, 8 * MIB, 8), to = memory_make(b, 8 * MIB, 9);
	nixlBackendMD *loaded;

	agent_load(a, b);
	agent_load(b, a);
	loaded = memory_share(a, b, *to);
	auto r = prepare(a, NIXL_WRITE, "b",
		{{from.get(), 0, to.get(), loaded, 0, 5 * MIB},
			{from.get(), 5 * MIB, to.get(), loaded, 5 * MIB, 3 * MIB}});
	for (int round = 0; round < 20; round++) {
		std::string text = "round " + std::to_string(round);

		memset(&from->bytes[0], round, from->bytes.size());
		nixl_status_t status = post(a, *r, text.c_str());
		if (status != NIXL_IN_PROG)
			must(status, "postXfer");
		expect_notification(b, "a", text); /* nobody calls checkXfer() meanwhile */
		if (to->bytes != from->bytes)
			fail("round %d: the notification came before the data", round);
		must(finish(a, *r), "write");
	}
	must(b.engine->genNotif("a", std::string("alone\0!", 7)), "genNotif");
	expect_notification(a, "b", std::string("alone\0!", 7));
	must(a.engine->genNotif("b", ""), "genNotif");
	expect_notification(b, "a", "");
	release(a, *r);
	agent_end(a), agent_end(b);
}

static void bytes_swap(int fd, const void *out, void *in, size_t length)
{
	if (send(fd, out, length, 0) != (ssize_t)length ||
		recv(fd, in, length, MSG_WAITALL) != (ssize_t)length)
		fail("the other process has ended");
}

static std::string text_swap(int fd, const std::string &out)
{
	size_t length = out.size(), other;
	std::string in;

	bytes_swap(fd, &length, &other, sizeof(length));
	in.resize(other);
	if (send(fd, out.data(), length, 0) != (ssize_t)length ||
		recv(fd, &in[0], other, MSG_WAITALL) != (ssize_t)other)
		fail("the other process has ended");
	return in;
}

/* One of two processes: both write to each other at once, and check each round. */
static void run_side(const std::string &name, const std::string &other, int fd)
{
	const size_t size = 4 * MIB;
	const uint8_t side = name == "left" ? 0x40 : 0x80;
	agent a = agent_make(name);
	auto out = memory_make(a, size, side), in = memory_make(a, size, side + 1u);
	uintptr_t address = in->address(), there;

	must(a.engine->loadRemoteConnInfo(other, text_swap(fd, connection_of(a))),
		"loadRemoteConnInfo");
	bytes_swap(fd, &address, &there, sizeof(address));
	nixlBackendMD *loaded =
		memory_load(a, other, there, size, text_swap(fd, description_of(a, *in)));
	request r;
	r.operation = NIXL_WRITE;
	r.agent = other;
	r.here.addDesc({out->address(), size, 0, out->metadata});
	r.there.addDesc({there, size, 0, loaded});
	must(a.engine->prepXfer(NIXL_WRITE, r.here, r.there, other, r.handle, nullptr), "prepXfer");
	for (int round = 0; round < 20; round++) {
		char mark = 0, theirs;

		memset(&out->bytes[0], side + round, size);
		nixl_status_t status = post(a, r, "written");
		if (status != NIXL_IN_PROG)
			must(status, "postXfer");
		expect_notification(a, other, "written");
		for (char c : in->bytes)
			if ((uint8_t)c != (side ^ 0xc0) + round)
				fail("%s, round %d: wrong content", name.c_str(), round);
		must(finish(a, r), "write");
		/* Takes the library's lock: sanitizers do not see that the swap orders memory. */
		notif_list_t none;
		must(a.engine->getNotifs(none), "getNotifs");
		bytes_swap(fd, &mark, &theirs, 1); /* both have checked this round */
	}
	release(a, r);
	agent_end(a);
}

void case_both()
{
	int fd[2], status;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd) < 0)
		fail("no socket");
	pid_t child = fork();
	if (child == 0) {
		close(fd[0]);
		run_side("right", "left", fd[1]);
		_exit(0);
	}
	close(fd[1]);
	run_side("left", "right", fd[0]);
	if (waitpid(child, &status, 0) != child || status != 0)
		fail("the other process failed");
}
