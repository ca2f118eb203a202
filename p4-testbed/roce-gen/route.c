/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <ifaddrs.h>
#include <string.h>
#include <unistd.h>
#include <arpa/inet.h>
#include <libmnl/libmnl.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>
#include "route.h"

#define MAC_LEN      6u
#define DISCARD_PORT 9
#define SEQUENCE     1u

struct answer {
	int index;
	struct gen_address hop; /* route: gateway or destination; neighbour: asked for */
	bool found;
	uint8_t mac[MAC_LEN];
};

static size_t ip_len(const struct gen_address *a)
{
	return a->ipv6 ? 16 : 4;
}

bool gen_address_parse(const char *text, struct gen_address *a)
{
	*a = (struct gen_address){.ipv6 = strchr(text, ':') != NULL};
	return inet_pton(a->ipv6 ? AF_INET6 : AF_INET, text, a->ip) == 1;
}

const char *gen_address_format(const struct gen_address *a, char *buf)
{
	return inet_ntop(a->ipv6 ? AF_INET6 : AF_INET, a->ip, buf, INET6_ADDRSTRLEN);
}

static bool is_usable(const struct ifaddrs *i, const char *interface, int family)
{
	const struct sockaddr_in6 *six = (const void *)i->ifa_addr;

	if (i->ifa_addr == NULL || i->ifa_addr->sa_family != family ||
		strcmp(i->ifa_name, interface) != 0)
		return false;
	return family == AF_INET || !IN6_IS_ADDR_LINKLOCAL(&six->sin6_addr);
}

int gen_route_own_address(const char *interface, bool ipv6, struct gen_address *a)
{
	struct ifaddrs *all, *i;
	int ret = -ENOENT;

	*a = (struct gen_address){.ipv6 = ipv6};
	if (getifaddrs(&all) != 0)
		return -errno;
	for (i = all; i != NULL && ret != 0; i = i->ifa_next) {
		if (!is_usable(i, interface, ipv6 ? AF_INET6 : AF_INET))
			continue;
		if (ipv6)
			memcpy(a->ip,
				&((const struct sockaddr_in6 *)(const void *)i->ifa_addr)
					 ->sin6_addr,
				16);
		else
			memcpy(a->ip,
				&((const struct sockaddr_in *)(const void *)i->ifa_addr)->sin_addr,
				4);
		ret = 0;
	}
	freeifaddrs(all);
	return ret;
}

static int on_route(const struct nlmsghdr *h, void *data)
{
	const struct rtmsg *m = mnl_nlmsg_get_payload(h);
	struct answer *a = data;
	const struct nlattr *attr;
	int index = 0;

	mnl_attr_for_each(attr, h, sizeof(*m))
	{
		if (mnl_attr_get_type(attr) == RTA_OIF)
			index = (int)mnl_attr_get_u32(attr);
		else if (mnl_attr_get_type(attr) == RTA_GATEWAY &&
			 mnl_attr_get_payload_len(attr) >= ip_len(&a->hop))
			memcpy(a->hop.ip, mnl_attr_get_payload(attr), ip_len(&a->hop));
	}
	a->found = m->rtm_type == RTN_UNICAST && index == a->index;
	return MNL_CB_OK;
}

static int on_neighbour(const struct nlmsghdr *h, void *data)
{
	const struct ndmsg *m = mnl_nlmsg_get_payload(h);
	struct answer *a = data;
	const struct nlattr *attr;
	const void *mac = NULL;
	bool same = false;

	mnl_attr_for_each(attr, h, sizeof(*m))
	{
		if (mnl_attr_get_type(attr) == NDA_DST &&
			mnl_attr_get_payload_len(attr) == ip_len(&a->hop))
			same = memcmp(mnl_attr_get_payload(attr), a->hop.ip, ip_len(&a->hop)) == 0;
		else if (mnl_attr_get_type(attr) == NDA_LLADDR &&
			 mnl_attr_get_payload_len(attr) == MAC_LEN)
			mac = mnl_attr_get_payload(attr);
	}
	if (same && mac != NULL && m->ndm_ifindex == a->index &&
		!(m->ndm_state & (NUD_INCOMPLETE | NUD_FAILED | NUD_NONE))) {
		memcpy(a->mac, mac, MAC_LEN);
		a->found = true;
	}
	return MNL_CB_OK;
}

