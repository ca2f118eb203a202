/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_RECORD_AUDIT_H
#define HP3_RECORD_AUDIT_H
/*
 * A file to which whole lines are appended: what is not written as a whole is taken back, so a full
 * disk leaves no half line. Each line is with the kernel when the call returns: it survives the
 * process, not a power failure of the next seconds. May block as long as the disk does; one thread.
 */
#include <stddef.h>

struct hp3_audit {
	int fd; /* -1: closed */
};

/* Makes the file (mode 0640) if need be, not its directory. 0 or a negative errno; -EINVAL: this is
 * no regular file. */
int hp3_audit_open(struct hp3_audit *a, const char *path);
/* One line with its '\n'. 0 or a negative errno. */
int hp3_audit_write(struct hp3_audit *a, const char *line, size_t len);
void hp3_audit_close(struct hp3_audit *a);

#endif
