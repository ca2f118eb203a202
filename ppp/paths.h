/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The path table of one address pair, shared by all its flows. A source port selects a path by the
 * switches' hash. The table is keyed by path id if a provider maps ports to paths:
 *
 *     NONE   no provider: the port stands for the path
 *     TRACE  traces (probes of limited TTL) of single ports, repeated after recheck_ns
 *     MODEL  a verified linear hash, or a caller's model of the switches
 *
 * If switches hash the destination QPN (rule 18, `by_qpn`), port and QPN together select the path.
 *
 * Replies to data and to probes update entries. A path is UNKNOWN until a reply arrives. It becomes
 * UNKNOWN again fresh_ns after the last reply, and after a lost probe. A path is CONGESTED while
 * its share of marked replies is high, or its RTT is high compared with the least RTT of any path.
 * A path is FAILED only after `losses` probes were lost in separate windows. After the first loss,
 * a reply must also have arrived on another path of the pair: otherwise, the peer may be down.
 * FAILED ends with any reply, or at a retry time, which doubles with every relapse. A path is LOSSY
 * for a time if a flow's retransmissions show losses (hp3_paths_lossy()). This time also doubles
 * with every relapse. Replies do not end LOSSY, because most packets of such a path arrive.
 *
 * Invariants: hp3_paths_candidates() and hp3_paths_pick() never return a FAILED path. A LOSSY path
 * is a candidate only if there is no other candidate, and hp3_paths_pick() never returns it. If
 * identity is known, all candidates of a round are different paths, and none is the path in use. An
 * entry with counted flows is never evicted, so the index from hp3_paths_enter() stays valid until
 * hp3_paths_leave().
 *
 * Units: nanoseconds, percent. Only the lcore that owns the address pair writes its table.
 */
#include <stdbool.h>
#include <stdint.h>
#include "ppp/linear.h"
#include "ppp/model.h"

#define HP3_PATHS       32u /* entries per address pair */
#define HP3_PATHS_BLOCK 64u /* power of two */
#define HP3_TRACES      64u /* stored traces */

/* Path ids of ports whose path is unknown; real ids are lower. */
#define HP3_PATH_BY_PORT 0x80000000u
#define HP3_PATH_NONE    UINT32_MAX

enum hp3_path_identity { HP3_IDENTITY_NONE, HP3_IDENTITY_TRACE, HP3_IDENTITY_MODEL };

enum hp3_quality {
	HP3_QUALITY_UNKNOWN,
	HP3_QUALITY_GOOD,
	HP3_QUALITY_CONGESTED,
	HP3_QUALITY_FAILED,
	HP3_QUALITY_LOSSY,
};

struct hp3_paths_params {
	uint64_t fresh_ns; /* a path whose last reply is older is UNKNOWN (see also fresh_rtts) */
	uint64_t recheck_ns; /* a trace is repeated after this time */
	/* a failed path may be tried again after this time; each relapse doubles the time, at most
	 * to 64 x retry_ns */
	uint64_t retry_ns;
	/* a path stays LOSSY for this time; each relapse doubles the time, at most to 64 x
	 * lossy_ns */
	uint64_t lossy_ns;
	uint64_t window_ns; /* losses within this time count once (rule 13: >= max RTT) */
	uint16_t rtt_factor; /* percent of the pair's least RTT from which on a path is congested */
	uint8_t ecn_fraction; /* percent of marked replies from which on a path is congested */
	/* a reply is also fresh for this many times the least RTT of its path */
	uint8_t fresh_rtts;
	uint8_t losses; /* losses in separate windows until a path has failed (rule 13: >= 3) */
	uint8_t equal; /* percent above the best RTT that counts as equal */
};

