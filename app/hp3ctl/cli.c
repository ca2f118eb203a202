/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line: help, checks by the table of commands, and the run of the command. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "app/hp3ctl/commands.h"
#include "base/nearest.h"

#define TARGET     (HP3CTL_BIT(PORT) | HP3CTL_BIT(RANDOM) | HP3CTL_BIT(HOME))
#define HELP_WIDTH 16

static void print_uses(const struct hp3ctl_use *use)
{
	for (; use && use->help; use++) {
		const struct hp3ctl_option_row *o = &hp3ctl_options[use->option];
		char text[48];

		snprintf(text, sizeof(text), "--%s%s%s", o->name, o->value ? " " : "",
			o->value ? o->value : "");
		printf("  %-*s%s\n", HELP_WIDTH, text, use->help);
	}
}

/* Prints the help of a command; NULL: of hp3ctl. */
static void print_help_of(const struct hp3ctl_command *c)
{
	if (c) {
		printf("Usage: hp3ctl %s%s%s\n\n%s\n", c->name, *c->usage ? " " : "", c->usage,
			c->help);
		if (c->alias)
			printf("Another name of this command is %s.\n", c->alias);
		if (c->uses || c->details)
			putchar('\n');
		print_uses(c->uses);
		if (c->details)
			fputs(c->details, stdout);
		return;
	}
	printf("Usage: hp3ctl [--socket PATH] [--json] COMMAND\n\n");
	for (c = hp3ctl_commands; c->name; c++)
		printf("  %-8s%s\n", c->name, c->help);
	putchar('\n');
	print_uses(hp3ctl_common);
	printf("\nExit codes: 0 done, 1 refused or failed, 2 usage, 3 hp3d not reachable, 4 not "
	       "found.\n");
}

static void offer_command(struct hp3_nearest *near, const struct hp3ctl_command *c)
{
	hp3_nearest_offer(near, c->name);
	if (c->alias)
		hp3_nearest_offer(near, c->alias);
}

static int unknown_command(struct hp3ctl *ctl, const char *word)
{
	struct hp3_nearest near = {.asked = word};
	char text[128];

	for (const struct hp3ctl_command *c = hp3ctl_commands; c->name; c++)
		offer_command(&near, c);
	snprintf(text, sizeof(text), "unknown command %s", word);
	return hp3ctl_no_such(ctl, &near, "hp3ctl --help", text);
}

static int fail_misuse(struct hp3ctl *ctl, const struct hp3ctl_command *c, const char *text)
{
	char fix[64];

	snprintf(fix, sizeof(fix), "see hp3ctl %s --help", c->name);
	return hp3ctl_fail(ctl, HP3CTL_USAGE, "usage", fix, "%s %s", c->name, text);
}

static int check_word(struct hp3ctl *ctl, const struct hp3ctl_command *c)
{
	struct hp3_nearest near = {.asked = ctl->args[0]};
	char text[128], help[64], words[64] = "";

	for (const char *const *w = c->words; *w; w++) {
		size_t n = strlen(words);

		if (strcmp(*w, ctl->args[0]) == 0)
			return HP3CTL_DONE;
		hp3_nearest_offer(&near, *w);
		snprintf(words + n, sizeof(words) - n, "%s%s", n ? ", " : "", *w);
	}
	snprintf(text, sizeof(text), "%s takes one of %s, not %s", c->name, words, ctl->args[0]);
	snprintf(help, sizeof(help), "hp3ctl %s --help", c->name);
	return hp3ctl_no_such(ctl, &near, help, text);
}

