/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_WATCH_FILE_H
#define HP3_WATCH_FILE_H
/*
 * A file whose code is to be patched in memory, in every process that runs it. A path names another
 * file a moment later, so it is resolved once: all that follows goes by the descriptor, and what
 * the descriptor shows is demanded of it. Nothing else is opened on the way: not a FIFO, which
 * blocks, nor a device, on which an open has effects.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HP3_FILE_BYTES_MAX (64u << 20)

struct hp3_file {
	int fd;
	char path[32]; /* of the descriptor: names this file and no other, in this process */
};

/* A file as the kernel names it to a process that has mapped it (/proc/PID/maps). */
struct hp3_mapped {
	unsigned major, minor;
	uint64_t inode;
};

/*
 * A file named by the operator; symbolic links are followed first. 0 if it is a regular file that
 * belongs to root and that nobody else may write, of HP3_FILE_BYTES_MAX at most. Else negative
 * errno; -ELIBACC: it is no such file, *why says in what.
 */
int hp3_file_open(const char *path, struct hp3_file *f, const char **why);

/* The same of a path below `root`, the root directory of a process, which must be the file that
 * this process has mapped. No symbolic link is followed: the kernel names none there. */
int hp3_file_open_mapped(const char *root, const char *path, const struct hp3_mapped *m,
	struct hp3_file *f, const char **why);

void hp3_file_close(struct hp3_file *f);

/* One line of /proc/PID/maps. False: no file is mapped there. *path points into the line. */
bool hp3_file_maps_line(char *line, struct hp3_mapped *m, char **path);

#endif
