/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_VERBS_INTERNAL_H
#define HP3D_VERBS_INTERNAL_H
/* What the files of this module share: listen (the socket), hello (what an application hands over),
 * cells (its queue pairs), act (what the engine wants), verbs_mode (who is when served). */
#include <sys/types.h>
#include "app/hp3d/verbs/verbs_mode.h"
#include "app/hp3d/verbs/claims.h"
#include "app/hp3d/verbs/copies.h"
#include "app/hp3d/verbs/pair_users.h"
#include "app/hp3d/verbs/port_news.h"
#include "app/hp3d/ud/traces.h"
#include "app/hp3d/ud/ud.h"
#include "ppp/least.h"

#define HP3D_VERBS_CHANGES 64u /* queue pairs of an application that come or go, per look */
#define HP3D_VERBS_SAMPLED 1024u /* queue pairs of an application that are felt, per look */
#define HP3D_VERBS_ASKED   64u /* newest cells of an application that were asked something */
#define HP3D_VERBS_SERVED  4u /* hellos and ends, per poll */

#define HP3D_VERBS_BYTES ((size_t)HP3_VERBS_CELLS * sizeof(struct hp3_verbs_cell))

/* What we know of a cell. */
struct hp3d_verbs_cell_state {
	struct hp3_qp_event qp; /* as it was told; kind UP: it is in the engine */
	uint32_t flow; /* HP3_NO_FLOW: not in the engine */
	uint32_t pair; /* while it is there */
	uint32_t generation;
	bool refused; /* this generation */
	bool suspended; /* the engine has asked for it */
	uint8_t asked; /* enum hp3_verbs_op whose answer is waited for */
	uint16_t seq; /* of the newest command */
	uint16_t failed;
	uint32_t samples; /* latency_count, as it was */
	uint64_t posted, done; /* bytes, as they were */
	uint64_t posted_wrs, done_wrs;
	const uint16_t *ports; /* the only ones that can be asked; NULL: all can */
	uint32_t n_ports;
	uint64_t settle_at; /* it is moved to one of them, not before */
	bool settled; /* it is on one of them, or cannot be */
	uint64_t rate_at, rate_done, rate;
	struct hp3_least least;
	uint8_t rnic_port; /* port_news.h */
	uint16_t at; /* in `active` */
};

struct hp3d_verbs_shim {
	int fd; /* -1: free */
	int bell; /* its eventfd, which we only wait for; -1: no hello yet */
	uint64_t since; /* it was accepted */
	uint64_t scanned;
	bool rung; /* look at all cells */
	pid_t pid;
	uid_t uid;
	char comm[16];
	struct hp3_verbs_cell *cells;
	struct hp3d_verbs_cell_state *known;
	uint16_t active[HP3_VERBS_CELLS]; /* cells that are in the engine */
	uint32_t n_active;
	uint32_t next_cell, next_felt; /* where the last look ended */
	uint32_t changes; /* left of HP3D_VERBS_CHANGES */
	uint32_t looked; /* cells that the last look copied */
	uint16_t asked[HP3D_VERBS_ASKED]; /* cells; n_asked % HP3D_VERBS_ASKED is the next */
	uint32_t n_asked; /* ever */
};

/* Whose flow it is. */
struct hp3d_verbs_owner {
	uint16_t shim; /* number + 1; 0: nobody's */
	uint16_t cell;
};

struct hp3d_verbs_pair {
	uint64_t met; /* when hp3d asked last who is at the other end */
	uint32_t qps;
};

struct hp3d_verbs_mode {
	struct hp3d_pipe *pipe;
	const struct hp3_config *cfg;
	struct hp3d_ud *ud; /* NULL: nobody is asked */
	bool settled; /* privileges are, and which ports there are; atomic */
	struct hp3d_port_news news; /* by the main thread; looked at once `settled` was seen */
	struct hp3d_copies copies;
	struct hp3d_ud_traces traces;
	bool asked; /* whether there is an RNIC for `ud` */
	int listener, epoll;
	gid_t group;
	bool by_group;
	char path[108];
	struct hp3_verbs_welcome welcome;
	uint64_t poll_ns, due, now; /* now: of the newest poll */
	uint32_t max_flows, max_pairs;
	struct hp3d_verbs_owner *owners; /* by flow */
	struct hp3d_pair_users pair_users;
	struct hp3d_verbs_pair *pairs; /* by address pair */
	struct hp3d_claims claims;
	struct hp3d_verbs_counters c;
	struct hp3d_verbs_shim shims[HP3D_VERBS_SHIMS];
};

