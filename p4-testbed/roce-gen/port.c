/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include "config/message.h"
#include "port.h"

#define SOCKET_BUFFER (16 << 20)
#define VLAN_TAG      4u
#define ETHER_TYPES   12u /* offset of the EtherType */

static int set_filter(int fd, const struct sock_filter *code, size_t n)
{
	struct sock_fprog program = {(unsigned short)n, (struct sock_filter *)(uintptr_t)code};

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program));
}

/*
 * Pause frames, and RoCEv2 over IPv4 (any header length, no fragments) or IPv6 for queue pairs from
 * `first` on: several processes may share an interface, and none shall wake up for another's
 * packets.
 */
static int filter_wanted(int fd, uint32_t first)
{
	const struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 12),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x8808, 20, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ETH_P_IPV6, 10, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ETH_P_IP, 0, 17),
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 23),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_UDP, 0, 15),
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 20),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x1fff, 13, 0),
		BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, 14),
		BPF_STMT(BPF_LD | BPF_H | BPF_IND, 16),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, HP3_ROCE_UDP_PORT, 0, 10),
		BPF_STMT(BPF_LD | BPF_W | BPF_IND, 26),
		BPF_STMT(BPF_JMP | BPF_JA, 5),
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 20), /* IPv6 */
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_UDP, 0, 6),
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 56),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, HP3_ROCE_UDP_PORT, 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 66),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, HP3_QPN_MASK), /* BTH */
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, first, 0, 1),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, first + GEN_QPS_MAX, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, 0),
		BPF_STMT(BPF_RET | BPF_K, 0x40000),
	};

	return set_filter(fd, code, sizeof(code) / sizeof(code[0]));
}

static const struct sock_filter nothing[] = {BPF_STMT(BPF_RET | BPF_K, 0)};

static int report_port_failure(const char *interface, int err)
{
	const char *fix = "is it up?";

	if (err == EPERM || err == EACCES)
		fix = "packet sockets need root or CAP_NET_RAW and CAP_NET_ADMIN";
	else if (err == ENODEV)
		fix = "no such interface in this network namespace; ip link lists them";
	hp3_message("roce-gen: --interface %s: %s: %s", interface, strerror(err), fix);
	return -err;
}

/* So that the kernel does not answer what it has no socket for. */
static int open_sink(const char *interface)
{
	struct sockaddr_in6 any = {.sin6_family = AF_INET6, .sin6_port = htons(HP3_ROCE_UDP_PORT)};
	struct sockaddr_in any4 = {.sin_family = AF_INET, .sin_port = htons(HP3_ROCE_UDP_PORT)};
	int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0), ret, zero = 0;

	if (fd >= 0) {
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof(zero));
		set_filter(fd, nothing, 1);
		ret = bind(fd, (struct sockaddr *)&any, sizeof(any));
		if (ret == 0 || errno == EADDRINUSE)
			return fd;
		close(fd);
	}
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd >= 0) {
		set_filter(fd, nothing, 1);
		if (bind(fd, (struct sockaddr *)&any4, sizeof(any4)) != 0 && errno != EADDRINUSE)
			hp3_message("roce-gen: %s: UDP port 4791: %s: peers will see ICMP errors",
				interface, strerror(errno));
	}
	return fd;
}

static int open_packet_socket(struct gen_port *p, const char *interface, uint32_t first_qpn)
{
	struct sockaddr_ll at = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL)};
	struct ifreq ifr = {0};
	int one = 1, room = SOCKET_BUFFER;

	p->index = (int)if_nametoindex(interface);
	if (p->index == 0)
		return -ENODEV;
	at.sll_ifindex = p->index;
	p->fd = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (p->fd < 0)
		return -errno;
	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", interface);
	if (ioctl(p->fd, SIOCGIFHWADDR, &ifr) != 0)
		return -errno;
	memcpy(p->mac, ifr.ifr_hwaddr.sa_data, sizeof(p->mac));
	if (ioctl(p->fd, SIOCGIFMTU, &ifr) != 0)
		return -errno;
	p->mtu = (uint32_t)ifr.ifr_mtu;
	if (filter_wanted(p->fd, first_qpn) != 0 ||
		setsockopt(p->fd, SOL_PACKET, PACKET_AUXDATA, &one, sizeof(one)) != 0 ||
		setsockopt(p->fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof(one)) != 0 ||
		setsockopt(p->fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)) != 0 ||
		setsockopt(p->fd, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room)) != 0 ||
		bind(p->fd, (struct sockaddr *)&at, sizeof(at)) != 0)
		return -errno;
	return 0;
}

