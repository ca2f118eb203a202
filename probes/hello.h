/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_PROBES_HELLO_H
#define HP3_PROBES_HELLO_H
/*
 * How two hp3d beside their RNICs find each other's queue pairs of unreliable datagrams, which take
 * the place of raw packets there: one asks, the other tells. Plain UDP to hp3's own port. All
 * numbers big-endian:
 *
 *      0  magic 8                 16  nonce 64, drawn by who asks
 *      1  version 4 | kind 4      24  16 x QPN 32
 *      2  QPNs 8, 0 8             88  tag 64 (tag.h) over all before it, addresses and ports
 *      4  Q_Key 32
 *      8  wall clock of who asks, us 64
 *
 * What is told bears the clock and the nonce of the question, so that it answers no other. A
 * question is as long as an answer, which goes back where it came from; its Q_Key names the one who
 * asks, and changes when he begins anew; it has no QPNs.
 *
 * Without a key the tag is a checksum, anybody may ask, within the bounds of the responder, and who
 * tells has to have seen the nonce.
 */
#include "probes/tag.h"

#define HP3_HELLO_LEN  96u
#define HP3_HELLO_QPNS 16u

enum hp3_hello_kind { HP3_HELLO_ASK = 1, HP3_HELLO_TELL };

struct hp3_hello {
	uint8_t kind; /* enum hp3_hello_kind */
	uint8_t n; /* QPNs, up to HP3_HELLO_QPNS */
	uint8_t key; /* read: which one made the tag */
	uint32_t qkey;
	uint64_t clock_us, nonce;
	uint32_t qpn[HP3_HELLO_QPNS];
};

/* HP3_HELLO_LEN bytes. *a: from whom to whom, and the source port. */
void hp3_hello_build(void *buf, const struct hp3_addressing *a, uint16_t dport,
	const struct hp3_hello *h, const struct hp3_probe_key *key);

/*
 * n bytes of a datagram that came as *a says. *hash (NULL: not wanted) names a question among all
 * others. 0; -EBADMSG: none, or malformed; -EPROTONOSUPPORT: of another version; -EACCES: wrong
 * tag.
 */
int hp3_hello_read(const void *buf, size_t n, const struct hp3_addressing *a, uint16_t dport,
	const struct hp3_probe_keys *keys, struct hp3_hello *h, uint64_t *hash);

#endif
