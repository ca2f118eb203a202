/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_PPP_PATHS_H
#define HP3_PPP_PATHS_H
/*
 * What one address pair knows of its paths, shared by all its flows. A source port is only a
 * lottery ticket; what matters is the path it draws. So the table is keyed by path id, where
 * something tells it (the identity provider):
 *
 *     NONE   nothing does: the port stands for the path
 *     TRACE  hops seen by probes of limited TTL, remembered per port, due anew after recheck_ns
 *     MODEL  a solved linear hash, once it is believed, or what a caller knows of the switches
 *
 * Where switches hash the destination QPN (rule 18, `by_qpn`), port and QPN together are the
 * ticket.
 *
 * Entries are refreshed by every data reply, for free, and by probe replies. A path is UNKNOWN
 * until a reply came, again fresh_ns after the last, and while a probe was lost since; CONGESTED
 * while its marked share or its RTT, against the least RTT of any path, is high; FAILED only on
 * evidence: `losses` probes lost in separate windows, while another path of the pair answered after
 * the first of these losses (else the peer may just be gone), and only until a retry time, which
 * doubles with every relapse. Any reply ends the failure. LOSSY, for a while that doubles likewise,
 * is a path of which a flow's own retransmissions tell (hp3_paths_lossy()): replies say nothing
 * about that, for most of what it carries arrives.
 *
 * Invariants: no candidate and no pick is a FAILED path, nor a LOSSY one where there is any other
 * to ask (no pick at all is); no two candidates of a round are the same
 * path where identity is known, nor is one the path in use; an entry that flows are counted on is
 * never evicted, so the index which hp3_paths_enter() gave stays valid until hp3_paths_leave().
 *
 * Units: nanoseconds; shares in permille or percent as named. Written by the one lcore that owns
 * the address pair.
 */
#include <stdbool.h>
#include <stdint.h>
#include "ppp/linear.h"
#include "ppp/model.h"

#define HP3_PATHS       32u /* entries per address pair */
#define HP3_PATHS_BLOCK 64u /* power of two */
#define HP3_TRACES      64u /* ports whose trace is remembered */

/* Path ids of their own for ports whose path is not known; real ids lie below. */
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
	uint64_t fresh_ns; /* what is older is unknown, but for ... */
	uint64_t recheck_ns; /* a trace that is older is due again */
	uint64_t retry_ns; /* a failed path may be tried again after this, doubling up to 64 x */
	uint64_t lossy_ns; /* what was found LOSSY is so for so long, doubling up to 64 x */
	uint64_t window_ns; /* losses closer together count once (rule 13: >= max RTT) */
	uint16_t rtt_factor; /* percent of the pair's least RTT: congested from here */
	uint8_t ecn_fraction; /* percent of marked replies: congested from here */
	uint8_t fresh_rtts; /* ... so many of the path's least round trips: younger is known */
	uint8_t losses; /* in separate windows: failed (rule 13: >= 3) */
	uint8_t equal; /* percent above the best RTT that counts as equally good */
};

struct hp3_path {
	uint64_t seen; /* last reply; 0: none since the last reset */
	uint64_t lost; /* last loss that counted */
	uint64_t first_lost; /* first loss since the last reply */
	uint64_t retry_at; /* not before; 0: neither failed nor lossy */
	uint32_t id; /* HP3_PATH_NONE: free entry */
	uint32_t qpn; /* QPN with which `port` draws the path; 0 unless by_qpn */
	uint32_t rtt, min_rtt; /* smoothed by 1/8 and least; 0: unknown */
	uint16_t port; /* draws this path */
	uint16_t marked; /* share of marked replies in 1 / HP3_MARKED_ALL, smoothed by 1/8 */
	uint16_t flows; /* our own active flows on this entry */
	uint8_t losses; /* in separate windows since the last reply */
	/* without a long good time between: exponents of the retry time, and of lossy_ns */
	uint8_t failures : 4, relapses : 3;
	uint8_t lossy : 1; /* retry_at: it is, or was; else failed */
};

#define HP3_MARKED_ALL 64000u

_Static_assert(sizeof(struct hp3_path) == 56, "32 of them per address pair");

struct hp3_trace {
	uint64_t checked; /* 0: free */
	uint32_t id;
	uint32_t qpn;
	uint16_t port;
};

/* Memory for the provider TRACE. */
struct hp3_traces {
	struct hp3_trace trace[HP3_TRACES];
};

struct hp3_paths {
	struct hp3_path path[HP3_PATHS];
	const struct hp3_paths_params *params;
	struct hp3_traces *traces; /* TRACE, else NULL */
	const struct hp3_path_model *model; /* MODEL: this one, or ... */
	const struct hp3_linear *linear; /* ... this one (shifted), or NULL */
	struct hp3_tuple tuple; /* addresses and destination port, for `model` */
	uint64_t rng;
	const uint16_t *ports; /* the only ones that there are, the caller's; NULL: all */
	uint16_t n_ports;
	uint16_t block; /* ports are drawn from the HP3_PATHS_BLOCK ones that begin here; 0: from
			   all */
	uint16_t shift; /* hp3_linear_shift() of this pair */
	uint8_t identity; /* enum hp3_path_identity */
	bool by_qpn;
};

