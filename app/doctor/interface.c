/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/doctor/host.h"
#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

static bool has_address(const char *name)
{
	struct ifaddrs *list;
	bool found = false;

	if (getifaddrs(&list) < 0)
		return false;
	for (struct ifaddrs *a = list; a != NULL; a = a->ifa_next) {
		const struct sockaddr_in6 *v6 = (const void *)a->ifa_addr;

		if (a->ifa_addr == NULL || strcmp(a->ifa_name, name) != 0)
			continue;
		found |= a->ifa_addr->sa_family == AF_INET ||
			 (a->ifa_addr->sa_family == AF_INET6 &&
				 !IN6_IS_ADDR_LINKLOCAL(&v6->sin6_addr));
	}
	freeifaddrs(list);
	return found;
}

bool hp3_interface_look(const char *name, struct hp3_interface *out)
{
	struct hp3_link_info l;
	int ret = strlen(name) >= IFNAMSIZ ? -ENODEV : hp3_link_by(name, 0, &l);

	if (ret < 0) {
		errno = -ret;
		return false;
	}
	hp3_link_offloads(&l.itf);
	l.itf.addressed = has_address(name);
	if (strcmp(l.itf.kind, "veth") == 0)
		hp3_peer_look(&l);
	*out = l.itf;
	return true;
}
