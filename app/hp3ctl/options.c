/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the options of the command line, and reports wrong values. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "app/hp3ctl/commands.h"
#include "base/nearest.h"

static bool parse_number(const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && *end == '\0' && errno == 0 && *out >= min &&
	       *out <= max;
}

int hp3ctl_no_such(
	struct hp3ctl *ctl, const struct hp3_nearest *near, const char *help, const char *text)
{
	char fix[128];

	if (near->best)
		snprintf(fix, sizeof(fix), "did you mean %s? see %s", near->best, help);
	else
		snprintf(fix, sizeof(fix), "see %s", help);
	return hp3ctl_fail(ctl, HP3CTL_USAGE, "usage", fix, "%s", text);
}

static bool offer_words(const struct hp3ctl_option_row *o, struct hp3_nearest *near)
{
	const char *w;

	for (unsigned i = 0; (w = o->word(i)) != NULL; i++) {
		if (strcmp(w, near->asked) == 0)
			return true;
		hp3_nearest_offer(near, w);
	}
	return false;
}

static bool take_value(struct hp3ctl *ctl, int opt, const char *value)
{
	const struct hp3ctl_option_row *o = &hp3ctl_options[opt];
	struct hp3_nearest near = {.asked = value};

	ctl->given |= 1ull << opt;
	ctl->text[opt] = value;
	ctl->json |= opt == HP3CTL_JSON;
	if (o->max)
		return parse_number(value, o->min, o->max, &ctl->number[opt]);
	if (o->word)
		return offer_words(o, &near);
	return !o->is_valid || o->is_valid(value);
}

/* The values that an option takes, as a text. */
static void write_range(const struct hp3ctl_option_row *o, char *text, size_t cap)
{
	const char *w;
	size_t n;

	if (o->max) {
		snprintf(text, cap, "a number from %llu to %llu", (unsigned long long)o->min,
			(unsigned long long)o->max);
		return;
	}
	if (!o->word) {
		snprintf(text, cap, "%s", o->range ? o->range : "a value");
		return;
	}
	n = (size_t)snprintf(text, cap, "one of");
	for (unsigned i = 0; (w = o->word(i)) != NULL && n < cap; i++)
		n += (size_t)snprintf(text + n, cap - n, "%s %s", i ? "," : "", w);
}

int hp3ctl_fail_value(
	struct hp3ctl *ctl, const struct hp3ctl_command *c, const struct hp3ctl_misused *wrong)
{
	const struct hp3ctl_option_row *o = &hp3ctl_options[wrong->opt];
	struct hp3_nearest near = {.asked = wrong->value};
	char text[HP3CTL_ERROR_MAX], range[HP3CTL_ERROR_MAX / 2], help[64];

	if (o->word && wrong->value)
		offer_words(o, &near);
	write_range(o, range, sizeof(range));
	snprintf(help, sizeof(help), "hp3ctl %s%s--help", c ? c->name : "", c ? " " : "");
	if (wrong->value)
		snprintf(text, sizeof(text), "%s%s--%s takes %s, not %s", c ? c->name : "",
			c ? ": " : "", o->name, range, wrong->value);
	else
		snprintf(text, sizeof(text), "%s%s--%s needs a value: %s", c ? c->name : "",
			c ? ": " : "", o->name, range);
	return hp3ctl_no_such(ctl, &near, help, text);
}

/* Reports an unknown option, with the most similar of all options. */
static int unknown_option(struct hp3ctl *ctl, const char *word)
{
	struct hp3_nearest near = {.asked = word + strspn(word, "-")};
	char text[128];

	for (int i = 0; i < HP3CTL_OPTION_MAX; i++)
		hp3_nearest_offer(&near, hp3ctl_options[i].name);
	snprintf(text, sizeof(text), "unknown option %s", word);
	return hp3ctl_no_such(ctl, &near, "hp3ctl --help", text);
}

int hp3ctl_parse_options(struct hp3ctl *ctl, int argc, char **argv, struct hp3ctl_misused *wrong)
{
	struct option options[HP3CTL_OPTION_MAX + 1] = {0};
	int opt, rc = HP3CTL_DONE;

	for (int i = 0; i < HP3CTL_OPTION_MAX; i++)
		options[i] = (struct option){hp3ctl_options[i].name,
			hp3ctl_options[i].value ? required_argument : no_argument, NULL, i};
	opterr = 0;
	*wrong = (struct hp3ctl_misused){-1, NULL};
	while (rc == HP3CTL_DONE && (opt = getopt_long(argc, argv, ":", options, NULL)) != -1) {
		if (opt == '?')
			rc = unknown_option(ctl, argv[optind - 1]);
		else if (opt == ':' && wrong->opt < 0)
			*wrong = (struct hp3ctl_misused){optopt, NULL};
		else if (opt != ':' && !take_value(ctl, opt, optarg) && wrong->opt < 0)
			*wrong = (struct hp3ctl_misused){opt, optarg};
	}
	return rc;
}
