/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * This module sends and receives hp3d's messages in verbs mode. The messages are unreliable
 * datagrams of RNICs. A datagram has the source port of the frame that it carries, so that switches
 * hash the datagram like the queue pairs' own data. The pipe uses this module as its output and
 * input, instead of DPDK ports. Agent and engine do not depend on this module.
 *
 * The module needs an RNIC whose UDP source ports hp3d can choose (rnic.h), and memory that may be
 * registered. It also needs libibverbs, hp3's UDP port, and access to /dev/infiniband. If hosts
 * agree on keys, the module also needs a UDP port below 1024 (CAP_NET_BIND_SERVICE); otherwise,
 * peers do not reply. If one of these is missing, hp3d prints which one, and continues without
 * probes.
 *
 * Only the lcore of the pipe calls this module; any thread may read counters.
 */
#include "app/hp3d/pipe/pipe.h"
#include "app/hp3d/ud/stamps.h"

/* X(field, help) */
#define HP3D_UD_COUNTERS(X)                                                                        \
	X(sent, "datagrams sent to other hosts' hp3d")                                             \
	X(arrived, "datagrams of other hosts' hp3d that arrived")                                  \
	X(senseless, "datagrams that arrived and are not hp3d's")                                  \
	X(no_rnic, "datagrams not sent: no RNIC here has the address")                             \
	X(no_peer,                                                                                 \
		"datagrams not sent: the peer's hp3d has reported no queue pair, or not lately")   \
	X(no_port, "datagrams not sent: no queue pair has that source port")                       \
	X(no_room, "datagrams not sent: too many outstanding, or the RNIC refused it")             \
	X(no_route, "datagrams not sent: no route to the address")                                 \
	X(failed, "datagrams that the RNIC accepted and did not send")                             \
	X(traced, "traces sent")                                                                   \
	X(untraced, "traces not sent: no raw socket, or no route to the address")                  \
	X(expired, "ICMP time exceeded messages of switches")                                      \
	X(stamping, "ports of RNICs that timestamp completions")                                   \
	HP3D_UD_TIMINGS(X)

struct hp3d_ud_counters {
#define X(field, help) uint64_t field;
	HP3D_UD_COUNTERS(X)
#undef X
};

struct hp3d_ud;
struct hp3d_ud_traces;

/*
 * Returns NULL if hp3d cannot send probes. A message names the reason, unless [verbs] ibverbs is
 * empty. *traces must outlive the returned object.
 */
struct hp3d_ud *hp3d_ud_open(
	const struct hp3_config *cfg, struct hp3d_pipe *p, const struct hp3d_ud_traces *traces);
void hp3d_ud_close(struct hp3d_ud *u); /* harmless with NULL */

/*
 * Call it when the local RNIC has a queue pair between these addresses, with this traffic class.
 * Asks the peer's hp3d for its queue pairs, and begins to agree on a key. Call it again every
 * HP3D_UD_MEET_S seconds while the queue pair exists.
 */
#define HP3D_UD_MEET_S 60u
void hp3d_ud_meet(struct hp3d_ud *u, const struct hp3_ends *ends, uint8_t tclass, uint64_t now);
/* Call it when the last such queue pair has ended. Other addresses may then replace the table
 * entries for the two addresses first. */
void hp3d_ud_pair_ended(struct hp3d_ud *u, const struct hp3_ends *ends);
/*
 * Number of ports that can be probed from this address, in *ports; 0: all ports, UINT32_MAX: none.
 * *ports lives as long as u.
 */
uint32_t hp3d_ud_ports(
	struct hp3d_ud *u, bool ipv6, const uint8_t *local, const uint16_t **ports, uint64_t now);

/* Readable when hp3d_ud_poll() has something to do. */
int hp3d_ud_fd(const struct hp3d_ud *u);
uint32_t hp3d_ud_poll(struct hp3d_ud *u, uint64_t now);
uint64_t hp3d_ud_tick(struct hp3d_ud *u, uint64_t now);

const struct hp3d_ud_counters *hp3d_ud_counters(const struct hp3d_ud *u);
