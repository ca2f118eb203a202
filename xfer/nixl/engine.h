/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * libplugin_HP3.so: a backend plugin for NIXL over libhp3x. Host memory only.
 *
 * An engine has one domain. For each agent whose connection information NIXL loads, it has a Link:
 * a connection to the domain of that agent. Connections of other agents to this domain only carry
 * their data and notifications.
 *
 *     registerMem, getPublicData     hp3x_region_add(), hp3x_region_describe()
 *     getConnInfo                    address of the domain
 *     loadRemoteConnInfo, connect    hp3x_connect()
 *     postXfer                       hp3x_write_pages() and hp3x_read(): see transfer.h
 *     genNotif, getNotifs            hp3x_send(), hp3x_receive()
 *
 * Locks: `lock` of the engine guards its lists. Link::lock guards the peer of a link. Order:
 * engine, transfer, link. No function of the library that waits is called with a lock.
 *
 * Errors: each function that refuses prints one line on stderr that names what to change.
 */
#include <atomic>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include "backend/backend_engine.h"
#include "xfer/hp3x.h"

#define NOTIF_MOST (HP3X_MOST_SEND - 10u) /* bytes: the agent's name and the text */

namespace hp3
{

/* Prints a line on stderr, and returns `status`. */
nixl_status_t refuse(nixl_status_t status, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* What an error of libhp3x is for NIXL. */
nixl_status_t status_of_error(int64_t error);
nixl_status_t status_of_op(hp3x_status status);

/* An agent to which this engine is connected. */
struct Link {
	std::string agent, address;
	std::mutex lock;
	hp3x_peer *peer = nullptr; /* NULL: disconnected */
};

/* `what` names the agent of the link. `error`: of the library, whose hp3x_error() is printed. */
nixl_status_t refuse_op(const Link &link, const char *what, int64_t error);

/* Memory of this process. */
struct Memory : nixlBackendMD, std::enable_shared_from_this<Memory> {
	Memory() : nixlBackendMD(true)
	{
	}
	hp3x_region *region = nullptr; /* NULL: deregistered */
	uintptr_t base = 0;
	size_t size = 0;
	std::string description;
	std::atomic<uint32_t> users{0}; /* transfers in flight; rises with the engine's lock only */
	bool leaving = false; /* deregistration was refused: a transfer used it */
};

/* Memory of another agent. */
struct RemoteMemory : nixlBackendMD {
	RemoteMemory() : nixlBackendMD(false)
	{
	}
	hp3x_remote remote = {};
};

class Engine : public nixlBackendEngine
{
      public:
	explicit Engine(const nixlBackendInitParams *params);
	~Engine() override;

	bool supportsRemote() const override
	{
		return true;
	}
	bool supportsLocal() const override
	{
		return false; /* a domain does not connect to itself */
	}
	bool supportsNotif() const override
	{
		return true;
	}
	nixl_mem_list_t getSupportedMems() const override
	{
		return {DRAM_SEG};
	}

	/* memory.cpp */
	nixl_status_t registerMem(
		const nixlBlobDesc &mem, const nixl_mem_t &type, nixlBackendMD *&out) override;
	nixl_status_t deregisterMem(nixlBackendMD *meta) override;
	nixl_status_t getPublicData(const nixlBackendMD *meta, std::string &text) const override;
	nixl_status_t loadRemoteMD(const nixlBlobDesc &input, const nixl_mem_t &type,
		const std::string &agent, nixlBackendMD *&output) override;
	nixl_status_t unloadMD(nixlBackendMD *input) override;

	/* link.cpp */
	nixl_status_t getConnInfo(std::string &text) const override;
	nixl_status_t loadRemoteConnInfo(
		const std::string &agent, const std::string &info) override;
	nixl_status_t connect(const std::string &agent) override;
	nixl_status_t disconnect(const std::string &agent) override;
	nixl_status_t genNotif(const std::string &agent, const std::string &text) const override;
	nixl_status_t getNotifs(notif_list_t &list) override;

	/* transfer.cpp */
	nixl_status_t prepXfer(const nixl_xfer_op_t &operation, const nixl_meta_dlist_t &local,
		const nixl_meta_dlist_t &remote, const std::string &agent, nixlBackendReqH *&handle,
		const nixl_opt_b_args_t *options) const override;
	nixl_status_t postXfer(const nixl_xfer_op_t &operation, const nixl_meta_dlist_t &local,
		const nixl_meta_dlist_t &remote, const std::string &agent, nixlBackendReqH *&handle,
		const nixl_opt_b_args_t *options) const override;
	nixl_status_t checkXfer(nixlBackendReqH *handle) const override;
	nixl_status_t releaseReqH(nixlBackendReqH *handle) const override;

      private:
	nixl_status_t link_open(Link &link);
	std::shared_ptr<Link> link_find(const std::string &agent) const;
	/* Deregisters memory whose deregistration was refused, and that no transfer uses now. */
	void memories_tidy() const;
	/* A notification as it is sent: it names this agent. Empty: too long. */
	std::string notif_pack(const std::string &text) const;

	hp3x_domain *domain = nullptr;
	mutable std::mutex lock;
	std::map<std::string, std::shared_ptr<Link>> links;
	std::list<hp3x_peer *> guests; /* peers that have connected to this domain */
	mutable std::list<std::shared_ptr<Memory>> memories;
};

/* options.cpp: what createBackend() may pass, with the defaults. */
nixl_b_params_t options_list();
/* Opens a domain. Returns NULL after it has printed why. */
hp3x_domain *domain_open(const nixl_b_params_t &params);

} // namespace hp3
