/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Input: any bytes as messages to hp3d's end of hp3-watch's socket, from any sender, while queue
 * pairs send, are answered and moved. Messages that are events are passed to an engine
 * (caller.h). An event of the library's watcher, or an event of the kernel's watcher about
 * another local queue pair, changes nothing of a flow that has packets in flight. One exception:
 * the kernel's watcher has reported the end of the flow's queue pair, and the set-up of another
 * one that may already send (rule 16).
 */
#include <errno.h>
#include "app/watch/watcher.c" /* its end of the socket, without a process behind it */
#include "caller.h"
#include "engine/flows/pending.h"
#include "history.h"
#include "roce/build.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define QPS  6u
#define LQPN 0x1000u
#define RQPN 0x2000u
#define MTU  1024u

static struct caller c;
static struct hp3_watcher w;
static int says = -1; /* the other end */

static struct hp3_ends ends_of(void)
{
	static const uint8_t local[16] = {10, 9, 0, 1}, remote[16] = {10, 9, 0, 2};

	return (struct hp3_ends){.local = local, .remote = remote};
}

static uint32_t flow_of(uint32_t i)
{
	struct hp3_ends ends = ends_of();

	return hp3_flow_find(c.e, &ends, RQPN + i);
}

static struct hp3_flow_info info_of(uint32_t i)
{
	struct hp3_flow_info info = {0};

	hp3_flow_info(c.e, flow_of(i), c.now, &info);
	return info;
}

/* --- traffic --- */

static void packet(enum hp3_dir dir, const struct hp3_fields *f)
{
	static const uint8_t local[4] = {10, 9, 0, 1}, remote[4] = {10, 9, 0, 2};
	struct hp3_addressing a = {.ttl = 64, .sport = 0xc000, .pkey = 0xffff};
	uint8_t frame[2048];
	struct hp3_pkt pkt = {.frame = frame};

	memcpy(a.src_ip, dir == HP3_DIR_TX ? local : remote, 4);
	memcpy(a.dst_ip, dir == HP3_DIR_TX ? remote : local, 4);
	pkt.len = (uint32_t)hp3_build(frame, sizeof(frame), &a, f);
	hp3_parse(frame, pkt.len, &pkt.v);
	hp3_find_burst(c.e, &pkt, 1, dir);
	caller_packet(&c, &pkt, dir);
}

static void request(uint32_t i, bool asks)
{
	static const uint8_t zeros[MTU];

	packet(HP3_DIR_TX, &(struct hp3_fields){.opcode = HP3_OP_RC_WRITE_ONLY,
				   .dest_qpn = RQPN + i,
				   .psn = info_of(i).nxt,
				   .ackreq = asks,
				   .dma_len = MTU,
				   .payload = zeros,
				   .payload_len = MTU});
}

static void answer(uint32_t i, uint32_t back)
{
	packet(HP3_DIR_RX, &(struct hp3_fields){.opcode = HP3_OP_RC_ACK,
				   .dest_qpn = LQPN + i,
				   .psn = (info_of(i).nxt - 1 - back) & HP3_PSN_MASK,
				   .syndrome = 31});
}

static void move(uint32_t i, uint16_t port)
{
	struct hp3_cmd cmd = {.kind = HP3_CMD_MOVE, .port = port, .flow = flow_of(i)};
	struct hp3_acts acts = {0};

	hp3_command(c.e, &cmd, c.now, &acts);
	caller_acts(&c, &acts, ACTS_MAX);
}

/* --- the watcher --- */

static bool has_own_traffic(const struct hp3_flow_info *f, const struct hp3_qp_event *qp)
{
	return f->bytes != 0 && f->inflight != 0 &&
	       (qp->source == HP3_QP_SOURCE_LIBRARY || (f->paired && f->lqpn != qp->lqpn));
}

static bool may_take_over(uint32_t flow, const struct hp3_qp_event *qp)
{
	return qp->kind == HP3_QP_UP && qp->source == HP3_QP_SOURCE_KERNEL && qp->psn_known &&
	       flow != HP3_NO_FLOW && hp3_pending_may_begin_at(c.e, flow, qp->psn);
}

