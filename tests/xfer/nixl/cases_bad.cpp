/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases of wrong input: each has its status, and an error that names what to change. */
#include <random>
#include "tests/xfer/nixl/agent.h"
#include "xfer/hp3x.h"

#define LENGTH 65536u

static nixl_status_t make_with(const char *key, const char *value)
{
	return engine_make("a", {{"provider", "tcp"}, {key, value}}) == nullptr ? NIXL_ERR_BACKEND
										: NIXL_SUCCESS;
}

static nixl_status_t prepare_with(agent &a, const nixlMetaDesc &here, const nixlMetaDesc &there)
{
	nixl_meta_dlist_t h(DRAM_SEG), t(DRAM_SEG);
	nixlBackendReqH *handle = nullptr;

	h.addDesc(here);
	t.addDesc(there);
	return a.engine->prepXfer(NIXL_WRITE, h, t, "b", handle, nullptr);
}

static void refuse_transfers(agent &a, const memory &m, const memory &far, nixlBackendMD *loaded)
{
	const nixlMetaDesc here(m.address(), 100, 0, m.metadata),
		there(far.address(), 100, 0, loaded);
	nixl_meta_dlist_t none(DRAM_SEG), one(DRAM_SEG), device(VRAM_SEG);
	nixlBackendReqH *handle = nullptr;

	one.addDesc(here);
	device.addDesc(here);
	expect_error(NIXL_ERR_INVALID_PARAM, "at least one",
		[&] { return a.engine->prepXfer(NIXL_READ, none, none, "b", handle, nullptr); });
	expect_error(NIXL_ERR_INVALID_PARAM, "there must be as many",
		[&] { return a.engine->prepXfer(NIXL_READ, one, none, "b", handle, nullptr); });
	expect_error(NIXL_ERR_NOT_SUPPORTED, "host memory (DRAM_SEG) only",
		[&] { return a.engine->prepXfer(NIXL_READ, device, one, "b", handle, nullptr); });
	expect_error(NIXL_ERR_NOT_FOUND, "agent x is unknown",
		[&] { return a.engine->prepXfer(NIXL_READ, one, one, "x", handle, nullptr); });
	expect_error(NIXL_ERR_INVALID_PARAM, "lengths must be equal", [&] {
		return prepare_with(a, here, {far.address(), 99, 0, loaded});
	});
	expect_error(NIXL_ERR_INVALID_PARAM, "not inside the registered memory", [&] {
		return prepare_with(a, here, {far.address() + LENGTH - 99, 100, 0, loaded});
	});
	expect_error(NIXL_ERR_INVALID_PARAM, "not inside the registered memory", [&] {
		return prepare_with(a, {m.address() - 1, 100, 0, m.metadata}, there);
	});
	expect_error(NIXL_ERR_INVALID_PARAM, "not inside the registered memory", [&] {
		return prepare_with(a, {UINTPTR_MAX, SIZE_MAX, 0, m.metadata},
			{far.address(), SIZE_MAX, 0, loaded});
	});
	expect_error(NIXL_ERR_INVALID_PARAM, "register the memory", [&] {
		return prepare_with(a, here, {far.address(), 100, 0, nullptr});
	});
	if (handle != nullptr)
		fail("a transfer that was refused has a handle");
}

void case_refusals()
{
	agent a = agent_make("a"), b = agent_make("b");
	auto m = memory_make(a, LENGTH, 1), far = memory_make(b, LENGTH, 2);
	nixlBackendMD *out = nullptr;
	std::string largest(HP3X_MOST_SEND - 6 - 1, 'n');
	notif_list_t full = {{"a", "b"}};

	if (a.engine->supportsLocal() || !a.engine->supportsRemote() ||
		!a.engine->supportsNotif() ||
		a.engine->getSupportedMems() != nixl_mem_list_t{DRAM_SEG} ||
		plugin_get()->get_backend_mems() != nixl_mem_list_t{DRAM_SEG})
		fail("the backend says that it supports something else");
	for (const auto &[key, value] : plugin_get()->get_backend_options())
		if (make_with(key.c_str(), key == "provider" ? "tcp" : value.c_str()) !=
			NIXL_SUCCESS)
			fail("the default of %s is refused", key.c_str());
	expect_error(NIXL_ERR_BACKEND, "peer_timeout_ms = soon: write a number from 1 to 600000",
		[] { return make_with("peer_timeout_ms", "soon"); });
	expect_error(NIXL_ERR_BACKEND, "paths_per_rail = 9: write a number from 1 to 8",
		[] { return make_with("paths_per_rail", "9"); });
	expect_error(NIXL_ERR_BACKEND, "no parameter rail: there are",
		[] { return make_with("rail", "eth0"); });
	expect_error(
		NIXL_ERR_BACKEND, "no domain: ", [] { return make_with("rails", "none-such"); });
	expect_error(NIXL_ERR_BACKEND, "write a control address as",
		[] { return make_with("listen", "here"); });
	expect_error(NIXL_ERR_NOT_SUPPORTED, "device memory: this backend has host memory", [&] {
		return a.engine->registerMem({m->address(), 10, 0}, VRAM_SEG, out);
	});
	expect_error(NIXL_ERR_BACKEND, "0 bytes", [&] {
		return a.engine->registerMem({m->address(), 0, 0}, DRAM_SEG, out);
	});
	expect_error(
		NIXL_ERR_NOT_FOUND, "agent b is unknown", [&] { return a.engine->connect("b"); });
	agent_load(a, b);
	agent_load(a, b); /* the same again */
	refuse_transfers(a, *m, *far, memory_share(a, b, *far));
	expect_error(NIXL_ERR_INVALID_PARAM, "a notification of 65530 bytes",
		[&] { return a.engine->genNotif("b", largest + "n"); });
	must(a.engine->genNotif("b", largest), "the largest notification");
	expect_notification(b, "a", largest);
	expect_error(NIXL_ERR_INVALID_PARAM, "pass an empty one",
		[&] { return b.engine->getNotifs(full); });
	agent_end(a), agent_end(b);
}

