/* SPDX-License-Identifier: BSD-3-Clause */
#include "caller.h"

/* Whether `more` packets with `len` bytes fit into the hold, one of them into `slot`. */
static bool fits(const struct caller *c, uint32_t slot, uint32_t more, uint32_t len)
{
	uint32_t pkts = more;
	uint64_t bytes = len;

	for (uint32_t s = 0; s < SLOTS; s++) {
		pkts += c->hold[s].n;
		bytes += c->hold[s].bytes;
		if (c->hold[s].bytes + (s == slot ? len : 0) > c->cfg.hold_bytes)
			return false;
	}
	return pkts <= c->cfg.hold_packets && bytes <= c->cfg.hold_bytes_total;
}

static void check_totals(const struct caller *c)
{
	uint32_t flows = 0, moves = 0, moved = 0;

	MUST(fits(c, SLOTS, 0, 0));
	for (uint32_t f = hp3_flow_next(c->e, 0); f != HP3_NO_FLOW;
		f = hp3_flow_next(c->e, f + 1)) {
		struct hp3_flow_info i;

		MUST(hp3_flow_info(c->e, f, c->now, &i) == 0);
		MUST(i.state < HP3_RFR_STATE_MAX && i.una <= HP3_PSN_MASK && i.nxt <= HP3_PSN_MASK);
		flows++;
		moves += i.state != HP3_RFR_STEADY;
		moved += i.moved;
		for (uint32_t s = 0; s < SLOTS; s++)
			MUST(c->hold[s].n == 0 || c->hold[s].flow != f ||
				i.state == HP3_RFR_DRAINING);
	}
	MUST(flows == hp3_engine_flows(c->e) && flows <= FLOWS);
	MUST(moves == hp3_engine_moves(c->e) && moves <= SLOTS);
	MUST(moved == hp3_engine_moved(c->e));
}

static void take(struct caller *c, const struct hp3_acts *acts, uint32_t max)
{
	uint32_t gone = 0, gone_flow = HP3_NO_FLOW;
	uint64_t gone_bytes = 0;

	MUST(acts->n <= max);
	for (uint32_t i = 0; i < acts->n; i++) {
		const struct hp3_act *a = &acts->act[i];

		MUST(a->kind <= HP3_ACT_PROBE && a->flow < FLOWS);
		if (a->kind == HP3_ACT_RELEASE || a->kind == HP3_ACT_DISCARD) {
			MUST(a->slot < SLOTS && c->hold[a->slot].n > 0 && gone == 0);
			MUST(c->hold[a->slot].flow == a->flow);
			gone = c->hold[a->slot].n;
			gone_flow = a->flow;
			gone_bytes = c->hold[a->slot].bytes;
			c->hold[a->slot].n = 0;
			c->hold[a->slot].bytes = 0;
		} else if (a->kind == HP3_ACT_PROBE) {
			c->probe_ids[c->nprobes++ % IDS] = a->probe_id;
		} else if (a->event.type <= HP3_EV_EPOCH) { /* a move has ended */
			MUST(a->event.held_pkts == gone && a->event.held_bytes == gone_bytes);
			MUST(gone == 0 || a->event.flow == gone_flow);
			gone = 0;
			gone_bytes = 0;
		} else {
			MUST(a->event.type <= HP3_EV_SEVERE);
		}
	}
	MUST(gone == 0);
}

void caller_acts(struct caller *c, const struct hp3_acts *acts, uint32_t max)
{
	take(c, acts, max);
	check_totals(c);
}

void caller_time(struct caller *c, uint64_t ns)
{
	struct hp3_acts acts;
	uint64_t next;

	c->now += ns;
	do {
		acts.n = 0;
		next = hp3_tick(c->e, c->now, &acts);
		take(c, &acts, HP3_ACTS_MAX);
	} while (acts.more);
	MUST(next > c->now);
	for (uint32_t s = 0; s < SLOTS; s++)
		MUST(c->hold[s].n == 0 || c->now < c->hold[s].since + c->cfg.max_hold_ns);
	check_totals(c);
}

void caller_packet(struct caller *c, struct hp3_pkt *pkt, enum hp3_dir dir)
{
	struct hp3_acts acts = {.n = HP3_ACTS_MAX}; /* the engine starts over */
	struct hp3_verdict vd = {.kind = 0xff};

	if (dir == HP3_DIR_TX)
		hp3_tx(c->e, pkt, c->now, &vd, &acts);
	else
		hp3_rx(c->e, pkt, c->now, &vd, &acts);
	for (uint32_t i = 0; i < acts.n; i++) {
		const struct hp3_act *a = &acts.act[i];

		if (a->kind == HP3_ACT_EVENT && a->event.type == HP3_EV_RECOVER &&
			a->event.reason == HP3_RFR_IN_HOLD_FULL)
			MUST(!fits(c, a->slot, 1, pkt->len)); /* nothing was taken out yet */
	}
	take(c, &acts, ACTS_MAX);
	MUST(vd.kind <= HP3_DROP && (vd.flow == HP3_NO_FLOW || vd.flow < FLOWS));
	if (vd.kind == HP3_HOLD) {
		MUST(dir == HP3_DIR_TX && vd.slot < SLOTS);
		MUST(c->hold[vd.slot].n == 0 || c->hold[vd.slot].flow == vd.flow);
		if (c->hold[vd.slot].n == 0)
			c->hold[vd.slot].since = c->now;
		c->hold[vd.slot].flow = vd.flow;
		c->hold[vd.slot].n++;
		c->hold[vd.slot].bytes += pkt->len;
	} else if (dir == HP3_DIR_TX && vd.flow != HP3_NO_FLOW) {
		for (uint32_t s = 0; s < SLOTS; s++)
			MUST(c->hold[s].n == 0 || c->hold[s].flow != vd.flow);
	}
	check_totals(c);
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
		.hold_packets = 3,
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
		.round = {.timeout_ns = 500 * US,
			.guard_ns = 500 * US,
			.backoff_min_ns = 20 * US,
			.backoff_max_ns = 500 * US,
			.probes_per_second = 1000000,
			.probe_burst = 64,
			.improve = 80},
		.paths = {.fresh_ns = 5000 * US,
			.recheck_ns = 1000000 * US,
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
	void *mem;

	*c = (struct caller){.cfg = config_of(how), .now = 5000 * US};
	size = hp3_engine_size(&c->cfg);
	mem = aligned_alloc(64, size);
	MUST(mem);
	c->e = hp3_engine_create(mem, size, &c->cfg);
	MUST(c->e);
}

void caller_end(struct caller *c, bool by_time)
{
	struct hp3_acts acts;

	hp3_set_moves_allowed(c->e, false);
	for (uint32_t f = 0; f < FLOWS && !by_time; f++) {
		acts.n = 0;
		hp3_command(
			c->e, &(struct hp3_cmd){.kind = HP3_CMD_CANCEL, .flow = f}, c->now, &acts);
		take(c, &acts, ACTS_MAX);
	}
	for (uint32_t i = 0; i < 3 && by_time; i++) /* round, closing, drain */
		caller_time(c, c->cfg.close_timeout_ns + 1);
	MUST(hp3_engine_moves(c->e) == 0);
	for (uint32_t s = 0; s < SLOTS; s++)
		MUST(c->hold[s].n == 0);
	free(c->e);
}
