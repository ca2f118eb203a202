/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of RNICs. */
#include <string.h>
#include "app/doctor/internal.h"
#include "base/plain.h"
#include "config/bonds.h"
#include "config/devargs.h"

void hp3_check_rdma_name(struct hp3_doctor *d)
{
	for (uint32_t i = 0; d->cfg != NULL && i < d->cfg->n_rails; i++) {
		const struct hp3_config_rail *r = &d->cfg->rails[i];

		if (r->rdma[0] == '\0' || strchr(r->rdma, '/') != NULL ||
			hp3_host_exists(d->host, "/sys/class/infiniband/%s", r->rdma))
			continue;
		hp3_find(d, "[rail.%s] rdma = %s: there is no such RDMA device", r->name, r->rdma);
		hp3_fix(d, "check the name with: rdma link show");
	}
}

static const char *live_move(const struct hp3_host *h, const struct hp3_rdma_port *p)
{
	static const struct {
		const char *driver, *library, *symbol, *there, *missing;
	} methods[] = {
		{"rxe", NULL, NULL, "SQD, a new flow label, RTS (ibv_modify_qp)", NULL},
		{"mlx5_core", "libmlx5.so.1", "mlx5dv_modify_qp_udp_sport",
			"mlx5dv_modify_qp_udp_sport",
			"mlx5dv_modify_qp_udp_sport, which this libmlx5 lacks (rdma-core 33)"},
		{"bnxt_en", "libbnxt_re.so", "bnxt_re_dv_modify_qp_udp_sport",
			"bnxt_re_dv_modify_qp_udp_sport",
			"bnxt_re_dv_modify_qp_udp_sport, which this libbnxt_re lacks"},
	};

	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		if (strcmp(p->driver, methods[i].driver) == 0)
			return methods[i].library == NULL ||
					       h->has_symbol(methods[i].library, methods[i].symbol)
				       ? methods[i].there
				       : methods[i].missing;
	}
	return "none known, inline only";
}

/* The clock that times probes in verbs mode (app/hp3d/ud). Only hp3d can query the device. */
static const char *timed_by(const struct hp3_rdma_port *p)
{
	if (strcmp(p->driver, "rxe") == 0)
		return "hp3d's clock: it has no time-stamps";
	if (strcmp(p->driver, "mlx5_core") == 0)
		return "its stamps, if hp3_verbs_stamping_ports counts it";
	return "nobody: none are sent";
}

/* Does a rail name this device in rdma=? */
static bool is_claimed(const struct hp3_doctor *d, const char *device)
{
	for (uint32_t i = 0; d->cfg != NULL && i < d->cfg->n_rails; i++) {
		if (strcmp(d->cfg->rails[i].rdma, device) == 0)
			return true;
	}
	return false;
}

void hp3_check_rdma_device(struct hp3_doctor *d, const struct hp3_rdma_port *p)
{
	char cnp[16] = "-";

	if (p->cnp_dscp >= 0)
		snprintf(cnp, sizeof(cnp), "%d", p->cnp_dscp);
	hp3_find(d,
		"%s: driver %s, firmware %s, port %u %s, %s, %u RoCE v2 addresses (%s, %s), CNPs "
		"with DSCP %s; live move: %s; verbs-mode probes timed by: %s",
		p->device, p->driver, p->firmware[0] != '\0' ? p->firmware : "-", p->number,
		p->state, p->ethernet ? "Ethernet" : "InfiniBand", p->roce_v2,
		p->address[0] != '\0' ? p->address : "-",
		p->netdev[0] != '\0' ? p->netdev : "no interface", cnp, live_move(d->host, p),
		timed_by(p));
	if (d->cfg != NULL && !is_claimed(d, p->device))
		hp3_fix(d, "set rdma = %s in the [rail.NAME] of this device", p->device);
}

void hp3_check_rdma_port(struct hp3_doctor *d, const struct hp3_rdma_port *p)
{
	if (p->active)
		return;
	hp3_find(d, "%s port %u: %s", p->device, p->number, p->state);
	if (p->netdev[0] != '\0')
		hp3_fix(d, "ip link set %s up", HP3_SHELL_QUOTE(p->netdev));
	else
		hp3_fix(d, "rdma link show %s/%u", p->device, p->number);
}

void hp3_check_rdma_gid(struct hp3_doctor *d, const struct hp3_rdma_port *p)
{
	if (p->roce_v2 > 0)
		return;
	if (p->ethernet) {
		hp3_find(d, "%s port %u has no RoCE v2 address", p->device, p->number);
		hp3_fix(d, "give its interface an address: ip addr add ADDRESS/BITS dev NAME");
	} else {
		hp3_find(d, "%s port %u is InfiniBand: hp3 moves only RoCE v2", p->device,
			p->number);
		hp3_fix(d, "leave it out, or for a ConnectX: mlxconfig -d %s set LINK_TYPE_P%u=2",
			p->device, p->number);
	}
}

