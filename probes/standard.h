/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_PROBES_STANDARD_H
#define HP3_PROBES_STANDARD_H
/*
 * Probes that an ordinary RNIC answers. When they may be sent is for the engine to say; rules 2 and
 * 3 tell why that is seldom. As peer probes they bear the flow's own addressing.
 *
 * Neither names memory: R_Key 0 and VA 0. A zero-length WRITE has its R_Key not checked (IBTA
 * C9-88), a duplicate is not executed again (C9-105); so whatever stands there is not looked at,
 * and if an RNIC did look, it would find no key of an application that it might believe. A peer's
 * hp3d takes neither of them for a peer probe: the magic is missing.
 */
#include "roce/build.h"

/*
 * A duplicate: zero-length WRITE ONLY with AckReq. psn: an acknowledged SEND or WRITE. The answer
 * is an ACK that bears the PSN of the latest request that was executed (rule 2).
 */
int hp3_standard_build(
	void *buf, size_t cap, const struct hp3_addressing *a, uint32_t dest_qpn, uint32_t psn);

/*
 * A gap, as the paper makes it: WRITE ONLY with a future PSN. The answer is a NAK that bears the
 * PSN that is expected. AckReq is clear, so that a receiver that takes packets out of order has no
 * reason to answer with an ACK, which would look like progress (rule 1).
 */
int hp3_nak_probe_build(
	void *buf, size_t cap, const struct hp3_addressing *a, uint32_t dest_qpn, uint32_t psn);

#endif
