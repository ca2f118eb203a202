/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two hosts with sprayed queue pairs: the world (simulation) of tests/property/spray_world.h.
 * Instead of a random generator, the input decides what happens: to packets and to messages of
 * the hp3ds in the network, what operators do, which hosts are descheduled ("stand still") or
 * restart, and which false messages a peer sends that has the key ("lies"). The first bytes
 * choose which of these kinds of events may occur. Checks at any time:
 *
 * - those of spray_world.h; every held packet is returned once, and engine and test count the
 *   same number of held packets;
 * - counters never decrease, tables stay within their limits;
 * - RNICs see no gap, as long as no packet was lost, copied or changed, no host ended or stood
 *   still, no peer lied, and no packet was forwarded out of order with a counter for this
 *   reason; as long as RNICs also retransmit nothing, they get packets in the order in which
 *   these were sent.
 *
 * At the end, every message is complete if no peer lied, and no packet is held.
 */
#include "history.h"
#include "input.h"
#include "pair_talk.h"

#define PACKETS  384u /* of each queue pair */
#define TABLE    24u /* of flows, at most */
#define EVENTS   400000u
#define PAUSE_US 8u /* log2 of the longest, us */
#define LAST_NS  (20000 * MS)

enum may { MAY_LOSE = 1, MAY_CRASH = 2, MAY_LIE = 4, MAY_STAND = 8 };

static struct world w;
static uint8_t may;
static bool lied, forgotten;
static struct hp3_stats was[2];
static uint32_t lives[2], copies;
static uint64_t drawn;
static struct {
	enum { GOES_ON, IS_LOST, IS_COPIED, IS_ALTERED, IS_MARKED } what;
	uint32_t us;
} next[2]; /* packet to that host */

static bool on_packet(struct world *world, struct event *e, uint64_t *again)
{
	uint8_t what = (uint8_t)next[e->host].what;

	next[e->host].what = GOES_ON;
	if (what == IS_ALTERED)
		spray_alter(world, &e->packet);
	e->packet.ce = what == IS_MARKED;
	if (what == IS_COPIED) {
		copies++;
		*again = world->now + (1ull + next[e->host].us) * US;
	}
	return what != IS_LOST;
}

static const struct spray_hooks hooks = {
	.on_packet = on_packet,
	.on_send_msg = pair_on_send_msg,
	.on_message = pair_on_message,
	.on_act = pair_on_act,
};

/* Packets went out of order, or past hp3d, and were counted. */
static uint64_t counted(void)
{
	uint64_t n = w.r.late + w.r.given_up + w.r.beyond + w.r.full;

	for (unsigned i = 0; i < 2; i++) {
		const struct hp3_stats *s = hp3_engine_stats(w.host[i].e);

		n += s->reseq_late + s->reseq_given_up + s->reseq_beyond + s->reseq_full +
		     s->reseq_share + s->failovers + s->reports_taken + s->bad_icrc;
	}
	return n;
}

static bool is_excused(void)
{
	const struct spray_result *r = &w.r;

	return lied || forgotten || copies != 0 || r->restarts != r->stops ||
	       r->lost + r->damaged + r->stood + counted() != 0;
}

static void check_counters(unsigned at)
{
	const struct hp3_stats now = *hp3_engine_stats(w.host[at].e);

	if (lives[at] != w.host[at].lives)
		memset(&was[at], 0, sizeof(was[at]));
	lives[at] = w.host[at].lives;
#define X(field, help) MUST(now.field >= was[at].field);
	HP3_STATS(X)
#undef X
	was[at] = now;
}

static void check(void)
{
	MUST(!w.failed);
	for (unsigned at = 0; at < 2; at++) {
		const struct hp3_engine *e = w.host[at].e;

		check_counters(at);
		MUST(hp3_engine_flows(e) <= TABLE && hp3_engine_pairs(e) <= 2);
		MUST(hp3_engine_held(e, HP3_DIR_TX) + hp3_engine_held(e, HP3_DIR_RX) ==
			w.host[at].nheld);
	}
	if (is_excused())
		return;
	MUST(w.r.gaps + w.r.read_gaps == 0);
	MUST(w.r.overtaken == 0 || w.r.again != 0);
}

