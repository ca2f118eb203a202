/* SPDX-License-Identifier: BSD-3-Clause */
#include "pair_talk.h"
#include <string.h>
#include "input.h"

#define PORT    4795u
#define CLOCK_S 30u
#define WALL_US 1700000000000000ull /* of both hosts, when the world begins */
#define WAY_US  20u

struct pair_talk talk;

static const uint8_t address[2][4] = {{10, 9, 0, 1}, {10, 9, 0, 2}};

static void set_key(struct pair_end *end)
{
	end->keys.key[1] = end->keys.key[0];
	memset(&end->keys.key[0], 0, sizeof(end->keys.key[0]));
	end->keys.key[0].bytes[0] = 1;
	end->keys.key[0].bytes[1] = (uint8_t)++end->key;
}

void pair_talk_begin(void)
{
	talk.n = 0;
	talk.next = (struct pair_fate){0};
	for (unsigned i = 0; i < 2; i++) {
		talk.end[i].keys = (struct hp3_probe_keys){0};
		talk.end[i].key = 0;
		talk.end[i].lives = 0;
		set_key(&talk.end[i]);
	}
}

void pair_new_key(unsigned at)
{
	set_key(&talk.end[at]);
}

static uint64_t wall_us(const struct world *w)
{
	return WALL_US + w->now / US;
}

/* An hp3d that starts has no record of earlier messages. */
static struct pair_end *end_of(struct world *w, unsigned at)
{
	struct pair_end *end = &talk.end[at];

	if (end->lives != w->host[at].lives) {
		hp3_heard_init(&end->heard, at, wall_us(w));
		end->stamp = 0;
		end->lives = w->host[at].lives;
	}
	return end;
}

static struct hp3_addressing from_host(unsigned from)
{
	struct hp3_addressing a = {.ttl = 64, .sport = PORT, .pkey = 0xffff};

	memcpy(a.src_ip, address[from], 4);
	memcpy(a.dst_ip, address[!from], 4);
	return a;
}

static void build(struct world *w, struct pair_message *m)
{
	const struct hp3_addressing a = from_host(m->from);
	struct pair_end *end = end_of(w, m->from);
	int len = 0;

	end->stamp = m->agree.stamp_us = hp3_heard_stamp(end->stamp, wall_us(w), CLOCK_S);
	if (m->kind == PAIR_AGREE)
		len = hp3_agree_build(m->frame, PAIR_FRAME, &a, &m->agree, &end->keys.key[0]);
	MUST(len >= 0);
	m->len = (uint32_t)len;
}

void pair_send(struct world *w, uint32_t number, uint64_t later_us)
{
	spray_at(w, w->now + (WAY_US + later_us) * US,
		(struct event){.kind = EVENT_MESSAGE,
			.host = !talk.said[number % PAIR_MESSAGES].from,
			.qp = number});
}

void pair_send_msg(struct world *w, struct pair_message m)
{
	const struct pair_fate fate = talk.next;
	uint32_t number = talk.n++;

	talk.next = (struct pair_fate){0};
	build(w, &m);
	talk.said[number % PAIR_MESSAGES] = m;
	if (!fate.lost)
		pair_send(w, number, fate.later_us);
	if (fate.again_us != 0)
		pair_send(w, number, fate.later_us + fate.again_us);
}

void pair_on_send_msg(struct world *w, unsigned from, const struct hp3_act_agree *a)
{
	pair_send_msg(w,
		(struct pair_message){.kind = PAIR_AGREE, .from = (uint8_t)from, .agree = a->what});
}

void pair_on_act(struct world *w, unsigned at, const struct hp3_act *a)
{
	struct hp3_engine *e = w->host[at].e;
	struct pair_message m = {.from = (uint8_t)at, .id = a->probe_id};
	struct hp3_flow_info f;

	if (a->kind == HP3_ACT_PROBE && a->op == HP3_PROBE_PEER) {
		m.kind = PAIR_PROBE;
	} else if (a->kind == HP3_ACT_REPORT) {
		MUST(hp3_flow_info(e, a->flow, spray_clock(w, at), &f) == 0);
		m.kind = PAIR_REPORT;
		m.id = f.lqpn;
	} else {
		return;
	}
	pair_send_msg(w, m);
}

static void hear_frame(struct world *w, unsigned at, const struct pair_message *m)
{
	struct pair_end *end = end_of(w, at);
	struct hp3_act_agree message = {.what = {0}};
	const struct hp3_receiver rx = {.keys = &end->keys,
		.heard = &end->heard,
		.time = {.clock = wall_us(w) / 1000000, .clock_s = CLOCK_S},
		.port = PORT,
		.stats = &end->stats};
	struct hp3_view v;

	hp3_parse(m->frame, m->len, &v);
	if (hp3_agree_read(&(struct hp3_parsed){m->frame, m->len, &v}, &rx, &message.what) ==
		HP3_MESSAGE_OK) {
		memcpy(message.local, address[!at], 4);
		memcpy(message.remote, address[at], 4);
		spray_received(w, at, &message);
	}
}

static void hear(struct world *w, unsigned at, const struct pair_message *m)
{
	struct hp3_engine *e = w->host[at].e;
	const struct hp3_ends ends = {.local = address[at], .remote = address[!at]};
	uint64_t now = spray_clock(w, at);
	struct hp3_acts acts = {.n = 0};

	if (m->kind == PAIR_PROBE) {
		hp3_peer_seen(e, &ends, now);
		pair_send_msg(w, (struct pair_message){
					 .kind = PAIR_ANSWER, .from = (uint8_t)at, .id = m->id});
	} else if (m->kind == PAIR_ANSWER) {
		if (hp3_probe_timed(e, m->id, m->ce, 0, now, &acts))
			hp3_peer_seen(e, &ends, now);
	} else {
		hp3_peer_report(e, &ends, m->id, now, &acts);
	}
	spray_carry_out(w, at, &acts);
}

/* One that is no more remembered is lost. */
void pair_on_message(struct world *w, const struct event *e)
{
	const struct pair_message m = talk.said[e->qp % PAIR_MESSAGES];

	if (w->host[e->host].direct || talk.n - e->qp > PAIR_MESSAGES)
		return;
	if (m.len != 0)
		hear_frame(w, e->host, &m);
	else
		hear(w, e->host, &m);
}