static void refuse_connection(agent &a, const std::string &text)
{
	expect_error(NIXL_ERR_MISMATCH, "damaged, or of another version",
		[&] { return a.engine->loadRemoteConnInfo("x", text); });
}

static void refuse_memory(agent &a, const nixlBlobDesc &d, const char *text)
{
	nixlBackendMD *out = nullptr;

	expect_error(NIXL_ERR_MISMATCH, text,
		[&] { return a.engine->loadRemoteMD(d, DRAM_SEG, "b", out); });
	if (out != nullptr)
		fail("metadata that were refused have an object");
}

/* Truncated, with one wrong byte, random. */
void case_metadata()
{
	agent a = agent_make("a"), b = agent_make("b");
	auto far = memory_make(b, LENGTH, 3);
	std::string connection = connection_of(b), random;
	nixlBlobDesc d(far->address(), LENGTH, 0);
	nixlBackendMD *out = nullptr;

	for (size_t n = 0; n < sizeof("hp3x-nixl 1 127.0.0.1") - 1; n++)
		refuse_connection(a, connection.substr(0, n));
	for (size_t i = 0; i < sizeof("hp3x-nixl 1 ") - 1; i++) {
		std::string wrong = connection;

		wrong[i] ^= 1;
		refuse_connection(a, wrong);
	}
	std::mt19937 source(4);
	for (int i = 0; i < 100; i++) {
		random.resize((size_t)i * 3);
		for (char &c : random)
			c = (char)source();
		refuse_connection(a, random);
		refuse_connection(a, "hp3x-nixl 1 " + random + '\0');
	}
	must(a.engine->loadRemoteConnInfo("y", "hp3x-nixl 1 nowhere:x"), "loadRemoteConnInfo");
	expect_error(NIXL_ERR_INVALID_PARAM, "write a control address as",
		[&] { return a.engine->connect("y"); });

	d.metaInfo = description_of(b, *far);
	expect_error(NIXL_ERR_NOT_FOUND, "load its connection information first",
		[&] { return a.engine->loadRemoteMD(d, DRAM_SEG, "b", out); });
	agent_load(a, b);
	expect_error(NIXL_ERR_NOT_ALLOWED, "call invalidateRemoteMD() first",
		[&] { return a.engine->loadRemoteConnInfo("b", connection_of(a)); });
	expect_error(NIXL_ERR_NOT_SUPPORTED, "file memory: this backend has host memory",
		[&] { return a.engine->loadRemoteMD(d, FILE_SEG, "b", out); });
	for (size_t n = 0; n < d.metaInfo.size(); n++) {
		nixlBlobDesc wrong = d;

		wrong.metaInfo.resize(n);
		refuse_memory(a, wrong, "metadata of agent b: ");
		wrong = d;
		wrong.metaInfo[n] ^= 0x10;
		refuse_memory(a, wrong, "metadata of agent b: ");
	}
	for (int i = 0; i < 100; i++) {
		nixlBlobDesc wrong = d;

		wrong.metaInfo.resize((size_t)i * 3);
		for (char &c : wrong.metaInfo)
			c = (char)source();
		refuse_memory(a, wrong, "metadata of agent b: ");
	}
	d.len++;
	refuse_memory(a, d, "are of other memory");
	d.addr--;
	refuse_memory(a, d, "are of other memory");
	agent_end(a), agent_end(b);
}

/* Messages that no plugin sends, to the control address of an agent. */
void case_messages()
{
	static const std::string wrong[] = {"", "HP3N", std::string("HP3N\0", 5),
		std::string("HP3N\2\0a", 7),
		"HP3N\xff\xff"
		"a",
		"hello, agent", std::string("HP3M\0\0", 6)};
	const char *const rails[] = {"127.0.0.1"};
	hp3x_options o = {};
	hp3x_domain *other;
	hp3x_peer *peer;
	agent b = agent_make("b");
	notif_list_t list;
	const double since = seconds();

	o.provider = "tcp";
	o.rails = rails;
	o.n_rails = 1;
	if (hp3x_open(&o, &other) < 0 ||
		hp3x_connect(other, connection_of(b).c_str() + sizeof("hp3x-nixl 1 ") - 1, &peer) <
			0)
		fail("%s", hp3x_error());
	for (const std::string &w : wrong)
		if (hp3x_send(peer, w.data(), w.size(), nullptr) < 0)
			fail("%s", hp3x_error());
	if (hp3x_send(peer, "HP3N\3\0youright", 14, nullptr) < 0)
		fail("%s", hp3x_error());
	int kept = stderr_catch();
	while (list.empty()) {
		must(b.engine->getNotifs(list), "getNotifs");
		check_time(since, "notification");
	}
	std::string said = stderr_release(kept);
	if (list.size() != 1 || list[0].first != "you" || list[0].second != "right")
		fail("%zu notifications of another domain", list.size());
	size_t lines = 0;
	for (size_t at = 0; (at = said.find("is no notification", at)) != std::string::npos; at++)
		lines++;
	if (lines != sizeof(wrong) / sizeof(wrong[0]))
		fail("%zu lines about wrong messages: %s", lines, said.c_str());
	hp3x_close(other);
	agent_end(b);
}
