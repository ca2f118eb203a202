/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of the devices in the configuration. */
#include <stdlib.h>
#include <string.h>
#include "app/doctor/internal.h"
#include "base/plain.h"
#include "config/devargs.h"

#define RING_HEAD        66u /* af_packet: what the kernel writes before the frame (TPACKET_V2) */
#define RING_HIDDEN      32u /* the part that the driver does not count as the frame */
#define FRAMESZ_DEFAULT  2048u
#define FRAMECNT_DEFAULT 512u
#define FRAMESZ_STEP     256u /* 16 frames of a multiple of it are whole pages */
#define HEADROOM         128u /* RTE_PKTMBUF_HEADROOM */
#define ETH_HEADER       14u
#define VLAN_HEADER      4u
#define ETH_EXTRA        (ETH_HEADER + 4 /* CRC */ + 2 * VLAN_HEADER)
#define WMEM_OFFERED     16777216u

/* net_af_xdp: the kernel gives each frame a part of one page, in the driver's packet buffers. */
#define PAGE         4096u
#define BUFFER_EXTRA 256u /* DPDK's headers, and a cache line of padding */
#define BUFFER_MAX   (PAGE - BUFFER_EXTRA)
#define XDP_BEFORE   (HEADROOM + 256u /* XDP_PACKET_HEADROOM */ + ETH_HEADER + VLAN_HEADER)
#define XDP_MTU_MAX  (BUFFER_MAX - XDP_BEFORE)

/* Drivers of DPDK 22.11; those that [eal] extra = "-d ..." loads are not checked. */
static const char *const drivers[] = {"net_af_packet", "net_af_xdp", "net_bonding", "net_failsafe",
	"net_kni", "net_memif", "net_null", "net_pcap", "net_ring", "net_softnic", "net_tap",
	"net_tun", "net_vdev_netvsc", "net_vhost", "net_virtio_user"};

void hp3_check_driver(struct hp3_doctor *d, const struct hp3_port *p)
{
	const char *name = p->driver;
	char pci[16];

	if (strstr(d->cfg->eal.extra, "-d") != NULL || hp3_devargs_pci(p->devargs, pci) ||
		strncmp(name, "net_", 4) != 0)
		return;
	for (size_t i = 0; i < sizeof(drivers) / sizeof(drivers[0]); i++) {
		if (strcmp(name, drivers[i]) == 0)
			return;
	}
	hp3_find(d, " = \"%s\": DPDK has no driver %s", p->devargs, name);
	hp3_fix(d, "check the name: net_af_packet0,iface=NAME takes an interface of the kernel; "
		   "others are net_af_xdp, net_memif, net_vhost, net_tap, or a PCI address");
}

/* A device of DPDK's other buses: dpni.1, fm1-mac3, mlx5_core.sf.4. */
static bool is_on_other_bus(const char *devargs)
{
	static const char *const starts[] = {"dpni.", "fm", "mlx5_core.sf."};

	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		if (strncmp(devargs, starts[i], strlen(starts[i])) == 0)
			return true;
	}
	return false;
}

void hp3_check_interface(struct hp3_doctor *d, const struct hp3_port *p)
{
	if (!p->named && hp3_devargs_may_be_interface(p->devargs) && !is_on_other_bus(p->devargs)) {
		hp3_find(d, " = %s: there is no interface %s in this network namespace", p->devargs,
			p->devargs);
		hp3_fix(d, "set the name of an interface; to list them: ip link show");
	}
	if (!p->named || p->there || p->unknown)
		return;
	hp3_find(d, " = \"%s\": there is no interface %s in this network namespace", p->devargs,
		p->itf.name);
	hp3_fix(d, "set the name of an interface; to list them: ip link show");
}

void hp3_check_pci(struct hp3_doctor *d, const struct hp3_port *p)
{
	/* These drivers share the device with the kernel; other drivers need the whole device. */
	static const char *const usable[] = {
		"mlx5_core", "mlx4_core", "mana", "vfio-pci", "uio_pci_generic", "igb_uio"};
	char address[16], name[64] = "";

	if (!hp3_devargs_pci(p->devargs, address))
		return;
	if (!hp3_host_exists(d->host, "/sys/bus/pci/devices/%s", address)) {
		hp3_find(d, " = \"%s\": there is no PCI device %s", p->devargs, address);
		hp3_fix(d, "check the address with: lspci -D -d ::0200");
		return;
	}
	hp3_host_link(d->host, name, sizeof(name), "/sys/bus/pci/devices/%s/driver", address);
	for (size_t i = 0; i < sizeof(usable) / sizeof(usable[0]); i++) {
		if (strcmp(name, usable[i]) == 0)
			return;
	}
	hp3_find(d, " = \"%s\": %s%s has the device", p->devargs,
		*name != '\0' ? "the kernel's driver " : "no driver", name);
	hp3_fix(d, "dpdk-devbind.py -b vfio-pci %s", address);
}

