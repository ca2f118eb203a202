/* SPDX-License-Identifier: BSD-3-Clause */
/* The longest frames that ports take: the control thread reads MTUs, links compare frames. */
#include <string.h>
#include <rte_ethdev.h>
#include "app/hp3d/lcores/link.h"
#include "app/hp3d/lcores/ports.h"
#include "app/interface.h"

static struct hp3d_frame_limit limits[HP3_CONFIG_RAILS_MAX][2];

uint32_t hp3d_interface_mtu(unsigned ifindex)
{
	struct ifreq ifr = {0};

	if (if_indextoname(ifindex, ifr.ifr_name) == NULL ||
		hp3_interface_ioctl(SIOCGIFMTU, &ifr) < 0)
		return 0;
	return (uint32_t)ifr.ifr_mtu;
}

/* The MTU that bounds the frames of a port; 0: none is known. net_tap refuses frames beyond its own
 * MTU. For the other drivers of kernel interfaces, DPDK always reports 1500. */
static uint32_t mtu_of_port(uint16_t port, const struct rte_eth_dev_info *info)
{
	static const char *const by_kernel[] = {"net_af_packet", "net_af_xdp", "net_pcap"};
	uint16_t own;

	if (info->if_index == 0 || info->driver_name == NULL)
		return 0;
	for (size_t i = 0; i < RTE_DIM(by_kernel); i++) {
		if (strcmp(info->driver_name, by_kernel[i]) == 0)
			return hp3d_interface_mtu(info->if_index);
	}
	if (strcmp(info->driver_name, "net_tap") != 0 || rte_eth_dev_get_mtu(port, &own) != 0)
		return 0;
	return own;
}

/* Writes a limit only if it has changed, because all lcores read it. */
static void read_limit(struct hp3d_frame_limit *limit, uint16_t port)
{
	struct rte_eth_dev_info info = {0};
	uint32_t bytes;

	if (rte_eth_dev_info_get(port, &info) != 0)
		return;
	bytes = mtu_of_port(port, &info);
	if (bytes == 0)
		return; /* no limit, or the interface was deleted */
	bytes += RTE_ETHER_HDR_LEN;
	if (bytes == limit->bytes)
		return;
	limit->two_tags = strcmp(info.driver_name, "net_af_xdp") == 0 ||
			  strcmp(info.driver_name, "net_tap") == 0;
	__atomic_store_n(&limit->bytes, bytes, __ATOMIC_RELEASE);
}

void hp3d_frame_limits_read(void)
{
	for (unsigned i = 0; i < 2 * hp3d_rail_count(); i++)
		read_limit(&limits[i / 2][i % 2], hp3d_rail_ports(i / 2)->in[i % 2]);
}

const struct hp3d_frame_limit *hp3d_frame_limit(unsigned rail, unsigned dir)
{
	return &limits[rail][dir];
}
