/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* Requests about an interface of the kernel (netdevice(7)). Any module may include this. */
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* ioctl(2) on a socket: 0, or -1 and errno. */
static inline int hp3_interface_ioctl(unsigned long request, struct ifreq *ifr)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int ret = fd < 0 ? -1 : ioctl(fd, request, ifr);

	if (fd >= 0)
		close(fd);
	return ret;
}
