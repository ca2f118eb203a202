/* SPDX-License-Identifier: BSD-3-Clause */
/* Which interfaces and addresses are rails of the TCP provider, and whether they run. */
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include "xfer/tcp/tcp.h"

static socklen_t address_length(const struct sockaddr *a)
{
	return a->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
}

void hp3x_tcp_address_text(const struct sockaddr_storage *address, char text[HP3X_RAIL_NAME])
{
	const struct sockaddr_in6 *v6 = (const void *)address;
	const struct sockaddr_in *v4 = (const void *)address;
	bool is_v6 = address->ss_family == AF_INET6;

	inet_ntop(address->ss_family, is_v6 ? (void *)&v6->sin6_addr : (void *)&v4->sin_addr, text,
		HP3X_RAIL_NAME);
}

static bool same_address(const struct sockaddr *a, const struct sockaddr_storage *b)
{
	const struct sockaddr_in6 *a6 = (const void *)a, *b6 = (const void *)b;
	const struct sockaddr_in *a4 = (const void *)a, *b4 = (const void *)b;

	if (a->sa_family != b->ss_family)
		return false;
	if (a->sa_family == AF_INET)
		return a4->sin_addr.s_addr == b4->sin_addr.s_addr;
	return memcmp(&a6->sin6_addr, &b6->sin6_addr, 16) == 0;
}

/* An address by which other hosts can reach this one, perhaps. */
static bool address_is_usable(const struct ifaddrs *i)
{
	const struct sockaddr_in6 *v6 = (const void *)i->ifa_addr;

	if (i->ifa_addr == NULL || (i->ifa_flags & IFF_UP) == 0)
		return false;
	if (i->ifa_addr->sa_family == AF_INET6)
		return !IN6_IS_ADDR_LINKLOCAL(&v6->sin6_addr);
	return i->ifa_addr->sa_family == AF_INET;
}

static bool interface_runs(const struct ifaddrs *i)
{
	return (i->ifa_flags & (IFF_UP | IFF_RUNNING)) == (IFF_UP | IFF_RUNNING);
}

bool hp3x_tcp_rail_runs(const struct rail *rail)
{
	struct ifaddrs *all;
	bool found = false;

	if (getifaddrs(&all) < 0)
		return rail->up;
	for (const struct ifaddrs *i = all; i != NULL && !found; i = i->ifa_next)
		found = i->ifa_addr != NULL && interface_runs(i) &&
			strcmp(i->ifa_name, rail->interface) == 0 &&
			(same_address(i->ifa_addr, &rail->address) ||
				/* 127.0.0.2 is an address of lo that no list has. */
				(i->ifa_flags & IFF_LOOPBACK) != 0);
	freeifaddrs(all);
	return found;
}

static int rail_add(
	struct hp3x_rails *rails, const char *name, const char *interface, const struct sockaddr *a)
{
	struct rail *rail = &rails->rail[rails->n_rails];

	if (rails->n_rails == HP3X_RAILS)
		return hp3x_error_set(-EINVAL, "more than %u rails: name fewer", HP3X_RAILS);
	memcpy(&rail->address, a, address_length(a));
	if (a->sa_family == AF_INET6)
		((struct sockaddr_in6 *)&rail->address)->sin6_port = 0;
	snprintf(rail->name, sizeof(rail->name), "%s", name);
	snprintf(rail->interface, sizeof(rail->interface), "%s", interface);
	rails->n_rails++;
	rail->up = hp3x_tcp_rail_runs(rail);
	rail->change = !rail->up;
	return 0;
}

static bool has_interface(const struct hp3x_rails *rails, const char *interface)
{
	for (uint32_t i = 0; i < rails->n_rails; i++)
		if (strcmp(rails->rail[i].interface, interface) == 0)
			return true;
	return false;
}

