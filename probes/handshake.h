/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The handshake of key agreement. Two hosts send each other their public keys (identity.h), and
 * prove that they have the secret keys. keying.h decides what follows from each message.
 *
 * Each message is a plain UDP datagram to hp3's own port. Its source port is HP3_HANDSHAKE_PORT, a
 * privileged port. So unprivileged users of a host cannot forge messages
 * (ip_unprivileged_port_start in ip-sysctl(7)).
 *
 *     A -> B   INIT      A's public key and nonce
 *     B -> A   COOKIE    a cookie; B computes no secret for A before A returns it
 *     A -> B   INIT      the same, with the cookie
 *     B -> A   REPLY     B's public key and nonce, proof over A's nonce
 *     A -> B   CONFIRM   A's public key, proof over B's nonce
 *
 * Layout by kind: byte offset, field, size in bits; all numbers are big-endian.
 *
 *      0  magic 8             INIT                 COOKIE           REPLY, CONFIRM
 *      1  version 4 | kind 4  12  public key 256   12  cookie 128   12  nonce of the sender 64
 *      2  0 16                44  instance 64      28  end          20  public key 256
 *      4  nonce 64            52  born 64                           52  instance 64
 *                             60  cookie 128, or 0                  60  born 64
 *                             76  0 160                             68  proof 128
 *                             96  end                               84  end
 *
 * Byte 4 of an INIT has the sender's nonce; byte 4 of all other messages has the receiver's nonce.
 * The field "instance" identifies one boot of a host. The field "born" is the host's wall clock at
 * boot, in us. These two fields distinguish two hosts that have the same identity.
 *
 * Invariants:
 *
 * - An answer to an INIT is never longer than the INIT.
 * - A cookie is valid for the addresses, nonce and public key of one INIT, and for one to two
 *   slots of time. A cookie is a MAC (SipHash-2-4-128). So the host that made the cookie keeps
 *   no state before the cookie returns (RFC 9147, 5.1; WireGuard, Donenfeld 2017, 5.3).
 * - A proof is a BLAKE2b-128 MAC with the proof key of the direction. The MAC covers all bytes
 *   of the message before the field "proof", and the receiver's public key. Each direction has
 *   its own key, so a message that is reflected to its sender fails the check.
 */
#include "probes/datagram.h"
#include "probes/identity.h"

#define HP3_HANDSHAKE_MAX  96u
#define HP3_HANDSHAKE_PORT 795u
#define HP3_PRIVILEGED     1024u /* ports below this are privileged */
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
	uint64_t asked; /* the nonce at byte 4 */
	uint64_t nonce; /* REPLY, CONFIRM: nonce of the sender */
	uint64_t instance, born_us;
};

/* Returns the length of the message in buf. */
uint32_t hp3_handshake_write(uint8_t buf[HP3_HANDSHAKE_MAX], const struct hp3_handshake *h);

/*
 * Reads a message from a frame. *ends: sender and receiver of the message. -ENOMSG: the frame is no
 * such message; -EPROTONOSUPPORT: another version; -EACCES: the source port is not privileged;
 * -EBADMSG: malformed, or wrong UDP checksum.
 */
int hp3_handshake_read(const struct hp3_parsed *f, uint16_t port, struct hp3_pair_ends *ends,
	struct hp3_handshake *h);

/* Computes the cookie of an INIT for these ends and this slot of time. `secret`: the host's own. */
void hp3_handshake_cookie(uint8_t cookie[HP3_COOKIE_LEN], const uint8_t secret[HP3_KEY_LEN],
	const struct hp3_pair_ends *ends, const struct hp3_handshake *init, uint64_t slot);

/*
 * Adds the proof to a REPLY or CONFIRM whose other fields are set. `key`: the proof key of this
 * direction. `receiver`: the receiver's public key.
 */
void hp3_handshake_prove(struct hp3_handshake *h, const uint8_t key[HP3_KEY_LEN],
	const uint8_t receiver[HP3_PUBLIC_LEN]);
bool hp3_handshake_is_proven(const struct hp3_handshake *h, const uint8_t key[HP3_KEY_LEN],
	const uint8_t receiver[HP3_PUBLIC_LEN]);
