/* SPDX-License-Identifier: BSD-3-Clause */
/* A callback instead of polling: it runs in the thread of the domain, and submits the next write.
 */
#include "both.h"

#define WRITES 100u

struct chain {
	struct end *a;
	uint32_t left;
};

static void write_next(const struct hp3x_completion *c)
{
	struct chain *chain = c->context;
	struct hp3x_write w = {.common = {.context = chain, .done = write_next},
		.from = chain->a->region,
		.to = &chain->a->remote,
		.length = 4096,
		.counter = 1,
		.add = 1};

	if (chain->left > 0) {
		chain->left--;
		must_work(hp3x_write(chain->a->peer, &w));
	}
}

int main(void)
{
	struct end a, b;
	struct chain chain = {&a, WRITES};

	both_open(&a, &b);
	write_next(&(struct hp3x_completion){.context = &chain});
	must_work(hp3x_counter_wait(b.domain, 1, WRITES, 0));
	both_close(&a, &b);
	return 0;
}