int gen_port_open(struct gen_port *p, const char *interface, uint32_t first_qpn)
{
	int ret;

	*p = (struct gen_port){.fd = -1, .sink = -1};
	p->in = malloc(GEN_BATCH * sizeof(*p->in));
	p->out = malloc(GEN_BATCH * sizeof(*p->out));
	ret = p->in != NULL && p->out != NULL ? open_packet_socket(p, interface, first_qpn)
					      : -ENOMEM;
	if (ret != 0) {
		gen_port_close(p);
		return report_port_failure(interface, -ret);
	}
	p->sink = open_sink(interface);
	return 0;
}

void gen_port_close(struct gen_port *p)
{
	if (p->fd >= 0)
		close(p->fd);
	if (p->sink >= 0)
		close(p->sink);
	free(p->in);
	free(p->out);
	*p = (struct gen_port){.fd = -1, .sink = -1};
}

/* The kernel takes the outer tag out of the frame and hands it over beside it. */
static uint32_t put_tag_back(struct msghdr *msg, uint8_t *frame, uint32_t len)
{
	struct tpacket_auxdata aux;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c != NULL; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level != SOL_PACKET || c->cmsg_type != PACKET_AUXDATA)
			continue;
		memcpy(&aux, CMSG_DATA(c), sizeof(aux));
		if (!(aux.tp_status & TP_STATUS_VLAN_VALID) || len < ETHER_TYPES)
			continue;
		memmove(frame + ETHER_TYPES + VLAN_TAG, frame + ETHER_TYPES, len - ETHER_TYPES);
		hp3_put_be16(frame + ETHER_TYPES, aux.tp_vlan_tpid);
		hp3_put_be16(frame + ETHER_TYPES + 2, aux.tp_vlan_tci);
		len += VLAN_TAG;
	}
	return len;
}

uint32_t gen_port_receive(struct gen_port *p)
{
	static char control[GEN_BATCH][CMSG_SPACE(sizeof(struct tpacket_auxdata))];
	struct mmsghdr msgs[GEN_BATCH];
	struct iovec iov[GEN_BATCH];
	int n;

	for (uint32_t i = 0; i < GEN_BATCH; i++) {
		iov[i] = (struct iovec){p->in[i], GEN_FRAME_MAX};
		msgs[i].msg_hdr = (struct msghdr){.msg_iov = &iov[i],
			.msg_iovlen = 1,
			.msg_control = control[i],
			.msg_controllen = sizeof(control[i])};
	}
	n = recvmmsg(p->fd, msgs, GEN_BATCH, 0, NULL);
	for (int i = 0; i < n; i++)
		p->in_len[i] = put_tag_back(&msgs[i].msg_hdr, p->in[i], msgs[i].msg_len);
	return n > 0 ? (uint32_t)n : 0;
}

bool gen_port_flush(struct gen_port *p)
{
	struct mmsghdr msgs[GEN_BATCH];
	struct iovec iov[GEN_BATCH];

	while (p->out_first < p->out_n) {
		uint32_t left = p->out_n - p->out_first;
		int n;

		for (uint32_t i = 0; i < left; i++) {
			iov[i] = (struct iovec){
				p->out[p->out_first + i], p->out_len[p->out_first + i]};
			msgs[i].msg_hdr = (struct msghdr){.msg_iov = &iov[i], .msg_iovlen = 1};
		}
		n = sendmmsg(p->fd, msgs, left, 0);
		if (n <= 0 && errno != EINTR)
			return false;
		p->out_first += n > 0 ? (uint32_t)n : 0;
	}
	p->out_first = p->out_n = 0;
	return true;
}

uint64_t gen_port_lost(struct gen_port *p)
{
	struct tpacket_stats s = {0};
	socklen_t len = sizeof(s);

	if (getsockopt(p->fd, SOL_PACKET, PACKET_STATISTICS, &s, &len) == 0)
		p->kernel_lost += s.tp_drops;
	return p->kernel_lost;
}
