/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the addresses and default routes of this host that use an interface, by rtnetlink. They may
 * be on an interface above it: a VLAN or a macvlan of it, a bridge or a bond that it belongs to,
 * and so on.
 */
#include <arpa/inet.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>
#include "app/doctor/host.h"

#define LEVELS_MAX 8u /* interfaces above each other, such as a VLAN, a bridge and a VLAN on it */
#define ABOVE_MAX  256u

/* The interface, and the interfaces above it in this network namespace. */
struct stack {
	unsigned n;
	struct {
		unsigned index;
		char name[IFNAMSIZ];
	} itf[ABOVE_MAX];
	struct hp3_own_traffic *out;
};

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

/* Position of an interface in the stack; s->n: it is not there. */
static unsigned place_of(const struct stack *s, unsigned index)
{
	unsigned i = 0;

	while (i < s->n && s->itf[i].index != index)
		i++;
	return i;
}

static void add_interface(struct stack *s, unsigned index, const char *name)
{
	if (s->n == ABOVE_MAX || place_of(s, index) < s->n)
		return;
	s->itf[s->n].index = index;
	snprintf(s->itf[s->n++].name, IFNAMSIZ, "%s", name);
}

/* A VRF takes no frames from its ports: addresses are on the ports themselves. */
static void add_master(struct stack *s, const struct hp3_link_info *member)
{
	struct hp3_own_traffic *out = s->out;
	struct hp3_link_info master;

	if (hp3_link_by(NULL, member->master, &master) < 0 || strcmp(master.itf.kind, "vrf") == 0)
		return;
	add_interface(s, member->master, master.itf.name);
	if (out->master[0] != '\0')
		return;
	memcpy(out->master, master.itf.name, sizeof(out->master));
	memcpy(out->master_kind, master.itf.kind, sizeof(out->master_kind));
	memcpy(out->member, member->itf.name, sizeof(out->member));
}

static int take_upper(const struct nlmsghdr *nlh, void *arg)
{
	struct hp3_link_info l = {0};
	struct stack *s = arg;

	hp3_link_take(nlh, &l);
	if (l.peer_nsid < 0 && is_upper_kind(l.itf.kind) && place_of(s, l.peer) < s->n)
		add_interface(s, l.itf.index, l.itf.name);
	if (l.master != 0 && place_of(s, l.itf.index) < s->n)
		add_master(s, &l);
	return MNL_CB_OK;
}

/* The kernel lists interfaces in any order, so each list may add a level. */
static void find_uppers(struct stack *s)
{
	unsigned before = 0;

	for (unsigned level = 0; level < LEVELS_MAX && before != s->n; level++) {
		union {
			struct nlmsghdr hdr;
			char room[128];
		} request = {0};
		struct nlmsghdr *nlh = mnl_nlmsg_put_header(&request);

		before = s->n;
		nlh->nlmsg_type = RTM_GETLINK;
		nlh->nlmsg_flags = NLM_F_DUMP;
		mnl_nlmsg_put_extra_header(nlh, sizeof(struct ifinfomsg));
		hp3_netlink(nlh, take_upper, s);
	}
}

static bool is_dynamic(const struct ifaddrmsg *ifa, const struct nlattr *flags)
{
	uint32_t all = flags != NULL ? mnl_attr_get_u32(flags) : ifa->ifa_flags;

	return ifa->ifa_family == AF_INET6 && !(all & IFA_F_PERMANENT);
}

static int take_address(const struct nlmsghdr *nlh, void *arg)
{
	const struct ifaddrmsg *ifa = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *a, *flags = NULL;
	const void *address = NULL;
	struct stack *s = arg;
	unsigned place = place_of(s, ifa->ifa_index);

	if (s->out->address[0] != '\0' || place == s->n || ifa->ifa_scope == RT_SCOPE_HOST ||
		ifa->ifa_scope == RT_SCOPE_LINK)
		return MNL_CB_OK;
	mnl_attr_for_each(a, nlh, sizeof(*ifa))
	{
		uint16_t type = mnl_attr_get_type(a);

		/* IFA_LOCAL is the own address of a point-to-point interface. */
		if (type == IFA_LOCAL || (type == IFA_ADDRESS && address == NULL))
			address = mnl_attr_get_payload(a);
		if (type == IFA_FLAGS)
			flags = a;
	}
	if (address == NULL)
		return MNL_CB_OK;
	inet_ntop(ifa->ifa_family, address, s->out->address, sizeof(s->out->address));
	s->out->advertised |= is_dynamic(ifa, flags);
	if (place > 0)
		memcpy(s->out->upper, s->itf[place].name, sizeof(s->out->upper));
	return MNL_CB_OK;
}

static void find_address(struct stack *s)
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

static void take_next_hop(struct stack *s, unsigned index, const struct rtmsg *rtm)
{
	if (place_of(s, index) == s->n)
		return;
	s->out->default_route = true;
	s->out->advertised |= rtm->rtm_protocol == RTPROT_RA;
}

static int take_route(const struct nlmsghdr *nlh, void *arg)
{
	const struct rtmsg *rtm = mnl_nlmsg_get_payload(nlh);
	struct stack *s = arg;
	const struct nlattr *a;

	if (nlh->nlmsg_type != RTM_NEWROUTE || rtm->rtm_dst_len != 0)
		return MNL_CB_OK;
	mnl_attr_for_each(a, nlh, sizeof(*rtm))
	{
		const struct rtnexthop *hop = mnl_attr_get_payload(a);
		int left = mnl_attr_get_payload_len(a);

		if (mnl_attr_get_type(a) == RTA_OIF)
			take_next_hop(s, mnl_attr_get_u32(a), rtm);
		if (mnl_attr_get_type(a) != RTA_MULTIPATH)
			continue;
		for (; RTNH_OK(hop, left); left -= RTNH_ALIGN(hop->rtnh_len), hop = RTNH_NEXT(hop))
			take_next_hop(s, (unsigned)hop->rtnh_ifindex, rtm);
	}
	return MNL_CB_OK;
}

/* Asks for the route to an address for documentation (RFC 5737, RFC 3849). Only the default route
 * leads there. A host may have too many routes to read all of them. */
static void find_default_route(struct stack *s, uint8_t family, const char *text)
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
	struct stack s = {.out = out};

	*out = (struct hp3_own_traffic){0};
	add_interface(&s, itf->index, itf->name);
	find_uppers(&s);
	find_address(&s);
	find_default_route(&s, AF_INET, "192.0.2.1");
	find_default_route(&s, AF_INET6, "2001:db8::1");
}
