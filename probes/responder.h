/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The responder: answers a peer probe that arrives, accepts a report, or drops either with a named,
 * counted reason. The RNIC never sees the packet. Checks, in this order:
 *
 *     ICRC           the packet is damaged
 *     version        another version
 *     tag            the packet is forged. Without a key there is no tag, and reports are dropped
 *     time           differs from this host's clock by more than clock_s; only with a key
 *     replay         the probe was answered before, or there is no room to record it (window.h).
 *                    heard.h checks reports
 *     rate           first of the source address, then of all sources. Only valid packets consume
 *                    tokens
 *
 * So invalid packets of unauthenticated sources cost only time: they consume no tokens, and take no
 * places in the window. The two hosts share no state, so either may restart at any time.
 *
 * A pair of sender and receiver may have a key or not (tag.h), and the probes of the pair are
 * checked accordingly. Without a key, any sender is accepted. A source is known if the local RNIC
 * has a connection with it. Unknown sources, real or invented, get no record. They share
 * HP3_RESPONDER_UNKNOWN buckets. Each bucket permits a sixteenth of the rate `unknown`, and all
 * buckets together permit the rate `unknown`. The secret seed decides which sources share a bucket.
 * So answers to unknown sources use at most the rate `unknown` of the rate `all`. Unknown sources
 * also cannot use the last HP3_WINDOW_RESERVED free places of each set of the window.
 *
 * Invariants:
 *
 *     A probe gets at most one answer, never longer than the probe (answer.h).
 *     A known source never gets more than burst + rate x time answers. The record of a source is
 *     reused only when its bucket is full again.
 *
 * After a restart of the responder, probes up to clock_s old may be answered once more. The host
 * that receives such an answer ignores it, because none of its probes has this id. A report is
 * never accepted twice.
 *
 * at->clock is for the times of probes (it may differ between hosts by clock_s); at->now is for
 * rates. The caller owns the memory. One thread calls the functions of an instance.
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
	 * Random and secret. It decides which sources share a set of records or a bucket, and which
	 * probes share a set of the window.
	 */
	uint64_t seed;
	/* replay protection of reports; owned by the caller, and outlives the responder */
	struct hp3_heard *heard;
	uint32_t clock_s; /* largest difference of clocks, up to HP3_CLOCK_S_MAX; 30 by default */
	uint8_t dscp; /* DSCP of answers; HP3_DSCP_KEPT: the probe's DSCP */
	struct hp3_limit source, all; /* limits of answers to one source, and to all */
	struct hp3_limit unknown; /* without a key: limit of answers to all unknown sources */
	uint32_t sources; /* number of records of sources: a power of two, at least 8 */
	/*
	 * Number of probes that the window can record: a power of two, at least 8. If clocks agree,
	 * 3 x clock_s x all.rate suffices for almost all probes at the rate all.rate.
	 */
	uint32_t window;
};

struct hp3_responder;

/*
 * Bytes of memory (64-byte aligned) that hp3_responder_create() needs; 0: a value is out of range.
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
	HP3_RESPOND_REPORT, /* consume it; the sender reports that no replies arrive */
	HP3_RESPOND_DROP, /* consume it */
};

/*
 * Processes a peer probe or a report. `known`: the local RNIC has a connection with the sender;
 * used only without a key.
 *
 * ANSWER: *answer has id, CE, key and DSCP. The caller adds its clock.
 * REPORT: answer->id is the report's id (peer.h).
 * ANSWER and REPORT: if the pair has a key, the packet proves that the sender's hp3d runs (rule 5).
 */
enum hp3_respond_fate hp3_responder_take(struct hp3_responder *r, const struct hp3_parsed *f,
	bool known, const struct hp3_times *at, struct hp3_answer *answer);

/*
 * Checks an ASK (hello.h), which asks for the UD QPNs of this hp3d, after hp3_hello_read(). *a: the
 * addresses of the datagram. True: answer it. Time, replay and rate are checked as for probes, with
 * the same limits. Keys on which pairs have agreed are not used for the tags of such questions.
 */
bool hp3_responder_hello(struct hp3_responder *r, const struct hp3_addressing *a,
	const struct hp3_hello *ask, bool known, const struct hp3_times *at);
