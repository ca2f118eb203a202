/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Traces find the switch to which a UDP source port leads. A trace is a peer probe whose TTL (hop
 * limit) ends at the wanted switch. The switch answers with "time exceeded" (expired.h). A trace
 * has the addresses, ports, QPN, DSCP and IPv6 flow label of data, so switches hash a trace like
 * data (rules 17 and 18). Exception: on the home port, data have the flow label that the RNIC
 * wrote.
 *
 * A "time exceeded" message belongs to the trace that has the same
 *
 * - addresses and source port (at most one trace with these is under way),
 * - IPv4 identification, which is random,
 * - and probe id, if the switch quoted the probe id.
 *
 * An IPv6 message with a short quote has no identification and no probe id. It has only the flow
 * label, and data from the same port have the same flow label. So if a trace of a port times out,
 * no new trace of this port starts for one more time-out. A message that arrives in this time
 * belongs to the unanswered trace, and is dropped.
 *
 * Invariants:
 *
 * - Each trace has one result, at the latest when its time-out has passed.
 * - A trace that reaches the peer, because its TTL is too large, is handled as a peer probe: the
 *   peer's hp3d answers it, or the RNIC drops it (rule 1). If a trace has another opcode than
 *   probes, the peer's RNIC drops the trace, and nothing answers.
 * - A message that belongs to no trace changes nothing, and is forwarded to the host.
 * - Results are not authenticated, because switches sign nothing. The caller should use a result
 *   only if several traces have the same result.
 *
 * Sans-IO: the caller sends the frame that hp3_trace_start() built, and passes in frames that
 * arrive. Times are monotonic ns.
 */
#include "probes/expired.h"
#include "probes/limit.h"
#include "probes/peer.h"
#include "probes/stats.h"

#define HP3_TRACES_MAX 64u /* most traces under way at a time */
#define HP3_TRACE_TTL  16u /* largest TTL; fabrics have fewer hops */

struct hp3_trace_params {
	uint64_t timeout_ns;
	struct hp3_limit limit; /* should be low: switches send few such messages per second */
	struct hp3_probe_key key; /* key of peer probes */
	struct hp3_probe_key secret; /* secret of the cookies of traces (tag.h) */
};

enum hp3_trace_outcome {
	HP3_TRACE_HOP, /* `hop` is the switch's address */
	HP3_TRACE_ODD, /* a switch answered, but its address names no switch: do not use `hop` */
	HP3_TRACE_REACHED, /* the peer answered: the path has fewer switches than the TTL */
	HP3_TRACE_SILENT, /* no answer within the time-out */
};

/* What to trace. The result has a copy of this struct. */
struct hp3_trace_ask {
	uint64_t cookie; /* for the caller's use */
	uint32_t qpn, psn; /* psn: an old PSN of the flow */
	uint8_t ttl; /* 1: the first switch */
	uint8_t opcode; /* an opcode of UC; 0: the opcode of probes */
};

struct hp3_trace_result {
	struct hp3_trace_ask ask;
	uint16_t port;
	uint8_t outcome; /* enum hp3_trace_outcome */
	bool ipv6;
	uint8_t hop[16]; /* HOP, ODD; IPv4: first four bytes */
	uint64_t rtt_ns; /* valid unless SILENT */
};

struct hp3_trace_slot {
	struct hp3_trace_ask ask;
	uint64_t sent, end;
	uint32_t id;
	uint32_t flow_label;
	uint16_t port;
	uint8_t state;
	bool ipv6;
	uint8_t src[16], dst[16];
};

struct hp3_tracer {
	struct hp3_trace_params params; /* may be changed between calls */
	struct hp3_probe_stats *stats;
	struct hp3_probe_key random;
	uint64_t drawn;
	uint64_t spent_until;
	uint32_t used; /* number of slots that are not free */
	struct hp3_trace_slot slot[HP3_TRACES_MAX];
};

void hp3_tracer_init(struct hp3_tracer *t, const struct hp3_trace_params *params, uint64_t seed,
	struct hp3_probe_stats *stats);

#define HP3_TRACE_FRAME_MAX HP3_BUILD_MAX_HDR

/*
 * Builds a trace. *a: the flow's addressing with the port to trace; TTL and IPv4 identification are
 * replaced. `buf` has HP3_TRACE_FRAME_MAX bytes. Returns the length of the frame in buf; -EALREADY:
 * a trace of this port is under way, or timed out less than one time-out ago; -ENOSPC: too many
 * traces are under way; -EAGAIN: the rate limit is reached; -EINVAL: a value is out of range.
 */
int hp3_trace_start(struct hp3_tracer *t, const struct hp3_addressing *a,
	const struct hp3_trace_ask *ask, const struct hp3_times *at, void *buf);

/*
 * Processes a frame that hp3_parse() calls NOT_UDP. Returns 0: the frame ends a trace; *res is
 * valid; consume the frame. -ESTALE: the frame is too late; consume the frame. -ENOMSG: the frame
 * belongs to no trace; forward the frame.
 */
int hp3_trace_icmp(struct hp3_tracer *t, const struct hp3_parsed *f, uint64_t now,
	struct hp3_trace_result *res);

/*
 * Call this when the peer has answered probe `id` (answer.h), before the engine gets the answer.
 * True: the probe was a trace, and *res is valid.
 */
bool hp3_trace_reached(
	struct hp3_tracer *t, uint32_t id, uint64_t now, struct hp3_trace_result *res);

/*
 * True: the time-out of a trace has passed, and *res is the result. Call this function until it
 * returns false.
 */
bool hp3_trace_expire(struct hp3_tracer *t, uint64_t now, struct hp3_trace_result *res);

const char *hp3_trace_outcome_name(enum hp3_trace_outcome o);
