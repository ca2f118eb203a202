/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_BYPASS_H
#define HP3D_BYPASS_H
/*
 * Fail-open of rails (app/bypass/bypass.h) as seen by the lcore that has the rail: its heartbeat,
 * the take-over, leaving, and what becomes of packets when it was silent for too long.
 *
 * Per rail, written by its lcore:
 *
 *     WAITING --no other hp3d--> QUIET --awake for back_ms--> SETTLING --1 ms--> RUNNING
 *     RUNNING --somebody says so--> LEAVING --all sent--> QUIET
 *     RUNNING, LEAVING --a frame went direct meanwhile--> QUIET (what is inside is given up)
 *     any --another hp3d took the ports--> REPLACED
 *
 * An hp3d that was killed leaves its ports TAKEN until a packet goes direct: as long as none did,
 * its flows are where it had them.
 *
 * QUIET gives up what the rings hold. SETTLING receives nothing yet, so that frames which went
 * direct a moment ago are gone from the peer's queue before one of ours leaves there (rule 19).
 * Flows are forgotten when the rail goes direct: what the engine knew of them is no longer true.
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
 * Ports must run, lcores not yet. A rail that cannot have it is said to, with the reason, and
 * forwards without; 0. -1 after a message: [bypass] fail_open = on and a rail cannot have it, or an
 * earlier hp3d left something that would forward beside us.
 */
int hp3d_bypass_start(const struct hp3_config *cfg);
/* Waits until every rail that can is RUNNING, 0.2 s at most; says what others wait for. */
void hp3d_bypass_wait(void);
/* All rails go direct, and stay so; takes 0.6 s at most. `poll` is called meanwhile. */
void hp3d_bypass_end(void (*poll)(int timeout_ms));
/*
 * Number of moved flows on rails that are direct for now, as after a hang. Only the kernel knows
 * their ports, until hp3d takes over again. Control thread.
 */
unsigned hp3d_bypass_flows_kept(void);
/* Longest sleep of an lcore that keeps heartbeats fresh; no rail has one: UINT64_MAX. */
uint64_t hp3d_bypass_sleep_ns(void);
/* Ports must still run. What was attached stays and forwards. */
void hp3d_bypass_stop(void);
/* Takes away what is attached to the interfaces of all rails (hp3d --detach): 0 or -1 after a
 * message. */
int hp3d_bypass_detach(const struct hp3_config *cfg);

struct hp3d_bypass *hp3d_bypass(unsigned rail); /* NULL: the rail has none */
/* Did packets go direct since an hp3d before had the rail? Then flows are not where it had them.
 * Before the lcores run. */
bool hp3d_bypass_was_used(const struct hp3d_bypass *b);

/* What the control thread asks of a rail; it comes true at the next heartbeats. */
enum hp3d_bypass_wish { HP3D_BYPASS_TAKE, HP3D_BYPASS_LEAVE, HP3D_BYPASS_END };
void hp3d_bypass_wish(struct hp3d_bypass *b, enum hp3d_bypass_wish wish);
/* RoCEv2 never goes direct, whatever becomes of hp3d, until this is taken back or another one
 * comes.
 */
void hp3d_bypass_close(struct hp3d_bypass *b, bool closed);
/* Is the rail where that wish leads? */
bool hp3d_bypass_is_done(const struct hp3d_bypass *b, enum hp3d_bypass_wish wish);

struct hp3d_bypass_info {
	enum hp3d_bypass_phase phase;
	uint32_t hangs; /* how often what was inside was given up */
	uint32_t left_behind; /* frames that were still inside when leaving took too long */
	uint32_t owner_pid; /* of rnic's port */
	uint32_t restored; /* flows that began where the kernel had kept them, when it took over
			      last */
	uint32_t not_kept; /* moves of which the kernel took no note */
	bool forbidden; /* ... because it needs a capability that was given up */
	struct hp3_bypass_counts dir[2];
};
/* Not for lcores: it asks the kernel. */
struct hp3d_bypass_info hp3d_bypass_info(const struct hp3d_bypass *b);
/* Do RoCEv2 packets go past this hp3d? */
bool hp3d_bypass_is_direct(enum hp3d_bypass_phase phase);
const char *hp3d_bypass_phase_name(enum hp3d_bypass_phase phase);

/* The kernel forgets flows that are no longer away; control thread, now and then. */
void hp3d_bypass_tidy(struct hp3d_bypass *b);

/* The lcore's part. */

/* An event that may be a move. */
void hp3d_bypass_note(struct hp3d_bypass *b, const struct hp3d_event *e);

/* Every round of the loop: heartbeat, at most once in a millisecond, and what it brings. */
void hp3d_bypass_round(struct hp3d_bypass *b, struct hp3d_pipe *p, uint64_t now);

/* What becomes of frames that wait in the rings: they are handled, given up, or wait on. */
enum hp3d_bypass_use { HP3D_BYPASS_HANDLE, HP3D_BYPASS_GIVE_UP, HP3D_BYPASS_WAIT };
enum hp3d_bypass_use hp3d_bypass_use(const struct hp3d_bypass *b);
void hp3d_bypass_give_up(
	struct hp3d_bypass *b, struct hp3d_pipe *p, struct rte_mbuf **m, uint16_t n, uint64_t now);
void hp3d_bypass_received(struct hp3d_bypass *b, enum hp3_dir dir, uint16_t n);
/* So many of those received have not left yet. */
void hp3d_bypass_inside(struct hp3d_bypass *b, enum hp3_dir dir, uint64_t n);
/* May packets of this direction leave? Not if newer ones went direct while we were silent. */
bool hp3d_bypass_may_send(struct hp3d_bypass *b, enum hp3_dir dir);

#endif
