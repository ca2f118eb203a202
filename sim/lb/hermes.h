/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Hermes (Zhang et al., SIGCOMM 2017). Hosts (hypervisors) know the paths between racks, and choose
 * the path of each packet (XPath). Switches do not choose paths.
 *
 * Sensing: for each path to a rack, a host measures the round-trip time and the share of marked
 * packets, with its own ACKs and with probes. In each rack, one host probes each other rack every
 * probe_us, on two random paths and on the previous best path. This host shares the answers with
 * the other hosts of its rack. A path is good (few marks and a short round trip), congested (many
 * marks and a long round trip), failed, or gray. All other paths are gray, including paths without
 * samples. A path has failed after three time-outs without an ACK between them. A path that is not
 * congested has also failed if more than 1 % of its packets are lost.
 *
 * Rerouting, "timely yet cautious": a flow takes a new path when it begins, after a time-out, and
 * when its path has failed. The flow takes a good path; if there is no good path, a gray path;
 * otherwise, any path that has not failed. Of several paths of the same class, it takes the one on
 * which this host sends least. A flow on a congested path moves only if it has sent sent_bytes, and
 * if its rate is below rate_percent of its link. Such a flow moves only to a path whose round-trip
 * time and share of marks are notably lower.
 *
 * Parameters as in the paper: S = 600 KB (sent_bytes), R = 30 % (rate_percent), 40 % marks
 * (ecn_percent), and a difference of 5 % marks (delta_ecn_percent). The paper's times are for 10
 * Gb/s. At this rate, a hop whose queue is at the marking threshold takes 80 us. The times are:
 * base RTT + 20 us (rtt_low), base RTT + 1.5 hops (rtt_high), one hop (delta_rtt), and a probe
 * every 500 us. Here, a hop takes the time of kmin_bytes at the core's rate, and a quarter of this
 * time replaces the 20 us.
 *
 * Not from the paper: a new round-trip time has weight 1/2 in the average. Counts of ACKs and marks
 * are halved every 100 us, as in the authors' simulation. Samples older than forget_us are dropped.
 * Of the values that were tried, probe_us and forget_us have the best
 * (docs/internals/decisions.md). Counts of sent bytes decay by half in 50 us. A NAK counts as a
 * loss. A path counts as failed for 100 ms.
 */
#include "sim/lb/paths.h"

enum hermes_class { HERMES_GOOD, HERMES_GRAY, HERMES_CONGESTED, HERMES_FAILED };

/* A path from one host to one rack. Times in ps. */
struct hermes_path {
	uint64_t rtt, sensed_at; /* sensed_at 0: no sample */
	uint64_t halved_at; /* when acks and marks were halved */
	uint32_t acks, marks;
	uint64_t epoch_at; /* ps, start of the counts `sent` and `missed` */
	uint32_t sent, missed;
	uint64_t failed_until;
	uint64_t rate, rate_at; /* decaying count of bytes sent; time of the last halving */
	uint32_t timeouts; /* since the last ACK */
};

struct hermes_flow {
	uint64_t sent; /* bytes sent on the current path */
	uint64_t rate, rate_at;
	uint16_t path;
	bool known, timed_out;
};

struct hermes {
	struct sim_event probe_now;
	struct sim_paths *paths;
	struct hermes_path **row; /* source host * leaves + leaf; NULL: no traffic yet */
	struct sim_flow **agent; /* source leaf * leaves + leaf: the flow that has the probes */
	uint16_t *best; /* indexed as `agent`: path of the fastest recent answer */
	uint64_t rtt_low, rtt_high, delta_rtt; /* ps */
};

static inline struct hermes_flow *hermes_of(struct sim_flow *f)
{
	return (struct hermes_flow *)f->lb;
}

/*
 * hermes_sense.c: the paths from host src to the rack of dst. sim_paths_pair() returns their
 * number.
 */
struct hermes_path *hermes_paths(struct sim *s, struct hermes *h, uint32_t src, uint32_t dst);
enum hermes_class hermes_class(
	const struct sim *s, const struct hermes *h, const struct hermes_path *p);
/* True: `to` is notably better than `from`. */
bool hermes_better(const struct sim *s, const struct hermes *h, const struct hermes_path *to,
	const struct hermes_path *from);
/* An ACK, or the answer to a probe, arrived after `rtt` ps. */
void hermes_heard(struct sim *s, struct hermes_path *p, uint64_t rtt, bool marked);
/*
 * Call these when a packet has left, when a packet was lost, and when the retransmission timer has
 * expired.
 */
void hermes_sent(struct sim *s, struct hermes_path *p, uint32_t bytes);
void hermes_missed(struct sim *s, const struct hermes *h, struct hermes_path *p);
void hermes_timed_out(struct sim *s, struct hermes_path *p);
/* Adds `bytes` to a decaying count of bytes sent. Returns the new count. */
uint64_t hermes_rate(const struct sim *s, uint64_t *rate, uint64_t *at, uint32_t bytes);

/*
 * hermes_probe.c. An agent is the host of a rack that probes. hermes_agents() starts all agents,
 * and hermes_agents_free() frees them. Call hermes_other() when a packet of an agent has arrived.
 */
void hermes_agents(struct sim *s, struct hermes *h);
void hermes_agents_free(struct hermes *h);
void hermes_other(struct sim *s, struct sim_host *host, struct sim_packet *p);
