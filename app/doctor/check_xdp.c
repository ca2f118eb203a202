/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of net_af_xdp: the kernel gives each frame a part of one page, in the driver's packet
 * buffers. */
#include <string.h>
#include "app/doctor/internal.h"
#include "base/plain.h"
#include "config/devargs.h"

#define PAGE              4096u
#define BUFFER_EXTRA      256u /* DPDK's headers, and a cache line of padding */
#define MBUF_HEAD_BYTES   128u /* RTE_PKTMBUF_HEADROOM */
#define XDP_HEADROOM      256u /* XDP_PACKET_HEADROOM */
#define TAGGED_ETH_HEADER 18u /* with an 802.1Q tag */
#define BUFFER_MAX        (PAGE - BUFFER_EXTRA)
#define MTU_MAX           (BUFFER_MAX - MBUF_HEAD_BYTES - XDP_HEADROOM - TAGGED_ETH_HEADER)

static bool is_xdp(const struct hp3_port *p)
{
	char driver[32];

	hp3_devargs_driver(p->devargs, driver, sizeof(driver));
	return p->there && strcmp(driver, "net_af_xdp") == 0;
}

void hp3_check_af_xdp_frames(struct hp3_doctor *d, const struct hp3_port *p)
{
	uint32_t need = p->itf.mtu + TAGGED_ETH_HEADER + MBUF_HEAD_BYTES + XDP_HEADROOM;
	uint32_t have = d->cfg->eal.mbuf_bytes;

	if (!is_xdp(p))
		return;
	if (p->itf.mtu > MTU_MAX) {
		hp3_find(d, HP3_PORT_FMT ": MTU %u of %s does not fit net_af_xdp, which carries %u",
			HP3_PORT_ARGS(p), p->itf.mtu, p->itf.name, MTU_MAX);
		hp3_fix(d,
			"ip link set %s mtu %u (and the other end of its cable), or use "
			"net_af_packet",
			HP3_SHELL_QUOTE(p->itf.name), MTU_MAX);
	} else if (have > BUFFER_MAX || have < need) {
		hp3_find(d,
			HP3_PORT_FMT ": net_af_xdp with MTU %u wants packet buffers of %u to %u "
				     "bytes, [eal] mbuf_bytes is %u",
			HP3_PORT_ARGS(p), p->itf.mtu, need, BUFFER_MAX, have);
		hp3_fix(d, "set [eal] mbuf_bytes = %u", BUFFER_MAX);
	}
}

/* A veth passes VLAN tags as its other end sent them; a NIC removes VLAN tags. */
void hp3_check_af_xdp_vlan(struct hp3_doctor *d, const struct hp3_port *p)
{
	const struct hp3_interface_peer *other = &p->itf.peer;

	if (!is_xdp(p))
		return;
	if (other->found && other->offloads >> HP3_OFFLOAD_TX_VLAN & 1) {
		hp3_find(d, HP3_PORT_FMT ": %s, the other end of %s, keeps VLAN tags beside frames",
			HP3_PORT_ARGS(p), other->name, p->itf.name);
		hp3_fix(d, "%sethtool -K %s txvlan off, if the network uses VLANs", other->inside,
			HP3_SHELL_QUOTE(other->name));
	} else if (p->itf.kind[0] == '\0' && p->itf.offloads >> HP3_OFFLOAD_RX_VLAN & 1) {
		hp3_find(d, HP3_PORT_FMT ": %s takes VLAN tags off (rxvlan)", HP3_PORT_ARGS(p),
			p->itf.name);
		hp3_fix(d, "ethtool -K %s rxvlan off, if the network uses VLANs",
			HP3_SHELL_QUOTE(p->itf.name));
	}
}
