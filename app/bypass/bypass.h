/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_BYPASS_H
#define HP3_BYPASS_H
/*
 * Fail-open for ports that are interfaces of the kernel (app/bpf/bypass.bpf.c): frames that hp3d
 * does not take go from port to port in the kernel, whether hp3d lives or not.
 *
 * Invariant: each frame goes one way, by hp3d or direct. The order of a flow is kept where hp3d
 * leaves or comes back by itself; who dies or hangs loses what it holds, and never sends it late:
 * with AF_PACKET sockets the kernel sees to that, with AF_XDP sockets hp3d, which looks before it
 * sends, but for the few microseconds in between.
 *
 * This module calls nothing of hp3's; it knows neither DPDK nor configurations. One thread opens,
 * attaches and closes; the words of a port (the inline functions) may be used by the one thread
 * that handles its frames.
 *
 * What outlives hp3d: the programs at tc ingress and egress of each port (clsact, priority
 * HP3_BYPASS_PRIORITY) and, below HP3_BYPASS_PINS/NETNS/IFINDEX, its maps. NETNS is the network
 * namespace's cookie, which the kernel gives once per boot: interface numbers of other namespaces
 * do not collide.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/types.h>
#include "app/bpf/bypass.h"

#define HP3_BYPASS_PINS     "/sys/fs/bpf/hp3"
#define HP3_BYPASS_PRIORITY 4791u

struct hp3_bypass;

struct hp3_bypass_options {
	int ifindex, peer; /* interfaces of this network namespace */
	uint64_t owner; /* of this process: not 0, never used before (hp3_bypass_now()) */
	uint64_t stale_ns;
	uint32_t frame_max; /* longer frames go direct */
	uint16_t own_port; /* UDP port of datagrams between hp3ds */
	bool from_network; /* what switches answer to traces comes in here; else what the RNIC sends
			    */
	bool by_xdp; /* the driver is net_af_xdp, and has the program of hp3_bypass_xdp_door() */
	uint32_t (*port_weight)(uint32_t after); /* as hp3_icrc_sport_weight() */
};

struct hp3_bypass_counts {
	uint64_t taken; /* frames handed to hp3d */
	uint64_t inside; /* of them: neither sent nor dropped yet */
	uint64_t lost; /* of them: those that the ring had no room for */
	uint64_t roce; /* RoCEv2 frames that went direct */
	uint64_t kept; /* of them: on another port than the RNIC's */
	uint64_t others; /* all else */
	uint64_t closed; /* RoCEv2 frames dropped since the operator forbade to go direct */
};

/*
 * Puts the tap on every AF_PACKET socket of this process that is bound to the interface, or where
 * the interface's XDP program is, and finds or makes the maps. From now on the sockets receive
 * nothing until hp3_bypass_own() and HP3_BYPASS_TAKEN. 0, or a negative errno with the cause and
 * its fix in `why`: -EPROTO: what is attached is of a version of hp3 that shares no layout with
 * this one.
 */
int hp3_bypass_open(
	const struct hp3_bypass_options *o, struct hp3_bypass **b, char *why, size_t cap);
/* From now on what is not taken goes to the peer port. Replaces what an earlier hp3d attached,
 * without a gap. */
int hp3_bypass_attach(struct hp3_bypass *b, const struct hp3_bypass *peer, char *why, size_t cap);
/* What is attached stays; AF_PACKET sockets are as they were before hp3_bypass_open(). Or a
 * negative errno: a socket keeps its tap, and may receive nothing. */
int hp3_bypass_close(struct hp3_bypass *b);

/* Is such a program attached to the interface, at tc ingress? */
bool hp3_bypass_attached(int ifindex);

/*
 * net_af_xdp attaches a program when it opens an interface, and does not if there is one. So what
 * an hp3d that was killed left has to go before; frames take the way past hp3d meanwhile. Waits
 * 3 s at most until that hp3d counts as gone. 0; -EBUSY: it lives, or hangs; or another negative
 * errno; with the cause in `why`.
 */
int hp3_bypass_xdp_clear(int ifindex, char *why, size_t cap);
/* What the driver is to be given as xdp_prog=: a path in this process, valid until it ends; NULL:
 * errno. Everything passes until hp3_bypass_open(). */
const char *hp3_bypass_xdp_door(void);

/* Takes programs and maps away: 0; -ENOENT: there are none; -EBUSY: an hp3d uses them. */
int hp3_bypass_remove(int ifindex, char *why, size_t cap);

/*
 * Flows that are away from the RNIC's ports stay there when their frames go direct. To be told of
 * the side where the RNIC's frames come in; ports of 0: the flow is at home. 0 or a negative errno
 * (-E2BIG: HP3_BYPASS_MOVED flows are away). What was told outlives hp3d: hp3_bypass_kept() gives
 * the flow behind `before` (NULL: the first), false at the end; one at a time may change meanwhile.
 */
int hp3_bypass_keep(struct hp3_bypass *b, const struct hp3_bypass_flow *flow,
	const struct hp3_bypass_ports *ports);
bool hp3_bypass_kept(const struct hp3_bypass *b, const struct hp3_bypass_flow *before,
	struct hp3_bypass_flow *flow, struct hp3_bypass_ports *ports);

struct hp3_bypass_port *hp3_bypass_port(struct hp3_bypass *b);
/* Asks the sockets how many frames found no room, and sends what waits in them. */
void hp3_bypass_settle(struct hp3_bypass *b);
/* Sends what waits in them. False: the kernel has not taken all of it. */
bool hp3_bypass_flush(const struct hp3_bypass *b);
struct hp3_bypass_counts hp3_bypass_counts(const struct hp3_bypass *b);
uint64_t hp3_bypass_now(void); /* CLOCK_MONOTONIC, ns, as the programs see it */

static inline enum hp3_bypass_state hp3_bypass_state(const struct hp3_bypass_port *p)
{
	return (enum hp3_bypass_state)(
		__atomic_load_n(&p->word, __ATOMIC_ACQUIRE) & HP3_BYPASS_STATE);
}

static inline uint64_t hp3_bypass_taken(const struct hp3_bypass_port *p)
{
	return __atomic_load_n(&p->word, __ATOMIC_ACQUIRE) / HP3_BYPASS_FRAME;
}

/* Frames that an hp3d has sent when they had to go direct. */
static inline uint64_t hp3_bypass_late(const struct hp3_bypass_port *p)
{
	return __atomic_load_n(&p->late, __ATOMIC_RELAXED);
}

static inline void hp3_bypass_keepalive(struct hp3_bypass_port *p, uint64_t now)
{
	__atomic_store_n(&p->keepalive_at, now, __ATOMIC_RELAXED);
}

/* False: it was in another state. */
bool hp3_bypass_change(
	struct hp3_bypass_port *p, enum hp3_bypass_state from, enum hp3_bypass_state to);
/* LEAVING -> DIRECT if nothing is inside. True: it is DIRECT. */
bool hp3_bypass_gone(struct hp3_bypass_port *p);

/* Does an hp3d other than `owner` live on this port? */
bool hp3_bypass_is_used(const struct hp3_bypass_port *p, uint64_t owner, uint64_t now);
/* The port is ours: DIRECT, nothing inside. */
void hp3_bypass_own(struct hp3_bypass *b, uint64_t now);

#endif
