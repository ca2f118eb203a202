/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Hosts that agree on keys (probes/keying.h) over a network that loses, copies and delays packets,
 * and has attackers. Hosts restart, with the same identity or a new one. Their clocks differ. Their
 * X25519 computations (jobs) take time, and may be lost. Checks at all times:
 *
 *     a host has a key only with an identity that the other host has or had if both hosts have a
 *     key for the other's present identity, it is the same key no host keeps a key with a host that
 *     has agreed on no key for KEYS_DEAF
 *
 * At the end of a run, losses and restarts stop. KEYS_SETTLE later, all pairs must have a key.
 * Attacks do not stop.
 *
 * Time is in ms. Each host has its own clock.
 */
#include "probes/answer.h"
#include "probes/keying.h"

#define KEYS_HOSTS  4u
#define KEYS_HAD    16u /* identities of a host */
#define KEYS_JOBS   16u /* of a host at the same time */
#define KEYS_AIR    1024u /* messages in flight */
#define KEYS_SEEN   512u /* messages that an attacker stores */
#define KEYS_SETTLE 150000u
#define KEYS_DEAF   31000u

struct keys_params {
	uint64_t seed;
	uint32_t hosts;
	uint32_t loss, copies; /* per mille */
	uint32_t restarts; /* per host */
	bool forgets; /* restarts without the identity, sometimes */
	bool quiet; /* only messages of key agreement */
	bool clones; /* two hosts begin with one identity */
	bool stops; /* restarts with keys = off, sometimes, until the next one */
	uint32_t crowd; /* addresses without a host to which each host's RNIC sends */
	/* Messages per 1,000 ms of attackers: one sees no messages, and uses addresses of others;
	 * one repeats messages that it has seen, also to their senders; one answers INITs that it
	 * sees, without having a secret */
	uint32_t blind, replays, forgeries;
};

struct keys_result {
	uint64_t messages, replaced, silent, displaced, cloned, computed, lost, stray, bad_proof,
		others_refused;
};

struct keys_frame {
	uint64_t due;
	uint32_t len;
	uint8_t b[160];
};

/* A message with a tag made by the pair's key, which is `key` here. */
struct keys_message {
	uint64_t due;
	struct hp3_pair_ends ends;
	uint8_t key[HP3_KEY_LEN];
};

struct keys_host {
	struct hp3_keying *k;
	struct hp3_keying_config cfg;
	struct hp3_keying_stats st;
	struct hp3_pair_ends to[KEYS_HOSTS]; /* by host */
	uint8_t address[4], had[KEYS_HAD][HP3_PUBLIC_LEN];
	uint32_t n_had, restarts;
	uint64_t clock; /* ns by which it is ahead of the world's time */
	uint64_t restart_at, renew_at; /* 0: not planned */
	uint64_t off; /* key agreement is off since then; 0: on */
	struct hp3_keying_job job[KEYS_JOBS];
	uint64_t job_due[KEYS_JOBS]; /* 0: free */
	_Alignas(64) uint8_t mem[1 << 15];
};

struct keys_world {
	struct keys_params p;
	struct keys_result r;
	uint64_t random, now; /* ms */
	bool calm; /* no losses or restarts any more */
	const char *violation;
	struct keys_host host[KEYS_HOSTS];
	struct keys_frame air[KEYS_AIR], seen[KEYS_SEEN];
	struct keys_message message[KEYS_AIR];
	uint32_t n_air, n_seen, n_messages;
};

/* Returns 0, or -1 after it has printed the violation. */
int keys_world_run(const struct keys_params *p, struct keys_result *r);

/* keys_network.c */
void keys_send(struct keys_world *w, const struct hp3_keying_message *m);
void keys_attack(struct keys_world *w);
/* Delivers the messages that are due; keys_take() handles and answers them. */
void keys_deliver(struct keys_world *w);
/* keys_world.c */
void keys_take(struct keys_world *w, struct keys_host *h, const struct keys_frame *f);

bool keys_chance(struct keys_world *w, uint32_t per_mille);
uint32_t keys_below(struct keys_world *w, uint32_t n);
struct keys_host *keys_host_of(struct keys_world *w, const uint8_t *address);
struct hp3_pair_ends keys_ends(const struct keys_host *from, const struct keys_host *to);
