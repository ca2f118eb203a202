/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/replay/frame.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "roce/icrc.h"
#include "roce/opcode.h"

#define TUNNELS_MAX 4u
#define TAGS_SEEN   8u

#define TYPE_IPV4    0x0800u
#define TYPE_ARP     0x0806u
#define TYPE_TEB     0x6558u /* transparent Ethernet bridging: a frame in GRE or Geneve */
#define TYPE_IPV6    0x86ddu
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

#define SLL_LEN  16u
#define SLL2_LEN 20u

/* A walk from the outermost header inwards. */
struct walk {
	const uint8_t *p;
	uint32_t len, at; /* `at` never exceeds `len` */
	const uint8_t *macs; /* destination and source of the innermost frame; NULL: none */
	struct hp3_tag tag[TAGS_SEEN];
	uint32_t tags;
	bool bridged; /* at `at` begins an Ethernet header, not the header of `type` */
	uint32_t type; /* Ethertype of what begins at `at` */
	char *name;
};

/* Appends to the name of what was found. */
static __attribute__((format(printf, 2, 3))) void add_name(struct walk *w, const char *fmt, ...)
{
	size_t n = strlen(w->name);
	va_list ap;

	if (n > 0 && n + 2 < HP3D_REPLAY_NAME_MAX)
		n += (size_t)snprintf(w->name + n, HP3D_REPLAY_NAME_MAX - n, ", ");
	va_start(ap, fmt);
	vsnprintf(w->name + n, HP3D_REPLAY_NAME_MAX - n, fmt, ap);
	va_end(ap);
}

static bool has_bytes(const struct walk *w, uint32_t n)
{
	return w->len - w->at >= n;
}

/* False after a name: the record ends within the next `n` bytes. */
static bool needs_bytes(struct walk *w, uint32_t n)
{
	if (!has_bytes(w, n))
		add_name(w, "cut before the BTH ends");
	return has_bytes(w, n);
}

static bool is_any_tpid(uint32_t type)
{
	return hp3_is_tpid(type) || type == 0x9100 || type == 0x9200 || type == 0x9300;
}

/* Names tags with which hp3d forwards frames unchanged. */
static void name_tags(struct walk *w)
{
	bool other = false;

	for (uint32_t i = 0; i < w->tags; i++) {
		if (!hp3_is_tpid(w->tag[i].tpid) && !other) {
			add_name(w, "VLAN tag 0x%04x", w->tag[i].tpid);
			other = true;
		}
	}
	if (w->tags > HP3_TAGS_MAX)
		add_name(w, "%u VLAN tags", w->tags);
}

static bool pass_tags(struct walk *w)
{
	w->tags = 0;
	while (is_any_tpid(w->type) && w->tags < TAGS_SEEN) {
		if (!needs_bytes(w, HP3_TAG_LEN))
			return false;
		w->tag[w->tags++] = (struct hp3_tag){(uint16_t)w->type, hp3_be16(w->p + w->at)};
		w->type = hp3_be16(w->p + w->at + 2);
		w->at += HP3_TAG_LEN;
	}
	name_tags(w);
	return true;
}

static bool pass_ethernet(struct walk *w)
{
	if (!needs_bytes(w, HP3_ETHER_LEN))
		return false;
	w->macs = w->p + w->at;
	w->type = hp3_be16(w->p + w->at + 2 * HP3_MAC_LEN);
	w->at += HP3_ETHER_LEN;
	w->bridged = false;
	return pass_tags(w);
}

/* RAW: the version of IP is in its first four bits. */
static bool pass_version(struct walk *w)
{
	if (!needs_bytes(w, 1))
		return false;
	w->type = w->p[w->at] >> 4 == 6 ? TYPE_IPV6 : TYPE_IPV4;
	return true;
}

