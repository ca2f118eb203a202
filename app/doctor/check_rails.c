/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of what a rail does to the traffic of its interfaces. */
#include <string.h>
#include "app/doctor/internal.h"
#include "base/plain.h"
#include "config/bonds.h"
#include "config/devargs.h"

static const char *other_devargs(const struct hp3_port *p)
{
	return strcmp(p->side, "rnic") == 0 ? p->rail->net : p->rail->rnic;
}

static bool is_driver(const char *devargs, const char *wanted)
{
	char driver[32];

	hp3_devargs_driver(devargs, driver, sizeof(driver));
	return strcmp(driver, wanted) == 0;
}

static bool may_fail_open(const char *devargs)
{
	return is_driver(devargs, "net_af_packet") || is_driver(devargs, "net_af_xdp");
}

void hp3_check_mtus(struct hp3_doctor *d, const struct hp3_port *p)
{
	char name[HP3_CONFIG_DEVARGS_MAX];
	struct hp3_interface other;

	if (!p->there || !hp3_devargs_interface(other_devargs(p), name, sizeof(name)) ||
		!d->host->interface(name, &other) || p->itf.mtu <= other.mtu)
		return;
	hp3_find(d,
		": MTU %u of %s is larger than MTU %u of %s, the other port of the rail: hp3d "
		"drops frames that are too long for %s",
		p->itf.mtu, p->itf.name, other.mtu, other.name, other.name);
	hp3_fix(d, "ip link set %s mtu %u, or: ip link set %s mtu %u", HP3_SHELL_QUOTE(other.name),
		p->itf.mtu, HP3_SHELL_QUOTE(p->itf.name), other.mtu);
}

static const char *devargs_of(const struct hp3_config_rail *r, unsigned side)
{
	return side == 0 ? r->rnic : r->net;
}

static void compare_mtus(struct hp3_doctor *d, unsigned lead, unsigned rail)
{
	static const char *const sides[] = {"rnic", "net"};
	const struct hp3_config_rail *rails = d->cfg->rails;

	for (unsigned side = 0; side < 2; side++) {
		const char *devargs[] = {
			devargs_of(&rails[lead], side), devargs_of(&rails[rail], side)};
		char name[HP3_CONFIG_DEVARGS_MAX];
		struct hp3_interface itf[2];
		bool there = true;

		for (unsigned i = 0; i < 2 && there; i++)
			there = hp3_devargs_interface(devargs[i], name, sizeof(name)) &&
				d->host->interface(name, &itf[i]);
		if (!there || itf[0].mtu == itf[1].mtu)
			continue;
		hp3_find(d,
			"[bond.%s] %s: MTU %u of %s ([rail.%s]) differs from MTU %u of %s "
			"([rail.%s])",
			hp3_config_flows_name(d->cfg, lead), sides[side], itf[0].mtu, itf[0].name,
			rails[lead].name, itf[1].mtu, itf[1].name, rails[rail].name);
		hp3_fix(d, "ip link set %s mtu %u, or: ip link set %s mtu %u",
			HP3_SHELL_QUOTE(itf[0].name), itf[1].mtu, HP3_SHELL_QUOTE(itf[1].name),
			itf[0].mtu);
	}
}

void hp3_check_bond_mtu(struct hp3_doctor *d)
{
	for (uint32_t i = 0; d->cfg != NULL && i < d->cfg->n_rails; i++) {
		if (!hp3_config_is_lead(d->cfg, i))
			compare_mtus(d, hp3_config_lead(d->cfg, i), i);
	}
}

/* Does the device's kernel driver share it with DPDK? Then the kernel has an interface, too. */
static bool is_shared(const struct hp3_host *h, const char *address)
{
	static const char *const shared[] = {"mlx5_core", "mlx4_core", "mana"};
	char name[64] = "";

	hp3_host_link(h, name, sizeof(name), "/sys/bus/pci/devices/%s/driver", address);
	for (size_t i = 0; i < sizeof(shared) / sizeof(shared[0]); i++) {
		if (strcmp(name, shared[i]) == 0)
			return true;
	}
	return false;
}

