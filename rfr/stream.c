/* SPDX-License-Identifier: BSD-3-Clause */
#include "rfr/stream.h"
#include "roce/opcode.h"

#define WIN_MAX (1u << 22) /* a quarter of the PSN space: a limit for PSN comparison */

void hp3_stream_reset(struct hp3_stream *s, uint32_t psn)
{
	*s = (struct hp3_stream){
		.una = psn,
		.hi = hp3_psn_add(psn, HP3_PSN_MASK),
		.nxt = psn,
	};
}

/*
 * Without replies (an unpaired flow), una would fall behind by half the PSN space, and "before"
 * would become "after". una may also be ahead: a READ of unknown span was answered beyond the span
 * that the next packet shows. In both cases, una becomes the oldest PSN that is surely in flight.
 */
void hp3_stream_widen(struct hp3_stream *s)
{
	uint32_t behind = (s->hi - s->una) & HP3_PSN_MASK;

	if (behind > HP3_PSN_MASK / 2)
		s->una = s->hi;
	else if (behind > WIN_MAX)
		s->una = (s->hi - WIN_MAX) & HP3_PSN_MASK;
	s->win = (s->nxt - s->una) & HP3_PSN_MASK;
}

void hp3_learn_pmtu(const struct hp3_view *v, uint8_t *pmtu_log2)
{
	uint32_t len = v->payload_len;

	if ((v->flags & (HP3_VF_LAST | HP3_VF_ATOMIC | HP3_VF_UNKNOWN)) != 0 ||
		v->opcode == HP3_OP_RC_READ_REQUEST || v->opcode == HP3_OP_RC_ACK)
		return;
	if (len < (1u << HP3_PMTU_LOG2_MIN) || len > (1u << HP3_PMTU_LOG2_MAX) ||
		(len & (len - 1)) != 0)
		return;
	*pmtu_log2 = (uint8_t)__builtin_ctz(len);
}

/* The open READ has `span` PSNs: more PSNs were in flight than were counted. */
static void close_read(struct hp3_stream *s, uint32_t span)
{
	s->win += span - hp3_read_span(s->open_len, HP3_PMTU_LOG2_MAX);
	s->win = s->win < WIN_MAX ? s->win : WIN_MAX;
	s->nxt = hp3_psn_add(s->hi, span);
	s->open_len = 0;
}

/*
 * How many PSNs before una a retransmission may be, at most; for an open READ, with the longest
 * span.
 */
static int32_t back_of(const struct hp3_stream *s)
{
	uint32_t win = s->win + ((hp3_stream_end(s) - s->nxt) & HP3_PSN_MASK);

	return win < WIN_MAX / 2 ? (int32_t)(2 * win) : (int32_t)WIN_MAX;
}

/* For some PMTU, does `psn` follow the open READ? Learns the PMTU if only one fits. */
static bool follows_open_read(const struct hp3_stream *s, uint32_t psn, uint8_t *pmtu_log2)
{
	uint32_t dist = (psn - s->hi) & HP3_PSN_MASK, fits = 0, which = 0;

	for (uint32_t k = HP3_PMTU_LOG2_MIN; k <= HP3_PMTU_LOG2_MAX; k++) {
		if (hp3_read_span(s->open_len, k) == dist) {
			fits++;
			which = k;
		}
	}
	if (fits == 1)
		*pmtu_log2 = (uint8_t)which;
	return fits > 0;
}

enum hp3_tx_kind hp3_stream_tx_slow(
	struct hp3_stream *s, const struct hp3_view *v, uint8_t *pmtu_log2)
{
	uint32_t psn = v->psn;

	if (s->open_len != 0 && *pmtu_log2 != 0)
		close_read(s, hp3_read_span(s->open_len, *pmtu_log2));
	if (s->open_len != 0 && follows_open_read(s, psn, pmtu_log2))
		close_read(s, (psn - s->hi) & HP3_PSN_MASK);
	if (s->open_len == 0 && psn == s->nxt) {
		hp3_stream_emit(s, v, *pmtu_log2);
		return HP3_TX_NEW;
	}
	/* rule 16: a retransmission is in [una - W, end), W = twice the largest in-flight */
	if (hp3_psn_diff(psn, hp3_stream_end(s)) < 0 && hp3_psn_diff(psn, s->una) >= -back_of(s))
		return HP3_TX_RETRANSMIT;
	return HP3_TX_EPOCH;
}
