/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Situations from which tests of the engine start, on the rig (rig.h): one queue pair `q`,
 * paired by a set-up event, and `psn`, the PSN that its RNIC emits next.
 */
#include "packets.h"

#define NEW_PORT 60000u
#define LEN      1082u /* frame of a middle(): Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4 */
#define CYCLE    (100 * US)
#define RTT      (20 * US)
#define ASKED    4u /* probes of a round */
#define STALL    (500 * US) /* without progress: is the path dead? */
#define TIMEOUT  (200 * US) /* of a probe round */

extern struct qp q;
extern uint32_t psn;

/* --- moves by command --- */

/* A paired flow, PSN 100 to 100 + n - 1 in flight without AckReq. */
void in_flight(uint32_t n);
/* A flow that drains: PSN 100 closes the old path, and 101 to 101 + n - 1 are held. */
void draining(uint32_t n);
/* A flow that was moved to NEW_PORT with nothing in flight, and has sent PSN `p` from there. */
void moved(uint32_t p);
/* A flow on NEW_PORT with a packet in flight, which will not age soon. Returns the next PSN. */
uint32_t moved_and_sending(void);
/* Another local queue pair, connected to the same remote queue pair as q. */
struct qp other_of(uint32_t by);
void assert_paired_with(const struct qp *x);
/* No packet is sent for 200 ms. Then the engine checks the age of all flows once. */
void rests(void);

/* --- monitoring and path search --- */

/* Sets rig.cfg. If you change it further, call rig_configure() or probing_engine() afterwards. */
void probing_config(void);
/* Makes a new engine with rig.cfg, and sets up q. */
void probing_engine(void);
/* Sends one request with AckReq, which is answered after RTT, with or without BECN. Then the rest
 * of the monitoring cycle passes. */
void exchange(bool becn);
/* The same, answered after `rtt`. */
void exchange_after(uint64_t rtt, bool becn);
/* The same with BECN, but time stops at the reply: its effects have just occurred. */
void marked_reply(void);
/* Some cycles without marks, then marks until the path in use is severely congested and the engine
 * acts. */
void congest(void);
/* The peer answers the probes of the newest round, except those on the port in use. */
void others_answer(void);
/* As probing_config(), with detection of dead paths. */
void stall_config(void);
/* Advances time in steps of 50 us. */
void steps(uint64_t ns);
/* A flow whose packets were answered a few times. It then sends two packets that are not
 * answered. */
void silence(void);
/* Advances time until the next probe round is sent, which must be soon. */
void until_asked(void);
/* silence(); then the first probe round is sent. */
void stalled(void);
/* A probe round in which only the probe on the port in use is lost. */
void lose_a_round(void);
/* No packet arrives on the path in use. Three probe rounds show this, and q fails over. */
void path_dies(void);
/* A CNP for q arrives. */
void cnp(void);
uint32_t seen(enum hp3_event_type type); /* events of this type so far */
