/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* Types and functions that the files of this module share. The file verbs_mode.c decides when hp3d
 * serves each application. Above the functions of each other file, a comment names the file. */
#include <sys/types.h>
#include "app/control/socket.h"
#include "app/hp3d/verbs/verbs_mode.h"
#include "app/hp3d/verbs/claims.h"
#include "app/hp3d/verbs/copies.h"
#include "app/hp3d/verbs/pair_users.h"
#include "app/hp3d/verbs/port_news.h"
#include "app/hp3d/ud/traces.h"
#include "app/hp3d/ud/ud.h"
#include "ppp/least.h"

/* Bounds of one scan of an application: queue pairs that begin or end, and queue pairs sampled. */
#define HP3D_VERBS_CHANGES 64u
#define HP3D_VERBS_SAMPLED 1024u
/* size of `asked`, the cells with the latest commands of an application */
#define HP3D_VERBS_ASKED  64u
#define HP3D_VERBS_SERVED 4u /* most hellos and closed connections that one poll handles */

#define HP3D_VERBS_BYTES ((size_t)HP3_VERBS_CELLS * sizeof(struct hp3_verbs_cell))

/* hp3d's own state of a cell. */
struct hp3d_verbs_cell_state {
	struct hp3_qp_event qp; /* as the application reported it */
	uint32_t flow; /* HP3_NO_FLOW: not in the engine */
	uint32_t pair; /* index of the address pair; valid while `flow` is valid */
	uint32_t generation;
	bool refused; /* hp3d has refused the queue pair in `qp` of this generation */
	bool suspended; /* the engine has suspended the queue pair */
	uint8_t asked; /* enum hp3_verbs_op: command that the application has not answered yet */
	uint16_t seq, detail; /* of the newest command */
	uint16_t failed; /* errno of the latest failed move; 0: none */
	uint32_t samples; /* latency_count at the last sample */
	uint64_t posted, done; /* bytes at the last sample */
	uint64_t posted_wrs, done_wrs;
	const uint16_t *ports; /* the only ports that can be probed; NULL: no such list */
	uint32_t n_ports;
	uint64_t settle_at; /* do not move the queue pair to one of `ports` before this time */
	/* hp3d_verbs_settle() need not move the queue pair: the port is in `ports`, the port cannot
	 * change, hp3d has given up, or can probe all ports or none */
	bool settled;
	uint8_t settle_tries; /* of a queue pair whose peer may READ; the wait doubles each time */
	uint64_t rate_at, rate_done, rate;
	struct hp3_least least;
	uint8_t rnic_port; /* the RNIC's port in the table of port_news.h */
	uint16_t at; /* index in `active` */
};

struct hp3d_verbs_shim {
	int fd; /* -1: free */
	int bell; /* the application's eventfd, which hp3d only polls; -1: no hello yet */
	uint64_t since; /* when hp3d accepted the connection */
	uint64_t scanned;
	bool rung; /* the application has written to `bell`: scan all cells */
	pid_t pid;
	uid_t uid;
	char comm[16];
	struct hp3_verbs_cell *cells;
	struct hp3d_verbs_cell_state *known;
	uint16_t active[HP3_VERBS_CELLS]; /* cells that are in the engine */
	uint32_t n_active;
	uint32_t next_cell, next_sample; /* where the last scan ended */
	uint32_t changes; /* queue pairs that may still begin or end in this scan */
	uint32_t looked; /* cells that the last scan copied */
	/* latest cells with a command; n_asked % HP3D_VERBS_ASKED is the index of the next entry */
	uint16_t asked[HP3D_VERBS_ASKED];
	uint32_t n_asked; /* number of commands since the application connected */
};

/* The application and cell of a flow. */
struct hp3d_verbs_owner {
	uint16_t shim; /* number + 1; 0: none */
	uint16_t cell;
};

struct hp3d_verbs_pair {
	uint64_t met; /* when hp3d last called hp3d_ud_meet() for the pair */
	uint32_t qps;
};

