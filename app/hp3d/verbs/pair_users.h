/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Counts the queue pairs of each user in each address pair, and the address pairs in which each
 * user has queue pairs. The counts are in a hash table and a list of users. The hash has a random
 * seed, because users choose addresses and their order. Single-threaded.
 */
#include <sys/types.h>
#include "app/hp3d/verbs/counts.h"

#define HP3D_PAIR_USERS 64u /* users with queue pairs at the same time */

struct hp3d_pair_user {
	uid_t uid;
	uint32_t pairs; /* 0: free */
};

struct hp3d_pair_users {
	struct hp3d_counts qps; /* by address pair and user */
	struct hp3d_pair_user user[HP3D_PAIR_USERS];
};

/* Room for `qps` queue pairs of HP3D_PAIR_USERS users. Returns 0, or -ENOMEM. */
int hp3d_pair_users_open(struct hp3d_pair_users *p, uint32_t qps, uint64_t seed);
/* hp3d_pair_users_add() counts a queue pair of the user. hp3d_pair_users_drop() removes one that
 * has ended from the counts. */
void hp3d_pair_users_add(struct hp3d_pair_users *p, uint32_t pair, uid_t uid);
void hp3d_pair_users_drop(struct hp3d_pair_users *p, uint32_t pair, uid_t uid);
/* Address pairs in which the user has queue pairs. */
uint32_t hp3d_pair_users_count(const struct hp3d_pair_users *p, uid_t uid);
