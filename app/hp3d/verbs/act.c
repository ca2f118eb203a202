/* SPDX-License-Identifier: BSD-3-Clause */
/* The engine's actions on queue pairs, and the application's answers. */
#include <sys/socket.h>
#include "app/hp3d/verbs/internal.h"

#define MS_NS 1000000ull

static void request_op(
	struct hp3d_verbs_shim *s, uint16_t cell, enum hp3_verbs_op op, uint16_t detail)
{
	struct hp3d_verbs_cell_state *k = &s->known[cell];

	k->asked = (uint8_t)op;
	k->detail = detail;
	s->asked[s->n_asked++ % HP3D_VERBS_ASKED] = cell;
	__atomic_store_n(&s->cells[cell].want,
		hp3_verbs_pack(k->generation, ++k->seq, (uint8_t)op, detail), __ATOMIC_RELEASE);
	/* A full socket is no error: the application has not read earlier bells yet. If the
	 * application has ended, the poll reports this. */
	send(s->fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void hp3d_verbs_stay(struct hp3d_verbs_mode *b, uint32_t flow)
{
	const struct hp3d_verbs_owner *o = &b->owners[flow];
	struct hp3d_verbs_shim *s = &b->shims[o->shim - 1u];

	if (s->known[o->cell].asked != HP3_VERBS_NOTHING)
		return;
	request_op(s, o->cell, HP3_VERBS_PLACE, 0);
	s->known[o->cell].asked = HP3_VERBS_NOTHING; /* this command has no answer */
}

static enum hp3_verbs_op suspend_op(const struct hp3_act *act)
{
	switch ((enum hp3_suspend_kind)act->op) {
	case HP3_SUSPEND_PEER_HELD:
		return HP3_VERBS_SUSPEND_HELD;
	case HP3_SUSPEND_FOR_PEER:
		return HP3_VERBS_HOLD;
	default:
		return HP3_VERBS_SUSPEND;
	}
}

static bool awaits_drain(const struct hp3d_verbs_cell_state *k)
{
	return k->asked == HP3_VERBS_SUSPEND || k->asked == HP3_VERBS_SUSPEND_HELD ||
	       k->asked == HP3_VERBS_HOLD;
}

static void report_to_engine(struct hp3d_verbs_mode *b, const struct hp3d_verbs_cell_state *k,
	enum hp3_actuator_report report, uint64_t now)
{
	const struct hp3_actuated what = {
		.report = (uint8_t)report, .error = report == HP3_ACTUATOR_FAILED ? k->failed : 0};

	hp3d_pipe_actuated(b->pipe, k->flow, what, now);
}

void hp3d_verbs_act(void *verbs, const struct hp3_act *act)
{
	struct hp3d_verbs_mode *b = verbs;
	const struct hp3d_verbs_owner *o = &b->owners[act->flow];
	struct hp3d_verbs_shim *s;
	struct hp3d_verbs_cell_state *k;

	if (o->shim == 0)
		return;
	s = &b->shims[o->shim - 1u];
	k = &s->known[o->cell];
	if (act->kind == HP3_ACT_SUSPEND)
		request_op(s, o->cell, suspend_op(act), (uint16_t)act->count);
	else if (act->kind == HP3_ACT_RESUME)
		request_op(s, o->cell, HP3_VERBS_RESUME, 0);
	else if (k->suspended || act->op != HP3_MOVE_DEAD)
		request_op(s, o->cell, k->suspended ? HP3_VERBS_MOVE : HP3_VERBS_PLACE, act->port);
	else
		request_op(s, o->cell, HP3_VERBS_MOVE_NOW, act->port);
	k->suspended = act->kind == HP3_ACT_SUSPEND;
}

/*
 * hp3d was descheduled after it had read the time `now`. At this time, more of the peer's hold
 * remained than remains now (moves/peer_hold.h). So the next sample handles the answer.
 */
static bool is_late(
	const struct hp3d_verbs_mode *b, const struct hp3d_verbs_cell_state *k, uint64_t now)
{
	return k->asked == HP3_VERBS_SUSPEND_HELD && b->clock() > now + k->detail * MS_NS;
}

/* The engine does not wait for a MOVE without SUSPEND, so it ignores that answer. */
void hp3d_verbs_check_report(struct hp3d_verbs_mode *b, unsigned shim, uint16_t cell, uint64_t now)
{
	struct hp3d_verbs_shim *s = &b->shims[shim];
	struct hp3d_verbs_cell_state *k = &s->known[cell];
	bool was_resumed;
	uint64_t did;

	if (k->asked == HP3_VERBS_NOTHING)
		return;
	did = __atomic_load_n(&s->cells[cell].did, __ATOMIC_ACQUIRE);
	if (hp3_verbs_unpack_seq(did) != k->seq ||
		hp3_verbs_unpack_generation(did) != k->generation)
		return;
	switch (hp3_verbs_unpack_code(did)) {
	case HP3_VERBS_DRAINED:
		if (!awaits_drain(k) || is_late(b, k, now))
			return;
		k->asked = HP3_VERBS_NOTHING;
		report_to_engine(b, k, HP3_ACTUATOR_DRAINED, now);
		return;
	case HP3_VERBS_MOVED:
		if (k->asked != HP3_VERBS_MOVE && k->asked != HP3_VERBS_MOVE_NOW &&
			k->asked != HP3_VERBS_PLACE)
			return;
		k->asked = HP3_VERBS_NOTHING;
		hp3d_verbs_set_counter(&b->c.moved, b->c.moved + 1);
		k->failed = 0;
		report_to_engine(b, k, HP3_ACTUATOR_MOVED, now);
		return;
	case HP3_VERBS_FAILED:
		was_resumed = k->asked == HP3_VERBS_RESUME; /* the engine awaits nothing */
		k->asked = HP3_VERBS_NOTHING;
		k->failed = hp3_verbs_unpack_detail(did);
		hp3d_verbs_set_counter(&b->c.failed, b->c.failed + 1);
		if (!was_resumed)
			report_to_engine(b, k, HP3_ACTUATOR_FAILED, now);
		return;
	default:
		k->asked = HP3_VERBS_NOTHING;
		return;
	}
}

/* Checks the latest commands; answers to older ones are found when their cells are sampled. */
void hp3d_verbs_check_reports(struct hp3d_verbs_mode *b, unsigned shim, uint64_t now)
{
	struct hp3d_verbs_shim *s = &b->shims[shim];

	for (uint32_t i = 0; i < s->n_asked && i < HP3D_VERBS_ASKED; i++)
		hp3d_verbs_check_report(b, shim, s->asked[i], now);
}