void hp3_check_mtu(struct hp3_doctor *d, const struct hp3_port *p)
{
	uint32_t room = d->cfg->eal.mbuf_bytes - HEADROOM;

	if (!p->there || p->itf.mtu + ETH_EXTRA <= room)
		return;
	hp3_find(d, ": MTU %u of %s does not fit one buffer of %u bytes", p->itf.mtu, p->itf.name,
		room);
	hp3_fix(d, "set [eal] mbuf_bytes to at least %u, or: ip link set %s mtu %u",
		p->itf.mtu + ETH_EXTRA + HEADROOM, HP3_SHELL_QUOTE(p->itf.name), room - ETH_EXTRA);
}

static uint32_t devarg_number(const struct hp3_port *p, const char *key, uint32_t none)
{
	char text[16];

	return hp3_devarg(p->devargs, key, text, sizeof(text)) ? (uint32_t)strtoul(text, NULL, 10)
							       : none;
}

void hp3_check_frame_size(struct hp3_doctor *d, const struct hp3_port *p)
{
	uint32_t frame = p->itf.mtu + ETH_HEADER + VLAN_HEADER + RING_HEAD;
	uint32_t need = (frame + FRAMESZ_STEP - 1) / FRAMESZ_STEP * FRAMESZ_STEP;
	uint32_t framesz = devarg_number(p, "framesz", FRAMESZ_DEFAULT);

	uint32_t room = d->cfg->eal.mbuf_bytes - HEADROOM + RING_HIDDEN;

	if (!p->af_packet || !p->there)
		return;
	if (framesz > room) {
		hp3_find(d,
			" = \"%s\": framesz of %u does not fit packet buffers with "
			"[eal] mbuf_bytes = %u",
			p->devargs, framesz, d->cfg->eal.mbuf_bytes);
		hp3_fix(d, "set mbuf_bytes to at least %u, or lower framesz",
			framesz + HEADROOM - RING_HIDDEN);
	}
	if (framesz >= frame)
		return;
	hp3_find(d, " = \"%s\": framesz of %u would cut frames of MTU %u", p->devargs, framesz,
		p->itf.mtu);
	hp3_fix(d, "append framesz=%u,blocksz=%u (and see that [eal] mbuf_bytes is at least %u)",
		need, 16 * need, need + HEADROOM);
}

void hp3_check_link_down(struct hp3_doctor *d, const struct hp3_port *p)
{
	if (!p->there || p->itf.flags & IFF_UP)
		return;
	hp3_find(d, " = \"%s\": the link is down: nothing passes until it is up", p->devargs);
	hp3_fix(d, "ip link set %s up", HP3_SHELL_QUOTE(p->itf.name));
}

void hp3_check_no_carrier(struct hp3_doctor *d, const struct hp3_port *p)
{
	const struct hp3_interface_peer *other = &p->itf.peer;

	if (!p->there || !(p->itf.flags & IFF_UP) || p->itf.carrier)
		return;
	hp3_find(d, " = \"%s\": the link is down: %s is up, but has no carrier", p->devargs,
		p->itf.name);
	if (other->found)
		hp3_fix(d, "%sip link set %s up", other->inside, HP3_SHELL_QUOTE(other->name));
	else
		hp3_fix(d, "ethtool %s, and check the cable and the switch's port",
			HP3_SHELL_QUOTE(p->itf.name));
}

void hp3_check_tx_checksum(struct hp3_doctor *d, const struct hp3_port *p)
{
	const struct hp3_interface_peer *other = &p->itf.peer;

	if (!p->there || !other->found ||
		!hp3_has_offload(other->offloads, HP3_OFFLOAD_TX_CHECKSUM))
		return;
	hp3_find(d,
		": %s, the other end of %s, has tx checksum offload on: its TCP and "
		"UDP arrive with unfinished checksums",
		other->name, p->itf.name);
	hp3_fix(d, "%sethtool -K %s tx off", other->inside, HP3_SHELL_QUOTE(other->name));
}

void hp3_check_merged_frames(struct hp3_doctor *d, const struct hp3_port *p)
{
	static const struct {
		enum hp3_offload offload;
		const char *name;
	} kinds[] = {{HP3_OFFLOAD_LRO, "lro"}, {HP3_OFFLOAD_GRO_LIST, "rx-gro-list"},
		{HP3_OFFLOAD_UDP_GRO, "rx-udp-gro-forwarding"}};

	for (size_t i = 0; p->there && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!hp3_has_offload(p->itf.offloads, kinds[i].offload))
			continue;
		hp3_find(d, ": %s merges received packets (%s)", p->itf.name, kinds[i].name);
		hp3_fix(d, "ethtool -K %s %s off", HP3_SHELL_QUOTE(p->itf.name), kinds[i].name);
	}
}

void hp3_check_gro(struct hp3_doctor *d, const struct hp3_port *p)
{
	if (!p->there || !hp3_has_offload(p->itf.offloads, HP3_OFFLOAD_GRO))
		return;
	hp3_find(d, ": %s merges received TCP segments (gro)", p->itf.name);
	hp3_fix(d, "ethtool -K %s gro off", HP3_SHELL_QUOTE(p->itf.name));
}

