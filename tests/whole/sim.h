/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Two hosts, each with an RNIC behind an hp3d, and a network between them, in one process with one
 * clock and one seed. hp3d is the whole shipped program (host.h). RNICs and the check of order are
 * those of tests/property; each host's queue pairs are in one world (tests/property/world.h).
 *
 *     RNIC 0 --[rnic] hp3d a [net]-- paths --[net] hp3d b [rnic]-- RNIC 1
 *
 * In some worlds, each hp3d has two rails of one bond. The RNICs choose the rail by queue pair,
 * each in its own way, and the network chooses it by source port. So replies arrive on the other
 * rail than the requests. A rail without a link is not chosen.
 *
 * Events are in one list, by time (time.c). A thread of an hp3d runs until it sleeps. Only polls of
 * ports that return no packet take simulated time. Runs with the same seed are identical.
 *
 * Some queue pairs use IPv6. With some seeds, all packets are in a VLAN (one tag or two); with
 * some, links go down.
 *
 * Checks: - order (rule 23) of requests and of replies, at the receiver; - no packet is changed,
 * except for source port, AckReq and BECN, and consequently IPv6's flow label and the ICRC; hp3d's
 * own packets are also in the VLAN; - hp3d's messages to its peer have the class of answer_dscp; -
 * truth: no RNIC completes a request that was not executed (tests/property/world_rnic.c); -
 * conservation, after each step of a process: packets in = out + drops with a reason + held +
 * waiting; - control: every request has an answer, which is JSON with a boolean "ok"; - a clean
 * stop ends in time, with all packet buffers returned and exit code 0. In liveness mode, faults end
 * after some time. Then every queue pair makes progress, `mode off` moves all flows to their home
 * ports, no packet is held, a reload takes effect, and all links are up.
 */
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_ring.h>
#include <stdio.h>
#include "tests/property/world_internal.h"
#include "tests/whole/host.h"

#define MS          1000000ull
#define FRAME_ROOM  640u
#define SIM_PATHS   8u
#define SIM_QPS     4u
#define CLIENTS     3u
#define FIBERS      3u
#define GIVEN       256u /* requests in flight: fewer */
#define CLIENT_LINE 65536u

/* Ports of an hp3d. RNIC_2 and NET_2: of its second rail. */
enum side { RNIC, NET, RNIC_2, NET_2, SIDES };

enum frame_kind { FRAME_REQUEST, FRAME_REPLY, FRAME_CNP, FRAME_OTHER, FRAME_OWN };

/* A frame anywhere between the RNICs. */
struct frame {
	struct frame *next, **link; /* list of the frames that an hp3d has */
	uint8_t kind, from; /* from: host */
	bool dirty; /* damaged by the network */
	bool copy; /* made by the network */
	bool shown; /* copy by the receiver's hp3d: makes its RNIC request missing packets */
	bool loose; /* sent while the receiver's hp3d need not resequence it */
	uint8_t era;
	uint64_t emitted; /* by the RNIC, ns. OWN: earliest time when hp3d can have made it */
	uint32_t members; /* changes of members of bonds before the RNIC emitted it */
	uint16_t len;
	uint64_t seq;
	struct pkt pkt; /* REQUEST */
	struct event reply; /* REPLY */
	uint8_t data[FRAME_ROOM], sent[FRAME_ROOM];
};

struct sim;
struct process;

struct fiber;

struct client {
	int fd; /* -1: none */
	unsigned waits; /* number of answers expected */
	uint64_t asked;
	size_t n;
	char *in;
};

enum process_state { GONE, ALIVE, ENDED };