struct hp3_path {
	uint64_t seen; /* time of the last reply; 0: none since the last reset */
	uint64_t lost; /* time of the last loss that counted */
	uint64_t first_lost; /* time of the first loss since the last reply */
	uint64_t retry_at; /* end of FAILED or LOSSY; 0: neither */
	uint32_t id; /* HP3_PATH_NONE: free entry */
	uint32_t qpn; /* by_qpn: QPN with which `port` selects the path; else 0 */
	uint32_t rtt, min_rtt; /* smoothed by 1/8; least; 0: unknown */
	uint16_t port; /* a port that selects this path */
	uint16_t marked; /* share of marked replies in 1 / HP3_MARKED_ALL, smoothed by 1/8 */
	uint16_t flows; /* this host's active flows on the entry */
	uint8_t losses : 7; /* losses in separate windows since the last reply */
	uint8_t spoilt : 1; /* hp3_paths_spoil() */
	/*
	 * exponents of the retry time and of lossy_ns; reset after a long time without FAILED or
	 * LOSSY
	 */
	uint8_t failures : 4, relapses : 3;
	uint8_t lossy : 1; /* retry_at is about LOSSY, not FAILED */
};

#define HP3_MARKED_ALL 64000u

_Static_assert(sizeof(struct hp3_path) == 56, "32 of them per address pair");

struct hp3_trace {
	uint64_t checked; /* 0: free */
	uint32_t id;
	uint32_t qpn;
	uint16_t port;
};

/* Memory of the provider TRACE. */
struct hp3_traces {
	struct hp3_trace trace[HP3_TRACES];
};

struct hp3_paths {
	struct hp3_path path[HP3_PATHS];
	const struct hp3_paths_params *params;
	struct hp3_traces *traces; /* TRACE; else NULL */
	const struct hp3_path_model *model; /* MODEL: the caller's model, or NULL */
	/* MODEL without a caller's model: this linear map, with `shift`; else NULL */
	const struct hp3_linear *linear;
	struct hp3_tuple tuple; /* addresses and destination port for `model` */
	uint64_t rng;
	/* the only ports allowed, in memory of the caller; NULL: all ports */
	const uint16_t *ports;
	uint16_t n_ports;
	uint16_t block; /* first of the HP3_PATHS_BLOCK ports allowed; 0: all ports */
	uint16_t shift; /* hp3_linear_shift() of this pair */
	uint8_t identity; /* enum hp3_path_identity */
	bool by_qpn;
};

/* Identity NONE. The caller keeps `params`, and may change it between calls. */
void hp3_paths_init(struct hp3_paths *t, const struct hp3_paths_params *params, uint64_t seed);

/* A random port among those allowed. */
uint16_t hp3_paths_draw(struct hp3_paths *t);

/*
 * Sets another provider; entries move to the new ids. The caller verifies models and linear maps.
 * The function refuses an unverified linear map with -EAGAIN. If a map proves wrong later, call
 * hp3_paths_identity_none().
 */
void hp3_paths_identity_none(struct hp3_paths *t);
void hp3_paths_identity_trace(struct hp3_paths *t, struct hp3_traces *traces);
void hp3_paths_identity_model(
	struct hp3_paths *t, const struct hp3_path_model *model, const struct hp3_tuple *tuple);
int hp3_paths_identity_linear(struct hp3_paths *t, const struct hp3_linear *linear, uint16_t shift);

/*
 * The self-test found that switches hash the QPN: clears all results. Entries with flows stay,
 * without an id, until the flows have left.
 */
void hp3_paths_by_qpn(struct hp3_paths *t);

/*
 * Routes have changed: clears traces, estimates and failures. Flows stay counted with the port of
 * their entry. The caller then calls hp3_paths_leave() and hp3_paths_enter() for each flow, as
 * after a change of provider.
 */
void hp3_paths_reset(struct hp3_paths *t);

/* Path of (port, qpn): a real id, or HP3_PATH_BY_PORT | port if the provider has no id for it. */
uint32_t hp3_paths_id(const struct hp3_paths *t, uint16_t port, uint32_t qpn);

/*
 * Provider TRACE: a trace of (port, qpn) showed path `id` (< HP3_PATH_BY_PORT). True: an earlier
 * trace showed another path, so routes have changed, and this function has called
 * hp3_paths_reset().
 */
