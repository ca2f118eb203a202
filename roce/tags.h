/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * VLAN tags. A frame has no tag, one tag, or an outer and an inner tag (IEEE 802.1ad). Each tag is
 * an 802.1Q tag (C-TAG) or an 802.1ad tag (S-TAG).
 *
 * The number `vlan` identifies a VLAN. Without tags, `vlan` is 0. With a single 802.1Q tag, `vlan`
 * is the VLAN id. An 802.1Q tag with VLAN id 0 has only a priority, and adds nothing to `vlan`.
 * Priorities do not change `vlan`.
 */
#include <stdint.h>

#define HP3_TPID_8021Q  0x8100u
#define HP3_TPID_8021AD 0x88a8u
#define HP3_TAG_LEN     4u
#define HP3_TAGS_MAX    2u

/* Bits of `vlan`. */
#define HP3_VLAN_ID          0x000fffu /* id of the outer tag */
#define HP3_VLAN_INNER_SHIFT 12u /* id of the inner tag */
#define HP3_VLAN_AD          0x1000000u /* the outer tag is an 802.1ad tag */
#define HP3_VLAN_INNER_AD    0x2000000u /* the inner tag is an 802.1ad tag */
#define HP3_VLAN_MAX         0x3ffffffu

struct hp3_tag {
	uint16_t tpid; /* 0: no tag */
	uint16_t tci; /* priority (3 bits), drop eligible (1), VLAN id (12) */
};

/* An 802.1Q tag; `tci` 0: no tag. */
static inline struct hp3_tag hp3_tag_8021q(uint16_t tci)
{
	return (struct hp3_tag){tci != 0 ? HP3_TPID_8021Q : 0, tci};
}

static inline int hp3_is_tpid(uint32_t type)
{
	return type == HP3_TPID_8021Q || type == HP3_TPID_8021AD;
}

/* The bits of `vlan` from tag `i` (0: the outer one). */
static inline uint32_t hp3_tag_vlan(uint32_t i, uint32_t tpid, uint32_t tci)
{
	return (tci & HP3_VLAN_ID) << HP3_VLAN_INNER_SHIFT * i |
	       (tpid == HP3_TPID_8021AD ? HP3_VLAN_AD << i : 0);
}

static inline uint32_t hp3_tags_vlan(const struct hp3_tag tag[HP3_TAGS_MAX])
{
	uint32_t vlan = 0;

	for (uint32_t i = 0; i < HP3_TAGS_MAX && tag[i].tpid != 0; i++)
		vlan |= hp3_tag_vlan(i, tag[i].tpid, tag[i].tci);
	return vlan;
}

/*
 * Makes the tags of a VLAN, for callers that have no frame from which to copy the tags. All tags
 * get the priority `priority`.
 */
static inline void hp3_tags_make(uint32_t vlan, uint8_t priority, struct hp3_tag tag[HP3_TAGS_MAX])
{
	const uint32_t inner = vlan >> HP3_VLAN_INNER_SHIFT & HP3_VLAN_ID;

	tag[0] = (struct hp3_tag){0, 0};
	tag[1] = (struct hp3_tag){0, 0};
	if (vlan == 0)
		return;
	tag[0].tpid = vlan & HP3_VLAN_AD ? HP3_TPID_8021AD : HP3_TPID_8021Q;
	tag[0].tci = (uint16_t)(priority << 13 | (vlan & HP3_VLAN_ID));
	if (inner == 0 && !(vlan & HP3_VLAN_INNER_AD))
		return;
	tag[1].tpid = vlan & HP3_VLAN_INNER_AD ? HP3_TPID_8021AD : HP3_TPID_8021Q;
	tag[1].tci = (uint16_t)(priority << 13 | inner);
}
