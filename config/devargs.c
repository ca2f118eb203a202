/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/devargs.h"
#include <net/if.h>
#include <stdio.h>
#include <string.h>

bool hp3_devarg(const char *devargs, const char *key, char *buf, size_t cap)
{
	size_t n = strlen(key);

	while ((devargs = strchr(devargs, ',')) != NULL) {
		devargs++;
		if (strncmp(devargs, key, n) == 0 && devargs[n] == '=') {
			devargs += n + 1;
			snprintf(buf, cap, "%.*s", (int)strcspn(devargs, ","), devargs);
			return true;
		}
	}
	return false;
}

void hp3_devargs_driver(const char *devargs, char *buf, size_t cap)
{
	size_t n = strcspn(devargs, ",");

	while (n > 0 && devargs[n - 1] >= '0' && devargs[n - 1] <= '9')
		n--;
	snprintf(buf, cap, "%.*s", (int)n, devargs);
}

bool hp3_devargs_pci(const char *devargs, char buf[16])
{
	unsigned domain = 0, bus, device, function;
	int n = 0;

	if (sscanf(devargs, "%4x:%2x:%2x.%1x%n", &domain, &bus, &device, &function, &n) != 4) {
		domain = 0;
		n = 0;
		if (sscanf(devargs, "%2x:%2x.%1x%n", &bus, &device, &function, &n) != 3)
			return false;
	}
	if (devargs[n] != '\0' && devargs[n] != ',')
		return false;
	snprintf(buf, 16, "%04x:%02x:%02x.%x", domain & 0xffff, bus & 0xff, device & 0xff,
		function & 0xf);
	return true;
}

bool hp3_devargs_may_be_interface(const char *devargs)
{
	return devargs[0] != '\0' && devargs[strcspn(devargs, ",:=/")] == '\0' &&
	       strlen(devargs) < IF_NAMESIZE && strncmp(devargs, "net_", 4) != 0 &&
	       strncmp(devargs, "eth_", 4) != 0;
}

bool hp3_devargs_interface(const char *devargs, char *buf, size_t cap)
{
	static const char *const drivers[] = {"net_af_packet", "net_af_xdp", "net_pcap"};
	char driver[32];

	hp3_devargs_driver(devargs, driver, sizeof(driver));
	for (size_t i = 0; i < sizeof(drivers) / sizeof(drivers[0]); i++) {
		if (strcmp(driver, drivers[i]) == 0)
			return hp3_devarg(devargs, "iface", buf, cap);
	}
	return false;
}
