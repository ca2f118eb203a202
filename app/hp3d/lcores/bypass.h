/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Fail-open of rails (app/bypass/bypass.h), on the lcore that serves the rail. The lcore writes a
 * heartbeat, and takes over and leaves the rail. If the heartbeat stopped for too long, the lcore
 * drops the packets inside hp3d.
 *
 * Phases of a rail, set by its lcore:
 *
 *     WAITING --no other hp3d has the ports--> QUIET
 *     QUIET --rings empty for 2 ms (after a hang: also 200 ms without a long gap)--> SETTLING
 *     SETTLING --1 ms--> RUNNING
 *     RUNNING --request (moved flows return home first)--> LEAVING --all packets sent--> QUIET
 *     SETTLING, RUNNING, LEAVING --a frame went direct--> QUIET (drops packets inside hp3d)
 *     QUIET --request to end--> WAITING (gives up the ports)
 *     any --another hp3d took the ports--> REPLACED
 *
 * Rails of a bond share an engine. So they take over together: a rail leaves QUIET once the others
 * can, too. If one of them goes direct because of a hang, the others follow.
 *
 * The control thread makes the requests. A gap between heartbeats is long if it exceeds half of
 * stale_ms. If hp3d is killed, its ports keep the state TAKEN until a packet goes direct.
 *
 * In QUIET, the lcore drops the frames in the rings. In SETTLING, the lcore receives nothing yet.
 * So frames that went direct a moment ago leave the peer port's queue before hp3d sends to that
 * port (rule 19). When the rail goes direct, the engine resets its flows, because it does not see
 * packets that go direct.
 */
#include "app/bypass/bypass.h"
#include "app/hp3d/pipe/pipe.h"
#include "config/config.h"

struct rte_mbuf;

enum hp3d_bypass_phase {
	HP3D_BYPASS_WAITING,
	HP3D_BYPASS_QUIET,
	HP3D_BYPASS_SETTLING,
	HP3D_BYPASS_RUNNING,
	HP3D_BYPASS_LEAVING,
	HP3D_BYPASS_REPLACED,
	HP3D_BYPASS_PHASES
};

struct hp3d_bypass;

/*
 * Call it when the ports run, and before the lcores run. If a rail cannot fail open, hp3d prints
 * why, and forwards the rail's packets without fail-open. Returns 0, or -1 after a message. There
 * are three causes of -1. (1) [bypass] fail_open = on, and a rail cannot fail open. (2) A
 * net_af_xdp port would receive nothing, because its BPF programs failed. (3) An earlier hp3d left
 * a program that would forward frames a second time.
 */
int hp3d_bypass_start(const struct hp3_config *cfg);
/* Waits until every rail that can fail open is RUNNING, 0.2 s at most. */
void hp3d_bypass_wait(void);
/* Makes all rails go direct until hp3d ends; takes 0.6 s at most. Meanwhile, calls `poll`. */
void hp3d_bypass_end(void (*poll)(int timeout_ms));
/*
 * Number of moved flows on rails that go direct for a while, for example after a hang. Only the
 * kernel stores the EVs of these flows until hp3d takes the rails over again. Control thread.
 */
unsigned hp3d_bypass_flows_kept(void);
/* Longest sleep of an lcore that writes heartbeats; UINT64_MAX: no lcore writes heartbeats. */
uint64_t hp3d_bypass_sleep_ns(void);
/* Call it while the ports still run. The attached BPF programs stay and forward packets. */
void hp3d_bypass_stop(void);
/* Detaches the programs from the interfaces of all rails (hp3d --detach). Returns 0, or -1 after a
 * message. */
int hp3d_bypass_detach(const struct hp3_config *cfg);

struct hp3d_bypass *hp3d_bypass(unsigned rail); /* NULL: the rail does not fail open */

/* What the control thread requests of a rail. A request takes effect at the next heartbeats. */
enum hp3d_bypass_wish { HP3D_BYPASS_TAKE, HP3D_BYPASS_LEAVE, HP3D_BYPASS_END };
void hp3d_bypass_wish(struct hp3d_bypass *b, enum hp3d_bypass_wish wish);
/* closed: RoCEv2 packets of the rail never go direct, even if hp3d dies. This setting lasts until a
 * call with false, or until another hp3d starts. */
void hp3d_bypass_close(struct hp3d_bypass *b, bool closed);

struct hp3d_bypass_info {
	enum hp3d_bypass_phase phase;
	uint32_t hangs; /* how often packets inside hp3d were dropped */
	uint32_t left_behind; /* frames still inside hp3d when LEAVING timed out */
	uint32_t owner_pid; /* the hp3d that has the port of the RNIC's side */
	uint32_t restored; /* flows restored from the kernel at the latest take-over */
	uint32_t not_kept; /* moves that the kernel could not store */
	bool forbidden; /* the kernel refused a move, because hp3d has dropped a capability */
	struct hp3_bypass_counts dir[2];
};
/* Makes system calls, so lcores must not call it. */
struct hp3d_bypass_info hp3d_bypass_info(const struct hp3d_bypass *b);
/* Do RoCEv2 packets bypass this hp3d? */
bool hp3d_bypass_is_direct(enum hp3d_bypass_phase phase);
const char *hp3d_bypass_phase_name(enum hp3d_bypass_phase phase);

/* Deletes flows from the kernel's table that have ended, or are on their home ports again. The
 * control thread calls it now and then. */
void hp3d_bypass_tidy(struct hp3d_bypass *b);

/* Only the rail's lcore calls the functions below. */

/* If the event is a move, stores the flow's EV in the kernel. */
void hp3d_bypass_note(struct hp3d_bypass *b, const struct hp3d_event *e);

/* Call it in every round of the loop. Writes a heartbeat, at most once per millisecond, and changes
 * the phase if a change is due. */
void hp3d_bypass_round(struct hp3d_bypass *b, struct hp3d_pipe *p, uint64_t now);

/* What to do with frames that wait in the rings: handle them, drop them, or leave them there. */
enum hp3d_bypass_use { HP3D_BYPASS_HANDLE, HP3D_BYPASS_GIVE_UP, HP3D_BYPASS_WAIT };
enum hp3d_bypass_use hp3d_bypass_use(const struct hp3d_bypass *b);
void hp3d_bypass_give_up(
	struct hp3d_bypass *b, struct hp3d_pipe *p, struct rte_mbuf **m, uint16_t n, uint64_t now);
void hp3d_bypass_received(struct hp3d_bypass *b, enum hp3_dir dir, uint16_t n);
/* Records that `n` of the received frames are still inside hp3d. */
void hp3d_bypass_inside(struct hp3d_bypass *b, enum hp3_dir dir, uint64_t n);
/* May packets of this direction leave? False: newer packets went direct, because the heartbeat was
 * too old. */
bool hp3d_bypass_may_send(struct hp3d_bypass *b, enum hp3_dir dir);
