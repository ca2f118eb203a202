/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The responder: answers peer probes that arrive, and accepts reports. It drops invalid packets,
 * and counts them by reason. The RNIC never receives a probe or a report. Checks, in this order,
 * and why a packet fails:
 *
 *     ICRC           the packet is damaged
 *     version        the packet has another version
 *     tag            the packet is forged. Without a key, there is no tag, and reports are dropped
 *     time           the packet's time differs from this host's clock by more than clock_s. Without
 *                    a key, the time is not checked
 *     replay         the probe was answered before, or there is no room to record it (window.h).
 *                    heard.h checks reports
 *     rate           the rate limit of the source address, or of all sources, is reached. Only
 *                    valid packets consume tokens
 *
 * So invalid packets of unauthenticated sources cost only time: they consume no tokens, and take no
 * places in the window. The two hosts share no state, so each of them may restart at any time.
 *
 * The checks depend on whether the pair of sender and receiver has a key (tag.h). Without a key,
 * the responder accepts any sender. A source is known if the local RNIC has a connection with it.
 * Unknown sources may have invented addresses, and get no record. Unknown sources share
 * HP3_RESPONDER_UNKNOWN token buckets. Each bucket permits a sixteenth of the rate `unknown`, and
 * all buckets together permit the rate `unknown`. The secret seed decides which sources share a
 * bucket. So at most the rate `unknown` of the rate `all` is used for unknown sources. Unknown
 * sources also cannot use the last HP3_WINDOW_RESERVED free places of each set of the window.
 *
 * Invariants:
 *
 * - A probe gets at most one answer. The answer is never longer than the probe (answer.h).
 * - In t seconds, a source that is known or has a key gets at most burst + rate x t answers. The
 *   record of a source is reused only when the token bucket of the source is full again.
 *
 * After a restart of the responder, an attacker may replay probes that are at most clock_s old, and
 * they are answered once more. The host that receives such an answer ignores it, because no probe
 * of this host has the answer's id. A report is never accepted twice.
 *
 * The times of probes are compared with at->clock, which may differ between hosts by clock_s. Rates
 * use at->now. The caller owns the memory. One thread calls the functions of an instance.
 */
#include "probes/answer.h"
#include "probes/heard.h"
#include "probes/hello.h"
#include "probes/limit.h"
#include "probes/peer.h"
#include "probes/window.h"

#define HP3_CLOCK_S_MAX       3600u
#define HP3_RESPONDER_UNKNOWN 256u

struct hp3_responder_config {
	struct hp3_probe_keys keys;
	/*
	 * Random and secret. The seed decides which sources share a set of records or a token
	 * bucket, and which probes share a set of the window.
	 */
	uint64_t seed;
	/* replay protection of reports; owned by the caller, and outlives the responder */
	struct hp3_heard *heard;
	uint32_t clock_s; /* largest difference of clocks, up to HP3_CLOCK_S_MAX; 30 by default */
	uint8_t dscp; /* DSCP of answers; HP3_DSCP_KEPT: the probe's DSCP */
	struct hp3_limit source, all; /* limits of answers to one source, and to all together */
	struct hp3_limit unknown; /* limit of answers to all unknown sources together */
	uint32_t sources; /* number of records of sources: a power of two, at least 8 */
	/*
	 * Number of probes that the window can record: a power of two, at least 8. If the hosts'
	 * clocks agree, a window of 3 x clock_s x all.rate has room for almost all probes that
	 * arrive at the rate all.rate.
	 */
	uint32_t window;
};

struct hp3_responder;

/*
 * Bytes of memory that hp3_responder_create() needs, aligned to 64 bytes; 0: a value is out of
 * range.
 */
size_t hp3_responder_size(const struct hp3_responder_config *cfg);
/* NULL if `mem` is misaligned or too small, or a value is out of range. The caller owns *stats. */
struct hp3_responder *hp3_responder_create(void *mem, size_t size,
	const struct hp3_responder_config *cfg, struct hp3_probe_stats *stats);

/*
 * Changes keys, clock_s, dscp and limits. Table sizes and the seed stay as they are. -EINVAL: a
 * value is out of range.
 */
int hp3_responder_reconfigure(struct hp3_responder *r, const struct hp3_responder_config *cfg);

enum hp3_respond_fate {
	HP3_RESPOND_PASS, /* not a peer probe: forward it */
	HP3_RESPOND_ANSWER, /* consume it, and send the answer */
	HP3_RESPOND_REPORT, /* consume it: a report that no replies arrive at the sender */
	HP3_RESPOND_DROP, /* consume it */
};

/*
 * Processes a peer probe or a report. `known`: the local RNIC has a connection with the sender;
 * used only without a key.
 *
 * ANSWER: *answer has id, CE, key and DSCP. The caller adds its clock. REPORT: answer->id is the
 * report's id (peer.h). ANSWER, REPORT: if the pair has a key, the packet proves that the sender's
 * hp3d runs (rule 5).
 */
enum hp3_respond_fate hp3_responder_take(struct hp3_responder *r, const struct hp3_parsed *f,
	bool known, const struct hp3_times *at, struct hp3_answer *answer);

/*
 * Checks an ASK (hello.h) that hp3_hello_read() has read: a question for the UD QPNs of this hp3d.
 * *a: the addresses of the datagram. True: answer the question. The function checks time, replay
 * and rate as for probes, and with the same limits. The tags of such questions never use keys on
 * which pairs have agreed.
 */
bool hp3_responder_hello(struct hp3_responder *r, const struct hp3_addressing *a,
	const struct hp3_hello *ask, bool known, const struct hp3_times *at);
