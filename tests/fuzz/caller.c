/* SPDX-License-Identifier: BSD-3-Clause */
#include "caller.h"
#include "memory.h"
#include "sim/fabric/hash.h"

/* Whether `more` packets with `len` bytes fit into the hold, one of them of `flow`. */
static bool fits(const struct caller *c, uint32_t flow, uint32_t more, uint32_t len)
{
	uint32_t pkts = more;
	uint64_t bytes = len;

	for (uint32_t s = 0; s < FLOWS; s++) {
		pkts += c->hold[s].n;
		bytes += c->hold[s].bytes;
		if (c->hold[s].bytes + (s == flow ? len : 0) > c->cfg.hold_bytes)
			return false;
	}
	return pkts <= c->cfg.hold_packets && bytes <= c->cfg.hold_bytes_total;
}

static void check_totals(const struct caller *c)
{
	uint32_t flows = 0, moves = 0, moved = 0;

	MUST(fits(c, FLOWS, 0, 0));
	for (uint32_t f = hp3_flow_next(c->e, 0); f != HP3_NO_FLOW;
		f = hp3_flow_next(c->e, f + 1)) {
		struct hp3_flow_info i;

		MUST(hp3_flow_info(c->e, f, c->now, &i) == 0);
		MUST(i.state < HP3_RFR_STATE_MAX && i.una <= HP3_PSN_MASK && i.nxt <= HP3_PSN_MASK);
		flows++;
		moves += i.state != HP3_RFR_STEADY;
		moved += i.moved;
		MUST(c->hold[f].n == 0 || i.state == HP3_RFR_DRAINING ||
			i.state == HP3_RFR_PROBING || i.state == HP3_RFR_RESUMING ||
			c->cfg.cc.mode == HP3_CC_DCQCN);
	}
	MUST(flows == hp3_engine_flows(c->e) && flows <= FLOWS);
	MUST(moves == hp3_engine_moves(c->e) && moves <= SLOTS);
	MUST(moved == hp3_engine_moved(c->e));
}

static void take_out(struct caller_hold *h, uint32_t count)
{
	MUST(count <= h->n);
	for (uint32_t k = 0; k < count; k++)
		h->bytes -= h->len[k];
	h->n -= count;
	for (uint32_t k = 0; k < h->n; k++) {
		h->number[k] = h->number[k + count];
		h->len[k] = h->len[k + count];
		h->since[k] = h->since[k + count];
	}
}

/* What is to leave is what was held first. */
static void check_numbers(const struct caller *c, const struct hp3_act *a)
{
	const struct caller_hold *h = &c->hold[a->flow];
	uint32_t number = a->held;

	for (uint32_t k = 0; k < a->count; k++) {
		MUST(k < h->n && h->number[k] == number);
		number = hp3_held_next(c->e, number);
	}
}

static void take(struct caller *c, const struct hp3_acts *acts, uint32_t max)
{
	MUST(acts->n <= max);
	for (uint32_t i = 0; i < acts->n; i++) {
		const struct hp3_act *a = &acts->act[i];

		MUST(a->kind <= HP3_ACT_TRACE && a->flow < FLOWS);
		if (a->kind == HP3_ACT_RELEASE || a->kind == HP3_ACT_DISCARD) {
			MUST(a->count > 0);
			check_numbers(c, a);
			take_out(&c->hold[a->flow], a->count);
		} else if (a->kind == HP3_ACT_PROBE) {
			c->probe_ids[c->nprobes++ % IDS] = a->probe_id;
		} else if (a->kind == HP3_ACT_TRACE) {
			c->traces[c->ntraces++ % IDS] = *a;
		} else if (a->kind == HP3_ACT_EVENT) {
			MUST(a->event.type < HP3_EVENT_MAX);
			MUST(a->event.id == ++c->events);
		}
	}
}

void caller_acts(struct caller *c, const struct hp3_acts *acts, uint32_t max)
{
	take(c, acts, max);
	check_totals(c);
}

/* A drain takes max_hold; after a failover the RNIC's timer, or close_timeout; then the pacer. */
static uint64_t longest_hold(const struct caller *c)
{
	return c->cfg.max_hold_ns + (c->cfg.stall_ns != 0 ? c->cfg.close_timeout_ns : 0) +
	       (c->cfg.cc.mode == HP3_CC_DCQCN ? 2 * c->cfg.cc.rto_ns : 0);
}

