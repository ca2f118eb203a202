/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_RECORD_RECORD_H
#define HP3_RECORD_RECORD_H
/*
 * This module: records that remain when hp3d is gone. Calls nothing of hp3.
 *
 * A record is a JSON object with "type", and a sentence. The object goes to the audit log (audit.h)
 * as a line. The sentence goes to the journal (journal.h) if stderr does, otherwise to stderr;
 * HP3_RECORD_QUIET records have no sentence.
 *
 * hp3_record() never waits: a thread of this module writes. A rate bounds the records taken, a
 * queue (1,024) those waiting. Lost records (by these bounds, or by the disk) are counted and
 * reported once on stderr; when there is room again, a record of type "lost" has their number.
 *
 * One thread calls start, stop and reopen; any thread calls hp3_record().
 */
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* In addition to syslog(3)'s priorities: only for the audit log. */
#define HP3_RECORD_QUIET 8

struct hp3_record_options {
	const char *audit; /* path; "" or "off": no log */
	uint32_t per_second; /* most records, on average; ten times as many at once */
};

/* 0 or -ENOMEM. If the log cannot be opened, prints a message; reopen tries again. */
int hp3_record_start(const struct hp3_record_options *o);
/* Writes waiting records; gives up after two seconds if the disk hangs. */
void hp3_record_stop(void);
/* Opens the log again, as in `o` (it was rotated, or has another path). */
void hp3_record_reopen(const struct hp3_record_options *o);

/*
 * Takes the reference to `what`; NULL: an empty object. Adds "v": 1, "time" and "type" in front,
 * unless present. Does nothing before start or after stop.
 */
void hp3_record(int priority, const char *type, json_t *what, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

struct hp3_record_stats {
	uint64_t written; /* to the audit log */
	uint64_t lost_rate, lost_queue; /* above per_second; no room in the queue, or no memory */
	uint64_t lost_disk; /* not taken by the disk */
	int error; /* of the log, a negative errno; 0: none */
	bool off; /* no log is configured */
};
struct hp3_record_stats hp3_record_stats(void);

#endif
