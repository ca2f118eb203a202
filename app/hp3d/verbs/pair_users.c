/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/verbs/pair_users.h"
#include <string.h>

static struct hp3d_count *count_of(
	const struct hp3d_pair_users *p, uint32_t pair, uid_t uid, uint64_t key[3])
{
	key[0] = pair;
	key[1] = uid;
	key[2] = 0;
	return hp3d_counts_find(&p->qps, key);
}

int hp3d_pair_users_open(struct hp3d_pair_users *p, uint32_t qps, uint64_t seed)
{
	*p = (struct hp3d_pair_users){0};
	return hp3d_counts_open(&p->qps, qps, seed);
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
	uint64_t key[3];
	struct hp3d_count *qps = count_of(p, pair, uid, key);

	if (qps->n++ != 0)
		return;
	memcpy(qps->key, key, sizeof(qps->key));
	change_pairs(p, uid, 1);
}

void hp3d_pair_users_drop(struct hp3d_pair_users *p, uint32_t pair, uid_t uid)
{
	uint64_t key[3];
	struct hp3d_count *qps = count_of(p, pair, uid, key);

	if (qps->n > 1) {
		qps->n--;
	} else if (qps->n == 1) {
		hp3d_counts_free(&p->qps, qps);
		change_pairs(p, uid, -1);
	}
}

uint32_t hp3d_pair_users_count(const struct hp3d_pair_users *p, uid_t uid)
{
	return p->user[place_of(p, uid)].pairs;
}
