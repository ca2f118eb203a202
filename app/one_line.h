/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* Files of one line, such as those of sysfs and procfs. Any module may include this. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Reads the first line without its newline character, or as much of the line as fits. Returns 0; or
 * a negative errno, with "" in buf. -ENODATA: the file is empty. */
static inline int hp3_read_line(const char *path, char *buf, size_t cap)
{
	FILE *f = fopen(path, "re");
	int ret = 0;

	buf[0] = '\0';
	if (f == NULL)
		return -errno;
	if (fgets(buf, (int)cap, f) == NULL) {
		buf[0] = '\0';
		ret = -ENODATA;
	}
	fclose(f);
	buf[strcspn(buf, "\n")] = '\0';
	return ret;
}
