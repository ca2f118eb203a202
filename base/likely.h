/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Hints about the branch that nearly every packet takes. The macros equal likely() and unlikely()
 * of DPDK, whose headers the engine does not include.
 */

#define HP3_LIKELY(x)   __builtin_expect(!!(x), 1)
#define HP3_UNLIKELY(x) __builtin_expect(!!(x), 0)
