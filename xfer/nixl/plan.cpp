/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Descriptors become ops. Neighbours in the same two regions are pages of one write; a read is one
 * op for each descriptor. Long descriptors are cut, so that an op never needs long slices.
 */
#include <algorithm>
#include "xfer/nixl/engine.h"

#define MOST_PAGES 512u /* of a step */
#define MOST_BYTES (64u << 20) /* of a step */

namespace hp3x_nixl
{

static bool is_covered(uint64_t base, uint64_t length, const nixlMetaDesc &d)
{
	return d.addr >= base && d.len <= length && d.addr - base <= length - d.len;
}

static nixl_status_t descriptor_check(
	size_t i, const nixlMetaDesc &local, const nixlMetaDesc &remote)
{
	if (local.metadataP == nullptr || remote.metadataP == nullptr)
		return fail_with(NIXL_ERR_INVALID_PARAM,
			"descriptor %zu has no metadata: register the memory with this backend", i);
	const auto &here = static_cast<local_metadata *>(local.metadataP)->memory;
	const auto &there = static_cast<remote_metadata *>(remote.metadataP)->memory;

	if (local.len != remote.len)
		return fail_with(NIXL_ERR_INVALID_PARAM,
			"descriptor %zu has %zu bytes here, and %zu at the other agent: lengths "
			"must be equal",
			i, local.len, remote.len);
	if (!is_covered(here->base, here->length, local) ||
		!is_covered(there->address, there->length, remote))
		return fail_with(NIXL_ERR_INVALID_PARAM,
			"descriptor %zu (%zu bytes) is not inside the registered memory", i,
			local.len);
	return NIXL_SUCCESS;
}

/* `bytes`: of the last step. */
static void page_add(
	transfer &t, const nixlMetaDesc &local, const nixlMetaDesc &remote, uint64_t &bytes)
{
	const auto &here = static_cast<local_metadata *>(local.metadataP)->memory;
	const auto &there = static_cast<remote_metadata *>(remote.metadataP)->memory;
	const hp3x_page page = {
		local.addr - here->base, remote.addr - there->address, (uint32_t)local.len};
	step *last = t.steps.empty() ? nullptr : &t.steps.back();

	t.pages.push_back(page);
	if (last != nullptr && t.operation == NIXL_WRITE && last->local == here &&
		last->remote == there && last->n_pages < MOST_PAGES &&
		bytes + local.len <= MOST_BYTES) {
		last->n_pages++;
		bytes += local.len;
		return;
	}
	t.steps.push_back({&t, here, there, t.pages.size() - 1, 1, 0});
	bytes = local.len;
}

nixl_status_t transfer_plan(
	transfer &t, const nixl_meta_dlist_t &local, const nixl_meta_dlist_t &remote)
{
	const size_t n = (size_t)local.descCount();
	uint64_t bytes = 0;

	if (n == 0 || local.descCount() != remote.descCount())
		return fail_with(NIXL_ERR_INVALID_PARAM,
			"%d descriptors here, and %d at the other agent: there must be as many, "
			"and at least one",
			local.descCount(), remote.descCount());
	for (size_t i = 0; i < n; i++) {
		nixlMetaDesc here = local[i], there = remote[i];
		nixl_status_t status = descriptor_check(i, here, there);

		if (status != NIXL_SUCCESS)
			return status;
		for (size_t left = here.len; left > 0; left -= here.len) {
			here.len = there.len = std::min(left, (size_t)MOST_BYTES);
			page_add(t, here, there, bytes);
			here.addr += here.len;
			there.addr += there.len;
		}
	}
	return NIXL_SUCCESS;
}

} // namespace hp3x_nixl
