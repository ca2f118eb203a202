/* SPDX-License-Identifier: BSD-3-Clause */
/* The network as JSON, for the runner and for users. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include "config/message.h"
#include "p4-testbed/fabric/entries.h"
#include "p4-testbed/fabric/fabric_main.h"
#include "p4-testbed/spec/program.h"

static json_t *addresses_json(const struct hp3_net_addr *a)
{
	char mac[18], ip4[INET_ADDRSTRLEN], ip6[INET6_ADDRSTRLEN];
	uint32_t be = htonl(a->ip4);

	snprintf(mac, sizeof(mac), "%02x:%02x:%02x:%02x:%02x:%02x", a->mac[0], a->mac[1], a->mac[2],
		a->mac[3], a->mac[4], a->mac[5]);
	inet_ntop(AF_INET, &be, ip4, sizeof(ip4));
	inet_ntop(AF_INET6, a->ip6, ip6, sizeof(ip6));
	return json_pack("{s:s, s:s, s:s}", "mac", mac, "ip4", ip4, "ip6", ip6);
}

static json_t *a_host(const struct hp3_net *net, const struct hp3_net_host *h)
{
	json_t *j = addresses_json(&h->addr), *leaf = addresses_json(&net->sw[h->leaf].addr);

	json_object_set_new(j, "name", json_string(h->name));
	json_object_set_new(j, "leaf", json_string(net->sw[h->leaf].name));
	json_object_set(j, "leaf_mac", json_object_get(leaf, "mac"));
	json_object_set_new(j, "link", json_string(net->link[h->link].name));
	json_object_set_new(j, "rate_mbps", json_integer(net->link[h->link].p.rate_mbps));
	json_object_set_new(j, "port",
		json_string(hp3_topo_port_name(hp3_topo_host_port(&net->topo, h->name))));
	json_decref(leaf);
	return j;
}

static json_t *a_switch(const struct hp3_net *net, const struct hp3_net_switch *s)
{
	json_t *j = addresses_json(&s->addr), *ports = json_array();

	for (uint32_t p = 0; p < s->n_ports; p++) {
		const struct hp3_net_port *port = &s->port[p];

		json_array_append_new(ports, json_string(port->to_host ? net->host[port->peer].name
								       : net->sw[port->peer].name));
	}
	json_object_set_new(j, "name", json_string(s->name));
	json_object_set_new(j, "seed", json_integer(s->seed));
	json_object_set_new(j, "ports", ports);
	return j;
}

json_t *hp3_plan(const struct hp3_net *net)
{
	json_t *hosts = json_array(), *switches = json_array(), *links = json_array();
	const struct hp3_topo *t = &net->topo;

	for (uint32_t i = 0; i < net->n_hosts; i++)
		json_array_append_new(hosts, a_host(net, &net->host[i]));
	for (uint32_t i = 0; i < net->n_switches; i++)
		json_array_append_new(switches, a_switch(net, &net->sw[i]));
	for (uint32_t i = 0; i < net->n_links; i++) {
		const struct hp3_net_link *l = &net->link[i];

		json_array_append_new(
			links, json_pack("{s:s, s:b, s:i, s:i, s:i}", "name", l->name, "host",
				       l->host, "rate_mbps", (int)l->p.rate_mbps, "delay_us",
				       (int)l->p.delay_us, "buffer_bytes", (int)l->p.buffer_bytes));
	}
	return json_pack("{s:i, s:i, s:b, s:i, s:i, s:i, s:o, s:o, s:o}", "mtu", (int)t->shape.mtu,
		"seed", (int)t->shape.seed, "lossless", t->pfc.mode == HP3_TOPO_LOSSLESS,
		"kmin_bytes", (int)t->ecn.kmin_bytes, "kmax_bytes", (int)t->ecn.kmax_bytes,
		"pmax_percent", (int)t->ecn.pmax_percent, "hosts", hosts, "switches", switches,
		"links", links);
}

json_t *hp3_plan_path(const struct hp3_net *net, const struct hp3_net_flow *flow)
{
	uint32_t hop[HP3_NET_HOPS];
	int n = hp3_net_path(net, flow, hop);
	json_t *hops = json_array(), *counters = json_array();

	/* And the counter that each of them counts the flow by. */
	for (int i = 0; i < n; i++) {
		uint32_t hash = hp3_net_hash(net, hop[i], flow);

		json_array_append_new(hops, json_string(net->sw[hop[i]].name));
		json_array_append_new(counters, json_integer(hash % HP3_PROGRAM_FLOWS));
	}
	if (n < 0) {
		json_decref(hops);
		json_decref(counters);
		return NULL;
	}
	return json_pack("{s:s, s:s, s:i, s:o, s:o}", "src", net->host[flow->src].name, "dst",
		net->host[flow->dst].name, "sport", (int)flow->sport, "path", hops, "flows",
		counters);
}

struct printer {
	bool bmv2;
	uint32_t mtu;
};

static int print_entry(void *arg, const struct hp3_entry *e)
{
	const struct printer *p = arg;
	char text[HP3_ENTRY_TEXT];

	if (p->bmv2)
		hp3_entry_bmv2(e, p->mtu, text, sizeof(text));
	else
		hp3_entry_swx(e, text, sizeof(text));
	if (p->bmv2)
		puts(text);
	else
		printf("%s %s\n", e->table, text);
	return 0;
}

int hp3_plan_entries(const struct hp3_net *net, const char *sw, const char *target)
{
	struct printer p = {strcmp(target, "bmv2") == 0, net->topo.shape.mtu};
	int s = HP3_TOPO_FIND(net->sw, net->n_switches, sw);

	if (s < 0) {
		hp3_message("hp3-fabric: no switch '%s': there are l1 to l%u and s1 to s%u", sw,
			net->topo.shape.leaves, net->topo.shape.spines);
		return 1;
	}
	if (!p.bmv2 && strcmp(target, "swx") != 0) {
		hp3_message("hp3-fabric: --target %s: write swx or bmv2", target);
		return 2;
	}
	if (p.bmv2) {
		char text[HP3_ENTRY_TEXT];

		hp3_entry_bmv2_meter(net->topo.icmp.rate_pps, text, sizeof(text));
		puts(text);
	}
	return hp3_entries_each(net, (uint32_t)s, print_entry, &p);
}
