/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* UDP sockets that report the local address of a datagram, and send from a chosen one. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct hp3d_ud_ends {
	bool ipv6;
	uint8_t local[16], remote[16]; /* IPv4: the first four bytes */
	uint16_t rport;
};

/*
 * Opens a socket for IPv6 and IPv4; if the kernel has no IPv6, for IPv4. Port 0: any. -1: see
 * errno.
 */
int hp3d_ud_socket(uint16_t port);
/* The same on a random port below 1024; -1, EACCES: CAP_NET_BIND_SERVICE is missing. */
int hp3d_ud_socket_privileged(void);
uint16_t hp3d_ud_socket_port(int fd);
/* Both return -1 (see errno), or a number of bytes. Receive returns 0 for a datagram that is longer
 * than `cap`, or has no local address. */
ssize_t hp3d_ud_socket_receive(int fd, void *buf, size_t cap, struct hp3d_ud_ends *from);
ssize_t hp3d_ud_socket_send(int fd, const void *buf, size_t n, const struct hp3d_ud_ends *to);
