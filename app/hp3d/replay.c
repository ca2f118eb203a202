/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/replay.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <pcap/pcap.h>
#include <rte_mbuf.h>
#include "app/hp3d/pipe.h"
#include "app/hp3d/replay_summary.h"
#include "roce/icrc.h"

#define MBUF_ROOM    10240u
#define MBUF_EXTRA   1024u
#define QUEUE        65536u /* packets between the pipes; far more than one event can set free */
#define AGE_ROUND_NS 4000000000ull
#define NS_PER_SEC   1000000000ull
#define ENDS         2u
#define LEARN_PASSES 64u

/* Lies in the mbuf's private area: what the file says of the packet. */
struct stamp {
	struct timeval ts;
	uint32_t len;
};

/* A packet on its way from one pipe to the next. */
struct hop {
	struct rte_mbuf *m;
	unsigned end;
	enum hp3_dir dir;
};

struct end {
	struct replay *r;
	unsigned index;
	struct hp3d_pipe *pipe;
};

struct replay {
	const struct hp3_config *cfg;
	const struct hp3d_replay *opt;
	pcap_t *in;
	pcap_dumper_t *out;
	struct rte_mempool *pool;
	struct end ends[ENDS];
	struct hop *queue;
	uint32_t head, n;
	uint64_t now;
	struct hp3d_event *pairs[ENDS]; /* learnt in the first pass */
	uint32_t n_pairs[ENDS];
	struct hp3d_replay_summary s;
	bool moving; /* second pass */
	bool write;
	bool failed;
};

static void queue_hop(struct replay *r, struct rte_mbuf *m, unsigned end, enum hp3_dir dir)
{
	if (r->n == QUEUE) {
		r->failed = true;
		rte_pktmbuf_free(m);
		return;
	}
	r->queue[(r->head + r->n++) % QUEUE] = (struct hop){m, end, dir};
}

static void count_icrc(const void *frame, uint32_t len, uint64_t *good, uint64_t *bad)
{
	struct hp3_view v;

	hp3_parse(frame, len, &v);
	if (v.class == HP3_CLASS_OTHER)
		return;
	if (hp3_icrc_ok(frame, &v))
		(*good)++;
	else
		(*bad)++;
}

static void write_packet(struct replay *r, struct rte_mbuf *m)
{
	const struct stamp *st = rte_mbuf_to_priv(m);
	struct pcap_pkthdr h = {.ts = st->ts, .caplen = rte_pktmbuf_data_len(m), .len = st->len};
	const void *frame = rte_pktmbuf_mtod(m, const void *);

	if (r->write) {
		r->s.packets_out++;
		count_icrc(frame, h.caplen, &r->s.icrc_good_out, &r->s.icrc_bad_out);
		if (r->out != NULL)
			pcap_dump((u_char *)r->out, &h, frame);
	}
	rte_pktmbuf_free(m);
}

/* Towards the network: on to the other end's pipe. */
static void leave_tx(void *ctx, struct rte_mbuf **m, uint16_t n)
{
	struct end *e = ctx;

	for (uint16_t i = 0; i < n; i++)
		queue_hop(e->r, m[i], !e->index, HP3_DIR_RX);
}

static void leave_rx(void *ctx, struct rte_mbuf **m, uint16_t n)
{
	struct end *e = ctx;

	for (uint16_t i = 0; i < n; i++)
		write_packet(e->r, m[i]);
}

static bool is_known(const struct replay *r, unsigned end, const struct hp3d_event *ev)
{
	for (uint32_t i = 0; i < r->n_pairs[end]; i++) {
		const struct hp3d_event *p = &r->pairs[end][i];

		if (p->ev.lqpn == ev->ev.lqpn && p->ev.rqpn == ev->ev.rqpn &&
			p->flow.vlan == ev->flow.vlan &&
			memcmp(p->flow.local, ev->flow.local, 16) == 0 &&
			memcmp(p->flow.remote, ev->flow.remote, 16) == 0)
			return true;
	}
	return false;
}

static void on_event(void *ctx, const struct hp3d_event *ev)
{
	struct end *e = ctx;
	struct replay *r = e->r;
	struct hp3d_event *list;

	if (r->write)
		hp3d_replay_count_event(&r->s, ev);
	if (r->write || ev->ev.type != HP3_EV_PAIR || is_known(r, e->index, ev))
		return;
	list = realloc(r->pairs[e->index], (r->n_pairs[e->index] + 1) * sizeof(*list));
	if (list == NULL) {
		r->failed = true;
		return;
	}
	list[r->n_pairs[e->index]++] = *ev;
	r->pairs[e->index] = list;
}

static void run_queue(struct replay *r)
{
	while (r->n > 0) {
		struct hop h = r->queue[r->head];

		r->head = (r->head + 1) % QUEUE;
		r->n--;
		hp3d_pipe_burst(r->ends[h.end].pipe, h.dir, &h.m, 1, r->now);
	}
}

