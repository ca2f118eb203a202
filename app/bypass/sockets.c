/* SPDX-License-Identifier: BSD-3-Clause */
/* The AF_PACKET sockets of this process on an interface: DPDK's driver keeps them to itself. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <linux/if_packet.h>
#include <sys/socket.h>
#include "app/bypass/internal.h"

static bool is_bound_to(int fd, int ifindex)
{
	struct sockaddr_ll at = {0};
	socklen_t len = sizeof(at);

	return getsockname(fd, (struct sockaddr *)&at, &len) == 0 && at.sll_family == AF_PACKET &&
	       at.sll_protocol != 0 && at.sll_ifindex == ifindex;
}

int hp3_bypass_find_sockets(struct hp3_bypass *b)
{
	DIR *d = opendir("/proc/self/fd");
	struct dirent *e;

	if (d == NULL)
		return -errno;
	while ((e = readdir(d)) != NULL && b->n_sockets < HP3_BYPASS_SOCKETS) {
		int fd = e->d_name[0] == '.' ? -1 : atoi(e->d_name);

		if (fd >= 0 && is_bound_to(fd, b->o.ifindex))
			b->sockets[b->n_sockets++] = fd;
	}
	closedir(d);
	return b->n_sockets > 0 ? 0 : -ENOENT;
}

void hp3_bypass_settle(struct hp3_bypass *b)
{
	for (unsigned i = 0; i < b->n_sockets; i++) {
		struct tpacket_stats s; /* since it was asked last */
		socklen_t len = sizeof(s);

		if (getsockopt(b->sockets[i], SOL_PACKET, PACKET_STATISTICS, &s, &len) == 0 &&
			s.tp_drops > 0)
			__atomic_store_n(
				&b->port->lost, b->port->lost + s.tp_drops, __ATOMIC_RELEASE);
		sendto(b->sockets[i], NULL, 0, MSG_DONTWAIT, NULL, 0);
	}
}
