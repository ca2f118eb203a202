/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_RECORD_AUDIT_H
#define HP3_RECORD_AUDIT_H
/*
 * A file to which whole lines are appended. A line that was written only in part is removed again,
 * so a full disk leaves no partial line. When hp3_audit_write() returns 0, the kernel has the line:
 * the line survives the end of the process, but not a power failure within the next seconds. The
 * functions may block as long as the disk does. Call them from one thread.
 */
#include <stddef.h>

struct hp3_audit {
	int fd; /* -1: closed */
};

/* Creates the file (mode 0640) if it is missing, but not its directory. 0 or a negative errno;
 * -EINVAL: not a regular file. */
int hp3_audit_open(struct hp3_audit *a, const char *path);
/* Writes one line with its '\n'. 0 or a negative errno. */
int hp3_audit_write(struct hp3_audit *a, const char *line, size_t len);
void hp3_audit_close(struct hp3_audit *a);

#endif
