/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * usage: nccl-harness PLUGIN VERSION RANKS [ROUNDS [BYTES]]
 *
 * Drives a network plugin as NCCL does: one process for each rank, a ring of comms, messages in
 * pieces, several requests at a time. VERSION: 10 or 11. Each rank checks the result of ROUNDS (3)
 * AllReduces of BYTES (4 MiB) bit by bit, and single cases: tags, sizes, refusals. Exit code 0: all
 * ranks passed.
 *
 * With HARNESS_PAUSE=FILE, each round waits until FILE exists, and says in FILE.RANK that it waits:
 * so a test can break a rail in the middle. With HARNESS_NAMESPACES=FILE,FILE, the ranks enter
 * these network namespaces in turn: neighbours are in different ones. HARNESS_PEER: see hosts.h.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "hosts.h"
#include "xfer/nccl/net.h"

#define PIECE   (128u * 1024u)
#define AT_ONCE 6
#define LIMIT_S 60 /* of a step; on a quiet machine, a step takes milliseconds */
#define SMALL   4096u

static struct shared *shared;
static const struct net_v10 *v10;
static const struct net_v11 *v11;
static int rank, ranks;

static void fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fprintf(stderr, "rank %d: ", rank);
	vfprintf(stderr, format, args);
	fprintf(stderr, "\n");
	exit(1);
}

static void log_line(
	int level, unsigned long flags, const char *file, int line, const char *format, ...)
{
	va_list args;

	if (level > NET_LOG_WARN)
		return;
	va_start(args, format);
	fprintf(stderr, "rank %d: %s:%d: ", rank, file, line);
	vfprintf(stderr, format, args);
	fprintf(stderr, "\n");
	va_end(args);
}

/* What both versions have, by name. */
#define CALL(function, ...) (v11 != NULL ? v11->function(__VA_ARGS__) : v10->function(__VA_ARGS__))

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void must(int rc, const char *what)
{
	if (rc != NET_SUCCESS)
		fail("%s: result %d", what, rc);
}

static void check_time(double since, const char *what)
{
	if (seconds() - since > LIMIT_S)
		fail("%s: nothing happens for %d s", what, LIMIT_S);
	sched_yield();
}

struct ring {
	void *context, *listener, *send, *receive;
};

static void connect_ring(struct ring *r)
{
	char *next = shared->handle[(rank + 1) % ranks];
	char handle[NET_HANDLE];
	double since = seconds();

	if (v11 != NULL)
		must(v11->listen(r->context, 0, shared->handle[rank], &r->listener), "listen");
	else
		must(v10->listen(0, shared->handle[rank], &r->listener), "listen");
	__sync_fetch_and_add(&shared->listens, 1);
	while (shared->listens < ranks)
		check_time(since, "listen of others");
	memcpy(handle, next, sizeof(handle));
	while (r->send == NULL || r->receive == NULL) {
		if (r->send == NULL && v11 != NULL)
			must(v11->connect(r->context, 0, handle, &r->send, NULL), "connect");
		else if (r->send == NULL)
			must(v10->connect(0, NULL, handle, &r->send, NULL), "connect");
		if (r->receive == NULL)
			must(CALL(accept, r->listener, &r->receive, NULL), "accept");
		check_time(since, "connect and accept");
	}
}

static int send_now(void *comm, void *data, size_t size, int tag, void *memory, void **request)
{
	return CALL(isend, comm, data, size, tag, memory, NULL, request);
}

static int receive_now(void *comm, void *data, size_t size, int tag, void *memory, void **request)
{
	return CALL(irecv, comm, 1, &data, &size, &tag, &memory, NULL, request);
}

/* Tests one request, if there is one; it is NULL once it is done. Returns its size, or -1. */
static int test_one(void **request)
{
	int done = 0, size = -1;

	if (*request == NULL)
		return -1;
	must(CALL(test, *request, &done, &size), "test");
	if (!done)
		return -1;
	*request = NULL;
	return size;
}

/*
 * Sends `bytes` to the next rank, and receives as many from the one before, in pieces. Calls
 * `take` for each piece that has arrived, if it is not NULL.
 */
struct exchange {
	struct ring *ring;
	char *from, *to;
	void *from_memory, *to_memory;
	size_t bytes;
};

static size_t piece_length(size_t bytes, uint32_t piece)
{
	size_t at = (size_t)piece * PIECE;

	return bytes - at < PIECE ? bytes - at : PIECE;
}

