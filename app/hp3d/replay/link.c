/* SPDX-License-Identifier: BSD-3-Clause */
/* Link layers of captures: Ethernet, SLL, SLL2, RAW; VLAN tags. */
#include "app/hp3d/replay/headers.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SLL_LEN  16u
#define SLL2_LEN 20u

void hp3d_replay_add_name(struct hp3d_replay_walk *w, const char *fmt, ...)
{
	size_t n = strlen(w->name);
	va_list ap;

	if (n > 0 && n + 2 < HP3D_REPLAY_NAME_MAX)
		n += (size_t)snprintf(w->name + n, HP3D_REPLAY_NAME_MAX - n, ", ");
	va_start(ap, fmt);
	vsnprintf(w->name + n, HP3D_REPLAY_NAME_MAX - n, fmt, ap);
	va_end(ap);
}

static bool has_bytes(const struct hp3d_replay_walk *w, uint32_t n)
{
	return w->len - w->at >= n;
}

bool hp3d_replay_needs_bytes(struct hp3d_replay_walk *w, uint32_t n)
{
	if (!has_bytes(w, n))
		hp3d_replay_add_name(w, "cut before the BTH ends");
	return has_bytes(w, n);
}

static bool is_any_tpid(uint32_t type)
{
	return hp3_is_tpid(type) || type == 0x9100 || type == 0x9200 || type == 0x9300;
}

/* Names tags with which hp3d forwards frames unchanged. */
static void name_tags(struct hp3d_replay_walk *w)
{
	bool other = false;

	for (uint32_t i = 0; i < w->tags; i++) {
		if (!hp3_is_tpid(w->tag[i].tpid) && !other) {
			hp3d_replay_add_name(w, "VLAN tag 0x%04x", w->tag[i].tpid);
			other = true;
		}
	}
	if (w->tags > HP3_TAGS_MAX)
		hp3d_replay_add_name(w, "%u VLAN tags", w->tags);
}

static bool pass_tags(struct hp3d_replay_walk *w)
{
	w->tags = 0;
	while (is_any_tpid(w->type) && w->tags < HP3D_REPLAY_TAGS_SEEN) {
		if (!hp3d_replay_needs_bytes(w, HP3_TAG_LEN))
			return false;
		w->tag[w->tags++] = (struct hp3_tag){(uint16_t)w->type, hp3_be16(w->p + w->at)};
		w->type = hp3_be16(w->p + w->at + 2);
		w->at += HP3_TAG_LEN;
	}
	name_tags(w);
	return true;
}

bool hp3d_replay_pass_ethernet(struct hp3d_replay_walk *w)
{
	if (!hp3d_replay_needs_bytes(w, HP3_ETHER_LEN))
		return false;
	w->macs = w->p + w->at;
	w->type = hp3_be16(w->p + w->at + 2 * HP3_MAC_LEN);
	w->at += HP3_ETHER_LEN;
	w->bridged = false;
	return pass_tags(w);
}

/* RAW: the version of IP is in its first four bits. */
static bool pass_version(struct hp3d_replay_walk *w)
{
	if (!hp3d_replay_needs_bytes(w, 1))
		return false;
	w->type = w->p[w->at] >> 4 == 6 ? HP3D_TYPE_IPV6 : HP3D_TYPE_IPV4;
	return true;
}

bool hp3d_replay_pass_link(struct hp3d_replay_walk *w, uint32_t link)
{
	switch (link) {
	case HP3D_LINK_ETHERNET:
		return hp3d_replay_pass_ethernet(w);
	case HP3D_LINK_SLL:
		if (!hp3d_replay_needs_bytes(w, SLL_LEN))
			return false;
		w->type = hp3_be16(w->p + SLL_LEN - 2);
		w->at = SLL_LEN;
		return pass_tags(w);
	case HP3D_LINK_SLL2:
		if (!hp3d_replay_needs_bytes(w, SLL2_LEN))
			return false;
		w->type = hp3_be16(w->p);
		w->at = SLL2_LEN;
		return pass_tags(w);
	case HP3D_LINK_RAW:
	case HP3D_LINK_IPV4:
	case HP3D_LINK_IPV6:
		return pass_version(w);
	default:
		hp3d_replay_add_name(w, "link type %u", link);
		return false;
	}
}
