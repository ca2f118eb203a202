/* SPDX-License-Identifier: BSD-3-Clause */
/* The passes over a capture: the first one fills the table of flows, the next ones learn, and the
 * last one writes and counts. */
#include "app/hp3d/replay/replay.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <rte_errno.h>
#include <rte_mbuf.h>
#include "app/dpdk/failure.h"
#include "app/hp3d/replay/internal.h"
#include "base/minmax.h"
#include "roce/icrc.h"

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

static int feed_packet(struct hp3d_replay_run *r, const struct hp3d_replay_record *rec)
{
	struct hp3d_replay_frame *f = &r->frame;
	struct rte_mbuf *m = rte_pktmbuf_alloc(r->pool);
	unsigned end = end_of(f->data, f->len);

	if (m == NULL || f->len > rte_pktmbuf_tailroom(m)) {
		fprintf(stderr,
			"hp3d: no buffer for a packet; raise [eal] memory_mb or lower [rfr] "
			"hold_packets\n");
		rte_pktmbuf_free(m);
		return -1;
	}
	memcpy(rte_pktmbuf_append(m, (uint16_t)f->len), f->data, f->len);
	hp3d_replay_capture_stamp(&r->capture, rec, f, rte_mbuf_to_priv(m));
	hp3d_replay_queue(r, m, end, HP3_DIR_TX);
	hp3d_replay_forward(r);
	if (r->moving)
		move_sender(r, end, &f->v, f->data);
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

/*
 * Reads the next packet into r->frame. As hp3d_replay_capture_next(). Long packets of other
 * protocols, which offloads of a NIC make, are cut.
 */
static int read_frame(struct hp3d_replay_run *r, struct hp3d_replay_record *rec)
{
	int ret = hp3d_replay_capture_next(&r->capture, rec);
	uint32_t len;

	if (ret != 1)
		return ret;
	len = hp3_min_u32(rec->h.caplen, HP3D_REPLAY_RECORD_MAX);
	hp3d_replay_frame_read(rec->data, len, rec->link, &r->frame);
	if (len == rec->h.caplen || (!r->frame.too_long && r->frame.v.class == HP3_CLASS_OTHER))
		return 1;
	fprintf(stderr,
		"hp3d: %s: packet of %u bytes does not fit a buffer of %u; record with "
		"segmentation and receive offloads off (ethtool -K IF tso off gro off)\n",
		r->opt->in, rec->h.caplen, HP3D_REPLAY_RECORD_MAX);
	return -1;
}

static void add_to_flows(struct hp3d_replay_run *r, uint64_t stamp)
{
	const struct hp3d_replay_frame *f = &r->frame;
	bool roce = f->v.class != HP3_CLASS_OTHER;

	hp3d_replay_flows_add(
		r->flows, f, stamp, roce && f->recorded == f->len && !hp3_icrc_ok(f->data, &f->v));
}

/* Fills the table of flows. The later passes leave out the copies that it finds. */
static int survey_capture(struct hp3d_replay_run *r)
{
	struct hp3d_replay_record rec;
	int ret = hp3d_replay_capture_open(&r->capture, r->opt->in);

	while (ret >= 0 && (ret = read_frame(r, &rec)) == 1)
		add_to_flows(r, hp3d_replay_capture_time(&rec.h));
	hp3d_replay_capture_close(&r->capture);
	hp3d_replay_flows_end(r->flows);
	r->surveyed = true;
	return ret;
}

static int handle_frame(struct hp3d_replay_run *r, const struct hp3d_replay_record *rec)
{
	uint64_t stamp = hp3d_replay_capture_time(&rec->h);

	take_time(r, stamp);
	if (r->write) {
		r->s.packets_in++;
		hp3d_replay_count_frame(&r->s, rec, &r->frame);
	}
	if (!r->surveyed) {
		add_to_flows(r, stamp);
	} else if (hp3d_replay_flows_is_copy(r->flows, &r->frame, stamp)) {
		r->s.copies += r->write;
		return 0;
	}
	return feed_packet(r, rec);
}

static int read_all(struct hp3d_replay_run *r)
{
	struct hp3d_replay_record rec;
	bool first = true;
	int ret;

	while ((ret = read_frame(r, &rec)) == 1) {
		if (first)
			begin_capture(r, hp3d_replay_capture_time(&rec.h));
		first = false;
		if (handle_frame(r, &rec) < 0)
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
	if (r->surveyed)
		hp3d_replay_flows_rewind(r->flows);
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

/* A pipe or socket can be read once only. */
static bool is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static int make_run(struct hp3d_replay_run *r)
{
	r->pool = rte_pktmbuf_pool_create("replay", r->cfg->engine.hold_packets + MBUF_EXTRA, 0,
		RTE_ALIGN(sizeof(struct hp3d_replay_stamp), RTE_MBUF_PRIV_ALIGN), MBUF_ROOM,
		SOCKET_ID_ANY);
	if (r->pool == NULL) {
		fprintf(stderr, "hp3d: no pool of packet buffers: %s\n",
			hp3_pool_failure(
				rte_errno, "raise [eal] memory_mb or lower [rfr] hold_packets"));
		return -1;
	}
	r->queue = calloc(HP3D_REPLAY_QUEUE, sizeof(*r->queue));
	r->flows = hp3d_replay_flows_new();
	if (r->queue == NULL || r->flows == NULL) {
		fprintf(stderr, "hp3d: no memory for the packets of the replay\n");
		return -1;
	}
	return 0;
}

static int run_passes(struct hp3d_replay_run *r)
{
	if (is_file(r->opt->in) && survey_capture(r) < 0)
		return -1;
	if (r->opt->move_to != 0 && (hp3d_replay_take_pairs(r) < 0 || learn_pairs(r) < 0))
		return -1;
	r->moving = r->opt->move_to != 0;
	r->write = true;
	return pass_capture(r);
}

static int print_result(struct hp3d_replay_run *r)
{
	const struct hp3d_replay_summary *s = &r->s;

	r->s.leaked = rte_mempool_in_use_count(r->pool);
	hp3d_replay_flows_end(r->flows);
	hp3d_replay_print(s, r->flows, r->opt->json);
	if (s->leaked == 0 &&
		s->packets_out + s->discarded + s->consumed + s->copies == s->packets_in)
		return 0;
	fprintf(stderr, "hp3d: packets were lost in the replay\n");
	return -1;
}

int hp3d_replay(const struct hp3_config *cfg, const struct hp3d_replay *opt)
{
	struct hp3d_replay_run *r = calloc(1, sizeof(*r));
	int ret;

	if (r == NULL) {
		fprintf(stderr, "hp3d: no memory for the replay\n");
		return -1;
	}
	r->cfg = cfg;
	r->opt = opt;
	ret = make_run(r);
	if (ret == 0)
		ret = run_passes(r);
	if (ret == 0)
		ret = print_result(r);
	rte_mempool_free(r->pool);
	hp3d_replay_flows_free(r->flows);
	free(r->queue);
	free(r->ends[0].pairs.list);
	free(r->ends[1].pairs.list);
	free(r);
	return ret;
}
