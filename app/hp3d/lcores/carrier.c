/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/lcores/ports.h"
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <rte_ethdev.h>

/* The carrier of the interface below the port, if there is one; net_af_packet does not report
 * it. */
static bool has_carrier(uint16_t port)
{
	struct rte_eth_dev_info info;
	struct ifreq ifr = {0};
	bool carrier = true;
	int fd;

	if (rte_eth_dev_info_get(port, &info) < 0 || info.if_index == 0)
		return true;
	if (if_indextoname(info.if_index, ifr.ifr_name) == NULL)
		return false; /* the interface was deleted */
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return true;
	if (ioctl(fd, SIOCGIFFLAGS, &ifr) == 0)
		carrier = ifr.ifr_flags & IFF_RUNNING;
	close(fd);
	return carrier;
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
