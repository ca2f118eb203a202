/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>
#include "off_world.h"
#include "roce/opcode.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))

static const uint16_t ports[] = {50001, 50002, 50003};

static struct hp3_pkt packet(uint8_t *frame, bool out, uint8_t opcode, uint32_t psn)
{
	const struct hp3_opcode_info *op = &hp3_opcodes[opcode];

	memcpy(frame + 26, out ? "\12\11\0\1\12\11\0\2" : "\12\11\0\2\12\11\0\1", 8);
	return (struct hp3_pkt){.frame = frame,
		.trusted = true,
		.len = 58 + (op->class == HP3_CLASS_RC_REQUEST ? 1024 : 4),
		.v = {.class = op->class,
			.opcode = opcode,
			.flags = op->flags | HP3_VF_ACKREQ,
			.l3_off = 14,
			.udp_off = 34,
			.icrc_off = 54,
			.sport = out ? 50000 : 51000,
			.dest_qpn = out ? 0x2000 : 0x1000,
			.psn = psn,
			.syndrome = 0x1f,
			.payload_len = op->class == HP3_CLASS_RC_REQUEST ? 1024 : 0}};
}

static int see(struct off_world *w, bool out, uint8_t opcode, uint32_t psn)
{
	uint8_t frame[1200] = {0};
	struct hp3_pkt p = packet(frame, out, opcode, psn);
	struct hp3_verdict v;

	hp3_find_burst(w->e, &p, 1, out ? HP3_DIR_TX : HP3_DIR_RX);
	if (out)
		hp3_tx(w->e, &p, w->now, &v, &w->acts);
	else
		hp3_rx(w->e, &p, w->now, &v, &w->acts);
	return 0;
}

void off_request(struct off_world *w, uint32_t psn)
{
	see(w, true, HP3_OP_RC_WRITE_ONLY, psn);
}

void off_ack(struct off_world *w, uint32_t psn)
{
	see(w, false, HP3_OP_RC_ACK, psn);
}

static int burst(struct off_world *w, enum hp3_dir dir)
{
	struct hp3_pkt p = {.frame = NULL};
	struct hp3_verdict v;

	hp3_see_burst(w->e, &p, 1, dir);
	if (hp3_seen_kinds(w->e) >> 3 != 0)
		return -EINVAL;
	return (int)hp3_burst(w->e, &p, 1, dir, w->now, &v, &w->acts) - 1;
}

static int size(struct off_world *w)
{
	return hp3_engine_size(&w->cfg) == w->size ? 0 : -EINVAL;
}

static int slots(struct off_world *w)
{
	uint32_t flow;

	for (uint32_t i = hp3_engine_slots(w->e); i-- > 0;)
		hp3_slot_open(w->e, i, &flow);
	return 0;
}

static int packets(struct off_world *w)
{
	see(w, true, HP3_OP_RC_WRITE_ONLY, 110);
	see(w, true, HP3_OP_RC_READ_REQUEST, 111);
	see(w, false, HP3_OP_RC_ACK, 110);
	see(w, false, HP3_OP_RC_READ_RESP_ONLY, 111);
	see(w, false, HP3_OP_RC_WRITE_ONLY, 7);
	see(w, true, HP3_OP_RC_ACK, 7);
	see(w, false, HP3_OP_CNP, 0);
	return 0;
}

static int missed(struct off_world *w)
{
	for (uint32_t from = 0; from != HP3_NO_FLOW; w->acts.n = 0)
		from = hp3_missed(w->e, from, w->now, &w->acts);
	return 0;
}

static int set_up(struct off_world *w)
{
	struct hp3_qp_event event = {.kind = HP3_QP_UP,
		.source = HP3_QP_SOURCE_KERNEL,
		.lqpn = 0x1000,
		.rqpn = 0x2000,
		.psn = 100,
		.psn_known = true};

	memcpy(event.local, w->ends.local, 4);
	memcpy(event.remote, w->ends.remote, 4);
	return hp3_qp(w->e, &event, w->now, &w->acts);
}

static int command(struct off_world *w)
{
	struct hp3_cmd cmd = {.kind = HP3_CMD_MOVE, .flow = w->flow, .port = 50009};

	return hp3_command(w->e, &cmd, w->now, &w->acts);
}

