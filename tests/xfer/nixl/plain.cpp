/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases of two agents in one process. */
#include <algorithm>
#include <random>
#include "tests/xfer/nixl/cases.h"

/* Two agents in one process, which have met; each has two buffers. */
struct Duo {
	static constexpr size_t SIZE = 3u << 20;

	Agent a, b;
	Buffer of_a[2], of_b[2];
	nixlBackendMD *b_at_a[2];

	explicit Duo(const char *plugin) : a(plugin, "a"), b(plugin, "b")
	{
		expect(a.engine->loadRemoteConnInfo("b", b.info()), NIXL_SUCCESS, "b's address");
		expect(a.engine->connect("b"), NIXL_SUCCESS, "connect");
		for (int i = 0; i < 2; i++) {
			a.memory_register(of_a[i], SIZE);
			b.memory_register(of_b[i], SIZE);
			expect(a.metadata_load(
				       "b", of_b[i].at(0), SIZE, of_b[i].public_data, b_at_a[i]),
				NIXL_SUCCESS, "loadRemoteMD");
		}
	}

	~Duo()
	{
		for (int i = 0; i < 2; i++) {
			expect(a.engine->unloadMD(b_at_a[i]), NIXL_SUCCESS, "unloadMD");
			expect(a.engine->deregisterMem(of_a[i].metadata), NIXL_SUCCESS,
				"deregisterMem");
			expect(b.engine->deregisterMem(of_b[i].metadata), NIXL_SUCCESS,
				"deregisterMem");
		}
	}

	Range range(int mine, size_t from, int other, size_t to, size_t length) const
	{
		return {&of_a[mine], from, of_b[other].at(to), b_at_a[other], length};
	}

	/* Descriptors of unequal lengths, between all buffers; the first and last bytes, too. */
	std::vector<Range> ranges() const
	{
		return {range(0, 0, 0, 5, 1), range(0, 100, 1, 7000, 4096),
			range(1, 3, 0, 10000, 1u << 20), range(0, 5000, 0, 2u << 20, 77777),
			range(1, 2u << 20, 1, 100000, 1), range(0, SIZE - 9, 1, SIZE - 9, 9),
			range(1, 50, 1, 50, 0)};
	}
};

static void buffers_fill(Duo &duo, unsigned seed)
{
	for (unsigned i = 0; i < 2; i++) {
		duo.of_a[i].fill(seed + i);
		duo.of_b[i].fill(20 + i);
	}
}

/* Buffers were filled with `seed`, then the ranges were transferred: no other byte has changed. */
static void content_check(
	const Duo &duo, const std::vector<Range> &ranges, nixl_xfer_op_t op, unsigned seed)
{
	Buffer a[2], b[2];

	for (unsigned i = 0; i < 2; i++) {
		a[i].bytes.resize(Duo::SIZE);
		a[i].fill(seed + i);
		b[i].bytes.resize(Duo::SIZE);
		b[i].fill(20 + i);
	}
	for (const Range &r : ranges) {
		int of_a = r.local == &duo.of_a[1], of_b = r.remote_metadata == duo.b_at_a[1];
		uint8_t *local = &a[of_a].bytes[r.local_offset];
		uint8_t *remote = &b[of_b].bytes[r.remote - duo.of_b[of_b].at(0)];

		if (op == NIXL_WRITE)
			std::copy(local, local + r.length, remote);
		else
			std::copy(remote, remote + r.length, local);
	}
	for (int i = 0; i < 2; i++)
		if (duo.of_a[i].bytes != a[i].bytes || duo.of_b[i].bytes != b[i].bytes)
			fail("buffer %d has the wrong content after a %s", i,
				op == NIXL_WRITE ? "write" : "read");
}

