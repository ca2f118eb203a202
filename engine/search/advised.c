/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Advice: a port named by hp3-fleet, from the load of links and their flows. The port is a
 * candidate, not a command. Probes may not show the advantage of the advised port, so it need not
 * be faster. But its answer has to be unmarked, and its RTT hardly longer than that of the port in
 * use, which is probed at the same time. One round decides without a re-probe: the adviser has
 * chosen one of several flows, so the flows of a link do not move together (rule 29). Advice is
 * also probed when the flow's own searches have found nothing, because advice helps most then.
 */
#include <errno.h>
#include "engine/search/search.h"

/* Sends the round. 0, or an error. */
static int begin_advised_round(struct hp3_turn *t, struct hp3_move *m, uint16_t port)
{
	struct hp3_round_ask what = hp3_round_ask(t->e, m, HP3_PROBE_PEER);

	what.candidates = &port;
	what.n = 1;
	what.patient = what.no_worse = what.as_data = true;
	if (!hp3_round_begin(t, m, &what)) {
		hp3_search_input(t, m, HP3_SEARCH_IN_STAY);
		return -EDQUOT;
	}
	hp3_round_go(t, m);
	return 0;
}

/* The result of an earlier move is not known yet. */
static bool is_on_trial(const struct hp3_engine *e, const struct hp3_flow *f)
{
	return f->slot != HP3_NO_SLOT && (e->moves[f->slot].use & HP3_USE_VERIFY);
}

static int refusal_of_advice(struct hp3_turn *t, const struct hp3_flow *f, uint16_t port)
{
	int ret = hp3_move_refusal(t->e, f, port, t->now);

	if (ret != 0)
		return ret;
	if (!hp3_peer_is_asked(t, f->pair))
		return -EOPNOTSUPP;
	if (hp3_path_has_failed(t->e, f, port, t->now) || hp3_path_is_lossy(t->e, f, port, t->now))
		return -EHOSTUNREACH;
	return hp3_may_leave(t->e, f, t->now) ? 0 : -EDQUOT;
}

/* Begins the search. 0, or an error. */
static int begin_advised_search(struct hp3_turn *t, const struct hp3_cmd *cmd)
{
	struct hp3_move *m = hp3_search_prepare(t, cmd->flow, HP3_SEARCH_ADVISED);

	if (m == NULL)
		return -ENOSPC;
	m->search.advised.tag = cmd->tag;
	return begin_advised_round(t, m, cmd->port);
}

int hp3_advise(struct hp3_engine *e, const struct hp3_cmd *cmd, uint64_t now, struct hp3_acts *acts)
{
	struct hp3_turn t = {e, now, acts};
	int ret;

	if (cmd->flow >= e->cfg.max_flows || !(e->flows[cmd->flow].flags & HP3_FF_USED))
		return -ENOENT;
	e->stats.moves_requested++;
	ret = refusal_of_advice(&t, &e->flows[cmd->flow], cmd->port);
	if (ret == 0 && is_on_trial(e, &e->flows[cmd->flow]))
		ret = -EDQUOT;
	if (ret == 0 && hp3_is_put_off(e, &e->flows[cmd->flow])) /* ends its own search */
		hp3_slot_drop(e, cmd->flow, HP3_USE_REPROBE);
	if (ret == 0)
		ret = begin_advised_search(&t, cmd);
	if (ret != 0)
		e->stats.moves_refused++;
	return ret;
}

void hp3_advised_step(struct hp3_turn *t, struct hp3_move *m)
{
	bool won;

	if (m->search.round.outcome == HP3_ROUND_PENDING) {
		hp3_round_await(t, m);
		return;
	}
	won = hp3_round_won(t, m);
	hp3_search_input(t, m, won ? HP3_SEARCH_IN_GO : HP3_SEARCH_IN_STAY);
}
