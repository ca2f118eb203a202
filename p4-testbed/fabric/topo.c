/* SPDX-License-Identifier: BSD-3-Clause */
#include "p4-testbed/fabric/topo.h"
#include <stdio.h>
#include <string.h>
#include "config/rows.h"

static const char *const topo_onoff[] = {[HP3_TOPO_OFF] = "off", [HP3_TOPO_ON] = "on", NULL};
static const char *const modes[] = {
	[HP3_TOPO_LOSSY] = "lossy", [HP3_TOPO_LOSSLESS] = "lossless", NULL};
static const char *const kinds[] = {[HP3_TOPO_CRC32] = "crc32", [HP3_TOPO_CRC16] = "crc16", NULL};

static const char *const ports[] = {[HP3_TOPO_AF_PACKET] = "af_packet",
	[HP3_TOPO_AF_XDP] = "af_xdp",
	[HP3_TOPO_TAP] = "tap",
	[HP3_TOPO_VHOST] = "vhost",
	[HP3_TOPO_MEMIF] = "memif",
	[HP3_TOPO_SAME] = NULL};
static const char *const ports_or_same[] = {
	"af_packet", "af_xdp", "tap", "vhost", "memif", [HP3_TOPO_SAME] = "same", NULL};

#define INT(sec, name, ...)  HP3_ROW_INT(#sec, #name, struct hp3_topo, sec.name, __VA_ARGS__)
#define ENUM(sec, name, ...) HP3_ROW_ENUM(#sec, #name, struct hp3_topo, sec.name, __VA_ARGS__)
#define LINK(sec, rate, delay, buffer)                                                             \
	INT(sec, rate_mbps, "Mb/s", rate, 1, 10000, "rate of each direction"),                     \
		INT(sec, delay_us, "us", delay, 1, 1000000,                                        \
			"propagation delay of each direction"),                                    \
		INT(sec, buffer_bytes, "bytes", buffer, 4096, 67108864,                            \
			"queues in front of each direction hold so much, then drop")
