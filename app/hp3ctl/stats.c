/* SPDX-License-Identifier: BSD-3-Clause */
/* stats, config: objects printed as names and values. */
#include <stdio.h>
#include <string.h>
#include "app/hp3ctl/hp3ctl.h"
#include "base/nearest.h"

#define NAME_MAX_LEN 160u
#define NAME_WIDTH   36
#define VALUE_WIDTH  16

void hp3ctl_print_value(const char *name, json_t *value)
{
	printf("%-*s ", NAME_WIDTH, name);
	if (json_is_string(value)) {
		puts(json_string_value(value));
		return;
	}
	if (strcmp(name, "local_qpn") == 0 && json_is_integer(value)) {
		printf("0x%06x\n", (unsigned)json_integer_value(value));
		return;
	}
	json_dumpf(value, stdout, JSON_COMPACT | JSON_ENCODE_ANY);
	putchar('\n');
}

struct flat {
	bool nonzero;
	json_t *help; /* last part of a name -> text; NULL: do not explain */
};

static void print_flat(const struct flat *f, const char *name, json_t *value);

static void print_member(const struct flat *f, const char *prefix, const char *key, json_t *value)
{
	char name[NAME_MAX_LEN];

	snprintf(name, sizeof(name), "%s%s%s", prefix, *prefix ? "." : "", key);
	print_flat(f, name, value);
}

static void print_flat(const struct flat *f, const char *name, json_t *value)
{
	const char *key, *last = strrchr(name, '.'), *help;
	json_t *member;
	size_t i;

	if (json_is_object(value)) {
		json_object_foreach (value, key, member)
			print_member(f, name, key, member);
		return;
	}
	if (json_is_array(value)) {
		json_array_foreach (value, i, member) {
			char index[24];
			snprintf(index, sizeof(index), "%zu", i);
			print_member(f, name, index, member);
		}
		return;
	}
	if (f->nonzero && json_is_integer(value) && json_integer_value(value) == 0)
		return;
	help = json_string_value(json_object_get(f->help, last ? last + 1 : name));
	if (!help || !json_is_integer(value))
		hp3ctl_print_value(name, value);
	else
		printf("%-*s %-*lld %s\n", NAME_WIDTH, name, VALUE_WIDTH, json_integer_value(value),
			help);
}

void hp3ctl_print_values(json_t *data)
{
	const struct flat f = {0};

	print_flat(&f, "", data);
}

static void print_stats(const struct hp3ctl *ctl, json_t *data)
{
	const struct flat f = {.nonzero = ctl->given & HP3CTL_BIT(NONZERO),
		.help = json_incref(json_object_get(data, "help"))};

	json_object_del(data, "help");
	print_flat(&f, "", data);
	json_decref(f.help);
}

int hp3ctl_stats(struct hp3ctl *ctl)
{
	bool explain = ctl->given & HP3CTL_BIT(EXPLAIN);

	return hp3ctl_print_answer(
		ctl, json_pack("{s:s, s:b}", "cmd", "stats", "explain", explain), print_stats);
}

/* "policy.mode", "mode" and "policy" name a key of section policy. */
static bool is_asked(const char *asked, const char *section, const char *key)
{
	size_t n = strlen(section);

	return !asked || strcmp(asked, key) == 0 || strcmp(asked, section) == 0 ||
	       (strncmp(asked, section, n) == 0 && asked[n] == '.' &&
		       strcmp(asked + n + 1, key) == 0);
}

/* Removes keys that were not requested. */
static void keep_asked_keys(json_t *config, const char *asked)
{
	json_t *section, *value;
	const char *name, *key;
	void *tmp, *tmp2;

	json_object_foreach_safe(config, tmp, name, section)
	{
		json_object_foreach_safe(section, tmp2, key, value) if (!is_asked(asked, name, key))
			json_object_del(section, key);
		if (json_object_size(section) == 0)
			json_object_del(config, name);
	}
}

static int no_key(const struct hp3ctl *ctl, json_t *config)
{
	const char *asked = ctl->args[0], *dot = strrchr(asked, '.');
	struct hp3_nearest near = {.asked = dot ? dot + 1 : asked};
	json_t *section, *value;
	const char *name, *key;
	char fix[128];

	json_object_foreach (config, name, section) {
		hp3_nearest_offer(&near, name);
		json_object_foreach (section, key, value)
			hp3_nearest_offer(&near, key);
	}
	if (near.best)
		snprintf(fix, sizeof(fix), "did you mean %s?", near.best);
	else
		snprintf(fix, sizeof(fix),
			"hp3ctl config lists all of them, hp3.ini(5) explains them");
	return hp3ctl_fail(ctl, HP3CTL_NOT_FOUND, "not-found", fix, "no key %s", asked);
}

static void print_sections(json_t *config)
{
	json_t *section, *value;
	const char *name, *key;

	json_object_foreach (config, name, section) {
		printf("[%s]\n", name);
		json_object_foreach (section, key, value) {
			/* The output is a valid configuration: secrets are left out. */
			if (json_is_string(value) && strcmp(json_string_value(value), "(set)") == 0)
				printf("# ");
			printf("%s = ", key);
			json_dumpf(value, stdout, JSON_COMPACT | JSON_ENCODE_ANY);
			putchar('\n');
		}
	}
}

int hp3ctl_config(struct hp3ctl *ctl)
{
	json_t *all, *chosen;
	int rc = hp3ctl_ask_data(ctl, json_pack("{s:s}", "cmd", "config"), &all);

	if (rc != HP3CTL_DONE)
		return rc;
	chosen = json_deep_copy(all);
	keep_asked_keys(chosen, ctl->n_args ? ctl->args[0] : NULL);
	if (json_object_size(chosen) == 0)
		rc = no_key(ctl, all);
	else if (ctl->json)
		hp3ctl_print_json(chosen);
	else
		print_sections(chosen);
	json_decref(chosen);
	json_decref(all);
	return rc;
}
