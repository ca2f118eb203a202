/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3CTL_TARBALL_H
#define HP3CTL_TARBALL_H
/* A tar.gz, written member by member from memory by libarchive: there are no temporary files. Only
 * the file's owner can read it. */
#include <stddef.h>

struct hp3ctl_tarball;

/* NULL with errno set; EEXIST: a file is never overwritten. */
struct hp3ctl_tarball *hp3ctl_tarball_create(const char *path);
/* The next three return 0 or a negative errno; -EIO: libarchive gives no reason. */
int hp3ctl_tarball_add(struct hp3ctl_tarball *a, const char *name, const char *data, size_t len);
/* Adds the output of a program (stdout and stderr), and its exit code if that is not 0. Kills the
 * program after 10 s, or after 4 MiB of output. If the program cannot be started, the member has
 * the error message. Arguments end with NULL. */
int hp3ctl_tarball_add_output(struct hp3ctl_tarball *a, const char *name, const char *const *argv);
/* Finishes the file; frees *a in any case. */
int hp3ctl_tarball_close(struct hp3ctl_tarball *a);

#endif
