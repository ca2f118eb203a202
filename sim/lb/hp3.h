/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * hp3 as a load balancer of the simulator: every host runs the unchanged engine of hp3d (engine/)
 * between its RNIC and the wire. The engine does not see:
 * - payloads (packets are trusted);
 * - flows within a rack, which have only one path (unless the engine controls rates);
 * - flows of hosts without hp3d (section [peers]);
 * - data and ACKs of WRITEs at the receiving host, where the engine would only forward them. With
 *   rfr.mode = auto or spray, the engine sees the data, which it may have to resequence, and the
 *   NAKs. After a report (see below), it sees all replies of the queue pair.
 *
 * With READs, the engines of both hosts see requests and responses. They may move requests. They
 * move responses only off dead paths, and may spray them (rfr.spray_reads). With hp3-ideal.model or
 * peers.paths_known, and ppp.identity = none, engines get the hash functions of the switches at the
 * start. Real hosts do not have them.
 *
 * Queue pairs come up rnic.setup_us before their first data, so that hp3 has time to probe. Two
 * hosts that exchange data also have an idle queue pair that is never closed, as long-lived
 * services have. So the engine keeps the state of their paths between messages.
 *
 * hp3-paper: the engine with the paper's settings (IWQoS 2026). It probes three random ports at
 * setup, and after three consecutive cycles with a mark. The first port with a faster answer is
 * taken. Rates are raised after a move. It has no path identity and no failover. It uses hp3's own
 * probes, since the paper's NACKs can complete work that was never done (rule 1).
 *
 * An answer leaves with the source port of its probe, to a UDP port that only hp3d uses. So its
 * path may differ from the paths of the next answer and of the RNIC's replies.
 *
 * Dead reply paths (hp3_back.c): the peer's RNIC handles an ACK solicitation as a duplicate. A
 * report makes the peer's engine send the replies of the queue pair from another port.
 */
#include "engine/engine.h"
#include "sim/host/host.h"
#include "sim/lb/lb.h"

#define HP3_SIM_FIRST_PSN 1u /* PSN on the wire of a flow's packet 0 */
#define HP3_SIM_QPN       0x11u
#define HP3_SIM_QPS       4096u /* at most, of a host at a time; power of two */

struct hp3_host {
	struct hp3_engine *engine;
	void *memory;
	struct sim_packet **held; /* by the engine's handle of the packet */
	struct sim_flow *qp[HP3_SIM_QPS]; /* by local QPN */
	uint32_t next_qpn;
	uint64_t tick_at; /* ps, 0: no tick is pending */
	uint8_t *met; /* by peer host: the idle queue pair exists */
	bool poll_scheduled; /* hp3-verbs: its next poll is scheduled */
	bool absent; /* this host has no hp3d (peers.hp3_percent): no calls to its engine */
};

struct hp3_balancer {
	enum sim_policy kind;
	struct hp3_host *host;
	struct sim_model *model; /* by place; NULL: no models */
	uint32_t **seeds; /* by place: seeds for sim_stage.seeds */
	/* by host: the index of its model. Hosts with one link share the place of their leaf; hosts
	 * with several links have their own places. */
	uint32_t *place;
	uint32_t places;
	bool rates; /* moves change the RNICs' rates, which hp3d cannot do */
	struct sim_pool ticks, orders, words;
	struct hp3_engine_config cfg;
	struct hp3_sim_fleet *fleet; /* NULL: no hp3-fleet */
};

