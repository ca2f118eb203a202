/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_APP_DPDK_FAILURE_H
#define HP3_APP_DPDK_FAILURE_H
/*
 * This module: what to tell a user when a call of DPDK has failed. Errors are those of rte_errno,
 * or negated what the call returned; rte_strerror() knows both errno and DPDK's own. Calls nothing
 * of hp3.
 */

/*
 * The error and what to do about it, for the end of a message: "Cannot allocate memory; raise ...".
 * `memory` is what there is to do where memory was short, and only there; `other`, where the error
 * says nothing of its own about that. The text lives until the next call; one thread.
 */
const char *hp3_dpdk_failure(int err, const char *memory, const char *other);

/* The same of a pool of packet buffers: it also fails where DPDK lacks the driver that keeps its
 * buffers, which has nothing to do with memory. */
const char *hp3_pool_failure(int err, const char *memory);

#endif
