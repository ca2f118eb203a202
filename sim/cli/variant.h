/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Variants of a scenario: the same scenario with other --set, --hp3 or --sweep options. A folder
 * may have results of several variants. SCENARIO in the names of results differs between them: the
 * first variant has the name of the scenario; others add the settings or a number. A result has
 * these settings as "set", a sorted list of texts SECTION.KEY=VALUE, and "scenario", the name of
 * the scenario. "set" exists if the command line has settings, "scenario" if the name of the result
 * has another text.
 *
 * Settings of [sweep], [run] and traffic.load_percent make no variant: they choose runs, and the
 * names of results have load and seed.
 */
#include <jansson.h>
#include "sim/cli/cli.h"
#include "sim/cli/scenario.h"

struct sim_variant {
	char scenario[64]; /* name of the scenario */
	json_t *set;
	bool given; /* the command line has settings, perhaps none that make a variant */
	const char *swept; /* SECTION.KEY=VALUE of --sweep, which is in `set`, too; NULL: none */
};

/*
 * Splits SECTION.KEY=A,B,C into a setting for each value. Returns -EINVAL for another form, a value
 * that is there twice, or a key that makes no variant.
 */
int sim_variant_split(const char *sweep, struct sim_sets *swept);

/* True: results of runs with other values of this setting are results of another variant. */
bool sim_variant_has(const char *set);

/* Makes "set" of n texts; the last one for a key counts. */
json_t *sim_variant_set(const char *const *set, unsigned n);

/* Names runs `from` and later, which are of variant *v. `out` is the directory of results. */
void sim_variant_name(
	const char *out, struct sim_runs *runs, uint32_t from, const struct sim_variant *v);

/* Adds "set" and "scenario" to a result. */
void sim_variant_json(json_t *result, const struct sim_one *one);
