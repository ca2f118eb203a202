/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_AGENT_H
#define HP3D_AGENT_H
/*
 * Everything that hp3d says by itself, and what is said to it: probes, answers to probes of peers,
 * traces and what switches say of them, reports of flows by path, the NAK after a failover, CNPs.
 * One agent per pipe, on the pipe's lcore; its packets come from a small pool of its own, so that
 * probing never takes a buffer from the traffic.
 *
 * A packet of ours is addressed as the local host's own packets to that place are
 * (neighbours.h), but for the class of service of what is for the peer's hp3d or RNIC and asks no
 * path (ppp.answer_dscp). Where nothing was ever sent, nothing can be said: counted, and no harm.
 *
 * Whether messages bear tags is a question of the two hosts (probes/tag.h): all have a probe_key,
 * or pairs agree on keys (agent_keys.c). Without a key, probes are answered (probes/responder.h),
 * answers end the probes that they prove to have seen, and nothing else has an effect.
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
	X(probes_standard, "probes sent that look like a duplicate")                               \
	X(probes_nak, "probes sent that look like a gap")                                          \
	X(reports_sent, "reports sent to peers: no reply of theirs comes through")                 \
	X(ack_solicitations_sent,                                                                  \
		"duplicates sent to make a peer's RNIC repeat its acknowledgement")                \
	X(agreements_sent, "messages to peers about queue pairs that are sprayed")                 \
	X(loads_sent, "reports of our flows sent to peers")                                        \
	X(loads_stale, "reports of peers ignored: not newer than the last one")                    \
	X(rack_sent, "messages sent to hosts of the rack: our long flows by path")                 \
	X(rack_heard, "messages of hosts of the rack that count")                                  \
	X(rack_no_route, "messages to hosts of the rack not sent: no connection of an address in " \
			 "[rail.NAME] rack yet")                                                   \
	X(rack_no_key, "messages to hosts of the rack not sent: no key is agreed on yet")          \
	X(rack_stale, "messages of hosts of the rack ignored: not newer than the last one")        \
	X(rack_unlisted, "messages to the rack dropped: of no host in [rail.NAME] rack, or to "    \
			 "another one than this")                                                  \
	X(keys_refused, "messages of peers about keys dropped: this host agrees on none "          \
			"([probes] keys)")                                                         \
	X(probe_no_route, "packets of ours not sent: nothing ever went there")                     \
	X(probe_no_buffer, "packets of ours not sent: no packet buffer")

struct hp3d_agent_counters {
#define X(field, help) uint64_t field;
	HP3D_AGENT_COUNTERS(X)
#undef X
};

struct hp3d_agent;

/* Address pairs for which tables of peers have room: as many as there may be, at least 1,024 and
 * at most 1,048,576. A power of two. */
static inline uint32_t hp3d_agent_pairs(const struct hp3_config *cfg)
{
	uint32_t n = 1u << 10;

	while (n < cfg->engine.max_pairs && n < 1u << 20)
		n *= 2;
	return n;
}

/* `name` tells its pool apart from others; the pool lives as long as the process. NULL: errno
 * says why. */
struct hp3d_agent *hp3d_agent_create(
	const struct hp3_config *cfg, unsigned rail, const char *name, int socket);
void hp3d_agent_free(struct hp3d_agent *a);
void hp3d_agent_reconfigure(struct hp3d_agent *a, const struct hp3_config *cfg);

/* A packet from the RNIC's side: how to address that place. Of a reliable connection: a key is to
 * be agreed on with that place. */
void hp3d_agent_learn(struct hp3d_agent *a, const void *frame, uint32_t len,
	const struct hp3_view *v, uint64_t now);

/* Verbs mode: the RNIC has no queue pair between these any more. */
void hp3d_agent_pair_ended(struct hp3d_agent *a, const struct hp3_ends *ends);

/* The packet for a PROBE, TRACE, ADVERTISE, AGREE, NAK, CNP, CNP_OWED, REPORT or SOLICIT_ACK
 * action, and where it goes; NULL: cannot be sent, counted. */
struct rte_mbuf *hp3d_agent_make(struct hp3d_agent *a, const struct hp3_engine *e,
	const struct hp3_act *act, uint64_t now, enum hp3_dir *dir);

/* The packets for a RACK action, into m, which has room for HP3_RACK_PEERS_MAX; returns how many.
 */
