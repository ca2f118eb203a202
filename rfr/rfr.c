/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/names.h"
#include "rfr/rfr.h"

static const struct hp3_rfr_step rfr_steps[HP3_RFR_STATE_MAX][HP3_RFR_IN_MAX] = {
#define X(state, input, next, action)                                                              \
	[HP3_RFR_##state][HP3_RFR_IN_##input] = {HP3_RFR_##next, HP3_RFR_DO_##action},
	HP3_RFR_TRANSITIONS(X)
#undef X
};

struct hp3_rfr_step hp3_rfr_step(enum hp3_rfr_state state, enum hp3_rfr_input input)
{
	struct hp3_rfr_step step = rfr_steps[state][input];

	/* pairs that are not in the table are {STEADY, NONE} here: keep the state */
	if (step.action == HP3_RFR_DO_NONE && step.next == HP3_RFR_STEADY)
		step.next = (uint8_t)state;
	return step;
}

/*
 * In CLOSING, no packets are held. So only a reply to a PSN that was never sent is a contradiction,
 * and "drained" means that no packet is in flight. In DRAINING and PROBING, no packet behind the
 * closing one has left, so a reply to one of these PSNs is a contradiction, too. RESUMING evaluates
 * una itself.
 */
enum hp3_rfr_input hp3_rfr_reply(enum hp3_rfr_state state, struct hp3_stream *s,
	const struct hp3_closing *c, const struct hp3_view *v)
{
	enum hp3_reply_kind kind;

	if ((state == HP3_RFR_DRAINING || state == HP3_RFR_PROBING) &&
		hp3_psn_diff(v->psn, c->end) >= 0)
		return HP3_RFR_IN_CONTRADICTION;
	kind = hp3_stream_reply(s, v);
	if (kind == HP3_REPLY_BEYOND)
		return HP3_RFR_IN_CONTRADICTION;
	if (v->flags & HP3_VF_AETH) {
		switch (HP3_SYN_KIND(v->syndrome)) {
		case HP3_SYN_ACK:
			break;
		case HP3_SYN_RNR:
			return HP3_RFR_IN_RNR;
		case HP3_SYN_NAK:
			return HP3_SYN_VALUE(v->syndrome) == HP3_NAK_PSN_SEQUENCE
				       ? HP3_RFR_IN_NAK
				       : HP3_RFR_IN_FATAL;
		default:
			return HP3_RFR_IN_NONE;
		}
	}
	if (kind != HP3_REPLY_PROGRESS)
		return HP3_RFR_IN_NONE;
	if (state == HP3_RFR_CLOSING)
		return hp3_stream_idle(s) ? HP3_RFR_IN_DRAINED : HP3_RFR_IN_NONE;
	return hp3_psn_diff(v->psn, c->psn) >= 0 ? HP3_RFR_IN_DRAINED : HP3_RFR_IN_NONE;
}

const char *hp3_rfr_state_name(enum hp3_rfr_state s)
{
	static const char *const names[] = {HP3_RFR_STATES(HP3_NAME_TEXT)};

	return HP3_NAME(names, s);
}

const char *hp3_rfr_input_name(enum hp3_rfr_input i)
{
	static const char *const names[] = {HP3_RFR_INPUTS(HP3_NAME_TEXT)};

	return HP3_NAME(names, i);
}
