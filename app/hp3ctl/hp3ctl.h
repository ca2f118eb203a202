/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * hp3ctl: sends requests to hp3d's control socket and prints the answers: tables, or with --json
 * JSON lines (lists: one object per line). Errors and their fixes go to stderr; with --json, an
 * error object goes to stdout.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "app/line.h"

enum hp3ctl_exit {
	HP3CTL_DONE = 0,
	HP3CTL_FAILED = 1, /* refused or failed */
	HP3CTL_USAGE = 2,
	HP3CTL_UNREACHABLE = 3,
	HP3CTL_NOT_FOUND = 4,
};

#define HP3CTL_JSON_VERSION   1 /* of every object; hp3ctl(1) defines what it guarantees */
#define HP3CTL_DEFAULT_SOCKET "/run/hp3/hp3.sock"

/* Options of the command line (commands.c); `given` has those that were used. */
enum hp3ctl_option {
	HP3CTL_SOCKET,
	HP3CTL_JSON,
	HP3CTL_HELP,
	HP3CTL_VERSION,
	HP3CTL_NONZERO,
	HP3CTL_EXPLAIN,
	HP3CTL_PORT,
	HP3CTL_RANDOM,
	HP3CTL_HOME,
	HP3CTL_ASK,
	HP3CTL_ALL,
	HP3CTL_WAIT,
	HP3CTL_NO_WAIT,
	HP3CTL_REPEAT,
	HP3CTL_INTERVAL,
	HP3CTL_FOLLOW,
	HP3CTL_SINCE,
	HP3CTL_TTL,
	HP3CTL_KNOWN,
	HP3CTL_SORT,
	HP3CTL_REVERSE,
	HP3CTL_FILTER,
	HP3CTL_RAIL,
	HP3CTL_TYPE,
	HP3CTL_PLAIN,
	HP3CTL_CONFIG,
	HP3CTL_SECRET,
	HP3CTL_OUT,
	HP3CTL_PEER,
	HP3CTL_COUNT,
	HP3CTL_DISTINCT,
	HP3CTL_FORMAT,
	HP3CTL_OPTION_MAX
};

#define HP3CTL_ERROR_MAX 512u
#define HP3CTL_BIT(sym)  (1ull << HP3CTL_##sym)

struct hp3ctl {
	uint64_t given; /* HP3CTL_BIT() */
	const char *text[HP3CTL_OPTION_MAX]; /* an option's value */
	uint64_t number[HP3CTL_OPTION_MAX]; /* the same as a number; 0 if not given */
	bool json;
	char *error; /* if set: errors go to these HP3CTL_ERROR_MAX bytes, not to stderr */
	char **args; /* arguments of the command; the first may be a FLOW */
	int n_args;
	struct hp3_line line; /* to hp3d */
};

/* connection.c: all return an enum hp3ctl_exit, and print an error unless it is HP3CTL_DONE. */
int hp3ctl_connect(struct hp3ctl *ctl);
int hp3ctl_send(struct hp3ctl *ctl, json_t *req); /* takes the reference */
int hp3ctl_receive(struct hp3ctl *ctl, json_t **answer);
/* Sends, receives, and reports an answer that is not ok; *answer is valid with HP3CTL_DONE only. */
int hp3ctl_ask(struct hp3ctl *ctl, json_t *req, json_t **answer);
const char *hp3ctl_error_code(json_t *answer); /* NULL: the answer is ok */
int hp3ctl_report(struct hp3ctl *ctl, json_t *answer);

/* Prints an error of hp3ctl in the form of hp3d's errors; returns `exit`. */
int hp3ctl_fail(const struct hp3ctl *ctl, int exit, const char *code, const char *fix,
	const char *fmt, ...) __attribute__((format(printf, 5, 6)));
void hp3ctl_print_json(json_t *j); /* one line */

/* A member of an answer; "-" or 0: it is missing. */
static inline const char *hp3ctl_text(json_t *j, const char *key)
{
	const char *text = json_string_value(json_object_get(j, key));

	return text ? text : "-";
}
static inline json_int_t hp3ctl_number(json_t *j, const char *key)
{
	return json_integer_value(json_object_get(j, key));
}

