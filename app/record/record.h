/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * This module writes records that remain when hp3d has ended. It calls no other module of hp3.
 *
 * A record has a JSON object with "type", and a sentence. The object goes to the audit log
 * (audit.h) as a line. The sentence goes to the journal (audit.h) if stderr is connected to the
 * journal, otherwise to stderr. Records with priority HP3_RECORD_QUIET have no sentence.
 *
 * hp3_record() never waits: a thread of this module writes. A rate limit bounds the records that
 * are accepted, and a queue of 1,024 records bounds those that wait. Records beyond these bounds
 * are lost and counted. So are records that the disk does not accept. The thread prints a disk
 * error once on stderr. When writing works again, the thread writes a record of type "lost" with
 * the number of lost records.
 *
 * One thread calls start, stop and reopen; any thread calls hp3_record().
 */
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* A priority in addition to those of syslog(3): the record goes only to the audit log. */
#define HP3_RECORD_QUIET 8

struct hp3_record_options {
	const char *audit; /* path; "" or "off": no log */
	uint32_t per_second; /* most records a second, on average; bursts of ten times as many */
};

/*
 * Returns 0, -ENOMEM, or another negative errno if the thread could not be started. If the log
 * cannot be opened, the thread prints a message; hp3_record_reopen() tries again.
 */
int hp3_record_start(const struct hp3_record_options *o);
/* Writes all waiting records; gives up after two seconds if the disk hangs. */
void hp3_record_stop(void);
/* Opens the log again, as in `o`, because it was rotated or has another path. */
void hp3_record_reopen(const struct hp3_record_options *o);

/*
 * Takes the reference to `what`; NULL: an empty object. Adds "v": 1, "time" and "type" at the
 * beginning, unless the object has them. Does nothing before start or after stop.
 */
void hp3_record(int priority, const char *type, json_t *what, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

struct hp3_record_stats {
	uint64_t written; /* to the audit log */
	/* lost_rate: above per_second; lost_queue: no room in the queue, or no memory */
	uint64_t lost_rate, lost_queue;
	/* not written: the log is not open, or the disk did not accept the records */
	uint64_t lost_disk;
	int error; /* negative errno of the latest access to the log; 0: none */
	bool off; /* no log is configured */
};
struct hp3_record_stats hp3_record_stats(void);

/* A wall-clock time (ns since 1970) as a text in UTC (RFC 3339). */
#define HP3_WALL_TEXT 40u

/* "2026-01-31T23:59:59.123456Z" */
void hp3_wall_text(uint64_t wall_ns, char buf[HP3_WALL_TEXT]);