static bool pass_link(struct walk *w, uint32_t link)
{
	switch (link) {
	case HP3D_LINK_ETHERNET:
		return pass_ethernet(w);
	case HP3D_LINK_SLL:
		if (!needs_bytes(w, SLL_LEN))
			return false;
		w->type = hp3_be16(w->p + SLL_LEN - 2);
		w->at = SLL_LEN;
		return pass_tags(w);
	case HP3D_LINK_SLL2:
		if (!needs_bytes(w, SLL2_LEN))
			return false;
		w->type = hp3_be16(w->p);
		w->at = SLL2_LEN;
		return pass_tags(w);
	case HP3D_LINK_RAW:
	case HP3D_LINK_IPV4:
	case HP3D_LINK_IPV6:
		return pass_version(w);
	default:
		add_name(w, "link type %u", link);
		return false;
	}
}

static void begin_inner(struct walk *w, uint32_t type, const char *name)
{
	add_name(w, "%s", name);
	w->macs = NULL;
	w->tags = 0;
	w->type = type;
	w->bridged = type == TYPE_TEB;
}

/* ERSPAN (draft-foschiano-erspan): type II has 8 bytes, III has 12 and may have 8 more. */
static bool pass_erspan(struct walk *w, uint32_t type, bool sequence)
{
	uint32_t n = type == TYPE_ERSPAN3 ? 12 : sequence ? 8 : 0;

	if (!needs_bytes(w, n))
		return false;
	if (type == TYPE_ERSPAN3 && (w->p[w->at + 11] & 1))
		n += 8;
	if (!needs_bytes(w, n))
		return false;
	w->at += n;
	begin_inner(w, TYPE_TEB,
		type == TYPE_ERSPAN3 ? "ERSPAN III"
		: sequence           ? "ERSPAN II"
				     : "ERSPAN I");
	return true;
}

/* RFC 2784, RFC 2890. */
static bool pass_gre(struct walk *w)
{
	uint32_t flags, type, n = 4;

	if (!needs_bytes(w, n))
		return false;
	flags = hp3_be16(w->p + w->at);
	type = hp3_be16(w->p + w->at + 2);
	n += (flags & (GRE_CHECKSUM | GRE_ROUTING) ? 4 : 0) + (flags & GRE_KEY ? 4 : 0) +
	     (flags & GRE_SEQUENCE ? 4 : 0);
	if (!needs_bytes(w, n))
		return false;
	w->at += n;
	if (type == TYPE_ERSPAN2 || type == TYPE_ERSPAN3)
		return pass_erspan(w, type, flags & GRE_SEQUENCE);
	begin_inner(w, type, "GRE");
	return true;
}

/* VXLAN (RFC 7348) and Geneve (RFC 8926), behind the UDP header. */
static bool pass_udp_tunnel(struct walk *w, uint32_t port)
{
	uint32_t n = 8;

	if (!needs_bytes(w, n))
		return false;
	if (port != PORT_GENEVE) {
		w->at += n;
		begin_inner(w, TYPE_TEB, "VXLAN");
		return true;
	}
	uint32_t type = hp3_be16(w->p + w->at + 2);

	n += (w->p[w->at] & 0x3fu) * 4;
	if (!needs_bytes(w, n))
		return false;
	w->at += n;
	begin_inner(w, type, "Geneve");
	return true;
}

/* An IP header at `at`. Its payload begins `header` bytes later, and has the protocol `proto`. */
struct ip {
	uint32_t header, total;
	uint8_t proto;
	bool fragment;
};

static bool read_ip(struct walk *w, struct ip *ip)
{
	const uint8_t *p = w->p + w->at;

	if (w->type == TYPE_IPV4) {
		if (!needs_bytes(w, HP3_IPV4_LEN))
			return false;
		*ip = (struct ip){.header = (p[0] & 0xfu) * 4,
			.total = hp3_be16(p + 2),
			.proto = p[9],
			.fragment = hp3_be16(p + 6) & 0x3fff};
	} else {
		if (!needs_bytes(w, HP3_IPV6_LEN))
			return false;
		*ip = (struct ip){.header = HP3_IPV6_LEN,
			.total = HP3_IPV6_LEN + hp3_be16(p + 4),
			.proto = p[6]};
	}
	if (p[0] >> 4 != (w->type == TYPE_IPV4 ? 4 : 6) || ip->header < HP3_IPV4_LEN ||
		ip->total < ip->header) {
		add_name(w, "IP header with errors");
		return false;
	}
	return true;
}

