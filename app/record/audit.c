/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/record/audit.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

int hp3_audit_open(struct hp3_audit *a, const char *path)
{
	struct stat st;
	int err;

	/* O_NONBLOCK: open() fails for a pipe without a reader instead of waiting. */
	a->fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0640);
	if (a->fd < 0)
		return errno == ENXIO ? -EINVAL : -errno;
	if (fstat(a->fd, &st) < 0)
		err = -errno;
	else if (S_ISREG(st.st_mode))
		return 0;
	else
		err = -EINVAL;
	hp3_audit_close(a);
	return err;
}

int hp3_audit_write(struct hp3_audit *a, const char *line, size_t len)
{
	ssize_t n = write(a->fd, line, len);
	int err = n < 0 ? errno : ENOSPC;

	if (n == (ssize_t)len)
		return 0;
	/* With O_APPEND, the offset is now the end of the partial line. */
	if (n > 0 && ftruncate(a->fd, lseek(a->fd, 0, SEEK_CUR) - n) < 0)
		err = errno;
	return -err;
}

void hp3_audit_close(struct hp3_audit *a)
{
	if (a->fd >= 0)
		close(a->fd);
	a->fd = -1;
}
