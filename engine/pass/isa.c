/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include "engine/pass/burst.h"

static const struct hp3_isa *const all[] = {
	&hp3_isa_base,
#ifdef __x86_64__
	&hp3_isa_v3,
	&hp3_isa_v4,
#endif
};

#define BURST_LEVELS (sizeof(all) / sizeof(all[0]))

static bool is_level_supported(unsigned i)
{
#ifdef __x86_64__
	if (i == 1)
		return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
		       __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma");
	if (i == 2)
		return is_level_supported(1) && __builtin_cpu_supports("avx512f") &&
		       __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
		       __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd");
#endif
	return i == 0;
}

const struct hp3_isa *hp3_isa_best(void)
{
	unsigned i = BURST_LEVELS - 1;

	while (!is_level_supported(i))
		i--;
	return all[i];
}

const char *hp3_isa_name(unsigned i)
{
	return i < BURST_LEVELS ? all[i]->name : NULL;
}

int hp3_isa_use(struct hp3_engine *e, unsigned i)
{
	if (i >= BURST_LEVELS || !is_level_supported(i))
		return -ENOTSUP;
	e->isa = all[i];
	return 0;
}

const char *hp3_isa_in_use(const struct hp3_engine *e)
{
	return e->isa->name;
}

uint32_t hp3_see_burst(struct hp3_engine *e, struct hp3_pkt *pkts, uint32_t n, enum hp3_dir dir)
{
	return e->isa->see(e, pkts, n, dir);
}

void hp3_find_burst(struct hp3_engine *e, struct hp3_pkt *pkts, uint32_t n, enum hp3_dir dir)
{
	e->isa->find(e, pkts, n, dir);
}

uint32_t hp3_burst(struct hp3_engine *e, struct hp3_pkt *pkts, uint32_t n, enum hp3_dir dir,
	uint64_t now, struct hp3_verdict *verdicts, struct hp3_acts *acts)
{
	return e->isa->burst(e, pkts, n, dir, now, verdicts, acts);
}
