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

static int parse(struct sim_cdf *c, FILE *f, const char *name, char *err, uint32_t err_size)
{
	char line[128];
	double size, percent;

	c->n = 0;
	for (uint32_t n = 1; fgets(line, sizeof(line), f) != NULL; n++) {
		if (line[strspn(line, " \t")] == '#' || line[strspn(line, " \t\r\n")] == '\0')
			continue;
		if (c->n == SIM_CDF_POINTS || sscanf(line, "%lf %lf", &size, &percent) != 2 ||
			size < 0 || size > 4e9 || percent < 0 || percent > 100 ||
			(c->n > 0 && size < (double)c->size[c->n - 1])) {
			snprintf(err, err_size,
				"%s:%u: write `size_bytes cumulative_percent`, both rising, at "
				"most %u lines and 4 GB",
				name, n, SIM_CDF_POINTS);
			return -EINVAL;
		}
		c->size[c->n] = (uint64_t)size;
		c->share[c->n++] = (uint64_t)(percent / 100 * 4294967296.0 + 0.5);
	}
	if (c->n < 2 || c->share[c->n - 1] != UINT64_C(1) << 32) {
		snprintf(err, err_size, "%s: must end at 100 %%, with two lines at least", name);
		return -EINVAL;
	}
	return 0;
}

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
	ret = parse(c, f, name, err, err_size);
	fclose(f);
	return ret;
}

uint64_t sim_cdf_draw(const struct sim_cdf *c, uint64_t *rng)
{
	uint64_t u = hp3_random(rng) >> 32, size;
	uint32_t i = 1;

	while (i + 1 < c->n && c->share[i] <= u)
		i++;
	size = c->size[i - 1];
	if (c->share[i] > c->share[i - 1] && u >= c->share[i - 1])
		size += (uint64_t)((unsigned __int128)(c->size[i] - c->size[i - 1]) *
				   (u - c->share[i - 1]) / (c->share[i] - c->share[i - 1]));
	return size > 0 ? size : 1;
}

uint64_t sim_cdf_mean(const struct sim_cdf *c)
{
	unsigned __int128 sum = 0;

	for (uint32_t i = 1; i < c->n; i++)
		sum += (unsigned __int128)(c->size[i] + c->size[i - 1]) *
		       (c->share[i] - c->share[i - 1]);
	return (uint64_t)(sum >> 33);
}
