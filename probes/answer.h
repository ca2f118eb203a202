/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The answer to a peer probe: a plain UDP datagram to hp3's own port. It never goes to the port of
 * RoCEv2, so no RNIC can take it for an acknowledgement (rule 1). The answer has the probe's source
 * port, and goes to the probe's sender, whose hp3d consumes it.
 *
 * The answer may have another class of service than data, so that it does not queue behind data in
 * the reverse direction. The answer is not ECN-capable. Layout: byte offset, field, size in bits;
 * all numbers are big-endian.
 *
 *      0  magic 8                 12  zeros 96: pad to the smallest probe's length
 *      1  version 4 | flags 4     24  tag 64 (tag.h) over addresses, ports, all fields before the
 *      2  clock, upper 8              tag and, without a key, the cookie of the probe
 *      3  zero 8
 *      4  probe id 32
 *      8  clock, lower 32
 *
 * The clock is the wall clock of the answering host, in us, its low 40 bits (heard.h).
 *
 * Flag 1 is set if the probe arrived marked (CE).
 *
 * Invariant: the IP length of an answer equals that of the smallest probe: 60 bytes with IPv4, 80
 * with IPv6. So a responder cannot be used to amplify traffic.
 */
#include "probes/heard.h"

/*
 * hp3's own port, by default. IANA has not assigned port 4795. Hosts draw source ports from a range
 * above this port, so no socket gets the port by chance. The ports 4792 and 4793 belong to other
 * transports (Unified Bus, Ultra Ethernet).
 */
#define HP3_PROBE_PORT 4795
#define HP3_ANSWER_LEN 32u

struct hp3_answer {
	uint32_t id; /* id of the probe */
	bool ce; /* the probe arrived with CE */
	uint8_t key; /* index of the key of the probe, and of its answer */
	uint8_t dscp; /* DSCP of the answer to build; HP3_DSCP_KEPT: the DSCP of the probe */
	uint64_t clock_us; /* wall clock, us; after a read: its low HP3_HEARD_CLOCK_BITS bits */
};

/*
 * Builds the answer to a probe, with the key of the probe (answer->key). Returns the length of the
 * frame in buf, -ENOSPC, or -EINVAL if rx->port is that of RoCEv2. Of *rx, the function uses only
 * `port` and `keys`.
 */
int hp3_answer_build(void *buf, size_t cap, const struct hp3_parsed *probe,
	const struct hp3_answer *answer, const struct hp3_receiver *rx);

/*
 * Reads an answer. Call this for frames that hp3_parse() calls NOT_ROCE. The result is NONE if the
 * frame is no answer. The function does not use rx->heard and rx->time. It uses rx->secret only for
 * pairs without a key.
 */
enum hp3_message_fate hp3_answer_read(
	const struct hp3_parsed *f, const struct hp3_receiver *rx, struct hp3_answer *answer);
