/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * In-flight accounting of one requester stream by PSN: which packets the local RNIC has sent, and
 * which of them replies prove to have arrived. Every decision that a path is drained depends on
 * this accounting.
 *
 * Invariants: una <= nxt (hp3_stream_end() while open_len is not 0); hi < nxt; a packet is NEW
 * (first transmission) only if its PSN follows directly behind the PSNs sent before. A READ request
 * takes ceil(length / PMTU) PSNs (IBTA 9.7.3.1.2). Packets do not carry the PMTU. Until a FIRST or
 * MIDDLE packet has shown the PMTU, the next PSN after a READ is one of five candidates, one per
 * PMTU.
 *
 * A reply with PSN r proves that all request packets up to the packet that contains r, inclusive,
 * have arrived (IBTA 9.7.5.1.2). ACKs and READ/ATOMIC responses are such replies. A NAK or RNR NAK
 * proves that all packets before r have arrived.
 *
 * PSNs before the first packet seen count as in flight, until a reply to that packet or a later
 * packet arrives (rule 11).
 */
#include <stdbool.h>
#include "base/likely.h"
#include "roce/parse.h"

#define HP3_PMTU_LOG2_MIN 8u /* 256 bytes */
#define HP3_PMTU_LOG2_MAX 12u /* 4096 bytes */

struct hp3_stream {
	uint32_t una; /* oldest PSN not known to have arrived */
	uint32_t hi; /* BTH PSN of the newest first transmission */
	uint32_t nxt; /* lowest PSN that the next first transmission can have */
	uint32_t win; /* largest number of PSNs in flight so far */
	uint32_t open_len; /* DMA length of the newest READ while its span is unknown, else 0 */
};

enum hp3_tx_kind {
	HP3_TX_NEW, /* first transmission, with the next PSN */
	/* sent before; or a READ that begins in the middle of an earlier READ */
	HP3_TX_RETRANSMIT,
	HP3_TX_EPOCH, /* neither: the queue pair was reset, or packets were lost before hp3d */
};

enum hp3_reply_kind {
	HP3_REPLY_PROGRESS, /* una has advanced */
	HP3_REPLY_STALE, /* una is unchanged */
	HP3_REPLY_BEYOND, /* acknowledges a PSN that was never sent: contradicts the pairing */
};

static inline uint32_t hp3_read_span(uint32_t len, uint32_t pmtu_log2)
{
	return len == 0 ? 1 : (uint32_t)(((uint64_t)len + (1u << pmtu_log2) - 1) >> pmtu_log2);
}

/* Number of PSNs of a request. READ with an unknown PMTU (0): the highest possible number. */
static inline uint32_t hp3_request_span(const struct hp3_view *v, uint8_t pmtu_log2)
{
	if (!(v->flags & HP3_VF_READ))
		return 1;
	return hp3_read_span(v->dma_len, pmtu_log2 != 0 ? pmtu_log2 : HP3_PMTU_LOG2_MIN);
}

/* Exclusive upper bound of the PSNs sent so far. */
static inline uint32_t hp3_stream_end(const struct hp3_stream *s)
{
	return s->open_len == 0 ? s->nxt
				: hp3_psn_add(s->hi, hp3_read_span(s->open_len, HP3_PMTU_LOG2_MIN));
}

/* Have all request packets sent so far arrived? */
static inline bool hp3_stream_idle(const struct hp3_stream *s)
{
	return hp3_psn_diff(s->una, s->hi) > 0;
}

/* Starts again at a packet with this PSN. PSNs before it count as in flight. */
void hp3_stream_reset(struct hp3_stream *s, uint32_t psn);

/* The slow part of hp3_stream_tx(), for all packets whose PSN is not simply the next one. */
enum hp3_tx_kind hp3_stream_tx_slow(
	struct hp3_stream *s, const struct hp3_view *v, uint8_t *pmtu_log2);

/*
 * FIRST and MIDDLE packets of WRITE, SEND and READ responses are exactly one PMTU long (IBTA
 * 9.7.2.2). Other packets do not show the PMTU.
 */
void hp3_learn_pmtu(const struct hp3_view *v, uint8_t *pmtu_log2);

/*
 * More PSNs are in flight than ever before: updates `win`, and keeps `una` comparable with `nxt`.
 */
void hp3_stream_widen(struct hp3_stream *s);

/* The newest packet has this PSN, and takes `span` PSNs. */
static inline void hp3_stream_next(struct hp3_stream *s, uint32_t psn, uint32_t span)
{
	s->hi = psn;
	s->nxt = hp3_psn_add(psn, span);
}

/* Accounts for a NEW packet. */
static inline void hp3_stream_emit(
	struct hp3_stream *s, const struct hp3_view *v, uint8_t pmtu_log2)
{
	uint32_t span = 1, inflight;

	s->open_len = 0;
	if (v->flags & HP3_VF_READ) {
		if (pmtu_log2 == 0 && v->dma_len > (1u << HP3_PMTU_LOG2_MIN)) {
			s->open_len = v->dma_len;
			span = hp3_read_span(v->dma_len, HP3_PMTU_LOG2_MAX);
		} else {
			span = hp3_read_span(
				v->dma_len, pmtu_log2 == 0 ? HP3_PMTU_LOG2_MIN : pmtu_log2);
		}
	}
	hp3_stream_next(s, v->psn, span);
	inflight = (s->nxt - s->una) & HP3_PSN_MASK;
	if (inflight > s->win)
		hp3_stream_widen(s);
}

/*
 * A request packet leaves the RNIC. Accounts for it if it is NEW. Any packet may determine the span
 * of the newest READ. Apart from that, packets that are not NEW do not change *s. Also learns
 * *pmtu_log2 (0: unknown).
 */
static inline enum hp3_tx_kind hp3_stream_tx(
	struct hp3_stream *s, const struct hp3_view *v, uint8_t *pmtu_log2)
{
	if (HP3_UNLIKELY(*pmtu_log2 == 0))
		hp3_learn_pmtu(v, pmtu_log2);
	if (HP3_LIKELY(v->psn == s->nxt && s->open_len == 0)) {
		hp3_stream_emit(s, v, *pmtu_log2);
		return HP3_TX_NEW;
	}
	return hp3_stream_tx_slow(s, v, pmtu_log2);
}

/* A reply (class RC_REPLY) arrived. */
static inline enum hp3_reply_kind hp3_stream_reply(struct hp3_stream *s, const struct hp3_view *v)
{
	uint32_t una = v->psn;

	if (!(v->flags & HP3_VF_AETH) || HP3_SYN_KIND(v->syndrome) == HP3_SYN_ACK)
		una = hp3_psn_add(una, 1);
	if (hp3_psn_diff(una, s->una) <= 0)
		return HP3_REPLY_STALE;
	if (hp3_psn_diff(una, hp3_stream_end(s)) > 0)
		return HP3_REPLY_BEYOND;
	s->una = una;
	return HP3_REPLY_PROGRESS;
}
