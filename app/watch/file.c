/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/watch/file.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#ifndef FUSE_SUPER_MAGIC
#define FUSE_SUPER_MAGIC 0x65735546
#endif

static const char *what_is_wrong(int fd, const struct stat *st)
{
	struct statfs fs;

	if (!S_ISREG(st->st_mode))
		return "it is no regular file";
	if (st->st_uid != 0)
		return "it does not belong to root";
	if ((st->st_mode & (S_IWGRP | S_IWOTH)) != 0)
		return "others than root may write it";
	if (st->st_size > HP3_FILE_BYTES_MAX)
		return "it is larger than 64 MiB";
	/* On a FUSE file system, a user's program may choose owner, mode and content of a file. */
	if (fstatfs(fd, &fs) < 0 || fs.f_type == FUSE_SUPER_MAGIC)
		return "it is on a file system of a user (FUSE)";
	return NULL;
}

/* Opens the file of `found`, an O_PATH descriptor, and closes `found`. */
static int open_found(int found, struct hp3_file *f, const char **why)
{
	char path[sizeof(f->path)];
	const char *wrong;
	struct stat st;
	int err;

	f->fd = -1;
	if (found < 0)
		return -errno;
	if (fstat(found, &st) < 0) {
		err = -errno;
	} else if ((wrong = what_is_wrong(found, &st)) != NULL) {
		*why = wrong;
		err = -ELIBACC;
	} else {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", found);
		f->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		err = f->fd < 0 ? -errno : 0;
		snprintf(f->path, sizeof(f->path), "/proc/self/fd/%d", f->fd);
	}
	close(found);
	return err;
}

int hp3_file_open(const char *path, struct hp3_file *f, const char **why)
{
	char *real = realpath(path, NULL);
	int err = -errno;

	if (real == NULL)
		return err;
	err = open_found(open(real, O_PATH | O_NOFOLLOW | O_CLOEXEC), f, why);
	free(real);
	return err;
}

bool hp3_file_maps_line(char *line, struct hp3_mapped *m, char **path)
{
	unsigned long long inode;
	int at = 0;

	/* address permissions offset major:minor inode path */
	if (sscanf(line, "%*x-%*x %*s %*x %x:%x %llu %n", &m->major, &m->minor, &inode, &at) < 3 ||
		at == 0 || line[at] != '/')
		return false;
	m->inode = inode;
	*path = line + at;
	(*path)[strcspn(*path, "\n")] = '\0';
	return true;
}

static bool is_same_file(const struct hp3_mapped *a, const struct hp3_mapped *b)
{
	return a->major == b->major && a->minor == b->minor && a->inode == b->inode;
}

/*
 * Some file systems (overlayfs, btrfs) have other numbers in /proc/PID/maps than stat() returns. So
 * this function maps the file itself, and compares the two lines of maps.
 */
static bool is_mapped_as(int fd, const struct hp3_mapped *wanted)
{
	void *p = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fd, 0);
	char line[PATH_MAX + 128], *path;
	unsigned long begin;
	struct hp3_mapped m;
	bool found = false;
	FILE *maps;

	if (p == MAP_FAILED)
		return false;
	maps = fopen("/proc/self/maps", "re");
	while (maps != NULL && !found && fgets(line, sizeof(line), maps) != NULL)
		found = sscanf(line, "%lx-", &begin) == 1 && begin == (unsigned long)p &&
			hp3_file_maps_line(line, &m, &path) && is_same_file(&m, wanted);
	if (maps != NULL)
		fclose(maps);
	munmap(p, 1);
	return found;
}

int hp3_file_open_mapped(const char *root, const char *path, const struct hp3_mapped *m,
	struct hp3_file *f, const char **why)
{
	struct open_how how = {.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS};
	int dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC), err;

	f->fd = -1;
	if (dir < 0)
		return -errno;
	err = open_found((int)syscall(SYS_openat2, dir, path, &how, sizeof(how)), f, why);
	close(dir);
	if (err < 0 || is_mapped_as(f->fd, m))
		return err;
	hp3_file_close(f);
	*why = "it is not the file that the process uses";
	return -ELIBACC;
}

void hp3_file_close(struct hp3_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
}
