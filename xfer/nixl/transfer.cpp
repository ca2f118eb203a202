/* SPDX-License-Identifier: BSD-3-Clause */
/* Transfers from prepXfer to releaseReqH. */
#include <algorithm>
#include <cerrno>
#include "xfer/nixl/transfer.h"

#define PAGES      1024u /* of an op: less than HP3X_MOST_PAGES, so that slices stay short */
#define MOST_BYTES (1ul << 30) /* of a part */

namespace hp3
{

Memory *Transfer::memory_use(Memory *memory)
{
	if (memories.empty() || memories.back().get() != memory) {
		auto at = std::find_if(memories.begin(), memories.end(),
			[memory](const auto &each) { return each.get() == memory; });

		if (at == memories.end())
			memories.push_back(memory->shared_from_this());
	}
	return memory;
}

size_t Transfer::remote_use(const RemoteMemory *memory)
{
	auto at = std::find(sources.begin(), sources.end(), memory);

	if (at == sources.end()) {
		sources.push_back(memory);
		remotes.push_back(memory->remote);
		return remotes.size() - 1;
	}
	return static_cast<size_t>(at - sources.begin());
}

static bool is_inside(uint64_t base, uint64_t size, uint64_t at, uint64_t length)
{
	return at >= base && at - base <= size && length <= size - (at - base);
}

nixl_status_t Transfer::pair_add(const nixlMetaDesc &local, const nixlMetaDesc &remote)
{
	Memory *memory = static_cast<Memory *>(local.metadataP);
	const RemoteMemory *other = static_cast<const RemoteMemory *>(remote.metadataP);
	size_t index;

	if (memory == nullptr || other == nullptr)
		return refuse(NIXL_ERR_INVALID_PARAM,
			"a descriptor has no metadata: register the memory, and load the metadata "
			"of the other agent");
	if (local.len != remote.len)
		return refuse(NIXL_ERR_INVALID_PARAM,
			"a local descriptor of %zu bytes for a remote one of %zu: pass equal "
			"lengths",
			local.len, remote.len);
	if (!is_inside(memory->base, memory->size, local.addr, local.len))
		return refuse(NIXL_ERR_INVALID_PARAM,
			"a local descriptor of %zu bytes is not inside its registered memory",
			local.len);
	if (!is_inside(other->remote.address, other->remote.length, remote.addr, remote.len))
		return refuse(NIXL_ERR_INVALID_PARAM,
			"a remote descriptor of %zu bytes is not inside the memory of its metadata",
			remote.len);
	memory = memory_use(memory);
	index = remote_use(other);
	for (size_t at = 0; at < local.len; at += MOST_BYTES)
		parts.push_back({memory, index,
			{local.addr - memory->base + at, remote.addr - other->remote.address + at,
				static_cast<uint32_t>(std::min(MOST_BYTES, local.len - at))}});
	return NIXL_SUCCESS;
}

/* Submits the next part, or the next parts of the same two regions. Moves `next`. */
int64_t Transfer::parts_submit()
{
	const Part &first = parts[next];
	hp3x_common common = {};
	hp3x_page pages[PAGES];
	hp3x_pages write = {};
	int64_t op;
	uint32_t n = 0;

	common.context = this;
	common.done = op_ended;
	if (reads) {
		struct hp3x_read read = {};

		read.common = common;
		read.to = first.memory->region;
		read.to_offset = first.page.from_offset;
		read.from = &remotes[first.remote];
		read.from_offset = first.page.to_offset;
		read.length = first.page.length;
		op = hp3x_read(link->peer, &read);
		next += op > 0;
		return op;
	}
	while (n < PAGES && next + n < parts.size() && parts[next + n].memory == first.memory &&
		parts[next + n].remote == first.remote) {
		pages[n] = parts[next + n].page;
		n++;
	}
	write.common = common;
	write.from = first.memory->region;
	write.to = &remotes[first.remote];
	write.page = pages;
	write.n_pages = n;
	op = hp3x_write_pages(link->peer, &write);
	next += op > 0 ? n : 0;
	return op;
}

/* The first error counts. Cancels what is under way. */
void Transfer::fail(nixl_status_t status)
{
	if (result != NIXL_SUCCESS)
		return;
	result = status;
	for (int64_t op : ops)
		hp3x_cancel(domain, op);
}

/* -EAGAIN: the library cannot take more ops now. */
void Transfer::op_submitted(int64_t op)
{
	if (op > 0) {
		outstanding++;
		ops.push_back(op);
	} else if (op != -EAGAIN) {
		fail(refuse_op(*link, "transfer with", op));
	}
}

void Transfer::parts_advance()
{
	std::lock_guard<std::mutex> guard(link->lock);
	int64_t op = 1;

	while (op > 0 && next < parts.size()) {
		if (link->peer == nullptr) {
			fail(refuse_op(*link, "transfer with", -ENOTCONN));
			return;
		}
		op = parts_submit();
		op_submitted(op);
	}
}

void Transfer::notif_advance()
{
	std::lock_guard<std::mutex> guard(link->lock);
	hp3x_common common = {};
	int64_t op;

	if (link->peer == nullptr) {
		fail(refuse_op(*link, "transfer with", -ENOTCONN));
		return;
	}
	common.context = this;
	common.done = op_ended;
	op = hp3x_send(link->peer, notif.data(), notif.size(), &common);
	if (op > 0)
		notif.clear();
	op_submitted(op);
}

/* Does what can be done now. With the lock. */
void Transfer::advance()
{
	if (!in_flight)
		return;
	if (result == NIXL_SUCCESS && next < parts.size())
		parts_advance();
	if (result == NIXL_SUCCESS && next == parts.size() && outstanding == 0 && !notif.empty())
		notif_advance();
	if (outstanding > 0 || (result == NIXL_SUCCESS && (next < parts.size() || !notif.empty())))
		return;
	in_flight = false;
	for (auto &memory : memories)
		memory->users--;
	ended.notify_all();
}

/* With the lock. */
void Transfer::failure_print(const hp3x_completion *completion)
{
	std::lock_guard<std::mutex> guard(link->lock);
	bool has_reason = link->peer != nullptr && link->peer == completion->peer;

	refuse(NIXL_ERR_BACKEND, "transfer with agent %s: %s%s%s", link->agent.c_str(),
		hp3x_status_name(completion->status), has_reason ? ": " : "",
		has_reason ? hp3x_peer_reason(link->peer) : "");
}

void Transfer::op_ended(const hp3x_completion *completion)
{
	Transfer *t = static_cast<Transfer *>(completion->context);
	std::lock_guard<std::mutex> guard(t->lock);

	t->outstanding--;
	if (completion->status != HP3X_OK && t->result == NIXL_SUCCESS) {
		t->failure_print(completion);
		t->fail(status_of_op(completion->status));
	}
	t->advance();
}

nixl_status_t Transfer::post(const std::string &message)
{
	std::lock_guard<std::mutex> guard(lock);

	if (in_flight)
		return refuse(NIXL_ERR_REPOST_ACTIVE,
			"the transfer is under way: post it again after its end");
	for (auto &memory : memories)
		if (memory->region == nullptr || memory->leaving)
			return refuse(NIXL_ERR_NOT_ALLOWED,
				"the memory of a descriptor was deregistered: make a new transfer");
	for (auto &memory : memories)
		memory->users++;
	posted = in_flight = true;
	result = NIXL_SUCCESS;
	next = 0;
	ops.clear();
	notif = message;
	advance();
	return in_flight ? NIXL_IN_PROG : result;
}

nixl_status_t Transfer::check()
{
	std::lock_guard<std::mutex> guard(lock);

	if (!posted)
		return NIXL_ERR_NOT_POSTED;
	advance();
	return in_flight ? NIXL_IN_PROG : result;
}

void Transfer::finish()
{
	std::unique_lock<std::mutex> guard(lock);

	if (in_flight) {
		fail(NIXL_ERR_CANCELED);
		advance();
	}
	while (in_flight)
		ended.wait(guard);
}

nixl_status_t Engine::prepXfer(const nixl_xfer_op_t &operation, const nixl_meta_dlist_t &local,
	const nixl_meta_dlist_t &remote, const std::string &agent, nixlBackendReqH *&handle,
	const nixl_opt_b_args_t *) const
{
	std::shared_ptr<Link> link = link_find(agent);
	nixl_status_t status = NIXL_SUCCESS;

	handle = nullptr;
	if (link == nullptr)
		return refuse(NIXL_ERR_NOT_FOUND,
			"agent %s is not known: load its connection information first",
			agent.c_str());
	if (local.descCount() != remote.descCount() || local.descCount() == 0)
		return refuse(NIXL_ERR_INVALID_PARAM,
			"%d local and %d remote descriptors: pass as many of each, and at least 1",
			local.descCount(), remote.descCount());
	if (local.getType() != DRAM_SEG || remote.getType() != DRAM_SEG)
		return refuse(NIXL_ERR_NOT_SUPPORTED,
			"only host memory (DRAM_SEG) is supported: use another backend");
	auto transfer = std::make_unique<Transfer>(domain, link, operation);
	for (int i = 0; i < local.descCount() && status == NIXL_SUCCESS; i++)
		status = transfer->pair_add(
			local[static_cast<size_t>(i)], remote[static_cast<size_t>(i)]);
	if (status == NIXL_SUCCESS)
		handle = transfer.release();
	return status;
}

nixl_status_t Engine::postXfer(const nixl_xfer_op_t &, const nixl_meta_dlist_t &,
	const nixl_meta_dlist_t &, const std::string &, nixlBackendReqH *&handle,
	const nixl_opt_b_args_t *options) const
{
	bool notifies = options != nullptr && options->hasNotif;
	const std::string message = notifies ? notif_pack(options->notifMsg) : "";

	if (handle == nullptr)
		return refuse(NIXL_ERR_INVALID_PARAM, "postXfer without a prepared transfer");
	if (notifies && message.empty())
		return refuse(NIXL_ERR_INVALID_PARAM,
			"a notification of %zu bytes is too long: with the name of the agent, %u "
			"bytes at most",
			options->notifMsg.size(), NOTIF_MOST);
	std::lock_guard<std::mutex> guard(lock);
	return static_cast<Transfer *>(handle)->post(message);
}

nixl_status_t Engine::checkXfer(nixlBackendReqH *handle) const
{
	return handle == nullptr ? NIXL_ERR_INVALID_PARAM
				 : static_cast<Transfer *>(handle)->check();
}

nixl_status_t Engine::releaseReqH(nixlBackendReqH *handle) const
{
	Transfer *transfer = static_cast<Transfer *>(handle);

	if (transfer == nullptr)
		return NIXL_SUCCESS;
	transfer->finish();
	delete transfer;
	memories_tidy();
	return NIXL_SUCCESS;
}

} // namespace hp3
