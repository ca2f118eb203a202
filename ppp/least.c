/* SPDX-License-Identifier: BSD-3-Clause */
#include "ppp/least.h"
#include <string.h>
#include "base/minmax.h"

#define AGE_NS 1000000000u
#define AGE    64u /* grows by this fraction in AGE_NS */

static unsigned size_of(uint32_t bytes)
{
	return bytes == 0 ? 0 : HP3_LEAST_SIZES - 1u - (unsigned)__builtin_clz(bytes);
}

void hp3_least_init(struct hp3_least *l, uint64_t now)
{
	memset(l, 0, sizeof(*l));
	l->aged = now;
}

void hp3_least_age(struct hp3_least *l, uint64_t now)
{
	if (now - l->aged < AGE_NS)
		return;
	l->aged = now;
	for (unsigned i = 0; i < HP3_LEAST_SIZES; i++)
		l->ns[i] += hp3_min_u32(l->ns[i] / AGE, UINT32_MAX - l->ns[i]);
}

static uint32_t by_others(const struct hp3_least *l, unsigned size)
{
	uint64_t ns = 0;

	for (unsigned i = size; i > 0 && ns == 0; i--) {
		ns = l->ns[i - 1];
		for (unsigned n = i - 1; ns != 0 && n < size; n++)
			ns += ns / 2;
	}
	return ns == 0 ? UINT32_MAX : (uint32_t)hp3_min_u64(ns, UINT32_MAX);
}

uint32_t hp3_least_seen(struct hp3_least *l, uint32_t queued, uint32_t took_ns)
{
	uint32_t *least = &l->ns[size_of(queued)];

	if (*least == 0)
		*least = by_others(l, size_of(queued));
	*least = hp3_min_u32(*least, took_ns);
	return *least;
}

uint32_t hp3_least_of(const struct hp3_least *l, uint32_t queued)
{
	return l->ns[size_of(queued)];
}
