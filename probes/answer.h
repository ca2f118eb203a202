/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_PROBES_ANSWER_H
#define HP3_PROBES_ANSWER_H
/*
 * The answer to a peer probe: a plain UDP datagram to hp3's own port, never to that of RoCEv2, so
 * that no RNIC can take it for progress (rule 1). It goes back to the probe's sender with the
 * probe's source port, and is consumed by hp3d there. Its class of service is one of its own, so
 * that it need not wait behind the data of the way back, which nobody asked about; nothing in it is
 * to be marked: what the probe met is told by a flag. All numbers big-endian:
 *
 *      0  magic 8                 12  4 x { name of a path 16, inbound flows of the answering host
 *      1  version 4 | flags 4         there 8, 255 = that many or more }
 *      2  clock, upper 8          24  tag 64 (tag.h) over addresses, ports, everything above and,
 *      3  number of counts 8          without a key, the cookie of the probe
 *      4  probe id 32
 *      8  clock, lower 32: wall clock of the answering host, us, its low 40 bits (heard.h)
 *
 * Flag 1: the probe was marked CE on its way. Without a key nothing is counted in it.
 *
 * Invariant: its IP length equals that of the smallest probe, 60 bytes with IPv4 and 80 with IPv6,
 * so that a responder amplifies nothing. More than 4 paths are told in turns, 4 with each answer to
 * the same source. Paths bear names that all hosts agree on (engine/paths/trace.h).
 */
#include "probes/loads.h"
#include "probes/stats.h"
#include "probes/tag.h"

/*
 * Default port: not assigned by IANA, and below the range from which hosts draw source ports, so
 * that no socket gets it by chance. 4792 and 4793, next to RoCEv2's, belong to other transports
 * (Unified Bus, Ultra Ethernet).
 */
#define HP3_PROBE_PORT    4795
#define HP3_ANSWER_LEN    32u
#define HP3_ANSWER_COUNTS 4u

struct hp3_answer {
	uint32_t id; /* of the probe */
	bool ce; /* the probe was marked */
	uint8_t key; /* of the probe, and of its answer */
	uint8_t dscp; /* build: to leave with; HP3_DSCP_KEPT: the probe's */
	uint64_t clock_us; /* wall clock; read: its low HP3_HEARD_CLOCK_BITS bits */
	uint8_t n;
	struct hp3_path_count path[HP3_ANSWER_COUNTS];
};

/* Fills in the counts of the turn-th answer, of n in all. */
void hp3_answer_tell(
	struct hp3_answer *answer, uint32_t turn, const struct hp3_path_count *path, uint32_t n);

/*
 * The answer to the probe in `frame`, under the key that the probe came with. Length of the frame
 * in buf, -ENOSPC, or -EINVAL: port is that of RoCEv2.
 */
int hp3_answer_build(void *buf, size_t cap, const void *frame, const struct hp3_view *v,
	const struct hp3_answer *answer, uint16_t port, const struct hp3_probe_keys *keys);

enum hp3_answer_fate {
	HP3_ANSWER_NONE, /* no answer at all: passes */
	HP3_ANSWER_OK, /* consume it; *answer is valid */
	HP3_ANSWER_DROP, /* ours by its looks, but unsound: counted and consumed */
};

/*
 * Is the frame an answer? To be asked for frames that hp3_parse() calls NOT_ROCE; others are none.
 * `port`: hp3's own; `secret`: what the cookies of the host's probes were made with.
 */
enum hp3_answer_fate hp3_answer_read(const void *frame, uint32_t len, const struct hp3_view *v,
	uint16_t port, const struct hp3_probe_keys *keys, const struct hp3_probe_key *secret,
	struct hp3_answer *answer, struct hp3_probe_stats *stats);

#endif