static int ask_kernel(struct nlmsghdr *h, mnl_cb_t answer, struct answer *a)
{
	struct mnl_socket *s = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
	char buf[8192];
	int ret = -1;

	a->found = false;
	if (s == NULL)
		return -errno;
	h->nlmsg_seq = SEQUENCE;
	if (mnl_socket_bind(s, 0, MNL_SOCKET_AUTOPID) == 0 &&
		mnl_socket_sendto(s, h, h->nlmsg_len) > 0) {
		do {
			ssize_t n = mnl_socket_recvfrom(s, buf, sizeof(buf));

			ret = n < 0 ? -1
				    : mnl_cb_run(buf, (size_t)n, SEQUENCE, mnl_socket_get_portid(s),
					      answer, a);
		} while (ret > 0 && (h->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP);
	}
	ret = ret < 0 ? -errno : 0;
	mnl_socket_close(s);
	return ret;
}

static int find_hop(struct answer *a, const struct gen_address *to)
{
	char buf[256];
	struct nlmsghdr *h = mnl_nlmsg_put_header(buf);
	struct rtmsg *m;
	int ret;

	h->nlmsg_type = RTM_GETROUTE;
	h->nlmsg_flags = NLM_F_REQUEST;
	m = mnl_nlmsg_put_extra_header(h, sizeof(*m));
	m->rtm_family = to->ipv6 ? AF_INET6 : AF_INET;
	m->rtm_dst_len = (unsigned char)(8 * ip_len(to));
	mnl_attr_put(h, RTA_DST, ip_len(to), to->ip);
	mnl_attr_put_u32(h, RTA_OIF, (uint32_t)a->index);
	a->hop = *to;
	ret = ask_kernel(h, on_route, a);
	return ret != 0 ? ret : a->found ? 0 : -ENETUNREACH;
}

static int find_mac(struct answer *a)
{
	char buf[256];
	struct nlmsghdr *h = mnl_nlmsg_put_header(buf);
	struct ndmsg *m;
	int ret;

	h->nlmsg_type = RTM_GETNEIGH;
	h->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	m = mnl_nlmsg_put_extra_header(h, sizeof(*m));
	m->ndm_family = a->hop.ipv6 ? AF_INET6 : AF_INET;
	ret = ask_kernel(h, on_neighbour, a);
	return ret != 0 ? ret : a->found ? 0 : -EAGAIN;
}

/* The kernel resolves the next hop for a packet of its own. */
static void provoke_resolution(int index, const struct gen_address *to)
{
	struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(DISCARD_PORT)};
	struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(DISCARD_PORT)};
	int fd = socket(to->ipv6 ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	char name[IF_NAMESIZE];

	if (fd < 0)
		return;
	memcpy(&four.sin_addr, to->ip, 4);
	memcpy(&six.sin6_addr, to->ip, 16);
	if (if_indextoname((unsigned)index, name) != NULL)
		setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, name, (socklen_t)strlen(name));
	/* That it may fail is what the next look-up shows. */
	if (to->ipv6)
		(void)!sendto(fd, "", 1, MSG_DONTWAIT, (struct sockaddr *)&six, sizeof(six));
	else
		(void)!sendto(fd, "", 1, MSG_DONTWAIT, (struct sockaddr *)&four, sizeof(four));
	close(fd);
}

int gen_route_mac(int index, const struct gen_address *to, uint8_t mac[6])
{
	struct answer a = {.index = index};
	int ret = find_hop(&a, to);

	if (ret == 0)
		ret = find_mac(&a);
	if (ret == 0)
		memcpy(mac, a.mac, MAC_LEN);
	else if (ret == -EAGAIN)
		provoke_resolution(index, to);
	return ret;
}
