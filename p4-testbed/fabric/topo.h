/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The topology file: an INI file that describes a leaf-spine fabric of two layers. The loader of
 * config/ reads the file. Every leaf has a link to every spine. Hosts are numbered leaf by leaf:
 * with two hosts per leaf, l1 has h1 and h2. A link has the name of its ends, such as "l1-s2" or
 * "h3-l2". A section [link.NAME] changes one link.
 *
 * The fields have the names of the keys, which end with the unit. Rates are tens to hundreds of
 * Mb/s, because the switches are software. On a link, a frame of n bytes without FCS takes (n + 24)
 * x 8 / rate, as on an Ethernet (FCS, preamble, gap).
 */
#include <stdint.h>
#include <string.h>
#include "config/ini.h"

#define HP3_TOPO_TIER_MAX  32u /* most leaves, and most spines; hosts of a leaf: 31 */
#define HP3_TOPO_LINKS_MAX 256u /* most sections [link.NAME], and [host.NAME] */
#define HP3_TOPO_WIRE      24u /* bytes that a frame takes on the wire in addition to its own */
#define HP3_TOPO_ETHERNET  14u /* bytes of a frame before the IP datagram */

enum hp3_topo_onoff { HP3_TOPO_OFF, HP3_TOPO_ON };
enum hp3_topo_mode { HP3_TOPO_LOSSY, HP3_TOPO_LOSSLESS };
enum hp3_topo_hash { HP3_TOPO_CRC32, HP3_TOPO_CRC16 };

/*
 * DPDK driver of a host's port. SAME is allowed only in [host.NAME], and means the driver in
 * [hosts].
 */
enum hp3_topo_port {
	HP3_TOPO_AF_PACKET,
	HP3_TOPO_AF_XDP,
	HP3_TOPO_TAP,
	HP3_TOPO_VHOST,
	HP3_TOPO_MEMIF,
	HP3_TOPO_SAME,
};

struct hp3_topo_link {
	uint32_t rate_mbps, delay_us;
	uint32_t buffer_bytes; /* size of the queues before the link, for each direction */
};

struct hp3_topo_named_link {
	char name[16];
	struct hp3_topo_link link; /* value 0: as in [fabric_link] or [host_link] */
};

struct hp3_topo_switch {
	char name[16];
	uint32_t seed; /* 0: derived from [shape] seed and the name */
	enum hp3_topo_onoff time_exceeded;
};

struct hp3_topo_host {
	char name[16];
	enum hp3_topo_port port;
};

struct hp3_topo {
	struct {
		uint32_t leaves, spines, hosts_per_leaf, mtu;
		uint32_t seed;
	} shape;
	struct hp3_topo_link fabric_link, host_link;
	struct {
		enum hp3_topo_port port;
	} hosts;
	struct {
		enum hp3_topo_onoff marking;
		uint32_t kmin_bytes, kmax_bytes, pmax_percent;
	} ecn;
	struct {
		enum hp3_topo_mode mode;
		uint32_t xoff_bytes, xon_bytes;
	} pfc;
	struct {
		enum hp3_topo_hash kind;
		enum hp3_topo_onoff qpn;
	} hash;
	struct {
		enum hp3_topo_onoff time_exceeded;
		uint32_t rate_pps;
	} icmp;
	struct {
		enum hp3_topo_onoff path_id;
	} telemetry;
	struct hp3_topo_switch switches[2 * HP3_TOPO_TIER_MAX];
	uint32_t n_switches;
	struct hp3_topo_named_link links[HP3_TOPO_LINKS_MAX];
	uint32_t n_links;
	struct hp3_topo_host host[HP3_TOPO_LINKS_MAX];
	uint32_t n_hosts;
};

extern const struct hp3_ini_schema hp3_topo_schema;

/* Reads a topology. Returns as hp3_ini_load() does. */
int hp3_topo_load(const char *path, struct hp3_topo *out, struct hp3_config_errors *errs);

/*
 * Index of the element with this name in an array whose elements begin with `char name[16]`. -1: no
 * element has this name, or `name` is NULL.
 */
#define HP3_TOPO_FIND(array, n, name) hp3_topo_find_name(array, n, sizeof(*(array)), name)
static inline int hp3_topo_find_name(const void *array, uint32_t n, size_t stride, const char *name)
{
	for (uint32_t i = 0; i < n && name != NULL; i++)
		if (strcmp((const char *)array + i * stride, name) == 0)
			return (int)i;
	return -1;
}

enum hp3_topo_port hp3_topo_host_port(const struct hp3_topo *t, const char *host);
const char *hp3_topo_port_name(enum hp3_topo_port port); /* "af_packet" */
