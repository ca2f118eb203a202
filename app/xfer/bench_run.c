/* SPDX-License-Identifier: BSD-3-Clause */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "app/clock.h"
#include "app/xfer/bench.h"

#define LAYERS 61u /* of the model of pattern kvcache: one op and one counter each */
#define PAGES  64u /* of a layer: 32 of 128 KiB and 32 of 16 KiB */

enum pattern { PATTERN_WRITES, PATTERN_READS, PATTERN_KVCACHE, PATTERN_WEIGHTS, PATTERNS };

static const char *const names[PATTERNS] = {"writes", "reads", "kvcache", "weights"};

static enum pattern pattern_of(const char *name)
{
	uint32_t i = 0;

	while (i < PATTERNS && strcmp(name, names[i]) != 0)
		i++;
	return i;
}

bool bench_pattern_known(const char *pattern)
{
	return pattern_of(pattern) != PATTERNS;
}

static int64_t layer_submit(const struct bench_client *c, uint64_t number)
{
	struct hp3x_page page[PAGES];
	struct hp3x_pages w = {.from = c->region,
		.to = &c->remote,
		.page = page,
		.n_pages = PAGES,
		.counter = (uint32_t)(number % LAYERS),
		.add = 1};
	uint64_t at = number % 16 * (8u << 20);

	for (uint32_t i = 0; i < PAGES; i++) {
		uint32_t length = i % 2 == 0 ? 131072 : 16384;

		page[i] = (struct hp3x_page){at, at, length};
		at += length;
	}
	return hp3x_write_pages(c->peer, &w);
}

static int64_t op_submit(const struct bench_client *c, const struct bench_options *o, uint64_t i)
{
	uint64_t places = BENCH_REGION / o->size, at = i % places * o->size;
	struct hp3x_write w = {.from = c->region,
		.from_offset = at,
		.to = &c->remote,
		.to_offset = at,
		.length = o->size};
	struct hp3x_read r = {.to = c->region,
		.to_offset = at,
		.from = &c->remote,
		.from_offset = at,
		.length = o->size};

	switch (pattern_of(o->pattern)) {
	case PATTERN_WEIGHTS:
		if (i % 2 == 0)
			return hp3x_read(c->peer, &r);
		w.counter = (uint32_t)(at / o->size % HP3X_COUNTERS);
		w.add = 1;
		return hp3x_write(c->peer, &w);
	case PATTERN_WRITES:
		return hp3x_write(c->peer, &w);
	case PATTERN_READS:
		return hp3x_read(c->peer, &r);
	default:
		return layer_submit(c, i);
	}
}

static int compare_times(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void domain_wait(struct hp3x_domain *d)
{
	struct pollfd p = {.fd = hp3x_fd(d), .events = POLLIN};
	uint64_t n;

	if (poll(&p, 1, 1000) > 0 && read(p.fd, &n, sizeof(n)) < 0)
		return; /* somebody has read it before */
}

/* On a terminal, ten times a second at most; `last` is the time of the last line. */
static void progress_print(
	const struct bench_options *o, const struct bench_result *r, uint64_t *last, bool over)
{
	uint64_t now = hp3_clock_ns(CLOCK_MONOTONIC);

	if (!isatty(STDERR_FILENO) || (!over && now - *last < 100000000))
		return;
	*last = now;
	fprintf(stderr, "\r%llu of %llu transfers, %.1f GB%s",
		(unsigned long long)(r->ops + r->failed), (unsigned long long)o->ops,
		(double)r->bytes / 1e9, over ? "\n" : "");
}

static void times_sort(uint64_t *took, struct bench_result *r)
{
	if (r->ops == 0)
		return;
	qsort(took, r->ops, sizeof(*took), compare_times);
	r->took[0] = took[r->ops / 2];
	r->took[1] = took[r->ops * 99 / 100];
	r->took[2] = took[r->ops - 1];
}

int bench_run(const struct bench_client *c, const struct bench_options *o, struct bench_result *r)
{
	uint64_t *took = calloc(o->ops, sizeof(*took)), submitted = 0, ended = 0, began, shown = 0;
	struct hp3x_completion done;

	if (took == NULL)
		return -1;
	began = hp3_clock_ns(CLOCK_MONOTONIC);
	while (ended < o->ops) {
		while (submitted < o->ops && submitted - ended < o->depth) {
			if (op_submit(c, o, submitted) < 0) { /* the peer is gone */
				r->failed += o->ops - submitted;
				ended += o->ops - submitted;
				submitted = o->ops;
				break;
			}
			submitted++;
		}
		while (hp3x_poll(c->domain, &done, 1) > 0) {
			ended++;
			r->again += done.again;
			r->failed += done.status != HP3X_OK;
			r->bytes += done.status == HP3X_OK ? done.length : 0;
			if (done.status == HP3X_OK)
				took[r->ops++] = done.ended - done.began;
		}
		progress_print(o, r, &shown, ended == o->ops);
		if (ended < o->ops)
			domain_wait(c->domain);
	}
	r->ns = hp3_clock_ns(CLOCK_MONOTONIC) - began;
	times_sort(took, r);
	free(took);
	return 0;
}