struct process {
	struct sim *sim;
	unsigned host;
	enum process_state state;
	int code; /* ENDED: of main() */
	unsigned starts;
	void *module;
	whole_main_fn *main;
	whole_account_fn *account;
	whole_in_ring_fn *in_ring;
	whole_qp_fn *qp;
	whole_alloc_fn *alloc;
	whole_free_fn *free;
	whole_reap_fn *reap;
	struct fiber *fibers[FIBERS]; /* the first is the main thread */
	struct whole_host calls;
	void (*handler[32])(int sig);
	bool interrupted;
	bool closing; /* it was asked to end */
	uint64_t frozen_until; /* SIGSTOP */
	int64_t wall_off; /* difference of its wall clock */
	uint64_t rng;
	struct rte_ring *in[SIDES], *out[SIDES]; /* rings of its ports, by side */
	uint16_t port[SIDES];
	bool up[SIDES], closed[SIDES]; /* closed: by hp3d; another port may have its number */
	const struct rte_eth_rxtx_callback *callback[SIDES];
	uint64_t stuck_until[SIDES]; /* the line sends nothing */
	uint64_t stuck_since[SIDES]; /* earliest time of packets in its queue; 0: empty since */
	uint64_t down_until[SIDES]; /* the link is down */
	bool other_member[SIDES]; /* frames for this port take the other member of the bond */
	struct rte_mempool *pool;
	struct rte_mbuf *taken[4096]; /* taken by the simulation to empty the pool */
	unsigned n_taken;
	struct frame *inside;
	uint64_t got, put; /* frames that entered and left it; its own packets do not count */
	struct whole_account seen; /* at the last check */
	struct client clients[CLIENTS];
	char flow[64]; /* a flow id from the last list */
	int64_t hold_us, reported_hold_us; /* max_hold_us: configured; last reported */
	bool ok; /* its health as last reported */
	FILE *log;
	char dir[96], file[128];
	unsigned empty; /* polls without a packet */
};

typedef void sim_fn(struct sim *s, void *arg, uint64_t n);

struct happening {
	uint64_t t, seq;
	sim_fn *fn;
	void *arg;
	uint64_t n;
};

/* X(field): counts over a run */
#define SIM_SUMS(X)                                                                                \
	X(ms)                                                                                      \
	X(frames)                                                                                  \
	X(arrived)                                                                                 \
	X(done)                                                                                    \
	X(lost)                                                                                    \
	X(damaged)                                                                                 \
	X(refused)                                                                                 \
	X(copied)                                                                                  \
	X(dropped)                                                                                 \
	X(paired)                                                                                  \
	X(reported)                                                                                \
	X(sprayed)                                                                                 \
	X(sprayed_reads)                                                                           \
	X(delivered)                                                                               \
	X(shown)                                                                                   \
	X(doubts)                                                                                  \
	X(paced)                                                                                   \
	X(keyed)                                                                                   \
	X(moves)                                                                                   \
	X(recovered)                                                                               \
	X(failovers)                                                                               \
	X(answers)                                                                                 \
	X(reloads)                                                                                 \
	X(stops)                                                                                   \
	X(crashes)                                                                                 \
	X(freezes)                                                                                 \
	X(flaps)

struct sim_result {
	uint64_t hash; /* of all frames sent */
#define X(field) uint64_t field;
	SIM_SUMS(X)
#undef X
};

/* Of the replies that arrived, the one with the highest PSN. */
struct furthest {
	uint64_t seq, lin;
};

struct path {
	uint64_t delay, dead_until, free[2];
	bool hot;
};

