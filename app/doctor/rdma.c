/* SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include "app/doctor/internal.h"

#define GIDS_MAX 256u
#define CLASS    "/sys/class/infiniband"

struct walk {
	struct hp3_doctor *d;
	void (*fn)(struct hp3_doctor *d, const struct hp3_rdma_port *p);
	char device[64];
};

static void address_text(const char *gid, char *buf, size_t cap)
{
	struct in6_addr a;

	if (inet_pton(AF_INET6, gid, &a) == 1 && IN6_IS_ADDR_V4MAPPED(&a))
		inet_ntop(AF_INET, &a.s6_addr[12], buf, (socklen_t)cap);
	else if (inet_pton(AF_INET6, gid, &a) == 1)
		inet_ntop(AF_INET6, &a, buf, (socklen_t)cap);
	else
		snprintf(buf, cap, "?");
}

static void read_gids(const struct hp3_host *h, struct hp3_rdma_port *p)
{
	bool good = false;

	for (unsigned i = 0; i < GIDS_MAX; i++) {
		char gid[64], type[32];

		if (!hp3_host_line(h, gid, sizeof(gid), CLASS "/%s/ports/%u/gids/%u", p->device,
			    p->number, i))
			return;
		if (!hp3_host_line(h, type, sizeof(type), CLASS "/%s/ports/%u/gid_attrs/types/%u",
			    p->device, p->number, i) ||
			strcmp(type, "RoCE v2") != 0)
			continue;
		p->roce_v2++;
		if (p->netdev[0] == '\0')
			hp3_host_line(h, p->netdev, sizeof(p->netdev),
				CLASS "/%s/ports/%u/gid_attrs/ndevs/%u", p->device, p->number, i);
		if (!good)
			address_text(gid, p->address, sizeof(p->address));
		good = good || strncmp(gid, "fe80:", 5) != 0;
	}
}

/* NVIDIA's driver has the file at the interface, Linux's mlx5_ib in debugfs. */
static void read_cnp_dscp(const struct hp3_host *h, struct hp3_rdma_port *p)
{
	char pci[32] = "";

	snprintf(p->cnp_file, sizeof(p->cnp_file), "/sys/class/net/%s/ecn/roce_np/cnp_dscp",
		p->netdev);
	p->cnp_dscp = (int)hp3_host_number(h, -1, "%s", p->cnp_file);
	if (p->cnp_dscp >= 0 || !hp3_host_link(h, pci, sizeof(pci), CLASS "/%s/device", p->device))
		return;
	snprintf(p->cnp_file, sizeof(p->cnp_file),
		"/sys/kernel/debug/mlx5/%s/cc_params/np_cnp_dscp", pci);
	p->cnp_dscp = (int)hp3_host_number(h, -1, "%s", p->cnp_file);
}

static void take_port(void *arg, const char *name)
{
	struct walk *w = arg;
	const struct hp3_host *h = w->d->host;
	struct hp3_rdma_port p = {.number = (unsigned)strtoul(name, NULL, 10)};
	char text[64], *space;

	memcpy(p.device, w->device, sizeof(p.device));
	/* Soft-RoCE has no underlying device, but an interface. */
	if (hp3_host_exists(h, CLASS "/%s/parent", p.device))
		strcpy(p.driver, "rxe");
	else if (!hp3_host_link(h, p.driver, sizeof(p.driver), CLASS "/%s/device/driver", p.device))
		strcpy(p.driver, "unknown");
	hp3_host_line(h, p.firmware, sizeof(p.firmware), CLASS "/%s/fw_ver", p.device);
	if (hp3_host_line(h, text, sizeof(text), CLASS "/%s/ports/%u/state", p.device, p.number)) {
		p.active = text[0] == '4';
		space = strchr(text, ' ');
		snprintf(p.state, sizeof(p.state), "%.31s", space != NULL ? space + 1 : text);
	}
	p.ethernet = hp3_host_line(h, text, sizeof(text), CLASS "/%s/ports/%u/link_layer", p.device,
			     p.number) &&
		     strcmp(text, "Ethernet") == 0;
	read_gids(h, &p);
	read_cnp_dscp(h, &p);
	w->fn(w->d, &p);
}

static void take_device(void *arg, const char *name)
{
	struct walk *w = arg;
	char dir[sizeof(CLASS) + sizeof(w->device) + sizeof("/ports")];

	snprintf(w->device, sizeof(w->device), "%.63s", name);
	snprintf(dir, sizeof(dir), CLASS "/%s/ports", w->device);
	hp3_host_each(w->d->host, dir, take_port, w);
}

void hp3_each_rdma_port(
	struct hp3_doctor *d, void (*fn)(struct hp3_doctor *d, const struct hp3_rdma_port *p))
{
	struct walk w = {.d = d, .fn = fn};

	hp3_host_each(d->host, CLASS, take_device, &w);
}
