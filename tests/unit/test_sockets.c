/* SPDX-License-Identifier: BSD-3-Clause */
/* NUMA node of memory, and messages about it, on simulated machines; memory binding on this one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <numa.h>
#include <numaif.h>
#include <rte_memory.h>
#include "app/hp3d/pipe/sockets.h"

#define ANY   SOCKET_ID_ANY
#define BYTES ((size_t)2 << 20)

static void choice(void **state)
{
	const int same[] = {1, 1}, half[] = {ANY, 1}, apart[] = {0, 1}, none[] = {ANY, ANY};

	assert_int_equal(hp3d_socket_choose(0, same, 2), 0);
	assert_int_equal(hp3d_socket_choose(1, apart, 2), 1);
	assert_int_equal(hp3d_socket_choose(ANY, same, 2), 1);
	assert_int_equal(hp3d_socket_choose(ANY, half, 2), 1);
	assert_int_equal(hp3d_socket_choose(ANY, apart, 2), ANY);
	assert_int_equal(hp3d_socket_choose(ANY, none, 2), ANY);
	assert_int_equal(hp3d_socket_choose(ANY, none, 0), ANY);
}

static void advice(void **state)
{
	char text[256];

	assert_false(hp3d_socket_advice(text, sizeof(text), 1, ANY, 0, 1));
	assert_false(hp3d_socket_advice(text, sizeof(text), 1, 1, 1, 2));
	assert_false(hp3d_socket_advice(text, sizeof(text), 1, 1, ANY, 2));
	assert_true(hp3d_socket_advice(text, sizeof(text), 3, 0, 1, 2));
	assert_non_null(strstr(text, "lcore 3 runs on socket 0, the port is on socket 1"));
	assert_non_null(strstr(text, "cpus to CPUs of socket 1"));
	assert_true(hp3d_socket_advice(text, sizeof(text), 3, ANY, 0, 2));
	assert_non_null(strstr(text, "lcore 3 may run on several sockets"));
	assert_non_null(strstr(text, "cpus to CPUs of socket 0"));
}

/* Every page of memory that was put on a socket lies there; no such socket: it is usable still. */
static void binding(void **state)
{
	int last = numa_available() < 0 ? 0 : numa_max_node();

	for (int socket = ANY; socket <= last + 1; socket++) {
		uint8_t *mem = aligned_alloc(BYTES, BYTES);

		assert_non_null(mem);
		hp3d_socket_bind(mem, BYTES, socket);
		memset(mem, 1, BYTES);
		for (size_t at = 0; at < BYTES && socket >= 0 && socket <= last; at += 4096) {
			void *page = mem + at;
			int where = -1;

			/* Refused (by a container): nothing to compare. */
			if (move_pages(0, 1, &page, NULL, &where, 0) == 0)
				assert_int_equal(where, socket);
		}
		assert_int_equal(mem[BYTES - 1], 1);
		free(mem);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(choice),
		cmocka_unit_test(advice),
		cmocka_unit_test(binding),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
