/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "sim/work/traffic.h"

/* Seconds with decimals, as integer ps: no floating point, which would round. */
static bool parse_seconds(const char *text, uint64_t *ps)
{
	uint64_t value = 0, unit = SIM_SEC / 10;

	if (!isdigit((unsigned char)*text))
		return false;
	for (; isdigit((unsigned char)*text); text++) {
		value = value * 10 + (uint64_t)(*text - '0');
		if (value > 1000000)
			return false;
	}
	value *= SIM_SEC;
	if (*text == '.') {
		for (text++; isdigit((unsigned char)*text); text++) {
			value += (uint64_t)(*text - '0') * unit;
			unit /= 10;
		}
	}
	*ps = value;
	return *text == '\0';
}

int sim_flows_load(struct sim *s, const char *path, char *err, uint32_t err_size)
{
	FILE *f = sim_input_open(&s->flows, path, NULL);
	uint32_t n = 0;
	int ret = 0;

	if (f == NULL) {
		ret = -errno;
		snprintf(err, err_size, "%s: %s", path, strerror(errno));
		return ret;
	}
	if (fscanf(f, "%" SCNu32, &n) != 1) {
		snprintf(err, err_size, "%s:1: write the number of flows", path);
		ret = -EINVAL;
	}
	for (uint32_t i = 0; ret == 0 && i < n; i++) {
		struct sim_demand d = {0};
		uint32_t group;
		char start[32];

		if (fscanf(f, "%" SCNu32 " %" SCNu32 " %" SCNu32 " %" SCNu64 " %31s", &d.src,
			    &d.dst, &group, &d.bytes, start) != 5 ||
			!parse_seconds(start, &d.start) || d.src >= s->topo.hosts ||
			d.dst >= s->topo.hosts || d.src == d.dst || d.bytes > UINT32_MAX) {
			snprintf(err, err_size,
				"%s:%u: write `src dst group bytes start_s`: two different hosts "
				"below %u, at most 4 GB, seconds as 2.000000076",
				path, i + 2, s->topo.hosts);
			ret = -EINVAL;
		} else {
			sim_demand_add(s, &d);
		}
	}
	fclose(f);
	return ret;
}
