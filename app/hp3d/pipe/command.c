/* SPDX-License-Identifier: BSD-3-Clause */
/* A pipe's input besides packets: time, commands, queue pairs that begin and end, the stop. */
#include "app/hp3d/pipe/agent.h"
#include "app/hp3d/pipe/internal.h"

/* The next part of hp3_missed(). */
static void forget_some(struct hp3d_pipe *p, uint64_t now)
{
	hp3d_event_fn *tell = p->on_event;

	p->on_event =
		NULL; /* no events: thousands of them would displace the events of decisions */
	p->missed = hp3_missed(p->engine, p->missed, now, &p->acts);
	hp3d_pipe_settle(p, now);
	p->on_event = tell;
}

/* Keys that pairs agree on: messages to send and events to report. */
static void keys_due(struct hp3d_pipe *p, uint64_t now)
{
	struct hp3d_event event;
	struct rte_mbuf *m;

	while ((m = hp3d_agent_due(p->agent, now)) != NULL)
		hp3d_pipe_emit_own(p, HP3_DIR_TX, m, HP3_NO_FLOW);
	while (hp3d_agent_key_event(p->agent, &event, now)) {
		event.rail = p->rail;
		event.worker = p->worker;
		if (p->on_event != NULL)
			p->on_event(p->event_ctx, &event);
	}
}

uint64_t hp3d_pipe_tick(struct hp3d_pipe *p, uint64_t now)
{
	uint64_t due;

	if (p->missed != HP3_NO_FLOW) {
		forget_some(p, now); /* meanwhile, no other work on flows */
		return now;
	}
	hp3d_pipe_make_room(p);
	if (p->agent != NULL) {
		hp3d_agent_tick(p->agent, now);
		if (!p->mute)
			keys_due(p, now);
	}
	due = hp3_tick(p->engine, now, &p->acts);
	hp3d_pipe_settle(p, now);
	return due;
}

/* Call it with the result of a call of the engine, which it returns. */
static int settle_after(struct hp3d_pipe *p, int ret, uint64_t now)
{
	hp3d_pipe_settle(p, now);
	return ret;
}

int hp3d_pipe_command(struct hp3d_pipe *p, const struct hp3_cmd *cmd, uint64_t now)
{
	return settle_after(p, hp3_command(p->engine, cmd, now, &p->acts), now);
}

int hp3d_pipe_advise(struct hp3d_pipe *p, const struct hp3_cmd *cmd, uint64_t now)
{
	return settle_after(p, hp3_advise(p->engine, cmd, now, &p->acts), now);
}

int hp3d_pipe_actuated(struct hp3d_pipe *p, uint32_t flow, struct hp3_actuated what, uint64_t now)
{
	return settle_after(p, hp3_actuator(p->engine, flow, what, now, &p->acts), now);
}

int hp3d_pipe_completions(
	struct hp3d_pipe *p, uint32_t flow, const struct hp3_completions *completions, uint64_t now)
{
	return settle_after(p, hp3_completions(p->engine, flow, completions, now, &p->acts), now);
}

void hp3d_pipe_copy(struct hp3d_pipe *p, const uint8_t *frame, uint32_t len, uint64_t now)
{
	struct hp3_pkt pkt = {.frame = frame, .len = len};
	struct hp3_verdict vd;

	hp3_parse(frame, len, &pkt.v);
	if (pkt.v.class != HP3_CLASS_CNP)
		return;
	pkt.v.vlan = 0; /* the tag is the mirror's, or the VLAN of the queue pair is not known */
	hp3_find_burst(p->engine, &pkt, 1, HP3_DIR_RX);
	hp3_rx(p->engine, &pkt, now, &vd, &p->acts);
	hp3d_pipe_settle(p, now);
}

void hp3d_pipe_place(struct hp3d_pipe *p, uint32_t flow, uint64_t now)
{
	hp3_qp_place(p->engine, flow, now, &p->acts);
	hp3d_pipe_settle(p, now);
}

