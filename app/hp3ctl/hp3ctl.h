/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * hp3ctl sends requests to hp3d's control socket and prints the answers. It prints tables, or with
 * --json JSON lines (of a list, one object per line). Errors and their fixes go to stderr. With
 * --json, an error object goes to stdout.
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

#define HP3CTL_JSON_VERSION   1 /* version of every object; hp3ctl(1) defines what it guarantees */
#define HP3CTL_DEFAULT_SOCKET "/run/hp3/hp3.sock"

/* Options of the command line: symbol, and struct hp3ctl_option_row (commands.h). */
#define HP3CTL_OPTIONS(X)                                                                          \
	X(SOCKET, "socket", "PATH")                                                                \
	X(JSON, "json")                                                                            \
	X(HELP, "help")                                                                            \
	X(VERSION, "version")                                                                      \
	X(NONZERO, "nonzero")                                                                      \
	X(EXPLAIN, "explain")                                                                      \
	X(PORT, "port", "N", HP3_PORT_FIRST, UINT16_MAX)                                           \
	X(RANDOM, "random")                                                                        \
	X(HOME, "home")                                                                            \
	X(ASK, "ask")                                                                              \
	X(ALL, "all")                                                                              \
	X(WAIT, "wait", "MS", 1, WAIT_MS_MAX)                                                      \
	X(NO_WAIT, "no-wait")                                                                      \
	X(REPEAT, "repeat", "N", 1, REPEAT_MAX)                                                    \
	X(INTERVAL, "interval", "MS", 0, WAIT_MS_MAX)                                              \
	X(FOLLOW, "follow")                                                                        \
	X(SINCE, "since", "N|TIME", .is_valid = hp3ctl_is_since, .range = SINCE_RANGE)             \
	X(TTL, "ttl", "N", 1, TTL_MAX)                                                             \
	X(KNOWN, "known")                                                                          \
	X(SORT, "sort", "COLUMN", .word = hp3ctl_column_name)                                      \
	X(REVERSE, "reverse")                                                                      \
	X(FILTER, "filter", "TERMS")                                                               \
	X(RAIL, "rail", "NAME")                                                                    \
	X(TYPE, "type", "TYPE", .word = event_type)                                                \
	X(PLAIN, "plain")                                                                          \
	X(CONFIG, "config", "FILE")                                                                \
	X(SECRET, "secret", "FILE")                                                                \
	X(OUT, "out", "DIR")                                                                       \
	X(PEER, "peer", "PEER")                                                                    \
	X(COUNT, "count", "N", 1, PORTS_MAX)                                                       \
	X(DISTINCT, "distinct")                                                                    \
	X(FORMAT, "format", "FORMAT", .word = hp3ctl_port_format)

enum hp3ctl_option {
#define X(sym, ...) HP3CTL_##sym,
	HP3CTL_OPTIONS(X)
#undef X
		HP3CTL_OPTION_MAX
};

#define HP3CTL_WIDTH     100 /* columns of tables and paragraphs, if ids are not too long */
#define HP3CTL_ERROR_MAX 512u
#define HP3CTL_BIT(sym)  (1ull << HP3CTL_##sym)

struct hp3ctl {
	uint64_t given; /* HP3CTL_BIT() of the options that were used */
	const char *text[HP3CTL_OPTION_MAX]; /* an option's value */
	/* the option's value as a number; 0 if the option was not given */
	uint64_t number[HP3CTL_OPTION_MAX];
	bool json;
	char *error; /* if set: errors go to these HP3CTL_ERROR_MAX bytes, not to stderr */
	char **args; /* arguments of the command; the first may be a FLOW */
	int n_args;
	struct hp3_line line; /* to hp3d */
};

/* connection.c: all functions return an enum hp3ctl_exit. Unless it is HP3CTL_DONE, they print an
 * error. */
int hp3ctl_connect(struct hp3ctl *ctl);
int hp3ctl_send(struct hp3ctl *ctl, json_t *req); /* takes the reference */
int hp3ctl_receive(struct hp3ctl *ctl, json_t **answer);
/* Sends a request, receives the answer, and reports an answer that is not ok. *answer is valid only
 * with HP3CTL_DONE. */