struct sim {
	uint64_t seed, rng, now; /* now: clock of host 0 */
	uint64_t began, ahead; /* and when the world began; how far ahead host 1's is */
	bool liveness, failed, calm; /* calm: faults have ended */
	struct world w[2]; /* w[h]: requesters at host h */
	struct process p[2];
	struct happening *list;
	uint32_t n_list, cap;
	uint64_t seq;
	struct path paths[SIM_PATHS];
	uint32_t ipv6; /* bitmap: queue pairs that use IPv6 */
	uint32_t starts; /* number of starts of queue pairs */
	uint32_t vlan; /* one tag or two, in the format of roce/tags.h; 0: none */
	bool flaps;
	bool bond; /* each hp3d has two rails of one bond */
	bool spray, dcqcn, reported; /* reported: watchers report queue pairs; QPNs are reused */
	uint32_t qpn[2][SIM_QPS], turns[2][SIM_QPS]; /* by host; turns: how many QPNs were used */
	uint32_t members; /* how often flows took another member of a bond */
	uint64_t loose_until[2]; /* frames sent to that host before then are loose */
	uint64_t given[2][SIM_QPS][GIVEN]; /* requests that reached the RNIC, by position */
	uint64_t read[2][SIM_QPS][GIVEN]; /* the same for responses, damaged ones included */
	struct furthest furthest[2][SIM_QPS]; /* by requester; with spraying */
	uint64_t read_again_at[2][SIM_QPS]; /* time when a repeated READ last left hp3d */
	uint32_t n_paths, loss_ppm, damage_ppm, copy_ppm;
	uint64_t reply_seq[2], reply_last[2][SIM_QPS], other_seq[2],
		other_last[2][2]; /* by address: without, with */
	uint32_t other_members[2][2]; /* changes of members before the newest of them */
	uint8_t reply_era[2][SIM_QPS];
	bool resuming[2][SIM_QPS];
	uint64_t over_at[2][SIM_QPS]; /* time of the last failover */
	uint64_t set_up_at[2][SIM_QPS]; /* time when the queue pair's life began */
	uint64_t resumed_at[2][SIM_QPS]; /* time when hp3d last resumed after one */
	uint16_t left_on[2][SIM_QPS]; /* last port used */
	uint64_t replies_at[2]; /* time when hp3d last moved replies from a dead path */
	uint16_t replies_left_on[2][SIM_QPS]; /* last port that replies used */
	uint64_t done_before[2][SIM_QPS];
	bool home_only; /* mode off has taken effect: requests leave on the RNIC's ports */
	const char *module_path;
	char dir[64];
	struct sim_result r;
};

#define WRONG(s, ...)                                                                              \
	do {                                                                                       \
		if (!(s)->failed) {                                                                \
			printf("violation, seed %llu, t %llu us: ", (unsigned long long)(s)->seed, \
				(unsigned long long)(s)->now / 1000);                              \
			printf(__VA_ARGS__);                                                       \
			putchar('\n');                                                             \
		}                                                                                  \
		(s)->failed = true;                                                                \
	} while (0)

static inline uint32_t draw(struct sim *s, uint32_t n)
{
	return hp3_random_below(&s->rng, n);
}

static inline bool draws(struct sim *s, uint32_t ppm)
{
	return draw(s, 1000000) < ppm;
}

/* time.c */
void sim_at(struct sim *s, uint64_t t, sim_fn *fn, void *arg, uint64_t n);
void sim_run_until(struct sim *s, uint64_t t); /* or until a violation */
void sim_time_free(struct sim *s);

/* fiber.c: threads of processes */
struct fiber *fiber_start(struct process *p, int (*fn)(void *arg), void *arg);
void fiber_kill(struct fiber *f); /* NULL: none */
bool fiber_sleep(struct process *p, uint64_t until); /* of the thread that runs */
void fiber_kick(struct process *p, bool lcores); /* wakes the lcores, or the main thread */
void fiber_join(struct process *p);
struct process *fiber_process(void); /* the process whose thread runs; NULL: none */
void fiber_free_stacks(void);

/* process.c */
void process_start(struct process *p);
void process_kill(struct process *p); /* as SIGKILL does; or cleans up after its end */
void process_ended(struct process *p); /* checks that it ended as expected */
void process_signal(struct process *p, int sig);
void process_paused(struct process *p); /* a thread has gone to sleep */
void process_check(struct process *p); /* checks conservation */
void process_configure(struct process *p, const char *mode, bool sound);

