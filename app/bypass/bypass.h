/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_BYPASS_H
#define HP3_BYPASS_H
/*
 * Fail-open for ports that are kernel interfaces (app/bpf/bypass.bpf.c): the kernel forwards frames
 * that hp3d does not take from port to port, whether hp3d runs or not.
 *
 * Invariant: each frame is forwarded once, by hp3d or direct. A flow's order is kept if hp3d itself
 * leaves or comes back. An hp3d that dies or hangs loses the frames that it holds, and does not
 * send them late. With AF_PACKET sockets, the kernel enforces that. With AF_XDP sockets, hp3d
 * checks before it sends, so frames may be late within the few microseconds in between.
 *
 * This module calls no other module, and depends on neither DPDK nor the configuration. One thread
 * opens, attaches and closes. The one thread that handles a port's frames may use the port's words
 * (the inline functions).
 *
 * These outlive hp3d: the programs at tc ingress and egress of each port (clsact, priority
 * HP3_BYPASS_PRIORITY) and the port's maps, below HP3_BYPASS_PINS/NETNS/IFINDEX. NETNS is the
 * network namespace's cookie, unique within a boot, so that interface numbers of different
 * namespaces do not collide.
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
	bool from_network; /* the port receives answers of switches to traces; else packets of the
			      RNIC */
	bool by_xdp; /* the driver is net_af_xdp, with the program of hp3_bypass_xdp_door() */
	uint32_t (*port_weight)(uint32_t after); /* as hp3_icrc_sport_weight() */
};

struct hp3_bypass_counts {
	uint64_t taken; /* frames handed to hp3d */
	uint64_t inside; /* of these: neither sent nor dropped yet */
	uint64_t lost; /* of these: dropped, because the ring was full */
	uint64_t roce; /* RoCEv2 frames that went direct */
	uint64_t kept; /* of these: with another UDP source port than the RNIC's */
	uint64_t others; /* all else */
	uint64_t closed; /* RoCEv2 frames dropped, because the operator forbade direct forwarding */
};

/*
 * Finds or makes the maps. Attaches the tap to every AF_PACKET socket of this process that is bound
 * to the interface, or replaces the interface's XDP program by it. From now on the sockets receive
 * nothing until hp3_bypass_own() and HP3_BYPASS_TAKEN. 0, or a negative errno with the cause and
 * its fix in `why`. -EPROTO: the attached programs are of a version of hp3 with another map layout.
 */
int hp3_bypass_open(
	const struct hp3_bypass_options *o, struct hp3_bypass **b, char *why, size_t cap);
/* From now on frames that are not taken go to the peer port. Replaces the programs of an earlier
 * hp3d without a gap. */
int hp3_bypass_attach(struct hp3_bypass *b, const struct hp3_bypass *peer, char *why, size_t cap);
/* Attached programs stay; AF_PACKET sockets are as they were before hp3_bypass_open(). A negative
 * errno: a socket keeps its tap, and may receive nothing. */
int hp3_bypass_close(struct hp3_bypass *b);

/* Is the detour attached to the interface, at tc ingress? */
bool hp3_bypass_attached(int ifindex);

/*
 * net_af_xdp attaches a program when it opens an interface, but not if there is one. So the program
 * of a killed hp3d has to be removed before; frames go direct meanwhile. Waits 3 s at most until
 * that hp3d counts as gone. 0; -EBUSY: it runs, or hangs; or another negative errno; with the cause
 * in `why`.
 */
int hp3_bypass_xdp_clear(int ifindex, char *why, size_t cap);
/* The driver's xdp_prog= argument: a path in this process, valid until it ends; NULL: errno. The
 * program passes everything until hp3_bypass_open(). */
const char *hp3_bypass_xdp_door(void);

/* Removes programs and maps: 0; -ENOENT: there are none; -EBUSY: an hp3d uses them. */
int hp3_bypass_remove(int ifindex, char *why, size_t cap);

/*
 * Moved flows keep their ports when their frames go direct. hp3_bypass_keep() stores a flow's
 * ports, on the side that receives the RNIC's frames; ports of 0: the flow is at home. 0 or a
 * negative errno (-E2BIG: HP3_BYPASS_MOVED flows are stored). The entries outlive hp3d.
 * hp3_bypass_kept() returns the entry after `before` (NULL: the first), false at the end. Between
 * two calls, one entry may change.
 */
int hp3_bypass_keep(struct hp3_bypass *b, const struct hp3_bypass_flow *flow,
	const struct hp3_bypass_ports *ports);
bool hp3_bypass_kept(const struct hp3_bypass *b, const struct hp3_bypass_flow *before,
	struct hp3_bypass_flow *flow, struct hp3_bypass_ports *ports);

struct hp3_bypass_port *hp3_bypass_port(struct hp3_bypass *b);
/* Reads from the sockets how many frames found no room, and flushes them. */
void hp3_bypass_settle(struct hp3_bypass *b);
/* Sends frames that wait in the sockets. False: the kernel has not taken all. */
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

/* Frames that an hp3d sent too late, after newer ones had gone direct. */
static inline uint64_t hp3_bypass_late(const struct hp3_bypass_port *p)
{
	return __atomic_load_n(&p->late, __ATOMIC_RELAXED);
}

static inline void hp3_bypass_keepalive(struct hp3_bypass_port *p, uint64_t now)
{
	__atomic_store_n(&p->keepalive_at, now, __ATOMIC_RELAXED);
}

/* False: the port was in another state. */
bool hp3_bypass_change(
	struct hp3_bypass_port *p, enum hp3_bypass_state from, enum hp3_bypass_state to);
/* LEAVING -> DIRECT if no frame is inside. True: it is DIRECT. */
bool hp3_bypass_gone(struct hp3_bypass_port *p);

/* Does an hp3d other than `owner` use this port? */
bool hp3_bypass_is_used(const struct hp3_bypass_port *p, uint64_t owner, uint64_t now);
/* Takes the port over: DIRECT, no frame inside. */
void hp3_bypass_own(struct hp3_bypass *b, uint64_t now);

#endif
