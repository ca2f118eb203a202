/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * State of address pairs and paths, for operators and tools. Only the thread that drives the engine
 * may call these functions.
 */
#include "engine/engine.h"
#include "engine/flows/pairs.h"
#include "engine/paths/trace.h"
#include "ppp/compare.h"

enum hp3_peer { HP3_PEER_UNKNOWN, HP3_PEER_HP3D, HP3_PEER_PLAIN };
/*
 * Are the paths to a peer presumed alike (rfr/presume.h)? OFF: the policy excludes it, or there is
 * no key for the peer. UNKNOWN: no comparison since the newest late packet. ALIKE: yes. LATE:
 * no, it rests or is suspended. DIFFER: no, probes found that paths to this peer differ.
 */
enum hp3_presumed {
	HP3_PRESUMED_OFF,
	HP3_PRESUMED_UNKNOWN,
	HP3_PRESUMED_ALIKE,
	HP3_PRESUMED_LATE,
	HP3_PRESUMED_DIFFER
};

struct hp3_pair_info {
	uint32_t pair;
	bool ipv6;
	uint32_t vlan;
	uint8_t local[16], remote[16];
	uint32_t flows;
	/* searches and moves under way, without those by operators, at set-up, and for dead
	 * paths */
	uint32_t rounds;
	bool pinned; /* the RNIC sent IP fragments, so flows do not move */
	uint8_t peer; /* enum hp3_peer; PLAIN: the peer does not run hp3d */
	uint8_t identity; /* enum hp3_path_identity: how ports map to paths */
	uint8_t tracing; /* enum hp3_trace_state; REST also if traces are off */
	uint8_t ttl; /* TTL of the switches that name paths; 0: not found, or no traces */
	uint8_t reason; /* enum hp3_linear_reason of the last map tried */
	uint8_t presumed; /* enum hp3_presumed */
	bool keyed; /* this host shares a key with the peer */
	/* agreements to spray with the remote address, from any local address and in any VLAN;
	 * sprays_out: as the sender; sprays_in: as the receiver */
	uint16_t sprays_out, sprays_in;
	/* how many of sprays_out and sprays_in are about READ responses */
	uint16_t reads_out, reads_in;
	/* time since the peer last showed that it is alive; 0: never, or just now */
	uint64_t peer_seen_ns;
};

struct hp3_path_info {
	uint16_t port; /* a port that takes this path */
	uint32_t id; /* path id; HP3_PATH_BY_PORT | port if ports are not mapped to paths */
	uint32_t rtt_ns, base_rtt_ns; /* 0: unknown */
	uint16_t marked_permille;
	uint16_t flows; /* active flows of this host on this path */
	uint8_t losses; /* losses in separate windows since the last reply */
	uint8_t quality; /* enum hp3_quality */
	uint64_t age_ns; /* time since the last reply; 0: none yet, or just now */
	bool named; /* `hop` is valid */
	struct hp3_hop hop;
};

/*
 * Starts traces for an operator: n ports of the flow's address pair (at most HP3_TRACE_WANTED), at
 * `ttl`. ttl 0: the TTL of switches that name paths. Returns the number of traces; -EPERM: traces
 * are off; -ENOENT: no such flow; -EBUSY: traces for an operator are under way; -ENODATA: no TTL
 * found yet, or paths to the flow's peer cannot be traced.
 */
int hp3_trace_ask(struct hp3_engine *e, uint32_t flow, uint8_t ttl, const uint16_t *port,
	uint32_t n, uint64_t now);
/*
 * Results of the last hp3_trace_ask(). *missing: number of traces without a result yet. Returns the
 * number of traces.
 */
uint32_t hp3_trace_answers(
	const struct hp3_engine *e, struct hp3_trace_answer *answer, uint32_t *missing);
/*
 * *id: path id of the port, known or predicted; for an unknown flow, HP3_PATH_BY_PORT | port.
 * Returns true if traces have named the hop of that path; *hop is then valid.
 */
bool hp3_path_of_port(const struct hp3_engine *e, uint32_t flow, uint16_t port, uint32_t *id,
	struct hp3_hop *hop);

