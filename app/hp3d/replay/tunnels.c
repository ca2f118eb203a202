/* SPDX-License-Identifier: BSD-3-Clause */
/* IP headers, and what they carry: UDP to the port of RoCEv2, or a tunnel. */
#include "app/hp3d/replay/headers.h"

#define TYPE_ARP     0x0806u
#define TYPE_MPLS    0x8847u
#define TYPE_FLOW    0x8808u /* PAUSE and PFC */
#define TYPE_LLDP    0x88ccu
#define TYPE_ERSPAN2 0x88beu
#define TYPE_ERSPAN3 0x22ebu
#define TYPE_ROCEV1  0x8915u

#define PROTO_IPIP  4u
#define PROTO_TCP   6u
#define PROTO_IPV6  41u
#define PROTO_GRE   47u
#define PORT_VXLAN  4789u
#define PORT_VXLAN0 8472u /* of Linux, before IANA assigned 4789 */
#define PORT_GENEVE 6081u

#define GRE_CHECKSUM 0x8000u
#define GRE_ROUTING  0x4000u
#define GRE_KEY      0x2000u
#define GRE_SEQUENCE 0x1000u

static void begin_inner(struct hp3d_replay_walk *w, uint32_t type, const char *name)
{
	hp3d_replay_add_name(w, "%s", name);
	w->macs = NULL;
	w->tags = 0;
	w->type = type;
	w->bridged = type == HP3D_TYPE_TEB;
}

/* ERSPAN (draft-foschiano-erspan): type II has 8 bytes, III has 12 and may have 8 more. */
static bool pass_erspan(struct hp3d_replay_walk *w, uint32_t type, bool sequence)
{
	uint32_t n = type == TYPE_ERSPAN3 ? 12 : sequence ? 8 : 0;

	if (!hp3d_replay_needs_bytes(w, n))
		return false;
	if (type == TYPE_ERSPAN3 && (w->p[w->at + 11] & 1))
		n += 8;
	if (!hp3d_replay_needs_bytes(w, n))
		return false;
	w->at += n;
	begin_inner(w, HP3D_TYPE_TEB,
		type == TYPE_ERSPAN3 ? "ERSPAN III"
		: sequence           ? "ERSPAN II"
				     : "ERSPAN I");
	return true;
}

/* RFC 2784, RFC 2890. */
static bool pass_gre(struct hp3d_replay_walk *w)
{
	uint32_t flags, type, n = 4;

	if (!hp3d_replay_needs_bytes(w, n))
		return false;
	flags = hp3_be16(w->p + w->at);
	type = hp3_be16(w->p + w->at + 2);
	n += (flags & (GRE_CHECKSUM | GRE_ROUTING) ? 4 : 0) + (flags & GRE_KEY ? 4 : 0) +
	     (flags & GRE_SEQUENCE ? 4 : 0);
	if (!hp3d_replay_needs_bytes(w, n))
		return false;
	w->at += n;
	if (type == TYPE_ERSPAN2 || type == TYPE_ERSPAN3)
		return pass_erspan(w, type, flags & GRE_SEQUENCE);
	begin_inner(w, type, "GRE");
	return true;
}

/* VXLAN (RFC 7348) and Geneve (RFC 8926), behind the UDP header. */
static bool pass_udp_tunnel(struct hp3d_replay_walk *w, uint32_t port)
{
	uint32_t n = 8;

	if (!hp3d_replay_needs_bytes(w, n))
		return false;
	if (port != PORT_GENEVE) {
		w->at += n;
		begin_inner(w, HP3D_TYPE_TEB, "VXLAN");
		return true;
	}
	uint32_t type = hp3_be16(w->p + w->at + 2);

	n += (w->p[w->at] & 0x3fu) * 4;
	if (!hp3d_replay_needs_bytes(w, n))
		return false;
	w->at += n;
	begin_inner(w, type, "Geneve");
	return true;
}

bool hp3d_replay_read_ip(struct hp3d_replay_walk *w, struct hp3d_replay_ip *ip)
{
	const uint8_t *p = w->p + w->at;

	if (w->type == HP3D_TYPE_IPV4) {
		if (!hp3d_replay_needs_bytes(w, HP3_IPV4_LEN))
			return false;
		*ip = (struct hp3d_replay_ip){.header = (p[0] & 0xfu) * 4,
			.total = hp3_be16(p + 2),
			.proto = p[9],
			.fragment = hp3_be16(p + 6) & 0x3fff};
	} else {
		if (!hp3d_replay_needs_bytes(w, HP3_IPV6_LEN))
			return false;
		*ip = (struct hp3d_replay_ip){.header = HP3_IPV6_LEN,
			.total = HP3_IPV6_LEN + hp3_be16(p + 4),
			.proto = p[6]};
	}
	if (p[0] >> 4 != (w->type == HP3D_TYPE_IPV4 ? 4 : 6) || ip->header < HP3_IPV4_LEN ||
		ip->total < ip->header) {
		hp3d_replay_add_name(w, "IP header with errors");
		return false;
	}
	return true;
}

static void name_type(struct hp3d_replay_walk *w)
{
	static const struct {
		uint32_t type;
		const char *text;
	} names[] = {{TYPE_ROCEV1, "RoCEv1"}, {TYPE_ARP, "ARP"}, {TYPE_MPLS, "MPLS"},
		{TYPE_FLOW, "PAUSE or PFC"}, {TYPE_LLDP, "LLDP"}};

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i].type == w->type) {
			hp3d_replay_add_name(w, "%s (Ethertype 0x%04x)", names[i].text, w->type);
			return;
		}
	}
	hp3d_replay_add_name(
		w, w->type < 0x600 ? "IEEE 802.3 length %u" : "Ethertype 0x%04x", w->type);
}

int hp3d_replay_pass_ip(struct hp3d_replay_walk *w)
{
	struct hp3d_replay_ip ip;
	uint32_t port;

	if (w->type != HP3D_TYPE_IPV4 && w->type != HP3D_TYPE_IPV6) {
		name_type(w);
		return -1;
	}
	if (!hp3d_replay_read_ip(w, &ip))
		return -1;
	if (ip.fragment) {
		hp3d_replay_add_name(w, "IP fragment");
		return -1;
	}
	if (ip.proto == HP3_PROTO_UDP) {
		if (!hp3d_replay_needs_bytes(w, ip.header + HP3_UDP_LEN))
			return -1;
		port = hp3_be16(w->p + w->at + ip.header + 2);
		if (port == HP3_ROCE_UDP_PORT)
			return 1;
		if (port != PORT_VXLAN && port != PORT_VXLAN0 && port != PORT_GENEVE) {
			hp3d_replay_add_name(w, "UDP port %u", port);
			return -1;
		}
		w->at += ip.header + HP3_UDP_LEN;
		return pass_udp_tunnel(w, port) ? 0 : -1;
	}
	if (!hp3d_replay_needs_bytes(w, ip.header))
		return -1;
	if (ip.proto != PROTO_GRE && ip.proto != PROTO_IPIP && ip.proto != PROTO_IPV6) {
		if (ip.proto == PROTO_TCP)
			hp3d_replay_add_name(w, "TCP");
		else
			hp3d_replay_add_name(w, "IP protocol %u", ip.proto);
		return -1;
	}
	w->at += ip.header;
	if (ip.proto == PROTO_GRE)
		return pass_gre(w) ? 0 : -1;
	begin_inner(w, ip.proto == PROTO_IPIP ? HP3D_TYPE_IPV4 : HP3D_TYPE_IPV6, "IP in IP");
	return 0;
}
