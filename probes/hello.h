/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Questions for the UD QPNs of a peer's hp3d, and the answers. In verbs mode, two hp3ds exchange
 * probes as unreliable datagrams (UD) of their RNICs, not as raw packets. Before that, one hp3d
 * asks for the UD QPNs of the peer's hp3d (ASK), and the peer's hp3d answers (ANSWER). The messages
 * are plain UDP, sent to hp3's own port. Layout: byte offset, field, size in bits; all numbers are
 * big-endian.
 *
 *      0  magic 8                 16  nonce 64, drawn by the host that asks
 *      1  version 4 | kind 4      24  16 x QPN 32
 *      2  number of QPNs 8        88  tag 64 (tag.h) over all before it, addresses and ports
 *      3  zero 8
 *      4  Q_Key 32
 *      8  wall clock of the host that asks, us 64
 *
 * An answer contains the clock and the nonce of its question, so the answer matches no other
 * question. An answer is as long as its question, and is sent to the address and port from which
 * the question came. A question has no QPNs. The Q_Key of a question identifies the hp3d that asks,
 * and changes when this hp3d restarts.
 *
 * Without a key, the tag is only a checksum. Any host may then ask, within the rate limits of the
 * hp3d that answers. An answer then proves only that its sender has seen the nonce.
 */
#include "probes/tag.h"

#define HP3_HELLO_LEN  96u
#define HP3_HELLO_QPNS 16u

enum hp3_hello_kind { HP3_HELLO_ASK = 1, HP3_HELLO_ANSWER };

struct hp3_hello {
	uint8_t kind; /* enum hp3_hello_kind */
	uint8_t n; /* number of QPNs, up to HP3_HELLO_QPNS */
	uint8_t key; /* set by hp3_hello_read(): index of the key that made the tag */
	uint64_t hash; /* set by hp3_hello_read(): identifies the message */
	uint32_t qkey;
	uint64_t clock_us, nonce;
	uint32_t qpn[HP3_HELLO_QPNS];
};

/* Writes HP3_HELLO_LEN bytes. *a: addresses of sender and receiver, and the source port. */
void hp3_hello_build(void *buf, const struct hp3_addressing *a, uint16_t dport,
	const struct hp3_hello *h, const struct hp3_probe_key *key);

/* A received datagram. */
struct hp3_hello_datagram {
	const struct hp3_addressing *a; /* its addresses and source port */
	uint16_t dport;
	const void *bytes;
	size_t n;
};

/*
 * Returns 0; -EBADMSG: the datagram is another message, or malformed; -EPROTONOSUPPORT: another
 * version; -EACCES: wrong tag.
 */
int hp3_hello_read(
	const struct hp3_hello_datagram *d, const struct hp3_probe_keys *keys, struct hp3_hello *h);