void case_plain(const char *plugin)
{
	Duo duo(plugin);
	const std::vector<Range> ranges = duo.ranges();
	nixlBackendReqH *handle;
	notif_list_t list;

	for (unsigned round = 0; round < 4; round++) {
		bool notifies = round % 2 == 1;
		const std::string text = notifies ? std::string("w\xff") + "rite" : "";

		buffers_fill(duo, 2 * round);
		duo.a.transfer(NIXL_WRITE, "b", ranges, notifies ? text.c_str() : nullptr);
		content_check(duo, ranges, NIXL_WRITE, 2 * round);
		if (notifies && duo.b.notification_wait("a") != text)
			fail("a notification has the wrong text");
		buffers_fill(duo, 2 * round);
		duo.a.transfer(NIXL_READ, "b", ranges, notifies ? "" : nullptr);
		content_check(duo, ranges, NIXL_READ, 2 * round);
		if (notifies && !duo.b.notification_wait("a").empty())
			fail("an empty notification is not empty");
	}
	expect(duo.b.engine->getNotifs(list), NIXL_SUCCESS, "getNotifs");
	if (!list.empty())
		fail("transfers without notification have made %zu", list.size());
	/* A transfer can be posted again. */
	expect(duo.a.prepare(NIXL_WRITE, "b", ranges, handle), NIXL_SUCCESS, "prepXfer");
	expect(duo.a.engine->checkXfer(handle), NIXL_ERR_NOT_POSTED, "checkXfer before postXfer");
	for (unsigned round = 0; round < 3; round++) {
		buffers_fill(duo, 40 + round);
		if (duo.a.post(NIXL_WRITE, "b", handle, "again") < 0)
			fail("postXfer of the same transfer fails");
		expect(duo.a.end_wait(handle), NIXL_SUCCESS, "transfer");
		content_check(duo, ranges, NIXL_WRITE, 40 + round);
		duo.b.notification_wait("a");
	}
	expect(duo.a.engine->releaseReqH(handle), NIXL_SUCCESS, "releaseReqH");
	/* Notifications without a transfer, in order; the longest one. */
	const std::string longest(65500, 'x');

	for (const std::string &text : {std::string("one"), longest, std::string("a\0b", 3)}) {
		expect(duo.a.engine->genNotif("b", text), NIXL_SUCCESS, "genNotif");
		if (duo.b.notification_wait("a") != text)
			fail("a notification of %zu bytes has the wrong text", text.size());
	}
}

static void refusals_of_transfers(Duo &duo)
{
	const Range good = duo.range(0, 0, 0, 0, 100);
	nixl_meta_dlist_t one(DRAM_SEG), device(VRAM_SEG), longer(DRAM_SEG), none(DRAM_SEG);
	nixlBackendReqH *handle;
	Range r = good;

	r.local_offset = Duo::SIZE - 99;
	expect(duo.a.prepare(NIXL_WRITE, "b", {good, r}, handle), NIXL_ERR_INVALID_PARAM,
		"a local descriptor out of its memory");
	r = good;
	r.remote = duo.of_b[0].at(Duo::SIZE - 99);
	expect(duo.a.prepare(NIXL_READ, "b", {good, r}, handle), NIXL_ERR_INVALID_PARAM,
		"a remote descriptor out of its memory");
	r.remote = duo.of_b[0].at(0) - 1;
	expect(duo.a.prepare(NIXL_WRITE, "b", {r}, handle), NIXL_ERR_INVALID_PARAM,
		"a remote descriptor before its memory");
	r = good;
	r.remote_metadata = nullptr;
	expect(duo.a.prepare(NIXL_WRITE, "b", {r}, handle), NIXL_ERR_INVALID_PARAM, "no metadata");
	expect(duo.a.prepare(NIXL_WRITE, "b", {}, handle), NIXL_ERR_INVALID_PARAM, "nothing");
	expect(duo.a.prepare(NIXL_WRITE, "who", {good}, handle), NIXL_ERR_NOT_FOUND, "no agent");
	one.addDesc({good.local->at(0), 100, 0, good.local->metadata});
	longer.addDesc({good.remote, 101, 0, good.remote_metadata});
	device.addDesc({good.remote, 100, 0, good.remote_metadata});
	expect(duo.a.engine->prepXfer(NIXL_WRITE, one, longer, "b", handle), NIXL_ERR_INVALID_PARAM,
		"unequal lengths");
	expect(duo.a.engine->prepXfer(NIXL_WRITE, one, none, "b", handle), NIXL_ERR_INVALID_PARAM,
		"unequal numbers");
	expect(duo.a.engine->prepXfer(NIXL_WRITE, one, device, "b", handle), NIXL_ERR_NOT_SUPPORTED,
		"device memory of the other agent");
	expect(duo.a.prepare(NIXL_WRITE, "b", {good}, handle), NIXL_SUCCESS, "prepXfer");
	expect(duo.a.post(NIXL_WRITE, "b", handle, std::string(70000, 'x').c_str()),
		NIXL_ERR_INVALID_PARAM, "a notification that is too long");
	expect(duo.a.engine->releaseReqH(handle), NIXL_SUCCESS, "releaseReqH");
}

static void refusals_of_options(const char *plugin)
{
	const std::pair<const char *, const char *> wrong[] = {{"rail", "eth0"},
		{"hang_ms", "5 ms"}, {"hang_ms", "-1"}, {"paths_per_rail", "9"}, {"provider", "x"},
		{"rails", "no-such-rail"}, {"listen", "nowhere"}};

	for (const auto &[key, value] : wrong) {
		Agent agent(plugin, "x", {{key, value}});

		if (!agent.engine->getInitErr())
			fail("option %s = %s is accepted", key, value);
	}
	Agent agent(plugin, "x", {{"paths_per_rail", "1"}, {"slice_bytes", ""}});

	if (agent.engine->getInitErr())
		fail("right options are refused");
}

