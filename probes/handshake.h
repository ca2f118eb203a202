/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_PROBES_HANDSHAKE_H
#define HP3_PROBES_HANDSHAKE_H
/*
 * Messages by which two hosts show each other their public keys (identity.h), and prove that they
 * have the secrets of these. keying.h decides what follows from a message. Each is a plain UDP
 * datagram to hp3's own port. It comes from a privileged port, HP3_HANDSHAKE_PORT, so that users of
 * a host cannot speak for it (ip_unprivileged_port_start in ip-sysctl(7)):
 *
 *     A -> B   INIT      A's public key and nonce
 *     B -> A   COOKIE    what B wants to see before it spends anything on A
 *     A -> B   INIT      the same, with the cookie
 *     B -> A   REPLY     B's public key and nonce, proof over A's nonce
 *     A -> B   CONFIRM   A's public key, proof over B's nonce
 *
 * All numbers big-endian:
 *
 *      0  magic 8             INIT                 COOKIE           REPLY, CONFIRM
 *      1  version 4 | kind 4  12  public key 256   12  cookie 128   12  nonce of the sender 64
 *      2  0 16                44  instance 64      28  end          20  public key 256
 *      4  nonce 64            52  born 64                           52  instance 64
 *                             60  cookie 128, or 0                  60  born 64
 *                             76  0 160                             68  proof 128
 *                             96  end                               84  end
 *
 * The nonce at byte 4 is that of the host which asks: the sender's in INIT, the receiver's in all
 * others. "instance" names a host since it booted, "born" is its wall clock at that time, us; they
 * tell two hosts of one identity apart.
 *
 * Invariants: no message that an INIT brings about is longer than the INIT. A cookie holds for the
 * addresses, nonce and public key of one INIT, and for one to two slots of time; it is a MAC
 * (SipHash-2-4-128), so the host keeps no state before it sees the cookie (RFC 9147, 5.1;
 * WireGuard, Donenfeld 2017, 5.3). A proof is the BLAKE2b-128 MAC, under the proof key of the
 * direction, over the message before it and the receiver's public key. As the key holds for one
 * direction, no message can be sent back to its sender.
 */
#include "probes/datagram.h"
#include "probes/identity.h"

#define HP3_HANDSHAKE_MAX  96u
#define HP3_HANDSHAKE_PORT 795u
#define HP3_PRIVILEGED     1024u /* ports below are */
#define HP3_COOKIE_LEN     16u
#define HP3_PROOF_LEN      16u

enum hp3_handshake_kind {
	HP3_HANDSHAKE_INIT = 1,
	HP3_HANDSHAKE_COOKIE,
	HP3_HANDSHAKE_REPLY,
	HP3_HANDSHAKE_CONFIRM
};

/* Fields that a kind does not carry are zero. */
struct hp3_handshake {
	uint8_t kind; /* enum hp3_handshake_kind */
	uint8_t public[HP3_PUBLIC_LEN];
	uint8_t cookie[HP3_COOKIE_LEN], proof[HP3_PROOF_LEN];
	uint64_t asked; /* nonce of the host that asks */
	uint64_t nonce; /* REPLY, CONFIRM: of the sender */
	uint64_t instance, born_us;
};

/* Length of the message in buf. */
uint32_t hp3_handshake_write(uint8_t buf[HP3_HANDSHAKE_MAX], const struct hp3_handshake *h);

/*
 * A message in a frame that arrived, and from whom to whom. -ENOMSG: the frame is none;
 * -EPROTONOSUPPORT: it is one of another version; -EACCES: its source port is not privileged;
 * -EBADMSG: malformed, or wrong UDP checksum.
 */
int hp3_handshake_read(const void *frame, uint32_t len, const struct hp3_view *v, uint16_t port,
	struct hp3_pair_ends *ends, struct hp3_handshake *h);

/* The cookie of an INIT with these ends in this slot of time. `secret`: the host's own. */
void hp3_handshake_cookie(uint8_t cookie[HP3_COOKIE_LEN], const uint8_t secret[HP3_KEY_LEN],
	const struct hp3_pair_ends *ends, const struct hp3_handshake *init, uint64_t slot);

/* Of a REPLY or CONFIRM that is complete but for its proof. `key`: of proofs, of this direction. */
void hp3_handshake_prove(struct hp3_handshake *h, const uint8_t key[HP3_KEY_LEN],
	const uint8_t receiver[HP3_PUBLIC_LEN]);
bool hp3_handshake_is_proven(const struct hp3_handshake *h, const uint8_t key[HP3_KEY_LEN],
	const uint8_t receiver[HP3_PUBLIC_LEN]);

#endif
