/* SPDX-License-Identifier: BSD-3-Clause */
/* No thread of the library: the program calls hp3x_progress() in its own loop. */
#include <poll.h>
#include "both.h"

static void ends_progress(struct end *a, struct end *b)
{
	struct pollfd p[2] = {{hp3x_fd(a->domain), POLLIN, 0}, {hp3x_fd(b->domain), POLLIN, 0}};
	int64_t of_a = hp3x_progress(a->domain), of_b = hp3x_progress(b->domain);
	int64_t ms = (of_a < of_b ? of_a : of_b) / 1000000;

	poll(p, 2, ms > 1000 ? 1000 : (int)ms);
}

int main(void)
{
	struct hp3x_completion c;
	struct end a, b;

	end_open(&a, true);
	end_open(&b, true);
	must_work(hp3x_connect(a.domain, hp3x_address(b.domain), &a.peer));
	end_learn(&a, &b);
	memset(a.memory, 'a', LENGTH);
	must_work(hp3x_write(
		a.peer, &(struct hp3x_write){.from = a.region, .to = &a.remote, .length = LENGTH}));
	while (hp3x_poll(a.domain, &c, 1) == 0)
		ends_progress(&a, &b);
	must_be(c.status == HP3X_OK, hp3x_status_name(c.status));
	must_be(memcmp(a.memory, b.memory, LENGTH) == 0, "both memories are the same");
	both_close(&a, &b);
	return 0;
}