/*
 * Finds up to `want` ports (at most HP3_PORTS_MAX) of an address pair, for an application that
 * chooses ports itself. `distinct`: each port takes a different path; otherwise, the ports spread
 * over the known paths. No port takes a failed or lossy path. *paths: number of different paths
 * among these ports. Returns the number of ports; -ENOENT: no such pair; -ENODATA: the paths of the
 * pair are not known; -EXDEV: switches also hash the QPN; -EPROTO: switches hash the opcode.
 */
#define HP3_PORTS_MAX   64u
#define HP3_PORTS_PATHS 256u

enum hp3_evidence {
	HP3_EVIDENCE_TRACE, /* the port was traced, or a trace named its path */
	HP3_EVIDENCE_LINEAR, /* a verified linear map */
	HP3_EVIDENCE_MODEL, /* the caller's model */
	HP3_EVIDENCE_COMPARED, /* probes compared the ports */
};

struct hp3_port_info {
	uint16_t port;
	uint8_t evidence; /* enum hp3_evidence */
	uint8_t quality; /* enum hp3_quality of its path */
	bool named;
	uint32_t path;
	struct hp3_hop hop; /* if named */
	uint64_t age_ns; /* age of the evidence */
};
int hp3_ports_apart(const struct hp3_engine *e, uint32_t pair, uint32_t want, bool distinct,
	uint64_t now, struct hp3_port_info *port, uint32_t *paths);
const char *hp3_evidence_name(enum hp3_evidence e);

/*
 * Starts to compare ports by probes, for an address pair whose ports no trace or model maps to
 * paths. Returns the number of ports (at most HP3_COMPARE_PORTS, and half of the probe burst);
 * -EPERM: probes or searches are off; -ENOENT: no such pair; -EBUSY: a comparison is under way;
 * -ENODATA: fewer than two ports are allowed, or the pair may not be probed yet. Two conditions for
 * probes of a pair: the peer's hp3d has shown itself (or probe = peer), and a reply has advanced
 * una of a paired flow.
 */
int hp3_compare_ask(
	struct hp3_engine *e, uint32_t pair, const uint16_t *port, uint32_t n, uint64_t now);
/*
 * Result of the last comparison. Returns 0; -EBUSY: the comparison is not complete yet; -ENODATA:
 * the last comparison was about another pair.
 */
int hp3_compare_result(const struct hp3_engine *e, uint32_t pair, uint64_t now,
	struct hp3_compare *result, uint64_t *age_ns);

/* Number of flows whose requests take several paths at once. */
uint32_t hp3_engine_sprayed(const struct hp3_engine *e);

/* The pair of a flow, or HP3_NO_PAIR. */
uint32_t hp3_pair_of(const struct hp3_engine *e, uint32_t flow);
/* _find: the pair between these ends, or HP3_NO_PAIR. _is_used: does a flow use this pair? */
uint32_t hp3_pair_find(const struct hp3_engine *e, const struct hp3_ends *ends);
bool hp3_pair_is_used(const struct hp3_engine *e, uint32_t pair);
/* Returns 0; -ENOENT: no flow uses this pair. Pair indexes are below `max_pairs`. */
int hp3_pair_info(
	const struct hp3_engine *e, uint32_t pair, uint64_t now, struct hp3_pair_info *info);
/*
 * As hp3_pair_info(), for ends without a pair. No flow uses such ends, because this host only
 * receives. The function fills in only `keyed`, `presumed` and the agreements.
 */
void hp3_pair_info_without_flow(const struct hp3_engine *e, const struct hp3_ends *ends,
	uint64_t now, struct hp3_pair_info *info);
/* Fills in up to `max` paths of a pair. Returns the number of paths. */
uint32_t hp3_pair_paths(const struct hp3_engine *e, uint32_t pair, uint64_t now,
	struct hp3_path_info *info, uint32_t max);

const char *hp3_path_identity_name(enum hp3_path_identity i);
const char *hp3_trace_state_name(enum hp3_trace_state s);
const char *hp3_peer_name(enum hp3_peer p);
const char *hp3_presumed_name(enum hp3_presumed p);
