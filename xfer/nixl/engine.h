/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * A backend of NIXL on libhp3x: one domain of hp3x for each agent, host memory only.
 *
 *     NIXL                              here                hp3x
 *     registered memory                 local_memory        region
 *     metadata of an agent's memory     remote_memory       remote
 *     connection information, agent     link                control address, peer
 *     transfer (handle)                 transfer, steps     ops: a write of pages, or a read
 *     notification                      notification.cpp    message
 *
 * Threads: `lock` protects all that is here. Functions of hp3x are called with it, except for
 * hp3x_close(): that one waits for callbacks, and callbacks take the lock. Other calls of hp3x do
 * not wait for callbacks.
 *
 * Life of a step: the context of an op is its step. So a transfer must exist until all its ops have
 * ended; release and deregistration wait for that, at most HP3X_NIXL_WAIT_MS.
 *
 * Source: the headers of NIXL 1.4.0, src/api/cpp/backend.
 */
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <backend/backend_plugin.h>
#include "xfer/hp3x.h"

#define HP3X_NIXL_WAIT_MS (5 * HP3X_FENCE_MS)

namespace hp3x_nixl
{

/* Another agent. */
struct link {
	std::string agent, address;
	hp3x_peer *peer = nullptr; /* NULL: not connected */
};

struct local_memory {
	hp3x_region *region; /* NULL: deregistered */
	uintptr_t base;
	size_t length;
	std::string description;
};

/* What NIXL holds for registered memory, and for memory of another agent. */
struct local_metadata : nixlBackendMD {
	std::shared_ptr<local_memory> memory;

	local_metadata() : nixlBackendMD(true)
	{
	}
};

struct remote_metadata : nixlBackendMD {
	std::shared_ptr<const hp3x_remote> memory;

	remote_metadata() : nixlBackendMD(false)
	{
	}
};

class engine;
struct transfer;

/* One op: descriptors in the same two regions. */
struct step {
	transfer *owner;
	std::shared_ptr<local_memory> local;
	std::shared_ptr<const hp3x_remote> remote;
	size_t first_page;
	uint32_t n_pages; /* 1 for a read */
	int64_t op = 0; /* 0: not under way */
};

struct transfer : nixlBackendReqH {
	const engine *owner = nullptr;
	nixl_xfer_op_t operation;
	std::shared_ptr<struct link> to;
	std::vector<hp3x_page> pages;
	std::vector<step> steps;
	size_t next = 0; /* step to submit */
	uint32_t under_way = 0; /* ops that have not ended, with that of the notification */
	bool active = false; /* posted, and not ended */
	bool notifies = false, notified = false;
	std::string notification; /* the frame */
	int64_t notification_op = 0; /* 0: not under way */
	nixl_status_t outcome = NIXL_ERR_NOT_POSTED; /* first error; of an ended one, its status */
};

class engine : public nixlBackendEngine
{
      public:
	explicit engine(const nixlBackendInitParams *params);
	~engine() override;

	bool supportsRemote() const override
	{
		return true;
	}
	bool supportsLocal() const override
	{
		return false;
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
		const nixlBlobDesc &memory, const nixl_mem_t &type, nixlBackendMD *&out) override;
	nixl_status_t deregisterMem(nixlBackendMD *metadata) override;
	nixl_status_t getPublicData(
		const nixlBackendMD *metadata, std::string &text) const override;
	nixl_status_t loadRemoteMD(const nixlBlobDesc &memory, const nixl_mem_t &type,
		const std::string &agent, nixlBackendMD *&out) override;
	nixl_status_t unloadMD(nixlBackendMD *metadata) override;

	/* engine.cpp */
	nixl_status_t getConnInfo(std::string &text) const override;
	nixl_status_t loadRemoteConnInfo(
		const std::string &agent, const std::string &text) override;
	nixl_status_t connect(const std::string &agent) override;
	nixl_status_t disconnect(const std::string &agent) override;

	/* transfer.cpp */
	nixl_status_t prepXfer(const nixl_xfer_op_t &operation, const nixl_meta_dlist_t &local,
		const nixl_meta_dlist_t &remote, const std::string &agent, nixlBackendReqH *&handle,
		const nixl_opt_b_args_t *options) const override;
	nixl_status_t postXfer(const nixl_xfer_op_t &operation, const nixl_meta_dlist_t &local,
		const nixl_meta_dlist_t &remote, const std::string &agent, nixlBackendReqH *&handle,
		const nixl_opt_b_args_t *options) const override;
	nixl_status_t checkXfer(nixlBackendReqH *handle) const override;
	nixl_status_t releaseReqH(nixlBackendReqH *handle) const override;

	/* notification.cpp */
	nixl_status_t getNotifs(notif_list_t &list) override;
	nixl_status_t genNotif(const std::string &agent, const std::string &message) const override;

      private:
	using guard = std::unique_lock<std::mutex>;

	mutable std::mutex lock;
	mutable std::condition_variable ended; /* a transfer has ended */
	mutable std::set<transfer *> active;
	std::map<std::string, std::shared_ptr<struct link>> links;
	std::vector<hp3x_peer *> accepted;
	std::vector<char> buffer; /* of a received message */
	hp3x_domain *domain = nullptr;

	/* All with the lock. */
	std::shared_ptr<struct link> link_find(const std::string &agent) const;
	nixl_status_t link_open(struct link &to) const;
	bool notification_frame(const std::string &message, std::string &frame) const;
	void notification_take(const char *data, size_t length, notif_list_t &list) const;
	void transfer_go_on(transfer &t) const;
	void transfer_stop(transfer &t, nixl_status_t why) const;
	int64_t step_submit(step &s) const;
	int64_t notification_submit(transfer &t) const;
	/*
	 * Waits until the transfer has ended; releases the lock meanwhile, so that another thread
	 * may free the transfer. False: it has not ended.
	 */
	bool transfer_wait(guard &held, transfer *t) const;

	/* Callbacks of hp3x. */
	static void step_done(const hp3x_completion *completion);
	static void notification_done(const hp3x_completion *completion);
};

/* plan.cpp: writes pages and steps of the transfer. The lists have been checked to be DRAM. */
nixl_status_t transfer_plan(
	transfer &t, const nixl_meta_dlist_t &local, const nixl_meta_dlist_t &remote);

/* options.cpp: one line on stderr, which names what to change. Returns `status`. */
nixl_status_t fail_with(nixl_status_t status, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The parameters of a backend. False: one is wrong, and fail_with() has said why. */
const nixl_b_params_t &options_default();
bool domain_open(const nixl_b_params_t &params, hp3x_domain **domain);

} // namespace hp3x_nixl
