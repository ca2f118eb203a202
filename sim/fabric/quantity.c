/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>
#include "sim/fabric/quantity.h"

#define BPS_MIN 1000000.0 /* of a rate without a unit */

/* A number and one of the units, given with their factors, as ns-3 reads them. */
struct unit {
	const char *name;
	double factor;
};

static const struct unit rates[] = {{"Gbps", 1e9}, {"Gb/s", 1e9}, {"Mbps", 1e6}, {"Mb/s", 1e6},
	{"Kbps", 1e3}, {"kbps", 1e3}, {"Kb/s", 1e3}, {"kb/s", 1e3}, {"bps", 1}, {"b/s", 1},
	{"GBps", 8e9}, {"GB/s", 8e9}, {"MBps", 8e6}, {"MB/s", 8e6}, {NULL, 0}};
static const struct unit times[] = {
	{"s", 1e12}, {"ms", 1e9}, {"us", 1e6}, {"ns", 1e3}, {"ps", 1}, {NULL, 0}};

/* Sets *value and *unit. False: the word does not begin with a number. */
static bool split_quantity(const char *word, double *value, const char **unit)
{
	char *end;
	size_t digits = strspn(word, "0123456789.");

	if (digits == 0)
		return false;
	*value = strtod(word, &end);
	*unit = end;
	return end >= word + digits; /* strtod() reads 0x10 as one number, and not "1.2.3" */
}

static bool in_units(double value, const char *name, const struct unit *u, uint64_t *out)
{
	for (; u->name != NULL; u++) {
		if (strcmp(name, u->name) == 0 && value > 0 && value * u->factor < 1e18) {
			*out = (uint64_t)(value * u->factor + 0.5);
			return *out > 0;
		}
	}
	return false;
}

bool sim_parse_rate(const char *word, uint64_t *bps)
{
	const char *unit;
	double value;

	if (!split_quantity(word, &value, &unit) || strpbrk(word, "xX") != NULL)
		return false;
	if (*unit == '\0')
		return value >= BPS_MIN && in_units(value, "bps", rates, bps);
	return in_units(value, unit, rates, bps);
}

bool sim_parse_delay(const char *word, uint64_t *ps)
{
	const char *unit;
	double value;

	if (!split_quantity(word, &value, &unit) || strpbrk(word, "xX") != NULL)
		return false;
	if (*unit == '\0')
		return value < 1 && in_units(value, "s", times, ps);
	return in_units(value, unit, times, ps);
}

bool sim_parse_loss(const char *word, uint32_t *of_1e9)
{
	const char *rest;
	double loss;

	if (!split_quantity(word, &loss, &rest) || *rest != '\0' || !(loss >= 0 && loss < 1))
		return false;
	*of_1e9 = (uint32_t)(loss * 1e9 + 0.5);
	return true;
}
