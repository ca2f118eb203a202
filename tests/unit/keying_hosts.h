/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_TEST_KEYING_HOSTS_H
#define HP3_TEST_KEYING_HOSTS_H
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
	uint32_t vlan; /* its packets', as it sees them */
	_Alignas(64) uint8_t mem[1 << 16];
};

/* Of address 10.9.0.`number`; identity, instance and random numbers are of `seed`. */
void host_begin(struct host *h, uint8_t number, uint64_t seed);
/* The same host again, with the identity that it had or another one: has no records. */
void host_begin_again(struct host *h, const struct hp3_identity *identity, uint64_t seed);

/* The RNIC of `from` talks to `to`. False: no room. */
bool host_talks_to(struct host *from, const struct host *to, uint64_t now);

struct hp3_pair_ends ends_between(const struct host *from, const struct host *to);

/* What leaves, as a frame in its VLAN. */
void frame_of(const struct hp3_keying_message *m, struct frame *f);
/* ... from another port than hp3d's. */
void frame_from(const struct hp3_keying_message *m, uint16_t sport, struct frame *f);

/* As it arrives in another VLAN. */
void put_in_vlan(struct frame *f, uint32_t vlan);

/* True: *out is an answer. */
bool host_take(struct host *h, const struct frame *f, uint64_t now, struct hp3_keying_message *out);
/* The next job, done at once. True: *out is to be sent; *any: there was one. */
bool host_job(struct host *h, uint64_t now, bool *any, struct hp3_keying_message *out);

/* Both ways the same key, which is none of the other direction. */
bool have_a_key(const struct host *a, const struct host *b);

/* What `at` knows of `of`; HP3_KEYING_NO_PEER: nothing. */
struct hp3_keying_info info_of(const struct host *at, const struct host *of);

/* Everything that is due at this time leaves, arrives and is answered; jobs are done. */
void talk(struct host *a, struct host *b, uint64_t now);
/* ... at any time from *now to `until`, every ms. */
void talk_until(struct host *a, struct host *b, uint64_t *now, uint64_t until);

/*
 * The next message of `from` that is due (an INIT), or with which it answers the last one; its next
 * job is done before. False: none. For tests that carry messages by hand.
 */
bool host_sends(struct host *from, uint64_t now, struct frame *f);
/* What it answers to *f, in *f. */
bool host_answers(struct host *h, uint64_t now, struct frame *f);

/* Counters add up. */
bool stats_add_up(const struct hp3_keying_stats *s);

#endif
