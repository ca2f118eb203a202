/* SPDX-License-Identifier: BSD-3-Clause */
/* A rail may name a port by the plain name of a kernel interface. */
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include "config/config.h"
#include "config/devargs.h"
#include "config/message.h"

static char *port_of(struct hp3_config *cfg, uint32_t i)
{
	return i % 2 == 0 ? cfg->rails[i / 2].rnic : cfg->rails[i / 2].net;
}

static bool is_name_taken(struct hp3_config *cfg, const char *name)
{
	size_t n = strlen(name);

	for (uint32_t i = 0; i < 2 * cfg->n_rails; i++) {
		const char *port = port_of(cfg, i);

		if (strcspn(port, ",") == n && strncmp(port, name, n) == 0)
			return true;
	}
	return false;
}

void hp3_config_name_ports(struct hp3_config *cfg, const char *program)
{
	char name[32], interface[IF_NAMESIZE];

	for (uint32_t i = 0, number = 0; i < 2 * cfg->n_rails; i++) {
		char *port = port_of(cfg, i);

		if (!hp3_devargs_may_be_interface(port) || if_nametoindex(port) == 0)
			continue;
		do
			snprintf(name, sizeof(name), "net_af_packet%u", number++);
		while (is_name_taken(cfg, name));
		snprintf(interface, sizeof(interface), "%s", port);
		snprintf(port, HP3_CONFIG_DEVARGS_MAX, "%s,iface=%s", name, interface);
		hp3_message("%s: [rail.%s] %s = %s: taken as \"%s\"", program,
			cfg->rails[i / 2].name, i % 2 == 0 ? "rnic" : "net", interface, port);
	}
}
