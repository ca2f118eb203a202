/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_PROBES_TAG_H
#define HP3_PROBES_TAG_H
/*
 * What probes and answers are authenticated with: SipHash-2-4 (Aumasson and Bernstein, 2012),
 * keyed with the 128 bits of `probe_key`, which all hosts of a fabric share. On the wire it is cut
 * to 32 bits: a forger needs 2^31 attempts on average, every one of which is counted.
 *
 * The zero key means "not authenticated": the tag is then a checksum that anybody can compute, and
 * the clock is not looked at, because nothing would follow from it.
 */
#include <stddef.h>
#include "roce/build.h"

struct hp3_probe_key {
	uint8_t bytes[16];
};

/* What a tag speaks for: a tag of one kind is worth nothing in another. */
enum hp3_tag_kind {
	HP3_TAG_PROBE = 1,
	HP3_TAG_ANSWER,
	HP3_TAG_SOURCE,
	HP3_TAG_RANDOM,
	HP3_TAG_LOADS
};

bool hp3_probe_keyed(const struct hp3_probe_key *key);

/*
 * SipHash over kind, addresses and source port of *a (IPv4: four bytes each), destination port, and
 * n <= HP3_TAG_MAX further bytes.
 */
#define HP3_TAG_MAX 108u
uint64_t hp3_tag(const struct hp3_probe_key *key, enum hp3_tag_kind kind,
	const struct hp3_addressing *a, uint16_t dport, const void *bytes, size_t n);

#endif
