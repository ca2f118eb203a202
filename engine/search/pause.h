/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_ENGINE_PAUSE_H
#define HP3_ENGINE_PAUSE_H
/*
 * Length of a natural pause of a flow's replies: ACKs are coalesced, a responder takes time for a
 * READ, many queue pairs share a slow link. A pause may repeat. So a path is suspected only after a
 * multiple of the longest one (rule 28).
 *
 * The code has six bits. 0: no pause seen. c: 2^(c/2) us, so that neighbours differ by the square
 * root of two.
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

#endif