/* ports.c */
void ports_plug(struct process *p);
void ports_unplug(struct process *p);
void ports_changed(void *p, uint16_t port, bool up);
bool ports_link(void *p, uint16_t port);
void ports_copied(void *p, struct rte_mbuf *copy); /* hp3d has copied a packet that it holds */
bool ports_up(const struct process *p, enum side side); /* has a link, and is enabled */
bool ports_all_up(const struct process *p); /* hp3d has started all ports, and all have links */
bool ports_started(const struct process *p); /* hp3d has started all ports */
/* RNIC or NET: the port of the rail that a bond chooses by `hash`, of the rails with a link. */
enum side ports_choose(struct process *p, enum side kind, uint32_t hash);
void ports_receive(struct process *p, enum side side, struct frame *f); /* takes f */
void ports_drain(struct process *p);
/* The line sends nothing before `until`. */
void ports_stick(struct process *p, enum side side, uint64_t until);
void ports_starve(struct process *p, bool starve);

/* network.c */
struct where {
	uint16_t ip, udp; /* udp 0: neither IPv4 nor IPv6 */
	bool ipv6;
	uint32_t vlan;
};
struct where where_in(const uint8_t *frame);
void network_begin(struct sim *s);
void network_send(struct sim *s, unsigned from, struct frame *f);
void network_calm(struct sim *s);
void network_free(struct sim *s);

/* arrivals.c */
void rnics_take(struct sim *s, unsigned host, struct frame *f); /* takes f */

/* rnics.c */
void rnics_begin(struct sim *s);
void rnics_dispatch(struct world *w, struct event *event);
#define NO_QP SIM_QPS
void rnics_report(struct sim *s, void *arg, uint64_t at); /* a watcher reports; frees arg */
uint32_t rnics_index(const struct sim *s, unsigned host, uint32_t qpn); /* NO_QP: an earlier one */
void rnics_restart(struct sim *s, unsigned host);
void rnics_free(struct sim *s);
void rnics_progress(struct sim *s, bool check);

/* order.c */
/* hp3d has sent frame f. `since`: earliest time at which f can have entered the port's queue; 0: it
 * was not in the queue.
 */
void rnics_leave(struct sim *s, unsigned host, struct frame *f, uint64_t since);
void rnics_event(struct sim *s, unsigned host, const struct hp3_event *event);
void rnics_crashed(struct sim *s, unsigned host);
/* Flows take another member of a bond: packets that wait in two members may overtake each other. */
void rnics_change_members(struct sim *s);
/* Packets in flight to `host`, and those sent to it within the next `ns`, may arrive in any order.
 */
void rnics_doubt(struct sim *s, unsigned host, uint64_t ns);
/* The RNIC sends a READ again; what came behind its loss is of no use. */
void rnics_go_back(struct sim *s, unsigned host, uint32_t qp);

/* clients.c */
void clients_act(struct process *p);
void clients_read(struct process *p);
void clients_close(struct process *p);
void clients_check(struct process *p); /* no answer is overdue */
void clients_ask(struct process *p, const char *line);

/* faults.c */
void faults_begin(struct sim *s);

/* True: `rfr.mode` is spray in this world. */
static inline bool sim_sprays(uint64_t seed)
{
	return seed / 2 % 4 == 1;
}

/* True: each hp3d has two rails of one bond in this world. */
static inline bool sim_bonds(uint64_t seed)
{
	return seed / 2 % 5 == 2;
}

/* True: in this world, reloads set keys that the other host does not accept, or no keys. */
static inline bool sim_keys_change(uint64_t seed)
{
	return seed / 8 % 4 == 1;
}

/* Number of ports of an hp3d. */
static inline enum side sim_sides(const struct sim *s)
{
	return s->bond ? SIDES : RNIC_2;
}

static inline bool is_net(enum side side)
{
	return side & 1;
}

/* trace.c */
void sim_trace(const struct sim *s, const char *what, unsigned host, const struct frame *f);
void sim_trace_event(const struct sim *s, unsigned host, const struct hp3_event *event);

/* sim.c: runs one simulation. Returns 0, or -1 after it has printed a violation. */
int sim_run(uint64_t seed, const char *module, struct sim_result *r);
