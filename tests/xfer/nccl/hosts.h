/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Ranks of nccl-harness on two hosts: even ranks on the first one, odd ranks on the other one. So
 * each comm of the ring crosses the network. HARNESS_PEER=listen on the first host, and its address
 * on the other one; not set: all ranks are here.
 */
#include <stdbool.h>
#include "xfer/nccl/net.h"

#define RANKS 8

/* Memory of all ranks of a host. */
struct shared {
	char handle[RANKS][NET_HANDLE];
	volatile int listens, done[RANKS];
};

bool hosts_have(int rank); /* the rank is on this host */

/* With two hosts: exchanges handles when all ranks listen, then the news that all are done. */
void hosts_join(struct shared *shared, int ranks);
