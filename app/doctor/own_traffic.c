/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the addresses, the default routes and the master of an interface, by rtnetlink. */
#include <arpa/inet.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>
#include "app/doctor/host.h"

#define LEVELS_MAX 4u /* interfaces above each other, such as two VLANs and a macvlan */

/* Frames for these interfaces arrive at the interface below. */
static bool is_upper_kind(const char *kind)
{
	static const char *const kinds[] = {"vlan", "macvlan", "macvtap", "ipvlan", "ipvtap"};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kind, kinds[i]) == 0)
			return true;
	}
	return false;
}

/* True: `from` is the interface `index`, or an interface above it, whose name goes to `upper`. */
static bool is_above(unsigned from, unsigned index, char upper[IFNAMSIZ])
{
	struct hp3_link_info l;

	upper[0] = '\0';
	for (unsigned level = 0; from != index; level++) {
		if (level == LEVELS_MAX || hp3_link_by(NULL, from, &l) < 0 || l.peer_nsid >= 0 ||
			!is_upper_kind(l.itf.kind))
			return false;
		if (level == 0)
			memcpy(upper, l.itf.name, IFNAMSIZ);
		from = l.peer;
	}
	return true;
}

struct traffic_search {
	unsigned index; /* of the interface */
	unsigned other; /* the latest interface that is not above it */
	struct hp3_own_traffic *out;
};

static int take_address(const struct nlmsghdr *nlh, void *arg)
{
	const struct ifaddrmsg *ifa = mnl_nlmsg_get_payload(nlh);
	struct traffic_search *s = arg;
	const void *address = NULL;
	const struct nlattr *a;

	if (s->out->address[0] != '\0' || ifa->ifa_index == s->other ||
		ifa->ifa_scope == RT_SCOPE_HOST || ifa->ifa_scope == RT_SCOPE_LINK)
		return MNL_CB_OK;
	mnl_attr_for_each(a, nlh, sizeof(*ifa))
	{
		uint16_t type = mnl_attr_get_type(a);

		/* IFA_LOCAL is the own address of a point-to-point interface. */
		if (type == IFA_LOCAL || (type == IFA_ADDRESS && address == NULL))
			address = mnl_attr_get_payload(a);
	}
	if (address == NULL)
		return MNL_CB_OK;
	if (is_above(ifa->ifa_index, s->index, s->out->upper))
		inet_ntop(ifa->ifa_family, address, s->out->address, sizeof(s->out->address));
	else
		s->other = ifa->ifa_index;
	return MNL_CB_OK;
}

static void find_address(struct traffic_search *s)
{
	union {
		struct nlmsghdr hdr;
		char room[128];
	} request = {0};
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(&request);

	nlh->nlmsg_type = RTM_GETADDR;
	nlh->nlmsg_flags = NLM_F_DUMP;
	mnl_nlmsg_put_extra_header(nlh, sizeof(struct ifaddrmsg));
	hp3_netlink(nlh, take_address, s);
}

static void take_next_hop(struct traffic_search *s, unsigned index)
{
	char upper[IFNAMSIZ];

	s->out->default_route |= is_above(index, s->index, upper);
}

static int take_route(const struct nlmsghdr *nlh, void *arg)
{
	const struct rtmsg *rtm = mnl_nlmsg_get_payload(nlh);
	struct traffic_search *s = arg;
	const struct nlattr *a;

	if (nlh->nlmsg_type != RTM_NEWROUTE || rtm->rtm_dst_len != 0)
		return MNL_CB_OK;
	mnl_attr_for_each(a, nlh, sizeof(*rtm))
	{
		const struct rtnexthop *hop = mnl_attr_get_payload(a);
		int left = mnl_attr_get_payload_len(a);

		if (mnl_attr_get_type(a) == RTA_OIF)
			take_next_hop(s, mnl_attr_get_u32(a));
		if (mnl_attr_get_type(a) != RTA_MULTIPATH)
			continue;
		for (; RTNH_OK(hop, left); left -= RTNH_ALIGN(hop->rtnh_len), hop = RTNH_NEXT(hop))
			take_next_hop(s, (unsigned)hop->rtnh_ifindex);
	}
	return MNL_CB_OK;
}

/* Asks for the route to an address for documentation (RFC 5737, RFC 3849). Only the default route
 * leads there. A host may have too many routes to read all of them. */
static void find_default_route(struct traffic_search *s, uint8_t family, const char *text)
{
	union {
		struct nlmsghdr hdr;
		char room[128];
	} request = {0};
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(&request);
	size_t len = family == AF_INET ? sizeof(struct in_addr) : sizeof(struct in6_addr);
	struct rtmsg *rtm;
	struct in6_addr to;

	nlh->nlmsg_type = RTM_GETROUTE;
	rtm = mnl_nlmsg_put_extra_header(nlh, sizeof(*rtm));
	*rtm = (struct rtmsg){.rtm_family = family,
		.rtm_dst_len = (uint8_t)(8 * len),
		.rtm_flags = RTM_F_FIB_MATCH};
	inet_pton(family, text, &to);
	mnl_attr_put(nlh, RTA_DST, len, &to);
	hp3_netlink(nlh, take_route, s);
}

void hp3_link_own_traffic(const struct hp3_interface *itf, struct hp3_own_traffic *out)
{
	struct traffic_search s = {.index = itf->index, .out = out};
	struct hp3_link_info master;

	*out = (struct hp3_own_traffic){0};
	find_address(&s);
	find_default_route(&s, AF_INET, "192.0.2.1");
	find_default_route(&s, AF_INET6, "2001:db8::1");
	if (itf->master[0] == '\0' || hp3_link_by(itf->master, 0, &master) < 0)
		return;
	memcpy(out->master, itf->master, sizeof(out->master));
	memcpy(out->master_kind, master.itf.kind, sizeof(out->master_kind));
}
