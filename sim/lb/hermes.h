/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_SIM_LB_HERMES_H
#define HP3_SIM_LB_HERMES_H
/*
 * Hermes (Zhang et al., SIGCOMM 2017): hosts (hypervisors) have the list of paths between racks and
 * choose the path of each packet (XPath), so switches decide nothing.
 *
 * Sensing: for each path to a rack, a host keeps the round-trip time and the share of marks, from
 * its own ACKs and from probes. One host of a rack probes each other rack every probe_us, on two
 * random paths and on the last best one, and shares the answers with its rack. A path is good (few
 * marks and a short round trip), congested (many marks and a long one), failed, or gray (all else,
 * also without samples). Failed: three time-outs without an ACK between them, or more than 1 % of
 * its packets missed although it is not congested.
 *
 * Rerouting, "timely yet cautious": a flow that begins, had a time-out, or whose path has failed
 * takes a good path, else a gray one, else any that has not failed; of several, the path on which
 * this host sends least. A flow whose path is congested moves only if it has sent sent_bytes, at
 * less than rate_percent of its link, and only to a path with notably less time and fewer marks.
 *
 * Parameters as in the paper: S 600 KB, R 30 %, 40 % and 5 % of marks. The paper's times are for 10
 * Gb/s, where a hop whose queue is at the marking threshold takes 80 us: base RTT + 20 us, base RTT
 * + 1.5 hops, one hop, a probe every 500 us. Here a hop takes kmin_bytes at the core's rate, and a
 * quarter of a hop replaces the 20 us.
 *
 * Not from the paper: a new round-trip time has weight 1/2. Counts of marks are halved every 100
 * us, as in the authors' simulation. Samples older than forget_us are dropped. probe_us and
 * forget_us are the best of those tried (docs/internals/decisions.md). Sending rates decay by half
 * in 50 us. A loss is a NAK. A failed path stays failed for 100 ms.
 */
#include "sim/lb/paths.h"

enum hermes_class { HERMES_GOOD, HERMES_GRAY, HERMES_CONGESTED, HERMES_FAILED };

/* A path from one host to one rack. Times in ps. */
struct hermes_path {
	uint64_t rtt, sensed_at; /* sensed_at 0: no sample */
	uint64_t halved_at; /* acks and marks */
	uint32_t acks, marks;
	uint64_t epoch_at; /* sent and missed count from then on */
	uint32_t sent, missed;
	uint64_t failed_until;
	uint64_t rate, rate_at; /* decaying count of bytes sent; when it was halved */
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
	struct hermes_path **row; /* source host * leaves + leaf; NULL: no traffic yet */
	struct sim_flow **agent; /* source leaf * leaves + leaf: flow of the probes */
	uint16_t *best; /* the same index: path of the shortest recent answer */
	uint64_t rtt_low, rtt_high, delta_rtt; /* ps */
};

static inline struct hermes_flow *hermes_of(struct sim_flow *f)
{
	return (struct hermes_flow *)f->lb;
}

/* hermes_sense.c: the paths from a host to the rack of another; their number: sim_paths_pair(). */
struct hermes_path *hermes_paths(struct sim *s, struct hermes *h, uint32_t src, uint32_t dst);
enum hermes_class hermes_class(
	const struct sim *s, const struct hermes *h, const struct hermes_path *p);
/* True: `to` is notably better than `from`. */
bool hermes_better(const struct sim *s, const struct hermes *h, const struct hermes_path *to,
	const struct hermes_path *from);
/* An ACK or an answer came back after `rtt` ps. */
void hermes_heard(struct sim *s, struct hermes_path *p, uint64_t rtt, bool marked);
/* A packet left; a packet was missed; the retransmission timer expired. */
void hermes_sent(struct sim *s, struct hermes_path *p, uint32_t bytes);
void hermes_missed(struct sim *s, const struct hermes *h, struct hermes_path *p);
void hermes_timed_out(struct sim *s, struct hermes_path *p);
/* Adds `bytes` to a decaying count of bytes sent, and returns it. */
uint64_t hermes_rate(const struct sim *s, uint64_t *rate, uint64_t *at, uint32_t bytes);

/* hermes_probe.c: starts the agents of all racks; frees them; a packet of an agent arrived. */
void hermes_agents(struct sim *s, struct hermes *h);
void hermes_agents_free(struct hermes *h);
void hermes_other(struct sim *s, struct sim_host *host, struct sim_packet *p);

#endif
