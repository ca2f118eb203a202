/* SPDX-License-Identifier: BSD-3-Clause */
/* The order of events, and the beginning and end of a world. */
#include "world_internal.h"
#include <string.h>

#define MAX_NS (600000000 * US)

static void reset(struct world *w)
{
	static const int32_t off[] = {-1, 0, 1, 1 << 23, -(1 << 23), 77, -300};
	uint32_t i = rnd(w, w->p.qps);
	struct qp *q = &w->qps[i];

	world_setup_qp(w, i, wire(q, q->nxt) + (uint32_t)off[rnd(w, 7)]);
	world_at(w, 3000 * US + rnd(w, 3000) * US, EVENT_RESET, 0, 0);
}

static void peer_changes(struct world *w)
{
	w->peer_up = !w->peer_up;
	if (w->peer_up)
		world_peer_start(w);
	else
		world_peer_stop(w);
	w->r.peer_crashes += !w->peer_up;
	world_at(w, 1 + rnd(w, 2 * w->p.peer_crash_every_us) * US, EVENT_PEER, 0, 0);
}

static void crash(struct world *w)
{
	world_engine_crash(w);
	world_at(w, 1 + rnd(w, 2 * w->p.crash_every_us) * US, EVENT_CRASH, 0, 0);
}

static void dispatch(struct world *w, struct event *event)
{
	switch ((enum event_kind)event->kind) {
	case EVENT_SEND:
		if (event->gen == w->qps[event->qp].send_timer)
			world_send(w, event->qp);
		break;
	case EVENT_ARRIVE:
		world_arrive(w, event->pkt);
		break;
	case EVENT_REPLY:
	case EVENT_CNP:
	case EVENT_PROBE:
		world_receive(w, HP3_DIR_RX, event);
		break;
	case EVENT_POLL:
		world_poll(w);
		break;
	case EVENT_NAK:
		if (event->gen == w->qps[event->qp].epoch)
			world_rnic_reply(w, event->qp, &event->view, true);
		break;
	case EVENT_ACK_DUE:
		if (event->gen == w->qps[event->qp].epoch)
			world_ack_due(w, event->qp);
		break;
	case EVENT_RTO:
		world_rto(w, event);
		break;
	case EVENT_RNR_OVER:
		world_rnr_over(w, event);
		break;
	case EVENT_MOVE:
		world_move(w);
		break;
	case EVENT_RESET:
		world_poll_all(w); /* no set-up is as fast */
		reset(w);
		break;
	case EVENT_TICK:
		world_tick(w);
		break;
	case EVENT_PATHS:
		world_paths_change(w);
		break;
	case EVENT_CRASH:
		crash(w);
		break;
	case EVENT_SPOOF:
		world_spoof(w);
		break;
	case EVENT_FORGE:
		world_forge(w);
		break;
	case EVENT_AWAY:
		world_away(w);
		break;
	case EVENT_PEER:
		peer_changes(w);
		break;
	case EVENT_REPORT:
		world_report_seen(w, event);
		break;
	case EVENT_NEW_QP:
		world_poll_all(w); /* no set-up is as fast */
		world_new_qp(w, event);
		break;
	case EVENT_REWIRE:
		world_poll_all(w); /* no set-up is as fast */
		world_rewire(w);
		break;
	case EVENT_RECONNECT:
		world_poll_all(w); /* no set-up is as fast */
		world_reconnect(w);
		break;
	case EVENT_REPORTED:
		world_reported(w, event);
		break;
	case EVENT_UP:
		world_announced(w, event);
		break;
	case EVENT_MODE:
		world_engine_mode(w);
		break;
	case EVENT_STOP:
		world_engine_stop(w);
		break;
	}
}

static void begin(struct world *w)
{
	const struct world_params *p = &w->p;

	if (w->p.burst > WORLD_BURST)
		w->p.burst = WORLD_BURST;
	w->rng = p->seed;
	world_clocks(w);
	w->mode = HP3_POLICY_ON;
	world_addresses(w);
	w->pmtu = p->any_pmtu ? 256u << rnd(w, 5) : 1024;
	w->peer_up = !p->no_peer;
	if (w->peer_up)
		world_peer_start(w);
	w->rto_ns = (p->rto_us ? p->rto_us : 8000) * US;
	for (uint32_t i = 0; i < p->paths; i++)
		w->path_delay[i] = p->rtt_us ? p->rtt_us * US / 2 : (5 + rnd(w, 200)) * US;
	world_engine_start(w);
	for (uint32_t i = 0; i < p->qps; i++) {
		uint32_t start = world_start_psn(w);

		w->qps[i].flow = HP3_NO_FLOW;
		world_number(w, i);
		w->qps[i].first_start = start;
		world_setup_qp(w, i, start);
	}
	world_at(w, 0, EVENT_TICK, 0, 0);
	if (p->rtt_us == 0 || p->incast_us != 0 || p->kill_paths || p->kill_back ||
		p->short_paths_move)
		world_at(w, 0, EVENT_PATHS, 0, 0);
	if (!p->probing || p->advice)
		world_at(w, 1000 * US, EVENT_MOVE, 0, 0);
	if (p->resets)
		world_at(w, 5000 * US, EVENT_RESET, 0, 0);
	if (p->rewire_every_us)
		world_at(w, 5000 * US, EVENT_REWIRE, 0, 0);
	if (p->reconnect_every_us)
		world_at(w, 2000 * US, EVENT_RECONNECT, 0, 0);
	if (p->crash_every_us)
		world_at(w, 2000 * US, EVENT_CRASH, 0, 0);
	if (p->hang_every_us)
		world_at(w, 2000 * US, EVENT_AWAY, 0, 0);
	if (p->spoof_every_us)
		world_at(w, 1000 * US, EVENT_SPOOF, 0, 0);
	if (p->forge_every_us)
		world_at(w, rnd(w, 200) * US, EVENT_FORGE, 0, 0);
	if (p->peer_crash_every_us)
		world_at(w, 3000 * US, EVENT_PEER, 0, 0);
	if (p->mode_every_us)
		world_at(w, p->mode_every_us * US, EVENT_MODE, 0, 0);
	if (p->stop_every_us)
		world_at(w, p->stop_every_us * US, EVENT_STOP, 0, 0);
}

static void end(struct world *w)
{
	w->r.simulated_ms = world_lasts(w) / (1000 * US);
	world_engine_tally(w);
	world_check_sum(w);
	for (uint32_t i = 0; i < w->p.qps; i++)
		w->r.completed += w->qps[i].done - RING;
}

int world_run(const struct world_params *p, struct world_result *r)
{
	struct world *w = calloc(1, sizeof(*w));
	uint64_t last = p->limit_ms ? p->limit_ms * 1000 * US : UINT64_MAX;
	int ret;

	w->p = *p;
	w->ring = calloc(p->qps, sizeof(*w->ring));
	w->got = calloc(p->qps, sizeof(*w->got));
	world_turn_knobs(&w->p);
	begin(w);
	while (!w->failed && w->r.sent < p->packets && world_lasts(w) < last) {
		struct event event = world_pop(w);

		w->now = event.t;
		dispatch(w, &event);
		if (world_lasts(w) > MAX_NS)
			VIOLATION(
				w, "no progress: %llu packets only", (unsigned long long)w->r.sent);
	}
	end(w);
	*r = w->r;
	ret = w->failed ? -1 : 0;
	heap_free(&w->heap);
	free(w->ports[HP3_DIR_TX].event);
	free(w->ports[HP3_DIR_RX].event);
	free(w->ring);
	free(w->got);
	world_peer_stop(w);
	free(w->mem);
	free(w);
	return ret;
}