/* Identity NONE. `params` stays the caller's and may change between calls. */
void hp3_paths_init(struct hp3_paths *t, const struct hp3_paths_params *params, uint64_t seed);

/* One of the ports that there are. */
uint16_t hp3_paths_draw(struct hp3_paths *t);

/*
 * Another provider: what is known moves over to the new ids. Models and linear hashes are for the
 * caller to verify. A linear one that is not believed is refused with -EAGAIN; one that is refuted
 * later must be left by hp3_paths_identity_none().
 */
void hp3_paths_identity_none(struct hp3_paths *t);
void hp3_paths_identity_trace(struct hp3_paths *t, struct hp3_traces *traces);
void hp3_paths_identity_model(
	struct hp3_paths *t, const struct hp3_path_model *model, const struct hp3_tuple *tuple);
int hp3_paths_identity_linear(struct hp3_paths *t, const struct hp3_linear *linear, uint16_t shift);

/*
 * The self-test found that switches hash the QPN: all that was learnt is void. Entries with flows
 * live on, nameless, until these have left.
 */
void hp3_paths_by_qpn(struct hp3_paths *t);

/*
 * Routes changed: traces, estimates and failures are void. Flows stay counted with the port of the
 * entry that they entered; leave and enter them anew, as after a change of provider.
 */
void hp3_paths_reset(struct hp3_paths *t);

/* Path that (port, qpn) draws: a real id, or HP3_PATH_BY_PORT | port where nothing tells. */
uint32_t hp3_paths_id(const struct hp3_paths *t, uint16_t port, uint32_t qpn);

/* Bitmap of the paths below n (a multiple of 64) that some port is known to draw. */
void hp3_paths_drawn(const struct hp3_paths *t, uint64_t *map, uint32_t n);

/*
 * Provider TRACE: a trace of (port, qpn) showed path `id` (< HP3_PATH_BY_PORT). True if it showed
 * another one before: routes have changed, and hp3_paths_reset() was done.
 */
bool hp3_paths_traced(struct hp3_paths *t, uint16_t port, uint32_t qpn, uint32_t id, uint64_t now);

/*
 * Index of the entry of (port, qpn): found, or taken from the least useful one. -ENOSPC if all
 * entries bear flows. Failures are forgotten only when they fill half of the table. Valid until the
 * next call that may evict; after hp3_paths_enter() until hp3_paths_leave().
 */
int hp3_paths_get(struct hp3_paths *t, uint16_t port, uint32_t qpn, uint64_t now);

/* A flow of ours becomes active on (port, qpn): index to keep, or -ENOSPC: not counted. */
int hp3_paths_enter(struct hp3_paths *t, uint16_t port, uint32_t qpn, uint64_t now);
void hp3_paths_leave(struct hp3_paths *t, int index); /* negative: nothing to do */

/*
 * A reply to data or to a probe that went by this entry; for data once per timed packet or
 * monitoring cycle, not per packet. rtt 0: not timed. now > 0; what is older than the newest reply
 * changes nothing.
 */
void hp3_paths_reply(struct hp3_paths *t, int index, uint32_t rtt, bool marked, uint64_t now);

/* A probe on this entry was not answered within its time-out. True if the path is now FAILED. */
bool hp3_paths_lost(struct hp3_paths *t, int index, uint64_t now);

/* Data that went by this entry were lost so often that it should be left. */
void hp3_paths_lossy(struct hp3_paths *t, int index, uint64_t now);

/* LOSSY it was by mistake. If that was so before, the next time counts as a relapse. */
void hp3_paths_pardon(struct hp3_paths *t, int index, uint64_t now);

/* What is as long as data is lost on this entry, though short probes come through: LOSSY, and not
 * FAILED, which the next of these would end. */
void hp3_paths_swallows(struct hp3_paths *t, int index, uint64_t now);

enum hp3_quality hp3_paths_quality(const struct hp3_paths *t, int index, uint64_t now);

/*
 * Candidates for a round of flow `qpn` whose port in use is `in_use` (0: none is): up to k ports,
 * half of them remembered good paths (drawn with weight 1 / (1 + n), n = flows of ours there above
 * the least), the rest unexplored ones; each half makes up for what the other lacks. Where both
 * lack: paths that are congested by their RTT alone, if the RTT of the path in use is higher.
 * Returns how many.
 */
unsigned hp3_paths_candidates(struct hp3_paths *t, uint32_t qpn, uint16_t in_use, uint16_t *ports,
	unsigned k, uint64_t now);

/*
 * A good path without a round: one of the remembered good ones whose RTT is within `equal` percent
 * of the best, at random by the same weights. -ENOENT if none is remembered.
 */
int hp3_paths_pick(struct hp3_paths *t, uint32_t qpn, uint16_t *port, uint64_t now);

/* Our own active flows on the path that (port, qpn) draws. */
uint32_t hp3_paths_used(const struct hp3_paths *t, uint16_t port, uint32_t qpn);

/* A port that draws path `id` for this QPN. -ENOENT: none is known, or none found by drawing. */
int hp3_paths_port(struct hp3_paths *t, uint32_t id, uint32_t qpn, uint16_t *port);

const char *hp3_quality_name(enum hp3_quality q);

#endif
