/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * hp3 as a load balancer of the simulator: every host runs the unchanged engine of hp3d (engine/)
 * between its RNIC and the wire. The engine does not see:
 * - payloads (packets are trusted);
 * - flows within a rack, which have only one path (exception: the engine controls rates);
 * - flows of hosts without hp3d (section [peers]);
 * - data and ACKs of WRITEs at the receiving host, where the engine would only forward them.
 *   Exceptions: if rfr.mode is auto or spray, the engine sees the NAKs, and the data, because it
 *   may have to resequence them. After a report (see below), the engine sees all replies of the
 *   queue pair.
 *
 * With READs, the engines of both hosts see requests and responses. The engines may move requests.
 * The engines move responses only off dead paths, and may spray responses (rfr.spray_reads). If
 * ppp.identity is none, and hp3-ideal.model or peers.paths_known is set, engines get the hash
 * functions of the switches at the start. Real hosts do not know these functions.
 *
 * Queue pairs are set up rnic.setup_us before their first data, so that hp3 has time to probe. Two
 * hosts that exchange data also have an idle queue pair that is never closed, like hosts of
 * long-lived services. So the engine keeps the state of the paths between these hosts from message
 * to message.
 *
 * The balancer hp3-paper is the engine with the paper's settings (IWQoS 2026). hp3-paper probes
 * three random ports at set-up, and after three consecutive cycles with a mark. It takes the first
 * port with a faster answer. It raises rates after a move. It has no path identity and no failover.
 * It uses hp3's own probes, because the paper's NACKs can complete work that was never done (rule
 * 1).
 *
 * An answer leaves with the source port of its probe, to a UDP port that only hp3d uses. So an
 * answer may take another path than the next answer, and another path than the RNIC's replies.
 *
 * Dead reply paths (hp3_back.c): the peer's RNIC handles an ACK solicitation as a duplicate. A
 * report makes the peer's engine send the replies of the queue pair from another port.
 */
#include "engine/engine.h"
#include "sim/host/host.h"
#include "sim/lb/lb.h"

#define HP3_SIM_FIRST_PSN 1u /* PSN on the wire of a flow's packet 0 */
#define HP3_SIM_QPN       0x11u
#define HP3_SIM_QPS       4096u /* most queue pairs of a host at a time; a power of two */

struct hp3_host {
	struct hp3_engine *engine;
	void *memory;
	struct sim_packet **held; /* by the engine's handle of the packet */
	struct sim_flow *qp[HP3_SIM_QPS]; /* by local QPN */
	uint32_t next_qpn;
	uint64_t tick_at; /* ps; 0: no tick is scheduled */
	uint8_t *met; /* by peer host: the idle queue pair exists */
	bool poll_scheduled; /* hp3-verbs: its next poll is scheduled */
	bool absent; /* this host has no hp3d (peers.hp3_percent): no calls to its engine */
};

struct hp3_balancer {
	enum sim_policy kind;
	struct hp3_host *host;
	struct sim_model *model; /* by place; NULL: no models */
	uint32_t **seeds; /* by place: arrays for sim_stage.seeds */
	/*
	 * by host: its place, which is the index of its model. Hosts with one link have the place
	 * of their leaf. Each host with several links has its own place.
	 */
	uint32_t *place;
	uint32_t places;
	bool rates; /* true: moves change the rates of RNICs, which hp3d cannot do */
	struct sim_pool ticks, orders, words;
	struct hp3_engine_config cfg;
	struct hp3_sim_fleet *fleet; /* NULL: no hp3-fleet */
};

/* Per flow. */
struct hp3_sim_flow {
	bool managed; /* an engine has a flow for the queue pair */
	bool reported; /* the responder's engine got a report of a dead reply path */
	uint32_t lqpn, rqpn; /* QPN at the requester; QPN at the responder */
	bool suspended; /* the flow is suspended; `saved` is its rate before the move */
	bool clear; /* message-start probing found a clear path */
	struct hp3_dcqcn_snapshot saved;
	/* hp3_fleet.c: the last report of the flow, and the outcome of the last advice */
	struct {
		uint64_t at_us, settled_us, bytes;
		uint32_t moves;
		uint16_t advised_port;
		uint8_t advised; /* enum hp3_fleet_advised */
	} report;
};

static inline struct hp3_sim_flow *hp3_sim_flow_of(struct sim_flow *f)
{
	return (struct hp3_sim_flow *)f->lb;
}

/* True: there may be more than one path between the two hosts, and it is not NVLink. */
static inline bool hp3_sim_choice(const struct sim *s, uint32_t a, uint32_t b)
{
	const struct sim_topo *t = &s->topo;
	const struct sim_group *g = &t->group[t->route[a * t->hosts + b]];

	if (g->n > 0 && sim_topo_is_nvswitch(t, t->owner[t->peer_port[g->port[0]]]))
		return false;
	return t->leaf[a] != t->leaf[b] || g->n > 1;
}

