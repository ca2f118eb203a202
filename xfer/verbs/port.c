/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports of RNICs, and their GIDs. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include "xfer/verbs/verbs.h"

static bool is_mapped_ipv4(const union ibv_gid *gid)
{
	static const uint8_t prefix[12] = {[10] = 0xff, [11] = 0xff};

	return memcmp(gid->raw, prefix, sizeof(prefix)) == 0;
}

static bool is_link_local(const union ibv_gid *gid)
{
	return gid->raw[0] == 0xfe && (gid->raw[1] & 0xc0) == 0x80;
}

/* The better a GID, the greater: IPv4, then global IPv6, then link-local IPv6. */
static int rank_of(const union ibv_gid *gid)
{
	if (is_mapped_ipv4(gid))
		return 3;
	return is_link_local(gid) ? 1 : 2;
}

static bool is_usable(const struct ibv_gid_entry *e, bool infiniband)
{
	return e->gid_type == (infiniband ? IBV_GID_TYPE_IB : IBV_GID_TYPE_ROCE_V2);
}

/* The best GID of the port. False: none. */
static bool best_gid(struct hp3x_rail_verbs *r, int n)
{
	int best = 0;

	for (int i = 0; i < n; i++) {
		struct ibv_gid_entry e;

		if (ibv_query_gid_ex(r->context, r->port, (uint32_t)i, &e, 0) != 0 ||
			!is_usable(&e, r->infiniband) || rank_of(&e.gid) <= best)
			continue;
		best = rank_of(&e.gid);
		r->gid = e.gid;
	}
	return best > 0;
}

int hp3x_verbs_gid_index(const struct hp3x_rail_verbs *r)
{
	struct ibv_port_attr port;

	if (ibv_query_port(r->context, r->port, &port) != 0 || port.state != IBV_PORT_ACTIVE)
		return -1;
	for (int i = 0; i < port.gid_tbl_len; i++) {
		struct ibv_gid_entry e;

		if (ibv_query_gid_ex(r->context, r->port, (uint32_t)i, &e, 0) == 0 &&
			is_usable(&e, r->infiniband) && memcmp(&e.gid, &r->gid, sizeof(e.gid)) == 0)
			return i;
	}
	return -1;
}

/* Bytes/s. Sources: IBTA 1.6, PortInfo: LinkSpeedActive, LinkWidthActive. */
static uint64_t rate_of(const struct ibv_port_attr *port)
{
	static const struct {
		uint8_t code;
		uint32_t mbps; /* with one pair of wires */
	} speed[] = {{1, 2500}, {2, 5000}, {4, 10000}, {8, 10000}, {16, 14000}, {32, 25000},
		{64, 50000}, {128, 100000}};
	uint64_t width = port->active_width == 1   ? 1
			 : port->active_width == 2 ? 4
			 : port->active_width == 4 ? 8
			 : port->active_width == 8 ? 12
						   : 2;

	for (uint32_t i = 0; i < sizeof(speed) / sizeof(speed[0]); i++) {
		if (speed[i].code == port->active_speed)
			return width * speed[i].mbps * 125000;
	}
	return 0;
}

bool hp3x_verbs_port_read(struct hp3x_rail_verbs *r, const char *device, uint8_t port)
{
	struct ibv_port_attr attr;

	r->port = port;
	if (ibv_query_port(r->context, port, &attr) != 0 || attr.state != IBV_PORT_ACTIVE)
		return false;
	r->infiniband = attr.link_layer == IBV_LINK_LAYER_INFINIBAND;
	r->mtu = attr.active_mtu;
	r->rate = rate_of(&attr);
	snprintf(r->name, sizeof(r->name), "%.40s:%u", device, port);
	if (!best_gid(r, attr.gid_tbl_len))
		return false;
	if (is_mapped_ipv4(&r->gid))
		inet_ntop(AF_INET, r->gid.raw + 12, r->address, sizeof(r->address));
	else if (!r->infiniband && !is_link_local(&r->gid))
		inet_ntop(AF_INET6, r->gid.raw, r->address, sizeof(r->address));
	return true;
}
