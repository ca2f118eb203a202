/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/control/flow_state_file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "app/one_line.h"

#define FORMAT    1
#define BOOT_FILE "/proc/sys/kernel/random/boot_id"
#define BOOT_LEN  36u
#define FILE_MAX  (256u << 20)

bool hp3d_flow_state_path(const struct hp3_config *cfg, char *path, size_t cap)
{
	if (strcmp(cfg->control.moved, "off") == 0)
		return false;
	if (cfg->control.moved[0] != '\0')
		snprintf(path, cap, "%s", cfg->control.moved);
	else
		snprintf(path, cap, "%s.moved", cfg->control.socket);
	return true;
}

static void boot_id(char id[BOOT_LEN + 1])
{
	if (hp3_read_line(BOOT_FILE, id, BOOT_LEN + 1) < 0)
		strcpy(id, "unknown");
}

int hp3d_flow_state_write(const char *path, json_t *flows)
{
	char boot[BOOT_LEN + 1], fresh[HP3_INI_VALUE_MAX + 16];
	json_t *all;
	int fd, rc;

	boot_id(boot);
	all = json_pack("{s:i, s:s, s:s, s:o}", "v", FORMAT, "hp3", HP3_VERSION, "boot", boot,
		"flows", flows);
	if (all == NULL)
		return -ENOMEM;
	snprintf(fresh, sizeof(fresh), "%s.new", path);
	unlink(fresh);
	fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	rc = fd < 0 ? -errno : 0;
	if (rc == 0 && json_dumpfd(all, fd, JSON_COMPACT) != 0)
		rc = errno != 0 ? -errno : -EIO;
	if (fd >= 0 && close(fd) < 0 && rc == 0)
		rc = -errno;
	if (rc == 0 && rename(fresh, path) < 0)
		rc = -errno;
	if (rc < 0)
		unlink(fresh);
	json_decref(all);
	return rc;
}

/* A user that can write this file can move traffic. */
static const char *reason_untrusted(int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return strerror(errno);
	if (!S_ISREG(st.st_mode))
		return "it is not a regular file";
	if (st.st_uid != geteuid() || (st.st_mode & (S_IWGRP | S_IWOTH)) != 0)
		return "others may have written it";
	if (st.st_size > FILE_MAX)
		return "it is too large";
	return NULL;
}

static const char *reason_unsound(json_t *all, json_t **flows)
{
	char boot[BOOT_LEN + 1];
	const char *its;
	int format;

	if (json_unpack(all, "{s:i, s:s, s:o}", "v", &format, "boot", &its, "flows", flows) != 0 ||
		!json_is_array(*flows))
		return "it is damaged";
	if (format != FORMAT)
		return "it is of another version of hp3d";
	boot_id(boot);
	return strcmp(boot, its) == 0 ? NULL : "the machine has booted since";
}

json_t *hp3d_flow_state_read(const char *path, const char **why)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	json_t *all = NULL, *flows = NULL;
	json_error_t at;

	*why = NULL;
	if (fd < 0) {
		*why = errno == ENOENT ? NULL : strerror(errno);
		return NULL;
	}
	*why = reason_untrusted(fd);
	if (*why == NULL) {
		all = json_loadfd(fd, JSON_REJECT_DUPLICATES, &at);
		*why = all != NULL ? reason_unsound(all, &flows) : "it is damaged";
	}
	close(fd);
	if (*why == NULL)
		json_incref(flows);
	json_decref(all);
	return *why == NULL ? flows : NULL;
}