/* One address of each interface that runs; IPv4 first. */
static int rails_of_host(struct hp3x_rails *rails, const struct ifaddrs *all, bool loopback)
{
	static const sa_family_t order[] = {AF_INET, AF_INET6};
	int error = 0;

	for (uint32_t k = 0; k < 2; k++)
		for (const struct ifaddrs *i = all; i != NULL && error == 0; i = i->ifa_next)
			if (address_is_usable(i) && i->ifa_addr->sa_family == order[k] &&
				interface_runs(i) &&
				((i->ifa_flags & IFF_LOOPBACK) != 0) == loopback &&
				!has_interface(rails, i->ifa_name) && rails->n_rails < HP3X_RAILS)
				error = rail_add(rails, i->ifa_name, i->ifa_name, i->ifa_addr);
	return error;
}

/* The first address of this interface; IPv4 first. */
static const struct ifaddrs *address_of_interface(const struct ifaddrs *all, const char *name)
{
	const struct ifaddrs *found = NULL;

	for (const struct ifaddrs *i = all; i != NULL; i = i->ifa_next)
		if (address_is_usable(i) && strcmp(i->ifa_name, name) == 0 &&
			(found == NULL || (found->ifa_addr->sa_family == AF_INET6 &&
						  i->ifa_addr->sa_family == AF_INET)))
			found = i;
	return found;
}

static bool address_parse(const char *text, struct sockaddr_storage *a)
{
	struct sockaddr_in6 *v6 = (void *)a;
	struct sockaddr_in *v4 = (void *)a;

	memset(a, 0, sizeof(*a));
	a->ss_family = AF_INET;
	if (inet_pton(AF_INET, text, &v4->sin_addr) == 1)
		return true;
	a->ss_family = AF_INET6;
	return inet_pton(AF_INET6, text, &v6->sin6_addr) == 1;
}

/* The interface that has this address. */
static const struct ifaddrs *interface_of_address(
	const struct ifaddrs *all, const struct sockaddr_storage *a)
{
	const struct sockaddr_in *v4 = (const void *)a;
	bool loopback = a->ss_family == AF_INET && ntohl(v4->sin_addr.s_addr) >> 24 == 127;

	for (const struct ifaddrs *i = all; i != NULL; i = i->ifa_next)
		if (i->ifa_addr != NULL &&
			(same_address(i->ifa_addr, a) ||
				(loopback && (i->ifa_flags & IFF_LOOPBACK) != 0)))
			return i;
	return NULL;
}

static int rail_of_name(struct hp3x_rails *rails, const struct ifaddrs *all, const char *name)
{
	const struct ifaddrs *i;
	struct sockaddr_storage a;

	if (address_parse(name, &a)) {
		i = interface_of_address(all, &a);
		if (i == NULL)
			return hp3x_error_set(-ENODEV,
				"rail %s: no interface has this address: see `ip address`", name);
		return rail_add(rails, name, i->ifa_name, (struct sockaddr *)&a);
	}
	i = address_of_interface(all, name);
	if (i == NULL)
		return hp3x_error_set(-ENODEV,
			"rail %s: no such interface with an address: see `ip address`", name);
	return rail_add(rails, name, name, i->ifa_addr);
}

int hp3x_tcp_rails_find(struct hp3x_rails *rails, const char *const *names, uint32_t n_names)
{
	struct ifaddrs *all;
	int error = 0;

	if (getifaddrs(&all) < 0)
		return hp3x_error_set(-errno, "the kernel does not list interfaces: %m");
	for (uint32_t i = 0; i < n_names && error == 0; i++)
		error = rail_of_name(rails, all, names[i]);
	if (n_names == 0)
		error = rails_of_host(rails, all, false);
	if (error == 0 && rails->n_rails == 0)
		error = rails_of_host(rails, all, true);
	freeifaddrs(all);
	if (error == 0 && rails->n_rails == 0)
		error = hp3x_error_set(
			-ENODEV, "no interface is up and has an address: see `ip address`");
	return error;
}

uint64_t hp3x_tcp_rail_rate(const struct rail *rail)
{
	char path[64 + HP3X_RAIL_NAME];
	long long mbits = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/net/%s/speed", rail->interface);
	f = fopen(path, "r");
	if (f == NULL)
		return 0;
	if (fscanf(f, "%lld", &mbits) != 1 || mbits < 0)
		mbits = 0;
	fclose(f);
	return (uint64_t)mbits * 125000;
}
