/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/record/record.h"
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <time.h>
#include "app/clock.h"
#include "app/record/audit.h"

#define QUEUE   1024u
#define NS      1000000000ull
#define BURST_S 10u
#define STOP_S  2

struct record {
	int priority;
	json_t *what;
	char *text;
};

static struct {
	pthread_mutex_t lock; /* protects all members before `audit` */
	pthread_cond_t changed;
	struct record queue[QUEUE]; /* from `first` on, `n` of them */
	uint32_t first, n;
	bool running, stop, reopen;
	char *path; /* of the log; NULL: off */
	uint32_t per_second;
	uint64_t tokens, token_ns; /* tokens in records * NS, and the time of the last update */
	uint64_t untold; /* records lost since the latest "lost" record */
	struct hp3_record_stats stats;
	pthread_t thread;
	/* only for the thread */
	struct hp3_audit audit;
	bool journal;
	int opened; /* result of opening the log */
	int printed; /* errno of the latest error that was printed */
} rec = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static bool is_wanted(const struct hp3_record_options *o)
{
	return o->audit && o->audit[0] && strcmp(o->audit, "off") != 0;
}

void hp3_wall_text(uint64_t wall_ns, char buf[HP3_WALL_TEXT])
{
	time_t s = (time_t)(wall_ns / NS);
	struct tm tm;
	size_t n;

	gmtime_r(&s, &tm);
	n = strftime(buf, HP3_WALL_TEXT, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(buf + n, HP3_WALL_TEXT - n, ".%06uZ", (unsigned)(wall_ns % NS / 1000));
}

/* A token bucket with room for BURST_S seconds. */
static bool within_rate(void)
{
	uint64_t now = hp3_clock_ns(CLOCK_MONOTONIC), full = BURST_S * NS * rec.per_second;
	uint64_t passed = now - rec.token_ns;

	passed = passed > BURST_S * NS ? BURST_S * NS : passed;
	rec.tokens += passed * rec.per_second;
	if (rec.tokens > full)
		rec.tokens = full;
	rec.token_ns = now;
	if (rec.tokens < NS)
		return false;
	rec.tokens -= NS;
	return true;
}

/* "v", "time" and "type" come first, for human readers. */
static json_t *complete_record(const char *type, json_t *what)
{
	char time[HP3_WALL_TEXT];
	json_t *all;

	hp3_wall_text(hp3_clock_ns(CLOCK_REALTIME), time);
	all = json_pack("{s:i, s:s, s:s}", "v", 1, "time", time, "type", type);
	if (all && what)
		json_object_update(all, what);
	json_decref(what);
	return all;
}

static void drop_record(struct record *r)
{
	json_decref(r->what);
	free(r->text);
}

void hp3_record(int priority, const char *type, json_t *what, const char *fmt, ...)
{
	struct record r = {.priority = priority, .what = complete_record(type, what)};
	bool taken = false;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&r.text, fmt, ap) < 0)
		r.text = NULL;
	va_end(ap);
	pthread_mutex_lock(&rec.lock);
	if (rec.running && !rec.stop) {
		if (!within_rate()) {
			rec.stats.lost_rate++;
		} else if (rec.n == QUEUE || !r.what || !r.text) {
			rec.stats.lost_queue++;
		} else {
			rec.queue[(rec.first + rec.n++) % QUEUE] = r;
			taken = true;
			pthread_cond_signal(&rec.changed);
		}
		rec.untold += !taken;
	}
	pthread_mutex_unlock(&rec.lock);
	if (!taken)
		drop_record(&r);
}

/* --- the thread --- */

static void print_log_state(const char *path, int error)
{
	if (error == rec.printed)
		return;
	rec.printed = error;
	if (error == 0)
		fprintf(stderr, "hp3d: audit log %s: written again\n", path);
	else if (error == -ENOENT)
		fprintf(stderr,
			"hp3d: audit log %s: its directory is missing: make it, or set audit= in "
			"[log] to another path or to off\n",
			path);
	else if (error == -EINVAL)
		fprintf(stderr,
			"hp3d: audit log %s: is no regular file: set audit= in [log] to another "
			"path\n",
			path);
	else
		fprintf(stderr, "hp3d: audit log %s: %s; records are lost, and counted\n", path,
			strerror(-error));
}

/*
 * Counts lines by `rc`, the result of opening the log or of writing a line. Prints an error once.
 */
static void account_lines(const char *path, int rc, uint64_t lines)
{
	pthread_mutex_lock(&rec.lock);
	rec.stats.error = rc;
	if (rc < 0) {
		rec.stats.lost_disk += lines;
		rec.untold += lines;
	} else {
		rec.stats.written += lines;
	}
	pthread_mutex_unlock(&rec.lock);
	print_log_state(path, rc);
}

static void open_log(const char *path)
{
	hp3_audit_close(&rec.audit);
	if (!path)
		return;
	rec.opened = hp3_audit_open(&rec.audit, path);
	account_lines(path, rec.opened, 0);
}