/* memory.c: hp3ctl_need() allocates, or ends hp3ctl with an error. After hp3ctl_need_memory(), JSON
 * functions do so, too. */
void *hp3ctl_need(size_t n);
void hp3ctl_need_memory(const struct hp3ctl *ctl);

/* list.c: functions that get a request take its reference. Calls fn for each page of a list; an
 * exit code of fn other than DONE ends it. */
int hp3ctl_each_page(
	struct hp3ctl *ctl, json_t *req, int (*fn)(void *arg, json_t *items), void *arg);
/* A function for hp3ctl_each_page(): appends the items to the array `arg`. */
int hp3ctl_append_page(void *arg, json_t *items);
/* Prints each item of a list: by print_row(), or with --json as JSON. */
int hp3ctl_print_list(struct hp3ctl *ctl, json_t *req, void (*print_row)(json_t *item));
/* Calls fn for each requested event after number *since; sets *since to the last number. */
int hp3ctl_each_event(struct hp3ctl *ctl, json_t *req, json_int_t *since,
	void (*fn)(void *arg, json_t *event), void *arg);

/* flows.c. hp3ctl_read_flows() reads all flows that match the filter (NULL: all) into the array
 * *flows; after an error, *flows is NULL. */
void hp3ctl_print_flows(const struct hp3ctl *ctl, json_t *flows);
int hp3ctl_read_flows(struct hp3ctl *ctl, const char *filter, json_t **flows);

const char *hp3ctl_port_format(unsigned i); /* ports.c; NULL after the last one */

void hp3ctl_print_value(const char *name, json_t *value); /* one line of a table */
void hp3ctl_print_event(const struct hp3ctl *ctl, json_t *event);

/* The commands. */
int hp3ctl_flows(struct hp3ctl *ctl);
int hp3ctl_show(struct hp3ctl *ctl);
int hp3ctl_stats(struct hp3ctl *ctl);
int hp3ctl_move(struct hp3ctl *ctl);
int hp3ctl_events(struct hp3ctl *ctl);
int hp3ctl_paths(struct hp3ctl *ctl);
int hp3ctl_peers(struct hp3ctl *ctl);
int hp3ctl_trace(struct hp3ctl *ctl);
int hp3ctl_ports(struct hp3ctl *ctl);
int hp3ctl_probes(struct hp3ctl *ctl);
int hp3ctl_qps(struct hp3ctl *ctl);
int hp3ctl_why(struct hp3ctl *ctl);
int hp3ctl_watch(struct hp3ctl *ctl);
int hp3ctl_config(struct hp3ctl *ctl);
int hp3ctl_doctor(struct hp3ctl *ctl);
int hp3ctl_mode(struct hp3ctl *ctl);
int hp3ctl_bypass(struct hp3ctl *ctl);
int hp3ctl_bundle(struct hp3ctl *ctl);
int hp3ctl_keys(struct hp3ctl *ctl);
int hp3ctl_health(struct hp3ctl *ctl);

/* A tar.gz, written member by member from memory by libarchive: there are no temporary files. Only
 * the file's owner can read it. */
struct hp3ctl_tarball;

/* NULL with errno set; EEXIST: a file is never overwritten. */
struct hp3ctl_tarball *hp3ctl_tarball_create(const char *path);
/* The next three return 0 or a negative errno; -EIO: libarchive gives no reason. */
int hp3ctl_tarball_add(struct hp3ctl_tarball *a, const char *name, const char *data, size_t len);
/* Adds the output of a program (stdout and stderr), and its exit code if that is not 0. Kills the
 * program after 10 s, or after 4 MiB of output. If the program cannot be started, the member has
 * the error message. Arguments end with NULL. */
int hp3ctl_tarball_add_output(struct hp3ctl_tarball *a, const char *name, const char *const *argv);
/* Finishes the file; frees *a in any case. */
int hp3ctl_tarball_close(struct hp3ctl_tarball *a);