struct hp3d_verbs_mode {
	struct hp3d_pipe *pipe;
	uint64_t (*clock)(void);
	const struct hp3_config *cfg;
	struct hp3d_ud *ud; /* NULL: hp3d sends no probes */
	bool settled; /* privileges and RNIC ports are final; atomic */
	struct hp3d_port_news news; /* written by the main thread; read once `settled` is true */
	struct hp3d_copies copies;
	struct hp3d_ud_traces traces;
	bool asked; /* hp3d has tried to open `ud` */
	struct hp3d_control_socket socket;
	int epoll;
	struct hp3_verbs_welcome welcome;
	uint64_t poll_ns, due, now; /* now: time of the latest poll */
	uint32_t max_flows, max_pairs;
	struct hp3d_verbs_owner *owners; /* one per flow */
	struct hp3d_pair_users pair_users;
	struct hp3d_verbs_pair *pairs; /* one per address pair */
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
/* Accepts the next connection and returns its descriptor; -1: there is none, or it was refused. */
int hp3d_verbs_accept(struct hp3d_verbs_mode *b, pid_t *pid, uid_t *uid);

/* places.c */
/* Returns the index of a place for an application of `uid`; -1: there is none. If *occupied is
 * true, first disconnect the application that has this place. If all places are taken, the place is
 * that of the newest application of the user with the most applications. Applications of root and
 * of hp3d's user keep their places. Only root, hp3d's user, and a user with at least two
 * applications fewer than the displaced user may take such a place. */
int hp3d_verbs_find_place(const struct hp3d_verbs_mode *b, uid_t uid, bool *occupied);

/* Does the share of the application's user admit this queue pair? Root and hp3d's user may fill the
 * engine's tables. */
bool hp3d_verbs_has_share(
	const struct hp3d_verbs_mode *b, unsigned shim, const struct hp3_qp_event *qp);

/* hello.c: takes over the shared memory and the bell of an application, and sends `welcome` to the
 * application. Returns 0; -EAGAIN: no hello yet; or another negative errno. */
int hp3d_verbs_take_hello(struct hp3d_verbs_shim *s, const struct hp3_verbs_welcome *welcome);
/* Frees the place of an application: unmaps the memory, and closes bell and socket. */
void hp3d_verbs_release(struct hp3d_verbs_shim *s);

/* untrusted_fds.c */
bool hp3d_verbs_is_eventfd(int fd);
/* Closes a descriptor from an untrusted application without waiting: close() may block. Harmless
 * with -1. */
void hp3d_verbs_close_fd(int fd);
/* True: too many of these close() calls have not returned yet, so hp3d must accept no more
 * applications. */
bool hp3d_verbs_closing_too_many(void);

/* cells.c */
/* Finds queue pairs that have begun, ended or changed. */
void hp3d_verbs_scan(struct hp3d_verbs_mode *b, unsigned shim, uint64_t now);
/* Samples what active queue pairs have done. */
void hp3d_verbs_sample(struct hp3d_verbs_mode *b, unsigned shim, uint64_t now);
/* Ends all queue pairs of an application. */
void hp3d_verbs_forget(struct hp3d_verbs_mode *b, unsigned shim, uint64_t now);
/* Call it when hp3d can send datagrams. Calls hp3d_verbs_settle_in() for all active queue pairs. */
void hp3d_verbs_ask_peers(struct hp3d_verbs_mode *b, unsigned shim, uint64_t now);
/* Copies a cell consistently; false: the application wrote it during every try. */
bool hp3d_verbs_copy_cell(const struct hp3_verbs_cell *cell, struct hp3_verbs_cell *copy);

/* settle.c */
/* Call it when a queue pair is new in the engine. Calls hp3d_ud_meet() for the queue pair's peer,
 * and finds out which ports hp3d can probe. If the application has posted nothing yet, begins the
 * path search at set-up. */
void hp3d_verbs_settle_in(struct hp3d_verbs_mode *b, struct hp3d_verbs_cell_state *k,
	const struct hp3_verbs_cell *c, uint64_t now);
/* Calls hp3d_ud_meet() for the queue pair's peer once a minute. If only some ports can be probed,
 * moves the queue pair to one of them after its first post. */
void hp3d_verbs_settle(struct hp3d_verbs_mode *b, struct hp3d_verbs_cell_state *k,
	const struct hp3_verbs_cell *c, uint64_t now);

/* act.c */
/* Lets the application continue: its new queue pair need not wait for a path search. */
void hp3d_verbs_stay(struct hp3d_verbs_mode *b, uint32_t flow);
void hp3d_verbs_act(void *verbs, const struct hp3_act *act);
/* Handles the application's answer to the command of a cell, if the answer has come. */
void hp3d_verbs_check_report(struct hp3d_verbs_mode *b, unsigned shim, uint16_t cell, uint64_t now);
void hp3d_verbs_check_reports(struct hp3d_verbs_mode *b, unsigned shim, uint64_t now);