/* The rail that uses this interface, or its PCI device; n_rails: there is none. */
static uint32_t rail_of(const struct hp3_doctor *d, const char *name)
{
	char device[64] = "", pci[16], itf[64];

	hp3_host_link(d->host, device, sizeof(device), "/sys/class/net/%s/device", name);
	for (uint32_t i = 0; i < 2 * d->cfg->n_rails; i++) {
		const struct hp3_config_rail *r = &d->cfg->rails[i / 2];
		const char *devargs = i % 2 == 0 ? r->rnic : r->net;

		if ((hp3_devargs_pci(devargs, pci) && strcmp(pci, device) == 0) ||
			(hp3_devargs_interface(devargs, itf, sizeof(itf)) &&
				strcmp(itf, name) == 0))
			return i / 2;
	}
	return d->cfg->n_rails;
}

/* Rails on ports of one bond share their flows only if a [bond.NAME] lists them. */
static void check_shared(
	struct hp3_doctor *d, const struct hp3_rdma_port *p, uint32_t first, uint32_t rail)
{
	const struct hp3_config *cfg = d->cfg;

	if (hp3_config_lead(cfg, first) == hp3_config_lead(cfg, rail))
		return;
	hp3_find(d,
		"%s uses the bond %s, and [rail.%s] and [rail.%s] are on its ports, but no "
		"[bond.NAME] lists both: replies that arrive on the other rail pair no flow",
		p->device, p->netdev, cfg->rails[first].name, cfg->rails[rail].name);
	hp3_fix(d, "add [bond.NAME] with rails = %s, %s", cfg->rails[first].name,
		cfg->rails[rail].name);
}

void hp3_check_rdma_bond(struct hp3_doctor *d, const struct hp3_rdma_port *p)
{
	char slaves[256], *save = NULL, *name;
	uint32_t first, rail;

	if (p->netdev[0] == '\0' || !hp3_host_line(d->host, slaves, sizeof(slaves),
					    "/sys/class/net/%s/bonding/slaves", p->netdev))
		return;
	if (d->cfg == NULL)
		return;
	first = d->cfg->n_rails;
	for (name = strtok_r(slaves, " ", &save); name != NULL; name = strtok_r(NULL, " ", &save)) {
		rail = rail_of(d, name);
		if (rail < d->cfg->n_rails) {
			if (first == d->cfg->n_rails)
				first = rail;
			check_shared(d, p, first, rail);
			continue;
		}
		hp3_find(d, "%s uses the bond %s, and no rail is on its port %s", p->device,
			p->netdev, name);
		hp3_fix(d,
			"add a [rail.NAME] for %s, with rdma = %s and own_addresses = accept (the "
			"bond loses this port); what connections agreed on "
			"(ECE): mlxreg -d %s --reg_name ROCE_ACCL --get",
			name, p->device, p->device);
	}
	if (!is_claimed(d, p->device)) {
		hp3_find(d, "%s uses the bond %s, and no rail names it", p->device, p->netdev);
		hp3_fix(d, "set rdma = %s in the [rail.NAME] of each port of %s", p->device,
			HP3_SHELL_QUOTE(p->netdev));
	}
}

/* The kernel's version. Debian's release is 6.1.0; the real version is after "Debian". */
static bool kernel_version(const struct hp3_host *h, unsigned v[3])
{
	char text[512];
	const char *debian;

	if (!hp3_host_line(h, text, sizeof(text), "/proc/version"))
		return false;
	debian = strstr(text, " Debian ");
	if (debian != NULL && sscanf(debian, " Debian %u.%u.%u", &v[0], &v[1], &v[2]) == 3)
		return true;
	return sscanf(text, "Linux version %u.%u.%u", &v[0], &v[1], &v[2]) == 3;
}

/* Rule 5: fixed in 6.1.175, 6.6.140, 6.12.88 and all branches newer than that. */
static bool reads_beyond(const unsigned v[3])
{
	static const unsigned mended[][3] = {{6, 1, 175}, {6, 6, 140}, {6, 12, 88}};

	for (size_t i = 0; i < sizeof(mended) / sizeof(mended[0]); i++) {
		const unsigned *m = mended[i];

		if (v[0] < m[0] || (v[0] == m[0] && v[1] < m[1]))
			return true; /* older branches have no fix */
		if (v[0] == m[0] && v[1] == m[1])
			return v[2] < m[2];
	}
	return false;
}

/* `native`: if hp3d delivers CNPs to it. */
static void check_rxe(struct hp3_doctor *d, const struct hp3_rdma_port *p, bool native)
{
	unsigned v[3];

	if (native != (d->cfg != NULL && d->cfg->engine.cc.mode == HP3_CC_NATIVE) ||
		strcmp(p->driver, "rxe") != 0 || !kernel_version(d->host, v) || !reads_beyond(v))
		return;
	hp3_find(d, "%s is Soft-RoCE of Linux %u.%u.%u, which reads beyond the end of CNPs",
		p->device, v[0], v[1], v[2]);
	if (native)
		hp3_fix(d, "set [cc] mode = off, and: apt-get update && apt-get install "
			   "linux-image-amd64");
	else
		hp3_fix(d, "apt-get update && apt-get install linux-image-amd64 (6.1.175, 6.6.140, "
			   "6.12.88 or later)");
}

void hp3_check_rxe_cnp(struct hp3_doctor *d, const struct hp3_rdma_port *p)
{
	check_rxe(d, p, true);
}

void hp3_check_rxe_kernel(struct hp3_doctor *d, const struct hp3_rdma_port *p)
{
	check_rxe(d, p, false);
}