static void name_type(struct walk *w)
{
	static const struct {
		uint32_t type;
		const char *text;
	} names[] = {{TYPE_ROCEV1, "RoCEv1"}, {TYPE_ARP, "ARP"}, {TYPE_MPLS, "MPLS"},
		{TYPE_FLOW, "PAUSE or PFC"}, {TYPE_LLDP, "LLDP"}};

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i].type == w->type) {
			add_name(w, "%s (Ethertype 0x%04x)", names[i].text, w->type);
			return;
		}
	}
	add_name(w, w->type < 0x600 ? "IEEE 802.3 length %u" : "Ethertype 0x%04x", w->type);
}

/*
 * Passes one IP header and the tunnel behind it. 1: a packet to the port of RoCEv2 begins at `at`;
 * 0: at `at` begins the content of a tunnel; -1: neither, and the name tells what was found.
 */
static int pass_ip(struct walk *w)
{
	struct ip ip;
	uint32_t port;

	if (w->type != TYPE_IPV4 && w->type != TYPE_IPV6) {
		name_type(w);
		return -1;
	}
	if (!read_ip(w, &ip))
		return -1;
	if (ip.fragment) {
		add_name(w, "IP fragment");
		return -1;
	}
	if (ip.proto == HP3_PROTO_UDP) {
		if (!needs_bytes(w, ip.header + HP3_UDP_LEN))
			return -1;
		port = hp3_be16(w->p + w->at + ip.header + 2);
		if (port == HP3_ROCE_UDP_PORT)
			return 1;
		if (port != PORT_VXLAN && port != PORT_VXLAN0 && port != PORT_GENEVE) {
			add_name(w, "UDP port %u", port);
			return -1;
		}
		w->at += ip.header + HP3_UDP_LEN;
		return pass_udp_tunnel(w, port) ? 0 : -1;
	}
	if (!needs_bytes(w, ip.header))
		return -1;
	if (ip.proto != PROTO_GRE && ip.proto != PROTO_IPIP && ip.proto != PROTO_IPV6) {
		if (ip.proto == PROTO_TCP)
			add_name(w, "TCP");
		else
			add_name(w, "IP protocol %u", ip.proto);
		return -1;
	}
	w->at += ip.header;
	if (ip.proto == PROTO_GRE)
		return pass_gre(w) ? 0 : -1;
	begin_inner(w, ip.proto == PROTO_IPIP ? TYPE_IPV4 : TYPE_IPV6, "IP in IP");
	return 0;
}

/* Passes all headers up to the IP header of a packet to the port of RoCEv2. */
static bool find_roce(struct walk *w, uint32_t link)
{
	int ret;

	if (!pass_link(w, link))
		return false;
	for (unsigned i = 0; i <= TUNNELS_MAX; i++) {
		ret = pass_ip(w);
		if (ret != 0)
			return ret > 0;
		if (w->bridged && !pass_ethernet(w))
			return false;
	}
	add_name(w, "more than %u tunnels", TUNNELS_MAX);
	return false;
}

/* Writes an Ethernet header with the innermost two tags. Returns its length. */
static uint32_t make_ethernet(const struct walk *w, uint8_t *to)
{
	uint32_t n = 2 * HP3_MAC_LEN, first = w->tags > HP3_TAGS_MAX ? w->tags - HP3_TAGS_MAX : 0;

	memset(to, 0, n);
	if (w->macs != NULL)
		memcpy(to, w->macs, n);
	for (uint32_t i = first; i < w->tags; i++, n += HP3_TAG_LEN) {
		uint16_t tpid = w->tag[i].tpid;

		hp3_put_be16(to + n, hp3_is_tpid(tpid) ? tpid : HP3_TPID_8021AD);
		hp3_put_be16(to + n + 2, w->tag[i].tci);
	}
	hp3_put_be16(to + n, (uint16_t)w->type);
	return n + 2;
}

