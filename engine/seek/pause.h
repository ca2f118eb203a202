/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_ENGINE_PAUSE_H
#define HP3_ENGINE_PAUSE_H
/*
 * How long a flow's replies pause although nothing is wrong: acknowledgements are coalesced, a
 * responder takes its time for a READ, a hundred queue pairs share a slow link. What was seen once
 * may come again, so a path is not suspected before a multiple of it (rule 28).
 *
 * Six bits: 0: none seen; c: 2^(c/2) us, so that neighbours differ by the root of two.
 */
#include <stdint.h>

#define HP3_PAUSE_MAX 63u

static inline uint64_t hp3_pause_ns(uint32_t code)
{
	return code == 0 ? 0 : (uint64_t)(code & 1 ? 1414 : 1000) << (code / 2);
}

/* The least code that stands for `ns` or more; HP3_PAUSE_MAX for all that is longer. */
static inline uint32_t hp3_pause_code(uint64_t ns)
{
	uint32_t code = 1;

	while (code < HP3_PAUSE_MAX && hp3_pause_ns(code) < ns)
		code++;
	return code;
}

#endif