static int commands(struct off_world *w)
{
	for (int kind = HP3_CMD_MOVE; kind <= HP3_CMD_CANCEL; kind++) {
		struct hp3_cmd cmd = {.kind = (uint8_t)kind, .flow = w->flow};

		hp3_command(w->e, &cmd, w->now, &w->acts);
		w->acts.n = 0;
	}
	return command(w);
}

static int advise(struct off_world *w)
{
	struct hp3_cmd cmd = {.flow = w->flow, .port = 50010};

	return hp3_advise(w->e, &cmd, w->now, &w->acts);
}

static int agree(struct off_world *w)
{
	for (int kind = 0; kind < 2 * HP3_AGREE_KIND_MAX; kind++) {
		struct hp3_agree a = {.kind = (uint8_t)(kind / 2),
			.reads = kind % 2,
			.pmtu_log2 = 10,
			.evs = 8,
			.port = 50048,
			.in_use = 50000,
			.responder = 0x2000,
			.requester = 0x1000,
			.number = 7,
			.turn = (uint32_t)kind + 1,
			.keepalive_us = 1000,
			.next = HP3_NO_PSN,
			.slow = 3};

		w->acts.n = 0;
		hp3_agree_received(w->e, &w->ends, &a, w->now, &w->acts);
	}
	return 0;
}

static int spray_stop(struct off_world *w)
{
	hp3_rx_blocked(w->e, true, w->now);
	hp3_rx_blocked(w->e, false, w->now);
	hp3_spray_stop(w->e, w->now);
	while (hp3_spray_abandon(w->e, w->now, &w->acts))
		w->acts.n = 0;
	hp3_spray_go_on(w->e);
	return 0;
}

static int pacing_stop(struct off_world *w)
{
	while (hp3_pacing_stop(w->e, w->now, &w->acts))
		w->acts.n = 0;
	return 0;
}

static int actuator(struct off_world *w)
{
	for (uint8_t report = HP3_ACTUATOR_DRAINED; report < HP3_ACTUATOR_FAILED; report++)
		hp3_actuator(w->e, w->flow, (struct hp3_actuated){report, 0}, w->now, &w->acts);
	return hp3_actuator(
		w->e, w->flow, (struct hp3_actuated){HP3_ACTUATOR_FAILED, EPERM}, w->now, &w->acts);
}

static int completions(struct off_world *w)
{
	struct hp3_completions completions = {.home = 50000,
		.port = 50000,
		.posted = 4096,
		.done = 4096,
		.posted_wrs = 2,
		.done_wrs = 1,
		.took_ns = 20000,
		.least_ns = 10000};

	return hp3_completions(w->e, w->flow, &completions, w->now, &w->acts);
}

static int info(struct off_world *w)
{
	struct hp3_flow_info info;

	return hp3_flow_info(w->e, w->flow, w->now, &info);
}

static int trace_ask(struct off_world *w)
{
	return hp3_trace_ask(w->e, w->flow, 2, ports, N(ports), w->now);
}

static int trace_answers(struct off_world *w)
{
	struct hp3_trace_answer answer[HP3_TRACE_WANTED];
	uint32_t missing;

	return -(int)hp3_trace_answers(w->e, answer, &missing) * 0;
}

static int path_of_port(struct off_world *w)
{
	struct hp3_hop hop;
	uint32_t id;

	return hp3_path_of_port(w->e, w->flow, 50000, &id, &hop) * 0;
}

static int ports_apart(struct off_world *w)
{
	struct hp3_port_info port[HP3_PORTS_MAX];
	uint32_t n, pair = hp3_pair_of(w->e, w->flow);

	return hp3_ports_apart(w->e, pair, HP3_PORTS_MAX, false, w->now, port, &n);
}

static int compare_ask(struct off_world *w)
{
	return hp3_compare_ask(w->e, hp3_pair_of(w->e, w->flow), ports, N(ports), w->now);
}

static int compare_result(struct off_world *w)
{
	struct hp3_compare result;
	uint64_t age;

	return hp3_compare_result(w->e, hp3_pair_of(w->e, w->flow), w->now, &result, &age);
}

static int pair_info(struct off_world *w)
{
	struct hp3_pair_info info;

	if (!hp3_pair_is_used(w->e, hp3_pair_find(w->e, &w->ends)))
		return -ENOENT;
	hp3_pair_info_without_flow(w->e, &w->ends, w->now, &info);
	return hp3_pair_info(w->e, hp3_pair_of(w->e, w->flow), w->now, &info);
}

