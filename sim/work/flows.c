/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "sim/core/words.h"
#include "sim/work/traffic.h"

#define SECONDS_MAX 1000000u
#define GROUPS      8u /* priority groups (PFC) */
#define COLUMNS_MIN 5u
#define COLUMNS_MAX 6u /* with a port */
#define FORMS       "src dst group bytes start_s` or `src dst group port bytes start_s"

/* The exponent of 2.5e-05, which Python prints for small numbers. False: another text. */
static bool parse_exponent(const char *text, int *exponent)
{
	char *end;

	*exponent = 0;
	if (*text == '\0')
		return true;
	if ((*text != 'e' && *text != 'E') || isspace((unsigned char)text[1]))
		return false;
	*exponent = (int)strtol(text + 1, &end, 10);
	return end != text + 1 && *end == '\0' && abs(*exponent) < 32;
}

/* Seconds with decimals, as integer ps: no floating point, which would round. */
static bool parse_seconds(const char *text, uint64_t *ps)
{
	const char *digits = text, *mark = text + strspn(text, "0123456789.");
	uint64_t value = 0;
	int exponent, unit; /* unit: the power of ten of the digit, in ps */

	if (!isdigit((unsigned char)*text) || !parse_exponent(mark, &exponent))
		return false;
	unit = 12 + exponent + (int)strspn(text, "0123456789");
	for (bool point = false; digits < mark; digits++) {
		uint64_t add = (uint64_t)(*digits - '0');

		if (*digits == '.') {
			if (point)
				return false;
			point = true;
			continue;
		}
		unit--;
		if (unit < 0 || add == 0)
			continue;
		for (int i = 0; i < unit; i++) {
			if (add > SECONDS_MAX * SIM_SEC)
				return false;
			add *= 10;
		}
		value += add;
		if (value > SECONDS_MAX * SIM_SEC)
			return false;
	}
	*ps = value;
	return true;
}

/* Column `at`: the number of a host. */
static int read_host(const struct sim *s, struct sim_words *w, uint32_t at, uint32_t *host)
{
	const char *name = at == 1 ? "src" : "dst";
	uint64_t number;

	if (!sim_words_number(w->word[at - 1], UINT32_MAX, &number))
		return sim_words_fail(w, w->line, at, "%s: write the number of a host", name);
	*host = sim_topo_host(&s->topo, number);
	if (*host == UINT32_MAX)
		return number < s->topo.nodes
			       ? sim_words_fail(w, w->line, at,
					 "%s: node %" PRIu64 " is a switch: write a host", name,
					 number)
			       : sim_words_fail(w, w->line, at,
					 "%s: the topology has no node %" PRIu64, name, number);
	return 0;
}

static int read_flow(const struct sim *s, struct sim_words *w, struct sim_demand *d)
{
	uint64_t ignored;
	int ret = read_host(s, w, 1, &d->src);

	if (ret == 0)
		ret = read_host(s, w, 2, &d->dst);
	if (ret != 0)
		return ret;
	if (d->src == d->dst)
		return sim_words_fail(w, w->line, 2, "dst: write another host than src");
	if (!sim_words_number(w->word[2], GROUPS - 1, &ignored))
		return sim_words_fail(
			w, w->line, 3, "group: write a priority group from 0 to %u", GROUPS - 1);
	if (w->n == COLUMNS_MAX && !sim_words_number(w->word[3], UINT32_MAX, &ignored))
		return sim_words_fail(w, w->line, 4, "port: write a port number");
	if (!sim_words_number(w->word[w->n - 2], UINT32_MAX, &d->bytes))
		return sim_words_fail(w, w->line, w->n - 1,
			"bytes: write the size of the flow, at most %u", UINT32_MAX);
	if (!parse_seconds(w->word[w->n - 1], &d->start))
		return sim_words_fail(w, w->line, w->n,
			"start_s: write seconds up to %u, as 2.000000076", SECONDS_MAX);
	return 0;
}

static int read_flows(struct sim *s, struct sim_words *w)
{
	uint32_t columns = 0;
	uint64_t n;
	int ret;

	if (!sim_words_split(w) || !sim_words_number(w->word[0], UINT32_MAX, &n))
		return sim_words_fail(w, w->line > 0 ? w->line : 1, 1, "write the number of flows");
	if (w->n > 1)
		return sim_words_fail(
			w, w->line, 2, "write only the number of flows in the first line");
	for (uint64_t i = 0; i < n; i++) {
		struct sim_demand d = {0};

		if (!sim_words_split(w))
			return sim_words_fail(w, w->line + 1, 0,
				"%" PRIu64 " flows, and %" PRIu64 " in the first line", i, n);
		if (w->n < COLUMNS_MIN || w->n > COLUMNS_MAX)
			return sim_words_fail_columns(w, FORMS);
		if (columns > 0 && w->n != columns)
			return sim_words_fail(w, w->line, 0,
				"%u columns, and the first flow has %u", w->n, columns);
		columns = w->n;
		ret = read_flow(s, w, &d);
		if (ret != 0)
			return ret;
		sim_demand_add(s, &d);
	}
	return 0;
}

int sim_flows_load(struct sim *s, const char *path, char *err, uint32_t err_size)
{
	FILE *f = sim_input_open(&s->flows, path, NULL);
	struct sim_words w;
	int ret;

	if (f == NULL) {
		ret = -errno;
		snprintf(err, err_size, "%s: %s", path, strerror(errno));
		return ret;
	}
	w = sim_words_of(f, path, err, err_size);
	ret = read_flows(s, &w);
	sim_words_free(&w);
	fclose(f);
	return ret;
}