static void write_log(const char *path, const json_t *what)
{
	char *line = json_dumps(what, JSON_COMPACT);
	size_t len = line ? strlen(line) : 0;

	int rc = line ? rec.opened : -ENOMEM;

	if (rc == 0) {
		line[len] = '\n'; /* instead of NUL: the length is known */
		rc = hp3_audit_write(&rec.audit, line, len + 1);
	}
	account_lines(path, rc, 1);
	free(line);
}

static void put_record(const char *path, const struct record *r)
{
	if (path)
		write_log(path, r->what);
	if (r->priority == HP3_RECORD_QUIET)
		return;
	if (!rec.journal || hp3_journal_send(r->priority, r->text, r->what) < 0)
		fprintf(stderr, "hp3d: %s %s\n",
			json_string_value(json_object_get(r->what, "time")), r->text);
}

static void put_loss(const char *path, uint64_t lost)
{
	struct record r = {.priority = LOG_WARNING,
		.what = complete_record("lost", json_pack("{s:I}", "records", (json_int_t)lost))};

	if (r.what && asprintf(&r.text, "%llu records were lost: hp3ctl health tells why",
			      (unsigned long long)lost) >= 0) {
		put_record(path, &r);
		free(r.text);
	}
	json_decref(r.what);
}

/* Waits for work. False: the thread is to end. */
static bool take_work(struct record *r, char **path, bool *reopen, uint64_t *lost)
{
	bool more;

	pthread_mutex_lock(&rec.lock);
	while (rec.n == 0 && !rec.stop && !rec.reopen)
		pthread_cond_wait(&rec.changed, &rec.lock);
	*r = (struct record){0};
	*lost = 0;
	*reopen = rec.reopen;
	if (rec.reopen) {
		free(*path);
		*path = rec.path;
		rec.path = NULL;
		rec.reopen = false;
	}
	more = rec.n > 0 || *reopen;
	if (rec.n > 0) {
		*r = rec.queue[rec.first];
		rec.first = (rec.first + 1) % QUEUE;
		rec.n--;
		/* While writing fails, this record would be lost, too. */
		if (rec.stats.error == 0) {
			*lost = rec.untold;
			rec.untold = 0;
		}
	}
	pthread_mutex_unlock(&rec.lock);
	return more;
}

static void *run_writer(void *arg)
{
	char *path = NULL;
	struct record r;
	bool reopen;
	uint64_t lost;

	while (take_work(&r, &path, &reopen, &lost)) {
		if (reopen)
			open_log(path);
		if (lost > 0)
			put_loss(path, lost);
		if (r.what)
			put_record(path, &r);
		drop_record(&r);
	}
	hp3_audit_close(&rec.audit);
	free(path);
	return NULL;
}

/* --- start and stop --- */

static bool set_options(const struct hp3_record_options *o)
{
	char *path = is_wanted(o) ? strdup(o->audit) : NULL;

	if (is_wanted(o) && path == NULL) {
		fprintf(stderr, "hp3d: audit log %s: not opened: no memory\n", o->audit);
		return false;
	}
	free(rec.path);
	rec.path = path;
	rec.per_second = o->per_second;
	rec.stats.off = path == NULL;
	rec.reopen = true;
	return true;
}

int hp3_record_start(const struct hp3_record_options *o)
{
	int rc;

	rec.audit.fd = -1;
	rec.printed = 0;
	rec.journal = hp3_journal_is_stderr();
	rec.stats = (struct hp3_record_stats){0};
	rec.first = rec.n = 0;
	rec.untold = 0;
	rec.stop = false;
	if (!set_options(o))
		return -ENOMEM;
	rec.tokens = BURST_S * NS * rec.per_second;
	rec.token_ns = hp3_clock_ns(CLOCK_MONOTONIC);
	rc = pthread_create(&rec.thread, NULL, run_writer, NULL);
	rec.running = rc == 0;
	if (rc != 0)
		fprintf(stderr, "hp3d: no thread for the audit log and the journal: %s\n",
			strerror(rc));
	return -rc;
}

void hp3_record_reopen(const struct hp3_record_options *o)
{
	pthread_mutex_lock(&rec.lock);
	set_options(o);
	pthread_cond_signal(&rec.changed);
	pthread_mutex_unlock(&rec.lock);
}

void hp3_record_stop(void)
{
	struct timespec end;

	if (!rec.running)
		return;
	pthread_mutex_lock(&rec.lock);
	rec.stop = true;
	pthread_cond_signal(&rec.changed);
	pthread_mutex_unlock(&rec.lock);
	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += STOP_S;
	if (pthread_clockjoin_np(rec.thread, NULL, CLOCK_MONOTONIC, &end) != 0)
		return; /* the disk hangs: leave the thread, the process is about to end */
	rec.running = false;
	free(rec.path);
	rec.path = NULL;
}

struct hp3_record_stats hp3_record_stats(void)
{
	struct hp3_record_stats s;

	pthread_mutex_lock(&rec.lock);
	s = rec.stats;
	pthread_mutex_unlock(&rec.lock);
	return s;
}