/*
 * Fills a cut packet with zeros, if the BTH is there. A reply also needs its AETH: without it, an
 * ACK and a NAK are the same.
 */
static bool fill_packet(struct walk *w, struct hp3d_replay_frame *f)
{
	struct ip ip;
	uint32_t bth, have;

	if (!read_ip(w, &ip))
		return false;
	if (ip.total <= w->len - w->at)
		return true;
	bth = ip.header + HP3_UDP_LEN;
	if (!needs_bytes(w, bth + HP3_BTH_LEN))
		return false;
	have = w->len - w->at - bth - HP3_BTH_LEN;
	f->ext_cut = have < hp3_opcodes[w->p[w->at + bth]].ext_len;
	if ((hp3_opcodes[w->p[w->at + bth]].ext & HP3_EXT_AETH) && have < 4) {
		add_name(w, "cut before the AETH ends");
		return false;
	}
	if (f->l3 + ip.total > HP3D_REPLAY_FRAME_MAX) {
		add_name(w, "packet of %u bytes", ip.total);
		f->too_long = true;
		return false;
	}
	memset(f->data + f->len, 0, f->l3 + ip.total - f->len);
	f->len = f->l3 + ip.total;
	return true;
}

static bool make_frame(struct walk *w, struct hp3d_replay_frame *f)
{
	uint32_t n = w->len - w->at;

	f->l3 = make_ethernet(w, f->data);
	f->head = w->at;
	if (f->head > HP3D_REPLAY_HEAD_MAX || f->l3 + n > HP3D_REPLAY_FRAME_MAX)
		return false;
	memcpy(f->data + f->l3, w->p + w->at, n);
	f->len = f->recorded = f->l3 + n;
	if (!fill_packet(w, f))
		return false;
	hp3_parse(f->data, f->len, &f->v);
	if (f->v.class == HP3_CLASS_OTHER)
		return false;
	if (f->len > f->recorded)
		hp3_icrc_store(f->data, &f->v);
	return true;
}

/* A record without an Ethernet header gets one whose type is not IP. */
static void copy_record(
	const void *record, uint32_t len, uint32_t link, struct hp3d_replay_frame *f)
{
	f->head = 0;
	f->l3 = link == HP3D_LINK_ETHERNET ? 0 : HP3_ETHER_LEN;
	memset(f->data, 0, f->l3);
	memcpy(f->data + f->l3, record, len);
	f->len = f->recorded = f->l3 + len;
	f->ext_cut = false;
}

bool hp3d_replay_frame_link(uint32_t link)
{
	return link == HP3D_LINK_ETHERNET || link == HP3D_LINK_RAW || link == HP3D_LINK_SLL ||
	       link == HP3D_LINK_IPV4 || link == HP3D_LINK_IPV6 || link == HP3D_LINK_SLL2;
}

void hp3d_replay_frame_read(
	const void *record, uint32_t len, uint32_t link, struct hp3d_replay_frame *f)
{
	struct walk w = {.p = record, .len = len, .name = f->name};

	f->name[0] = '\0';
	f->ext_cut = f->too_long = false;
	if (link == HP3D_LINK_ETHERNET) {
		hp3_parse(record, len, &f->v);
		if (f->v.class != HP3_CLASS_OTHER) {
			copy_record(record, len, link, f);
			return;
		}
	}
	if (find_roce(&w, link) && make_frame(&w, f))
		return;
	copy_record(record, len, link, f);
	hp3_parse(f->data, f->len, &f->v);
}
