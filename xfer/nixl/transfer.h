/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * A transfer: the request handle of NIXL.
 *
 * prepXfer makes the list of parts, postXfer submits them. Writes take pages: one op for up to
 * PAGES parts of the same two regions. Each part of a read is an op. If libhp3x cannot take more
 * ops, the rest follows when an op of this transfer ends, or when NIXL checks the transfer.
 *
 * When all ops have ended with HP3X_OK, all data have arrived. Only then is the notification sent.
 * The transfer succeeds when the other agent's process has received the notification.
 *
 * A transfer has ended when all its ops have ended: nothing accesses its local memory afterwards.
 * If one op fails, the others are cancelled. A transfer can be posted again after its end.
 *
 * `lock` guards all fields. op_ended() runs in the thread of libhp3x.
 */
#include <condition_variable>
#include <vector>
#include "xfer/nixl/engine.h"

namespace hp3
{

class Transfer : public nixlBackendReqH
{
      public:
	Transfer(hp3x_domain *of, std::shared_ptr<Link> to, nixl_xfer_op_t operation)
	    : domain(of), link(std::move(to)), reads(operation == NIXL_READ)
	{
	}

	/* Checks a pair of descriptors, and adds its parts. */
	nixl_status_t pair_add(const nixlMetaDesc &local, const nixlMetaDesc &remote);
	/*
	 * Submits. `message`: a packed notification, empty: none. With the engine's lock: no memory
	 * is deregistered meanwhile.
	 */
	nixl_status_t post(const std::string &message);
	nixl_status_t check();
	/* Cancels, and waits until all ops have ended: at most HP3X_FENCE_MS. */
	void finish();

      private:
	struct Part {
		Memory *memory;
		size_t remote; /* index */
		hp3x_page page;
	};

	static void op_ended(const hp3x_completion *completion);
	Memory *memory_use(Memory *memory);
	size_t remote_use(const RemoteMemory *memory);
	int64_t parts_submit();
	void op_submitted(int64_t op);
	void parts_advance();
	void notif_advance();
	void advance();
	void fail(nixl_status_t status);
	void failure_print(const hp3x_completion *completion);

	hp3x_domain *domain;
	std::shared_ptr<Link> link;
	bool reads;
	std::vector<std::shared_ptr<Memory>> memories; /* that parts name */
	std::vector<const RemoteMemory *> sources; /* of `remotes`; not dereferenced later */
	std::vector<hp3x_remote> remotes;
	std::vector<Part> parts;

	std::mutex lock;
	std::condition_variable ended;
	bool posted = false, in_flight = false;
	nixl_status_t result = NIXL_SUCCESS;
	size_t next = 0; /* part to submit */
	size_t outstanding = 0; /* ops */
	std::vector<int64_t> ops; /* submitted since post() */
	std::string notif; /* that waits for the end of all parts */
};

} // namespace hp3
