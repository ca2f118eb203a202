/* SPDX-License-Identifier: BSD-3-Clause */
/* The passes over a capture: the first ones learn, and the last one writes and counts. */
#include "app/hp3d/replay/replay.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rte_errno.h>
#include <rte_mbuf.h>
#include "app/dpdk/failure.h"
#include "app/hp3d/replay/internal.h"

#define MBUF_ROOM    10240u
#define MBUF_EXTRA   1024u
#define LEARN_PASSES 64u
#define BEGIN_NS     3600000000000ull /* start of a pass: by then all counts have aged to 0 */
#define DAY_NS       86400000000000ll

/* A: the end with the lower address. Packets without addresses count as A's. */
static unsigned end_of(const void *frame, uint32_t len)
{
	const uint8_t *p = frame;
	uint32_t at = 12;

	while (at + 4 <= len && (hp3_be16(p + at) == 0x8100 || hp3_be16(p + at) == 0x88a8))
		at += 4;
	if (at + 22 <= len && hp3_be16(p + at) == 0x0800)
		return memcmp(p + at + 14, p + at + 18, 4) > 0;
	if (at + 42 <= len && hp3_be16(p + at) == 0x86dd)
		return memcmp(p + at + 10, p + at + 26, 16) > 0;
	return 0;
}

/*
 * A capture has no ACK for an AckReq that hp3d sets. So a stream can be moved only behind a packet
 * that had AckReq in the capture, or that always gets a response.
 */
static void move_sender(
	struct hp3d_replay_run *r, unsigned end, const struct hp3_view *v, const void *frame)
{
	struct hp3_engine *e = hp3d_pipe_engine(r->ends[end].pipe);
	struct hp3_ends ends = hp3_ends_of(frame, v, HP3_DIR_TX);
	struct hp3_cmd cmd = {.kind = HP3_CMD_MOVE, .port = r->opt->move_to};

	if (v->class != HP3_CLASS_RC_REQUEST ||
		!(v->flags & (HP3_VF_ACKREQ | HP3_VF_READ | HP3_VF_ATOMIC)))
		return;
	cmd.flow = hp3_flow_find(e, &ends, v->dest_qpn);
	hp3d_pipe_command(r->ends[end].pipe, &cmd, r->now);
	hp3d_replay_forward(r);
}

static int feed_packet(struct hp3d_replay_run *r, const struct pcap_pkthdr *h, const u_char *data)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(r->pool);
	unsigned end = end_of(data, h->caplen);
	struct hp3_view v;
	struct hp3d_replay_stamp *st;

	if (m == NULL || h->caplen > rte_pktmbuf_tailroom(m)) {
		fprintf(stderr,
			"hp3d: %s: packet of %u bytes does not fit a buffer of %u; record with "
			"segmentation and receive offloads off (ethtool -K IF tso off gro off)\n",
			r->opt->in, h->caplen, MBUF_ROOM);
		rte_pktmbuf_free(m);
		return -1;
	}
	memcpy(rte_pktmbuf_append(m, (uint16_t)h->caplen), data, h->caplen);
	st = rte_mbuf_to_priv(m);
	*st = (struct hp3d_replay_stamp){h->ts, h->len};
	hp3_parse(data, h->caplen, &v);
	hp3d_replay_queue(r, m, end, HP3_DIR_TX);
	hp3d_replay_forward(r);
	if (r->moving)
		move_sender(r, end, &v, data);
	return r->failed ? -1 : 0;
}

/* A timestamp more than a day from the one before is damaged or of another capture: it does not
 * advance the time, and later ones count relative to it. */
static void take_time(struct hp3d_replay_run *r, uint64_t stamp)
{
	int64_t step = (int64_t)(stamp - r->shift - r->now);

	if (step > DAY_NS || step < -DAY_NS) {
		r->shift += (uint64_t)step;
		r->leaps++;
	} else if (step > 0) {
		hp3d_replay_advance(r, r->now + (uint64_t)step);
	}
}

static void begin_capture(struct hp3d_replay_run *r, uint64_t stamp)
{
	r->shift = stamp - r->now;
	for (unsigned i = 0; i < HP3D_REPLAY_ENDS; i++)
		hp3d_replay_announce(&r->ends[i].pairs, r->ends[i].pipe, r->now);
}

