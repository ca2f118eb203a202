/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_RECORD_RECORD_H
#define HP3_RECORD_RECORD_H
/*
 * This module: what somebody may want to read when hp3d is gone. Calls nothing of hp3.
 *
 * A record is a JSON object with "type", and a sentence. It goes to the audit log (audit.h) as a
 * line, and, unless it is for the log alone, as a sentence to the journal (journal.h) if that is
 * where stderr goes, else to stderr.
 *
 * Who records waits for nobody: a thread of its own writes. A rate bounds how many records are
 * taken, a queue (1,024) how many wait. What is too many, and what the disk does not take, is
 * counted, said once on stderr, and told by a record of type "lost" when there is room again.
 *
 * start, stop and reopen belong to one thread; hp3_record() to any.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* Beside syslog(3)'s priorities: the audit log alone. */
#define HP3_RECORD_QUIET 8

struct hp3_record_options {
	const char *audit; /* path; "" or "off": no log */
	uint32_t per_second; /* most records, on average; ten times as many at once */
};

/* 0 or -ENOMEM. A log that cannot be opened is said on stderr, and tried again by reopen. */
int hp3_record_start(const struct hp3_record_options *o);
/* Writes what waits; a disk that hangs is given up after two seconds. */
void hp3_record_stop(void);
/* The log is opened anew, by `o` (rotated, or another path). */
void hp3_record_reopen(const struct hp3_record_options *o);

/*
 * `what` belongs to the record from now on; NULL: an empty one. "v": 1, "time" and "type" are put
 * in front of it, unless they are there. Nothing happens before start or after stop.
 */
void hp3_record(int priority, const char *type, json_t *what, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

struct hp3_record_stats {
	uint64_t written; /* to the audit log */
	uint64_t lost_rate, lost_queue; /* above per_second; no room in the queue, or no memory */
	uint64_t lost_disk; /* not taken by the disk */
	int error; /* of the log, as a negative errno, 0: none */
	bool off; /* no log is wanted */
};
struct hp3_record_stats hp3_record_stats(void);

#endif
