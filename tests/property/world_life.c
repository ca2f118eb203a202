/* SPDX-License-Identifier: BSD-3-Clause */
/* The engine's configuration and life: start, crash, clean stop. */
#include "world_internal.h"
#include <string.h>

#define STOP_NS (30000 * US) /* longest clean stop */

/* As it ships, but for tables, which are smaller. */
static struct hp3_engine_config shipped(const struct world *w, uint64_t seed)
{
	struct hp3_engine_config cfg = *w->p.shipped;

	cfg.seed = seed;
	cfg.hash_seed = w->p.seed;
	cfg.max_flows = FLOWS;
	cfg.max_pairs = 16;
	cfg.max_moves = SLOTS;
	return cfg;
}

struct hp3_engine_config world_config(const struct world *w)
{
	const struct world_params *p = &w->p;
	struct hp3_engine_config cfg = {.seed = p->seed + 1000 * w->r.crashes + w->r.stops,
		.hash_seed = p->seed,
		.refute_ns = 20000 * US,
		.max_flows = p->untracked ? p->qps - 1
			     : p->evict   ? 16
					  : 64,
		.max_pairs = 4,
		.max_moves = 64,
		.idle_age_ns = p->evict ? 3000 * US : 60000000 * US,
		.dead_age_ns = 600000000 * US,
		.max_hold_ns = w->rto_ns / 4,
		.close_timeout_ns = 20000 * US,
		.hold_bytes = p->hold_bytes,
		.hold_bytes_total = 16 * p->hold_bytes,
		.hold_packets = 4096,
		.monitor = {.cycle_ns = 100 * US,
			.rtt_factor = 200,
			.ecn_fraction = 25,
			.congestion_tolerance = 3,
			.base_age_log2 = 30},
		.probing = p->probing,
		.probes = p->probes,
		.candidates = 3,
		.max_concurrent = 2,
		.cooldown_ns = 2000 * US,
		.verify_ns = 5000 * US,
		.stall_ns = p->stall_us * US,
		.peer_ns = 50000 * US,
		.loss_permille = p->bear_loss ? 0 : 5,
		.loss_repeats = 8,
		.setup_probing = p->lead_us != 0,
		.setup_rounds = (uint8_t)(1 + p->seed % 4),
		.setup_alike = 10,
		.message_start_percent = (uint16_t)p->message_start_percent,
		.observe = p->observe,
		.round = {.timeout_ns = MAX_RTT,
			.guard_ns = MAX_RTT,
			.backoff_after = 1,
			.backoff_min_ns = 500 * US,
			.backoff_max_ns = 20000 * US,
			.probes_per_second = 20000,
			.probe_burst = p->lead_us != 0 ? 256 : 16,
			.improve = 80},
		.paths = {.fresh_ns = 5000 * US,
			.recheck_ns = 1000000 * US,
			.retry_ns = 10000 * US,
			.lossy_ns = 100000 * US,
			.window_ns = MAX_RTT,
			.rtt_factor = 200,
			.ecn_fraction = 25,
			.losses = 3,
			.equal = 20},
		.model = p->model ? &w->model.given : NULL,
		.challenge_timeout_ns = 2000 * US,
		.challenge_hits = 3,
		.challenge_spread = 16,
		.challenge_quiet_ns =
			600 * US, /* what is on its way when hp3d starts is answered */
		.pair_by_cm = true,
		.pair_by_challenge = !p->cm,
		.moves_allowed = !p->observe};

	if (p->shipped != NULL)
		return shipped(w, cfg.seed);
	world_rate_config(p, &cfg.cc, w->rto_ns);
	return cfg;
}

void world_engine_tally(struct world *w)
{
	const struct hp3_stats *s;

	if (w->e == NULL)
		return;
	s = hp3_engine_stats(w->e);
	w->r.aged += s->flows_aged;
	w->r.lossy += s->lossy;
	w->r.placed += s->placed;
	w->r.placed_late += s->placed_late;
	w->r.message_start_searches += s->message_start_searches;
	w->r.paced += s->paced;
}

/* The switches' hash. */
static void make_model(struct world *w)
{
	struct sim_stage stage = {.hash = {.kind = SIM_HASH_CRC32,
					  .paths = (uint16_t)w->p.paths,
					  .seed = (uint32_t)w->p.seed}};

	sim_model_init(&w->model, &stage, 1);
}

void world_engine_start(struct world *w)
{
	size_t size;

	if (w->p.model)
		make_model(w);
	world_engine_tally(w);
	w->cfg = world_config(w);
	size = hp3_engine_size(&w->cfg);
	free(w->mem);
	w->mem = aligned_alloc(64, size);
	w->e = hp3_engine_create(w->mem, size, &w->cfg);
	if (w->e == NULL) {
		fprintf(stderr, "test bug: unsound configuration\n");
		abort();
	}
	world_mode_restored(w);
	for (uint32_t i = 0; i < w->p.qps; i++)
		w->qps[i].flow = HP3_NO_FLOW;
}

/* Gone at once: what it held or had not polled is lost, what it knew is forgotten, moved flows are
 * home (rule 11). */
void world_engine_crash(struct world *w)
{
	w->r.crashes++;
	world_lose_ports(w);
	for (uint32_t s = 0; s < w->cfg.max_flows; s++) {
		for (struct pkt *k = w->hold[s].head, *next; k != NULL; k = next) {
			next = k->next;
			w->r.discarded++;
			free(k);
		}
		w->hold[s] = (struct fifo){0};
	}
	w->nheld = 0;
	for (uint32_t i = 0; i < w->p.qps; i++) {
		struct qp *q = &w->qps[i];

		q->last_emit[++q->era % ERAS] = 0;
		q->resync = true;
		q->hurt = w->now;
		q->closing = 0;
		q->resuming = q->was_resuming = q->suspended = q->owed = false;
		q->fo_since = q->probe_until = q->switched_at = 0;
	}
	world_engine_start(w);
}

/* Flows are moved home, in order, before the engine goes (rule 11). */
void world_engine_stop(struct world *w)
{
	struct hp3_engine_config cfg = world_config(w);

	if (w->stopping == 0)
		w->stopping = w->now;
	cfg.moves_allowed = false;
	hp3_engine_reconfigure(w->e, &cfg);
	for (uint32_t f = 0; (f = hp3_flow_next(w->e, f)) != HP3_NO_FLOW; f++) {
		struct hp3_flow_info info;

		if (hp3_flow_info(w->e, f, w->now, &info) == 0 && info.moved &&
			info.state == HP3_RFR_STEADY)
			world_command(w, f, HP3_CMD_HOME, HP3_CAUSE_STOP);
	}
	if (hp3_engine_moved(w->e) == 0 && hp3_engine_moves(w->e) == 0) {
		w->r.stops++;
		world_engine_start(w);
	} else if (w->now - w->stopping > STOP_NS) {
		w->r.forced_stops++;
		world_engine_crash(w);
	} else {
		world_at(w, 100 * US, EVENT_STOP, 0, 0);
		return;
	}
	w->stopping = 0;
	world_at(w, w->p.stop_every_us * US, EVENT_STOP, 0, 0);
}
