/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_BYPASS_H
#define HP3D_BYPASS_H
/*
 * Fail-open of rails (app/bypass/bypass.h) on the lcore that has the rail: its heartbeat, the
 * take-over, leaving, and what happens to packets if the heartbeat stopped for too long.
 *
 * Per rail, written by its lcore:
 *
 *     WAITING --no other hp3d--> QUIET --awake for back_ms--> SETTLING --1 ms--> RUNNING
 * * RUNNING --control thread's wish--> LEAVING --all sent--> QUIET * RUNNING, LEAVING --a frame
 * went direct meanwhile--> QUIET (drops packets inside hp3d)
 *     any --another hp3d took the ports--> REPLACED
 *
 * An hp3d that was killed leaves its ports TAKEN until a packet goes direct. Until then, its flows
 * are on the EVs that it chose.
 *
 * QUIET drops what the rings hold. SETTLING receives nothing yet, so that frames that went direct a
 * moment ago have left the peer port's queue before hp3d sends there (rule 19). When the rail goes
 * direct, the engine resets its flows: their state is no longer true.
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
 * Ports must run, lcores not yet. If a rail cannot fail open, hp3d prints why, and forwards
 * without; 0. -1 after a message: [bypass] fail_open = on and a rail cannot fail open, or an
 * earlier hp3d left a program that would forward frames a second time.
 */
int hp3d_bypass_start(const struct hp3_config *cfg);
/* Waits until every rail that can fail open is RUNNING, 0.2 s at most; prints what others wait
 * for. */
void hp3d_bypass_wait(void);
/* All rails go direct, and stay so; takes 0.6 s at most. `poll` is called meanwhile. */
void hp3d_bypass_end(void (*poll)(int timeout_ms));
/*
 * Number of moved flows on rails that are direct for now, as after a hang. Only the kernel has
 * their ports, until hp3d takes over again. Control thread.
 */
unsigned hp3d_bypass_flows_kept(void);
/* Longest sleep of an lcore that writes heartbeats; UINT64_MAX: no rail has one. */
uint64_t hp3d_bypass_sleep_ns(void);
/* Ports must still run. Attached programs stay and forward. */
void hp3d_bypass_stop(void);
/* Detaches the programs from the interfaces of all rails (hp3d --detach): 0 or -1 after a
 * message. */
int hp3d_bypass_detach(const struct hp3_config *cfg);

struct hp3d_bypass *hp3d_bypass(unsigned rail); /* NULL: the rail has none */
/* Did packets go direct since an earlier hp3d had the rail? Then flows are not on the EVs that it
 * chose. Before the lcores run. */
bool hp3d_bypass_was_used(const struct hp3d_bypass *b);

/* What the control thread requests of a rail; it takes effect at the next heartbeats. */
enum hp3d_bypass_wish { HP3D_BYPASS_TAKE, HP3D_BYPASS_LEAVE, HP3D_BYPASS_END };
void hp3d_bypass_wish(struct hp3d_bypass *b, enum hp3d_bypass_wish wish);
/* RoCEv2 never goes direct, even if hp3d dies, until this is undone or another hp3d starts. */
void hp3d_bypass_close(struct hp3d_bypass *b, bool closed);
/* Has the wish taken effect? */
bool hp3d_bypass_is_done(const struct hp3d_bypass *b, enum hp3d_bypass_wish wish);

struct hp3d_bypass_info {
	enum hp3d_bypass_phase phase;
	uint32_t hangs; /* how often packets inside hp3d were dropped */
	uint32_t left_behind; /* frames still inside when leaving timed out */
	uint32_t owner_pid; /* of rnic's port */
	uint32_t restored; /* flows restored from the kernel at the latest take-over */
	uint32_t not_kept; /* moves that the kernel could not store */
	bool forbidden; /* ... because a capability was dropped */
	struct hp3_bypass_counts dir[2];
};
/* Not for lcores: makes system calls. */
struct hp3d_bypass_info hp3d_bypass_info(const struct hp3d_bypass *b);
/* Do RoCEv2 packets bypass this hp3d? */
bool hp3d_bypass_is_direct(enum hp3d_bypass_phase phase);
const char *hp3d_bypass_phase_name(enum hp3d_bypass_phase phase);

/* Deletes flows from the kernel's table that are at home again; control thread, now and then. */
void hp3d_bypass_tidy(struct hp3d_bypass *b);

/* For the lcore. */

/* An event that may be a move. */
void hp3d_bypass_note(struct hp3d_bypass *b, const struct hp3d_event *e);

/* Every round of the loop: writes a heartbeat, at most once per millisecond, and steps the
 * phase. */
void hp3d_bypass_round(struct hp3d_bypass *b, struct hp3d_pipe *p, uint64_t now);

/* What to do with frames that wait in the rings: handle them, drop them, or leave them there. */
enum hp3d_bypass_use { HP3D_BYPASS_HANDLE, HP3D_BYPASS_GIVE_UP, HP3D_BYPASS_WAIT };
enum hp3d_bypass_use hp3d_bypass_use(const struct hp3d_bypass *b);
void hp3d_bypass_give_up(
	struct hp3d_bypass *b, struct hp3d_pipe *p, struct rte_mbuf **m, uint16_t n, uint64_t now);
void hp3d_bypass_received(struct hp3d_bypass *b, enum hp3_dir dir, uint16_t n);
/* `n` of the received frames have not left yet. */
void hp3d_bypass_inside(struct hp3d_bypass *b, enum hp3_dir dir, uint64_t n);
/* May packets of this direction leave? Not if newer ones went direct because the heartbeat was
 * old. */
bool hp3d_bypass_may_send(struct hp3d_bypass *b, enum hp3_dir dir);

#endif