/* The last events of a removed flow are handled after its removal. */
static void note_leaving(struct hp3d_pipe *p, const struct hp3_qp_event *event, uint64_t now)
{
	uint32_t flow = hp3_flow_find(p->engine, HP3_ENDS(event), event->rqpn);

	p->leaving.flow = HP3_NO_FLOW;
	if (flow != HP3_NO_FLOW)
		hp3_flow_info(p->engine, flow, now, &p->leaving);
}

int hp3d_pipe_qp(struct hp3d_pipe *p, const struct hp3_qp_event *event, uint64_t now)
{
	int ret;

	note_leaving(p, event, now);
	ret = settle_after(p, hp3_qp(p->engine, event, now, &p->acts), now);
	p->leaving.flow = HP3_NO_FLOW;
	return ret;
}

static void command_all(struct hp3d_pipe *p, enum hp3_cmd_kind kind, uint64_t now)
{
	struct hp3_flow_info info;

	for (uint32_t f = hp3_flow_next(p->engine, 0); f != HP3_NO_FLOW;
		f = hp3_flow_next(p->engine, f + 1)) {
		struct hp3_cmd cmd = {.kind = (uint8_t)kind, .cause = HP3_CAUSE_STOP, .flow = f};

		if (hp3_flow_info(p->engine, f, now, &info) != 0)
			continue;
		if (kind == HP3_CMD_HOME ? info.moved : info.state != HP3_RFR_STEADY)
			hp3d_pipe_command(p, &cmd, now);
	}
}

void hp3d_pipe_call_off(struct hp3d_pipe *p, uint64_t now)
{
	for (uint32_t i = hp3_engine_slots(p->engine); i-- > 0;) {
		struct hp3_cmd cmd = {.kind = HP3_CMD_CANCEL, .cause = HP3_CAUSE_STOP};

		if (hp3_slot_open(p->engine, i, &cmd.flow))
			hp3d_pipe_command(p, &cmd, now);
	}
}

void hp3d_pipe_home(struct hp3d_pipe *p, uint32_t from, uint32_t n, uint64_t now)
{
	for (uint32_t f = from; f < from + n; f++) {
		struct hp3_cmd cmd = {.kind = HP3_CMD_HOME, .cause = HP3_CAUSE_STOP, .flow = f};

		if (hp3_flow_is_moved(p->engine, f))
			hp3d_pipe_command(p, &cmd, now);
	}
}

void hp3d_pipe_missed(struct hp3d_pipe *p, uint64_t now)
{
	p->missed = 0;
	forget_some(p, now);
}

bool hp3d_pipe_is_resetting(const struct hp3d_pipe *p)
{
	return p->missed != HP3_NO_FLOW;
}

bool hp3d_pipe_is_anew(struct hp3d_pipe *p, uint64_t now)
{
	if (p->missed == HP3_NO_FLOW)
		forget_some(p, now); /* packets bypassed the pipe until now */
	return p->missed == HP3_NO_FLOW;
}

uint64_t hp3d_pipe_leave(struct hp3d_pipe *p, uint64_t now)
{
	uint64_t until = hp3_spray_stop(p->engine, now);

	if (until != 0)
		hp3d_pipe_tick(p, now);
	return until;
}

void hp3d_pipe_cancel_all(struct hp3d_pipe *p, uint64_t now)
{
	bool more;

	do {
		more = hp3_spray_abandon(p->engine, now, &p->acts);
		hp3d_pipe_settle(p, now);
	} while (more);
	command_all(p, HP3_CMD_CANCEL, now); /* including drains that end sprays */
	do {
		more = hp3_pacing_stop(p->engine, now, &p->acts);
		hp3d_pipe_settle(p, now);
	} while (more);
}

void hp3d_pipe_home_all(struct hp3d_pipe *p, uint64_t now)
{
	command_all(p, HP3_CMD_HOME, now);
}
