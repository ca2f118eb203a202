/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_ENGINE_INFO_H
#define HP3_ENGINE_INFO_H
/*
 * What an engine knows of address pairs and their paths, for people and their tools. Called by the
 * thread that drives the engine.
 */
#include "engine/engine.h"
#include "engine/flows/pairs.h"
#include "engine/paths/trace.h"
#include "ppp/compare.h"

enum hp3_peer { HP3_PEER_UNKNOWN, HP3_PEER_HP3D, HP3_PEER_PLAIN };

struct hp3_pair_info {
	uint32_t pair;
	bool ipv6;
	uint32_t vlan;
	uint8_t local[16], remote[16];
	uint32_t flows;
	uint32_t rounds; /* rounds and moves of our own under way */
	bool pinned; /* its RNIC sent IP fragments: immovable */
	uint8_t peer; /* enum hp3_peer: who answers probes there? */
	uint8_t identity; /* enum hp3_path_identity: what tells paths */
	uint8_t tracing; /* enum hp3_trace_state; REST also where traces are off */
	uint8_t ttl; /* of the switches that name paths; 0: not found, or not by traces */
	uint8_t reason; /* enum hp3_linear_reason of the last map tried */
	bool keyed; /* the two have a key */
	uint16_t sprays_out, sprays_in; /* agreements: to spray, to resequence */
	uint16_t reads_out, reads_in; /* ... of these, about READ responses */
	uint64_t peer_seen_ns; /* since its last sign of life; 0: never, or just now */
};

struct hp3_path_info {
	uint16_t port; /* draws this path */
	uint32_t id; /* of the path; HP3_PATH_BY_PORT | port where nothing tells */
	uint32_t rtt_ns, base_rtt_ns; /* 0: unknown */
	uint16_t marked_permille;
	uint16_t flows; /* of ours, active */
	uint8_t losses; /* in separate windows since the last reply */
	uint8_t quality; /* enum hp3_quality */
	uint64_t age_ns; /* since the last reply; 0: none yet, or just now */
	bool named; /* by a hop */
	struct hp3_hop hop;
};

/*
 * Traces for an operator: n ports of the flow's address pair (HP3_TRACE_WANTED at most), at `ttl`,
 * or 0: where the pair's switches name paths. Returns how many will be traced; -EPERM: traces are
 * off, -ENOENT: no such flow, -EBUSY: others are under way, -ENODATA: no TTL was found yet, or the
 * flow's peer cannot be traced.
 */
int hp3_trace_ask(struct hp3_engine *e, uint32_t flow, uint8_t ttl, const uint16_t *port,
	uint32_t n, uint64_t now);
/* The answers to the last of these, so many are still missing; returns how many were asked for. */
uint32_t hp3_trace_answers(
	const struct hp3_engine *e, struct hp3_trace_answer *answer, uint32_t *missing);
/* What is known, or predicted, of a port: path id, and its hop if traces named it (else false). Of
 * a flow that there is not: HP3_PATH_BY_PORT | port. */
bool hp3_path_of_port(const struct hp3_engine *e, uint32_t flow, uint16_t port, uint32_t *id,
	struct hp3_hop *hop);

/*
 * Ports for who chooses them himself: up to `want` (HP3_PORTS_MAX at most) of a pair, each on
 * another path
 * (`distinct`), or spread over the paths that are known; none on a path that has failed or is
 * lossy. *paths: how many different ones are among them. Returns how many ports; -ENOENT: no such
 * pair; -ENODATA: nothing is known of its paths; -EXDEV: switches hash the queue pair number, too;
 * -EPROTO: they hash the opcode.
 */
#define HP3_PORTS_MAX   64u
#define HP3_PORTS_PATHS 256u

enum hp3_evidence {
	HP3_EVIDENCE_TRACE, /* the port was traced, or its path's name is from a trace */
	HP3_EVIDENCE_LINEAR, /* a linear map that is believed */
	HP3_EVIDENCE_MODEL, /* the caller's own */
	HP3_EVIDENCE_COMPARED, /* ports were held against each other */
};

struct hp3_port_info {
	uint16_t port;
	uint8_t evidence; /* enum hp3_evidence */
	uint8_t quality; /* of its path: enum hp3_quality */
	bool named;
	uint32_t path;
	struct hp3_hop hop; /* if named */
	uint64_t age_ns; /* of the evidence */
};
int hp3_ports_apart(const struct hp3_engine *e, uint32_t pair, uint32_t want, bool distinct,
	uint64_t now, struct hp3_port_info *port, uint32_t *paths);
const char *hp3_evidence_name(enum hp3_evidence e);

/*
 * Ports held against each other by probes, where nothing names paths. Begins; returns how many of
 * the n ports (HP3_COMPARE_PORTS at most); -EPERM: probes are off; -ENOENT: no such pair; -EBUSY: a
 * comparison is under way; -ENODATA: the peer's hp3d is not known, or no flow has sent anything.
 */
int hp3_compare_ask(
	struct hp3_engine *e, uint32_t pair, const uint16_t *port, uint32_t n, uint64_t now);
/* What came of the last one: 0; -EBUSY: not yet all of it; -ENODATA: it was not of this pair. */
int hp3_compare_result(const struct hp3_engine *e, uint32_t pair, uint64_t now,
	struct hp3_compare *result, uint64_t *age_ns);

/* The pair of a flow, or HP3_NO_PAIR. */
uint32_t hp3_pair_of(const struct hp3_engine *e, uint32_t flow);
/* ... between these; does a flow have it? */
uint32_t hp3_pair_find(const struct hp3_engine *e, const struct hp3_ends *ends);
bool hp3_pair_is_used(const struct hp3_engine *e, uint32_t pair);
/* 0, or -ENOENT: no flow has it. Pairs are below `max_pairs`. */
int hp3_pair_info(
	const struct hp3_engine *e, uint32_t pair, uint64_t now, struct hp3_pair_info *info);
/* Addresses between which no flow has a pair (a host that only receives): their key, and what was
 * agreed on. */
void hp3_pair_info_without_flow(
	const struct hp3_engine *e, const struct hp3_ends *ends, struct hp3_pair_info *info);
/* Up to `max` paths of a pair; returns how many. */
uint32_t hp3_pair_paths(const struct hp3_engine *e, uint32_t pair, uint64_t now,
	struct hp3_path_info *info, uint32_t max);

const char *hp3_path_identity_name(enum hp3_path_identity i);
const char *hp3_trace_state_name(enum hp3_trace_state s);
const char *hp3_peer_name(enum hp3_peer p);

#endif
