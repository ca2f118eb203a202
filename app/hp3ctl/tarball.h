/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3CTL_TARBALL_H
#define HP3CTL_TARBALL_H
/* A tar.gz that is written member by member from memory, by libarchive: nothing lies about in
 * between, and nobody but its owner can read it. */
#include <stddef.h>

struct hp3ctl_tarball;

/* NULL with errno set; EEXIST: a file is never overwritten. */
struct hp3ctl_tarball *hp3ctl_tarball_create(const char *path);
/* All three: 0 or a negative errno; -EIO: libarchive does not say what. */
int hp3ctl_tarball_add(struct hp3ctl_tarball *a, const char *name, const char *data, size_t len);
/* What a program says, on both outputs, and how it ended; it is killed after a while. One that is
 * not there is a member that says so. Arguments end with NULL. */
int hp3ctl_tarball_add_output(struct hp3ctl_tarball *a, const char *name, const char *const *argv);
/* Finishes it; frees it in any case. */
int hp3ctl_tarball_close(struct hp3ctl_tarball *a);

#endif