static uint64_t tick(struct caller *c)
{
	struct hp3_acts acts;
	uint64_t next;

	do {
		acts.n = 0;
		next = hp3_tick(c->e, c->now, &acts);
		take(c, &acts, HP3_ACTS_MAX);
	} while (acts.more);
	MUST(next > c->now);
	return next;
}

static bool holds(const struct caller *c)
{
	for (uint32_t s = 0; s < FLOWS; s++) {
		if (c->hold[s].n != 0)
			return true;
	}
	return false;
}

/*
 * Four spines answer, by the low bits of the port; or, later, others: routes change. Some answers
 * get lost, some come from elsewhere.
 */
static void answer_traces(struct caller *c)
{
	for (; c->answered != c->ntraces; c->answered++) {
		const struct hp3_act *a = &c->traces[c->answered % IDS];
		uint8_t hop[16] = {
			10, 8, a->op, (uint8_t)((a->port + (c->now >> 27)) % (a->op == 2 ? 4 : 1))};

		MUST(a->op >= 1 && a->op <= HP3_DEPTH_MAX);
		if (a->probe_id % 61 == 0)
			hop[3] = (uint8_t)(a->probe_id >> 8);
		if (a->probe_id % 53 != 0)
			hp3_hop_reported(c->e, a->probe_id,
				a->op > 3 ? HP3_TRACE_REACHED : HP3_TRACE_HOP,
				a->probe_id % 127 == 0, hop, c->now);
	}
}

/* As late as may be, but where packets wait the engine is called when it asked to be. */
void caller_time(struct caller *c, uint64_t ns)
{
	uint64_t until = c->now + ns, next = tick(c);

	while (next < until && holds(c)) {
		c->now = next;
		next = tick(c);
	}
	c->now = until;
	tick(c);
	answer_traces(c);
	for (uint32_t s = 0; s < FLOWS; s++)
		MUST(c->hold[s].n == 0 || c->now < c->hold[s].since[0] + longest_hold(c));
	check_totals(c);
}

void caller_packet(struct caller *c, struct hp3_pkt *pkt, enum hp3_dir dir)
{
	struct hp3_acts acts = {.n = HP3_ACTS_MAX}; /* the engine starts over */
	struct hp3_verdict vd = {.kind = 0xff};

	if (c->turn++ % 2)
		MUST(hp3_burst(c->e, pkt, 1, dir, c->now, &vd, &acts) == 1);
	else if (dir == HP3_DIR_TX)
		hp3_tx(c->e, pkt, c->now, &vd, &acts);
	else
		hp3_rx(c->e, pkt, c->now, &vd, &acts);
	for (uint32_t i = 0; i < acts.n; i++) {
		const struct hp3_act *a = &acts.act[i];

		if (a->kind == HP3_ACT_EVENT && a->event.type == HP3_EVENT_RECOVER &&
			a->event.reason == HP3_RFR_IN_HOLD_FULL)
			MUST(!fits(c, a->flow, 1, pkt->len)); /* nothing was taken out yet */
	}
	take(c, &acts, ACTS_MAX);
	MUST(vd.kind <= HP3_DROP && (vd.flow == HP3_NO_FLOW || vd.flow < FLOWS));
	if (vd.kind == HP3_HOLD) {
		struct caller_hold *h = &c->hold[vd.flow];

		MUST(dir == HP3_DIR_TX && vd.flow != HP3_NO_FLOW && h->n < HELD);
		MUST(vd.held >= 1 && vd.held <= HP3_HELD(c->cfg.hold_packets));
		h->number[h->n] = vd.held;
		h->since[h->n] = c->now;
		h->len[h->n++] = pkt->len;
		h->bytes += pkt->len;
	} else if (dir == HP3_DIR_TX && vd.kind == HP3_PASS && vd.flow != HP3_NO_FLOW) {
		struct hp3_flow_info i;

		MUST(hp3_flow_info(c->e, vd.flow, c->now, &i) == 0);
		MUST(c->hold[vd.flow].n == 0 || pkt->v.class != HP3_CLASS_RC_REQUEST ||
			i.state == HP3_RFR_RESUMING);
	}
	check_totals(c);
}

