/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_SIM_LB_HP3_H
#define HP3_SIM_LB_HP3_H
/*
 * hp3 as a load balancer of the simulator: every host runs the project's own engine (engine/),
 * unchanged, between its RNIC and the wire, as hp3d does inline. The engine does not see:
 * - payloads (packets are trusted);
 * - flows within a rack, which have one path, unless the engine controls rates;
 * - flows of hosts without hp3d (section [peers]);
 * - data and ACKs of WRITEs at the receiving host, where it would only forward them; it sees them
 *   if packets are resequenced (rfr.mode = spray).
 * Both engines see both streams of READs: the requests, which they may move, and the responses,
 * which they forward. With hp3.identity = model, the engine gets the hash of the switches at the
 * start, which real hosts do not have.
 *
 * Queue pairs come up rnic.setup_us before their first data, so that hp3 has time to probe. Two
 * hosts that have exchanged data keep one more queue pair, idle and never closed, as long-lived
 * services do: path state outlives single messages.
 *
 * hp3-paper: the engine with the paper's settings (IWQoS 2026): a probe round of three random ports
 * at setup and after three consecutive cycles with a mark; the first faster answer wins; rates are
 * raised after a move; no path identity, no placement, no failover. It uses hp3's own probes: NACKs
 * as in the paper can complete work that was never done (rule 1).
 *
 * Probes carry this host's counts of active flows per path, answers the peer's: counts are as old
 * as the last exchange. With identity model, paths are numbers that all hosts share; with identity
 * trace, names of switches. An answer leaves on the port of its probe, to a UDP port of hp3d's own.
 * So its path differs from those of the next probe's answer and of the RNIC's replies.
 *
 * Dead reply paths (hp3_back.c): an ACK solicitation is a duplicate to the peer's RNIC; a report
 * makes the peer's engine send the replies of that queue pair on another port.
 */
#include "engine/engine.h"
#include "sim/host/host.h"
#include "sim/lb/lb.h"

#define HP3_SIM_FIRST_PSN 1u /* on the wire: packet 0 of a flow */
#define HP3_SIM_QPN       0x11u
#define HP3_SIM_QPS       4096u /* of a host at a time; power of two */

struct hp3_host {
	struct hp3_engine *engine;
	void *memory;
	struct sim_packet **held; /* by the engine's handle */
	struct sim_flow *qp[HP3_SIM_QPS]; /* by local QPN */
	uint32_t next_qpn;
	uint64_t tick_at; /* ps, 0: no tick is pending */
	uint8_t *met; /* by host: the idle queue pair exists */
	bool poll_scheduled; /* hp3-verbs: its next poll is scheduled */
	bool absent; /* no hp3d here (peers.hp3_percent): the engine gets no calls */
};

enum hp3_sim_kind {
	HP3_SIM_SHIPPED, /* as hp3d with the same policy */
	HP3_SIM_IDEAL,
	HP3_SIM_PAPER,
	HP3_SIM_VERBS,
};

struct hp3_balancer {
	enum hp3_sim_kind kind;
	struct hp3_host *host;
	struct sim_model *model; /* by place; NULL: identity none */
	uint32_t **seeds; /* by place: of the models' stages */
	/* by host: hosts of a leaf share a place, hosts with several links have their own */
	uint32_t *place;
	uint32_t places, paths; /* paths: their number with placement by model, else 0 */
	bool named; /* placement by traces: paths have names */
	bool rates; /* moves change the RNICs' rates, which hp3d cannot do */
	struct sim_pool ticks, counts, reports, orders, words;
	uint64_t reported; /* flow reports so far; stamps them in order */
	struct hp3_engine_config cfg;
	struct hp3_sim_fleet *fleet; /* NULL: hosts are alone */
};

