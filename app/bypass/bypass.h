/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Fail-open for ports that are kernel interfaces (app/bpf/bypass.bpf.c). A BPF program (the tap)
 * hands frames to hp3d. A second program (the detour) makes the kernel forward all other frames
 * from port to port ("direct"), whether hp3d runs or not. A third program (the gate) drops frames
 * that hp3d sends too late.
 *
 * Invariant: each frame is forwarded once, either by hp3d or direct. The frames of a flow stay in
 * order when hp3d starts, or stops cleanly. An hp3d that dies or hangs loses the frames that it
 * holds, and does not send them late. With AF_PACKET sockets, the gate drops late frames. With
 * AF_XDP sockets, hp3d itself checks, just before sending, that it still may send. A frame is still
 * late if hp3d is descheduled in the few microseconds between this check and the sending.
 *
 * This module calls no other module, and depends on neither DPDK nor the configuration. One thread
 * calls the functions that open, attach and close. The thread that handles a port's frames may call
 * the inline functions for this port.
 *
 * Two things outlive hp3d. One is the programs at tc ingress and egress of each port (clsact,
 * priority HP3_BYPASS_PRIORITY). The other is the port's maps, below HP3_BYPASS_PINS/NETNS/IFINDEX.
 * NETNS is the cookie of the network namespace. The cookie is unique within a boot, so equal
 * interface numbers of different namespaces do not collide.
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
	/* identifies this process: not 0, and unique since boot; for example hp3_bypass_now() at
	 * start */
	uint64_t owner;
	uint64_t stale_ns; /* age of the owner's heartbeat at which frames go direct */
	uint32_t frame_max; /* longer frames go direct */
	uint16_t own_port; /* UDP port of datagrams between hp3ds */
	/* true: the port receives answers of switches to traces; false: the port receives packets
	 * of the RNIC */
	bool from_network;
	bool by_xdp; /* the driver is net_af_xdp, with the program of hp3_bypass_xdp_door() */
	/* computes the same as hp3_icrc_sport_weight() */
	uint32_t (*port_weight)(uint32_t after);
};

struct hp3_bypass_counts {
	uint64_t taken; /* frames handed to hp3d */
	uint64_t inside; /* frames of `taken` that are neither sent nor dropped yet */
	uint64_t lost; /* frames of `taken` that were dropped, because the ring was full */
	uint64_t roce; /* RoCEv2 frames that went direct */
	uint64_t kept; /* frames of `roce` that got another UDP source port than the RNIC's */
	uint64_t others; /* all other frames that went direct */
	uint64_t closed; /* RoCEv2 frames dropped, because the operator forbade direct forwarding */
};

/*
 * Finds or makes the maps. Attaches the tap to every AF_PACKET socket of this process that is bound
 * to the interface, or replaces the interface's XDP program by the tap. After this call, the
 * sockets receive nothing until hp3_bypass_own() was called and the state is HP3_BYPASS_TAKEN.
 * Returns 0, or a negative errno with the cause and its fix in `why`. -EPROTO: the attached
 * programs are of a version of hp3 with another map layout. -ENOTRECOVERABLE: hp3_bypass_open()
 * failed, and a socket still has the tap. That socket may receive nothing.
 */
int hp3_bypass_open(
	const struct hp3_bypass_options *o, struct hp3_bypass **b, char *why, size_t cap);
/*
 * Attaches detour and gate (with net_af_xdp: only the detour). After this call, the kernel sends to
 * the peer port every frame that hp3d does not take. Replaces the programs of an earlier hp3d
 * without a gap.
 */
int hp3_bypass_attach(struct hp3_bypass *b, const struct hp3_bypass *peer, char *why, size_t cap);
/*
 * Leaves detour and gate attached. Returns AF_PACKET sockets to their state before
 * hp3_bypass_open(). A negative errno: a socket still has the tap, and may receive nothing.
 */
int hp3_bypass_close(struct hp3_bypass *b);

/* Is the detour attached to the interface, at tc ingress? */
bool hp3_bypass_attached(int ifindex);

