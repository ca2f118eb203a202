/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/lcores/ports.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DIRECTORY "/run/hp3"
#define LOCK      DIRECTORY "/ports.lock"
#define INDEX_BITS                                                                                 \
	24 /* of a byte's place in the lock: interface index, network namespace above              \
	    */
#define GROUPS_MAX 16 /* groups tried; if none is free, the driver prints the error */

#define IGNORE_OUTGOING 0x4000 /* PACKET_FANOUT_FLAG_IGNORE_OUTGOING */

pid_t hp3d_claim_interface(const char *name)
{
	static int fd = -1; /* never closed, because closing it would release all locks */
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
	struct stat ns;

	if (fd < 0) {
		mkdir(DIRECTORY, 0755);
		fd = open(LOCK, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	}
	if (fd < 0 || stat("/proc/self/ns/net", &ns) < 0)
		return 0;
	lock.l_start = (off_t)((uint64_t)ns.st_ino << INDEX_BITS | if_nametoindex(name));
	if (fcntl(fd, F_SETLK, &lock) == 0 || (errno != EAGAIN && errno != EACCES))
		return 0;
	return fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK ? lock.l_pid : 0;
}

static __thread pid_t disguise; /* 0: none */

/* Overrides the C library's function, so that the driver calls this one. */
pid_t getpid(void)
{
	return disguise != 0 ? disguise : (pid_t)syscall(SYS_getpid);
}

/*
 * Overrides setsockopt(): the group receives no outgoing frames. Without the flag, the kernel
 * copies each of them for the driver, which drops it. If the kernel does not support the flag (such
 * as 6.1), the driver's own value is used.
 */
int setsockopt(int fd, int level, int name, const void *value, socklen_t len)
{
	int arg;

	if (disguise != 0 && level == SOL_PACKET && name == PACKET_FANOUT && len == sizeof(arg)) {
		memcpy(&arg, value, sizeof(arg));
		arg |= IGNORE_OUTGOING << 16;
		if (syscall(SYS_setsockopt, fd, level, name, &arg, sizeof(arg)) == 0)
			return 0;
	}
	return (int)syscall(SYS_setsockopt, fd, level, name, value, len);
}

/* True: the group is empty, because a socket of another fanout type than the driver's can create
 * it. */
static bool is_free(unsigned index, uint16_t group)
{
	struct sockaddr_ll where = {.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL),
		.sll_ifindex = (int)index};
	int arg = group | PACKET_FANOUT_ROLLOVER << 16;
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	bool taken = fd >= 0 && bind(fd, (struct sockaddr *)&where, sizeof(where)) == 0 &&
		     setsockopt(fd, SOL_PACKET, PACKET_FANOUT, &arg, sizeof(arg)) < 0;

	if (fd >= 0)
		close(fd);
	return !taken;
}

void hp3d_fanout_begin(const char *interface)
{
	unsigned index = if_nametoindex(interface);
	pid_t pid = getpid();

	for (int i = 0; index != 0 && i < GROUPS_MAX; i++) {
		if (is_free(index, (uint16_t)((unsigned)(pid + i) ^ index))) {
			disguise = pid + i;
			return;
		}
	}
}

void hp3d_fanout_end(void)
{
	disguise = 0;
}
