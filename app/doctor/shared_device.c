/* SPDX-License-Identifier: BSD-3-Clause */
/* Interfaces and VFs that carry only frames of their own addresses, by rtnetlink. */
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>
#include "app/doctor/host.h"

#define VLANS_MAX 4u /* VLANs above each other */

static bool is_macvlan(const struct hp3_link_info *l)
{
	return strcmp(l->itf.kind, "macvlan") == 0 || strcmp(l->itf.kind, "macvtap") == 0;
}

static bool is_shared(const struct hp3_link_info *l)
{
	if (is_macvlan(l))
		return l->mode != MACVLAN_MODE_PASSTHRU || l->no_promisc;
	return strcmp(l->itf.kind, "ipvlan") == 0 || strcmp(l->itf.kind, "ipvtap") == 0;
}

static const char *name_of_mode(unsigned mode)
{
	switch (mode) {
	case MACVLAN_MODE_PRIVATE:
		return "private";
	case MACVLAN_MODE_VEPA:
		return "vepa";
	case MACVLAN_MODE_BRIDGE:
		return "bridge";
	case MACVLAN_MODE_PASSTHRU:
		return "passthru nopromisc";
	case MACVLAN_MODE_SOURCE:
		return "source";
	default:
		return "unknown";
	}
}

void hp3_link_shared(struct hp3_link_info *l)
{
	struct hp3_link_info at = *l, below;
	struct hp3_shared_device *s = &l->itf.shared;

	for (unsigned level = 0; !is_shared(&at); level++) {
		if (level == VLANS_MAX || strcmp(at.itf.kind, "vlan") != 0 || at.peer_nsid >= 0 ||
			hp3_link_by(NULL, at.peer, &below) < 0)
			return;
		at = below;
	}
	memcpy(s->name, at.itf.name, sizeof(s->name));
	memcpy(s->kind, at.itf.kind, sizeof(s->kind));
	if (is_macvlan(&at))
		snprintf(s->mode, sizeof(s->mode), "%s", name_of_mode(at.mode));
	if (at.peer_nsid < 0 && hp3_link_by(NULL, at.peer, &below) == 0)
		memcpy(s->below, below.itf.name, sizeof(s->below));
}

/* Settings that the driver does not report are UINT32_MAX. */
static void take_settings(const struct nlattr *info, struct hp3_vf *out)
{
	const struct nlattr *a;

	mnl_attr_for_each_nested(a, info)
	{
		/* These members begin with the number of the VF. */
		const struct ifla_vf_spoofchk *s = mnl_attr_get_payload(a);
		uint16_t type = mnl_attr_get_type(a);

		if ((type != IFLA_VF_MAC && type != IFLA_VF_SPOOFCHK && type != IFLA_VF_TRUST) ||
			mnl_attr_get_payload_len(a) < sizeof(*s) || s->vf != out->number)
			continue;
		out->found = true;
		if (type == IFLA_VF_SPOOFCHK)
			out->spoof_check = s->setting == 1;
		if (type == IFLA_VF_TRUST)
			out->untrusted = s->setting == 0;
	}
}

int hp3_link_take_vf(const struct nlmsghdr *nlh, void *arg)
{
	const struct nlattr *a, *info;

	mnl_attr_for_each(a, nlh, sizeof(struct ifinfomsg))
	{
		if (mnl_attr_get_type(a) != IFLA_VFINFO_LIST)
			continue;
		mnl_attr_for_each_nested(info, a)
		{
			if (mnl_attr_get_type(info) == IFLA_VF_INFO)
				take_settings(info, arg);
		}
	}
	return MNL_CB_OK;
}

bool hp3_link_vf(const char *pf, unsigned number, struct hp3_vf *out)
{
	union {
		struct nlmsghdr hdr;
		char room[512];
	} request = {0};
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(&request);

	*out = (struct hp3_vf){.number = number};
	snprintf(out->pf, sizeof(out->pf), "%s", pf);
	nlh->nlmsg_type = RTM_GETLINK;
	mnl_nlmsg_put_extra_header(nlh, sizeof(struct ifinfomsg));
	mnl_attr_put_strz(nlh, IFLA_IFNAME, out->pf);
	mnl_attr_put_u32(nlh, IFLA_EXT_MASK, RTEXT_FILTER_VF | RTEXT_FILTER_SKIP_STATS);
	return hp3_netlink(nlh, hp3_link_take_vf, out) == 0 && out->found;
}
