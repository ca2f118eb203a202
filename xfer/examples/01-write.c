/* SPDX-License-Identifier: BSD-3-Clause */
/* A write: the data are in the memory of the other end when the completion is OK. */
#include "both.h"

int main(void)
{
	struct end a, b;

	both_open(&a, &b);
	memset(a.memory, 'a', LENGTH);
	must_work(hp3x_write(
		a.peer, &(struct hp3x_write){.from = a.region, .to = &a.remote, .length = LENGTH}));
	end_wait(&a);
	must_be(memcmp(a.memory, b.memory, LENGTH) == 0, "both memories are the same");
	both_close(&a, &b);
	return 0;
}
