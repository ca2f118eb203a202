/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Descriptors from an application. Even close() may block forever: on a FUSE file system, it waits
 * for the reply of the application's own process.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "app/hp3d/verbs/internal.h"
#include "app/signals.h"

#define CHOKED 8

static int closing; /* threads; atomic */

bool hp3d_verbs_is_eventfd(int fd)
{
	static const char name[] = "anon_inode:[eventfd]";
	char path[32], link[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = readlink(path, link, sizeof(link));
	return n == (ssize_t)strlen(name) && memcmp(link, name, (size_t)n) == 0;
}

static void *close_it(void *fd)
{
	close((int)(intptr_t)fd);
	__atomic_fetch_sub(&closing, 1, __ATOMIC_RELAXED);
	return NULL;
}

bool hp3d_verbs_closing_too_many(void)
{
	return __atomic_load_n(&closing, __ATOMIC_RELAXED) >= CHOKED;
}

void hp3d_verbs_close_fd(int fd)
{
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t set;

	if (fd < 0)
		return;
	if (fcntl(fd, F_GET_SEALS) >= 0 || hp3d_verbs_is_eventfd(fd)) {
		close(fd); /* cannot block */
		return;
	}
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	hp3_main_signals(&set);
	pthread_attr_setsigmask_np(&attr, &set);
	__atomic_fetch_add(&closing, 1, __ATOMIC_RELAXED);
	if (pthread_create(&thread, &attr, close_it, (void *)(intptr_t)fd) != 0)
		__atomic_fetch_sub(&closing, 1, __ATOMIC_RELAXED); /* fd stays open */
	pthread_attr_destroy(&attr);
}