static void events(uint32_t n)
{
	while (n-- > 0 && w.heap.n != 0 && !w.failed)
		spray_next(&w);
}

static void pass_time(uint64_t ns)
{
	uint64_t until = w.now + ns;

	for (uint32_t n = EVENTS; n > 0 && w.heap.n != 0 && !w.failed; n--) {
		if (heap_next(&w.heap) > until)
			return;
		spray_next(&w);
	}
}

static void fate_of_a_packet(uint8_t host)
{
	static const uint8_t fates[] = {IS_MARKED, IS_LOST, IS_COPIED, IS_ALTERED};
	uint8_t what = fates[u8() % 4];

	next[host].us = u16();
	if (what == IS_MARKED || (may & MAY_LOSE) != 0)
		next[host].what = what;
}

static void fate_of_a_message(void)
{
	uint8_t what = u8();

	talk.next = (struct pair_fate){.lost = (what & 1) != 0,
		.later_us = what & 2 ? u16() : 0,
		.again_us = what & 4 ? 1 + u16() : 0};
}

/* One of the newest that were said. */
static const struct pair_message *some_message(uint32_t *number)
{
	*number = talk.n - 1 - u8() % 16;
	return *number < talk.n ? &talk.said[*number % PAIR_MESSAGES] : NULL;
}

static uint32_t other(uint32_t value)
{
	uint8_t how = u8();

	return how < 0x40 ? value + (how & 15) - 8 : how < 0x80 ? 1u << (how & 31) : u32();
}

static void lie_about_spraying(struct hp3_agree *a)
{
	switch (u8() % 13) {
	case 0:
		a->kind = u8() % HP3_AGREE_KIND_MAX;
		break;
	case 1:
		a->reads = !a->reads;
		break;
	case 2:
		a->pmtu_log2 = u8() % 16;
		break;
	case 3:
		a->evs = u8();
		break;
	case 4:
		a->port = (uint16_t)other(a->port);
		break;
	case 5:
		a->in_use = (uint16_t)other(a->in_use);
		break;
	case 6:
		a->responder = other(a->responder) & HP3_QPN_MASK;
		break;
	case 7:
		a->requester = other(a->requester) & HP3_QPN_MASK;
		break;
	case 8:
		a->number = other(a->number);
		break;
	case 9:
		a->turn = other(a->turn);
		break;
	case 10:
		a->keepalive_us = other(a->keepalive_us);
		break;
	case 11:
		a->next = u8() & 1 ? HP3_NO_PSN : other(a->next) & HP3_PSN_MASK;
		break;
	default:
		a->slow = (uint64_t)u32() << 32 | u32();
	}
}

/* A host that has the key says what is not so. */
static void lie(void)
{
	uint32_t number;
	const struct pair_message *said = some_message(&number);
	struct pair_message m;

	if (said == NULL || (may & MAY_LIE) == 0)
		return;
	lied = true;
	m = *said;
	m.len = 0;
	if (m.kind == PAIR_AGREE) {
		lie_about_spraying(&m.agree);
	} else {
		m.kind = (uint8_t)(PAIR_PROBE + u8() % 3);
		m.id = m.kind == PAIR_REPORT ? 0x1000u + u8() % 16 : other(m.id);
		m.ce = !m.ce;
	}
	pair_send_msg(&w, m);
}

static void repeat(void)
{
	uint32_t number;

	if (some_message(&number) != NULL)
		pair_send(&w, number, u16());
}