bool hp3_paths_traced(struct hp3_paths *t, uint16_t port, uint32_t qpn, uint32_t id, uint64_t now);

/*
 * Index of the entry of (port, qpn). A new entry replaces the least useful one. -ENOSPC: all
 * entries have flows. The function evicts failed and lossy entries only if they fill more than half
 * of the table, or if all other entries have flows. The index is valid until the next call that may
 * evict; after hp3_paths_enter(), until hp3_paths_leave().
 */
int hp3_paths_get(struct hp3_paths *t, uint16_t port, uint32_t qpn, uint64_t now);

/*
 * A flow of this host becomes active on (port, qpn). Returns an index for hp3_paths_leave(), or
 * -ENOSPC: the flow is not counted.
 */
int hp3_paths_enter(struct hp3_paths *t, uint16_t port, uint32_t qpn, uint64_t now);
void hp3_paths_leave(struct hp3_paths *t, int index); /* negative: no effect */

/*
 * A reply to data or to a probe on this entry. For data, call it once per timed packet or
 * monitoring cycle, not per packet. rtt 0: the RTT was not measured. now > 0. A reply older than
 * the newest reply changes nothing.
 */
void hp3_paths_reply(struct hp3_paths *t, int index, uint32_t rtt, bool marked, uint64_t now);

/*
 * A packet of a queue pair on this entry was marked. From then on, hp3_paths_pick() can leave the
 * entry out, until an unmarked reply arrives.
 */
void hp3_paths_spoil(struct hp3_paths *t, int index);

/* A probe on this entry timed out. True: the path is FAILED now. */
bool hp3_paths_lost(struct hp3_paths *t, int index, uint64_t now);

/* Retransmissions show that this path is lossy. */
void hp3_paths_lossy(struct hp3_paths *t, int index, uint64_t now);

/*
 * Ends LOSSY early, because the path is not lossy. If the path becomes LOSSY again, this counts as
 * a relapse.
 */
void hp3_paths_pardon(struct hp3_paths *t, int index, uint64_t now);

/*
 * Long packets are lost on this entry, though short probes are answered. Sets LOSSY instead of
 * FAILED, because the next answer to a short probe would end FAILED.
 */
void hp3_paths_swallows(struct hp3_paths *t, int index, uint64_t now);

enum hp3_quality hp3_paths_quality(const struct hp3_paths *t, int index, uint64_t now);

/*
 * Candidates for a round of flow `qpn` whose port in use is `in_use` (0: none): up to k ports. Half
 * of the ports select known good paths, drawn at random with weight 1 / (1 + n). Here, n is the
 * number of this host's flows on the path, minus the least number of flows on any of these paths.
 * The other half select unexplored paths. If there are too few paths of one kind, the function
 * takes more of the other kind. If there are too few of both kinds, it adds paths that are
 * congested by RTT only, if the path in use has a higher RTT. Returns the number of candidates.
 */
unsigned hp3_paths_candidates(struct hp3_paths *t, uint32_t qpn, uint16_t in_use, uint16_t *ports,
	unsigned k, uint64_t now);

/*
 * Picks a good path without probes. The function draws one of the known good paths whose RTT is
 * within `equal` percent of the best, with the weights of hp3_paths_candidates(). -ENOENT: no good
 * path is known. `unspoilt`: only paths without marked packets (hp3_paths_spoil()). Without
 * `unspoilt`, a queue pair set up after a collision could get the same port, and collide again.
 */
int hp3_paths_pick(struct hp3_paths *t, uint32_t qpn, bool unspoilt, uint16_t *port, uint64_t now);

/* This host's active flows on the path of (port, qpn). */
uint32_t hp3_paths_used(const struct hp3_paths *t, uint16_t port, uint32_t qpn);

/*
 * *port: a port that selects path `id` with this QPN. -ENOENT: no such port is known, and random
 * draws found none.
 */
int hp3_paths_port(struct hp3_paths *t, uint32_t id, uint32_t qpn, uint16_t *port);

const char *hp3_quality_name(enum hp3_quality q);
