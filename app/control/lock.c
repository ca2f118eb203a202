/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/control/socket.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "app/clock.h"

#define PAUSE_US 20000u

static int open_own(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	struct stat st;
	int err;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		err = -errno;
	else if (S_ISREG(st.st_mode) && st.st_uid == geteuid() && (st.st_mode & 077) == 0)
		return fd;
	else
		err = -EPERM; /* another user created it, and could hold the lock */
	close(fd);
	return err;
}

/* 1: the file is still at its path; 0: the previous holder has removed it since it was opened; or a
 * negative errno. */
static int still_there(const char *path, int fd)
{
	struct stat here, there;

	if (fstat(fd, &here) < 0 || stat(path, &there) < 0)
		return errno == ENOENT ? 0 : -errno;
	return here.st_ino == there.st_ino && here.st_dev == there.st_dev;
}

static int holder_of(int fd)
{
	char text[16] = "";

	return pread(fd, text, sizeof(text) - 1, 0) > 0 ? atoi(text) : 0;
}

int hp3d_lock_take(const char *path, unsigned wait_ms, int *holder)
{
	uint64_t end = hp3_clock_ms() + wait_ms;

	for (;;) {
		int fd = open_own(path), ret;

		if (fd < 0)
			return fd;
		ret = flock(fd, LOCK_EX | LOCK_NB) == 0 ? still_there(path, fd) : -errno;
		if (ret != -EWOULDBLOCK) {
			if (ret > 0) {
				if (ftruncate(fd, 0) == 0)
					dprintf(fd, "%d\n", (int)getpid());
				return fd;
			}
			close(fd);
			if (ret < 0 && ret != -EINTR)
				return ret;
			continue;
		}
		*holder = holder_of(fd);
		close(fd);
		if (hp3_clock_ms() >= end)
			return -EWOULDBLOCK;
		usleep(PAUSE_US);
	}
}

void hp3d_lock_free(const char *path, int lock)
{
	unlink(path);
	close(lock);
}
