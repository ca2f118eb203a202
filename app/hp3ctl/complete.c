/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For completion.bash: `hp3ctl __complete WORD...` prints the completions of the last word, one per
 * line. Commands, options and words come from the table; flows and keys from hp3d, if it answers.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "app/hp3ctl/commands.h"

struct completion {
	struct hp3ctl ctl;
	const char *word; /* the one to complete */
	const struct hp3ctl_command *command; /* NULL: not yet given */
	int option; /* option whose value the word is; -1: none */
	unsigned args; /* of the command, before the word */
};

static void offer_completion(const struct completion *c, const char *dashes, const char *name)
{
	size_t n = strlen(dashes), typed = strlen(c->word);

	if (typed <= n ? strncmp(dashes, c->word, typed) == 0
		       : strncmp(dashes, c->word, n) == 0 &&
				 strncmp(name, c->word + n, typed - n) == 0)
		printf("%s%s\n", dashes, name);
}

/* An option that takes a value, or -1. */
static int option_with_value(const char *word)
{
	for (int i = 0; i < HP3CTL_OPTION_MAX && strncmp(word, "--", 2) == 0; i++)
		if (hp3ctl_options[i].value && strcmp(word + 2, hp3ctl_options[i].name) == 0)
			return i;
	return -1;
}

static void read_words(struct completion *c, char **words, int n)
{
	c->option = -1;
	for (int i = 0; i < n - 1; i++) {
		if (c->option >= 0) {
			c->ctl.text[c->option] = words[i];
			c->option = -1;
		} else if (words[i][0] == '-') {
			c->option = option_with_value(words[i]);
		} else if (!c->command) {
			c->command = hp3ctl_command(words[i]);
		} else {
			c->args++;
		}
	}
	c->word = n ? words[n - 1] : "";
}

static void offer_options(const struct completion *c)
{
	static const struct hp3ctl_command none;
	uint64_t options = hp3ctl_command_options(c->command ? c->command : &none);

	for (int i = 0; i < HP3CTL_OPTION_MAX; i++)
		if (options >> i & 1)
			offer_completion(c, "--", hp3ctl_options[i].name);
}

static int offer_flows(void *arg, json_t *flows)
{
	json_t *flow;
	size_t i;

	json_array_foreach (flows, i, flow)
		offer_completion(arg, "", json_string_value(json_object_get(flow, "flow")));
	return HP3CTL_DONE;
}

static bool connect_hp3d(struct completion *c)
{
	return access(c->ctl.text[HP3CTL_SOCKET], W_OK) == 0 &&
	       hp3ctl_connect(&c->ctl) == HP3CTL_DONE;
}

/* Requests the flows whose id contains the word. */
static void ask_flows(struct completion *c)
{
	if (connect_hp3d(c))
		hp3ctl_each_page(&c->ctl,
			json_pack("{s:s, s:s}", "cmd", "flows", "filter", c->word), offer_flows, c);
}

static void ask_keys(struct completion *c)
{
	json_t *config, *section, *value;
	const char *name, *key;

	if (!connect_hp3d(c) || hp3ctl_ask_data(&c->ctl, json_pack("{s:s}", "cmd", "config"),
					&config) != HP3CTL_DONE)
		return;
	json_object_foreach (config, name, section) {
		offer_completion(c, "", name);
		json_object_foreach (section, key, value) {
			char full[160];

			snprintf(full, sizeof(full), "%s.%s", name, key);
			offer_completion(c, "", full);
		}
	}
	json_decref(config);
}

static void offer_arguments(struct completion *c)
{
	switch (c->command->takes) {
	case HP3CTL_TAKES_FLOW:
	case HP3CTL_TAKES_FLOW_PORTS:
		if (c->args == 0)
			ask_flows(c);
		break;
	case HP3CTL_TAKES_WORD:
		for (const char *const *w = c->command->words; *w && c->args == 0; w++)
			offer_completion(c, "", *w);
		break;
	case HP3CTL_TAKES_TEXT:
		if (c->command->run == hp3ctl_config && c->args == 0)
			ask_keys(c);
		break;
	case HP3CTL_TAKES_NOTHING:
		break;
	}
}

int hp3ctl_complete(int argc, char **argv)
{
	struct completion c = {
		.ctl = {.line.fd = -1, .text[HP3CTL_SOCKET] = HP3CTL_DEFAULT_SOCKET}};
	const char *w;

	read_words(&c, argv, argc);
	if (c.option >= 0) {
		for (unsigned i = 0; hp3ctl_options[c.option].word &&
				     (w = hp3ctl_options[c.option].word(i)) != NULL;
			i++)
			offer_completion(&c, "", w);
	} else if (c.word[0] == '-') {
		offer_options(&c);
	} else if (!c.command) {
		for (const struct hp3ctl_command *k = hp3ctl_commands; k->name; k++) {
			offer_completion(&c, "", k->name);
			if (k->alias)
				offer_completion(&c, "", k->alias);
		}
	} else {
		offer_arguments(&c);
	}
	hp3_line_close(&c.ctl.line);
	return HP3CTL_DONE;
}
