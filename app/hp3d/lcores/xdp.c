/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/lcores/ports.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include "app/bypass/bypass.h"
#include "app/interface.h"
#include "config/devargs.h"

#define PACKET     "net_af_packet"
#define XDP        "net_af_xdp"
#define NAME_BYTES 32

static bool is_driver(const char *devargs, const char *name)
{
	char driver[NAME_BYTES];

	hp3_devargs_driver(devargs, driver, sizeof(driver));
	return strcmp(driver, name) == 0;
}

bool hp3d_xdp_is_driver(const char *devargs)
{
	return is_driver(devargs, XDP);
}

/* Queues of an interface that receive; the driver opens the first one alone. */
static unsigned count_queues(const char *interface)
{
	struct ethtool_channels c = {.cmd = ETHTOOL_GCHANNELS};
	struct ifreq ifr = {.ifr_data = (void *)&c};

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", interface);
	return hp3_interface_ioctl(SIOCETHTOOL, &ifr) == 0 ? c.combined_count + c.rx_count : 1;
}

const char *hp3d_xdp_unsupported(const char *devargs)
{
	char text[IF_NAMESIZE];

	if (is_driver(devargs, PACKET))
		return NULL;
	if (!is_driver(devargs, XDP))
		return "is no net_af_packet port or net_af_xdp port";
	if (hp3_devarg(devargs, "xdp_prog", text, sizeof(text)))
		return "has an xdp_prog= of its own";
	if (hp3_devarg(devargs, "start_queue", text, sizeof(text)) ||
		hp3_devarg(devargs, "queue_count", text, sizeof(text)))
		return "has start_queue= or queue_count=, and fails open with its first queue only";
	if (hp3_devarg(devargs, "iface", text, sizeof(text)) && count_queues(text) > 1)
		return "has several queues, of which net_af_xdp opens one (type: ethtool -L "
		       "INTERFACE combined 1)";
	return NULL;
}

bool hp3d_xdp_fails_open(const struct hp3_config *cfg, unsigned rail)
{
	const struct hp3_config_rail *r = &cfg->rails[rail];

	return cfg->bypass.fail_open != HP3_FAIL_OPEN_OFF &&
	       (is_driver(r->rnic, XDP) || is_driver(r->net, XDP)) &&
	       (cfg->eal.lcores == 1 || cfg->eal.spread != HP3_SPREAD_SOFTWARE) &&
	       hp3d_xdp_unsupported(r->rnic) == NULL && hp3d_xdp_unsupported(r->net) == NULL;
}

/* By default the driver makes the kernel poll the interface before each burst that it sends. For an
 * interface without a device, the poll is useless. It also lengthens the time between hp3d's check
 * of the bypass and the sending of frames. */
static const char *polling_devargs(const char *devargs, const char *interface)
{
	char text[64];

	snprintf(text, sizeof(text), "/sys/class/net/%s/device", interface);
	if (access(text, F_OK) == 0 || hp3_devarg(devargs, "busy_budget", text, sizeof(text)))
		return "";
	return ",busy_budget=0";
}

int hp3d_xdp_devargs(
	const char *devargs, bool fails_open, char *buf, size_t cap, char *why, size_t why_cap)
{
	char text[IF_NAMESIZE];
	const char *door;
	int err;

	snprintf(buf, cap, "%s", devargs);
	if (!is_driver(devargs, XDP) || hp3_devarg(devargs, "xdp_prog", text, sizeof(text)) ||
		!hp3_devarg(devargs, "iface", text, sizeof(text)))
		return 0;
	err = hp3_bypass_xdp_clear((int)if_nametoindex(text), why, why_cap);
	if (err < 0 || !fails_open)
		return err;
	door = hp3_bypass_xdp_door();
	if (door == NULL) {
		snprintf(why, why_cap, "no file in memory for the XDP program");
		return -errno;
	}
	snprintf(buf, cap, "%s%s,xdp_prog=%s", devargs, polling_devargs(devargs, text), door);
	return 0;
}
