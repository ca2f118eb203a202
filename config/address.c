/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/address.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define PORT_DIGITS 5u

static bool parse_port(const char *text, unsigned *port)
{
	size_t digits = strspn(text, "0123456789");

	if (digits == 0 || digits > PORT_DIGITS || text[digits] != '\0')
		return false;
	*port = (unsigned)strtoul(text, NULL, 10);
	return *port > 0 && *port <= UINT16_MAX;
}

static bool parse_ipv4(const char *host, struct hp3_address *a)
{
	struct sockaddr_in *in = (struct sockaddr_in *)&a->addr;

	in->sin_family = AF_INET;
	in->sin_port = htons((uint16_t)a->port);
	a->len = sizeof(*in);
	if (inet_pton(AF_INET, host, &in->sin_addr) != 1)
		return false;
	a->loopback = ntohl(in->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
	return true;
}

static bool parse_ipv6(const char *host, struct hp3_address *a)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&a->addr;

	in6->sin6_family = AF_INET6;
	in6->sin6_port = htons((uint16_t)a->port);
	a->len = sizeof(*in6);
	if (inet_pton(AF_INET6, host, &in6->sin6_addr) != 1)
		return false;
	a->loopback = IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr);
	return true;
}

bool hp3_address_parse(const char *text, struct hp3_address *a)
{
	const char *colon = strrchr(text, ':');
	bool bracket = *text == '[';
	char host[INET6_ADDRSTRLEN];
	size_t n;

	memset(a, 0, sizeof(*a));
	if (colon == NULL || !parse_port(colon + 1, &a->port))
		return false;
	n = (size_t)(colon - text);
	if (bracket && (n < 2 || text[n - 1] != ']'))
		return false;
	text += bracket;
	n -= bracket ? 2 : 0;
	if (n == 0 || n >= sizeof(host))
		return false;
	memcpy(host, text, n);
	host[n] = '\0';
	return bracket ? parse_ipv6(host, a) : parse_ipv4(host, a);
}

bool hp3_address_is_valid(const char *text)
{
	struct hp3_address a;

	return hp3_address_parse(text, &a);
}
