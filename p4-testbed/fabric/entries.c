/* SPDX-License-Identifier: BSD-3-Clause */
#include "p4-testbed/fabric/entries.h"
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "p4-testbed/spec/program.h"

struct sink {
	int (*fn)(void *arg, const struct hp3_entry *e);
	void *arg;
};

static struct hp3_entry_value number_value(const char *name, uint32_t bits, uint64_t v)
{
	struct hp3_entry_value e = {.name = name, .bits = bits, .prefix = -1};

	for (uint32_t i = bits / 8; i > 0; i--, v >>= 8)
		e.bytes[i - 1] = (uint8_t)v;
	return e;
}

static struct hp3_entry_value bytes_value(const char *name, uint32_t bits, const void *bytes)
{
	struct hp3_entry_value e = {.name = name, .bits = bits, .prefix = -1};

	memcpy(e.bytes, bytes, bits / 8);
	return e;
}

/* The first bits of an address. */
static struct hp3_entry_value prefix_of(struct hp3_entry_value e, int prefix)
{
	for (int i = 0; i < (int)e.bits; i++)
		if (i >= prefix)
			e.bytes[i / 8] &= (uint8_t) ~(0x80 >> i % 8);
	e.prefix = prefix;
	return e;
}

static int emit_config(const struct hp3_net *net, const struct hp3_net_switch *sw, struct sink *out)
{
	unsigned kind = (net->topo.hash.kind == HP3_TOPO_CRC16 ? 1 : 0) +
			(net->topo.hash.qpn == HP3_TOPO_ON ? 2 : 0);
	bool stamp = net->topo.telemetry.path_id == HP3_TOPO_ON && !sw->leaf;
	struct hp3_entry e = {.table = "switch_config", .action = "set_config", .n_args = 4};
	int ret;

	e.arg[0] = number_value("seed", 32, sw->seed);
	e.arg[1] = number_value("hash_kind", 8, kind);
	e.arg[2] = number_value("icmp", 8, sw->time_exceeded);
	e.arg[3] = number_value("path_id", 8, stamp ? sw->addr.mac[5] : 0);
	ret = out->fn(out->arg, &e);
	if (ret != 0)
		return ret;
	e = (struct hp3_entry){
		.table = "local_address", .action = "set_local_address", .n_args = 2};
	e.arg[0] = number_value("addr4", 32, sw->addr.ip4);
	e.arg[1] = bytes_value("addr6", 128, sw->addr.ip6);
	return out->fn(out->arg, &e);
}

static struct hp3_entry route_entry(bool v6, const void *address, int prefix, uint32_t group)
{
	struct hp3_entry e = {.table = v6 ? "ipv6_route" : "ipv4_route",
		.action = "set_group",
		.n_keys = 1,
		.n_args = 1};

	e.key[0] = prefix_of(bytes_value("", v6 ? 128 : 32, address), prefix);
	e.arg[0] = number_value("group", 16, group);
	return e;
}

static int emit_route(const struct hp3_net_addr *to, int prefix4_len, int prefix6_len,
	uint32_t group, struct sink *out)
{
	uint32_t ip4 = htonl(to->ip4);
	struct hp3_entry four = route_entry(false, &ip4, prefix4_len, group);
	struct hp3_entry six = route_entry(true, to->ip6, prefix6_len, group);
	int ret = out->fn(out->arg, &four);

	return ret != 0 ? ret : out->fn(out->arg, &six);
}

int hp3_entry_route(const char *text, uint32_t group, struct hp3_entry *e)
{
	const char *slash = strchr(text, '/');
	char address[INET6_ADDRSTRLEN];
	uint8_t bytes[16];
	int prefix;
	bool v6;

	if (slash == NULL || slash - text >= (int)sizeof(address))
		return -EINVAL;
	snprintf(address, sizeof(address), "%.*s", (int)(slash - text), text);
	v6 = strchr(address, ':') != NULL;
	prefix = atoi(slash + 1);
	if (prefix < 0 || prefix > (v6 ? 128 : 32) ||
		inet_pton(v6 ? AF_INET6 : AF_INET, address, bytes) != 1)
		return -EINVAL;
	*e = route_entry(v6, bytes, prefix, group);
	return 0;
}

