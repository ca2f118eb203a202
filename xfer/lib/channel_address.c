/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Addresses of a control channel. The hello of the end that listens names the addresses of its
 * rails. If the network of one address is down, the dialler connects again over another one.
 *
 * An address that the peer named may belong to another host in the dialler's network. So a
 * refusal, or a hello of another domain, counts only at an address that has reached the peer
 * before, and at the one that the user has named. Elsewhere, the dialler takes the next address.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <netinet/in.h>
#include <string.h>
#include "xfer/lib/channel.h"

/* The address of the listener, in network order. */
struct listener {
	uint16_t port;
	bool any, any_ipv6; /* it listens on all addresses; also on those of IPv6 */
};

static struct listener listener_of(const struct hp3x_domain *d)
{
	struct sockaddr_storage own = {0};
	const struct sockaddr_in6 *v6 = (const void *)&own;
	const struct sockaddr_in *v4 = (const void *)&own;
	socklen_t length = sizeof(own);

	if (getsockname(d->listener.fd, (struct sockaddr *)&own, &length) < 0)
		return (struct listener){0};
	if (own.ss_family == AF_INET6)
		return (struct listener){
			v6->sin6_port, IN6_IS_ADDR_UNSPECIFIED(&v6->sin6_addr), true};
	return (struct listener){v4->sin_port, v4->sin_addr.s_addr == INADDR_ANY, false};
}

/* The address of a rail as one of IPv6. False: no other host can use it. */
static bool rail_address(const char *text, bool ipv6, struct in6_addr *address)
{
	struct in_addr v4;

	if (inet_pton(AF_INET, text, &v4) == 1) {
		memset(address, 0, sizeof(*address));
		address->s6_addr[10] = address->s6_addr[11] = 0xff;
		memcpy(&address->s6_addr[12], &v4, sizeof(v4));
		return true;
	}
	return ipv6 && inet_pton(AF_INET6, text, address) == 1 && !IN6_IS_ADDR_LINKLOCAL(address);
}

void hp3x_hello_addresses(const struct hp3x_domain *d, struct hp3x_hello *h)
{
	struct listener l = listener_of(d);
	uint32_t n = 0;

	for (uint32_t i = 0; l.any && i < d->n_rails; i++) {
		struct in6_addr address;

		if (rail_address(d->rail[i].address, l.any_ipv6, &address))
			memcpy(h->address[n++], &address, sizeof(address));
	}
	h->port = l.port;
	h->n_addresses = htole32(n);
}

void hp3x_channel_learn(struct hp3x_channel *c, const struct hp3x_hello *h)
{
	uint32_t n = le32toh(h->n_addresses);

	c->reached = c->place;
	c->n_addresses = 1;
	for (uint32_t i = 0; i < n && i < HP3X_RAILS; i++) {
		struct sockaddr_storage *to = &c->address[c->n_addresses++];
		struct sockaddr_in6 *v6 = (void *)to;
		struct sockaddr_in *v4 = (void *)to;
		struct in6_addr address;

		memcpy(&address, h->address[i], sizeof(address));
		*to = (struct sockaddr_storage){0};
		if (IN6_IS_ADDR_V4MAPPED(&address)) {
			*v4 = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = h->port};
			memcpy(&v4->sin_addr, &address.s6_addr[12], sizeof(v4->sin_addr));
		} else {
			*v6 = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = h->port};
			v6->sin6_addr = address;
		}
	}
	if (c->place >= c->n_addresses)
		c->place = c->reached = 0;
}

void hp3x_channel_turn(struct hp3x_channel *c)
{
	if (c->n_addresses > 1)
		c->place = (c->place + 1) % c->n_addresses;
}

bool hp3x_channel_doubts(const struct hp3x_channel *c)
{
	return c->dialler && c->met && c->place != 0 && c->place != c->reached;
}