static int read_all(struct hp3d_replay_run *r)
{
	struct pcap_pkthdr *h;
	const u_char *data;
	bool first = true;
	int ret;

	while ((ret = hp3d_replay_capture_next(&r->capture, &h, &data)) == 1) {
		uint64_t stamp = hp3d_replay_capture_time(h);

		if (first)
			begin_capture(r, stamp);
		first = false;
		take_time(r, stamp);
		if (r->write) {
			r->s.packets_in++;
			r->s.truncated += h->caplen < h->len;
			hp3d_replay_count_icrc(
				data, h->caplen, &r->s.icrc_good_in, &r->s.icrc_bad_in);
		}
		if (feed_packet(r, h, data) < 0)
			return -1;
	}
	if (ret < 0)
		return -1;
	for (unsigned i = 0; i < HP3D_REPLAY_ENDS; i++) {
		hp3d_pipe_cancel_all(r->ends[i].pipe, r->now);
		hp3d_replay_forward(r);
	}
	return 0;
}

static int pass_capture(struct hp3d_replay_run *r)
{
	int ret = -1;

	r->now = BEGIN_NS;
	r->head = r->n = r->leaps = 0;
	if (hp3d_replay_make_ends(r) == 0 &&
		hp3d_replay_capture_open(&r->capture, r->opt->in) == 0 &&
		(!r->write || r->opt->out == NULL ||
			hp3d_replay_capture_create(&r->capture, r->opt->out) == 0))
		ret = read_all(r);
	for (unsigned i = 0; ret == 0 && r->write && i < HP3D_REPLAY_ENDS; i++)
		hp3d_replay_count_pipe(&r->s, r->ends[i].pipe);
	if (ret == 0 && r->write && r->leaps > 0)
		fprintf(stderr,
			"hp3d: %s: %u stamps are more than a day from the one before, and do not "
			"advance the time; if they are damaged, record it again\n",
			r->opt->in, r->leaps);
	hp3d_replay_free_ends(r);
	if (hp3d_replay_capture_close(&r->capture) < 0)
		ret = -1;
	return ret;
}

static uint32_t pairs_known(const struct hp3d_replay_run *r)
{
	return r->ends[0].pairs.n + r->ends[1].pairs.n;
}

/* The engine challenges streams between the same addresses one at a time. So passes are repeated
 * while they find more pairs. */
static int learn_pairs(struct hp3d_replay_run *r)
{
	uint32_t known;

	for (unsigned i = 0; i < LEARN_PASSES; i++) {
		known = pairs_known(r);
		if (pass_capture(r) < 0)
			return -1;
		if (pairs_known(r) == known)
			break;
	}
	return 0;
}

int hp3d_replay(const struct hp3_config *cfg, const struct hp3d_replay *opt)
{
	struct hp3d_replay_run r = {.cfg = cfg, .opt = opt};
	int ret = -1;

	r.pool = rte_pktmbuf_pool_create("replay", cfg->engine.hold_packets + MBUF_EXTRA, 0,
		RTE_ALIGN(sizeof(struct hp3d_replay_stamp), RTE_MBUF_PRIV_ALIGN), MBUF_ROOM,
		SOCKET_ID_ANY);
	if (r.pool == NULL) {
		fprintf(stderr, "hp3d: no pool of packet buffers: %s\n",
			hp3_pool_failure(
				rte_errno, "raise [eal] memory_mb or lower [rfr] hold_packets"));
		goto out;
	}
	r.queue = calloc(HP3D_REPLAY_QUEUE, sizeof(*r.queue));
	if (r.queue == NULL) {
		fprintf(stderr, "hp3d: no memory for the packets of the replay\n");
		goto out;
	}
	if (opt->move_to != 0 && learn_pairs(&r) < 0)
		goto out;
	r.moving = opt->move_to != 0;
	r.write = true;
	ret = pass_capture(&r);
	if (ret == 0) {
		r.s.leaked = rte_mempool_in_use_count(r.pool);
		hp3d_replay_print(&r.s, opt->json);
		if (r.s.leaked != 0 ||
			r.s.packets_out + r.s.discarded + r.s.consumed != r.s.packets_in) {
			fprintf(stderr, "hp3d: packets were lost in the replay\n");
			ret = -1;
		}
	}
out:
	rte_mempool_free(r.pool);
	free(r.queue);
	free(r.ends[0].pairs.list);
	free(r.ends[1].pairs.list);
	return ret;
}
