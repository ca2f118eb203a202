/* SPDX-License-Identifier: BSD-3-Clause */
/* The next event: of a world of RNICs, or of all else. */
#include "tests/whole/sim.h"

static bool before(const struct happening *a, const struct happening *b)
{
	return a->t < b->t || (a->t == b->t && a->seq < b->seq);
}

void sim_at(struct sim *s, uint64_t t, sim_fn *fn, void *arg, uint64_t n)
{
	struct happening h = {.t = t, .seq = s->seq++, .fn = fn, .arg = arg, .n = n};
	uint32_t i = s->n_list++;

	if (s->n_list > s->cap) {
		s->cap = s->cap ? 2 * s->cap : 1024;
		s->list = realloc(s->list, s->cap * sizeof(*s->list));
	}
	for (; i > 0 && before(&h, &s->list[(i - 1) / 2]); i = (i - 1) / 2)
		s->list[i] = s->list[(i - 1) / 2];
	s->list[i] = h;
}

static struct happening next(struct sim *s)
{
	struct happening top = s->list[0], last = s->list[--s->n_list];
	uint32_t i = 0;

	for (;;) {
		uint32_t c = 2 * i + 1;

		if (c >= s->n_list)
			break;
		if (c + 1 < s->n_list && before(&s->list[c + 1], &s->list[c]))
			c++;
		if (!before(&s->list[c], &last))
			break;
		s->list[i] = s->list[c];
		i = c;
	}
	s->list[i] = last;
	return top;
}

/* Which comes first: 0, 1: of the worlds; 2: of all else. */
static unsigned first(const struct sim *s, uint64_t *t)
{
	unsigned which = 2;

	*t = s->n_list > 0 ? s->list[0].t : UINT64_MAX;
	for (unsigned i = 0; i < 2; i++) {
		const struct heap *h = &s->w[i].heap;

		if (h->n > 0 && heap_next(h) < *t) {
			*t = heap_next(h);
			which = i;
		}
	}
	return which;
}

void sim_run_until(struct sim *s, uint64_t end)
{
	uint64_t t;

	while (!s->failed) {
		unsigned which = first(s, &t);

		if (t > end)
			break;
		s->now = s->w[0].now = s->w[1].now = t;
		if (which == 2) {
			struct happening h = next(s);

			h.fn(s, h.arg, h.n);
		} else {
			struct event event = world_pop(&s->w[which]);

			rnics_dispatch(&s->w[which], &event);
		}
		s->failed |= s->w[0].failed || s->w[1].failed;
	}
	if (!s->failed)
		s->now = s->w[0].now = s->w[1].now = end;
}

void sim_time_free(struct sim *s)
{
	free(s->list);
	s->list = NULL;
	s->n_list = s->cap = 0;
}
