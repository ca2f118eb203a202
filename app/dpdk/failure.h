/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * This module makes messages for failed calls of DPDK. The argument `err` is rte_errno, or the
 * negated return value of the call; rte_strerror() handles errors of errno and of DPDK. The module
 * calls no other module.
 */

/*
 * The error and its fix, for the end of a message: "Cannot allocate memory; raise ...". `memory` is
 * the fix if there was too little memory, and `other` the fix for errors for which this module has
 * no fix. The text is valid until the next call. Only one thread may call it.
 */
const char *hp3_dpdk_failure(int err, const char *memory, const char *other);

/*
 * As hp3_dpdk_failure(), for a pool of packet buffers. Making a pool also fails if DPDK has no
 * mempool driver, with an error that looks like missing memory.
 */
const char *hp3_pool_failure(int err, const char *memory);
