/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* Hosts that agree on keys, for the tests of probes/keying.h. Times: ns. */
#include "probe_frames.h"
#include "probes/answer.h"
#include "probes/keying.h"

#define MS     1000000ull
#define SECOND (1000 * MS)

struct host {
	struct hp3_keying *k;
	struct hp3_keying_config cfg;
	struct hp3_keying_stats st;
	uint8_t address[4];
	uint32_t vlan; /* VLAN of its packets, as it sees them */
	_Alignas(64) uint8_t mem[1 << 16];
};

/* Makes a host with address 10.9.0.`number`. Identity, instance and random numbers depend on
 * `seed`. */
void host_begin(struct host *h, uint8_t number, uint64_t seed);
/* Restarts the host, with the same identity or another one. It then has no records of peers. */
void host_begin_again(struct host *h, const struct hp3_identity *identity, uint64_t seed);

/* Records that the RNIC of `from` sends to `to`. False: there is no space for another peer. */
bool host_talks_to(struct host *from, const struct host *to, uint64_t now);

struct hp3_pair_ends ends_between(const struct host *from, const struct host *to);

/* Makes the frame of a message, in the VLAN of its sender. */
void frame_of(const struct hp3_keying_message *m, struct frame *f);
/* The same with another source port than hp3d's. */
void frame_from(const struct hp3_keying_message *m, uint16_t sport, struct frame *f);

/* Changes the frame to the form in which it arrives in another VLAN. */
void put_in_vlan(struct frame *f, uint32_t vlan);

/* A frame arrives at h. True: *out is the answer. */
bool host_take(struct host *h, const struct frame *f, uint64_t now, struct hp3_keying_message *out);
/* Computes the next job (X25519) of h at once. True: *out is to be sent. *any: there was a job. */
bool host_job(struct host *h, uint64_t now, bool *any, struct hp3_keying_message *out);

/* True: for each direction, both hosts have the same key, and the keys of the two directions
 * differ. */
bool have_a_key(const struct host *a, const struct host *b);

/* The record that host `at` has of host `of`; state HP3_KEYING_NO_PEER: none. */
struct hp3_keying_info info_of(const struct host *at, const struct host *of);

/* Sends, delivers and answers all messages that are due at this time, and computes all jobs. */
void talk(struct host *a, struct host *b, uint64_t now);
/* The same every ms, from *now to `until`. */
void talk_until(struct host *a, struct host *b, uint64_t *now, uint64_t until);

/*
 * For tests that pass messages themselves. Computes the next job of `from`. Then sets *f to its
 * next message: an INIT that is due, or its answer to the last message. False: there is none.
 */
bool host_sends(struct host *from, uint64_t now, struct frame *f);
/* Delivers *f to h, and sets *f to the answer. False: there is none. */
bool host_answers(struct host *h, uint64_t now, struct frame *f);

/* True: the counters add up. */
bool stats_add_up(const struct hp3_keying_stats *s);
