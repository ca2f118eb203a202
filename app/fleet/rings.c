/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/fleet/commands.h"
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "app/fleet/process.h"
#include "fleet/order.h"

struct switches {
	const char **name; /* sorted; point into the answers */
	uint32_t n;
};

static json_t *ask_spine_paths(
	struct hp3_bus *line, const struct fleet_config *cfg, const char *from, const char *to)
{
	json_t *a = fleet_question(line, cfg,
		json_pack("{s:s, s:s, s:s}", "ask", "spine_paths", "from", from, "to", to));

	if (a == NULL || json_is_array(json_object_get(a, "rows")))
		return a;
	fputs("hp3-fleet: hp3-fleet run is older than this program and lacks \"spine_paths\"\n",
		stderr);
	json_decref(a);
	return NULL;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static const char *hop_of_row(const json_t *row)
{
	const char *hop = json_string_value(json_object_get(row, "hop"));

	return hop != NULL ? hop : "?";
}

/* Collects the switches of all steps, each once. */
static int collect_switches(struct switches *s, json_t *const *answer, uint32_t n)
{
	size_t rows = 0, k;
	json_t *row;

	for (uint32_t i = 0; i < n; i++)
		rows += json_array_size(json_object_get(answer[i], "rows"));
	s->name = calloc(rows + 1, sizeof(*s->name));
	if (s->name == NULL)
		return -1;
	for (uint32_t i = 0; i < n; i++)
		json_array_foreach (json_object_get(answer[i], "rows"), k, row)
			s->name[s->n++] = hop_of_row(row);
	qsort(s->name, s->n, sizeof(*s->name), by_name);
	rows = s->n;
	s->n = 0;
	for (k = 0; k < rows; k++)
		if (s->n == 0 || strcmp(s->name[s->n - 1], s->name[k]) != 0)
			s->name[s->n++] = s->name[k];
	return 0;
}

static int share_out(const struct switches *s, const json_t *rows, unsigned rings,
	struct fleet_spine_path *spine_path)
{
	uint32_t n = (uint32_t)json_array_size(rows), *by = calloc(n + 1, sizeof(*by));
	uint32_t *taken = calloc(rings, sizeof(*taken));

	if (by == NULL || taken == NULL) {
		free(by);
		free(taken);
		return -1;
	}
	for (uint32_t i = 0; i < n; i++) {
		const char *name = hop_of_row(json_array_get(rows, i));

		by[i] = (uint32_t)((const char **)bsearch(
					   &name, s->name, s->n, sizeof(*s->name), by_name) -
				   s->name);
	}
	hp3_fleet_ring_spine_paths(by, n, s->n, rings, taken);
	for (unsigned k = 0; k < rings; k++) {
		const json_t *row;

		if (taken[k] == HP3_FLEET_NO_SPINE_PATH)
			continue;
		row = json_array_get(rows, taken[k]);
		spine_path[k].port = (uint16_t)json_integer_value(json_object_get(row, "port"));
		snprintf(spine_path[k].by, sizeof(spine_path[k].by), "%s", hop_of_row(row));
	}
	free(by);
	free(taken);
	return 0;
}

static int ask_all(const struct fleet_config *cfg, const char *const *hosts, const bool *crosses,
	uint32_t n, json_t **answer)
{
	struct hp3_bus *line = fleet_line_open(cfg);
	int ret = line != NULL ? FLEET_DONE : FLEET_FAILED;

	for (uint32_t i = 0; ret == FLEET_DONE && i < n; i++) {
		if (!crosses[i])
			continue;
		answer[i] = ask_spine_paths(line, cfg, hosts[i], hosts[(i + 1) % n]);
		if (answer[i] == NULL)
			ret = FLEET_UNREACHABLE;
	}
	hp3_bus_close(line);
	return ret;
}

int fleet_rings(const struct fleet_config *cfg, const char *const *hosts, const bool *crosses,
	uint32_t n, unsigned rings, struct fleet_spine_path *spine_path)
{
	json_t **answer = calloc(n, sizeof(*answer));
	struct switches s = {0};
	int ret = answer != NULL ? ask_all(cfg, hosts, crosses, n, answer) : FLEET_FAILED;

	if (ret == FLEET_DONE && collect_switches(&s, answer, n) < 0)
		ret = FLEET_FAILED;
	for (uint32_t i = 0; ret == FLEET_DONE && i < n; i++)
		if (answer[i] != NULL && share_out(&s, json_object_get(answer[i], "rows"), rings,
						 spine_path + (size_t)i * rings) < 0)
			ret = FLEET_FAILED;
	for (uint32_t i = 0; answer != NULL && i < n; i++)
		json_decref(answer[i]);
	free(s.name);
	free(answer);
	return ret;
}
