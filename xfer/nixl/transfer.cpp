/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transfers. Ops are submitted until libhp3x has no room for more; the rest follows when ops end,
 * or in checkXfer(). After the last op of data has ended with HP3X_OK, the notification is sent.
 * The transfer ends when the other agent's library has the notification.
 */
#include <chrono>
#include "xfer/nixl/engine.h"

namespace hp3x_nixl
{

static nixl_status_t status_of(enum hp3x_status status)
{
	switch (status) {
	case HP3X_OK:
		return NIXL_SUCCESS;
	case HP3X_CANCELLED:
		return NIXL_ERR_CANCELED;
	case HP3X_PEER_LOST:
	case HP3X_CLOSED:
		return NIXL_ERR_REMOTE_DISCONNECT;
	case HP3X_REFUSED:
		return NIXL_ERR_NOT_ALLOWED;
	case HP3X_TIMED_OUT:
		break;
	}
	return NIXL_ERR_BACKEND;
}

nixl_status_t engine::prepXfer(const nixl_xfer_op_t &operation, const nixl_meta_dlist_t &local,
	const nixl_meta_dlist_t &remote, const std::string &agent, nixlBackendReqH *&handle,
	const nixl_opt_b_args_t *options) const
{
	guard held(lock);
	auto t = std::make_unique<transfer>();

	(void)options; /* those of postXfer() count */
	handle = nullptr;
	t->owner = this;
	t->operation = operation;
	t->to = link_find(agent);
	if (local.getType() != DRAM_SEG || remote.getType() != DRAM_SEG)
		return fail_with(NIXL_ERR_NOT_SUPPORTED,
			"a transfer of device memory or storage: this backend has host memory "
			"(DRAM_SEG) only");
	if (t->to == nullptr)
		return fail_with(NIXL_ERR_NOT_FOUND,
			"agent %.64s is unknown: load its metadata first", agent.c_str());
	nixl_status_t status = transfer_plan(*t, local, remote);
	if (status == NIXL_SUCCESS)
		status = link_open(*t->to);
	if (status == NIXL_SUCCESS)
		handle = t.release();
	return status;
}

nixl_status_t engine::postXfer(const nixl_xfer_op_t &operation, const nixl_meta_dlist_t &local,
	const nixl_meta_dlist_t &remote, const std::string &agent, nixlBackendReqH *&handle,
	const nixl_opt_b_args_t *options) const
{
	auto *t = static_cast<transfer *>(handle);
	guard held(lock);

	(void)operation, (void)local, (void)remote; /* as prepared */
	if (t == nullptr)
		return fail_with(NIXL_ERR_INVALID_PARAM, "no handle: prepare the transfer first");
	if (t->active)
		return fail_with(NIXL_ERR_REPOST_ACTIVE,
			"the transfer is under way: post it again when it has ended");
	if (link_find(agent) != t->to)
		return fail_with(NIXL_ERR_NOT_FOUND,
			"agent %.64s was invalidated: prepare the transfer again", agent.c_str());
	for (const step &s : t->steps)
		if (s.local->region == nullptr)
			return fail_with(NIXL_ERR_INVALID_PARAM,
				"memory of the transfer was deregistered: prepare it again");
	nixl_status_t status = link_open(*t->to);
	if (status != NIXL_SUCCESS)
		return status;
	t->notifies = options != nullptr && options->hasNotif;
	if (t->notifies && !notification_frame(options->notifMsg, t->notification))
		return NIXL_ERR_INVALID_PARAM;
	t->next = 0;
	t->notified = false;
	t->active = true;
	t->outcome = NIXL_SUCCESS;
	active.insert(t);
	transfer_go_on(*t);
	return t->active ? NIXL_IN_PROG : t->outcome;
}

nixl_status_t engine::checkXfer(nixlBackendReqH *handle) const
{
	auto *t = static_cast<transfer *>(handle);
	guard held(lock);

	if (t->active)
		transfer_go_on(*t);
	return t->active ? NIXL_IN_PROG : t->outcome;
}

nixl_status_t engine::releaseReqH(nixlBackendReqH *handle) const
{
	auto *t = static_cast<transfer *>(handle);
	guard held(lock);

	if (t->active) {
		transfer_stop(*t, NIXL_ERR_CANCELED);
		if (!transfer_wait(held, t))
			return fail_with(NIXL_ERR_REPOST_ACTIVE,
				"the transfer does not end: release it again");
	}
	held.unlock();
	delete t;
	return NIXL_SUCCESS;
}

bool engine::transfer_wait(guard &held, transfer *t) const
{
	return ended.wait_for(held, std::chrono::milliseconds(HP3X_NIXL_WAIT_MS),
		[this, t] { return active.count(t) == 0; });
}

/* The first reason counts. */
void engine::transfer_stop(transfer &t, nixl_status_t why) const
{
	if (t.outcome == NIXL_SUCCESS)
		t.outcome = why;
	for (step &s : t.steps)
		if (s.op != 0)
			hp3x_cancel(domain, s.op);
	if (t.notification_op != 0)
		hp3x_cancel(domain, t.notification_op);
	transfer_go_on(t);
}

int64_t engine::step_submit(step &s) const
{
	transfer &t = *s.owner;
	const hp3x_page *page = &t.pages[s.first_page];
	const hp3x_common common = {0, &s, step_done};

	if (t.operation == NIXL_READ) {
		const struct hp3x_read read = {common, s.local->region, page->from_offset,
			s.remote.get(), page->to_offset, page->length, 0, 0};

		return ::hp3x_read(t.to->peer, &read);
	}
	const hp3x_pages pages = {common, s.local->region, s.remote.get(), page, s.n_pages, 0, 0};

	return hp3x_write_pages(t.to->peer, &pages);
}

static nixl_status_t error_of(int64_t error)
{
	switch (error) {
	case -ENOTCONN:
		return NIXL_ERR_REMOTE_DISCONNECT;
	case -ESTALE:
		return NIXL_ERR_MISMATCH;
	default:
		return NIXL_ERR_BACKEND;
	}
}

/* Submits what there is room for, and ends the transfer if nothing is left. */
void engine::transfer_go_on(transfer &t) const
{
	int64_t op = 0;

	while (t.outcome == NIXL_SUCCESS && t.next < t.steps.size() && op >= 0) {
		step &s = t.steps[t.next];

		op = t.to->peer != nullptr ? step_submit(s) : -ENOTCONN;
		if (op > 0) {
			s.op = op;
			t.next++;
			t.under_way++;
		}
	}
	if (op >= 0 && t.outcome == NIXL_SUCCESS && t.under_way == 0 && t.notifies && !t.notified) {
		op = t.to->peer != nullptr ? notification_submit(t) : -ENOTCONN;
		t.notified = op > 0;
		t.under_way += op > 0;
		t.notification_op = op > 0 ? op : 0;
	}
	if (op < 0 && op != -EAGAIN) {
		fail_with(NIXL_ERR_BACKEND, "transfer with agent %.64s: %s", t.to->agent.c_str(),
			t.to->peer != nullptr ? hp3x_error() : "it was invalidated");
		transfer_stop(t, error_of(op)); /* comes here again */
		return;
	}
	if (!t.active || t.under_way > 0 || op == -EAGAIN)
		return;
	t.active = false;
	active.erase(&t);
	ended.notify_all();
}

void engine::step_done(const hp3x_completion *completion)
{
	auto *s = static_cast<step *>(completion->context);
	transfer &t = *s->owner;
	const engine *e = t.owner;
	guard held(e->lock);

	s->op = 0;
	t.under_way--;
	if (completion->status != HP3X_OK && t.outcome == NIXL_SUCCESS)
		e->transfer_stop(t, status_of(completion->status));
	else
		e->transfer_go_on(t);
}

void engine::notification_done(const hp3x_completion *completion)
{
	transfer &t = *static_cast<transfer *>(completion->context);
	const engine *e = t.owner;
	guard held(e->lock);

	t.notification_op = 0;
	t.under_way--;
	if (completion->status != HP3X_OK && t.outcome == NIXL_SUCCESS)
		e->transfer_stop(t, status_of(completion->status));
	else
		e->transfer_go_on(t);
}

} // namespace hp3x_nixl
