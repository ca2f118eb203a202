/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3CTL_H
#define HP3CTL_H
/*
 * hp3ctl: asks hp3d over its control socket and prints the answers, as tables or with --json as
 * JSON lines (lists: one object per line). Everything that goes wrong is told on stderr with what
 * to do about it, with --json as an error object on stdout.
 */
#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

enum hp3ctl_exit {
	HP3CTL_DONE = 0,
	HP3CTL_FAILED = 1, /* refused or failed */
	HP3CTL_USAGE = 2,
	HP3CTL_UNREACHABLE = 3,
	HP3CTL_NOT_FOUND = 4,
};

#define HP3CTL_JSON_VERSION   1 /* of every object; hp3ctl(1) says what it promises */
#define HP3CTL_DEFAULT_SOCKET "/run/hp3/hp3.sock"

/* Options of the command line (commands.c); `given` says which were there. */
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
	uint64_t number[HP3CTL_OPTION_MAX]; /* the same, where it is a number; 0: not given */
	bool json;
	char *error; /* room for HP3CTL_ERROR_MAX: an error goes here, not to stderr */
	const volatile sig_atomic_t *stop; /* not 0: wait for no answer any more */
	char **args; /* behind the command; the first one may be a FLOW */
	int n_args;
	int fd; /* connection; -1: none yet */
	char *buf; /* bytes received behind the last answer */
	size_t len, cap;
};

/* connection.c: all return an enum hp3ctl_exit and have told the user unless it is HP3CTL_DONE. */
int hp3ctl_connect(struct hp3ctl *ctl);
void hp3ctl_disconnect(struct hp3ctl *ctl);
int hp3ctl_send(struct hp3ctl *ctl, json_t *req); /* takes the reference */
int hp3ctl_receive(struct hp3ctl *ctl, json_t **answer);
/* Sends, receives, and reports an answer that is not ok; *answer is valid with HP3CTL_DONE only. */
int hp3ctl_ask(struct hp3ctl *ctl, json_t *req, json_t **answer);
const char *hp3ctl_error_code(json_t *answer); /* NULL: the answer is ok */
int hp3ctl_report(struct hp3ctl *ctl, json_t *answer);

/* Tells an error of our own in the same form; returns `exit`. */
int hp3ctl_fail(const struct hp3ctl *ctl, int exit, const char *code, const char *fix,
	const char *fmt, ...) __attribute__((format(printf, 5, 6)));
void hp3ctl_print_json(json_t *j); /* one line */

/* memory.c: memory, or hp3ctl ends, and says why; JSON's, too, from the second on. */
void *hp3ctl_need(size_t n);
void hp3ctl_need_memory(const struct hp3ctl *ctl);

/* list.c, both take the request's reference. A list, page by page; fn returns an exit code, other
 * than DONE ends the walk. */
int hp3ctl_each_page(
	struct hp3ctl *ctl, json_t *req, int (*fn)(void *arg, json_t *items), void *arg);
/* The events behind *since that the request asks for; *since moves on to the last one. */
int hp3ctl_each_event(struct hp3ctl *ctl, json_t *req, json_int_t *since,
	void (*fn)(void *arg, json_t *event), void *arg);

/* flows.c: all flows that the filter (NULL: none) lets through, as an array; NULL with an error. */
void hp3ctl_print_flows(const struct hp3ctl *ctl, json_t *flows);
int hp3ctl_read_flows(struct hp3ctl *ctl, const char *filter, json_t **flows);

const char *hp3ctl_port_format(unsigned i); /* ports.c; NULL behind the last one */

void hp3ctl_print_value(const char *name, json_t *value); /* one line of a table */
void hp3ctl_print_event(const struct hp3ctl *ctl, json_t *event);

/* The commands. */
int hp3ctl_flows(struct hp3ctl *ctl);
int hp3ctl_show(struct hp3ctl *ctl);
int hp3ctl_stats(struct hp3ctl *ctl);
int hp3ctl_move(struct hp3ctl *ctl);
int hp3ctl_move_all(struct hp3ctl *ctl);
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

#endif
