/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Length of a natural pause between a flow's replies. Reasons for pauses: ACKs are coalesced, a
 * responder takes time for a READ, many queue pairs share a slow link. Pauses of this length may
 * repeat. So the engine suspects a dead path only after a multiple of the longest pause (rule 28).
 *
 * The length is stored as a code of six bits. Code 0: no pause seen. Code c: 2^(c/2) us, so
 * neighbouring codes differ by a factor of the square root of two.
 */
#include <stdint.h>

#define HP3_PAUSE_MAX 63u

static inline uint64_t hp3_pause_ns(uint32_t code)
{
	return code == 0 ? 0 : (uint64_t)(code & 1 ? 1414 : 1000) << (code / 2);
}

/* The smallest code for `ns` or more; HP3_PAUSE_MAX if none is large enough. */
static inline uint32_t hp3_pause_code(uint64_t ns)
{
	uint32_t code = 1;

	while (code < HP3_PAUSE_MAX && hp3_pause_ns(code) < ns)
		code++;
	return code;
}
