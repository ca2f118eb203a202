/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/watch/internal.h"
#include <errno.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BIT(cap)     (1ull << (cap))
#define FILES_MAX    8192u /* a descriptor per watched process, and per uprobe */
#define MEMORY_MAX   (512ull << 20)
#define CAPABILITIES 64

/* Landlock's rights that change files, and execution. */
#define CHANGES                                                                                    \
	(LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE |                              \
		LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |                   \
		LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR |                       \
		LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |                       \
		LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK |                     \
		LANDLOCK_ACCESS_FS_MAKE_SYM)
#define TRUNCATE     (1ull << 14) /* LANDLOCK_ACCESS_FS_TRUNCATE, in headers since Linux 6.2 */
#define TRUNCATE_ABI 3

/*
 * CAP_SYS_ADMIN: new kernels (such as 6.18) need this capability for uprobes, and all kernels for
 * the type information of modules, such as ib_core.
 */
#define TO_OPEN (BIT(CAP_BPF) | BIT(CAP_PERFMON) | BIT(CAP_SYS_ADMIN))
/* To inspect processes that start later, and their copies of the library. */
#define TO_DISCOVER (TO_OPEN | BIT(CAP_SYS_PTRACE) | BIT(CAP_DAC_READ_SEARCH))

static int keep_only(uint64_t keep)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &header, data) != 0)
		return -errno;
	/* Lowers the bounding set, too, if permitted; no_new_privs alone suffices. */
	for (unsigned cap = 0; cap < CAPABILITIES; cap++) {
		if ((keep & BIT(cap)) == 0)
			prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
	}
	for (unsigned i = 0; i < 2; i++) {
		data[i].permitted &= (uint32_t)(keep >> 32 * i);
		data[i].effective = data[i].permitted;
		data[i].inheritable = 0;
	}
	if (syscall(SYS_capset, &header, data) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -errno;
	return 0;
}

int hp3_confine(const struct hp3_watch_options *o)
{
	return keep_only(o->discover ? TO_DISCOVER : TO_OPEN);
}

static void close_file_systems(void)
{
	struct landlock_ruleset_attr rules = {.handled_access_fs = CHANGES};
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	int fd;

	if (abi >= TRUNCATE_ABI)
		rules.handled_access_fs |= TRUNCATE;
	fd = abi < 0 ? -1 : (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof(rules), 0);
	if (fd < 0)
		return;
	syscall(SYS_landlock_restrict_self, fd, 0); /* no rule: forbidden everywhere */
	close(fd);
}

int hp3_confine_more(const struct hp3_watch_options *o)
{
	if (o->discover)
		return 0;
	close_file_systems();
	return keep_only(0);
}

static void limit_resource(int what, rlim_t to)
{
	struct rlimit r;

	if (getrlimit(what, &r) != 0)
		return;
	r.rlim_cur = r.rlim_max = r.rlim_max < to ? r.rlim_max : to;
	setrlimit(what, &r);
}

void hp3_confine_limits(void)
{
	limit_resource(RLIMIT_NOFILE, FILES_MAX);
	limit_resource(RLIMIT_CORE, 0);
	limit_resource(RLIMIT_FSIZE, 0);
#ifndef HP3_SANITIZED /* shadow memory of sanitizers takes terabytes of addresses */
	limit_resource(RLIMIT_AS, MEMORY_MAX);
#endif
}
