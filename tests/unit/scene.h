/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_TEST_SCENE_H
#define HP3_TEST_SCENE_H
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
#define TIMEOUT  (200 * US) /* of a round of probes */

extern struct qp q;
extern uint32_t psn;

/* --- moves by command --- */

/* A paired flow, PSN 100 to 100 + n - 1 in flight without AckReq. */
void in_flight(uint32_t n);
/* In the middle of a drain: 100 closes, 101 to 101 + n - 1 are held. */
void draining(uint32_t n);
/* A flow that was moved to NEW_PORT with nothing in flight, and has sent `p` there. */
void moved(uint32_t p);
/* A flow that is on NEW_PORT, with a packet in flight; nothing ages soon. Returns the next PSN. */
uint32_t moved_and_sending(void);
/* Another local queue pair, connected to the same remote one as q. */
struct qp other_of(uint32_t by);
void assert_paired_with(const struct qp *x);
/* Nothing is sent for 200 ms, and then all flows are looked at once (ageing). */
void rests(void);

/* --- monitoring and path search --- */

/* Fills rig.cfg; call rig_configure() or probing_engine() after changes of your own. */
void probing_config(void);
/* A new engine with rig.cfg, and q set up. */
void probing_engine(void);
/* One request with AckReq, answered after RTT, with BECN or not; then the rest of the cycle. */
void exchange(bool becn);
/* The same, answered after `rtt`. */
void exchange_after(uint64_t rtt, bool becn);
/* The same without the rest of the cycle: what it sets off has just happened. */
void marked_reply(void);
/* A clean spell, then marks until the path in use is severely congested and something is done. */
void congest(void);
/* The peer answers the probes of the newest round that go by other ports than the one in use. */
void others_answer(void);
/* The same, with detection of dead paths. */
void stall_config(void);
/* Advances time in steps of 50 us, as a caller's clock. */
void steps(uint64_t ns);
/* A flow that was answered some times, and then sends two packets that nobody answers. */
void silence(void);
/* Until the next round of probes goes out, which must be soon. */
void until_asked(void);
/* silence(), and the first round of probes is out. */
void stalled(void);
/* A round that only the port in use loses. */
void lose_a_round(void);
/* Nothing comes through any more, three rounds of probes say why: until q has failed over. */
void path_dies(void);
/* A CNP for q. */
void cnp(void);
uint32_t seen(enum hp3_event_type type); /* events of this type so far */

#endif
