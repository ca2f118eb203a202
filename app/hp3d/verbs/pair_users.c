/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/verbs/pair_users.h"
#include <errno.h>
#include <stdlib.h>
#include "base/hash.h"

static uint32_t home_of_use(const struct hp3d_pair_users *p, uint32_t pair, uid_t uid)
{
	const uint64_t key = (uint64_t)pair << 32 | uid;

	return (uint32_t)hp3_hash(p->seed, &key, sizeof(key)) & (p->buckets - 1);
}

/* Bucket of the key, or the free one for it. */
static uint32_t bucket_of_use(const struct hp3d_pair_users *p, uint32_t pair, uid_t uid)
{
	uint32_t b = home_of_use(p, pair, uid);

	while (p->at[b].qps != 0 && (p->at[b].pair != pair || p->at[b].uid != uid))
		b = (b + 1) & (p->buckets - 1);
	return b;
}

int hp3d_pair_users_open(struct hp3d_pair_users *p, uint32_t qps, uint64_t seed)
{
	*p = (struct hp3d_pair_users){.buckets = 2, .seed = seed};
	while (p->buckets < 2 * qps)
		p->buckets *= 2;
	p->at = calloc(p->buckets, sizeof(*p->at));
	return p->at != NULL ? 0 : -ENOMEM;
}

void hp3d_pair_users_close(struct hp3d_pair_users *p)
{
	free(p->at);
	p->at = NULL;
}

/* A user's place; that of a user without address pairs is any free one. */
static uint32_t place_of(const struct hp3d_pair_users *p, uid_t uid)
{
	uint32_t place = 0;

	for (uint32_t i = 0; i < HP3D_PAIR_USERS; i++) {
		if (p->user[i].pairs != 0 && p->user[i].uid == uid)
			return i;
		if (p->user[i].pairs == 0)
			place = i;
	}
	return place;
}

static void change_pairs(struct hp3d_pair_users *p, uid_t uid, int by)
{
	struct hp3d_pair_user *u = &p->user[place_of(p, uid)];

	u->uid = uid;
	u->pairs += (uint32_t)by;
}

void hp3d_pair_users_add(struct hp3d_pair_users *p, uint32_t pair, uid_t uid)
{
	struct hp3d_pair_use *use = &p->at[bucket_of_use(p, pair, uid)];

	if (use->qps++ != 0)
		return;
	use->pair = pair;
	use->uid = uid;
	change_pairs(p, uid, 1);
}

/* Backward-shift deletion: later entries of the run move up. */
static void free_bucket(struct hp3d_pair_users *p, uint32_t hole)
{
	uint32_t mask = p->buckets - 1;

	for (uint32_t b = (hole + 1) & mask; p->at[b].qps != 0; b = (b + 1) & mask) {
		uint32_t home = home_of_use(p, p->at[b].pair, p->at[b].uid);

		if (((b - home) & mask) < ((b - hole) & mask))
			continue;
		p->at[hole] = p->at[b];
		hole = b;
	}
	p->at[hole].qps = 0;
}

void hp3d_pair_users_drop(struct hp3d_pair_users *p, uint32_t pair, uid_t uid)
{
	uint32_t b = bucket_of_use(p, pair, uid);

	if (p->at[b].qps > 1) {
		p->at[b].qps--;
	} else if (p->at[b].qps == 1) {
		free_bucket(p, b);
		change_pairs(p, uid, -1);
	}
}

uint32_t hp3d_pair_users_count(const struct hp3d_pair_users *p, uid_t uid)
{
	return p->user[place_of(p, uid)].pairs;
}
