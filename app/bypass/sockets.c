/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the sockets of this process on an interface, which DPDK's drivers do not expose. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <bpf/bpf.h>
#include <linux/if_packet.h>
#include <linux/if_xdp.h>
#include <sys/socket.h>
#include "app/bypass/internal.h"

static bool is_packet_socket(int fd, int ifindex)
{
	struct sockaddr_ll at = {0};
	socklen_t len = sizeof(at);

	return getsockname(fd, (struct sockaddr *)&at, &len) == 0 && at.sll_family == AF_PACKET &&
	       at.sll_protocol != 0 && at.sll_ifindex == ifindex;
}

/*
 * Is this the socket in the interface's map? Updating the map with BPF_NOEXIST fails for any other
 * socket.
 */
static bool is_xdp_socket(int fd, int map)
{
	uint32_t queue = 0;
	int domain;
	socklen_t len = sizeof(domain);

	return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) == 0 && domain == AF_XDP &&
	       bpf_map_update_elem(map, &queue, &fd, BPF_NOEXIST) == 0;
}

static bool is_ours(const struct hp3_bypass *b, int fd)
{
	return b->o.by_xdp ? is_xdp_socket(fd, bpf_map__fd(b->bpf->maps.xsks_map))
			   : is_packet_socket(fd, b->o.ifindex);
}

int hp3_bypass_find_sockets(struct hp3_bypass *b)
{
	DIR *d = opendir("/proc/self/fd");
	struct dirent *e;

	if (d == NULL)
		return -errno;
	while ((e = readdir(d)) != NULL && b->n_sockets < HP3_BYPASS_SOCKETS) {
		int fd = e->d_name[0] == '.' ? -1 : atoi(e->d_name);

		if (fd >= 0 && is_ours(b, fd))
			b->sockets[b->n_sockets++] = fd;
	}
	closedir(d);
	return b->n_sockets > 0 ? 0 : -ENOENT;
}

static int set_sockets(const struct hp3_bypass *b, uint32_t mark, int past_qdisc)
{
	int err = 0;

	for (unsigned i = 0; i < b->n_sockets; i++) {
		if (setsockopt(b->sockets[i], SOL_SOCKET, SO_MARK, &mark, sizeof(mark)) != 0 ||
			setsockopt(b->sockets[i], SOL_PACKET, PACKET_QDISC_BYPASS, &past_qdisc,
				sizeof(past_qdisc)) != 0)
			err = -errno;
	}
	return err;
}

int hp3_bypass_pass_gate(struct hp3_bypass *b)
{
	socklen_t len = sizeof(b->past_qdisc);

	if (getsockopt(b->sockets[0], SOL_PACKET, PACKET_QDISC_BYPASS, &b->past_qdisc, &len) != 0)
		return -errno;
	return set_sockets(b, HP3_BYPASS_MARK_OF(b->o.owner), 0);
}

void hp3_bypass_pass_by_gate(const struct hp3_bypass *b)
{
	set_sockets(b, 0, b->past_qdisc);
}

/* Frames lost because the ring was full, since the last call. */
static uint64_t packet_lost(int fd)
{
	struct tpacket_stats s;
	socklen_t len = sizeof(s);

	return getsockopt(fd, SOL_PACKET, PACKET_STATISTICS, &s, &len) == 0 ? s.tp_drops : 0;
}

static uint64_t xdp_lost(struct hp3_bypass *b, int fd)
{
	uint64_t before = b->xdp_lost;
	struct xdp_statistics s;
	socklen_t len = sizeof(s);

	if (getsockopt(fd, SOL_XDP, XDP_STATISTICS, &s, &len) != 0)
		return 0;
	b->xdp_lost = s.rx_dropped + s.rx_ring_full;
	return b->xdp_lost - before;
}

bool hp3_bypass_flush(const struct hp3_bypass *b)
{
	bool all = true;

	for (unsigned i = 0; i < b->n_sockets; i++)
		all &= sendto(b->sockets[i], NULL, 0, MSG_DONTWAIT, NULL, 0) >= 0;
	return all;
}

void hp3_bypass_settle(struct hp3_bypass *b)
{
	for (unsigned i = 0; i < b->n_sockets; i++) {
		int fd = b->sockets[i];
		uint64_t lost = b->o.by_xdp ? xdp_lost(b, fd) : packet_lost(fd);

		if (lost > 0)
			__atomic_store_n(&b->port->lost, b->port->lost + lost, __ATOMIC_RELEASE);
	}
	(void)hp3_bypass_flush(b);
}
