/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two ranks of MPI that compare all that they receive: small and large messages in both directions,
 * PUT into the memory of the other rank, GET from it, and FETCH_AND_OP on a counter there. Each
 * round has words of its own, so data of another round are seen. Rank 0 prints
 * {"rounds":N,"wrong":0}; both ranks exit with 1 if anything is wrong.
 *
 * usage: mpirun -np 2 mpi_pattern ROUNDS
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <mpi.h>

#define SMALL 512u /* words: one message */
#define LARGE 24576u /* words: announced first, and then fetched by the receiver */

enum part { PART_PUT, PART_GET, PARTS };

/* The memory that the other rank may change and read. */
struct window {
	uint64_t part[PARTS][LARGE];
	uint64_t counter;
};

static struct window *mine;
static MPI_Win window;
static int rank, other;
static uint64_t wrong;

static uint64_t word(int from, int what, uint64_t round, uint32_t i)
{
	uint64_t x = round << 32 ^ (uint64_t)(uint32_t)(what * 2 + from) << 28 ^ i;

	x ^= x >> 31;
	x *= 0x9e3779b97f4a7c15u;
	return x ^ x >> 29;
}

static void pattern_write(uint64_t *to, uint32_t words, int what, uint64_t round)
{
	for (uint32_t i = 0; i < words; i++)
		to[i] = word(rank, what, round, i);
}

static void pattern_compare(const uint64_t *from, uint32_t words, int what, uint64_t round)
{
	uint32_t differ = 0;

	for (uint32_t i = 0; i < words; i++)
		differ += from[i] != word(other, what, round, i);
	if (differ && wrong++ < 5)
		fprintf(stderr, "rank %d, round %" PRIu64 ": %u of %u words of kind %d differ\n",
			rank, round, differ, words, what);
}

static void messages_exchange(uint32_t words, int what, uint64_t round)
{
	static uint64_t out[LARGE], in[LARGE];
	MPI_Request request[2];

	pattern_write(out, words, what, round);
	MPI_Irecv(in, (int)words, MPI_UINT64_T, other, what, MPI_COMM_WORLD, &request[0]);
	MPI_Isend(out, (int)words, MPI_UINT64_T, other, what, MPI_COMM_WORLD, &request[1]);
	MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
	pattern_compare(in, words, what, round);
}

/* Both ranks PUT, GET and count at once; the barriers separate this from changes of their own
 * memory. */
static void memory_exchange(uint64_t round)
{
	static uint64_t out[LARGE], in[LARGE];
	const MPI_Aint offset_put = offsetof(struct window, part[PART_PUT]),
		       offset_get = offsetof(struct window, part[PART_GET]);
	const uint64_t one = 1;
	uint64_t count = 0;

	pattern_write(out, LARGE, 3, round);
	pattern_write(mine->part[PART_GET], LARGE, 4, round);
	MPI_Win_sync(window);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Put(out, (int)LARGE, MPI_UINT64_T, other, offset_put, (int)LARGE, MPI_UINT64_T, window);
	MPI_Get(in, (int)LARGE, MPI_UINT64_T, other, offset_get, (int)LARGE, MPI_UINT64_T, window);
	MPI_Fetch_and_op(&one, &count, MPI_UINT64_T, other, offsetof(struct window, counter),
		MPI_SUM, window);
	MPI_Win_flush(other, window);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_sync(window);
	pattern_compare(in, LARGE, 4, round);
	pattern_compare(mine->part[PART_PUT], LARGE, 3, round);
	if (count != round && wrong++ < 5)
		fprintf(stderr, "rank %d, round %" PRIu64 ": the counter was %" PRIu64 "\n", rank,
			round, count);
}

int main(int argc, char **argv)
{
	const uint64_t rounds = argc == 2 ? strtoull(argv[1], NULL, 10) : 0;
	uint64_t all = 0;
	int ranks;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (!rounds || ranks != 2) {
		fprintf(stderr, "usage: mpirun -np 2 mpi_pattern ROUNDS\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	other = 1 - rank;
	MPI_Win_allocate(sizeof(*mine), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &window);
	mine->counter = 0;
	MPI_Win_lock_all(0, window);
	MPI_Barrier(MPI_COMM_WORLD);
	for (uint64_t round = 0; round < rounds; round++) {
		messages_exchange(SMALL, 1, round);
		messages_exchange(LARGE, 2, round);
		memory_exchange(round);
	}
	MPI_Win_unlock_all(window);
	MPI_Win_free(&window);
	MPI_Allreduce(&wrong, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
	if (!rank)
		printf("{\"rounds\":%" PRIu64 ",\"wrong\":%" PRIu64 "}\n", rounds, all);
	MPI_Finalize();
	return all > 0;
}