/* hp3d is told that a queue pair ends that goes on, and that there is one again. */
static void forget(void)
{
	uint32_t i = u8() % w.p.qps;
	struct hp3_qp_event event = {.kind = HP3_QP_DOWN,
		.source = HP3_QP_SOURCE_KERNEL,
		.local = {10, 9, 0, 1},
		.remote = {10, 9, 0, 2},
		.lqpn = 0x1000 + i,
		.rqpn = 0x2000 + i};
	struct hp3_acts acts = {.n = 0};

	if ((may & MAY_CRASH) == 0)
		return;
	forgotten = true;
	hp3_qp(w.host[A].e, &event, spray_clock(&w, A), &acts);
	spray_carry_out(&w, A, &acts);
	spray_announce(&w);
}

/* What the world draws next follows from the input; hosts that start never draw the same. */
static void draw_by_input(void)
{
	w.rng = ++drawn << 8 | u8();
}

static void something_now(enum event_kind kind, uint8_t host)
{
	spray_at(&w, w.now, (struct event){.kind = (uint8_t)kind, .host = host});
}

static void operate(uint8_t op, uint8_t host)
{
	draw_by_input();
	if (op == 0)
		something_now(EVENT_MOVE, A);
	else if (op == 1)
		pair_new_key(host);
	else
		something_now(EVENT_OPERATOR, host);
}

static void pause_a_path(void)
{
	draw_by_input();
	w.p.paused_us = 1u << u8() % (PAUSE_US + 1);
	spray_pause(&w);
}

static void stand_still(uint8_t host)
{
	w.p.stands_ms = 1 + u8() % 20;
	if (may & MAY_STAND)
		something_now(EVENT_STANDS, host);
}

static void step(void)
{
	uint8_t op = u8(), host = op & 1;

	if (op < 0x50)
		events(1 + op);
	else if (op < 0x70)
		pass_time(100ull << (op & 31) % 20);
	else if (op < 0x88)
		fate_of_a_packet(host);
	else if (op < 0xa0)
		fate_of_a_message();
	else if (op < 0xb0)
		repeat();
	else if (op < 0xc4)
		lie();
	else if (op < 0xd8)
		operate(op >> 1 & 3, host);
	else if (op < 0xe8)
		pause_a_path();
	else if (op < 0xf0)
		stand_still(host);
	else if (op < 0xf8)
		forget();
	else if (may & MAY_CRASH)
		something_now(EVENT_RESTART, host);
	check();
}

static struct spray_params params(void)
{
	uint8_t how = u8(), more = u8();
	struct spray_params p = {.seed = u8(),
		.qps = 1 + (more & 3),
		.paths = 5,
		.gap_ns = 1000,
		.spread_us = 100,
		.stands_ms = 1,
		.paused_us = 1,
		.small_percent = 30,
		.flows = 1 + (more >> 5 & 3),
		.bytes = 512u << (more >> 2 & 7),
		.patient = true,
		.reads_percent = how & 0x80 ? 20 : 0,
		.large_reads_percent = how & 0x80 ? 20 : 0,
		.hold_packets = how & 0x40 ? 32 : 256,
		.selective = (how & 0x20) != 0,
		.automatic = (how & 0x10) != 0};

	may = how & 0xf;
	p.damaged_ppm = (may & MAY_LOSE) != 0;
	p.packets = p.qps * PACKETS;
	p.max_flows = TABLE;
	return p;
}

/* Nothing more goes wrong. */
static void finish(void)
{
	memset(next, 0, sizeof(next));
	for (uint64_t until = w.now + LAST_NS; w.left != 0 && w.now < until && !w.failed;)
		events(1);
	MUST(w.left == 0 || lied);
	pass_time(1000 * MS);
	check();
	MUST(w.host[A].nheld + w.host[B].nheld == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct spray_params p;

	in = data;
	end = data + size;
	p = params();
	memset(&w, 0, sizeof(w));
	memset(next, 0, sizeof(next));
	memset(lives, 0, sizeof(lives));
	lied = forgotten = false;
	copies = 0;
	drawn = p.seed;
	pair_talk_begin();
	w.hooks = &hooks;
	spray_begin(&w, &p);
	while (in < end)
		step();
	finish();
	spray_end(&w);
	return 0;
}
