/* SPDX-License-Identifier: BSD-3-Clause */
/* Do the ports of a rail carry each other's frames? They have the addresses of the RNIC and of its
 * peers. */
#include <string.h>
#include "app/doctor/internal.h"
#include "base/plain.h"
#include "config/bonds.h"
#include "config/devargs.h"

#define VFS_MAX 256u /* of a physical function (PCI: 8 bits of the function number) */

const char *hp3_other_devargs(const struct hp3_port *p)
{
	return strcmp(p->side, "rnic") == 0 ? p->rail->net : p->rail->rnic;
}

void hp3_check_mtus(struct hp3_doctor *d, const struct hp3_port *p)
{
	char name[HP3_CONFIG_DEVARGS_MAX];
	struct hp3_interface other;

	if (!p->there || !hp3_devargs_interface(hp3_other_devargs(p), name, sizeof(name)) ||
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

void hp3_check_no_ethernet(struct hp3_doctor *d, const struct hp3_port *p)
{
	if (!p->there || !p->itf.no_ethernet)
		return;
	hp3_find(d, ": %s%s%s%s carries no Ethernet frames", p->itf.name,
		p->itf.kind[0] != '\0' ? " (kind " : "", p->itf.kind,
		p->itf.kind[0] != '\0' ? ")" : "");
	hp3_fix(d, "use the Ethernet interface that RoCEv2 passes: ip link show");
}

void hp3_check_macvlan(struct hp3_doctor *d, const struct hp3_port *p)
{
	const struct hp3_shared_device *s = &p->itf.shared;
	const char *above = strcmp(s->name, p->itf.name) != 0 ? " is above a" : " is a";
	const char *an = s->kind[0] == 'i' ? "n" : "";
	char again[192] = "";

	if (!p->there || s->name[0] == '\0')
		return;
	hp3_find(d,
		": %s%s%s %s%s%s: the kernel gives it only frames for its own addresses, and "
		"frames for the RNIC or its peers are lost",
		p->itf.name, above, an, s->kind, s->mode[0] != '\0' ? " in mode " : "", s->mode);
	if (s->below[0] == '\0') {
		hp3_fix(d,
			"use a whole device or a VF, or a macvlan in mode passthru: the device "
			"below "
			"%s is in another network namespace",
			s->name);
		return;
	}
	if (s->mode[0] != '\0')
		snprintf(again, sizeof(again),
			", or: ip link del %s; ip link add %s link %s type %s mode passthru",
			HP3_SHELL_QUOTE(s->name), HP3_SHELL_QUOTE(s->name),
			HP3_SHELL_QUOTE(s->below), s->kind);
	hp3_fix(d, "use %s, the device below%s", s->below, again);
}

/* The number of a VF of the physical function `pf`; VFS_MAX: it is none. */
static unsigned number_of_vf(const struct hp3_host *h, const char *pf, const char *address)
{
	char target[16];
	unsigned n = 0;

	for (; n < VFS_MAX; n++) {
		if (!hp3_host_link(
			    h, target, sizeof(target), "/sys/bus/pci/devices/%s/virtfn%u", pf, n))
			return VFS_MAX;
		if (strcmp(target, address) == 0)
			break;
	}
	return n;
}

struct vf_walk {
	struct hp3_doctor *d;
	const char *name; /* of the VF, for the message */
	unsigned number;
};

static void check_vf_of(void *arg, const char *pf)
{
	struct vf_walk *w = arg;
	struct hp3_vf vf = {0};

	if (!w->d->host->vf(pf, w->number, &vf) || (!vf.spoof_check && !vf.untrusted))
		return;
	hp3_find(w->d, ": %s is VF %u of %s: its device %s%s%s", w->name, vf.number, vf.pf,
		vf.spoof_check ? "drops frames that it sends with the RNIC's source address "
				 "(spoofchk on)"
			       : "",
		vf.spoof_check && vf.untrusted ? ", and " : "",
		vf.untrusted ? "may refuse to give it frames for other addresses (trust off)" : "");
	hp3_fix(w->d, "ip link set %s vf %u%s%s", HP3_SHELL_QUOTE(vf.pf), vf.number,
		vf.spoof_check ? " spoofchk off" : "", vf.untrusted ? " trust on" : "");
}

void hp3_check_vf_spoofchk(struct hp3_doctor *d, const struct hp3_port *p)
{
	struct vf_walk w = {.d = d, .name = p->there ? p->itf.name : p->devargs};
	char address[32], pf[16];

	if (!hp3_devargs_pci(p->devargs, address))
		snprintf(address, sizeof(address), "%s", p->itf.bus);
	if (address[0] == '\0' ||
		!hp3_host_link(d->host, pf, sizeof(pf), "/sys/bus/pci/devices/%s/physfn", address))
		return;
	w.number = number_of_vf(d->host, pf, address);
	if (w.number < VFS_MAX)
		hp3_each_interface_of_pci(d->host, pf, check_vf_of, &w);
}
