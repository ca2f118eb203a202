/* SPDX-License-Identifier: BSD-3-Clause */
#include "probes/standard.h"

#define NO_VA   0u
#define NO_RKEY 0u

int hp3_standard_build(
	void *buf, size_t cap, const struct hp3_addressing *a, uint32_t dest_qpn, uint32_t psn)
{
	return hp3_build_write0(buf, cap, a, dest_qpn, psn, NO_VA, NO_RKEY);
}
