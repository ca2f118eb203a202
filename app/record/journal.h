/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_RECORD_JOURNAL_H
#define HP3_RECORD_JOURNAL_H
/* The systemd journal: a message with a field for each member of a JSON object. */
#include <jansson.h>
#include <stdbool.h>

/* Is stderr connected to the journal ($JOURNAL_STREAM, systemd.exec(5))? */
bool hp3_journal_is_stderr(void);

/*
 * Sends MESSAGE, PRIORITY (syslog(3)), and HP3_NAME for each of the first 30 members of `what`:
 * strings unchanged, other values as JSON. 0 or a negative errno. May block as long as the journal
 * does.
 */
int hp3_journal_send(int priority, const char *message, const json_t *what);

#endif
