/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/watch/internal.h"
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <linux/if_vlan.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include "app/one_line.h"

/* Names are untrusted, because they come from the memory of other processes. */
static bool is_name(const char *s)
{
	if (!isalnum((unsigned char)*s))
		return false;
	while (isalnum((unsigned char)*s) || (*s != '\0' && strchr("_-.", *s)))
		s++;
	return *s == '\0';
}

/* First line of PORT-DIRECTORY/what/index, without its end. */
static int read_entry(
	const char *port_dir, const char *what, unsigned index, char *buf, size_t size)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s/%u", port_dir, what, index);
	return hp3_read_line(path, buf, size);
}

/* By the type in uevent (vlan_type of net/8021q/vlan_dev.c). */
static bool is_vlan(const char *sysfs, const char *netdev)
{
	char path[PATH_MAX], line[64];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "%s/class/net/%s/uevent", sysfs, netdev);
	f = fopen(path, "re");
	while (f != NULL && !found && fgets(line, sizeof(line), f) != NULL)
		found = strcmp(line, "DEVTYPE=vlan\n") == 0;
	if (f != NULL)
		fclose(f);
	return found;
}

/* SIOCGIFVLAN makes the kernel load 8021q, and blocks until modprobe ends. If the interface is a
 * VLAN, the module is loaded already. */
static uint16_t vlan_of(const char *sysfs, const char *netdev)
{
	struct vlan_ioctl_args args = {.cmd = GET_VLAN_VID_CMD};
	int fd = is_vlan(sysfs, netdev) ? socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0) : -1;
	uint16_t vlan = 0;

	if (fd < 0)
		return 0;
	snprintf(args.device1, sizeof(args.device1), "%s", netdev);
	if (ioctl(fd, SIOCGIFVLAN, &args) == 0)
		vlan = (uint16_t)args.u.VID;
	close(fd);
	return vlan;
}

int hp3_gid_read(
	const char *sysfs, const char *device, unsigned port, unsigned index, struct hp3_gid *out)
{
	char dir[PATH_MAX / 2], text[64], netdev[IFNAMSIZ + 1];
	int ret;

	if (!is_name(device))
		return -EINVAL;
	snprintf(dir, sizeof(dir), "%s/class/infiniband/%s/ports/%u", sysfs, device, port);
	ret = read_entry(dir, "gid_attrs/types", index, text, sizeof(text));
	if (ret < 0)
		return ret;
	if (strcmp(text, "RoCE v2") != 0)
		return -EPROTONOSUPPORT;
	ret = read_entry(dir, "gids", index, text, sizeof(text));
	if (ret < 0)
		return ret;
	if (inet_pton(AF_INET6, text, out->gid) != 1)
		return -EINVAL;
	/* Without a network device (or its name) there is no VLAN either. */
	out->vlan = 0;
	if (read_entry(dir, "gid_attrs/ndevs", index, netdev, sizeof(netdev)) == 0)
		out->vlan = vlan_of(sysfs, netdev);
	return 0;
}