/*
 * Removes the XDP program of a killed hp3d, because net_af_xdp cannot attach its program while
 * another program is attached. Until net_af_xdp has attached its program, frames go direct. Waits
 * at most 3 s until the killed hp3d counts as gone. Returns 0 if the program is removed, or if
 * there was none. Otherwise returns a negative errno, with the cause in `why`. -EBUSY: the hp3d
 * that attached the program runs, or hangs. -EEXIST: the program is not hp3's.
 */
int hp3_bypass_xdp_clear(int ifindex, char *why, size_t cap);
/*
 * Returns the driver's xdp_prog= argument: a path that is valid in this process until the process
 * ends. NULL: see errno. The program passes all frames to the kernel until hp3_bypass_open().
 */
const char *hp3_bypass_xdp_door(void);

/* Removes programs and maps. Returns 0; -ENOENT: there are none; -EBUSY: an hp3d uses them. */
int hp3_bypass_remove(int ifindex, char *why, size_t cap);

/*
 * Moved flows keep their UDP source ports when their frames go direct. hp3_bypass_keep() stores a
 * flow's two ports (requests, replies) in the map of the interface on the RNIC's side. Ports of 0
 * remove the entry: the flow uses its home port. Returns 0 or a negative errno (-E2BIG:
 * HP3_BYPASS_MOVED flows are stored). The entries outlive hp3d. hp3_bypass_kept() writes the entry
 * after `before` (NULL: the first entry) to *flow and *ports. It returns false if there is no such
 * entry. Entries may change between two calls. If `before` was deleted, the iteration starts again
 * at the first entry.
 */
int hp3_bypass_keep(struct hp3_bypass *b, const struct hp3_bypass_flow *flow,
	const struct hp3_bypass_ports *ports);
bool hp3_bypass_kept(const struct hp3_bypass *b, const struct hp3_bypass_flow *before,
	struct hp3_bypass_flow *flow, struct hp3_bypass_ports *ports);

struct hp3_bypass_port *hp3_bypass_port(struct hp3_bypass *b);
/*
 * Reads from the sockets how many frames were lost because a ring was full, and flushes the
 * sockets.
 */
void hp3_bypass_settle(struct hp3_bypass *b);
/*
 * Makes the kernel send frames that wait in the sockets. False: the kernel has not taken all
 * frames.
 */
bool hp3_bypass_flush(const struct hp3_bypass *b);
struct hp3_bypass_counts hp3_bypass_counts(const struct hp3_bypass *b);
uint64_t hp3_bypass_now(void); /* CLOCK_MONOTONIC in ns, the clock of the BPF programs */

static inline enum hp3_bypass_state hp3_bypass_state(const struct hp3_bypass_port *p)
{
	return (enum hp3_bypass_state)(
		__atomic_load_n(&p->word, __ATOMIC_ACQUIRE) & HP3_BYPASS_STATE);
}

static inline uint64_t hp3_bypass_taken(const struct hp3_bypass_port *p)
{
	return __atomic_load_n(&p->word, __ATOMIC_ACQUIRE) / HP3_BYPASS_FRAME;
}

/* Number of frames that an hp3d sent too late, after newer frames had gone direct. */
static inline uint64_t hp3_bypass_late(const struct hp3_bypass_port *p)
{
	return __atomic_load_n(&p->late, __ATOMIC_RELAXED);
}

static inline void hp3_bypass_heartbeat(struct hp3_bypass_port *p, uint64_t now)
{
	__atomic_store_n(&p->heartbeat_at, now, __ATOMIC_RELAXED);
}

/* Changes the state. False: the state was not `from`. */
bool hp3_bypass_change(
	struct hp3_bypass_port *p, enum hp3_bypass_state from, enum hp3_bypass_state to);
/*
 * Changes LEAVING to DIRECT if hp3d has sent or dropped all frames that it took. True: the state is
 * DIRECT.
 */
bool hp3_bypass_gone(struct hp3_bypass_port *p);

/* Does an hp3d other than `owner` use this port? */
bool hp3_bypass_is_used(const struct hp3_bypass_port *p, uint64_t owner, uint64_t now);
/* Makes this process the owner of the port, with state DIRECT and no frames inside. */
void hp3_bypass_own(struct hp3_bypass *b, uint64_t now);