/* Four paths by a CRC. */
static const struct hp3_path_model *model(void)
{
	static struct sim_model m;
	const struct sim_stage stage = {
		.hash = {.kind = SIM_HASH_CRC32, .paths = PATHS, .seed = 7}};

	MUST(sim_model_init(&m, &stage, 1) == 0);
	return &m.given;
}

static struct hp3_engine_config config_of(uint8_t how)
{
	return (struct hp3_engine_config){.seed = how,
		.max_flows = FLOWS,
		.max_pairs = 6,
		.max_moves = SLOTS,
		.idle_age_ns = 50000 * US,
		.dead_age_ns = 200000 * US,
		.max_hold_ns = 1000 * US,
		.close_timeout_ns = 5000 * US,
		.hold_bytes = 3000,
		.hold_bytes_total = 4000,
		.hold_packets = HELD,
		.challenge_timeout_ns = 2000 * US,
		.challenge_hits = 1 + (how & 1),
		.challenge_spread = 2,
		.monitor = {.cycle_ns = how & 6 ? 2 * US : 0,
			.rtt_factor = 200,
			.ecn_fraction = 25,
			.congestion_tolerance = 2,
			.base_age_log2 = 30},
		.probing = how & 4,
		.candidates = 3,
		.max_concurrent = 2,
		.cooldown_ns = 100 * US,
		.probes = how & 64 ? HP3_PROBES_AUTO : HP3_PROBES_STANDARD,
		.verify_ns = how & 32 ? 300 * US : 0,
		.stall_ns = how & 64 ? 400 * US : 0,
		.peer_ns = 20000 * US,
		.setup_probing = how & 64,
		.setup_rounds = 1 + (how & 3),
		.message_start_percent = how & 64 ? 1 : 0,
		.model = how & 2 ? model() : NULL,
		.trace = !(how & 2),
		.traces = {1000000, 8},
		.trace_timeout_ns = 300 * US,
		.verbs = (how & 15) == 15,
		.observe = (how & 0xe0) == 0xe0,
		.cc = {.mode = how & 32   ? HP3_CC_DCQCN
			       : how & 16 ? HP3_CC_OFF
					  : HP3_CC_NATIVE,
			.notify = how & 128,
			.np = {.min_time_between_cnps = 50, .mode = how & 8 ? HP3_NP_BECN : 0},
			.rp = hp3_dcqcn_presets[0].rp,
			.burst_bytes = 1000,
			.withhold_percent = how & 4 ? 200 : 0,
			.rto_ns = 4000 * US,
			.max_rtt_ns = 500 * US},
		.round = {.timeout_ns = 500 * US,
			.guard_ns = 500 * US,
			.backoff_after = 1,
			.backoff_min_ns = 20 * US,
			.backoff_max_ns = 500 * US,
			.probes_per_second = 1000000,
			.probe_burst = 64,
			.improve = 80},
		.paths = {.fresh_ns = 5000 * US,
			.recheck_ns = 20000 * US,
			.retry_ns = 10000 * US,
			.window_ns = 500 * US,
			.rtt_factor = 200,
			.ecn_fraction = 25,
			.losses = 3,
			.equal = 20},
		.pair_by_cm = how & 8,
		.pair_by_challenge = how & 16,
		.moves_allowed = true};
}

void caller_start(struct caller *c, uint8_t how)
{
	size_t size;

	*c = (struct caller){.cfg = config_of(how), .now = 5000 * US};
	size = hp3_engine_size(&c->cfg);
	c->e = hp3_engine_create(fuzz_memory(size), size, &c->cfg);
	MUST(c->e);
}

void caller_end(struct caller *c, bool by_time)
{
	struct hp3_acts acts;

	c->cfg.moves_allowed = c->cfg.observe = false; /* no round begins from now on */
	hp3_engine_reconfigure(c->e, &c->cfg);
	for (uint32_t f = 0; f < FLOWS && !by_time; f++) {
		acts.n = 0;
		hp3_command(
			c->e, &(struct hp3_cmd){.kind = HP3_CMD_CANCEL, .flow = f}, c->now, &acts);
		take(c, &acts, ACTS_MAX);
	}
	/* rounds, closing, drain, resuming; what the pacer has left */
	for (uint32_t i = 0; i < 400 && (by_time || i < 200); i++)
		caller_time(c, 100 * US + 1);
	MUST(hp3_engine_moves(c->e) == 0);
	for (uint32_t s = 0; s < FLOWS; s++)
		MUST(c->hold[s].n == 0);
}