static int pair_paths(struct off_world *w)
{
	struct hp3_path_info info[8];

	return (int)hp3_pair_paths(w->e, hp3_pair_of(w->e, w->flow), w->now, info, N(info)) * 0;
}

static int names(struct off_world *w)
{
	bool ok = hp3_pairing_name(HP3_PAIRING_CM) && hp3_bar_name(HP3_BAR_QPN) &&
		  hp3_event_name(HP3_EVENT_SWITCH) && hp3_cause_name(HP3_CAUSE_CNP) &&
		  hp3_payoff_name(HP3_PAYOFF_SAME) && hp3_evidence_name(HP3_EVIDENCE_TRACE) &&
		  hp3_path_identity_name(HP3_IDENTITY_NONE) &&
		  hp3_trace_state_name(HP3_TRACE_REST) && hp3_peer_name(HP3_PEER_UNKNOWN) &&
		  hp3_presumed_name(HP3_PRESUMED_OFF) && hp3_isa_name(0) && hp3_isa_in_use(w->e);

	for (int err = 0; err < 200; err++)
		ok = ok && hp3_command_error(-err);
	return ok ? 0 : -EINVAL;
}

static int filters(struct off_world *w)
{
	hp3_filter_has_peer(&w->cfg.filter, false, w->ends.remote);
	hp3_filter_has_dscp(&w->cfg.filter, 0);
	hp3_filter_has_qpn(&w->cfg.filter, 0x1000);
	return 0;
}

/* --- what a feature that is off is answered by --- */

static int nothing(const struct hp3_engine_config *c)
{
	return 0;
}

static int moves(const struct hp3_engine_config *c)
{
	if (!c->moves_allowed)
		return -EPERM;
	return hp3_filter_is_set(&c->filter) ? -EACCES : 0;
}

static int asked_moves(const struct hp3_engine_config *c)
{
	if (moves(c) != 0)
		return moves(c);
	return !c->probing || c->probes == HP3_PROBES_STANDARD ? -EOPNOTSUPP : 0;
}

static int verbs(const struct hp3_engine_config *c)
{
	return c->verbs ? 0 : -EINVAL;
}

static int reports(const struct hp3_engine_config *c)
{
	return !c->probing || !c->moves_allowed || hp3_filter_is_set(&c->filter) ? -EPERM : 0;
}

static int traces(const struct hp3_engine_config *c)
{
	return c->probing && c->trace ? 0 : -EPERM;
}

static int compares(const struct hp3_engine_config *c)
{
	return c->probing && (c->moves_allowed || (c->observe && !c->silent)) ? 0 : -EPERM;
}

static int compared(const struct hp3_engine_config *c)
{
	return c->probing ? 0 : -ENODATA;
}

static int probing(const struct hp3_engine_config *c)
{
	return c->probing ? 0 : -ENOENT;
}

static int inline_only(const struct hp3_engine_config *c)
{
	return c->verbs ? -EPERM : 0;
}

#define VOID(name, ...)                                                                            \
	static int call_##name(struct off_world *w)                                                \
	{                                                                                          \
		__VA_ARGS__;                                                                       \
		return 0;                                                                          \
	}
#define INT(name, ...)                                                                             \
	static int call_##name(struct off_world *w)                                                \
	{                                                                                          \
		return __VA_ARGS__;                                                                \
	}

VOID(reconfigure, hp3_engine_reconfigure(w->e, &w->cfg))
VOID(hold_room, hp3_hold_room(w->e, 3))
VOID(held_next, hp3_held_next(w->e, 1))
VOID(isa, hp3_isa_use(w->e, 0))
INT(restore, hp3_flow_restore(w->e, &w->ends, 0x2009, 50011, 50012, w->now))
VOID(probe_reply, hp3_probe_reply(w->e, 1 << 3, true, w->now, &w->acts))
VOID(probe_timed, hp3_probe_timed(w->e, UINT32_MAX, false, 9, w->now, &w->acts))
VOID(hop_reported, hp3_hop_reported(w->e, 1, HP3_TRACE_HOP, false, w->ends.remote, w->now))
VOID(peer_seen, hp3_peer_seen(w->e, &w->ends, w->now))
INT(peer_report, hp3_peer_report(w->e, &w->ends, 0x2000, w->now, &w->acts))
INT(qp_ports, hp3_qp_ports(w->e, &w->ends, NULL, 0))
VOID(qp_place, hp3_qp_place(w->e, w->flow, w->now, &w->acts))
VOID(due, hp3_engine_due(w->e))
VOID(flows, hp3_flow_next(w->e, w->flow); hp3_flow_rqpn(w->e, w->flow))
VOID(moved, hp3_flow_is_moved(w->e, w->flow); hp3_flow_find(w->e, &w->ends, 0x2000))
VOID(counters, hp3_engine_stats(w->e); hp3_engine_flows(w->e); hp3_engine_pairs(w->e);
	hp3_engine_moves(w->e); hp3_engine_moved(w->e); hp3_engine_held(w->e, HP3_DIR_TX);
	hp3_engine_held(w->e, HP3_DIR_RX); hp3_engine_sprayed(w->e); hp3_engine_unpaired(w->e);
	hp3_engine_unpaired_by(w->e, HP3_UNPAIRED_NEAR))