static int check_arguments(struct hp3ctl *ctl, const struct hp3ctl_command *c)
{
	bool all = ctl->given & HP3CTL_BIT(ALL);
	int n = ctl->n_args;

	switch (c->takes) {
	case HP3CTL_TAKES_NOTHING:
		return n == 0 ? HP3CTL_DONE : fail_misuse(ctl, c, "takes no argument");
	case HP3CTL_TAKES_FLOW:
		if (n == !all || (n == 0 && c->optional))
			return HP3CTL_DONE;
		return fail_misuse(ctl, c, "needs one FLOW");
	case HP3CTL_TAKES_FLOW_PORTS:
		return n >= 2 ? HP3CTL_DONE
			      : fail_misuse(ctl, c, "needs a FLOW and at least one PORT");
	case HP3CTL_TAKES_WORD:
		if (n == 0 && c->optional)
			return HP3CTL_DONE;
		return n == 1 ? check_word(ctl, c) : fail_misuse(ctl, c, "needs one word");
	case HP3CTL_TAKES_TEXT:
		return n == 1 || (n == 0 && c->optional)
			       ? HP3CTL_DONE
			       : fail_misuse(ctl, c, "takes one argument");
	}
	return HP3CTL_USAGE;
}

/* Checks options and arguments against the command's row. */
static int check_usage(struct hp3ctl *ctl, const struct hp3ctl_command *c)
{
	uint64_t known = hp3ctl_command_options(c), wrong = ctl->given & ~known;
	char text[64];

	if (wrong) {
		snprintf(text, sizeof(text), "does not know --%s",
			hp3ctl_options[__builtin_ctzll(wrong)].name);
		return fail_misuse(ctl, c, text);
	}
	if (known & TARGET && __builtin_popcountll(ctl->given & TARGET) != 1)
		return fail_misuse(ctl, c, "needs one of --port N, --random, --home");
	if (ctl->given & HP3CTL_BIT(WAIT) && ctl->given & HP3CTL_BIT(NO_WAIT))
		return fail_misuse(ctl, c, "cannot have both --wait and --no-wait");
	return check_arguments(ctl, c);
}

/* Runs the command, with --repeat several times; returns the exit code of the first failed run. */
static int run_command(struct hp3ctl *ctl, const struct hp3ctl_command *c)
{
	int rc = c->run(ctl);

	for (uint64_t i = 1; i < ctl->number[HP3CTL_REPEAT]; i++) {
		int again;

		if (rc == HP3CTL_UNREACHABLE || fflush(stdout) != 0)
			break;
		usleep((useconds_t)(ctl->number[HP3CTL_INTERVAL] * 1000));
		again = c->run(ctl);
		if (again == HP3CTL_UNREACHABLE)
			return again;
		if (rc == HP3CTL_DONE)
			rc = again;
	}
	return rc;
}

int hp3ctl_run(struct hp3ctl *ctl, int argc, char **argv)
{
	const struct hp3ctl_command *c = NULL;
	struct hp3ctl_misused wrong;
	int rc;

	if (argc > 1 && strcmp(argv[1], "__complete") == 0)
		return hp3ctl_complete(argc - 2, argv + 2);
	rc = hp3ctl_parse_options(ctl, argc, argv, &wrong);
	if (rc != HP3CTL_DONE)
		return rc;
	if (ctl->given & HP3CTL_BIT(VERSION)) {
		printf("hp3ctl " HP3_VERSION "\n");
		return HP3CTL_DONE;
	}
	if (optind < argc) {
		c = hp3ctl_command(argv[optind]);
		if (!c)
			return unknown_command(ctl, argv[optind]);
	}
	if (ctl->given & HP3CTL_BIT(HELP)) {
		print_help_of(c);
		return HP3CTL_DONE;
	}
	if (wrong.opt >= 0)
		return hp3ctl_fail_value(ctl, c, &wrong);
	if (!c)
		return hp3ctl_fail(ctl, HP3CTL_USAGE, "usage", "see hp3ctl --help", "no command");
	ctl->args = argv + optind + 1;
	ctl->n_args = argc - optind - 1;
	rc = check_usage(ctl, c);
	if (rc == HP3CTL_DONE && !c->offline)
		rc = hp3ctl_connect(ctl);
	return rc == HP3CTL_DONE ? run_command(ctl, c) : rc;
}
