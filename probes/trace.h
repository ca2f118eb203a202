/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_PROBES_TRACE_H
#define HP3_PROBES_TRACE_H
/*
 * Which switch does a port lead to? A trace is a peer probe whose TTL (hop limit) ends at the
 * switch in question, which then says "time exceeded" (expired.h). Same addresses, ports, QPN, DSCP
 * and IPv6 flow label as the data, so that it is hashed alike (rule 17, rule 18).
 *
 * How an answer finds its trace: by addresses and source port, of which one trace is under way at a
 * time; by the IPv4 identification, which is drawn at random; and by the probe id, if the switch
 * quoted so much. With IPv6 and a short quote the flow label is all there is besides, and data on
 * that port bears the same: so the port of a trace that nobody answered stays taken for one more
 * time-out, and late answers end there.
 *
 * Invariants: one result per trace, at the latest when its time is out; a trace that reaches the
 * peer (too large a TTL) is a peer probe like any other: answered, or dropped by the RNIC (rule 1);
 * what cannot be matched changes nothing and passes on to the host. An answer cannot be
 * authenticated, because switches sign nothing: its result is a label, for the caller to believe
 * when it recurs.
 *
 * Sans-IO: the caller sends what hp3_trace_start() built, and hands in what arrives. Times are
 * monotonic ns.
 */
#include "probes/expired.h"
#include "probes/limit.h"
#include "probes/peer.h"
#include "probes/stats.h"

#define HP3_TRACES_MAX 64u /* under way at a time */
#define HP3_TRACE_TTL  16u /* fabrics have fewer hops */

struct hp3_trace_params {
	uint64_t timeout_ns;
	struct hp3_limit limit; /* switches answer few per second: keep it low */
	struct hp3_probe_key key; /* of peer probes */
	struct hp3_probe_key secret; /* of their cookies (tag.h) */
};

enum hp3_trace_outcome {
	HP3_TRACE_HOP, /* hop is the switch's address */
	HP3_TRACE_ODD, /* a switch answered from an address that names none: hop, not to be used */
	HP3_TRACE_REACHED, /* the peer answered: there is no switch so far away */
	HP3_TRACE_SILENT, /* nobody answered in time */
};

/* What to trace; comes back with the result. */
struct hp3_trace_ask {
	uint64_t cookie; /* the caller's own */
	uint32_t qpn, psn; /* psn: an old one */
	uint8_t ttl; /* 1: the first switch */
	uint8_t opcode; /* of an unreliable connection; 0: that of probes */
};

struct hp3_trace_result {
	struct hp3_trace_ask ask;
	uint16_t port;
	uint8_t outcome; /* enum hp3_trace_outcome */
	bool ipv6;
	uint8_t hop[16]; /* HOP, ODD; IPv4: first four bytes */
	uint64_t rtt_ns; /* all but SILENT */
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
	uint32_t used; /* slots that are not free */
	struct hp3_trace_slot slot[HP3_TRACES_MAX];
};

void hp3_tracer_init(struct hp3_tracer *t, const struct hp3_trace_params *params, uint64_t seed,
	struct hp3_probe_stats *stats);

/*
 * Builds a trace; *a is the flow's own addressing with the port in question, its TTL and IPv4
 * identification are replaced. `clock`: wall clock, s (peer.h). Length of the frame in buf;
 * -EALREADY: that port is being traced, -ENOSPC: too many under way, or buf too small, -EAGAIN: the
 * rate is used up, -EINVAL.
 */
int hp3_trace_start(struct hp3_tracer *t, const struct hp3_addressing *a,
	const struct hp3_trace_ask *ask, uint64_t clock, uint64_t now, void *buf, size_t cap);

/*
 * A frame arrived that hp3_parse() calls NOT_UDP. 0: it ends a trace, consume it, *res is valid;
 * -ESTALE: a late answer, consume it; -ENOMSG: none of ours, it passes.
 */
int hp3_trace_icmp(struct hp3_tracer *t, const void *frame, uint32_t len, const struct hp3_view *v,
	uint64_t now, struct hp3_trace_result *res);

/* The peer answered probe `id` (answer.h): true if it is a trace; to be asked before the engine. */
bool hp3_trace_reached(
	struct hp3_tracer *t, uint32_t id, uint64_t now, struct hp3_trace_result *res);

/* Time passes: true with the result of a trace whose time is out; call again until false. */
bool hp3_trace_expire(struct hp3_tracer *t, uint64_t now, struct hp3_trace_result *res);

const char *hp3_trace_outcome_name(enum hp3_trace_outcome o);

#endif