/* How long the host gets no frames from the port; NULL: it gets copies of all frames. Without
 * fail-open, net_af_packet and net_pcap copy frames. */
static const char *loss_lasts(const struct hp3_doctor *d, const struct hp3_port *p)
{
	/* Then hp3d starts without fail-open. */
	bool is_split = d->cfg->eal.lcores > 1 && d->cfg->eal.spread == HP3_SPREAD_SOFTWARE;
	char address[16];

	if (d->cfg->bypass.fail_open != HP3_FAIL_OPEN_OFF && !is_split &&
		may_fail_open(p->devargs) && may_fail_open(other_devargs(p)))
		return "until hp3d --detach";
	if (is_driver(p->devargs, "net_af_xdp") ||
		(hp3_devargs_pci(p->devargs, address) && is_shared(d->host, address)))
		return "while hp3d runs";
	return NULL;
}

/* Addresses of ports of a VRF are on the ports themselves. */
static bool takes_frames(const struct hp3_own_traffic *own)
{
	return own->master[0] != '\0' && strcmp(own->master_kind, "vrf") != 0;
}

static void find_own_traffic(
	struct hp3_doctor *d, const struct hp3_interface *itf, const char *lasts)
{
	struct hp3_own_traffic own;
	char lost[160] = "";
	size_t n = 0;

	d->host->own_traffic(itf, &own);
	if (own.address[0] != '\0')
		n += (size_t)snprintf(lost + n, sizeof(lost) - n, " address %s%s%s,", own.address,
			own.upper[0] != '\0' ? " of " : "", own.upper);
	if (own.default_route)
		n += (size_t)snprintf(lost + n, sizeof(lost) - n, " the default route,");
	if (takes_frames(&own))
		n += (size_t)snprintf(lost + n, sizeof(lost) - n, " a port of %s %s,",
			own.master_kind, own.master);
	if (n == 0)
		return;
	lost[n - 1] = '\0';
	hp3_find(d,
		": the host itself uses %s (%s): hp3d would take all its frames, and the host "
		"would "
		"get none %s",
		itf->name, lost + 1, lasts);
	if (takes_frames(&own))
		hp3_fix(d,
			"ip link set %s nomaster, or use another interface, or accept the loss: "
			"own_addresses = accept in [rail.%s]",
			HP3_SHELL_QUOTE(itf->name), d->port->rail->name);
	else
		hp3_fix(d,
			"remove the address (ip addr flush dev %s), or use another interface, or "
			"accept the loss: own_addresses = accept in [rail.%s]",
			HP3_SHELL_QUOTE(own.upper[0] != '\0' ? own.upper : itf->name),
			d->port->rail->name);
}

struct device_walk {
	struct hp3_doctor *d;
	const char *lasts;
};

/* A PCI device of a switch has more interfaces, each for a port of another function. */
static void take_interface(void *arg, const char *name)
{
	struct device_walk *w = arg;
	struct hp3_interface itf;
	char port[32] = "";

	hp3_host_line(w->d->host, port, sizeof(port), "/sys/class/net/%s/phys_port_name", name);
	if (strstr(port, "pf") == NULL && w->d->host->interface(name, &itf))
		find_own_traffic(w->d, &itf, w->lasts);
}

void hp3_check_own_addresses(struct hp3_doctor *d, const struct hp3_port *p)
{
	struct device_walk w = {.d = d, .lasts = loss_lasts(d, p)};
	char address[16], dir[64];

	if (w.lasts == NULL || p->rail->own_addresses == HP3_OWN_ADDRESSES_ACCEPT)
		return;
	if (p->there)
		find_own_traffic(d, &p->itf, w.lasts);
	if (!hp3_devargs_pci(p->devargs, address))
		return;
	snprintf(dir, sizeof(dir), "/sys/bus/pci/devices/%s/net", address);
	hp3_host_each(d->host, dir, take_interface, &w);
}
