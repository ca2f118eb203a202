/* SPDX-License-Identifier: BSD-3-Clause */
/* Does the host itself use the interfaces of a rail? */
#include <string.h>
#include "app/doctor/internal.h"
#include "base/plain.h"
#include "config/devargs.h"

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

/* Does the device's kernel driver share it with DPDK? Then the kernel has an interface, too. */
static bool is_shared_pci(const struct hp3_host *h, const char *address)
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
static const char *loss_lasts(const struct hp3_doctor *d, const char *devargs, const char *other)
{
	/* Then hp3d starts without fail-open. */
	bool is_split = d->cfg->eal.lcores > 1 && d->cfg->eal.spread == HP3_SPREAD_SOFTWARE;
	char address[16];

	if (d->cfg->bypass.fail_open != HP3_FAIL_OPEN_OFF && !is_split && may_fail_open(devargs) &&
		may_fail_open(other))
		return "until hp3d --detach";
	if (is_driver(devargs, "net_af_xdp") ||
		(hp3_devargs_pci(devargs, address) && is_shared_pci(d->host, address)))
		return "while hp3d runs";
	return NULL;
}

/* Writes what the host itself uses to buf, which has room for all of it: names of interfaces are
 * short. Returns false if that is nothing. */
static bool describe_own(
	const struct hp3_own_traffic *own, const char *ports, char *buf, size_t cap)
{
	size_t n = 0;

	buf[0] = '\0';
	if (own->address[0] != '\0')
		n += (size_t)snprintf(buf + n, cap - n, " address %s%s%s,", own->address,
			own->upper[0] != '\0' ? " of " : "", own->upper);
	if (own->default_route)
		n += (size_t)snprintf(buf + n, cap - n, " the default route,");
	if (own->master[0] != '\0')
		n += (size_t)snprintf(
			buf + n, cap - n, " %s of %s %s,", ports, own->master_kind, own->master);
	if (n == 0)
		return false;
	buf[n - 1] = '\0';
	return true;
}

/* The command that ends the use of the interface; `both`: the other port has the same master. */
static void describe_fix(const char *itf, const struct hp3_own_traffic *own,
	const struct hp3_own_traffic *both, char *buf, size_t cap)
{
	const char *holder = own->upper[0] != '\0' ? own->upper : itf;

	if (both != NULL)
		snprintf(buf, cap, "ip link set %s nomaster; ip link set %s nomaster",
			HP3_SHELL_QUOTE(own->member), HP3_SHELL_QUOTE(both->member));
	else if (own->master[0] != '\0')
		snprintf(buf, cap, "ip link set %s nomaster", HP3_SHELL_QUOTE(own->member));
	else if (own->advertised)
		snprintf(buf, cap,
			"ignore router advertisements (sysctl -w net/ipv6/conf/%s/accept_ra=0), "
			"and remove what they brought (ip -6 addr flush dev %s scope global; ip -6 "
			"route flush dev %s proto ra)",
			HP3_SHELL_QUOTE(holder), HP3_SHELL_QUOTE(holder), HP3_SHELL_QUOTE(holder));
	else
		snprintf(buf, cap, "remove the address (ip addr flush dev %s)",
			HP3_SHELL_QUOTE(holder));
}

/* `other`: what the host uses of the rail's other port, if that port has the same master. */
static void find_own_traffic(struct hp3_doctor *d, const struct hp3_interface *itf,
	const struct hp3_own_traffic *other, const char *lasts)
{
	struct hp3_own_traffic own;
	char ports[64], lost[256], fix[256];

	d->host->own_traffic(itf, &own);
	if (other != NULL)
		snprintf(ports, sizeof(ports), "%s and %s are ports", own.member, other->member);
	else if (strcmp(own.member, itf->name) != 0)
		snprintf(ports, sizeof(ports), "%s is a port", own.member);
	else
		snprintf(ports, sizeof(ports), "a port");
	if (!describe_own(&own, ports, lost, sizeof(lost)))
		return;
	describe_fix(itf->name, &own, other, fix, sizeof(fix));
	hp3_find(d,
		": the host itself uses %s (%s): hp3d would take all its frames, and the host "
		"would get none %s",
		itf->name, lost + 1, lasts);
	hp3_fix(d,
		"%s, or use another interface, or accept the loss: own_addresses = accept in "
		"[rail.%s]",
		fix, d->port->rail->name);
}

struct device_walk {
	struct hp3_doctor *d;
	const char *lasts;
};

static void take_interface(void *arg, const char *name)
{
	struct device_walk *w = arg;
	struct hp3_interface itf;

	if (w->d->host->interface(name, &itf))
		find_own_traffic(w->d, &itf, NULL, w->lasts);
}

/* Are both ports of the rail, or interfaces above them, ports of one bridge or bond, and is there
 * no other difference? Then one finding is about both. */
static bool have_one_master(
	const struct hp3_doctor *d, const struct hp3_port *p, struct hp3_own_traffic *other)
{
	char name[HP3_CONFIG_DEVARGS_MAX];
	struct hp3_own_traffic own;
	struct hp3_interface itf;

	if (!p->there || !hp3_devargs_interface(hp3_other_devargs(p), name, sizeof(name)) ||
		!d->host->interface(name, &itf) ||
		loss_lasts(d, hp3_other_devargs(p), p->devargs) == NULL)
		return false;
	d->host->own_traffic(&p->itf, &own);
	d->host->own_traffic(&itf, other);
	return own.master[0] != '\0' && strcmp(own.master, other->master) == 0 &&
	       strcmp(own.address, other->address) == 0 &&
	       own.default_route == other->default_route;
}

void hp3_check_own_addresses(struct hp3_doctor *d, const struct hp3_port *p)
{
	struct device_walk w = {.d = d, .lasts = loss_lasts(d, p->devargs, hp3_other_devargs(p))};
	struct hp3_own_traffic other;
	char address[16];
	bool both;

	if (w.lasts == NULL || p->rail->own_addresses == HP3_OWN_ADDRESSES_ACCEPT)
		return;
	both = have_one_master(d, p, &other);
	if (both && strcmp(p->side, "net") == 0)
		return; /* the finding about the other port is about both */
	if (p->there)
		find_own_traffic(d, &p->itf, both ? &other : NULL, w.lasts);
	if (hp3_devargs_pci(p->devargs, address))
		hp3_each_interface_of_pci(d->host, address, take_interface, &w);
}