/*
 * Timers that end before the next packet. Where no move is under way only ageing is left: of a long
 * gap (captures joined, stamps from 1970) its last round is enough.
 */
static void advance(struct replay *r, uint64_t to)
{
	for (unsigned i = 0; i < ENDS; i++) {
		struct hp3d_pipe *p = r->ends[i].pipe;
		uint64_t due = r->now;

		while ((due = hp3d_pipe_tick(p, due)) <= to && !r->failed) {
			if (to - due > AGE_ROUND_NS && hp3_engine_moves(hp3d_pipe_engine(p)) == 0)
				due = to - AGE_ROUND_NS;
			r->now = due > r->now ? due : r->now;
			run_queue(r);
		}
	}
	r->now = to;
	run_queue(r);
}

/* A: the end with the lower address. Packets without addresses go A's way. */
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
 * In a capture nobody answers an AckReq that was not there: a stream can be moved only behind a
 * packet that asked for its acknowledgement by itself (or is answered anyway).
 */
static void move_sender(struct replay *r, unsigned end, const struct hp3_view *v, const uint8_t *ip)
{
	struct hp3_engine *e = hp3d_pipe_engine(r->ends[end].pipe);
	bool ipv6 = v->flags & HP3_VF_IPV6;
	const uint8_t *src = ip + (ipv6 ? 8 : 12);
	struct hp3_cmd cmd = {.kind = HP3_CMD_MOVE, .port = r->opt->move_to};

	if (v->class != HP3_CLASS_RC_REQUEST ||
		!(v->flags & (HP3_VF_ACKREQ | HP3_VF_READ | HP3_VF_ATOMIC)))
		return;
	cmd.flow = hp3_flow_find(e, ipv6, v->vlan, src, src + (ipv6 ? 16 : 4), v->dest_qpn);
	hp3d_pipe_command(r->ends[end].pipe, &cmd, r->now);
	run_queue(r);
}

static int feed(struct replay *r, const struct pcap_pkthdr *h, const u_char *data)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(r->pool);
	unsigned end = end_of(data, h->caplen);
	struct hp3_view v;
	struct stamp *st;

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
	*st = (struct stamp){h->ts, h->len};
	hp3_parse(data, h->caplen, &v);
	queue_hop(r, m, end, HP3_DIR_TX);
	run_queue(r);
	if (r->moving)
		move_sender(r, end, &v, data + v.l3_off);
	return r->failed ? -1 : 0;
}

/*
 * A capture is short and nobody answers what hp3 would ask, so the pass that learns takes every
 * packet that asks by itself as a challenge, and is content with one answer: a stream that is
 * taken for another's endangers no connection here, and its replies soon contradict.
 */
static int make_ends(struct replay *r)
{
	struct hp3_config cfg = *r->cfg;

	if (!r->write)
		cfg.pairing.challenge_spread = cfg.pairing.challenge_hits = 1;
	cfg.ppp.probe = HP3_PROBE_MODE_OFF; /* a capture answers no probe */
	for (unsigned i = 0; i < ENDS; i++) {
		struct end *e = &r->ends[i];

		*e = (struct end){.r = r, .index = i};
		e->pipe = hp3d_pipe_create(&cfg, 0, i, cfg.policy.seed + i, SOCKET_ID_ANY);
		if (e->pipe == NULL) {
			fprintf(stderr, "hp3d: no memory for the flow tables; raise [eal] "
					"memory_mb or lower "
					"[flows] max_flows\n");
			return -1;
		}
		hp3d_pipe_output(e->pipe, HP3_DIR_TX, leave_tx, e);
		hp3d_pipe_output(e->pipe, HP3_DIR_RX, leave_rx, e);
		hp3d_pipe_on_event(e->pipe, on_event, e);
	}
	return 0;
}

static void announce(struct replay *r)
{
	for (unsigned i = 0; i < ENDS; i++) {
		for (uint32_t k = 0; k < r->n_pairs[i]; k++) {
			const struct hp3d_event *p = &r->pairs[i][k];
			struct hp3_qp_event ev = {.kind = HP3_QP_UP,
				.pairing = HP3_PAIRING_EVENT,
				.ipv6 = p->flow.ipv6,
				.vlan = p->flow.vlan,
				.lqpn = p->ev.lqpn,
				.rqpn = p->ev.rqpn};

			memcpy(ev.local, p->flow.local, 16);
			memcpy(ev.remote, p->flow.remote, 16);
			hp3d_pipe_qp(r->ends[i].pipe, &ev, r->now);
		}
	}
}

static int open_input(struct replay *r)
{
	char err[PCAP_ERRBUF_SIZE];
	FILE *f = fopen(r->opt->in, "rb");

	if (f != NULL)
		r->in = pcap_fopen_offline_with_tstamp_precision(
			f, PCAP_TSTAMP_PRECISION_NANO, err);
	if (r->in == NULL) {
		fprintf(stderr, "hp3d: %s: %s; check the path, give a pcap or pcapng file\n",
			r->opt->in, f == NULL ? strerror(errno) : err);
		if (f != NULL)
			fclose(f);
		return -1;
	}
	if (pcap_datalink(r->in) != DLT_EN10MB) {
		fprintf(stderr, "hp3d: %s: link type %s; only Ethernet captures can be replayed\n",
			r->opt->in, pcap_datalink_val_to_name(pcap_datalink(r->in)));
		return -1;
	}
	return 0;
}