int hp3ctl_ask(struct hp3ctl *ctl, json_t *req, json_t **answer);
/* As hp3ctl_ask(), but *data is the "data" of the answer. */
int hp3ctl_ask_data(struct hp3ctl *ctl, json_t *req, json_t **data);
/* Prints the "data" of the answer: by print(), or with --json as JSON. */
int hp3ctl_print_answer(
	struct hp3ctl *ctl, json_t *req, void (*print)(const struct hp3ctl *ctl, json_t *data));
const char *hp3ctl_error_code(json_t *answer); /* NULL: the answer is ok */
int hp3ctl_report(struct hp3ctl *ctl, json_t *answer);

/* Prints an error of hp3ctl in the form of hp3d's errors; returns `exit`. */
int hp3ctl_fail(const struct hp3ctl *ctl, int exit, const char *code, const char *fix,
	const char *fmt, ...) __attribute__((format(printf, 5, 6)));
void hp3ctl_print_json(json_t *j); /* one line */
void hp3ctl_print_new_json(json_t *j); /* takes the reference */

/* A member of an answer; "-" or 0: the member is missing. */
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
 * functions also end hp3ctl if there is no memory. */
void *hp3ctl_need(size_t n);
void hp3ctl_need_memory(const struct hp3ctl *ctl);

/* list.c: functions that get a request take its reference. Calls fn for each page of a list. If fn
 * returns another exit code than DONE, no further page is requested. */
int hp3ctl_each_page(
	struct hp3ctl *ctl, json_t *req, int (*fn)(void *arg, json_t *items), void *arg);
/* A function for hp3ctl_each_page(): appends the items to the array `arg`. */
int hp3ctl_append_page(void *arg, json_t *items);
/* Prints each item of a list: by print_row(), or with --json as JSON. */
int hp3ctl_print_list(struct hp3ctl *ctl, json_t *req, void (*print_row)(json_t *item));
/* Calls fn for each requested event after number *since; sets *since to the last number. */
int hp3ctl_each_event(struct hp3ctl *ctl, json_t *req, json_int_t *since,
	void (*fn)(void *arg, json_t *event), void *arg);

/* Appends the latest events of a flow (NULL: of all flows), `max` at most, to the list. */
int hp3ctl_latest_events(struct hp3ctl *ctl, const char *flow, size_t max, json_t *list);

/* flows.c. hp3ctl_read_flows() reads all flows that match the filter (NULL: all) into the array
 * *flows; after an error, *flows is NULL. */
/* flow_table.c. `sort`: the column by which flows are sorted, which is always shown; or NULL. */
void hp3ctl_print_flow_table(json_t *flows, const char *sort);
void hp3ctl_print_flows(const struct hp3ctl *ctl, json_t *flows);
int hp3ctl_read_flows(struct hp3ctl *ctl, const char *filter, json_t **flows);

/* unpaired.c. Prints a paragraph of at most HP3CTL_WIDTH columns. The cursor is in `column`;
 * further lines are indented by `indent` columns. */
void hp3ctl_print_wrapped(const char *text, int column, int indent);
/* Flows that are not paired, by reason: _count adds a flow to the object `reasons`; _print prints a
 * paragraph for each reason, with what helps. */
void hp3ctl_count_unpaired(json_t *reasons, json_t *flow);
void hp3ctl_print_unpaired(json_t *reasons);

const char *hp3ctl_port_format(unsigned i); /* ports.c; NULL after the last one */
bool hp3ctl_is_since(const char *text); /* events.c: a value of --since */

void hp3ctl_print_value(const char *name, json_t *value); /* one line of a table */
void hp3ctl_print_values(json_t *data); /* one line for each value in an object */
void hp3ctl_print_event(const struct hp3ctl *ctl, json_t *event);
void hp3ctl_print_events(const struct hp3ctl *ctl, json_t *list);

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

/* NULL: see errno. EEXIST: the file exists already, and is not overwritten. */
struct hp3ctl_tarball *hp3ctl_tarball_create(const char *path);
/* The next three functions return 0 or a negative errno; -EIO: libarchive gives no reason. */
int hp3ctl_tarball_add(struct hp3ctl_tarball *a, const char *name, const char *data, size_t len);
/* Adds the output of a program (stdout and stderr), and its exit code if that is not 0. Kills the
 * program after 10 s, or after 4 MiB of output. If the program cannot be started, the member has
 * the error message. Arguments end with NULL. */
int hp3ctl_tarball_add_output(struct hp3ctl_tarball *a, const char *name, const char *const *argv);
/* Finishes the file. Frees *a even on errors. */
int hp3ctl_tarball_close(struct hp3ctl_tarball *a);
