/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_APP_DPDK_FAILURE_H
#define HP3_APP_DPDK_FAILURE_H
/*
 * This module: messages for failed calls of DPDK. Errors are those of rte_errno, or the negated
 * return value; rte_strerror() handles both errno and DPDK's own. It calls no other module.
 */

/*
 * The error and its fix, for the end of a message: "Cannot allocate memory; raise ...". `memory` is
 * the fix if memory was short, and `other` the fix for errors without one of their own. The text
 * lives until the next call; one thread.
 */
const char *hp3_dpdk_failure(int err, const char *memory, const char *other);

/* The same for a pool of packet buffers. It also fails if DPDK has no mempool driver, which has
 * nothing to do with memory. */
const char *hp3_pool_failure(int err, const char *memory);

#endif
