/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * An agent sends and receives hp3d's own packets. These are probes and their answers, traces and
 * the ICMP messages that answer traces, messages about sprayed queue pairs, the NAK after a
 * failover, and CNPs. Each pipe has one agent, on the pipe's lcore. An agent takes buffers from a
 * small pool of its own, so probing never takes a buffer from the traffic.
 *
 * An agent's packet has the same link-layer address, VLAN tags and so on as the local host's own
 * packets to that address (neighbours.h). Packets for the peer's hp3d or RNIC that probe no path
 * have their own class of service (ppp.answer_dscp). The agent cannot send to an address to which
 * the host never sent anything; the agent counts packets to such an address.
 *
 * Messages have authentication tags if the two hosts have a common key (probes/tag.h). The key is
 * the probe_key of all hosts, or a key on which the two hosts agreed (agent_keys.c). Without a key,
 * the agent still answers probes (probes/responder.h), and accepts messages of key agreement. It
 * also accepts an answer to its probe if the answer proves that its sender received the probe. All
 * other messages have no effect.
 */
#include "app/hp3d/pipe/event.h"
#include "app/hp3d/pipe/neighbours.h"
#include "config/config.h"
#include "engine/engine.h"
#include "probes/hello.h"
#include "probes/keying.h"
#include "probes/peer.h"
#include "probes/stats.h"

struct rte_mbuf;

/* X(field, help) */
#define HP3D_AGENT_COUNTERS(X)                                                                     \
	X(probes_peer, "peer probes sent")                                                         \
	X(probes_standard, "probes sent that look like a duplicate packet")                        \
	X(reports_sent, "reports to peers that none of their replies arrives")                     \
	X(ack_solicitations_sent,                                                                  \
		"duplicates sent to make a peer's RNIC repeat its acknowledgement")                \
	X(agreements_sent, "messages to peers about queue pairs that are sprayed")                 \
	X(keys_refused, "messages of peers about keys dropped: this host agrees on no keys "       \
			"([probes] keys)")                                                         \
	X(probe_no_route,                                                                          \
		"packets of hp3d not sent: this host never sent anything to that address")         \
	X(probe_no_buffer, "packets of hp3d not sent: no packet buffer")

struct hp3d_agent_counters {
#define X(field, help) uint64_t field;
	HP3D_AGENT_COUNTERS(X)
#undef X
};

struct hp3d_agent;

/* Number of address pairs for which tables of peers have room. The number is max_pairs rounded up
 * to a power of two, at least 1,024 and at most 1,048,576. */
static inline uint32_t hp3d_agent_pairs(const struct hp3_config *cfg)
{
	uint32_t n = 1u << 10;

	while (n < cfg->engine.max_pairs && n < 1u << 20)
		n *= 2;
	return n;
}

/* `name`: of the agent's packet pool, which lives as long as the process. NULL: see errno. */
struct hp3d_agent *hp3d_agent_create(
	const struct hp3_config *cfg, unsigned rail, const char *name, int socket);
void hp3d_agent_free(struct hp3d_agent *a);
void hp3d_agent_reconfigure(struct hp3d_agent *a, const struct hp3_config *cfg);

/* Call it with a packet from the RNIC's side: the agent learns how to address the packet's
 * destination. If the packet is of a reliable connection, the agent begins key agreement with the
 * destination. */
void hp3d_agent_learn(struct hp3d_agent *a, const struct hp3_parsed *f, uint64_t now);

/* Verbs mode: the RNIC has no queue pair between these addresses any more. */
void hp3d_agent_pair_ended(struct hp3d_agent *a, const struct hp3_ends *ends);

/* Makes the packet for a PROBE, TRACE, AGREE, NAK, CNP, CNP_OWED, REPORT or SOLICIT_ACK action;
 * *dir: the direction in which to send the packet. NULL: the flow no longer exists, or the packet
 * cannot be sent. The agent counts packets that cannot be sent. */
struct rte_mbuf *hp3d_agent_make(struct hp3d_agent *a, const struct hp3_engine *e,
	const struct hp3_act *act, uint64_t now, enum hp3_dir *dir);

/* True: the packet is a datagram of the local host to hp3's port. Peers would mistake it for a
 * message of hp3d. */
