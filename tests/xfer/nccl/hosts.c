/* SPDX-License-Identifier: BSD-3-Clause */
#include "hosts.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tests/lab/collective/meet.h"

#define PORT    7020
#define WAIT_US 1000

static const char *peer_name(void)
{
	return getenv("HARNESS_PEER");
}

static bool is_first(void)
{
	return strcmp(peer_name(), "listen") == 0;
}

bool hosts_have(int rank)
{
	return peer_name() == NULL || (rank % 2 == 0) == is_first();
}

static bool all_done(const struct shared *shared, int ranks)
{
	for (int i = 0; i < ranks; i++) {
		if (hosts_have(i) && !shared->done[i])
			return false;
	}
	return true;
}

void hosts_join(struct shared *shared, int ranks)
{
	int own = 0;
	char over = 1;

	if (peer_name() == NULL)
		return;
	for (int i = 0; i < ranks; i++)
		own += hosts_have(i);
	while (shared->listens < own)
		usleep(WAIT_US);
	meet(PORT, is_first() ? NULL : peer_name());
	for (int i = 0; i < ranks; i++) {
		if (hosts_have(i))
			say(shared->handle[i], NET_HANDLE);
	}
	for (int i = 0; i < ranks; i++) {
		if (!hosts_have(i))
			hear(shared->handle[i], NET_HANDLE);
	}
	__sync_fetch_and_add(&shared->listens, ranks - own);
	while (!all_done(shared, ranks))
		usleep(WAIT_US);
	say(&over, 1);
	hear(&over, 1);
	for (int i = 0; i < ranks; i++) {
		if (!hosts_have(i))
			shared->done[i] = 1;
	}
}
