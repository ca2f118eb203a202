/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_SIM_LB_HP3_H
#define HP3_SIM_LB_HP3_H
/*
 * hp3 as a load balancer of the simulator: every host runs the project's own engine (engine/),
 * unchanged, between its RNIC and the wire, as hp3d does inline. What the engine is not given:
 * payloads (packets are trusted), flows within a rack (no choice there, unless the rate is the
 * engine's), flows of hosts without hp3d (section [peers]), and of WRITEs at the
 * receiving host data and ACKs, which it would pass, but where packets are resequenced (rfr.mode =
 * spray). Of READs both engines see both streams: the
 * requests, which they may move, and the responses, which they pass. What hosts cannot know the
 * engine is told at the start: with hp3.identity = model, the hash of the switches.
 *
 * Queue pairs come up setup_us before their first data (rnic.setup_us), which is hp3's time to
 * probe. Between two hosts that have met there is one more queue pair, quiet and never closed, as
 * between services that stay: what is known of the paths outlives single messages.
 *
 * hp3-paper: the engine set as the paper has it (IWQoS 2026): a probe round of three random ports
 * at setup and after three cycles in a row with a mark, the first answer that is faster wins, rates
 * are raised after a move; no path identity, no placement, no failover. Its probes are hp3's own:
 * NACKs as the paper's can complete work that was never done (rule 1).
 *
 * Probes carry the counts of active flows per path to the peer, its replies the peer's: they are as
 * old as the last exchange. By numbers with identity model, which all hosts share; by names of
 * switches with identity trace. An answer leaves on the port of its probe, to a UDP port of hp3d's
 * own, so its way back is neither that of the next probe's answer nor that of the RNIC's replies.
 *
 * Dead ways back (hp3_back.c): what solicits an ACK is a duplicate to the peer's RNIC; a report
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
	struct sim_packet **held; /* by the engine's number */
	struct sim_flow *qp[HP3_SIM_QPS]; /* by local QPN */
	uint32_t next_qpn;
	uint64_t tick_at; /* ps, 0: no tick is pending */
	uint8_t *met; /* by host: the quiet queue pair is there */
	bool poll_scheduled; /* hp3-verbs: its next poll is scheduled */
	bool absent; /* it runs no hp3d (peers.hp3_percent): its engine is told nothing */
};

enum hp3_sim_kind {
	HP3_SIM_SHIPPED, /* what hp3d does with the same policy */
	HP3_SIM_IDEAL,
	HP3_SIM_PAPER,
	HP3_SIM_VERBS,
};

struct hp3_balancer {
	enum hp3_sim_kind kind;
	struct hp3_host *host;
	struct sim_model *model; /* by place; NULL: identity none */
	uint32_t **seeds; /* by place: of the models' stages */
	/* by host: those of a leaf share one, hosts that choose themselves do not */
	uint32_t *place;
	uint32_t places, paths; /* paths: numbers of them with placement by model, else 0 */
	bool named; /* placement by traces: paths have names */
	bool rates; /* the RNICs' rates follow moves, which no hp3d can make them do */
	struct sim_pool ticks, counts, reports, orders, words;
	uint64_t reported; /* reports of flows so far: each has a later stamp */
	struct hp3_engine_config cfg;
	struct hp3_sim_fleet *fleet; /* NULL: hosts are alone */
};