void case_refusals(const char *plugin)
{
	Duo duo(plugin);
	nixlBackendMD *metadata;
	Buffer free;

	free.bytes.assign(4096, 0);
	for (nixl_mem_t type : {VRAM_SEG, BLK_SEG, OBJ_SEG, FILE_SEG})
		expect(duo.a.engine->registerMem(nixlBlobDesc(free.at(0), 4096, 0), type, metadata),
			NIXL_ERR_NOT_SUPPORTED, "memory that is no host memory");
	expect(duo.a.engine->registerMem(nixlBlobDesc(free.at(0), 0, 0), DRAM_SEG, metadata),
		NIXL_ERR_INVALID_PARAM, "memory of 0 bytes");
	expect(duo.a.engine->deregisterMem(duo.of_b[0].metadata), NIXL_ERR_NOT_FOUND,
		"memory of another engine");
	expect(duo.a.engine->connect("who"), NIXL_ERR_NOT_FOUND, "connect to nobody");
	expect(duo.a.engine->disconnect("who"), NIXL_ERR_NOT_FOUND, "disconnect from nobody");
	expect(duo.a.engine->genNotif("who", "x"), NIXL_ERR_NOT_FOUND, "genNotif to nobody");
	expect(duo.a.engine->genNotif("b", std::string(70000, 'x')), NIXL_ERR_INVALID_PARAM,
		"genNotif that is too long");
	expect(duo.a.engine->loadRemoteConnInfo("a", duo.a.info()), NIXL_ERR_NOT_SUPPORTED,
		"the own agent");
	if (duo.a.engine->supportsLocal() || !duo.a.engine->supportsRemote() ||
		!duo.a.engine->supportsNotif())
		fail("the engine supports something else");
	refusals_of_transfers(duo);
	refusals_of_options(plugin);
}

static void metadata_damage(Duo &duo)
{
	const std::string &good = duo.of_b[0].public_data;
	std::mt19937 random(1);
	nixlBackendMD *metadata;
	auto refused = [&](const std::string &data, size_t size) {
		expect(duo.a.metadata_load("b", duo.of_b[0].at(0), size, data, metadata),
			NIXL_ERR_MISMATCH, "damaged metadata");
		if (metadata != nullptr)
			fail("damaged metadata have given an object");
	};

	for (size_t n = 0; n < good.size(); n++)
		refused(good.substr(0, n), 100);
	for (size_t i = 0; i < good.size() * 8; i++) {
		std::string bad = good;

		bad[i / 8] = static_cast<char>(bad[i / 8] ^ (1 << i % 8));
		refused(bad, 100);
	}
	for (int i = 0; i < 2000; i++) {
		std::string bad(random() % 300, '\0');

		for (char &c : bad)
			c = static_cast<char>(random());
		refused(bad, 100);
	}
	refused(good + "x", 100);
	refused(good, Duo::SIZE + 1);
	refused(good, SIZE_MAX);
	refused(duo.of_b[1].public_data, 100);
}

void case_metadata(const char *plugin)
{
	Duo duo(plugin);
	Agent c(plugin, "c");
	Buffer of_c;
	nixlBackendMD *metadata;
	nixlBackendReqH *handle;
	const std::string info = duo.b.info();

	metadata_damage(duo);
	for (size_t n = 0; n < info.find(':'); n++)
		if (duo.a.engine->loadRemoteConnInfo("x", info.substr(0, n)) == NIXL_SUCCESS)
			fail("connection information of %zu bytes is accepted", n);
	for (const std::string &bad : {std::string(300, 'x'), info + std::string("\0", 1),
		     info + ":1", "x" + info, info + std::string(200, '0')})
		if (duo.a.engine->loadRemoteConnInfo("x", bad) == NIXL_SUCCESS)
			fail("damaged connection information is accepted: %s", bad.c_str());
	/* Metadata of one agent, used for another. */
	c.memory_register(of_c, 4096);
	expect(duo.a.metadata_load("b", of_c.at(0), 4096, of_c.public_data, metadata), NIXL_SUCCESS,
		"loadRemoteMD");
	duo.a.transfer(NIXL_WRITE, "b", {duo.range(0, 0, 0, 0, 10)}, nullptr);
	expect(duo.a.prepare(
		       NIXL_WRITE, "b", {{&duo.of_a[0], 0, of_c.at(0), metadata, 100}}, handle),
		NIXL_SUCCESS, "prepXfer");
	expect(duo.a.post(NIXL_WRITE, "b", handle, nullptr), NIXL_ERR_MISMATCH,
		"metadata of another agent");
	expect(duo.a.engine->releaseReqH(handle), NIXL_SUCCESS, "releaseReqH");
	expect(duo.a.engine->unloadMD(metadata), NIXL_SUCCESS, "unloadMD");
}