static inline void hp3d_verbs_set_counter(uint64_t *counter, uint64_t value)
{
	__atomic_store_n(counter, value, __ATOMIC_RELAXED);
}

/* listen.c: 0 or a negative errno after a message. */
int hp3d_verbs_listen(struct hp3d_verbs_mode *b, const struct hp3_config *cfg);
/* The next one who waits: its descriptor; -1: nobody, or nobody who may. */
int hp3d_verbs_accept(struct hp3d_verbs_mode *b, pid_t *pid, uid_t *uid);

/* places.c */
/* A place for an application of `uid`: free, or *victim is to leave it first. -1: there is none.
 * Where all are taken, the user with the most of them gives up its newest one to root, and to a
 * user with at least two fewer. */
int hp3d_verbs_find_place(const struct hp3d_verbs_mode *b, uid_t uid, bool *occupied);

/* shares.c */
/* May the application have one more, this one? Root and hp3d's user may while there is room. */
bool hp3d_verbs_has_share(
	const struct hp3d_verbs_mode *b, unsigned shim, const struct hp3_qp_event *qp);

/* hello.c: what it shares is taken over, and it is welcomed. 0; -EAGAIN: it has said nothing yet;
 * or another negative errno. */
int hp3d_verbs_take_hello(struct hp3d_verbs_shim *s, const struct hp3_verbs_welcome *welcome);
void hp3d_verbs_release(struct hp3d_verbs_shim *s); /* all that hello took */

/* untrusted_fds.c */
bool hp3d_verbs_is_eventfd(int fd);
/* Closes what an untrusted application handed over, without waiting for what it may be. Harmless
 * with -1. */
void hp3d_verbs_close_fd(int fd);
/* So many of them do not end: no more is taken. */
bool hp3d_verbs_closing_too_many(void);

/* cells.c */
/* Queue pairs that have come, gone or changed. */
void hp3d_verbs_scan(struct hp3d_verbs_mode *b, unsigned shim, uint64_t now);
/* What those that there are have done. */
void hp3d_verbs_sample(struct hp3d_verbs_mode *b, unsigned shim, uint64_t now);
/* All of them are gone. */
void hp3d_verbs_forget(struct hp3d_verbs_mode *b, unsigned shim, uint64_t now);
/* Who is at the other ends of those that there are? */
void hp3d_verbs_ask_peers(struct hp3d_verbs_mode *b, unsigned shim, uint64_t now);
/* A copy that nobody changes; false: the application writes it all the time. */
bool hp3d_verbs_copy_cell(const struct hp3_verbs_cell *cell, struct hp3_verbs_cell *copy);

/* settle.c */
/* A queue pair that is new in the engine: who is at its other end, which ports it may have. */
void hp3d_verbs_settle_in(struct hp3d_verbs_mode *b, struct hp3d_verbs_cell_state *k,
	const struct hp3_verbs_cell *c, uint64_t now);
/* Asks who is at its other end, once a minute. If only some ports can be asked, moves it to one of
 * them. */
void hp3d_verbs_settle(struct hp3d_verbs_mode *b, struct hp3d_verbs_cell_state *k,
	const struct hp3_verbs_cell *c, uint64_t now);

/* act.c */
/* It need not wait for a path. */
void hp3d_verbs_stay(struct hp3d_verbs_mode *b, uint32_t flow);
void hp3d_verbs_act(void *verbs, const struct hp3_act *act);
/* Has the application answered? */
void hp3d_verbs_check_report(struct hp3d_verbs_mode *b, unsigned shim, uint16_t cell, uint64_t now);
void hp3d_verbs_check_reports(struct hp3d_verbs_mode *b, unsigned shim, uint64_t now);

#endif
