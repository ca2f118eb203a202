/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* UDP sockets that report the local address of a datagram, and send from a chosen local address. */
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/socket.h>

struct hp3d_ud_ends {
	bool ipv6;
	uint8_t local[16], remote[16]; /* IPv4: the first four bytes */
	uint16_t rport;
};

/*
 * Opens a socket for IPv6 and IPv4; if the kernel has no IPv6, only for IPv4. Port 0: any port. -1:
 * see errno.
 */
int hp3d_ud_socket(uint16_t port);
/* As hp3d_ud_socket(), on a random port below 1024. -1, EACCES: CAP_NET_BIND_SERVICE is missing. */
int hp3d_ud_socket_privileged(void);
uint16_t hp3d_ud_socket_port(int fd);
/* The next two functions return -1 (see errno), or a number of bytes. hp3d_ud_socket_receive()
 * returns 0 for a datagram that is longer than `cap`, or has no local address. */
ssize_t hp3d_ud_socket_receive(int fd, void *buf, size_t cap, struct hp3d_ud_ends *from);
ssize_t hp3d_ud_socket_send(int fd, const void *buf, size_t n, const struct hp3d_ud_ends *to);

/* Room for the local address of a datagram. */
union hp3d_ud_control {
	struct cmsghdr header;
	char space[CMSG_SPACE(sizeof(struct in6_pktinfo))];
};

/* Makes the message leave from this address (IPv4: four bytes). *c must outlive the use of *m. */
void hp3d_ud_set_source(struct msghdr *m, union hp3d_ud_control *c, bool ipv6, const uint8_t *ip);

/* Returns 0, or -1 and errno. `what`: data of the events. */
static inline int hp3d_epoll_add(int epoll, int fd, uint32_t events, uint32_t what)
{
	struct epoll_event event = {.events = events, .data.u32 = what};

	return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}
