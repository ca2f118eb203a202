/* SPDX-License-Identifier: BSD-3-Clause */
/* The path of a packet: computed from the program's hash and the groups, without running the
 * program. */
#include <errno.h>
#include <string.h>
#include "p4-testbed/fabric/net.h"
#include "p4-testbed/spec/externs.h"
#include "p4-testbed/spec/program.h"
#include "roce/wire.h"

uint32_t hp3_net_hash(const struct hp3_net *net, uint32_t s, const struct hp3_net_flow *f)
{
	const struct hp3_net_addr *src = &net->host[f->src].addr, *dst = &net->host[f->dst].addr;
	bool qpn = net->topo.hash.qpn == HP3_TOPO_ON;
	uint8_t key[48], *k = key;

	hp3_put_be32(k, net->sw[s].seed);
	k += 4;
	if (f->ipv6) {
		memcpy(k, src->ip6, 16);
		memcpy(k + 16, dst->ip6, 16);
		k += 32;
	} else {
		hp3_put_be32(k, src->ip4);
		hp3_put_be32(k + 4, dst->ip4);
		k += 8;
	}
	hp3_put_be16(k, f->sport);
	hp3_put_be16(k + 2, f->dport);
	k[4] = f->protocol;
	k += 5;
	if (qpn) {
		hp3_put_be24(k, f->protocol == 17 && f->dport == HP3_ROCE_UDP_PORT ? f->qpn : 0);
		k += 3;
	}
	return net->topo.hash.kind == HP3_TOPO_CRC32 ? hp3_crc32(key, (uint32_t)(k - key), 0)
						     : hp3_crc16(key, (uint32_t)(k - key), 0);
}

int hp3_net_path(
	const struct hp3_net *net, const struct hp3_net_flow *f, uint32_t hop[HP3_NET_HOPS])
{
	uint32_t s = net->host[f->src].leaf;
	int n = 0;

	while ((unsigned)n < HP3_NET_HOPS) {
		uint64_t group = net->sw[s].group[hp3_net_group(net, s, f->dst)];
		uint32_t bucket = hp3_net_hash(net, s, f) % HP3_PROGRAM_BUCKETS;
		int port = hp3_net_member(group, bucket);

		hop[n++] = s;
		if (port < 0)
			return -ENETUNREACH;
		if (net->sw[s].port[port].to_host)
			return n;
		s = net->sw[s].port[port].peer;
	}
	return -ENETUNREACH;
}
