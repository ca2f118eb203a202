/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/ud/socket.h"
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>
#include "probes/handshake.h"

#define FIRST 640u /* as bindresvport(3): services use the ports below */
#define TRIES 32u

static int open_family(int family, uint16_t port)
{
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
	struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(port)};
	int fd = socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), no = 0, yes = 1, err;

	if (fd < 0)
		return -1;
	if (family == AF_INET6)
		err = setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no)) |
		      setsockopt(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, &yes, sizeof(yes)) |
		      bind(fd, (struct sockaddr *)&v6, sizeof(v6));
	else
		err = setsockopt(fd, IPPROTO_IP, IP_PKTINFO, &yes, sizeof(yes)) |
		      bind(fd, (struct sockaddr *)&v4, sizeof(v4));
	if (err == 0)
		return fd;
	err = errno;
	close(fd);
	errno = err;
	return -1;
}

int hp3d_ud_socket(uint16_t port)
{
	int fd = open_family(AF_INET6, port);

	return fd < 0 && (errno == EAFNOSUPPORT || errno == EADDRNOTAVAIL)
		       ? open_family(AF_INET, port)
		       : fd;
}

int hp3d_ud_socket_privileged(void)
{
	int fd = -1;

	for (unsigned i = 0; i < TRIES && fd < 0 && (i == 0 || errno == EADDRINUSE); i++) {
		uint16_t random;

		if (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random))
			return -1;
		fd = hp3d_ud_socket((uint16_t)(FIRST + random % (HP3_PRIVILEGED - FIRST)));
	}
	return fd;
}

uint16_t hp3d_ud_socket_port(int fd)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} at = {0};
	socklen_t len = sizeof(at);

	if (getsockname(fd, &at.any, &len) < 0)
		return 0;
	return ntohs(at.any.sa_family == AF_INET6 ? at.v6.sin6_port : at.v4.sin_port);
}

/* An address of 16 bytes; those of IPv4 are mapped. */
static bool read_address(uint8_t *ip, const struct in6_addr *a)
{
	bool v4 = IN6_IS_ADDR_V4MAPPED(a);

	memset(ip, 0, 16);
	memcpy(ip, a->s6_addr + (v4 ? 12 : 0), v4 ? 4 : 16);
	return !v4;
}

static struct in6_addr mapped_address(bool ipv6, const uint8_t *ip)
{
	struct in6_addr a = {.s6_addr = {[10] = 0xff, 0xff}};

	memcpy(a.s6_addr + (ipv6 ? 0 : 12), ip, ipv6 ? 16 : 4);
	return a;
}

ssize_t hp3d_ud_socket_receive(int fd, void *buf, size_t cap, struct hp3d_ud_ends *from)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} at = {0};
	union hp3d_ud_control control = {.space = {0}};
	struct iovec iov = {buf, cap};
	struct msghdr m = {.msg_name = &at,
		.msg_namelen = sizeof(at),
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control)};
	ssize_t n = recvmsg(fd, &m, MSG_DONTWAIT | MSG_TRUNC);
	struct cmsghdr *c = n >= 0 ? CMSG_FIRSTHDR(&m) : NULL;
	struct in6_pktinfo info6;
	struct in_pktinfo info4;

	memset(from, 0, sizeof(*from));
	if (n < 0)
		return -1;
	if (c != NULL && c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_PKTINFO) {
		memcpy(&info6, CMSG_DATA(c), sizeof(info6));
		from->ipv6 = read_address(from->local, &info6.ipi6_addr);
		read_address(from->remote, &at.v6.sin6_addr);
		from->rport = ntohs(at.v6.sin6_port);
	} else if (c != NULL && c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) {
		memcpy(&info4, CMSG_DATA(c), sizeof(info4));
		memcpy(from->local, &info4.ipi_addr, 4);
		memcpy(from->remote, &at.v4.sin_addr, 4);
		from->rport = ntohs(at.v4.sin_port);
	} else
		return 0;
	return (size_t)n <= cap ? n : 0;
}

void hp3d_ud_set_source(struct msghdr *m, union hp3d_ud_control *c, bool ipv6, const uint8_t *ip)
{
	struct in6_pktinfo v6 = {0};
	struct in_pktinfo v4 = {0};
	const size_t len = ipv6 ? sizeof(v6) : sizeof(v4);

	memcpy(&v6.ipi6_addr, ip, ipv6 ? sizeof(v6.ipi6_addr) : 0);
	memcpy(&v4.ipi_spec_dst, ip, sizeof(v4.ipi_spec_dst));
	c->header = (struct cmsghdr){.cmsg_len = CMSG_LEN(len),
		.cmsg_level = ipv6 ? IPPROTO_IPV6 : IPPROTO_IP,
		.cmsg_type = ipv6 ? IPV6_PKTINFO : IP_PKTINFO};
	memcpy(CMSG_DATA(&c->header), ipv6 ? (const void *)&v6 : (const void *)&v4, len);
	m->msg_control = c;
	m->msg_controllen = CMSG_SPACE(len);
}

ssize_t hp3d_ud_socket_send(int fd, const void *buf, size_t n, const struct hp3d_ud_ends *to)
{
	const struct in6_addr source = mapped_address(to->ipv6, to->local);
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6,
		.sin6_port = htons(to->rport),
		.sin6_addr = mapped_address(to->ipv6, to->remote)};
	struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(to->rport)};
	struct iovec iov = {(void *)(uintptr_t)buf, n};
	struct msghdr m = {
		.msg_name = &v6, .msg_namelen = sizeof(v6), .msg_iov = &iov, .msg_iovlen = 1};
	union hp3d_ud_control control = {.space = {0}};
	int family;
	socklen_t len = sizeof(family);

	if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &len) < 0)
		return -1;
	if (family == AF_INET) {
		memcpy(&v4.sin_addr, to->remote, 4);
		m.msg_name = &v4;
		m.msg_namelen = sizeof(v4);
	}
	hp3d_ud_set_source(
		&m, &control, family == AF_INET6, family == AF_INET6 ? source.s6_addr : to->local);
	return sendmsg(fd, &m, MSG_DONTWAIT);
}
