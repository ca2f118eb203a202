/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * A file to which whole lines are appended. A line that was written only in part is removed again,
 * so a full disk leaves no partial line. When hp3_audit_write() returns 0, the kernel has the line.
 * The line then survives the end of the process, but not a power failure within the next seconds.
 * The functions may block as long as the disk does. Call them from one thread.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct hp3_audit {
	int fd; /* -1: closed */
};

/* Creates the file (mode 0640) if it is missing, but not its directory. Returns 0 or a negative
 * errno; -EINVAL: not a regular file. */
int hp3_audit_open(struct hp3_audit *a, const char *path);
/* Writes one line with its '\n'. Returns 0 or a negative errno. */
int hp3_audit_write(struct hp3_audit *a, const char *line, size_t len);
void hp3_audit_close(struct hp3_audit *a);

/* The systemd journal: a message with a field for each member of a JSON object. */

/* Is stderr connected to the journal ($JOURNAL_STREAM, systemd.exec(5))? */
bool hp3_journal_is_stderr(void);

/*
 * Sends MESSAGE, PRIORITY (syslog(3)), and HP3_NAME for each of the first 30 members of `what`:
 * strings unchanged, other values as JSON. Returns 0 or a negative errno. May block as long as the
 * journal does.
 */
int hp3_journal_send(int priority, const char *message, const json_t *what);
