/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Traces find the switch to which a UDP source port leads. A trace is a peer probe whose TTL (hop
 * limit) ends at the wanted switch. The switch answers with "time exceeded" (expired.h). A trace
 * has the addresses, ports, QPN, DSCP and IPv6 flow label of data, so switches hash it alike (rules
 * 17 and 18). Exception: on the home port, data keep the flow label that the RNIC wrote.
 *
 * A "time exceeded" message is matched with its trace by
 *
 *     addresses and source port: at most one trace with the same three is in progress,
 *     the IPv4 identification, which is random,
 *     and the probe id, if the switch quoted enough.
 *
 * With IPv6 and a short quote, only the flow label is left, and data from that port has the same
 * label. So if a trace of a port times out, no new trace of the port starts for one more time-out.
 * Late messages are matched with the unanswered trace, and dropped.
 *
 * Invariants:
 *
 *     One result per trace, at the latest when its time-out has passed.
 *     A trace that reaches the peer (TTL too large) is a peer probe like any other: the peer's hp3d
 *     answers it, or the RNIC drops it (rule 1). A trace with another opcode than probes have is
 *     not answered: the peer's RNIC drops it.
 *     A message that matches no trace changes nothing, and is forwarded to the host.
 *     Switches sign nothing, so a result is not authenticated. The caller should use a result only
 *     if several traces give the same one.
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
	struct hp3_limit limit; /* keep it low: switches send few such messages per second */
	struct hp3_probe_key key; /* key of peer probes */
	struct hp3_probe_key secret; /* secret of their cookies (tag.h) */
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
	uint32_t qpn, psn; /* psn: an old one of the flow */
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
 * replaced. Returns the length of the frame in buf, which has HP3_TRACE_FRAME_MAX bytes; -EALREADY:
 * a trace of that port is under way, or its time-out passed less than a time-out ago; -ENOSPC: too
 * many traces are under way; -EAGAIN: the rate limit is reached; -EINVAL.
 */
int hp3_trace_start(struct hp3_tracer *t, const struct hp3_addressing *a,
	const struct hp3_trace_ask *ask, const struct hp3_times *at, void *buf);

/*
 * Processes a frame that hp3_parse() calls NOT_UDP. 0: the frame ends a trace: consume the frame,
 * *res is valid. -ESTALE: the frame is too late: consume it. -ENOMSG: the frame matches no trace:
 * forward it.
 */
int hp3_trace_icmp(struct hp3_tracer *t, const struct hp3_parsed *f, uint64_t now,
	struct hp3_trace_result *res);

/*
 * The peer answered probe `id` (answer.h). True if the probe was a trace; *res is then valid. Call
 * it before the engine gets the answer.
 */
bool hp3_trace_reached(
	struct hp3_tracer *t, uint32_t id, uint64_t now, struct hp3_trace_result *res);

/*
 * True with the result of a trace whose time-out has passed. Call it again until it returns false.
 */
bool hp3_trace_expire(struct hp3_tracer *t, uint64_t now, struct hp3_trace_result *res);

const char *hp3_trace_outcome_name(enum hp3_trace_outcome o);
