/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/ud/traces.h"
#include <errno.h>
#include <netinet/icmp6.h>
#include <netinet/ip_icmp.h>
#include <string.h>
#include <unistd.h>
#include "app/hp3d/ud/socket.h"
#include "probes/trace.h"

#define ETHER     14u
#define IPV6_LEN  40u
#define ETHERTYPE 12u /* offset */
#define HOPS      255u
#define FILTER    1 /* ICMP_FILTER of linux/icmp.h, which conflicts with netinet/in.h */

enum { V4, V6 };

static int open_raw_socket(int family, int protocol)
{
	return socket(family, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol);
}

static void only_expired(const struct hp3d_ud_traces *t)
{
	uint32_t v4 = ~(1u << ICMP_TIME_EXCEEDED); /* types filtered out */
	struct icmp6_filter v6;
	int yes = 1;

	ICMP6_FILTER_SETBLOCKALL(&v6);
	ICMP6_FILTER_SETPASS(ICMP6_TIME_EXCEEDED, &v6);
	setsockopt(t->in[V4], SOL_RAW, FILTER, &v4, sizeof(v4));
	setsockopt(t->in[V6], IPPROTO_ICMPV6, ICMP6_FILTER, &v6, sizeof(v6));
	setsockopt(t->in[V6], IPPROTO_IPV6, IPV6_RECVPKTINFO, &yes, sizeof(yes));
}

int hp3d_ud_traces_open(struct hp3d_ud_traces *t)
{
	int err;

	t->out[V4] = open_raw_socket(AF_INET, IPPROTO_RAW);
	t->in[V4] = open_raw_socket(AF_INET, IPPROTO_ICMP);
	err = errno;
	t->out[V6] = open_raw_socket(AF_INET6, IPPROTO_RAW); /* a kernel may have no IPv6 */
	t->in[V6] = open_raw_socket(AF_INET6, IPPROTO_ICMPV6);
	only_expired(t);
	if (t->out[V4] >= 0 && t->in[V4] >= 0)
		return 0;
	hp3d_ud_traces_close(t);
	errno = err;
	return -1;
}

void hp3d_ud_traces_close(struct hp3d_ud_traces *t)
{
	for (unsigned i = 0; i < HP3D_UD_TRACE_FAMILIES; i++) {
		if (t->out[i] >= 0)
			close(t->out[i]);
		if (t->in[i] >= 0)
			close(t->in[i]);
		t->out[i] = t->in[i] = -1;
	}
}

bool hp3d_ud_is_trace(const void *frame, uint32_t len)
{
	struct hp3_view v;
	uint8_t ttl;

	hp3_parse(frame, len, &v);
	if (v.class != HP3_CLASS_UC)
		return false;
	ttl = ((const uint8_t *)frame)[v.l3_off + (v.flags & HP3_VF_IPV6 ? 7u : 8u)];
	return ttl <= HP3_TRACE_TTL;
}

int hp3d_ud_traces_send(const struct hp3d_ud_traces *t, const void *frame, uint32_t len)
{
	const uint8_t *ip = (const uint8_t *)frame + ETHER;
	bool ipv6 = ip[0] >> 4 == 6;
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
	struct sockaddr_in v4 = {.sin_family = AF_INET};
	struct iovec packet = {(void *)(uintptr_t)ip, len - ETHER};
	struct msghdr m = {.msg_iov = &packet, .msg_iovlen = 1};
	union hp3d_ud_control c = {.space = {0}};

	if (t->out[ipv6] < 0)
		return -EAFNOSUPPORT;
	if (ipv6)
		memcpy(&v6.sin6_addr, ip + 24, 16);
	else
		memcpy(&v4.sin_addr, ip + 16, 4);
	m.msg_name = ipv6 ? (void *)&v6 : (void *)&v4;
	m.msg_namelen = ipv6 ? sizeof(v6) : sizeof(v4);
	/* On a host with several addresses, the route is that of the RNIC's. */
	hp3d_ud_set_source(&m, &c, ipv6, ip + (ipv6 ? 8 : 12));
	return sendmsg(t->out[ipv6], &m, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/* IPv6 raw sockets deliver no IP header, so this builds one; the kernel has checked the
 * checksum. */
static bool head_v6(uint8_t *ip, struct msghdr *m, const struct sockaddr_in6 *hop, size_t n)
{
	struct cmsghdr *h = CMSG_FIRSTHDR(m);

	if (h == NULL || h->cmsg_type != IPV6_PKTINFO)
		return false;
	memset(ip, 0, IPV6_LEN);
	ip[0] = 0x60;
	ip[4] = (uint8_t)(n >> 8);
	ip[5] = (uint8_t)n;
	ip[6] = IPPROTO_ICMPV6;
	ip[7] = HOPS;
	memcpy(ip + 8, &hop->sin6_addr, 16);
	memcpy(ip + 24, CMSG_DATA(h) + offsetof(struct in6_pktinfo, ipi6_addr), 16);
	return true;
}

int hp3d_ud_traces_take(const struct hp3d_ud_traces *t, unsigned family, uint8_t *frame, size_t cap)
{
	size_t head = ETHER + (family == V6 ? IPV6_LEN : 0);
	struct sockaddr_in6 hop = {0};
	struct iovec rest = {frame + head, cap - head};
	union hp3d_ud_control c;
	struct msghdr m = {.msg_name = &hop,
		.msg_namelen = sizeof(hop),
		.msg_iov = &rest,
		.msg_iovlen = 1,
		.msg_control = &c,
		.msg_controllen = sizeof(c)};
	ssize_t n = recvmsg(t->in[family], &m, MSG_DONTWAIT);

	if (n < 0)
		return -errno;
	memset(frame, 0, ETHER);
	frame[ETHERTYPE] = family == V6 ? 0x86 : 0x08;
	frame[ETHERTYPE + 1] = family == V6 ? 0xdd : 0x00;
	if (family == V6 && !head_v6(frame + ETHER, &m, &hop, (size_t)n))
		return -EBADMSG;
	return (int)(head + (size_t)n);
}
