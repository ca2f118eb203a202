/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/plain.h"
#include "sim/cli/variant.h"
#include "sim/core/memory.h"

#define STEM         "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
#define STEM_MAX     sizeof(((struct sim_one *)0)->stem)
#define VARIANTS_MAX 10000u

static bool starts_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

bool sim_variant_has(const char *set)
{
	return !starts_with(set, "sweep.") && !starts_with(set, "run.") &&
	       !starts_with(set, "traffic.load_percent=");
}

int sim_variant_split(const char *sweep, struct sim_sets *swept)
{
	const char *value = strchr(sweep, '=');
	int key = value != NULL ? (int)(value - sweep) : 0;

	if (key == 0 || memchr(sweep, '.', (size_t)key) == NULL || !sim_variant_has(sweep))
		return -EINVAL;
	while (value != NULL) {
		int n = (int)strcspn(++value, ",");
		char *text;

		if (n == 0 || swept->n == SIM_SETS_MAX)
			return -EINVAL;
		if (asprintf(&text, "%.*s=%.*s", key, sweep, n, value) < 0)
			return -ENOMEM;
		for (unsigned i = 0; i < swept->n; i++)
			if (strcmp(swept->text[i], text) == 0)
				return -EINVAL;
		swept->text[swept->n++] = text;
		value = value[n] == ',' ? value + n : NULL;
	}
	return 0;
}