INT(out, burst(w, HP3_DIR_TX))
INT(in, burst(w, HP3_DIR_RX))

const struct off_entry off_entries[] = {
	{"hp3_engine_size hp3_engine_create", size, nothing},
	{"hp3_policy_defaults hp3_policy_settled hp3_policy_mode", size, nothing},
	{"hp3_engine_reconfigure hp3_policy_keep", call_reconfigure, nothing},
	{"hp3_engine_slots hp3_slot_open", slots, nothing},
	{"hp3_hold_room", call_hold_room, nothing},
	{"hp3_held_next", call_held_next, nothing},
	{"hp3_find_burst hp3_tx hp3_rx", packets, nothing},
	{"hp3_see_burst hp3_seen_kinds hp3_burst", call_out, nothing},
	{"hp3_see_burst hp3_seen_kinds hp3_burst", call_in, nothing},
	{"hp3_isa_use", call_isa, nothing},
	{"hp3_isa_name hp3_isa_in_use hp3_command_error hp3_pairing_name hp3_bar_name "
	 "hp3_event_name hp3_cause_name hp3_payoff_name hp3_evidence_name hp3_path_identity_name "
	 "hp3_trace_state_name hp3_peer_name hp3_presumed_name",
		names, nothing},
	{"hp3_filter_has_peer hp3_filter_has_dscp hp3_filter_has_qpn", filters, nothing},
	{"hp3_flow_info", info, nothing},
	{"hp3_pair_of hp3_pair_find hp3_pair_is_used hp3_pair_info hp3_pair_info_without_flow",
		pair_info, nothing},
	{"hp3_pair_paths", pair_paths, nothing},
	{"hp3_path_of_port", path_of_port, nothing},
	{"hp3_trace_ask", trace_ask, traces},
	{"hp3_trace_answers", trace_answers, nothing},
	{"hp3_ports_apart", ports_apart, compared},
	{"hp3_compare_ask", compare_ask, compares},
	{"hp3_compare_result", compare_result, compared},
	{"hp3_probe_reply", call_probe_reply, nothing},
	{"hp3_probe_timed", call_probe_timed, nothing},
	{"hp3_hop_reported", call_hop_reported, nothing},
	{"hp3_peer_seen", call_peer_seen, nothing},
	{"hp3_peer_report", call_peer_report, reports},
	{"hp3_qp_ports", call_qp_ports, probing},
	{"hp3_qp_place", call_qp_place, nothing},
	{"hp3_actuator", actuator, verbs},
	{"hp3_completions", completions, verbs},
	{"hp3_advise", advise, asked_moves},
	{"hp3_command", commands, moves},
	{"hp3_agree_received", agree, nothing},
	{"hp3_rx_blocked hp3_spray_stop hp3_spray_go_on hp3_spray_abandon", spray_stop, nothing},
	{"hp3_pacing_stop", pacing_stop, nothing},
	{"hp3_flow_restore", call_restore, inline_only},
	{"hp3_engine_due", call_due, nothing},
	{"hp3_flow_next hp3_flow_rqpn", call_flows, nothing},
	{"hp3_flow_is_moved hp3_flow_find", call_moved, nothing},
	{"hp3_engine_stats hp3_engine_flows hp3_engine_pairs hp3_engine_moves hp3_engine_moved "
	 "hp3_engine_held hp3_engine_sprayed hp3_engine_unpaired hp3_engine_unpaired_by",
		call_counters, nothing},
	{"hp3_qp", set_up, nothing},
	{"hp3_missed", missed, nothing},
};
const unsigned off_entry_count = N(off_entries);
