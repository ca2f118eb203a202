/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Input: any bytes as a frame. The parser reads nothing beyond the frame, and all offsets in its
 * result are inside the frame. Every frame that it accepts as RoCE can be rewritten, answered,
 * and read as a CM datagram, and only the intended bytes change. If the fast path of the parser
 * accepts a frame, the general path returns the same result.
 */
#include <stdlib.h>
#include "probes/cm.h"
#include "roce/build.h"
#include "roce/icrc.h"
#include "roce/parse_plain.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(x)                                                                                    \
	do {                                                                                       \
		if (!(x))                                                                          \
			abort();                                                                   \
	} while (0)

static void check_view(const struct hp3_view *v, size_t size)
{
	MUST(v->class < HP3_CLASS_MAX && v->reason < HP3_PARSE_REASON_MAX);
	MUST((v->class == HP3_CLASS_OTHER) == (v->reason != HP3_PARSE_OK));
	if (v->class == HP3_CLASS_OTHER)
		return;
	MUST(v->tags <= HP3_TAGS_MAX && v->l3_off == 14 + HP3_TAG_LEN * v->tags);
	MUST(v->vlan <= HP3_VLAN_MAX && (v->tags != 0 || v->vlan == 0));
	MUST(v->udp_off >= v->l3_off + 20u);
	MUST(v->icrc_off >= v->udp_off + 20u + v->payload_len);
	MUST(v->icrc_off + HP3_ICRC_LEN <= size);
	MUST(v->dest_qpn <= HP3_QPN_MASK && v->psn <= HP3_PSN_MASK);
}

/* A rewrite keeps a right ICRC right, the view true, and undone it leaves the frame as it was. */
static void check_rewrite(uint8_t *f, size_t size, struct hp3_view *v)
{
	struct hp3_view w, first;
	uint16_t port = v->sport ^ 0x2a5f;
	bool ack = v->flags & HP3_VF_ACKREQ;

	hp3_icrc_store(f, v);
	MUST(hp3_icrc_ok(f, v));
	first = *v;
	hp3_set_sport_ackreq(f, v, port, !ack);
	MUST(hp3_icrc_ok(f, v));
	hp3_parse(f, (uint32_t)size, &w);
	MUST(!memcmp(&w, v, sizeof(w)));
	hp3_set_becn(f, v, true);
	MUST(hp3_icrc_ok(f, v));
	hp3_set_becn(f, v, first.flags & HP3_VF_BECN);
	hp3_set_sport_ackreq(f, v, first.sport, ack);
	MUST(hp3_icrc_ok(f, v));
	MUST(!memcmp(&first, v, sizeof(first)));
}

/* It bears the tags of the frame that it answers. */
static void check_answer(const uint8_t *f, const struct hp3_view *v)
{
	struct hp3_addressing a;
	struct hp3_view w;
	uint8_t buf[HP3_BUILD_MAX_HDR];

	hp3_addressing_reply(f, v, 0xc000, &a);
	int n = hp3_build_ack(buf, sizeof(buf), &a, v->dest_qpn, v->psn, 0, 0);
	MUST(n > 0);
	hp3_parse(buf, (uint32_t)n, &w);
	MUST(w.class == HP3_CLASS_RC_REPLY && w.psn == v->psn && hp3_icrc_ok(buf, &w));
	MUST(w.vlan == v->vlan && !memcmp(buf + 12, f + 12, HP3_TAG_LEN * v->tags));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *f = malloc(size ? size : 1); /* its own block: ASan sees the first byte beyond */
	struct hp3_view v, w;
	struct hp3_cm_msg m;

	if (!f)
		return 0;
	memcpy(f, data, size);
	hp3_parse(f, (uint32_t)size, &v);
	check_view(&v, size);
	hp3_parse_any(f, (uint32_t)size, &w);
	MUST(!memcmp(&v, &w, sizeof(v)));
	if (v.class != HP3_CLASS_OTHER) {
		hp3_cm_parse(f, &v, &m);
		MUST(m.kind == HP3_CM_NONE || v.class == HP3_CLASS_CM);
		check_answer(f, &v);
		check_rewrite(f, size, &v);
	}
	free(f);
	return 0;
}