/* hp3_config.c: the engine's configuration, and the models of the switches. */
void hp3_sim_config(struct sim *s, struct hp3_balancer *b);
/* True: engines know the path of each port from the start, as if all ports had been traced. */
bool hp3_sim_paths_known(const struct sim *s, const struct hp3_balancer *b);
int hp3_sim_models(struct sim *s, struct hp3_balancer *b);
/* Makes one engine per host; b->model must be final. */
int hp3_sim_engines(struct sim *s, struct hp3_balancer *b);

/*
 * hp3.c: the packet as the engine reads it. The function writes only the addresses to the headers
 * in `frame`.
 */
#define HP3_SIM_FRAME 64u
struct hp3_pkt hp3_sim_view(struct sim *s, uint8_t *frame, const struct sim_packet *p);

/* hp3_qps.c: call these when the queue pair of a flow is set up, and when it is closed. */
void hp3_sim_flow_start(struct sim *s, struct sim_flow *f);
void hp3_sim_flow_end(struct sim *s, struct sim_flow *f);

/*
 * hp3_acts.c: hp3_sim_carry_out() carries out the acts of the engine of `host`. hp3_sim_wake()
 * schedules the engine's next tick. hp3_sim_act() does both.
 */
void hp3_sim_carry_out(
	struct sim *s, struct hp3_balancer *b, uint32_t host, const struct hp3_acts *acts);
void hp3_sim_wake(struct sim *s, struct hp3_balancer *b, uint32_t host);
void hp3_sim_act(struct sim *s, struct hp3_balancer *b, uint32_t host, const struct hp3_acts *acts);

/* hp3_rates.c: applies an event to the rate of the flow's RNIC. */
void hp3_sim_rates(struct sim *s, struct sim_flow *f, const struct hp3_event *event);

/* hp3_probes.c: sends a packet of hp3d from `host`, with this source port. */
void hp3_sim_send(struct sim *s, uint32_t host, struct sim_packet *p, uint16_t port);
/*
 * hp3_probes.c: the first two functions send a probe and a trace for the engine of `host`. Call
 * hp3_sim_other() when a probe, a trace or an answer has arrived.
 */
void hp3_sim_send_probe(struct sim *s, struct hp3_balancer *b, uint32_t host, struct sim_flow *f,
	const struct hp3_act *a);
void hp3_sim_send_trace(struct sim *s, uint32_t host, struct sim_flow *f, const struct hp3_act *a);
void hp3_sim_other(struct sim *s, struct sim_host *host, struct sim_packet *p);
/* True: switches give priority to packets with the DSCP of answers. */
bool hp3_sim_answers_first(const struct sim *s);

/*
 * hp3_several.c: hp3_sim_agree() sends a message of the engine of `host` to a peer.
 * hp3_sim_deliver() delivers held packets to the host's RNIC. Call hp3_sim_arrived() when data for
 * the RNIC have arrived.
 */
void hp3_sim_several(struct hp3_balancer *b);
void hp3_sim_agree(
	struct sim *s, struct hp3_balancer *b, uint32_t host, const struct hp3_act_agree *a);
void hp3_sim_deliver(struct sim *s, struct hp3_host *h, const struct hp3_act *a);
bool hp3_sim_arrived(struct sim *s, struct sim_flow *f, struct sim_packet *p);

/*
 * hp3_back.c: the first two functions send an ACK solicitation and a report. Call
 * hp3_sim_reported() when a report has arrived, and hp3_sim_answers() when the RNIC sends a reply.
 */
void hp3_sim_solicit_ack(struct sim *s, uint32_t host, struct sim_flow *f, const struct hp3_act *a);
void hp3_sim_report(struct sim *s, uint32_t host, struct sim_flow *f, const struct hp3_act *a);
bool hp3_sim_is_report(const struct sim_packet *p);
void hp3_sim_reported(struct sim *s, struct hp3_balancer *b, const struct sim_packet *p);
void hp3_sim_answers(struct sim *s, struct sim_flow *f, struct sim_packet *p);

/*
 * hp3 together with hp3-fleet: the simulator runs the shipped code of fleet/. Each host reports its
 * heaviest flows every fleet.interval_us. One planner makes a map and a plan from the reports.
 * Hosts act on the plan as hp3-fleet agent does: their engines probe the advised ports
 * (hp3_advise()). Messages arrive after fleet.delay_us, or are lost. Messages use no bandwidth.
 *
 * Each host knows from the start to which spine each port leads, as if all ports had been traced.
 * Times that fleet/ takes as milliseconds are microseconds here, because a whole simulation is as
 * short as one real interval.
 */

/* Returns 0 or -ENOMEM; fleet.interval_us must be > 0. */
int hp3_sim_fleet_start(struct sim *s, struct hp3_balancer *b);
void hp3_sim_fleet_stop(struct hp3_balancer *b);

/* Records the outcome of advice, from an event of the flow's engine with the cause ADVICE. */
void hp3_sim_fleet_outcome(struct sim *s, struct sim_flow *f, const struct hp3_event *event);
