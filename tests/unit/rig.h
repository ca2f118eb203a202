/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * One engine between a local RNIC and the network. The rig acts as the caller of the engine: it
 * carries out the actions first, then the verdict, keeps the FIFOs of held packets, and records in
 * `rig.wire` the packets that leave for the network, in order. Every packet takes a microsecond.
 *
 * This header has events, commands and time; packets.h has the packets.
 */
#include "engine/engine.h"

#define US       1000ull
#define MS       1000000ull
#define WIRE_MAX 512u

/* One queue pair as the local host sees it. */
struct qp {
	bool ipv6;
	uint32_t vlan; /* as roce/tags.h has it */
	uint8_t priority; /* in its VLAN tags */
	uint8_t local[16], remote[16];
	uint32_t lqpn, rqpn;
	uint16_t home;
};

struct left {
	uint32_t psn;
	uint16_t port;
	bool ackreq;
};

struct rig {
	struct hp3_engine_config cfg; /* change it, then call rig_configure() */
	struct hp3_engine *e;
	uint64_t now;
	unsigned turn; /* chooses the engine's function for the next packet */
	bool damage; /* the next frame gets a wrong ICRC */
	uint32_t cm_psn; /* REQ, REP: first PSN that the other side has to send */
	struct hp3_pkt pkt; /* the last packet of the local RNIC */
	struct hp3_verdict vd; /* of the last packet */
	struct left wire[WIRE_MAX]; /* packets that left for the network */
	uint32_t nwire, held, discarded; /* held: now, in all FIFOs */
	uint32_t nacts_max; /* longest list of actions so far */
	struct hp3_event last; /* newest event */
	struct hp3_event newest[HP3_EVENT_MAX]; /* of each type */
	struct hp3_act act; /* newest action that does not act on held packets */
	struct hp3_act other; /* newest action that is neither EVENT nor PROBE */
	uint32_t acts[HP3_ACT_TRACE + 1]; /* how many of each kind */
	struct hp3_act trace[32]; /* traces sent, a ring: the n-th of them is trace[n % 32] */
	uint32_t nprobes, probe_ids[64], probe_psns[64]; /* probes sent */
	uint16_t probe_ports[64], probe_pads[64];
	uint32_t dropped; /* packets of the local RNIC that the engine dropped */
	uint32_t events[HP3_EVENT_MAX]; /* how many of each type */
};

extern struct rig rig;

/* cmocka fixtures: a fresh rig with the limits of rig.c; no pairing by challenge. */
int rig_setup(void **state);
int rig_teardown(void **state);
#define RIG_TEST(name) cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)
/* A new engine with rig.cfg; clears all records of the rig. */
void rig_configure(void);
void rig_allow_moves(bool allowed); /* by a reload: nothing else changes */

/* Queue pair i of 10.9.0.1 -> 10.9.0.2: QPN 0x1000 + i here, 0x2000 + i there, port 50000 + i. */
struct qp make_qp(unsigned i);

/* A parsed packet of the local RNIC. Returns the engine's verdict; rig.vd has the details.
 */
int rig_transmit(struct hp3_pkt *pkt);
/* A parsed packet from the network. */
void rig_receive(struct hp3_pkt *pkt);

/* Passes the engine an event of a queue pair, with its addresses and QPNs. Returns the value of
 * hp3_qp(). */
int report_event(const struct qp *q, const struct hp3_qp_event *what);
/* Passes the engine a set-up event with the pairing. */
int set_up(const struct qp *q);
int set_up_at(const struct qp *q, uint32_t psn); /* the event also has the first PSN */
int tear_down(const struct qp *q);
/* The queue pair becomes idle, whatever its pairing, and is then torn down. */
void tear_down_at_rest(const struct qp *q);
/* A valid probe of the peer's hp3d arrived. */
void peer_alive(const struct qp *q);

/* Commands. They return the engine's return value. */
int move(const struct qp *q, uint16_t port);
int command(const struct qp *q, enum hp3_cmd_kind kind, uint16_t port);
int advise(const struct qp *q, uint16_t port); /* with tag 77 */

/* The actuator's report on its own part of a move (verbs mode). */
int actuator(const struct qp *q, enum hp3_actuator_report report);
int actuator_failed(const struct qp *q, uint16_t error);
/* A message of the peer's hp3d about an agreement or a hold arrives. */
void agree_arrives(const struct qp *q, const struct hp3_agree *what);
/* Passes the engine what completions show about the path (hp3_completions, verbs mode). */
int complete(const struct qp *q, const struct hp3_completions *what);

/* Reports to the engine that packets have bypassed it (hp3_missed()). */
void missed(void);

/* Advances time in one step: deadlines and ageing. */
void pass_time(uint64_t ns);
/* The peer's hp3d answers the i-th probe sent. */
void probe_reply(uint32_t i, bool ce);

uint32_t flow_of(const struct qp *q); /* HP3_NO_FLOW if there is none */
struct hp3_flow_info info(const struct qp *q);
const struct hp3_stats *stats(void);

/* Checks the packet that left at index `at`. */
#define expect_left(at, p, want_port, want_ackreq)                                                 \
	do {                                                                                       \
		assert_true((at) < rig.nwire);                                                     \
		assert_int_equal(rig.wire[at].psn, p);                                             \
		assert_int_equal(rig.wire[at].port, want_port);                                    \
		assert_int_equal(rig.wire[at].ackreq, want_ackreq);                                \
	} while (0)
