/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The network between two hosts with sprayed queue pairs: paths that lose, send packets twice, and
 * alter them behind all Ethernet checks. RNICs drop these without a word (a wrong ICRC), engines
 * see what they say.
 */
#include "spray_inside.h"
#include "base/minmax.h"

#define NEAR     16u /* PSNs */
#define WINDOW   600u
#define SOON_US  500u
#define LATER_US 100000u

/* Another one; near: it may be taken for one that is in flight. */
static uint32_t other_psn(struct world *w, uint32_t psn, uint32_t most)
{
	uint32_t by = 1 + hp3_random_below(&w->rng, most);

	return (hp3_random_below(&w->rng, 4) == 0 ? psn - by : psn + by) & HP3_PSN_MASK;
}

static uint32_t flipped(struct world *w, uint32_t value, uint32_t bits)
{
	return value ^ 1u << hp3_random_below(&w->rng, bits);
}

/* One of the same transport, with what its headers would hold. */
static void other_opcode(struct world *w, struct packet *k)
{
	do
		k->opcode = (uint8_t)hp3_random_below(&w->rng, HP3_OP_RC_SEND_ONLY_INV + 1);
	while (hp3_opcodes[k->opcode].class != HP3_CLASS_RC_REQUEST &&
		hp3_opcodes[k->opcode].class != HP3_CLASS_RC_REPLY);
	k->dma_len = (uint32_t)hp3_random(&w->rng);
	k->syndrome = (uint8_t)hp3_random(&w->rng);
}

void spray_alter(struct world *w, struct packet *k)
{
	k->damaged = true;
	w->r.damaged++;
	switch (hp3_random_below(&w->rng, 8)) {
	case 0:
	case 1:
		k->wire = other_psn(w, k->wire, NEAR);
		break;
	case 2:
		k->wire = other_psn(w, k->wire, WINDOW);
		break;
	case 3:
		k->wire = flipped(w, k->wire, 24);
		break;
	case 4:
		k->qp = hp3_random_below(&w->rng, w->p.qps + 1);
		break;
	case 5:
		other_opcode(w, k);
		break;
	case 6:
		k->syndrome = (uint8_t)flipped(w, k->syndrome, 8);
		k->dma_len = flipped(w, k->dma_len, 32);
		break;
	default:
		k->payload ^= 1; /* what nobody but the RNIC looks at */
		break;
	}
}

bool spray_rnic_drops(struct world *w, const struct packet *k)
{
	w->r.dropped += k->damaged;
	return k->damaged;
}

/* When it comes once more, if it does: soon, or when all has long gone on. */
static uint64_t once_more(struct world *w, uint64_t t, bool spares)
{
	uint32_t us;

	if (!draw(w, w->p.twice_ppm) || spares)
		return 0;
	w->r.ghosts++;
	us = hp3_random_below(&w->rng, 2) == 0 ? SOON_US : LATER_US;
	return t + hp3_random_below(&w->rng, us * 1000);
}

/* One path is a FIFO. 0: lost. */
static uint64_t arrival(struct world *w, uint32_t path, uint64_t *free)
{
	uint64_t t = w->now + w->delay[path] + hp3_random_below(&w->rng, 2000);

	if (draw(w, w->p.loss_ppm) || w->now < w->dead_until[path]) {
		w->r.lost++;
		return 0;
	}
	if (t <= *free)
		t = *free + 1;
	*free = t;
	return t;
}

/* A copy; `t` 0: it does not. */
static void arrives_again(struct world *w, uint64_t t, struct event e)
{
	e.packet.copy = true;
	if (t != 0)
		spray_at(w, t, e);
}

/* `t` 0: it does not. */
static void arrives(struct world *w, uint64_t t, struct event e)
{
	uint64_t again = 0;

	if (t == 0)
		return;
	if (w->hooks != NULL && !w->hooks->on_packet(w, &e, &again)) {
		w->r.lost++;
		return;
	}
	if (w->hooks != NULL) {
		spray_at(w, t, e);
		arrives_again(w, again, e);
		return;
	}
	if (draw(w, w->p.damaged_ppm))
		spray_alter(w, &e.packet);
	spray_at(w, t, e);
	/* A READ or ATOMIC that a network doubles ends a queue pair whose keys are
	 * invalidated, hp3d or not. */
	again = once_more(w, t,
		w->p.inv_percent != 0 && e.kind == EVENT_REQUEST &&
			(hp3_opcodes[e.packet.opcode].flags & (HP3_VF_READ | HP3_VF_ATOMIC)));
	arrives_again(w, again, e);
}

/* What is in flight on a path, and what leaves by it meanwhile, arrives when the pause is over. */
void spray_pause(struct world *w)
{
	uint64_t *free = &w->free[hp3_random_below(&w->rng, w->p.paths)];

	*free = hp3_max_u64(*free, w->now) + hp3_random_below(&w->rng, w->p.paused_us) * US;
}

static uint32_t path_of(const struct world *w, uint16_t sport)
{
	return (uint32_t)(sport * 2654435761u >> 16) % w->p.paths;
}

void spray_into_network(struct world *w, struct packet k, uint16_t sport)
{
	uint32_t path = path_of(w, sport);
	uint64_t t = arrival(w, path, &w->free[path]);

	k.sport = sport;
	if (path < w->p.marked_paths) {
		k.ce = draw(w, w->p.marked_ppm);
		w->r.by_marked++;
	}
	arrives(w, t, (struct event){.kind = EVENT_REQUEST, .host = B, .packet = k});
}

/* What takes one path takes the first one. */
void spray_back(struct world *w, struct packet k, uint16_t sport)
{
	uint32_t path = sport == k.sport ? 0 : path_of(w, sport);
	uint64_t t = arrival(w, path, &w->back_free[path]);

	k.sport = sport;
	arrives(w, t, (struct event){.kind = EVENT_REPLY, .host = A, .packet = k});
}

/* The peer answers at once, by the first path. */
void spray_probe(struct world *w, unsigned from, const struct hp3_act *a)
{
	uint32_t path = path_of(w, a->port);
	uint64_t t = arrival(w, path, from == A ? &w->free[path] : &w->back_free[path]);

	if (t != 0)
		spray_at(w, t + w->delay[0],
			(struct event){
				.kind = EVENT_PROBED, .host = (uint8_t)from, .qp = a->probe_id});
}

void spray_send_msg(struct world *w, unsigned from, const struct hp3_act_agree *a)
{
	struct event e = {.kind = EVENT_MESSAGE,
		.host = from == A ? B : A,
		.key = w->host[from].speaks,
		.message = *a};
	uint32_t percent = w->p.message_fault_percent;
	uint64_t t = w->now + 20 * US + hp3_random_below(&w->rng, 20000);

	if (w->hooks != NULL) {
		w->hooks->on_send_msg(w, from, a);
		return;
	}
	if (hp3_random_below(&w->rng, 100) >= percent)
		spray_at(w, t, e);
	if (hp3_random_below(&w->rng, 100) < percent)
		spray_at(w, t + hp3_random_below(&w->rng, 3000) * US, e);
}
