/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_SIM_LB_HERMES_H
#define HP3_SIM_LB_HERMES_H
/*
 * Hermes (Zhang et al., SIGCOMM 2017): hosts (hypervisors) know the paths between racks and give
 * each packet its path (XPath), so switches decide nothing.
 *
 * Sensing: of each path to a rack a host keeps the round-trip time and the share of marks, from its
 * own ACKs and from probes. One host of a rack probes each other rack, every probe_us, on two paths
 * at random and on the one that was best; its whole rack learns the answers. A path is good (few
 * marks and a short round trip), congested (many and a long one), gray (anything else, and what
 * nothing is known of), or failed: three time-outs and no ACK between them, or more than 1 % of its
 * packets missed though it is not congested.
 *
 * Rerouting, timely yet cautious: a flow that begins, that had a time-out or whose path has failed
 * takes a good path, else a gray one, else any that has not failed; of several the one that this
 * host sends least on. One whose path is congested moves only if it has sent sent_bytes, at less
 * than rate_percent of its link, and only to a path that is notably better, in time and in marks.
 *
 * Parameters: S 600 KB, R 30 %, 40 % and 5 % of marks, as in the paper. Its times hold for 10 Gb/s,
 * where a hop whose queue is at the marking threshold takes 80 us: base RTT + 20, base RTT + 1.5
 * hops, one hop, a probe every 500 us. Here a hop takes kmin_bytes at the core's rate, a quarter of
 * it stands for the 20 us.
 *
 * Ours: the weight of a new round-trip time is a half, counts of marks are halved every 100 us (so
 * the authors' simulation), what is older than forget_us is not known any more; probe_us and
 * forget_us are the best of those tried (docs/internals/decisions.md); sending rates decay by half
 * in 50 us; a loss is a NAK; a failed path is so for 100 ms.
 */
#include "sim/lb/paths.h"

enum hermes_class { HERMES_GOOD, HERMES_GRAY, HERMES_CONGESTED, HERMES_FAILED };

/* A path from one host to one rack. Times in ps. */
struct hermes_path {
	uint64_t rtt, sensed_at; /* sensed_at 0: nothing is known */
	uint64_t halved_at; /* acks and marks */
	uint32_t acks, marks;
	uint64_t epoch_at; /* sent and missed count from then on */
	uint32_t sent, missed;
	uint64_t failed_until;
	uint64_t rate, rate_at; /* bytes sent of late, when they were halved */
	uint32_t timeouts; /* since the last ACK */
};

struct hermes_flow {
	uint64_t sent; /* bytes on this path */
	uint64_t rate, rate_at;
	uint16_t path;
	bool known, timed_out;
};

struct hermes {
	struct sim_event probe_now;
	struct sim_paths *paths;
	struct hermes_path **row; /* source host * leaves + leaf; NULL: not met */
	struct sim_flow **agent; /* source leaf * leaves + leaf: what probes belong to */
	uint16_t *best; /* the same: path that answered soonest of late */
	uint64_t rtt_low, rtt_high, delta_rtt; /* ps */
};

static inline struct hermes_flow *hermes_of(struct sim_flow *f)
{
	return (struct hermes_flow *)f->lb;
}

/* hermes_sense.c: the paths from a host to the rack of another; as many as sim_paths_pair() has. */
struct hermes_path *hermes_paths(struct sim *s, struct hermes *h, uint32_t src, uint32_t dst);
enum hermes_class hermes_class(
	const struct sim *s, const struct hermes *h, const struct hermes_path *p);
/* Is `to` notably better than `from`? */
bool hermes_better(const struct sim *s, const struct hermes *h, const struct hermes_path *to,
	const struct hermes_path *from);
/* An ACK or an answer came back after `rtt` ps. */
void hermes_heard(struct sim *s, struct hermes_path *p, uint64_t rtt, bool marked);
/* A packet left; one was missed; none was acknowledged in time. */
void hermes_sent(struct sim *s, struct hermes_path *p, uint32_t bytes);
void hermes_missed(struct sim *s, const struct hermes *h, struct hermes_path *p);
void hermes_timed_out(struct sim *s, struct hermes_path *p);
/* Bytes sent of late, with `bytes` more. */
uint64_t hermes_rate(const struct sim *s, uint64_t *rate, uint64_t *at, uint32_t bytes);

/* hermes_probe.c: the agents of all racks; one of their packets came. */
void hermes_agents(struct sim *s, struct hermes *h);
void hermes_agents_free(struct hermes *h);
void hermes_other(struct sim *s, struct sim_host *host, struct sim_packet *p);

#endif
