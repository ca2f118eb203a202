/* SPDX-License-Identifier: BSD-3-Clause */
/* The ports of rails, as their drivers and the kernel see them. */
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <rte_ethdev.h>
#include "app/hp3d/lcores/ports.h"
#include "app/hp3d/metrics/page.h"
#include "app/hp3d/metrics/source.h"

static const char *const sides[] = {[HP3_DIR_TX] = "rnic", [HP3_DIR_RX] = "net"};

/* Has the interface below the port, if there is one, a carrier? net_af_packet does not ask. */
static bool has_carrier(uint16_t port)
{
	struct rte_eth_dev_info info;
	struct ifreq ifr = {0};
	bool carrier = true;
	int fd;

	if (rte_eth_dev_info_get(port, &info) < 0 || info.if_index == 0)
		return true;
	if (if_indextoname(info.if_index, ifr.ifr_name) == NULL)
		return false; /* it is gone */
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return true;
	if (ioctl(fd, SIOCGIFFLAGS, &ifr) == 0)
		carrier = ifr.ifr_flags & IFF_RUNNING;
	close(fd);
	return carrier;
}

static bool is_up(uint16_t port)
{
	struct rte_eth_link link;

	return rte_eth_link_get_nowait(port, &link) == 0 && link.link_status == RTE_ETH_LINK_UP &&
	       has_carrier(port);
}

void hp3d_read_port_up(struct hp3d_page *page, const struct hp3d_source *from, size_t which)
{
	for (unsigned r = 0; r < from->cfg->n_rails; r++)
		for (unsigned d = 0; d < 2; d++)
			hp3d_page_count(page,
				(struct hp3d_labels){{from->cfg->rails[r].name, sides[d]}},
				is_up(hp3d_rail_ports(r)->in[d]));
}

void hp3d_read_port_errors(struct hp3d_page *page, const struct hp3d_source *from, size_t which)
{
	for (unsigned r = 0; r < from->cfg->n_rails; r++) {
		for (unsigned d = 0; d < 2; d++) {
			const char *rail = from->cfg->rails[r].name;
			struct rte_eth_stats s;

			if (rte_eth_stats_get(hp3d_rail_ports(r)->in[d], &s) < 0)
				continue;
			hp3d_page_count(page, (struct hp3d_labels){{rail, sides[d], "rx_missed"}},
				s.imissed);
			hp3d_page_count(page, (struct hp3d_labels){{rail, sides[d], "rx_error"}},
				s.ierrors);
			hp3d_page_count(page,
				(struct hp3d_labels){{rail, sides[d], "rx_no_buffer"}},
				s.rx_nombuf);
			hp3d_page_count(page, (struct hp3d_labels){{rail, sides[d], "tx_error"}},
				s.oerrors);
		}
	}
}
