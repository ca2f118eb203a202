/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_PROBES_RESPONDER_H
#define HP3_PROBES_RESPONDER_H
/*
 * What becomes of a peer probe, or a report, that arrives: it is answered, or believed, or dropped
 * with a named, counted reason. In no case does the RNIC see it. Checked in this order:
 *
 *     ICRC           damaged
 *     version        of another one
 *     tag            forged; without a key there is none, and reports end here
 *     time           further from this host's clock than clock_s; only with a key
 *     replay         answered before, or no room to remember that it was (window.h); a report as
 *                    any message that acts (heard.h)
 *     rate           of its source address, then of all; only sound probes spend tokens
 *
 * so that what an outsider sends costs time to refuse, but takes nothing from the probes of peers.
 * Restarts of either side are no event: no state is agreed upon.
 *
 * Keys are a question of sender and receiver (tag.h): each probe is judged by whether its own have
 * one. Without a key anybody is sound. Sources that the local RNIC has no connection with, be they
 * real or invented, get no record; they share HP3_RESPONDER_UNKNOWN buckets, each a sixteenth of
 * what `unknown` gives to all of them, and which ones share a bucket only the seed tells. What they
 * ask takes no more than that from the answers to others, and leaves known sources places of the
 * window (HP3_WINDOW_RESERVED).
 *
 * Invariants: at most one answer per probe, never larger (answer.h); a probe is answered once; a
 * source never gets more than burst + rate x time answers, whatever becomes of its record: a record
 * is given up only when its bucket is full again. After a restart of the responder, probes up to
 * clock_s old may be answered once more: an answer that nobody waits for, ignored by its id. What
 * acts, a report, is not believed once more.
 *
 * Two times: `clock`, wall clock in seconds, for the probes' times (it may differ between hosts by
 * clock_s); `now`, monotonic in ns, for rates and stamps. Memory is the caller's; one instance is
 * driven by one thread.
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
	/* random: hides from outsiders which sources share a set of records, or a bucket, and which
	 * probes share a set of the window */
	uint64_t seed;
	struct hp3_heard *heard; /* which reports act; the caller's, lives as long as this */
	uint32_t clock_s; /* most difference of clocks, up to HP3_CLOCK_S_MAX; 30 by default */
	uint8_t dscp; /* of answers; HP3_DSCP_KEPT: each has its probe's */
	struct hp3_limit source, all; /* answers to one source, and to all */
	struct hp3_limit unknown; /* without a key: to all that are unknown */
	uint32_t sources; /* records of sources: a power of two, at least 8 */
	/* probes remembered: a power of two, at least 8; 3 x clock_s x all.rate serves that rate
	 * with hardly a refusal where clocks agree */
	uint32_t window;
};

struct hp3_responder;

/* Bytes of memory (64-byte aligned) wanted; 0: a value is out of range. */
size_t hp3_responder_size(const struct hp3_responder_config *cfg);
/* NULL if `mem` is misaligned or too small, or a value is out of range. *stats stays the caller's.
 */
struct hp3_responder *hp3_responder_create(void *mem, size_t size,
	const struct hp3_responder_config *cfg, struct hp3_probe_stats *stats);

/* Keys, clock_s, dscp and limits change; what sizes memory, seed and birth stay. -EINVAL: out of
 * range.
 */
int hp3_responder_reconfigure(struct hp3_responder *r, const struct hp3_responder_config *cfg);

enum hp3_respond_fate {
	HP3_RESPOND_PASS, /* not a peer probe: goes on its way */
	HP3_RESPOND_ANSWER, /* consume it, send the answer */
	HP3_RESPOND_REPORT, /* consume it; replies to its sender do not come through */
	HP3_RESPOND_DROP, /* consume it */
};

/*
 * `known`: the local RNIC has a connection with the sender; looked at without a key.
 * ANSWER: *answer has id, CE, key, DSCP and stamp, and the turn-th of what hp3_load_in_names() of
 * the engine tells is to be filled in by hp3_answer_tell(answer, *turn, ...). REPORT: answer->id is
 * that of the report (peer.h). In both cases the sender, if it has a key, is alive (rule 5).
 */
enum hp3_respond_fate hp3_responder_take(struct hp3_responder *r, const void *frame,
	const struct hp3_view *v, bool known, uint64_t clock, uint64_t now,
	struct hp3_answer *answer, uint32_t *turn);

/*
 * A question for queue pairs (hello.h), which has been read, of this hash, from the sender of *a:
 * true: it is to be answered. Time, replay and rate are looked at as with probes, and of the same
 * limits. Questions bear no tags by keys that pairs have agreed on.
 */
bool hp3_responder_hello(struct hp3_responder *r, const struct hp3_addressing *a,
	const struct hp3_hello *ask, uint64_t hash, bool known, uint64_t clock, uint64_t now);

#endif
