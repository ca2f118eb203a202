/* SPDX-License-Identifier: BSD-3-Clause */
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <dlfcn.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>
#include "tests/xfer/nixl/agent.h"

static nixlBackendPlugin *plugin;

void fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fprintf(stderr, "FAILED: ");
	vfprintf(stderr, format, args);
	fprintf(stderr, "\n");
	va_end(args);
	_exit(1); /* threads of libhp3x may run */
}

void must(nixl_status_t status, const char *what)
{
	if (status != NIXL_SUCCESS)
		fail("%s: status %d", what, status);
}

double seconds()
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void check_time(double since, const char *what)
{
	if (seconds() - since > LIMIT_S)
		fail("%s: nothing happens for %d s", what, LIMIT_S);
	sched_yield();
}

int stderr_catch()
{
	int kept = dup(2), caught = memfd_create("stderr", 0);

	if (kept < 0 || caught < 0 || dup2(caught, 2) < 0)
		fail("cannot catch stderr");
	close(caught);
	return kept;
}

std::string stderr_release(int kept)
{
	char text[4096];
	ssize_t n;

	lseek(2, 0, SEEK_SET);
	n = read(2, text, sizeof(text));
	dup2(kept, 2);
	close(kept);
	return std::string(text, n > 0 ? (size_t)n : 0);
}

/* As NIXL loads plugins. */
void plugin_load(const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	auto init = library == nullptr ? nullptr
				       : (nixlBackendPlugin * (*)())
						 dlsym(library, "nixl_plugin_init");

	if (init == nullptr || dlsym(library, "nixl_plugin_fini") == nullptr)
		fail("%s: %s", path, dlerror());
	plugin = init();
	if (plugin == nullptr || plugin->api_version != NIXL_PLUGIN_API_VERSION)
		fail("the plugin has another version of the interface");
	if (std::string(plugin->get_plugin_name()) != "HP3")
		fail("the plugin has the name %s", plugin->get_plugin_name());
}

const nixlBackendPlugin *plugin_get()
{
	return plugin;
}

nixlBackendEngine *engine_make(const std::string &name, nixl_b_params_t params)
{
	nixlBackendInitParams p;
	nixlBackendEngine *engine;

	p.localAgent = name;
	p.type = "HP3";
	p.customParams = &params;
	engine = plugin->create_engine(&p);
	if (engine == nullptr || !engine->getInitErr())
		return engine;
	plugin->destroy_engine(engine);
	return nullptr;
}

agent agent_make(const std::string &name, const char *peer_timeout_ms)
{
	agent a{name, engine_make(name, {{"provider", "tcp"}, {"rails", "127.0.0.1"},
						{"listen", "127.0.0.1:0"},
						{"peer_timeout_ms", peer_timeout_ms}})};

	if (a.engine == nullptr)
		fail("agent %s: no backend", name.c_str());
	return a;
}

void agent_end(agent &a)
{
	plugin->destroy_engine(a.engine);
	a.engine = nullptr;
}

std::string connection_of(const agent &a)
{
	std::string text;

	must(a.engine->getConnInfo(text), "getConnInfo");
	return text;
}

void agent_load(agent &a, const agent &b)
{
	must(a.engine->loadRemoteConnInfo(b.name, connection_of(b)), "loadRemoteConnInfo");
}

std::unique_ptr<memory> memory_make(agent &a, size_t length, uint32_t seed)
{
	auto m = std::make_unique<memory>();

	m->bytes.resize(length);
	for (char &c : m->bytes) {
		seed = seed * 1664525u + 1013904223u;
		c = (char)(seed >> 24);
	}
	must(a.engine->registerMem({m->address(), length, 0}, DRAM_SEG, m->metadata),
		"registerMem");
	return m;
}

void memory_end(agent &a, memory &m)
{
	must(a.engine->deregisterMem(m.metadata), "deregisterMem");
	m.metadata = nullptr;
}

std::string description_of(const agent &a, const memory &m)
{
	std::string text;

	must(a.engine->getPublicData(m.metadata, text), "getPublicData");
	return text;
}

nixlBackendMD *memory_load(agent &a, const std::string &owner, uintptr_t address, size_t length,
	const std::string &description)
{
	nixlBlobDesc d(address, length, 0);
	nixlBackendMD *out = nullptr;

	d.metaInfo = description;
	must(a.engine->loadRemoteMD(d, DRAM_SEG, owner, out), "loadRemoteMD");
	return out;
}

nixlBackendMD *memory_share(agent &a, const agent &owner, const memory &m)
{
	return memory_load(a, owner.name, m.address(), m.bytes.size(), description_of(owner, m));
}

std::unique_ptr<request> prepare(
	agent &a, nixl_xfer_op_t operation, const std::string &to, const std::vector<part> &parts)
{
	auto r = std::make_unique<request>();

	r->operation = operation;
	r->agent = to;
	for (const part &p : parts) {
		r->here.addDesc({p.here->address() + p.from, p.length, 0, p.here->metadata});
		r->there.addDesc({p.there->address() + p.to, p.length, 0, p.loaded});
	}
	must(a.engine->prepXfer(operation, r->here, r->there, to, r->handle, nullptr), "prepXfer");
	return r;
}

nixl_status_t post(agent &a, request &r, const char *notification)
{
	nixl_opt_b_args_t options;

	options.hasNotif = notification != nullptr;
	if (notification != nullptr)
		options.notifMsg = notification;
	return a.engine->postXfer(r.operation, r.here, r.there, r.agent, r.handle, &options);
}

nixl_status_t finish(agent &a, request &r)
{
	const double since = seconds();
	nixl_status_t status;

	while ((status = a.engine->checkXfer(r.handle)) == NIXL_IN_PROG)
		check_time(since, "transfer");
	return status;
}

void release(agent &a, request &r)
{
	must(a.engine->releaseReqH(r.handle), "releaseReqH");
	r.handle = nullptr;
}

void transfer(agent &a, nixl_xfer_op_t operation, const std::string &to,
	const std::vector<part> &parts, const char *notification)
{
	auto r = prepare(a, operation, to, parts);
	nixl_status_t status = post(a, *r, notification);

	if (status != NIXL_IN_PROG)
		must(status, "postXfer");
	must(finish(a, *r), "transfer");
	release(a, *r);
}

void expect_notification(agent &a, const std::string &from, const std::string &text)
{
	const double since = seconds();
	notif_list_t list;

	while (list.empty()) {
		must(a.engine->getNotifs(list), "getNotifs");
		check_time(since, "notification");
	}
	if (list.size() != 1 || list[0].first != from || list[0].second != text)
		fail("%zu notifications, the first \"%.40s\" from %.40s, instead of \"%.40s\" from "
		     "%.40s",
			list.size(), list[0].second.c_str(), list[0].first.c_str(), text.c_str(),
			from.c_str());
}