/* As app/hp3d/control/watch.c. */
static void on_event(void *ctx, const struct hp3_watch_event *event)
{
	struct hp3_qp_event qp = event->qp;
	struct hp3_flow_info before = {0}, after = {0};
	struct hp3_acts acts = {0};
	uint32_t flow = hp3_flow_find(c.e, HP3_ENDS(&qp), qp.rqpn);
	bool checked;

	qp.source =
		hp3_watcher_by(&w) == HP3_BY_KERNEL ? HP3_QP_SOURCE_KERNEL : HP3_QP_SOURCE_LIBRARY;
	qp.owner = event->pid;
	hp3_flow_info(c.e, flow, c.now, &before);
	checked = has_own_traffic(&before, &qp) && !may_take_over(flow, &qp);
	MUST(hp3_qp(c.e, &qp, c.now, &acts) != -EINVAL);
	if (checked) {
		MUST(acts.n == 0);
		MUST(hp3_flow_info(c.e, flow, c.now, &after) == 0);
		MUST(after.port == before.port && after.lqpn == before.lqpn &&
			after.state == before.state && after.una == before.una &&
			after.nxt == before.nxt);
	}
	caller_acts(&c, &acts, ACTS_MAX);
}

static void on_notice(void *ctx, const char *text)
{
	MUST(strchr(text, '\n') == NULL && strlen(text) < HP3_WATCH_TEXT);
}

static void say(const void *m, size_t size)
{
	MUST(send(says, m, size, MSG_DONTWAIT) == (ssize_t)size);
	hp3_watcher_poll(&w);
	MUST(w.fd >= 0);
}

static struct hp3_watch_message event_of(uint8_t what)
{
	struct hp3_watch_event event = {.pid = what & 3,
		.qp = {.kind = what & 4 ? HP3_QP_DOWN : HP3_QP_UP,
			.local = {10, 9, 0, 1},
			.remote = {10, 9, 0, 2},
			.psn_known = what & 8}};
	struct hp3_watch_message m = {.magic = HP3_WATCH_MAGIC, .kind = HP3_WATCH_MSG_EVENT};
	uint8_t who = u8();

	event.qp.rqpn = RQPN + who % QPS;
	event.qp.lqpn = what & 16 ? LQPN + who / 16 % QPS : LQPN + who % QPS;
	event.qp.psn = what & 32 ? u32() & HP3_PSN_MASK : info_of(who % QPS).nxt;
	m.event = event;
	return m;
}

/* In one place not as it should be. */
static void spoil(struct hp3_watch_message *m)
{
	uint32_t at = u16() % sizeof(*m);

	((uint8_t *)m)[at] = u8();
}

static void message(uint8_t what)
{
	struct hp3_watch_message m = {.magic = HP3_WATCH_MAGIC, .kind = what % 5};
	size_t size = sizeof(m);

	if ((what & 0xc0) != 0xc0) {
		m = event_of(what);
	} else if (m.kind == HP3_WATCH_MSG_BY) {
		m.by = u8() % 4;
	} else if (m.kind == HP3_WATCH_MSG_NOTICE) {
		memset(m.text, u8(), u16() % sizeof(m.text));
	} else if (m.kind == HP3_WATCH_MSG_ENDED) {
		m.ended.how = u8() % 4;
		m.ended.times = u8();
	}
	if ((what & 0x80) && u8() < 0x40)
		spoil(&m);
	if ((what & 0x80) && u8() < 0x10)
		size = 1 + u16() % sizeof(m);
	say(&m, size);
}

static void step(void)
{
	uint8_t op = u8();
	uint32_t i = op % QPS;

	if (op < 0x50)
		request(i, op & 8);
	else if (op < 0x80)
		answer(i, op & 1);
	else if (op < 0x98)
		move(i, (uint16_t)(0xc001 + op));
	else if (op < 0xa0)
		caller_time(&c, (uint64_t)u8() << (u8() % 24));
	else
		message(u8());
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int pair[2];
	uint8_t how;

	if (size == 0)
		return 0;
	in = data;
	end = data + size - 1;
	how = *end;
	MUST(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
	says = pair[1];
	w = (struct hp3_watcher){.fd = pair[0],
		.by = HP3_BY_LIBRARY,
		.by_library = how & 1,
		.o = {.event = on_event, .notice = on_notice}};
	caller_start(&c, how & 0x54);
	while (in < end)
		step();
	caller_end(&c, how & 128);
	close(pair[0]);
	close(pair[1]);
	return 0;
}