/* Per flow. */
struct hp3_sim_flow {
	bool managed; /* an engine has its queue pair */
	bool reported; /* the responder's engine has a report that no reply arrives */
	uint32_t lqpn, rqpn; /* at the requester, at the responder */
	bool suspended; /* `saved` is of its move */
	bool clear; /* message-start probing found a clear path */
	struct hp3_dcqcn_snapshot saved;
	/* hp3_fleet.c: its last report, and the outcome of advice */
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

/* True: two hosts have more than one path between them. */
static inline bool hp3_sim_choice(const struct sim *s, uint32_t a, uint32_t b)
{
	const struct sim_topo *t = &s->topo;

	return t->leaf[a] != t->leaf[b] || t->group[t->route[a * t->hosts + b]].n > 1;
}

/* hp3_config.c: the engine's configuration, and the models of the switches. */
void hp3_sim_config(struct sim *s, struct hp3_balancer *b);
/* True: hosts have the path of each port, as from complete traces. */
bool hp3_sim_paths_known(const struct sim *s, const struct hp3_balancer *b);
int hp3_sim_models(struct sim *s, struct hp3_balancer *b);
/* Makes one engine per host; b->model and b->paths must be final. */
int hp3_sim_engines(struct sim *s, struct hp3_balancer *b);

/* hp3.c: the packet as on the wire, its headers in `frame`. */
#define HP3_SIM_FRAME 64u
struct hp3_pkt hp3_sim_view(struct sim *s, uint8_t *frame, const struct sim_packet *p);
/* hp3.c: a host's IPv4 address, in the engine's format; returns `to`. */
uint8_t *hp3_sim_address(uint8_t *to, uint32_t host);

/* hp3_qps.c: a queue pair comes up; is closed. */
void hp3_sim_flow_start(struct sim *s, struct sim_flow *f);
void hp3_sim_flow_end(struct sim *s, struct sim_flow *f);

/* hp3_acts.c: carries out the acts of the engine of `host`; schedules its next tick. */
void hp3_sim_carry_out(
	struct sim *s, struct hp3_balancer *b, uint32_t host, const struct hp3_acts *acts);
void hp3_sim_wake(struct sim *s, struct hp3_balancer *b, uint32_t host);

/* hp3_rates.c: applies an event to the rate of the flow's RNIC. */
void hp3_sim_rates(struct sim *s, struct sim_flow *f, const struct hp3_event *event);

/* hp3_probes.c: sends a probe or trace of the engine of `host`; such a packet or its answer
 * arrived. */
void hp3_sim_probes(struct hp3_balancer *b);
void hp3_sim_send_probe(struct sim *s, struct hp3_balancer *b, uint32_t host, struct sim_flow *f,
	const struct hp3_act *a);
void hp3_sim_send_trace(struct sim *s, uint32_t host, struct sim_flow *f, const struct hp3_act *a);
void hp3_sim_other(struct sim *s, struct sim_host *host, struct sim_packet *p);
/* True: switches serve packets with the DSCP of answers first. */
bool hp3_sim_answers_first(const struct sim *s);

/* hp3_advertise_ring.c: the engine of `host` advertises to the peer of this flow. */
void hp3_sim_advertise_init(struct hp3_balancer *b);
void hp3_sim_advertise(struct sim *s, struct hp3_balancer *b, uint32_t host, uint32_t flow);
/* ... to its rack peers. */
void hp3_sim_rack(struct sim *s, struct hp3_balancer *b, uint32_t host);

/* The host with this address, in the engine's format. */
uint32_t hp3_sim_host(const uint8_t address[4]);

/* hp3_several.c: a message to another engine; held packets reach their RNIC; WRITE data arrived. */
void hp3_sim_several(struct hp3_balancer *b);
void hp3_sim_agree(
	struct sim *s, struct hp3_balancer *b, uint32_t host, const struct hp3_act_agree *a);
void hp3_sim_deliver(struct sim *s, struct hp3_host *h, const struct hp3_act *a);
bool hp3_sim_arrived(struct sim *s, struct sim_flow *f, struct sim_packet *p);

/* hp3_back.c: sends an ACK solicitation or a report; a report arrived; a reply leaves the RNIC. */
void hp3_sim_solicit_ack(struct sim *s, uint32_t host, struct sim_flow *f, const struct hp3_act *a);
void hp3_sim_report(struct sim *s, uint32_t host, struct sim_flow *f, const struct hp3_act *a);
bool hp3_sim_is_report(const struct sim_packet *p);
void hp3_sim_reported(struct sim *s, struct hp3_balancer *b, const struct sim_packet *p);
void hp3_sim_answers(struct sim *s, struct sim_flow *f, struct sim_packet *p);

#endif
