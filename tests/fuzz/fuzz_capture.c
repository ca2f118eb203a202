/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Input: any file as a pcapng capture. The readers of pcapng files and of records read nothing
 * beyond the file and the record. A packet that is RoCEv2 has the bytes of the record behind its
 * Ethernet header, then zeros, and a right ICRC if it was cut. The table of flows takes every such
 * packet.
 */
#include "app/hp3d/replay/flows.h"
#include "app/hp3d/replay/pcapng.h"
#include "input.h"
#include "roce/icrc.h"

static struct hp3d_replay_frame frame;

static void check_frame(const uint8_t *record, uint32_t len)
{
	const struct hp3d_replay_frame *f = &frame;
	struct hp3_view v;

	MUST(f->recorded <= f->len && f->len <= sizeof(f->data));
	MUST(f->head <= len && f->head <= HP3D_REPLAY_HEAD_MAX && f->l3 <= f->recorded);
	MUST(f->recorded - f->l3 == len - f->head);
	MUST(memcmp(f->data + f->l3, record + f->head, len - f->head) == 0 ||
		f->recorded < f->len); /* a cut packet may have its ICRC in the last bytes */
	hp3_parse(f->data, f->len, &v);
	MUST(memcmp(&v, &f->v, sizeof(v)) == 0);
	MUST(f->v.class != HP3_CLASS_OTHER || f->recorded == f->len);
	MUST(f->recorded == f->len || hp3_icrc_ok(f->data, &f->v));
	MUST(memchr(f->name, '\0', sizeof(f->name)) != NULL);
}

static void check_rows(struct hp3d_replay_flows *t)
{
	struct hp3d_replay_row row;
	uint32_t at = 0;

	hp3d_replay_flows_end(t);
	while (hp3d_replay_flows_next(t, &at, &row)) {
		MUST(row.paired == (row.reason == HP3_UNPAIRED_PAIRED));
		MUST(row.paired || hp3_unpaired_capture_help(row.reason) != NULL);
		MUST(row.reordered <= row.requests && row.naks + row.rnrs <= row.replies);
		MUST(row.retransmits <= row.requests + row.copies + UINT16_MAX);
	}
}

static void read_packets(struct hp3d_pcapng *p, struct hp3d_replay_flows *t)
{
	struct pcap_pkthdr h;
	const u_char *data;
	uint32_t link;

	while (hp3d_pcapng_next(p, &h, &data, &link) == 1) {
		uint8_t *record = malloc(h.caplen + 1); /* of its own: ASan sees a read beyond */

		MUST(record != NULL);
		if (h.caplen <= HP3D_REPLAY_RECORD_MAX) {
			uint8_t *end = record + 1; /* so that the last byte ends the block */

			memcpy(end, data, h.caplen);
			hp3d_replay_frame_read(end, h.caplen, link, &frame);
			check_frame(end, h.caplen);
			hp3d_replay_flows_add(t, &frame, (uint64_t)h.ts.tv_usec, false);
		}
		free(record);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hp3d_replay_flows *t = hp3d_replay_flows_new();
	FILE *f = size > 0 ? fmemopen((void *)(uintptr_t)data, size, "rb") : NULL;
	struct hp3d_pcapng *p = f != NULL ? hp3d_pcapng_open(f) : NULL;

	MUST(t != NULL && (size == 0 || p != NULL));
	if (p != NULL) {
		read_packets(p, t);
		hp3d_pcapng_close(p);
	}
	check_rows(t);
	hp3d_replay_flows_free(t);
	return 0;
}
