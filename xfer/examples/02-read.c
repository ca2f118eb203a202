/* SPDX-License-Identifier: BSD-3-Clause */
/* A read: the last quarter of the memory of the other end, into the first quarter of the own. */
#include "both.h"

int main(void)
{
	struct end a, b;
	int64_t op;

	both_open(&a, &b);
	memset(b.memory, 'b', LENGTH);
	op = hp3x_read(a.peer, &(struct hp3x_read){.to = a.region,
				       .from = &a.remote,
				       .from_offset = LENGTH / 4 * 3,
				       .length = LENGTH / 4});
	must_work(op);
	end_wait(&a);
	must_be(memcmp(a.memory, b.memory, LENGTH / 4) == 0, "the quarter is here");
	must_be(a.memory[LENGTH / 4] == 0, "nothing else has changed");
	both_close(&a, &b);
	return 0;
}