bool hp3d_agent_is_of_host(const struct hp3d_agent *a, const struct hp3_pkt *pkt);

/* Cheap test: may this packet from the network be for hp3d? */
static inline bool hp3d_agent_wants(const struct hp3_view *v)
{
	return (v->class == HP3_CLASS_OTHER &&
		       (v->reason == HP3_PARSE_NOT_ROCE || v->reason == HP3_PARSE_NOT_UDP)) ||
	       hp3_peer_looks(v);
}

/*
 * Handles a packet from the network that may be for hp3d. True: the packet is for hp3d. Then the
 * caller does not forward the packet, carries out the actions, and sends *answer to the network
 * unless it is NULL.
 */
bool hp3d_agent_take(struct hp3d_agent *a, struct hp3_engine *e, const struct hp3_pkt *pkt,
	uint64_t now, struct hp3_acts *acts, struct rte_mbuf **answer);

/*
 * Returns how long probe `id` and the answer in hand were on the wire, in ns; 0: not known. The
 * default function is NULL: these times are not known.
 */
typedef uint32_t hp3d_took_fn(void *ctx, uint32_t id);
void hp3d_agent_on_answer(struct hp3d_agent *a, hp3d_took_fn *took, void *ctx);

/*
 * Verbs mode: questions and answers about hp3d's queue pairs (probes/hello.h). hp3d_agent_ask()
 * writes a question of HP3_HELLO_LEN bytes for hp3's port of `to`. hp3d_agent_read_hello() reads a
 * datagram. It returns 0 for a question or an answer, otherwise a negative errno. The caller
 * answers a question by hp3d_agent_answer_hello(), and checks the nonce of an answer. If hosts
 * agree on keys, hp3d_agent_read_hello() refuses datagrams from unprivileged ports.
 */
void hp3d_agent_ask(struct hp3d_agent *a, const struct hp3_addressing *to, uint32_t qkey,
	uint64_t nonce, void *buf);
int hp3d_agent_read_hello(struct hp3d_agent *a, const struct hp3_addressing *from, uint16_t dport,
	const void *buf, size_t n, uint64_t now, struct hp3_hello *h);
void hp3d_agent_answer_hello(struct hp3d_agent *a, const struct hp3_addressing *to, uint16_t dport,
	const struct hp3_hello *ask, const struct hp3_hello *ours, void *buf);
/* True: there is a [probes] probe_key, so accepted messages are from hosts that have this key. */
bool hp3d_agent_has_key(const struct hp3d_agent *a);
/* Counts an answer that matches no question of this host. */
void hp3d_agent_stray_hello(struct hp3d_agent *a);

/* Advances the agent's time. Call it before hp3_tick(). */
void hp3d_agent_tick(struct hp3d_agent *a, uint64_t now);

/* The next message about keys to send to the network. Call it until it returns NULL. */
struct rte_mbuf *hp3d_agent_due(struct hp3d_agent *a, uint64_t now);
/* The next event about keys and identities; false: there is none. */
bool hp3d_agent_key_event(struct hp3d_agent *a, struct hp3d_event *out, uint64_t now);
/* The keys that pairs agree on, for the engine; NULL: there are none. Lives as long as the
 * agent. */
const struct hp3_probe_key *hp3d_agent_agreed(const struct hp3d_agent *a);
/* Calls hp3_keying_list(). Without an agent (NULL) or without key agreement, the list is empty. */
uint32_t hp3d_agent_key_list(
	const struct hp3d_agent *a, uint32_t *at, struct hp3_keying_info *info, uint32_t n);
/* Calls hp3_keying_become(). */
void hp3d_agent_become(struct hp3d_agent *a, const struct hp3_identity *identity, uint64_t now);

/* Computes one X25519. One thread other than the agent's calls it, while the agent exists. False:
 * there is nothing to compute. */
bool hp3d_agent_compute(struct hp3d_agent *a);
/* True, once: this host has to create a new identity. Any thread may call it. */
bool hp3d_agent_is_cloned(struct hp3d_agent *a);

const struct hp3d_agent_counters *hp3d_agent_counters(const struct hp3d_agent *a);
const struct hp3_probe_stats *hp3d_agent_stats(const struct hp3d_agent *a);
const struct hp3_keying_stats *hp3d_agent_keying_stats(const struct hp3d_agent *a);
