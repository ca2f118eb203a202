/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Probes that any RNIC answers. The engine decides when hp3d may send such probes; rule 2 explains
 * why this is rare. Like peer probes, they have the addresses and ports of the flow.
 *
 * These probes refer to no memory: R_Key and VA are 0. RNICs do not check the R_Key of a
 * zero-length WRITE (IBTA C9-88), and do not execute a duplicate again (C9-105). If an RNIC did
 * check it, R_Key 0 would match no memory region of an application. A peer's hp3d does not take
 * them for peer probes, because they lack the magic.
 */
#include "roce/build.h"

/*
 * Builds a duplicate: a zero-length WRITE ONLY with AckReq. psn: of an acknowledged SEND or WRITE.
 * The answer is an ACK with the PSN of the latest executed request (rule 2).
 */
int hp3_standard_build(
	void *buf, size_t cap, const struct hp3_addressing *a, uint32_t dest_qpn, uint32_t psn);