static bool same_key(const char *a, const char *b)
{
	size_t n = strcspn(a, "=");

	return n == strcspn(b, "=") && strncmp(a, b, n) == 0;
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

json_t *sim_variant_set(const char *const *set, unsigned n)
{
	const char **kept = sim_alloc(n + 1, sizeof(*kept));
	json_t *out = json_array();
	unsigned n_kept = 0;

	for (unsigned i = 0; i < n; i++) {
		bool again = !sim_variant_has(set[i]);

		for (unsigned k = i + 1; k < n && !again; k++)
			again = same_key(set[i], set[k]);
		if (!again)
			kept[n_kept++] = set[i];
	}
	qsort(kept, n_kept, sizeof(*kept), compare_texts);
	for (unsigned i = 0; i < n_kept; i++) {
		char *text = strdup(kept[i]);

		json_array_append_new(out, json_string(text != NULL ? hp3_plain(text) : ""));
		free(text);
	}
	free(kept);
	return out;
}

/* Appends ".SECTION.KEY-VALUE" with characters that names may have, as far as there is space. */
static void append_setting(char *stem, const char *set)
{
	size_t n = strlen(stem);

	snprintf(stem + n, STEM_MAX - n, ".%s", set);
	for (; stem[n] != '\0'; n++)
		if (strchr(STEM, stem[n]) == NULL)
			stem[n] = stem[n] == '=' ? '-' : '_';
}

/* The k-th name that a variant may have: its scenario, then with settings, then with a number. */
static void candidate_stem(const struct sim_variant *v, uint32_t k, char stem[STEM_MAX])
{
	char number[16];
	json_t *text;
	size_t i, n;

	snprintf(stem, STEM_MAX, "%.60s", v->scenario);
	if (k == 0)
		return;
	if (v->swept != NULL)
		append_setting(stem, v->swept);
	json_array_foreach (v->set, i, text)
		if (v->swept == NULL || strcmp(json_string_value(text), v->swept) != 0)
			append_setting(stem, json_string_value(text));
	if (k == 1 && json_array_size(v->set) > 0)
		return;
	n = (size_t)snprintf(number, sizeof(number), ".%u", k + 1);
	stem[STEM_MAX - 1 - n] = '\0';
	strcat(stem, number);
}

static void name_run(struct sim_one *one, const char *stem)
{
	snprintf(one->stem, sizeof(one->stem), "%s", stem);
	snprintf(one->name, sizeof(one->name), "%s-%s-%u-%u", stem, one->cfg.run.lb,
		one->cfg.traffic.load_percent, (uint32_t)one->cfg.run.seed);
}

/* The result in this file, if its name is that of a result with this stem; otherwise NULL. */
static json_t *result_of_stem(const char *out, const char *file, const char *stem)
{
	char path[768], name[512];
	const char *lb;
	json_t *j;

	if (!starts_with(file, stem) || file[strlen(stem)] != '-' || strlen(file) < 5 ||
		strcmp(file + strlen(file) - 5, ".json") != 0)
		return NULL;
	snprintf(path, sizeof(path), "%s/%s", out, file);
	j = json_load_file(path, 0, NULL);
	lb = json_string_value(json_object_get(j, "lb"));
	snprintf(name, sizeof(name), "%s-%s-%lld-%lld.json", stem, lb != NULL ? lb : "",
		(long long)json_integer_value(json_object_get(j, "load_percent")),
		(long long)json_integer_value(json_object_get(j, "seed")));
	if (strcmp(name, file) == 0)
		return j;
	json_decref(j);
	return NULL;
}

/* Earlier versions replaced results, and did not write "set". */
static bool of_old_version(const json_t *result)
{
	const char *command = json_string_value(json_object_get(result, "command"));

	return command != NULL &&
	       (strstr(command, " --set ") != NULL || strstr(command, " --hp3 ") != NULL);
}

static bool same_set(const json_t *result, const json_t *set)
{
	const json_t *had = json_object_get(result, "set");

	if (had != NULL)
		return json_equal(had, set) != 0;
	return json_array_size(set) == 0 || of_old_version(result);
}

enum owner { NOBODY, SAME, OTHER };

/* Whose results in the directory have this stem? All of them are of one variant. */
static enum owner owner_on_disk(const char *out, const char *stem, const struct sim_variant *v)
{
	enum owner owner = NOBODY;
	struct dirent *entry;
	DIR *dir = opendir(out);

	if (dir == NULL)
		return NOBODY;
	while (owner == NOBODY && (entry = readdir(dir)) != NULL) {
		json_t *j = result_of_stem(out, entry->d_name, stem);

		if (j != NULL)
			owner = same_set(j, v->set) ? SAME : OTHER;
		json_decref(j);
	}
	closedir(dir);
	return owner;
}

static bool is_taken(const struct sim_runs *runs, uint32_t n, const char *stem)
{
	for (uint32_t i = 0; i < n; i++)
		if (strcmp(runs->run[i].stem, stem) == 0)
			return true;
	return false;
}

/* The results of all runs are there: their settings are the same in other words. */
static bool all_done(const char *out, struct sim_runs *runs, uint32_t from, const char *stem)
{
	for (uint32_t i = from; i < runs->n; i++) {
		name_run(&runs->run[i], stem);
		if (!sim_scenario_done(out, &runs->run[i]))
			return false;
	}
	return true;
}

void sim_variant_name(
	const char *out, struct sim_runs *runs, uint32_t from, const struct sim_variant *v)
{
	char stem[STEM_MAX];

	for (uint32_t k = 0; k < VARIANTS_MAX; k++) {
		enum owner owner;

		candidate_stem(v, k, stem);
		if (is_taken(runs, from, stem))
			continue;
		owner = owner_on_disk(out, stem, v);
		/* A sweep has names with values from its first value on. */
		if (owner == SAME || (owner == NOBODY && (k > 0 || v->swept == NULL)) ||
			(owner == OTHER && v->swept == NULL && all_done(out, runs, from, stem)))
			break;
	}
	for (uint32_t i = from; i < runs->n; i++) {
		name_run(&runs->run[i], stem);
		runs->run[i].variant = v;
	}
}

void sim_variant_json(json_t *result, const struct sim_one *one)
{
	const struct sim_variant *v = one->variant;

	if (v->given)
		json_object_set(result, "set", v->set);
	if (strcmp(one->stem, v->scenario) != 0)
		json_object_set_new(result, "scenario", json_string(v->scenario));
}
