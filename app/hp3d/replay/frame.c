/* SPDX-License-Identifier: BSD-3-Clause */
/* The frame of a record: its Ethernet header is made, and missing bytes become zeros. */
#include "app/hp3d/replay/headers.h"
#include <string.h>
#include "roce/icrc.h"
#include "roce/opcode.h"

#define TUNNELS_MAX 4u

/* Passes all headers up to the IP header of a packet to the port of RoCEv2. */
static bool find_roce(struct hp3d_replay_walk *w, uint32_t link)
{
	int ret;

	if (!hp3d_replay_pass_link(w, link))
		return false;
	for (unsigned i = 0; i <= TUNNELS_MAX; i++) {
		ret = hp3d_replay_pass_ip(w);
		if (ret != 0)
			return ret > 0;
		if (w->bridged && !hp3d_replay_pass_ethernet(w))
			return false;
	}
	hp3d_replay_add_name(w, "more than %u tunnels", TUNNELS_MAX);
	return false;
}

/* Writes an Ethernet header with the innermost two tags. Returns its length. */
static uint32_t make_ethernet(const struct hp3d_replay_walk *w, uint8_t *to)
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
static bool fill_packet(struct hp3d_replay_walk *w, struct hp3d_replay_frame *f)
{
	struct hp3d_replay_ip ip;
	uint32_t bth, have;

	if (!hp3d_replay_read_ip(w, &ip))
		return false;
	if (ip.total <= w->len - w->at)
		return true;
	bth = ip.header + HP3_UDP_LEN;
	if (!hp3d_replay_needs_bytes(w, bth + HP3_BTH_LEN))
		return false;
	have = w->len - w->at - bth - HP3_BTH_LEN;
	f->ext_cut = have < hp3_opcodes[w->p[w->at + bth]].ext_len;
	if ((hp3_opcodes[w->p[w->at + bth]].ext & HP3_EXT_AETH) && have < 4) {
		hp3d_replay_add_name(w, "cut before the AETH ends");
		return false;
	}
	if (f->l3 + ip.total > HP3D_REPLAY_FRAME_MAX) {
		hp3d_replay_add_name(w, "packet of %u bytes", ip.total);
		f->too_long = true;
		return false;
	}
	memset(f->data + f->len, 0, f->l3 + ip.total - f->len);
	f->len = f->l3 + ip.total;
	return true;
}

static bool make_frame(struct hp3d_replay_walk *w, struct hp3d_replay_frame *f)
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
	struct hp3d_replay_walk w = {.p = record, .len = len, .name = f->name};

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