/* Per flow. */
struct hp3_sim_flow {
	bool managed; /* an engine knows its queue pair */
	bool reported; /* the responder's engine has been told that no reply comes through */
	uint32_t lqpn, rqpn; /* at the requester, at the responder */
	bool suspended; /* `saved` is of its move */
	bool clear; /* a long message waits for a path, and one is clear */
	struct hp3_dcqcn_snapshot saved;
	/* hp3_fleet.c: its last report, and what came of advice */
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

/* Is there more than one path between two hosts? Not within a rack, unless they have links to
 * several. */
static inline bool hp3_sim_choice(const struct sim *s, uint32_t a, uint32_t b)
{
	const struct sim_topo *t = &s->topo;

	return t->leaf[a] != t->leaf[b] || t->group[t->route[a * t->hosts + b]].n > 1;
}

/* hp3_config.c: the engine's configuration, and the models of the switches. */
void hp3_sim_config(struct sim *s, struct hp3_balancer *b);
/* Does the caller know what ports draw? */
bool hp3_sim_paths_known(const struct sim *s, const struct hp3_balancer *b);
int hp3_sim_models(struct sim *s, struct hp3_balancer *b);
/* One engine per host; b->model and b->paths are as they stay. */
int hp3_sim_engines(struct sim *s, struct hp3_balancer *b);

/* hp3.c: the packet as it is on the wire, its headers in `frame`. */
#define HP3_SIM_FRAME 64u
struct hp3_pkt hp3_sim_view(struct sim *s, uint8_t *frame, const struct sim_packet *p);
/* hp3.c: an address as engines have it, four bytes; returns `to`. */
uint8_t *hp3_sim_address(uint8_t *to, uint32_t host);

/* hp3_qps.c: a queue pair comes up, goes. */
void hp3_sim_flow_start(struct sim *s, struct sim_flow *f);
void hp3_sim_flow_end(struct sim *s, struct sim_flow *f);

/* hp3_acts.c: does what the engine of `host` asks for, and sees to its next deadline. */
void hp3_sim_carry_out(
	struct sim *s, struct hp3_balancer *b, uint32_t host, const struct hp3_acts *acts);
void hp3_sim_wake(struct sim *s, struct hp3_balancer *b, uint32_t host);

/* hp3_rates.c: what an event means for the rate of the flow's RNIC. */
void hp3_sim_rates(struct sim *s, struct sim_flow *f, const struct hp3_event *event);

/* hp3_probes.c: what the engine of `host` says of a flow; a probe, a trace, or an answer arrived.
 */
void hp3_sim_probes(struct hp3_balancer *b);
void hp3_sim_send_probe(struct sim *s, struct hp3_balancer *b, uint32_t host, struct sim_flow *f,
	const struct hp3_act *a);
void hp3_sim_send_trace(struct sim *s, uint32_t host, struct sim_flow *f, const struct hp3_act *a);
void hp3_sim_other(struct sim *s, struct sim_host *host, struct sim_packet *p);
/* Do switches serve first what bears the DSCP of answers? */
bool hp3_sim_answers_first(const struct sim *s);

/* hp3_advertise_ring.c: the engine of `host` reports to the peer of this flow. */
void hp3_sim_advertise_init(struct hp3_balancer *b);
void hp3_sim_advertise(struct sim *s, struct hp3_balancer *b, uint32_t host, uint32_t flow);
/* ... to all others of its rack. */
void hp3_sim_rack(struct sim *s, struct hp3_balancer *b, uint32_t host);

/* The host of an address, as engines have it. */
uint32_t hp3_sim_host(const uint8_t address[4]);

/* hp3_several.c: a message to another engine; held packets reach their RNIC; data of a WRITE
 * arrive.
 */
void hp3_sim_several(struct hp3_balancer *b);
void hp3_sim_agree(
	struct sim *s, struct hp3_balancer *b, uint32_t host, const struct hp3_act_agree *a);
void hp3_sim_deliver(struct sim *s, struct hp3_host *h, const struct hp3_act *a);
bool hp3_sim_arrived(struct sim *s, struct sim_flow *f, struct sim_packet *p);

/* hp3_back.c: an ACK solicitation, a report; a report arrived; a reply leaves the RNIC. */
void hp3_sim_solicit_ack(struct sim *s, uint32_t host, struct sim_flow *f, const struct hp3_act *a);
void hp3_sim_report(struct sim *s, uint32_t host, struct sim_flow *f, const struct hp3_act *a);
bool hp3_sim_is_report(const struct sim_packet *p);
void hp3_sim_reported(struct sim *s, struct hp3_balancer *b, const struct sim_packet *p);
void hp3_sim_answers(struct sim *s, struct sim_flow *f, struct sim_packet *p);

#endif