void hp3_check_vlan_offload(struct hp3_doctor *d, const struct hp3_port *p)
{
	if (!p->there || !p->af_packet || !hp3_has_offload(p->itf.offloads, HP3_OFFLOAD_RX_VLAN))
		return;
	hp3_find(d, ": %s takes VLAN tags off (rxvlan)", p->itf.name);
	hp3_fix(d, "use net_af_xdp for both ports, if RoCEv2 packets have 802.1ad tags");
}

/* With fail-open, the host's network stack gets no frames from this interface. */
void hp3_check_arp(struct hp3_doctor *d, const struct hp3_port *p)
{
	if (d->cfg->bypass.fail_open != HP3_FAIL_OPEN_OFF || !p->there || !p->af_packet ||
		p->itf.flags & IFF_NOARP)
		return;
	hp3_find(d, ": the kernel answers ARP on %s", p->itf.name);
	hp3_fix(d, "ip link set %s arp off", HP3_SHELL_QUOTE(p->itf.name));
}

void hp3_check_rx_ring(struct hp3_doctor *d, const struct hp3_port *p)
{
	if (!p->there || p->itf.rx_ring >= p->itf.rx_ring_max)
		return;
	hp3_find(d, ": %s queues %u received frames, and could queue %u", p->itf.name,
		p->itf.rx_ring, p->itf.rx_ring_max);
	hp3_fix(d, "ethtool -G %s rx %u", HP3_SHELL_QUOTE(p->itf.name), p->itf.rx_ring_max);
}

void hp3_check_wmem(struct hp3_doctor *d, const struct hp3_port *p)
{
	uint64_t frames = devarg_number(p, "framecnt", FRAMECNT_DEFAULT);
	/* The kernel counts the buffer of a frame with about twice its length. */
	uint64_t ring = 2 * frames * devarg_number(p, "framesz", FRAMESZ_DEFAULT);
	uint32_t have = d->host->send_buffer();

	if (!p->af_packet || !p->there || have >= ring)
		return;
	if (d->n > 0 && d->found[d->n - 1].check == d->check)
		return; /* one setting for all ports */
	hp3_find(d,
		": net.core.wmem_default = %u is less than the %llu bytes of the "
		"driver's ring: frames of a burst would wait in it",
		have, (unsigned long long)ring);
	/* sysctl prints the line that the file needs: the value stays after a reboot. */
	hp3_fix(d, "%ssysctl -w net.core.wmem_default=%llu | tee /etc/sysctl.d/60-hp3.conf",
		hp3_host_writable(d->host, "/proc/sys/net/core/wmem_default") ? ""
									      : "nsenter -t 1 -n ",
		(unsigned long long)(ring > WMEM_OFFERED ? ring : WMEM_OFFERED));
}

static bool is_xdp(const struct hp3_port *p)
{
	return p->there && strcmp(p->driver, "net_af_xdp") == 0;
}

void hp3_check_af_xdp_frames(struct hp3_doctor *d, const struct hp3_port *p)
{
	uint32_t need = p->itf.mtu + XDP_BEFORE;
	uint32_t have = d->cfg->eal.mbuf_bytes;

	if (!is_xdp(p))
		return;
	if (p->itf.mtu > XDP_MTU_MAX) {
		hp3_find(d, ": MTU %u of %s does not fit net_af_xdp, which carries %u", p->itf.mtu,
			p->itf.name, XDP_MTU_MAX);
		hp3_fix(d,
			"ip link set %s mtu %u (and the other end of its cable), or use "
			"net_af_packet",
			HP3_SHELL_QUOTE(p->itf.name), XDP_MTU_MAX);
	} else if (have > BUFFER_MAX || have < need) {
		hp3_find(d,
			": net_af_xdp with MTU %u wants packet buffers of %u to %u "
			"bytes, [eal] mbuf_bytes is %u",
			p->itf.mtu, need, BUFFER_MAX, have);
		hp3_fix(d, "set [eal] mbuf_bytes = %u", BUFFER_MAX);
	}
}

/* A veth passes VLAN tags as its other end sent them; a NIC removes VLAN tags. */
void hp3_check_af_xdp_vlan(struct hp3_doctor *d, const struct hp3_port *p)
{
	const struct hp3_interface_peer *other = &p->itf.peer;

	if (!is_xdp(p))
		return;
	if (other->found && hp3_has_offload(other->offloads, HP3_OFFLOAD_TX_VLAN)) {
		hp3_find(d, ": %s, the other end of %s, keeps VLAN tags beside frames", other->name,
			p->itf.name);
		hp3_fix(d, "%sethtool -K %s txvlan off, if the network uses VLANs", other->inside,
			HP3_SHELL_QUOTE(other->name));
	} else if (p->itf.kind[0] == '\0' &&
		   hp3_has_offload(p->itf.offloads, HP3_OFFLOAD_RX_VLAN)) {
		hp3_find(d, ": %s takes VLAN tags off (rxvlan)", p->itf.name);
		hp3_fix(d, "ethtool -K %s rxvlan off, if the network uses VLANs",
			HP3_SHELL_QUOTE(p->itf.name));
	}
}
