/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/rack_peers.h"
#include <string.h>
#include "config/filter.h"

#define WIDEST 7u /* most host bits of a prefix: larger ones never fit */

static bool add_address(struct hp3_rack_peers *m, bool ipv6, const uint8_t *addr)
{
	struct hp3_rack_peer_address *to = &m->host[m->n];

	for (uint32_t i = 0; i < m->n; i++)
		if (m->host[i].ipv6 == ipv6 && memcmp(m->host[i].addr, addr, 16) == 0)
			return true;
	if (m->n == HP3_RACK_PEERS_MAX)
		return false;
	to->ipv6 = ipv6;
	memcpy(to->addr, addr, sizeof(to->addr));
	m->n++;
	return true;
}

static bool add_all(void *ctx, const char *item)
{
	struct hp3_prefix p;
	uint8_t addr[16] = {0}, *last;
	uint32_t host_bits, hosts, ends;

	if (!hp3_prefix_parse(item, &p))
		return false;
	memcpy(addr, p.addr, p.ipv6 ? 16 : 4);
	last = &addr[p.ipv6 ? 15 : 3];
	host_bits = (p.ipv6 ? 128u : 32u) - p.bits;
	if (host_bits > WIDEST)
		return false;
	hosts = 1u << host_bits;
	ends = !p.ipv6 && host_bits > 1; /* network and broadcast address */
	*last &= (uint8_t) ~(hosts - 1);
	for (uint32_t i = 0; i < hosts; i++, ++*last)
		if (!(ends && (i == 0 || i == hosts - 1)) && !add_address(ctx, p.ipv6, addr))
			return false;
	return true;
}

bool hp3_rack_peers_valid(const char *text)
{
	struct hp3_rack_peers m = {0};

	return *text == '\0' || hp3_list_each(text, add_all, &m);
}

struct hp3_rack_peers hp3_rack_peers_parse(const char *text)
{
	struct hp3_rack_peers m = {0};

	if (*text != '\0')
		hp3_list_each(text, add_all, &m);
	return m;
}