static void exchange_pieces(const struct exchange *x)
{
	uint32_t pieces = (uint32_t)((x->bytes + PIECE - 1) / PIECE), sent = 0, posted = 0,
		 over = 0;
	void *send[AT_ONCE] = {0}, *receive[AT_ONCE] = {0};
	size_t expected[AT_ONCE] = {0};
	double since = seconds();

	while (over < 2 * pieces) {
		void **s = &send[sent % AT_ONCE], **r = &receive[posted % AT_ONCE];
		size_t at = (size_t)posted * PIECE;

		if (posted < pieces && *r == NULL) {
			expected[posted % AT_ONCE] = piece_length(x->bytes, posted);
			must(receive_now(x->ring->receive, x->to + at, PIECE, (int)posted,
				     x->to_memory, r),
				"irecv");
			posted += *r != NULL;
		}
		at = (size_t)sent * PIECE;
		if (sent < pieces && *s == NULL) {
			must(send_now(x->ring->send, x->from + at, piece_length(x->bytes, sent),
				     (int)sent, x->from_memory, s),
				"isend");
			sent += *s != NULL;
		}
		for (int i = 0; i < AT_ONCE; i++) {
			int size = test_one(&receive[i]);

			over += (test_one(&send[i]) >= 0) + (size >= 0);
			if (size >= 0 && (size_t)size != expected[i])
				fail("received %d bytes instead of %zu", size, expected[i]);
			if (size >= 0)
				since = seconds();
		}
		check_time(since, "exchange");
	}
}

static uint64_t word_of(int of, int round, size_t i)
{
	return ((uint64_t)of + 1) * 0x9e3779b97f4a7c15u + (uint64_t)round * 77 + i * i;
}

static void wait_for_leave(int round)
{
	const char *file = getenv("HARNESS_PAUSE");
	char name[256];
	double since = seconds();
	FILE *f;

	if (file == NULL || round != 1)
		return;
	snprintf(name, sizeof(name), "%s.%d", file, rank);
	f = fopen(name, "w");
	if (f != NULL)
		fclose(f);
	while (access(file, F_OK) != 0)
		check_time(since, "leave to go on");
}

/* AllReduce (sum) over the ring: n - 1 steps that reduce, n - 1 steps that gather. */
static void all_reduce(struct ring *ring, int round, size_t bytes)
{
	size_t words = bytes / 8 / (size_t)ranks, part = words * 8;
	size_t room = part + PIECE; /* a piece is posted with its full length */
	uint64_t *data = aligned_alloc(4096, (room * (size_t)ranks + 4095) / 4096 * 4096);
	uint64_t *in = aligned_alloc(4096, (room + 4095) / 4096 * 4096);
	void *data_memory, *in_memory;

	memset(in, 0, room);
	memset(data, 0, room * (size_t)ranks);
	for (size_t i = 0; i < words * (size_t)ranks; i++)
		data[i] = word_of(rank, round, i);
	must(CALL(register_memory, ring->send, data, room * (size_t)ranks, NET_HOST, &data_memory),
		"regMr");
	must(CALL(register_memory, ring->receive, in, room, NET_HOST, &in_memory), "regMr");
	for (int step = 0; step < 2 * (ranks - 1); step++) {
		bool gathers = step >= ranks - 1;
		int out = (rank - step + (gathers ? ranks : 0) + 4 * ranks) % ranks;
		int got = (out - 1 + ranks) % ranks;
		struct exchange x = {ring, (char *)(data + (size_t)out * words), (char *)in,
			data_memory, in_memory, part};

		if (step == ranks - 1)
			wait_for_leave(round);
		exchange_pieces(&x);
		for (size_t i = 0; i < words; i++) {
			uint64_t *w = &data[(size_t)got * words + i];

			*w = gathers ? in[i] : *w + in[i];
		}
	}
	for (size_t i = 0; i < words * (size_t)ranks; i++) {
		uint64_t sum = 0;

		for (int r = 0; r < ranks; r++)
			sum += word_of(r, round, i);
		if (data[i] != sum)
			fail("round %d, word %zu: %llx instead of %llx", round, i,
				(unsigned long long)data[i], (unsigned long long)sum);
	}
	must(CALL(deregister_memory, ring->send, data_memory), "deregMr");
	must(CALL(deregister_memory, ring->receive, in_memory), "deregMr");
	free(data);
	free(in);
}

static int finish(void **request, const char *what)
{
	double since = seconds();
	int size = -1;

	while (*request != NULL) {
		int now = test_one(request);

		size = now >= 0 ? now : size;
		check_time(since, what);
	}
	return size;
}