#define ONE(name, u, most, h)                                                                      \
	HP3_ROW_INT("link", #name, struct hp3_topo_named_link, link.name, u, 0, 0, most, h)

static const struct hp3_ini_section topo_sections[] = {
	{"shape", "Leaves, spines, hosts: every leaf is linked to every spine."},
	{"fabric_link", "Links between leaves and spines."},
	{"host_link", "Links between hosts and leaves; the buffer towards the leaf is the NIC's."},
	{"hosts", "How hosts are attached: DPDK's net_af_packet and so on."},
	{"ecn", "Marking by the depth of the queue that a packet enters (RED's line)."},
	{"pfc", "Lossless: ingress thresholds pause the sender of a priority. Lossy: queues drop."},
	{"hash", "How ECMP picks one of several next hops."},
	{"icmp", "Time-exceeded messages of the switches."},
	{"telemetry", "What packets tell of their way; hp3 needs none of it."},
	{"switch", "One switch, l1.. or s1..",
		HP3_ROW_FAMILY(struct hp3_topo, switches, n_switches, 2 * HP3_TOPO_TIER_MAX)},
	{"link", "One link, l1-s1 or h1-l1.",
		HP3_ROW_FAMILY(struct hp3_topo, links, n_links, HP3_TOPO_LINKS_MAX)},
	{"host", "One host, h1...",
		HP3_ROW_FAMILY(struct hp3_topo, host, n_hosts, HP3_TOPO_LINKS_MAX)},
};

static const struct hp3_ini_key topo_keys[] = {
	INT(shape, leaves, "leaves", 2, 1, HP3_TOPO_TIER_MAX, "leaf switches"),
	INT(shape, spines, "spines", 4, 1, HP3_TOPO_TIER_MAX, "spine switches"),
	INT(shape, hosts_per_leaf, "hosts", 2, 1, HP3_TOPO_TIER_MAX - 1, "hosts of each leaf"),
	INT(shape, mtu, "bytes", 1500, 576, 4300, "MTU of the hosts' interfaces"),
	INT(shape, seed, "", 1, 1, UINT32_MAX, "of hash seeds and of every random choice"),

	LINK(fabric_link, 100, 250, 600000),
	LINK(host_link, 100, 250, 600000),

	ENUM(hosts, port, ports, HP3_TOPO_AF_PACKET,
		"af_packet, af_xdp: a veth; tap: a tap; vhost, memif: a socket for who plugs in"),

	ENUM(ecn, marking, topo_onoff, HP3_TOPO_ON, "mark ECN-capable packets"),
	INT(ecn, kmin_bytes, "bytes", 30000, 0, 67108864, "nothing is marked up to this depth"),
	INT(ecn, kmax_bytes, "bytes", 120000, 0, 67108864, "everything is marked above this depth"),
	INT(ecn, pmax_percent, "%", 20, 0, 100, "share that is marked at kmax_bytes"),

	ENUM(pfc, mode, modes, HP3_TOPO_LOSSLESS, "lossless by PFC, or lossy"),
	INT(pfc, xoff_bytes, "bytes", 80000, 2000, 67108864,
		"bytes from one link and priority that stop its sender"),
	INT(pfc, xon_bytes, "bytes", 60000, 1000, 67108864, "bytes at which it may go on"),

	ENUM(hash, kind, kinds, HP3_TOPO_CRC32, "hash function"),
	ENUM(hash, qpn, topo_onoff, HP3_TOPO_OFF, "hash the destination QPN of RoCEv2 packets too"),

	ENUM(icmp, time_exceeded, topo_onoff, HP3_TOPO_ON, "answer packets whose TTL ends"),
	INT(icmp, rate_pps, "messages/s", 1000, 1, 1000000, "most messages of each switch"),

	ENUM(telemetry, path_id, topo_onoff, HP3_TOPO_OFF,
		"spines write their number to the reserved bits of the BTH (outside the ICRC)"),

	HP3_ROW_INT("switch", "seed", struct hp3_topo_switch, seed, "", 0, 0, UINT32_MAX,
		"hash seed; 0: derived from [shape] seed and the name"),
	HP3_ROW_ENUM("switch", "time_exceeded", struct hp3_topo_switch, time_exceeded, topo_onoff,
		HP3_TOPO_ON, "off: this switch stays silent"),

	ONE(rate_mbps, "Mb/s", 10000, "rate; 0: as its kind of link"),
	ONE(delay_us, "us", 1000000, "delay; 0: as its kind of link"),
	ONE(buffer_bytes, "bytes", 67108864, "buffer; 0: as its kind of link"),

	HP3_ROW_ENUM("host", "port", struct hp3_topo_host, port, ports_or_same, HP3_TOPO_SAME,
		"as in [hosts]; same: as [hosts] says"),
};

/*
 * The number of the node that `s` begins with, such as "l3": without sign or leading zero, from 1
 * to max; 0: there is none. *end is behind it.
 */
static uint32_t node_number(const char *s, char tier, uint32_t max, const char **end)
{
	uint32_t n = 0;

	*end = s;
	if (*s != tier || s[1] == '0')
		return 0;
	for (*end = s + 1; **end >= '0' && **end <= '9' && n <= max; (*end)++)
		n = n * 10 + (uint32_t)(**end - '0');
	return n <= max ? n : 0;
}

static bool is_node(const char *s, char tier, uint32_t max)
{
	const char *end;

	return node_number(s, tier, max, &end) > 0 && *end == '\0';
}

static bool link_exists(const struct hp3_topo *t, const char *name)
{
	uint32_t hosts = t->shape.leaves * t->shape.hosts_per_leaf, host, leaf;
	const char *s;

	if (node_number(name, 'l', t->shape.leaves, &s) > 0)
		return *s == '-' && is_node(s + 1, 's', t->shape.spines);
	host = node_number(name, 'h', hosts, &s);
	if (host == 0 || *s != '-')
		return false;
	leaf = node_number(s + 1, 'l', t->shape.leaves, &s);
	/* Hosts are numbered leaf by leaf. */
	return leaf > 0 && *s == '\0' && (host - 1) / t->shape.hosts_per_leaf + 1 == leaf;
}

static void check_names(struct hp3_ini_doc *doc, const struct hp3_topo *t)
{
	uint32_t hosts = t->shape.leaves * t->shape.hosts_per_leaf;
	char section[HP3_INI_NAME_MAX];

	for (uint32_t i = 0; i < t->n_links; i++) {
		snprintf(section, sizeof(section), "link.%s", t->links[i].name);
		if (!link_exists(t, t->links[i].name))
			hp3_ini_complain(doc, section, NULL,
				"no such link: [shape] makes l1..l%u, s1..s%u and %u hosts of each "
				"leaf; links are named l1-s1 and h1-l1",
				t->shape.leaves, t->shape.spines, t->shape.hosts_per_leaf);
	}
	for (uint32_t i = 0; i < t->n_switches; i++) {
		const char *name = t->switches[i].name;

		snprintf(section, sizeof(section), "switch.%s", name);
		if (!is_node(name, 'l', t->shape.leaves) && !is_node(name, 's', t->shape.spines))
			hp3_ini_complain(doc, section, NULL,
				"no such switch: [shape] makes l1..l%u and s1..s%u",
				t->shape.leaves, t->shape.spines);
	}
	for (uint32_t i = 0; i < t->n_hosts; i++) {
		snprintf(section, sizeof(section), "host.%s", t->host[i].name);
		if (!is_node(t->host[i].name, 'h', hosts))
			hp3_ini_complain(
				doc, section, NULL, "no such host: [shape] makes h1..h%u", hosts);
	}
}

/* What may still arrive behind a pause: both delays, and a frame under way at each end. */
static uint64_t bytes_after_pause(const struct hp3_topo *t, const struct hp3_topo_link *l)
{
	return 2ull * l->delay_us * l->rate_mbps / 8 + 2 * (t->shape.mtu + 14 + HP3_TOPO_WIRE);
}

/* Whatever comes in by any link may leave by one. */
static void check_lossless(struct hp3_ini_doc *doc, const struct hp3_topo *t)
{
	uint64_t fabric = t->pfc.xoff_bytes + bytes_after_pause(t, &t->fabric_link);
	uint64_t host = t->pfc.xoff_bytes + bytes_after_pause(t, &t->host_link);
	uint64_t leaf = t->shape.spines * fabric + t->shape.hosts_per_leaf * host;
	uint64_t spine = t->shape.leaves * fabric;
	uint64_t need = leaf > spine ? leaf : spine;

	if (t->pfc.mode != HP3_TOPO_LOSSLESS)
		return;
	if (t->fabric_link.buffer_bytes < need)
		hp3_ini_complain(doc, "fabric_link", "buffer_bytes",
			"too small for lossless operation: at least %llu (every link may send up "
			"to xoff_bytes and what is under way when it is stopped), or a smaller "
			"[pfc] xoff_bytes, or [pfc] mode = lossy",
			(unsigned long long)need);
	else if (t->host_link.buffer_bytes < need)
		hp3_ini_complain(doc, "host_link", "buffer_bytes",
			"too small for lossless operation: at least %llu, or a smaller [pfc] "
			"xoff_bytes, or [pfc] mode = lossy",
			(unsigned long long)need);
}

static void check_topology(struct hp3_ini_doc *doc, const void *obj, unsigned flags)
{
	const struct hp3_topo *t = obj;

	if (!hp3_ini_good(doc, "shape", "leaves") || !hp3_ini_good(doc, "shape", "spines") ||
		!hp3_ini_good(doc, "shape", "hosts_per_leaf"))
		return;
	check_names(doc, t);
	if (t->ecn.kmax_bytes <= t->ecn.kmin_bytes && hp3_ini_good(doc, "ecn", "kmax_bytes"))
		hp3_ini_complain(doc, "ecn", "kmax_bytes", "must be above kmin_bytes = %u",
			t->ecn.kmin_bytes);
	if (t->pfc.xon_bytes >= t->pfc.xoff_bytes && hp3_ini_good(doc, "pfc", "xon_bytes"))
		hp3_ini_complain(doc, "pfc", "xon_bytes", "must be below xoff_bytes = %u",
			t->pfc.xoff_bytes);
	check_lossless(doc, t);
}

const struct hp3_ini_schema hp3_topo_schema = {
	.sections = topo_sections,
	.n_sections = sizeof(topo_sections) / sizeof(topo_sections[0]),
	.keys = topo_keys,
	.n_keys = sizeof(topo_keys) / sizeof(topo_keys[0]),
	.title = "Leaf-spine topology of hp3-testbed.",
	.check = check_topology,
};

int hp3_topo_load(const char *path, struct hp3_topo *out, struct hp3_config_errors *errs)
{
	memset(out, 0, sizeof(*out));
	return hp3_ini_load(&hp3_topo_schema, path, 0, out, errs);
}

enum hp3_topo_port hp3_topo_host_port(const struct hp3_topo *t, const char *host)
{
	int i = HP3_TOPO_FIND(t->host, t->n_hosts, host);

	return i >= 0 && t->host[i].port != HP3_TOPO_SAME ? t->host[i].port : t->hosts.port;
}

const char *hp3_topo_port_name(enum hp3_topo_port port)
{
	return ports[port];
}
