/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/lcores/ports.h"
#include <rte_ethdev.h>
#include "app/interface.h"

/* The carrier of the interface below the port, if there is one; net_af_packet does not report
 * it. */
static bool has_carrier(uint16_t port)
{
	struct rte_eth_dev_info info;
	struct ifreq ifr = {0};

	if (rte_eth_dev_info_get(port, &info) < 0 || info.if_index == 0)
		return true;
	if (if_indextoname(info.if_index, ifr.ifr_name) == NULL)
		return false; /* the interface was deleted */
	return hp3_interface_ioctl(SIOCGIFFLAGS, &ifr) < 0 || (ifr.ifr_flags & IFF_RUNNING) != 0;
}

bool hp3d_port_is_gone(uint16_t port)
{
	struct rte_eth_dev_info info;
	char name[IF_NAMESIZE];

	return rte_eth_dev_info_get(port, &info) == 0 && info.if_index != 0 &&
	       if_indextoname(info.if_index, name) == NULL;
}

bool hp3d_port_is_up(uint16_t port)
{
	struct rte_eth_link link;

	return rte_eth_link_get_nowait(port, &link) == 0 && link.link_status == RTE_ETH_LINK_UP &&
	       has_carrier(port);
}
