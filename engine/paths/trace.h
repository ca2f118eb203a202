/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Path identity by traces (ppp/paths.h, provider TRACE), and the linear map with which a few traces
 * are enough for all ports (ppp/linear.h). This header is internal to the engine. The engine's
 * caller only sends traces (action TRACE), and reports outcomes with hp3_hop_reported().
 *
 * States of an address pair:
 *
 *     REST       no paths are known, the port stands for the path; next try after recheck_ns
 *     FIND_TTL   finds the TTL of the switch that names a path (ppp/depth.h)
 *     MAP        learns and verifies a linear map; traced ports are in the path table
 *     LINEAR     the verified map gives the path of each port; checked every recheck_ns
 *     TRACES     no linear map fits: traced ports are in the path table; new ports are traced
 *     BY_OPCODE  switches hash the opcode: one queue pair takes several paths anyway
 *     BY_QPN     switches hash the QPN (rule 18): the path table is keyed by it, and the port
 *                stands for the path
 *
 *     REST -> FIND_TTL -> MAP -> LINEAR      MAP is skipped if a shifted stored map fits
 *             \-> REST    \-> TRACES -> FIND_TTL
 *     Wrong result -> FIND_TTL; fourth wrong result in a row -> REST
 *     (in LINEAR, two contradictions by one port are a wrong result)
 *
 * Invariants: one trace of a pair is outstanding at a time, besides traces for an operator. The
 * traces of all pairs together stay within the rate limit cfg.traces. A pair is traced only if its
 * peer runs hp3d, or if peer probes are configured. A trace has the PSN of a duplicate (rules 1 and
 * 2). If switches stay silent, or their answers are invalid, the pair returns to REST. A hop counts
 * from its second answer on, because switches do not sign their answers.
 *
 * A path id is the number of a hop in this engine. Other hosts number hops differently.
 */
#include "ppp/depth.h"
#include "ppp/linear.h"
#include "ppp/paths.h"

#define HP3_HOPS           128u /* most switches */
#define HP3_TRACE_MAPS     8u /* most linear maps; pairs with the same map share it */
#define HP3_TRACE_AIR      16u /* most outstanding traces */
#define HP3_TRACE_WANTED   64u /* most ports per request of an operator */
#define HP3_TRACE_CHECKS   4u /* ports traced in a check of a linear map */
#define HP3_TRACE_RESTARTS 3u
#define HP3_NO_MAP         0xffu

enum hp3_trace_state {
	HP3_TRACE_REST,
	HP3_TRACE_FIND_TTL,
	HP3_TRACE_MAP,
	HP3_TRACE_LINEAR,
	HP3_TRACE_TRACES,
	HP3_TRACE_BY_QPN,
	HP3_TRACE_BY_OPCODE,
};

/*
 * How a trace differs from the sample. Its result shows whether switches hash the different field.
 */
enum hp3_trace_other { HP3_TRACE_SAME, HP3_TRACE_OTHER_QPN, HP3_TRACE_OTHER_OPCODE };

struct hp3_hop {
	uint8_t addr[16]; /* IPv4: first four bytes */
	uint8_t seen; /* answers, up to 255; 0: a free entry */
	bool ipv6;
};

struct hp3_trace_map {
	struct hp3_linear l;
	uint32_t users; /* number of pairs that learn or use the map */
	uint8_t ttl; /* TTL of the traces of this map */
};

/* Purpose of an outstanding trace. */
enum hp3_trace_use { HP3_TRACE_FREE, HP3_TRACE_PAIR, HP3_TRACE_OPERATOR };

struct hp3_trace_air {
	uint64_t end;
	uint32_t id, pair;
	uint8_t use; /* enum hp3_trace_use */
	uint8_t index; /* OPERATOR: index of the port */
};

struct hp3_trace_pair {
	uint64_t due; /* earliest time of the next trace */
	/* LINEAR: time when the last check of the map ended without a contradiction */
	uint64_t checked;
	uint64_t anew; /* TRACES: time of the next FIND_TTL */
	uint32_t qpn; /* QPN of the sample's traces */
	struct hp3_depth depth;
	struct hp3_traces traces;
	uint8_t state; /* enum hp3_trace_state */
	uint8_t map; /* index of the linear map, or HP3_NO_MAP */
	uint8_t ttl; /* TTL of the switches that name paths; 0: not known */
	uint8_t reason; /* enum hp3_linear_reason of the last map */
	uint8_t tries; /* traces of the current port */
	uint8_t checks; /* LINEAR: ports left in this check */
	uint8_t silent; /* LINEAR: ports of this check without an answer */
	uint8_t restarts; /* wrong results since the last good check */
	uint8_t entry; /* TRACES: next entry of the path table to examine */
	uint8_t qpn_at; /* sample ports compared with another QPN so far */
	uint8_t op_at; /* traces with another opcode so far */
	uint8_t other_at; /* index of the sample port that is compared */
	bool in_air;
	uint8_t asked; /* enum hp3_trace_other of the outstanding trace */
	/* A trace with another QPN or opcode showed another path. The next trace, without the
	 * difference, shows whether switches hash the field, or routes have changed. */
	bool differs;
	bool again; /* the current port is to be traced again */
	bool doubt; /* LINEAR: the current port contradicted the map once */
	uint16_t port; /* current port */
};

struct hp3_trace_answer {
	uint16_t port;
	uint8_t ttl;
	uint8_t outcome; /* enum hp3_trace_outcome; HOP and ODD: hop is valid */
	bool ipv6;
	uint8_t hop[16];
};

struct hp3_trace_wanted {
	uint32_t pair;
	uint32_t n, next, reported; /* number of ports: in total; traced; with a result */
	struct hp3_trace_answer answer[HP3_TRACE_WANTED];
};

struct hp3_tracing {
	uint64_t due, spent_until;
	uint32_t hand; /* next pair to examine */
	uint8_t hint; /* TTL of the last success */
	struct hp3_trace_pair *pair;
	struct hp3_trace_air air[HP3_TRACE_AIR];
	struct hp3_trace_wanted wanted;
	struct hp3_hop hop[HP3_HOPS];
	struct hp3_trace_map map[HP3_TRACE_MAPS];
};