uint32_t hp3d_agent_make_rack(
	struct hp3d_agent *a, const struct hp3_engine *e, uint64_t now, struct rte_mbuf **m);

/* Of the local host, not of hp3d: a datagram to hp3's port, where peers take it for hp3d's. */
bool hp3d_agent_is_of_host(const struct hp3d_agent *a, const struct hp3_pkt *pkt);

/* Cheap: may this packet from the network be for us? */
static inline bool hp3d_agent_wants(const struct hp3_view *v)
{
	return (v->class == HP3_CLASS_OTHER &&
		       (v->reason == HP3_PARSE_NOT_ROCE || v->reason == HP3_PARSE_NOT_UDP)) ||
	       hp3_peer_looks(v);
}

/*
 * A packet from the network that may be for us. True: it is, and is not to be passed on; then acts
 * are to be carried out, and *answer, if it is not NULL, is to be sent to the network.
 */
bool hp3d_agent_take(struct hp3d_agent *a, struct hp3_engine *e, const struct hp3_pkt *pkt,
	uint64_t now, struct hp3_acts *acts, struct rte_mbuf **answer);

/*
 * How long the answer to probe `id` that is being taken was on the wire, ns, and the probe; 0: not
 * known. NULL: nobody can tell (as it is before).
 */
typedef uint32_t hp3d_took_fn(void *ctx, uint32_t id);
void hp3d_agent_on_answer(struct hp3d_agent *a, hp3d_took_fn *took, void *ctx);

/*
 * In verbs mode: questions for queue pairs, and what is told (probes/hello.h). ask:
 * HP3_HELLO_LEN bytes to hp3's port there. heard: what came, as `from` says; 0: a question to be
 * answered by tell, or what was told, for the caller to know the nonce; else it is counted, or none
 * of these. Where keys are agreed on, those from ports that every user may have do not count.
 */
void hp3d_agent_ask(struct hp3d_agent *a, const struct hp3_addressing *to, uint32_t qkey,
	uint64_t nonce, void *buf);
int hp3d_agent_heard(struct hp3d_agent *a, const struct hp3_addressing *from, uint16_t dport,
	const void *buf, size_t n, uint64_t now, struct hp3_hello *h);
void hp3d_agent_send_hello(struct hp3d_agent *a, const struct hp3_addressing *to, uint16_t dport,
	const struct hp3_hello *ask, const struct hp3_hello *ours, void *buf);
/* There is a [probes] probe_key: what was heard is of a host that has it. */
bool hp3d_agent_has_key(const struct hp3d_agent *a);
/* What was told answers no question of ours. */
void hp3d_agent_stray_hello(struct hp3d_agent *a);

/* Time passes; before hp3_tick(). */
void hp3d_agent_tick(struct hp3d_agent *a, uint64_t now);

/* A message about keys that is to leave to the network; NULL: none is. To be called until then. */
struct rte_mbuf *hp3d_agent_due(struct hp3d_agent *a, uint64_t now);
/* What is to be told of keys and identities; false: nothing more. */
bool hp3d_agent_key_event(struct hp3d_agent *a, struct hp3d_event *out, uint64_t now);
/* The keys that pairs agree on, for the engine; NULL: none are. Lives as long as the agent. */
const struct hp3_probe_key *hp3d_agent_agreed(const struct hp3d_agent *a);
/* hp3_keying_list(); NULL: there are no peers */
uint32_t hp3d_agent_key_list(
	const struct hp3d_agent *a, uint32_t *at, struct hp3_keying_info *info, uint32_t n);
/* hp3_keying_become() */
void hp3d_agent_become(struct hp3d_agent *a, const struct hp3_identity *identity, uint64_t now);

/* In one other thread, while there is the agent: one X25519. False: there is nothing to do. */
bool hp3d_agent_compute(struct hp3d_agent *a);
/* In any thread: this host is to draw a new identity; true once. */
bool hp3d_agent_is_cloned(struct hp3d_agent *a);

const struct hp3d_agent_counters *hp3d_agent_counters(const struct hp3d_agent *a);
const struct hp3_probe_stats *hp3d_agent_stats(const struct hp3d_agent *a);
const struct hp3_keying_stats *hp3d_agent_keying_stats(const struct hp3d_agent *a);

#endif
