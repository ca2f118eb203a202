/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HP3_WORLD="behind_ppm=1000 news=1" changes these parameters of every world that a program runs:
 * to try a harder one with all seeds, or to see which of them a finding depends on.
 */
#include <stddef.h>
#include <string.h>
#include "world_internal.h"

#define KNOB(field)                                                                                \
	{                                                                                          \
#field, offsetof(struct world_params, field),                                      \
			sizeof(((struct world_params *)0)->field)                                  \
	}

static const struct knob {
	const char *name;
	size_t offset, size;
} knobs[] = {
	KNOB(burst),
	KNOB(damage_ppm),
	KNOB(behind_ppm),
	KNOB(credits),
	KNOB(news),
	KNOB(pairs),
	KNOB(ipv6),
	KNOB(any_pmtu),
	KNOB(fatal_ppm),
	KNOB(harmless),
};

static const struct knob *find(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(knobs) / sizeof(knobs[0]); i++) {
		if (strlen(knobs[i].name) == len && strncmp(knobs[i].name, name, len) == 0)
			return &knobs[i];
	}
	fprintf(stderr, "HP3_WORLD: no knob \"%.*s\"\n", (int)len, name);
	abort();
}

void world_turn_knobs(struct world_params *p)
{
	const char *text = getenv("HP3_WORLD");

	while (text != NULL && *(text += strspn(text, " ")) != '\0') {
		size_t len = strcspn(text, "= ");
		const struct knob *k = find(text, len);
		uint32_t value = 1;

		text += len;
		if (*text == '=')
			value = (uint32_t)strtoul(text + 1, (char **)&text, 0);
		memcpy((uint8_t *)p + k->offset, &value, k->size); /* little endian */
	}
}
