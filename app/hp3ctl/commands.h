/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The table of commands and their options. The parser, --help and completion use the table; the
 * test hp3ctl/commands compares hp3ctl(1) with it. A new command needs a row, rows for its options,
 * a handler (hp3ctl.h), and a paragraph of the manual.
 */
#include "app/hp3ctl/hp3ctl.h"

/* The arguments of a command. */
enum hp3ctl_takes {
	HP3CTL_TAKES_NOTHING,
	HP3CTL_TAKES_FLOW, /* one flow; with --all, or if `optional`, none is needed */
	HP3CTL_TAKES_FLOW_PORTS, /* one flow, and at least one port */
	HP3CTL_TAKES_WORD, /* one of `words`, or nothing if `optional` */
	HP3CTL_TAKES_TEXT, /* anything, or nothing if `optional` */
};

/* An option of a command, and its meaning there. */
struct hp3ctl_use {
	enum hp3ctl_option option;
	const char *help;
};

struct hp3ctl_command {
	const char *name;
	const char *alias; /* another name; NULL: none */
	const char *usage; /* arguments, as help shows them after the name */
	const char *help; /* a line without a full stop */
	const char *details; /* further lines, each ends with '\n'; NULL: none */
	int (*run)(struct hp3ctl *ctl); /* an enum hp3ctl_exit */
	const struct hp3ctl_use *uses; /* ends with an entry without help; NULL: none */
	const char *const *words; /* words for TAKES_WORD; ends with NULL */
	enum hp3ctl_takes takes;
	bool optional;
	bool offline; /* the caller of run() does not connect to hp3d; run() may connect */
};

extern const struct hp3ctl_command hp3ctl_commands[]; /* ends with an entry without name */

/* An option of the command line, and its value, if any. With max > 0, the value is a number from
 * min to max. With word(), it is one of these words. With is_valid(), it is a text for which this
 * function returns true, and `range` describes these texts. Otherwise, it is any text. */
struct hp3ctl_option_row {
	const char *name; /* without dashes */
	const char *value; /* the value's name in help; NULL: the option takes no value */
	uint64_t min, max;
	const char *(*word)(unsigned i); /* NULL after the last word */
	bool (*is_valid)(const char *text);
	const char *range;
};

extern const struct hp3ctl_option_row hp3ctl_options[HP3CTL_OPTION_MAX];
extern const struct hp3ctl_use
	hp3ctl_common[]; /* options of every command; ends with an entry without help */

const struct hp3ctl_command *hp3ctl_command(
	const char *name); /* by name or alias; NULL: none has it */
uint64_t hp3ctl_command_options(const struct hp3ctl_command *c); /* HP3CTL_BIT() of all options */

/* options.c: an option whose value is wrong, or missing (value NULL). */
struct hp3ctl_misused {
	int opt; /* -1: none */
	const char *value;
};

/* Reads all options. The first wrong value goes to *wrong, because its error has to name the
 * command, which follows. Returns HP3CTL_DONE, or HP3CTL_USAGE after an error about an unknown
 * option. */
int hp3ctl_parse_options(struct hp3ctl *ctl, int argc, char **argv, struct hp3ctl_misused *wrong);
/* Prints an error that names the command (NULL: none was given) and the values that the option
 * takes. */
int hp3ctl_fail_value(
	struct hp3ctl *ctl, const struct hp3ctl_command *c, const struct hp3ctl_misused *wrong);
struct hp3_nearest;
/* Prints an error with the most similar known word, and the command `help`. */
int hp3ctl_no_such(
	struct hp3ctl *ctl, const struct hp3_nearest *near, const char *help, const char *text);

/* complete.c: argv has the words of a command line. Prints completions of the last word. */
int hp3ctl_complete(int argc, char **argv);

/* The whole program, except its state: parses the command line, runs the command. */
int hp3ctl_run(struct hp3ctl *ctl, int argc, char **argv);
