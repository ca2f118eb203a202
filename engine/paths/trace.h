/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_ENGINE_TRACE_H
#define HP3_ENGINE_TRACE_H
/*
 * Path identity by traces (ppp/paths.h, provider TRACE), and the linear map that makes a few traces
 * do for all ports (ppp/linear.h). Inside of the engine; the caller only sends TRACE actions and
 * says by hp3_hop_told() what came back.
 *
 * What becomes of an address pair:
 *
 *     REST     nothing is known, the port is the path; tried again after recheck_ns
 *     SEEK     how far away is the switch that names a path? (ppp/depth.h)
 *     MAP      a linear map is being learnt and held against traces; what was traced is told
 *     LINEAR   the map is believed and tells all ports; held against traces every recheck_ns
 *     TRACES   no linear map fits: what was traced is told, ports that come into use are traced
 *     BY_OPCODE  switches hash the opcode: what one queue pair sends takes several paths by itself
 *     BY_QPN   switches hash the QPN, too (rule 18): the pair's paths are keyed by it, and the port
 *              is the path
 *
 *     REST -> SEEK -> MAP -> LINEAR      a pair whose map differs by a shift alone skips MAP
 *                  \-> REST    \-> TRACES -> SEEK
 *     LINEAR, a trace contradicts twice -> SEEK; after three of these in a row -> REST
 *
 * Invariants: one trace of a pair under way at a time; never more than cfg.traces allows in all; a
 * pair is traced only if its peer's hp3d is alive, or probes are configured to be of kind PEER, and
 * never with a PSN that is not a duplicate (rules 1 and 2); switches that stay silent, or name
 * themselves oddly, leave a pair at REST. A hop is believed from its second answer on: switches
 * sign nothing.
 *
 * Names. A path id is the number of a hop in this engine's own table. Other hosts have other
 * numbers, so what is told to them bears the hop's name: 16 bits of a hash of its address, the same
 * on every host (hp3_path_name()). Hosts agree on names if switches answer from one address each (a
 * loopback). Switches that answer from the interface where the packet came in have a name for each
 * leaf: hosts below one leaf agree, and counts of others bear unknown names and are left out.
 */
#include "ppp/depth.h"
#include "ppp/linear.h"
#include "ppp/paths.h"

#define HP3_HOPS           128u /* switches told apart */
#define HP3_TRACE_MAPS     8u /* linear maps, shared by the pairs that they fit */
#define HP3_TRACE_AIR      16u /* traces under way */
#define HP3_TRACE_WANTED   64u /* ports that an operator asks for at a time */
#define HP3_TRACE_CHECKS   4u /* ports traced to hold a believed map against */
#define HP3_TRACE_RESTARTS 3u
#define HP3_NO_MAP         0xffu

enum hp3_trace_state {
	HP3_TRACE_REST,
	HP3_TRACE_SEEK,
	HP3_TRACE_MAP,
	HP3_TRACE_LINEAR,
	HP3_TRACE_TRACES,
	HP3_TRACE_BY_QPN,
	HP3_TRACE_BY_OPCODE,
};

/* What of a trace is not as in the sample, to see whether switches hash it. */
enum hp3_trace_other { HP3_TRACE_SAME, HP3_TRACE_OTHER_QPN, HP3_TRACE_OTHER_OPCODE };

struct hp3_hop {
	uint8_t addr[16]; /* IPv4: first four bytes */
	uint16_t name;
	uint8_t seen; /* answers, up to 255; 0: only told of by a peer */
	bool used, ipv6;
	bool told; /* peers tell of it: flows come in by it */
};

struct hp3_trace_map {
	struct hp3_linear l;
	uint32_t users; /* pairs that learn it or are told by it */
	uint8_t ttl; /* at which its traces were made */
};

/* What a trace under way is for. */
enum hp3_trace_use { HP3_TRACE_FREE, HP3_TRACE_PAIR, HP3_TRACE_OPERATOR };

struct hp3_trace_air {
	uint64_t end;
	uint32_t id, pair;
	uint8_t use; /* enum hp3_trace_use */
	uint8_t index; /* OPERATOR: of the port */
};

struct hp3_trace_pair {
	uint64_t due; /* nothing before */
	uint64_t checked; /* LINEAR: the map was last found right */
	uint64_t anew; /* TRACES: look again from the start */
	uint32_t qpn; /* with which the sample was traced */
	struct hp3_depth depth;
	struct hp3_traces traces;
	uint8_t state; /* enum hp3_trace_state */
	uint8_t map; /* of the pool, or HP3_NO_MAP */
	uint8_t ttl; /* of the switches that name paths; 0: not found */
	uint8_t reason; /* enum hp3_linear_reason of the last map */
	uint8_t tries; /* of the port in hand */
	uint8_t checks; /* LINEAR: ports still to be traced */
	uint8_t silent; /* LINEAR: of these, not answered */
	uint8_t restarts; /* since all was well */
	uint8_t entry; /* TRACES: of the path table, looked at next */
	uint8_t qpn_at; /* ports of the sample held against another QPN */
	uint8_t op_at; /* traces with another opcode */
	uint8_t other_at; /* port of the sample that is held against it */
	bool in_air;
	uint8_t asked; /* enum hp3_trace_other: what is other of the trace under way */
	bool differs; /* it showed another path: is that the QPN (the opcode) or the routes? */
	bool again; /* the port in hand is to be traced again */
	bool doubt; /* LINEAR: it was not as predicted */
	uint16_t port; /* in hand */
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
	uint32_t n, next, told; /* ports; asked; answered */
	struct hp3_trace_answer answer[HP3_TRACE_WANTED];
};

struct hp3_tracing {
	uint64_t due, spent_until;
	uint32_t hand; /* pair looked at next */
	uint8_t hint; /* TTL found last */
	struct hp3_trace_pair *pair;
	struct hp3_trace_air air[HP3_TRACE_AIR];
	struct hp3_trace_wanted wanted;
	struct hp3_hop hop[HP3_HOPS];
	struct hp3_trace_map map[HP3_TRACE_MAPS];
};

#endif