/* Two buffers with tags, filled in the other order; a short and an empty message; refusals. */
static void check_cases(struct ring *ring)
{
	char *in = aligned_alloc(4096, 2 * SMALL), *out = aligned_alloc(4096, 2 * SMALL);
	void *in_memory, *out_memory, *r[2] = {0}, *s[2] = {0}, *more = NULL;
	int sizes[2];
	double since = seconds();

	memset(in, 0, 2 * SMALL);
	memset(out, 'A', SMALL);
	memset(out + SMALL, 'B', SMALL);
	must(CALL(register_memory, ring->receive, in, 2 * SMALL, NET_HOST, &in_memory), "regMr");
	must(CALL(register_memory, ring->send, out, 2 * SMALL, NET_HOST, &out_memory), "regMr");
	for (int i = 0; i < 2; i++) {
		while (r[i] == NULL) {
			must(receive_now(ring->receive, in + i * SMALL, SMALL, 10 + i, in_memory,
				     &r[i]),
				"irecv");
			check_time(since, "irecv");
		}
	}
	for (int i = 1; i >= 0; i--) {
		while (s[i] == NULL) {
			must(send_now(ring->send, out + i * SMALL, i == 0 ? 0 : 100, 10 + i,
				     out_memory, &s[i]),
				"isend");
			check_time(since, "isend");
		}
	}
	for (int i = 0; i < 2; i++) {
		finish(&s[i], "send of a small message");
		sizes[i] = finish(&r[i], "receipt of a small message");
	}
	if (sizes[0] != 0 || sizes[1] != 100)
		fail("sizes %d and %d instead of 0 and 100", sizes[0], sizes[1]);
	if (in[0] != 0 || memcmp(in + SMALL, out + SMALL, 100) != 0 || in[SMALL + 100] != 0)
		fail("small messages have the wrong content");
	if (send_now(ring->send, out + SMALL, SMALL + 1, 12, out_memory, &more) == NET_SUCCESS)
		fail("isend beyond the registered memory succeeds");
	if (receive_now(ring->receive, in, 3 * SMALL, 12, in_memory, &more) == NET_SUCCESS)
		fail("irecv beyond the registered memory succeeds");
	must(CALL(deregister_memory, ring->receive, in_memory), "deregMr");
	must(CALL(deregister_memory, ring->send, out_memory), "deregMr");
	free(in);
	free(out);
}

static void run_rank(int rounds, size_t bytes)
{
	struct ring ring = {0};
	double since;
	int n = 0;

	if (v11 != NULL)
		must(v11->init(&ring.context, 1, NULL, log_line, NULL), "init");
	else
		must(v10->init(log_line, NULL), "init");
	must(CALL(devices, &n), "devices");
	if (n < 1)
		fail("no device");
	connect_ring(&ring);
	check_cases(&ring);
	for (int round = 0; round < rounds; round++)
		all_reduce(&ring, round, bytes);
	shared->done[rank] = 1; /* the others may still need this rank */
	since = seconds();
	for (int i = 0; i < ranks; i++) {
		while (!shared->done[i])
			check_time(since, "the other ranks");
	}
	must(CALL(close_send, ring.send), "closeSend");
	must(CALL(close_receive, ring.receive), "closeRecv");
	must(CALL(close_listen, ring.listener), "closeListen");
	if (v11 != NULL)
		must(v11->finalize(ring.context), "finalize");
}

/* Before the plugin makes threads. */
static void namespace_enter(void)
{
	const char *names = getenv("HARNESS_NAMESPACES");
	char first[128], second[128];
	int fd;

	if (names == NULL)
		return;
	if (sscanf(names, "%127[^,],%127s", first, second) != 2)
		fail("HARNESS_NAMESPACES=%s: name two files, with a comma between them", names);
	fd = open(rank % 2 == 0 ? first : second, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET) < 0)
		fail("cannot enter the network namespaces %s: %m", names);
	close(fd);
}

static int run_ranks(const char *plugin, int version, int rounds, size_t bytes)
{
	pid_t joins, ended;
	int bad = 0, status;

	for (rank = 0; rank < ranks; rank++) {
		void *library;

		if (!hosts_have(rank) || fork() != 0)
			continue;
		namespace_enter();
		library = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
		if (library == NULL)
			fail("%s", dlerror());
		v10 = version == 10 ? dlsym(library, "ncclNetPlugin_v10") : NULL;
		v11 = version == 11 ? dlsym(library, "ncclNetPlugin_v11") : NULL;
		if (v10 == NULL && v11 == NULL)
			fail("%s: no ncclNetPlugin_v%d", plugin, version);
		run_rank(rounds, bytes);
		exit(0);
	}
	joins = fork();
	if (joins == 0) {
		hosts_join(shared, ranks);
		exit(0);
	}
	for (rank = 0; rank < ranks; rank++) {
		while (hosts_have(rank) && (ended = wait(&status)) >= 0) {
			bad |= status != 0;
			if (ended != joins)
				break;
		}
	}
	kill(joins, SIGTERM); /* it waits for ranks that have failed */
	return bad;
}

int main(int argc, char **argv)
{
	int version = argc > 2 ? atoi(argv[2]) : 0, rounds = argc > 4 ? atoi(argv[4]) : 3;
	size_t bytes = argc > 5 ? strtoull(argv[5], NULL, 10) : 4u << 20;
	double since = seconds();

	ranks = argc > 3 ? atoi(argv[3]) : 0;
	if ((version != 10 && version != 11) || ranks < 2 || ranks > RANKS) {
		fprintf(stderr, "usage: %s PLUGIN 10|11 RANKS(2-8) [ROUNDS [BYTES]]\n", argv[0]);
		return 2;
	}
	shared = mmap(
		NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED || run_ranks(argv[1], version, rounds, bytes) != 0)
		return 1;
	printf("%d ranks, version %d: %d AllReduces of %zu bytes are right, %.1f s\n", ranks,
		version, rounds, bytes, seconds() - since);
	return 0;
}