/* Leaves as /24 and /64, the leaf's own hosts as longer prefixes. */
static int emit_routes(const struct hp3_net *net, uint32_t s, struct sink *out)
{
	int ret = 0;

	for (uint32_t h = 0; h < net->n_hosts && ret == 0; h++) {
		const struct hp3_net_host *host = &net->host[h];
		bool first = h == 0 || net->host[h - 1].leaf != host->leaf;

		if (host->leaf == s)
			ret = emit_route(&host->addr, 32, 128, hp3_net_group(net, s, h), out);
		else if (first)
			ret = emit_route(&host->addr, 24, 64, host->leaf, out);
	}
	return ret;
}

static int emit_profiles(
	const struct hp3_net *net, const struct hp3_net_switch *sw, struct sink *out)
{
	const uint32_t kmin = net->topo.ecn.kmin_bytes, kmax = net->topo.ecn.kmax_bytes;
	const uint32_t pmax = net->topo.ecn.pmax_percent;
	int ret = 0;

	for (uint32_t p = 0; p < sw->n_ports && ret == 0; p++) {
		struct hp3_entry e = {.table = "ecn_profile", .n_keys = 1, .action = "no_ecn"};

		e.key[0] = number_value("", 32, p);
		if (net->topo.ecn.marking == HP3_TOPO_ON) {
			e.action = "set_ecn";
			e.n_args = 3;
			e.arg[0] = number_value("kmin", 32, kmin);
			e.arg[1] = number_value("kmax", 32, kmax);
			e.arg[2] = number_value(
				"width", 32, pmax > 0 ? (uint64_t)(kmax - kmin) * 100 / pmax : 0);
		}
		ret = out->fn(out->arg, &e);
	}
	return ret;
}

static int emit_bucket(const struct hp3_net *net, const struct hp3_net_switch *sw, uint32_t group,
	uint32_t b, struct sink *out)
{
	struct hp3_entry e = {.table = "ecmp_group", .action = "no_route", .n_keys = 2};
	int port = hp3_net_member(sw->group[group], b);

	e.key[0] = number_value("", 16, group);
	e.key[1] = number_value("", 16, b);
	if (port >= 0) {
		const struct hp3_net_port *to = &sw->port[port];
		const struct hp3_net_addr *next =
			to->to_host ? &net->host[to->peer].addr : &net->sw[to->peer].addr;

		e.action = "set_nexthop";
		e.n_args = 3;
		e.arg[0] = number_value("port", 32, (uint64_t)port);
		e.arg[1] = bytes_value("src_mac", 48, sw->addr.mac);
		e.arg[2] = bytes_value("dst_mac", 48, next->mac);
	}
	return out->fn(out->arg, &e);
}

int hp3_entries_groups(const struct hp3_net *net, uint32_t s,
	int (*fn)(void *arg, const struct hp3_entry *e), void *arg)
{
	const struct hp3_net_switch *sw = &net->sw[s];
	uint32_t leaves = net->topo.shape.leaves;
	uint32_t groups = leaves + (sw->leaf ? net->topo.shape.hosts_per_leaf : 0);
	struct sink out = {fn, arg};
	int ret = 0;

	for (uint32_t g = 0; g < groups && ret == 0; g++)
		for (uint32_t b = 0; b < HP3_PROGRAM_BUCKETS && ret == 0; b++)
			if (g != s)
				ret = emit_bucket(net, sw, g, b, &out);
	return ret;
}

int hp3_entries_each(const struct hp3_net *net, uint32_t s,
	int (*fn)(void *arg, const struct hp3_entry *e), void *arg)
{
	struct sink out = {fn, arg};
	int ret = emit_config(net, &net->sw[s], &out);

	if (ret == 0)
		ret = emit_routes(net, s, &out);
	if (ret == 0)
		ret = hp3_entries_groups(net, s, fn, arg);
	if (ret == 0)
		ret = emit_profiles(net, &net->sw[s], &out);
	return ret;
}
