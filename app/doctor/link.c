/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads interfaces by rtnetlink and ethtool: sysfs may show another network namespace. */
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/ethtool.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if_arp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include "app/doctor/host.h"

#define STRINGS_MAX 512u /* features of an interface: 64 in Linux 6.18 */

/* Sends one request and receives its answer; 0, or a negative errno. */
int hp3_netlink(struct nlmsghdr *request, mnl_cb_t take, void *arg)
{
	struct mnl_socket *nl = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
	char answer[65536]; /* of a device with 256 VFs, too */
	ssize_t n;
	int ret;

	if (nl == NULL)
		return -errno;
	request->nlmsg_flags |= NLM_F_REQUEST | NLM_F_ACK;
	if (mnl_socket_bind(nl, 0, MNL_SOCKET_AUTOPID) == 0 &&
		mnl_socket_sendto(nl, request, request->nlmsg_len) >= 0) {
		do {
			n = mnl_socket_recvfrom(nl, answer, sizeof(answer));
			ret = n < 0 ? -1 : mnl_cb_run(answer, (size_t)n, 0, 0, take, arg);
		} while (ret > 0);
		ret = ret < 0 ? -errno : 0;
	} else {
		ret = -errno;
	}
	mnl_socket_close(nl);
	return ret;
}

/* The kernel puts the kind in front of the data of this kind. */
static void take_kind(const struct nlattr *info, struct hp3_link_info *l)
{
	const struct nlattr *a, *inner;

	mnl_attr_for_each_nested(a, info)
	{
		if (mnl_attr_get_type(a) == IFLA_INFO_KIND)
			snprintf(l->itf.kind, sizeof(l->itf.kind), "%s", mnl_attr_get_str(a));
		if (mnl_attr_get_type(a) != IFLA_INFO_DATA || strncmp(l->itf.kind, "macv", 4) != 0)
			continue;
		mnl_attr_for_each_nested(inner, a)
		{
			if (mnl_attr_get_type(inner) == IFLA_MACVLAN_MODE)
				l->mode = mnl_attr_get_u32(inner);
			if (mnl_attr_get_type(inner) == IFLA_MACVLAN_FLAGS)
				l->no_promisc = mnl_attr_get_u16(inner) & MACVLAN_FLAG_NOPROMISC;
		}
	}
}

int hp3_link_take(const struct nlmsghdr *nlh, void *arg)
{
	const struct ifinfomsg *ifm = mnl_nlmsg_get_payload(nlh);
	struct hp3_link_info *l = arg;
	const struct nlattr *a;

	l->itf.index = (unsigned)ifm->ifi_index;
	l->itf.flags = ifm->ifi_flags;
	l->itf.no_ethernet = ifm->ifi_type != ARPHRD_ETHER;
	l->peer_nsid = -1;
	mnl_attr_for_each(a, nlh, sizeof(*ifm))
	{
		switch (mnl_attr_get_type(a)) {
		case IFLA_IFNAME:
			snprintf(l->itf.name, sizeof(l->itf.name), "%s", mnl_attr_get_str(a));
			break;
		case IFLA_MTU:
			l->itf.mtu = mnl_attr_get_u32(a);
			break;
		case IFLA_CARRIER:
			l->itf.carrier = mnl_attr_get_u8(a) != 0;
			break;
		case IFLA_LINK:
			l->peer = mnl_attr_get_u32(a);
			break;
		case IFLA_LINK_NETNSID:
			l->peer_nsid = (int)mnl_attr_get_u32(a);
			break;
		case IFLA_MASTER:
			l->master = mnl_attr_get_u32(a);
			if_indextoname(l->master, l->itf.master);
			break;
		case IFLA_LINKINFO:
			take_kind(a, l);
			break;
		default:
			break;
		}
	}
	return MNL_CB_OK;
}

int hp3_link_by(const char *name, unsigned index, struct hp3_link_info *l)
{
	union {
		struct nlmsghdr hdr;
		char room[512];
	} request = {0};
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(&request);
	struct ifinfomsg *ifm = mnl_nlmsg_put_extra_header(nlh, sizeof(*ifm));

	*l = (struct hp3_link_info){0};
	nlh->nlmsg_type = RTM_GETLINK;
	ifm->ifi_index = (int)index;
	if (name != NULL)
		mnl_attr_put_strz(nlh, IFLA_IFNAME, name);
	return hp3_netlink(nlh, hp3_link_take, l);
}

static int run_ethtool(const char *name, void *command)
{
	int ret, fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq ifr = {.ifr_data = command};

	if (fd < 0)
		return -errno;
	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", name);
	ret = ioctl(fd, SIOCETHTOOL, &ifr) < 0 ? -errno : 0;
	close(fd);
	return ret;
}

/* Finds the kernel's bits of enum hp3_offload: their numbers are not fixed. */
static uint32_t read_offloads(const char *name)
{
	static const char *const wanted[] = {
#define X(sym, text) text,
		HP3_OFFLOADS(X)
#undef X
	};
	union {
		struct ethtool_sset_info info;
		char room[sizeof(struct ethtool_sset_info) + sizeof(uint32_t)];
	} set = {.info = {.cmd = ETHTOOL_GSSET_INFO, .sset_mask = 1ull << ETH_SS_FEATURES}};
	struct ethtool_gstrings *strings;
	struct ethtool_gfeatures *state;
	uint32_t found = 0, count;

	if (run_ethtool(name, &set) < 0)
		return 0;
	count = set.info.data[0];
	if (count == 0 || count > STRINGS_MAX)
		return 0;
	strings = calloc(1, sizeof(*strings) + count * ETH_GSTRING_LEN);
	state = calloc(1, sizeof(*state) + (count + 31) / 32 * sizeof(state->features[0]));
	if (strings == NULL || state == NULL)
		goto out;
	*strings = (struct ethtool_gstrings){
		.cmd = ETHTOOL_GSTRINGS, .string_set = ETH_SS_FEATURES, .len = count};
	*state = (struct ethtool_gfeatures){.cmd = ETHTOOL_GFEATURES, .size = (count + 31) / 32};
	if (run_ethtool(name, strings) < 0 || run_ethtool(name, state) < 0)
		goto out;
	for (uint32_t i = 0; i < count; i++) {
		const char *text = (const char *)&strings->data[i * ETH_GSTRING_LEN];

		for (int k = 0; k < HP3_OFFLOAD_MAX; k++) {
			if (strncmp(text, wanted[k], ETH_GSTRING_LEN) == 0 &&
				(state->features[i / 32].active & (1u << i % 32)))
				found |= 1u << k;
		}
	}
out:
	free(strings);
	free(state);
	return found;
}

void hp3_link_offloads(struct hp3_interface *itf)
{
	struct ethtool_ringparam ring = {.cmd = ETHTOOL_GRINGPARAM};
	struct ethtool_drvinfo driver = {.cmd = ETHTOOL_GDRVINFO};

	itf->offloads = read_offloads(itf->name);
	if (run_ethtool(itf->name, &driver) == 0)
		snprintf(itf->bus, sizeof(itf->bus), "%.*s", (int)sizeof(driver.bus_info) - 1,
			driver.bus_info);
	if (run_ethtool(itf->name, &ring) == 0) {
		itf->rx_ring = ring.rx_pending;
		itf->rx_ring_max = ring.rx_max_pending;
	}
}
