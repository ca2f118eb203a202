/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "base/random.h"
#include "sim/work/builtin.h"
#include "sim/work/cdf.h"

const char *sim_builtin_text(const char *name, const char *kind)
{
	for (const struct sim_builtin *b = sim_builtins; b->name != NULL; b++)
		if (strcmp(b->name, name) == 0 && strcmp(b->kind, kind) == 0)
			return b->text;
	return NULL;
}

#define MOST UINT64_C(4000000000)

int sim_cdf_load(struct sim_cdf *c, const char *name, char *err, uint32_t err_size)
{
	FILE *f = sim_input_open(&c->file, name, sim_builtin_text(name, "txt"));
	int ret;

	if (f == NULL) {
		ret = -errno;
		snprintf(err, err_size, "%s: %s: name a file, or one that `hp3-sim list` shows",
			name, strerror(errno));
		return ret;
	}
	ret = hp3_cdf_read(&c->cdf, f, name, MOST, err, err_size);
	fclose(f);
	return ret;
}

uint64_t sim_cdf_draw(const struct sim_cdf *c, uint64_t *rng)
{
	return hp3_cdf_size(&c->cdf, (uint32_t)(hp3_random(rng) >> 32));
}
