/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_UD_UD_H
#define HP3D_UD_UD_H
/*
 * This module: in verbs mode, what hp3d says and hears of other hosts travels as unreliable
 * datagrams of RNICs, by the source port that the frame has, so that switches hash it as they hash
 * the queue pairs' own data. To the pipe it is where frames leave and arrive; agent and engine know
 * nothing of it.
 *
 * What is needed: a libibverbs, an RNIC of a kind that lets ports be chosen (rnic.h), memory that
 * may be registered, hp3's UDP port; /dev/infiniband open to hp3d's user; where hosts agree on keys
 * UDP ports below 1024 (CAP_NET_BIND_SERVICE), or peers do not reply.
 * Where one is missing hp3d says which in one line, and goes on without: nobody is asked.
 *
 * All of it belongs to the lcore of the pipe; counters may be read by any thread.
 */
#include "app/hp3d/pipe/pipe.h"
#include "app/hp3d/ud/stamps.h"

/* X(field, help) */
#define HP3D_UD_COUNTERS(X)                                                                        \
	X(sent, "datagrams sent to other hosts' hp3d")                                             \
	X(arrived, "datagrams of other hosts' hp3d that arrived")                                  \
	X(senseless, "datagrams that arrived and are none of hp3d's")                              \
	X(no_rnic, "datagrams not sent: no RNIC here has the address")                             \
	X(no_peer, "datagrams not sent: the other host has named no queue pair, or not lately")    \
	X(no_port, "datagrams not sent: no queue pair has that source port")                       \
	X(no_room, "datagrams not sent: too many on their way, or the RNIC took none")             \
	X(no_route, "datagrams not sent: the RNIC finds no route to the address")                  \
	X(failed, "datagrams that the RNIC took and did not send")                                 \
	X(traced, "traces sent")                                                                   \
	X(untraced, "traces not sent: no raw socket, or no route to the address")                  \
	X(expired, "ICMP messages of switches where a hop limit ended")                            \
	X(stamping, "ports of RNICs that stamp completions")                                       \
	HP3D_UD_TIMINGS(X)

struct hp3d_ud_counters {
#define X(field, help) uint64_t field;
	HP3D_UD_COUNTERS(X)
#undef X
};

struct hp3d_ud;
struct hp3d_ud_traces;

/* NULL after a message: there is nobody to ask. The caller's traces live longer. */
struct hp3d_ud *hp3d_ud_open(
	const struct hp3_config *cfg, struct hp3d_pipe *p, const struct hp3d_ud_traces *traces);
void hp3d_ud_close(struct hp3d_ud *u); /* harmless with NULL */

/*
 * The local RNIC has a queue pair between these, whose data are of this class: hp3d asks who is at
 * the other end, and begins to agree on a key. To be called again every HP3D_UD_MEET_S seconds
 * while there is such a queue pair.
 */
#define HP3D_UD_MEET_S 60u
void hp3d_ud_meet(struct hp3d_ud *u, const struct hp3_ends *ends, uint8_t tclass, uint64_t now);
/* The last one has ended: what hp3d has in its tables for the two addresses makes room first. */
void hp3d_ud_pair_ended(struct hp3d_ud *u, const struct hp3_ends *ends);
/*
 * Ports that can be asked from this address; 0: all of them, UINT32_MAX: none. *ports lives as long
 * as u.
 */
uint32_t hp3d_ud_ports(
	struct hp3d_ud *u, bool ipv6, const uint8_t *local, const uint16_t **ports, uint64_t now);

/* Readable when poll has something to do. */
int hp3d_ud_fd(const struct hp3d_ud *u);
uint32_t hp3d_ud_poll(struct hp3d_ud *u, uint64_t now);
uint64_t hp3d_ud_tick(struct hp3d_ud *u, uint64_t now);

const struct hp3d_ud_counters *hp3d_ud_counters(const struct hp3d_ud *u);

#endif