/* OUT must not be IN: it would be emptied before it is read. */
static int open_output(struct replay *r)
{
	struct stat in, out;

	if (fstat(fileno(pcap_file(r->in)), &in) == 0 && stat(r->opt->out, &out) == 0 &&
		in.st_dev == out.st_dev && in.st_ino == out.st_ino) {
		fprintf(stderr, "hp3d: %s: is the capture to read; give --out another file\n",
			r->opt->out);
		return -1;
	}
	r->out = pcap_dump_open(r->in, r->opt->out);
	if (r->out == NULL) {
		fprintf(stderr, "hp3d: %s; give --out a file that can be written\n",
			pcap_geterr(r->in));
		return -1;
	}
	return 0;
}

static int close_output(struct replay *r)
{
	bool failed = pcap_dump_flush(r->out) != 0 || ferror(pcap_dump_file(r->out));

	if (failed)
		fprintf(stderr,
			"hp3d: %s: cannot be written; free space or give --out another file\n",
			r->opt->out);
	pcap_dump_close(r->out);
	r->out = NULL;
	return failed ? -1 : 0;
}

static uint64_t time_of(const struct pcap_pkthdr *h)
{
	return (uint64_t)h->ts.tv_sec * NS_PER_SEC + (uint64_t)h->ts.tv_usec;
}

static int read_all(struct replay *r)
{
	struct pcap_pkthdr *h;
	const u_char *data;
	bool first = true;
	int ret;

	while ((ret = pcap_next_ex(r->in, &h, &data)) == 1) {
		uint64_t t = time_of(h);

		if (first) {
			r->now = t;
			announce(r);
		}
		first = false;
		if (t > r->now)
			advance(r, t);
		if (r->write) {
			r->s.packets_in++;
			r->s.truncated += h->caplen < h->len;
			count_icrc(data, h->caplen, &r->s.icrc_good_in, &r->s.icrc_bad_in);
		}
		if (feed(r, h, data) < 0)
			return -1;
	}
	if (ret == PCAP_ERROR) {
		fprintf(stderr, "hp3d: %s: %s; the file is damaged: record it again\n", r->opt->in,
			pcap_geterr(r->in));
		return -1;
	}
	for (unsigned i = 0; i < ENDS; i++) {
		hp3d_pipe_cancel_all(r->ends[i].pipe, r->now);
		run_queue(r);
	}
	return 0;
}

static int pass(struct replay *r)
{
	int ret = -1;

	r->now = r->head = r->n = 0;
	if (make_ends(r) == 0 && open_input(r) == 0 &&
		(!r->write || r->opt->out == NULL || open_output(r) == 0))
		ret = read_all(r);
	for (unsigned i = 0; i < ENDS; i++) {
		if (ret == 0 && r->write)
			hp3d_replay_count_pipe(&r->s, r->ends[i].pipe);
		hp3d_pipe_free(r->ends[i].pipe);
		r->ends[i].pipe = NULL;
	}
	if (r->out != NULL && close_output(r) < 0)
		ret = -1;
	if (r->in != NULL)
		pcap_close(r->in);
	r->in = NULL;
	return ret;
}

/* Streams between the same addresses are challenged one by one: read again while that finds more.
 */
static int learn(struct replay *r)
{
	uint32_t known;

	for (unsigned i = 0; i < LEARN_PASSES; i++) {
		known = r->n_pairs[0] + r->n_pairs[1];
		if (pass(r) < 0)
			return -1;
		if (r->n_pairs[0] + r->n_pairs[1] == known)
			break;
	}
	return 0;
}

int hp3d_replay(const struct hp3_config *cfg, const struct hp3d_replay *opt)
{
	struct replay r = {.cfg = cfg, .opt = opt};
	int ret = -1;

	r.pool = rte_pktmbuf_pool_create("replay", cfg->rfr.hold_packets + MBUF_EXTRA, 0,
		RTE_ALIGN(sizeof(struct stamp), RTE_MBUF_PRIV_ALIGN), MBUF_ROOM, SOCKET_ID_ANY);
	r.queue = calloc(QUEUE, sizeof(*r.queue));
	if (r.pool == NULL || r.queue == NULL) {
		fprintf(stderr, "hp3d: no memory for packets; raise [eal] memory_mb or lower [rfr] "
				"hold_packets\n");
		goto out;
	}
	if (opt->move_to != 0 && learn(&r) < 0)
		goto out;
	r.moving = opt->move_to != 0;
	r.write = true;
	ret = pass(&r);
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
	free(r.pairs[0]);
	free(r.pairs[1]);
	return ret;
}
