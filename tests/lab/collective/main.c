/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two ends of what collective libraries do with verbs, on a real RNIC: verbs.h, ring.h. Ends with
 * SIGALRM, or after so many seconds, once both ends have seen all that was sent. Prints
 * {"messages":N,"sent":N,"wrong":0,"disorder":0,"longest_ms":N}; exit code 1 if anything is wrong.
 *
 * usage: NCCL_IBVERBS_LIB=LIBRARY collective write|read TCP_PORT THREADS SECONDS [PEER'S ADDRESS]
 *
 * read: who names a peer READs from it.
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tests/lab/collective/meet.h"
#include "tests/lab/collective/ring.h"

#define RINGS 8u

static struct rnic rnic;
static struct ring rings[RINGS];
static unsigned n_rings;
static int fd;

static void connect_rings(void)
{
	union ibv_gid gid;
	char ready = 1;

	say(&rnic.gid, sizeof(rnic.gid));
	hear(&gid, sizeof(gid));
	for (unsigned i = 0; i < n_rings; i++) {
		say(&rings[i].local, sizeof(rings[i].local));
		hear(&rings[i].remote, sizeof(rings[i].remote));
		ring_connect(&rings[i], &rnic, &gid);
	}
	say(&ready, 1);
	hear(&ready, 1);
}

static void on_alarm(int unused)
{
	(void)unused;
	__atomic_store_n(&ring_stop, true, __ATOMIC_RELEASE);
}

static bool all_drained(void)
{
	for (unsigned i = 0; i < n_rings; i++)
		if (!__atomic_load_n(&rings[i].drained, __ATOMIC_ACQUIRE))
			return false;
	return true;
}

static uint64_t sum(bool received)
{
	uint64_t all = 0;

	for (unsigned i = 0; i < n_rings; i++)
		for (unsigned q = 0; q < QPS; q++)
			all += received ? rings[i].received[q] : rings[i].sent[q];
	return all;
}

/* Each end says how much it has sent when all of that was seen. */
static uint64_t until_both_are_done(void)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	uint64_t theirs = 0, ours;
	bool told = false, heard = false;

	while (!told || !heard) {
		if (!heard && poll(&p, 1, 50) > 0) {
			hear(&theirs, sizeof(theirs));
			heard = true;
			on_alarm(0);
		}
		if (!told && all_drained()) {
			ours = sum(false);
			say(&ours, sizeof(ours));
			told = true;
		}
		if (heard && !told)
			usleep(10000);
	}
	__atomic_store_n(&ring_end, true, __ATOMIC_RELEASE);
	return theirs;
}

static bool report(uint64_t theirs)
{
	uint64_t wrong = 0, disorder = 0, longest = 0, got = sum(true);

	for (unsigned i = 0; i < n_rings; i++) {
		wrong += rings[i].wrong;
		disorder += rings[i].disorder;
		if (rings[i].longest_ns > longest)
			longest = rings[i].longest_ns;
	}
	printf("{\"messages\":%lu,\"sent\":%lu,\"wrong\":%lu,\"disorder\":%lu,\"longest_ms\":%lu}"
	       "\n",
		got, sum(false), wrong, disorder, longest / 1000000u);
	if (rings[0].role != RING_WRITES)
		theirs = sum(false);
	return wrong == 0 && disorder == 0 && got == theirs && (got > 0 || rnic.responds);
}

int main(int argc, char **argv)
{
	const char *peer = argc > 5 ? argv[5] : NULL;
	enum ring_role role = RING_WRITES;
	bool ok;

	n_rings = argc >= 5 ? (unsigned)atoi(argv[3]) : 0;
	if (n_rings == 0 || n_rings > RINGS) {
		fprintf(stderr,
			"usage: collective write|read TCP_PORT THREADS(1..%u) SECONDS [PEER]\n",
			RINGS);
		return 2;
	}
	signal(SIGALRM, on_alarm);
	signal(SIGPIPE, SIG_IGN);
	if (strcmp(argv[1], "read") == 0)
		role = peer != NULL ? RING_READS : RING_IS_READ;
	rnic.responds = role == RING_IS_READ;
	rnic_open(&rnic);
	for (unsigned i = 0; i < n_rings; i++)
		ring_open(&rings[i], &rnic, role);
	fd = meet((uint16_t)atoi(argv[2]), peer);
	connect_rings();
	alarm((unsigned)atoi(argv[4]));
	for (unsigned i = 0; i < n_rings; i++)
		if (pthread_create(&rings[i].thread, NULL, ring_run, &rings[i]) != 0)
			die("pthread_create");
	ok = report(until_both_are_done());
	for (unsigned i = 0; i < n_rings; i++)
		pthread_join(rings[i].thread, NULL);
	for (unsigned i = 0; i < n_rings; i++)
		for (unsigned q = 0; q < QPS; q++)
			rnic_destroy(rings[i].qps[q]);
	return ok ? 0 : 1;
}