/* Per flow. */
struct hp3_sim_flow {
	bool managed; /* an engine has a flow for the queue pair */
	bool reported; /* the responder's engine has received a report of a dead reply path */
	uint32_t lqpn, rqpn; /* QPNs at the requester, at the responder */
	bool suspended; /* the flow is suspended; `saved` is its rate before the move */
	bool clear; /* message-start probing found a clear path */
	struct hp3_dcqcn_snapshot saved;
	/* hp3_fleet.c: last report of the flow, and outcome of the last advice */
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

/* True: there is more than one path between the two hosts. */
static inline bool hp3_sim_choice(const struct sim *s, uint32_t a, uint32_t b)
{
	const struct sim_topo *t = &s->topo;

	return t->leaf[a] != t->leaf[b] || t->group[t->route[a * t->hosts + b]].n > 1;
}

/* hp3_config.c: the engine's configuration, and the models of the switches. */
void hp3_sim_config(struct sim *s, struct hp3_balancer *b);
/* True: engines have the path of each port from the start, as if all ports had been traced. */
bool hp3_sim_paths_known(const struct sim *s, const struct hp3_balancer *b);
int hp3_sim_models(struct sim *s, struct hp3_balancer *b);
/* Makes one engine per host; b->model must be final. */
int hp3_sim_engines(struct sim *s, struct hp3_balancer *b);

/* hp3.c: the packet as the engine reads it. Of its headers, `frame` gets only the addresses. */
#define HP3_SIM_FRAME 64u
struct hp3_pkt hp3_sim_view(struct sim *s, uint8_t *frame, const struct sim_packet *p);

/* hp3_qps.c: the queue pair of a flow comes up; it is closed. */
void hp3_sim_flow_start(struct sim *s, struct sim_flow *f);
void hp3_sim_flow_end(struct sim *s, struct sim_flow *f);

/* hp3_acts.c: carries out the acts of the engine of `host`; schedules its next tick; both. */
void hp3_sim_carry_out(
	struct sim *s, struct hp3_balancer *b, uint32_t host, const struct hp3_acts *acts);
void hp3_sim_wake(struct sim *s, struct hp3_balancer *b, uint32_t host);
void hp3_sim_act(struct sim *s, struct hp3_balancer *b, uint32_t host, const struct hp3_acts *acts);

/* hp3_rates.c: applies an event to the rate of the flow's RNIC. */
void hp3_sim_rates(struct sim *s, struct sim_flow *f, const struct hp3_event *event);

/* hp3_probes.c: sends a packet of hp3d itself from `host`, by the source port. */
void hp3_sim_send(struct sim *s, uint32_t host, struct sim_packet *p, uint16_t port);
/* hp3_probes.c: sends a probe or a trace for the engine of `host`; a probe, a trace or an answer
 * has arrived. */
void hp3_sim_send_probe(struct sim *s, struct hp3_balancer *b, uint32_t host, struct sim_flow *f,
	const struct hp3_act *a);
void hp3_sim_send_trace(struct sim *s, uint32_t host, struct sim_flow *f, const struct hp3_act *a);
void hp3_sim_other(struct sim *s, struct sim_host *host, struct sim_packet *p);
/* True: switches give priority to packets with the DSCP of answers. */
bool hp3_sim_answers_first(const struct sim *s);

/* hp3_several.c: sends a message of the engine of `host` to a peer; delivers held packets to its
 * RNIC; data for the RNIC have arrived. */
void hp3_sim_several(struct hp3_balancer *b);
void hp3_sim_agree(
	struct sim *s, struct hp3_balancer *b, uint32_t host, const struct hp3_act_agree *a);
void hp3_sim_deliver(struct sim *s, struct hp3_host *h, const struct hp3_act *a);
bool hp3_sim_arrived(struct sim *s, struct sim_flow *f, struct sim_packet *p);

/* hp3_back.c: sends an ACK solicitation or a report; a report has arrived; the RNIC sends a
 * reply. */
void hp3_sim_solicit_ack(struct sim *s, uint32_t host, struct sim_flow *f, const struct hp3_act *a);
void hp3_sim_report(struct sim *s, uint32_t host, struct sim_flow *f, const struct hp3_act *a);
bool hp3_sim_is_report(const struct sim_packet *p);
void hp3_sim_reported(struct sim *s, struct hp3_balancer *b, const struct sim_packet *p);
void hp3_sim_answers(struct sim *s, struct sim_flow *f, struct sim_packet *p);

/*
 * hp3 together with hp3-fleet: the simulator runs the shipped code of fleet/. Each host reports its
 * heaviest flows every fleet.interval_us. One planner makes a map and a plan from the reports.
 * Hosts act on the plan as hp3-fleet agent does: their engines probe the advised ports
 * (hp3_advise()). Messages arrive after fleet.delay_us, or are lost. They use no bandwidth.
 *
 * Each host knows from the start to which spine each port leads, as if all ports had been traced.
 * What fleet/ calls a millisecond is a microsecond here, since a whole simulation is as short as
 * one real interval.
 */

/* Returns 0 or -ENOMEM; fleet.interval_us must be > 0. */
int hp3_sim_fleet_start(struct sim *s, struct hp3_balancer *b);
void hp3_sim_fleet_stop(struct hp3_balancer *b);

/* Records the outcome of advice: an event of the flow's engine with the cause ADVICE. */
void hp3_sim_fleet_outcome(struct sim *s, struct sim_flow *f, const struct hp3_event *event);
