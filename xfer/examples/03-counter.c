/* SPDX-License-Identifier: BSD-3-Clause */
/* The receiver waits for a count, not for single writes: they may arrive in any order. */
#include "both.h"

#define WRITES 32u

int main(void)
{
	struct end a, b;

	both_open(&a, &b);
	memset(a.memory, 'a', LENGTH);
	for (uint32_t i = 0; i < WRITES; i++) {
		struct hp3x_write w = {.from = a.region,
			.from_offset = i * (LENGTH / WRITES),
			.to = &a.remote,
			.to_offset = i * (LENGTH / WRITES),
			.length = LENGTH / WRITES,
			.counter = 5,
			.add = 1};

		must_work(hp3x_write(a.peer, &w));
	}
	must_work(hp3x_counter_wait(b.domain, 5, WRITES, 0));
	must_be(memcmp(a.memory, b.memory, LENGTH) == 0, "all data are here");
	both_close(&a, &b);
	return 0;
}
