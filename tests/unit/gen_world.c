/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen_world.h"
#include <stdlib.h>
#include "roce/icrc.h"

#define RKEY 0x77u

struct world_frame {
	struct world_frame *next;
	uint64_t due;
	uint32_t len;
	int to;
	uint8_t data[];
};

uint64_t world_random(struct world *w, uint64_t n)
{
	w->seed ^= w->seed << 13;
	w->seed ^= w->seed >> 7;
	w->seed ^= w->seed << 17;
	return w->seed % n;
}

struct gen_endpoint_params world_params(void)
{
	return (struct gen_endpoint_params){
		.requester = {.mtu = 1024,
			.window = 128,
			.ack_every = 64,
			.max_reads = 16,
			.timeout = 12,
			.retry_count = 7,
			.rnr_retry = 7},
		.responder = {.mtu = 1024, .rkey = RKEY, .rnr_timer = 1, .check = true},
		.burst_ns = 100000,
		.catch_up_ns = 1000000,
		.cnp_tclass = 48 << 2,
		.priority = 3,
		.cnp_priority = 6,
	};
}

static void connect_end(struct world *w, int me, uint32_t i, uint32_t peer_psn)
{
	struct gen_qp *q = &w->end[me].qps[i];

	q->rqpn = w->end[!me].qps[i].lqpn;
	q->rkey = RKEY;
	q->memory = UINT64_C(0x100000000);
	q->memory_size = UINT64_C(0x100000000);
	q->marks = true;
	q->channel = i;
	q->to = (struct hp3_addressing){.dst_mac = {2, 0, 0, 0, 0, !me},
		.src_mac = {2, 0, 0, 0, 0, (uint8_t)me},
		.src_ip = {10, 0, 0, (uint8_t)(1 + me)},
		.dst_ip = {10, 0, 0, (uint8_t)(1 + !me)},
		.tclass = HP3_ECN_ECT0,
		.ttl = 64,
		.sport = (uint16_t)(50000 + i),
		.pkey = 0xffff};
	gen_endpoint_connect(&w->end[me], q, peer_psn);
}

void world_open(struct world *w, const struct gen_endpoint_params *p, uint32_t qps, bool both,
	uint64_t seed)
{
	uint32_t psn[2];

	*w = (struct world){.seed = seed * 2654435769u + 1, .delay_ns = 10000};
	for (int e = 0; e < 2; e++) {
		struct gen_endpoint_params mine = *p;

		mine.max_qps = qps;
		mine.first_qpn = e == 0 ? 0x100 : 0x9000;
		if (gen_endpoint_init(&w->end[e], &mine, 0) != 0)
			abort();
	}
	for (uint32_t i = 0; i < qps; i++) {
		for (int e = 0; e < 2; e++) {
			/* PSNs wrap soon. */
			psn[e] = (uint32_t)(0xfffff0 + world_random(w, 16));
			gen_endpoint_add(&w->end[e], psn[e], 0)->loads = e == 0 || both;
		}
		connect_end(w, 0, i, psn[1]);
		connect_end(w, 1, i, psn[0]);
	}
}

void world_close(struct world *w)
{
	while (w->air != NULL) {
		struct world_frame *f = w->air;

		w->air = f->next;
		free(f);
	}
	for (int e = 0; e < 2; e++) {
		gen_workload_free(&w->load[e]);
		gen_endpoint_free(&w->end[e]);
	}
}

static void launch(struct world *w, int to, const void *frame, uint32_t len, uint64_t due)
{
	struct world_frame *f = malloc(sizeof(*f) + len), **at = &w->air;

	if (f == NULL)
		abort();
	*f = (struct world_frame){.due = due, .len = len, .to = to};
	memcpy(f->data, frame, len);
	while (*at != NULL && (*at)->due <= due)
		at = &(*at)->next;
	f->next = *at;
	*at = f;
}

void world_inject(struct world *w, int to, const void *frame, uint32_t len)
{
	launch(w, to, frame, len, w->now);
}

static void mark(uint8_t *frame, uint32_t len)
{
	struct hp3_view v;

	hp3_parse(frame, len, &v);
	if (v.flags & HP3_VF_ECT)
		frame[v.l3_off + 1] |= HP3_ECN_CE;
}

static void transmit(struct world *w, int from)
{
	uint8_t frame[GEN_FRAME_MAX];
	uint64_t due = w->now + w->delay_ns, more;
	uint32_t len;

	while ((len = gen_endpoint_tx(&w->end[from], frame, w->now)) > 0) {
		w->frames++;
		if (world_random(w, 1000) < w->lost) {
			w->drops++;
			continue;
		}
		if (world_random(w, 1000) < w->marked)
			mark(frame, len);
		more = w->tap != NULL ? w->tap(w, from, frame, len) : 0;
		if (more == UINT64_MAX)
			continue;
		if (world_random(w, 1000) < w->overtaken)
			more += 5 * w->delay_ns;
		launch(w, !from, frame, len, due + more);
	}
}

static void events(struct world *w, int e)
{
	for (uint32_t i = 0; i < w->end[e].n_events; i++) {
		struct gen_event event = w->end[e].events[i];

		w->failed += event.type == GEN_FAILED;
		if (w->load[e].ep != NULL)
			gen_workload_event(&w->load[e], &event, w->now);
	}
	w->end[e].n_events = 0;
}

void world_go_on(struct world *w, uint64_t until)
{
	for (;;) {
		uint64_t next = UINT64_MAX, when;

		while (w->air != NULL && w->air->due <= w->now) {
			struct world_frame *f = w->air;

			w->air = f->next;
			gen_endpoint_rx(&w->end[f->to], f->data, f->len, w->now);
			events(w, f->to);
			free(f);
		}
		for (int e = 0; e < 2; e++) {
			when = w->load[e].ep != NULL ? gen_workload_tick(&w->load[e], w->now)
						     : UINT64_MAX;
			next = when < next ? when : next;
			transmit(w, e);
			events(w, e);
			when = gen_endpoint_deadline(&w->end[e], w->now);
			next = when < next ? when : next;
		}
		if (w->air != NULL && w->air->due < next)
			next = w->air->due;
		if (next > until || next == UINT64_MAX)
			break;
		w->now = next > w->now ? next : w->now;
	}
	if (until != UINT64_MAX)
		w->now = until;
}

void world_run(struct world *w, const struct gen_workload_params *load, uint64_t until)
{
	for (int e = 0; e < 2; e++)
		if (gen_workload_start(&w->load[e], load, &w->end[e], w->now) != 0)
			abort();
	world_go_on(w, until);
}
