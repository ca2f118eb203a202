/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Slices: an op is cut page by page. All slices of an op but the last one of each page have the
 * same length: slice_bytes, or a multiple of it if there would be more than HP3X_MOST_PAGES slices.
 */
#include "xfer/core/inside.h"
#include "base/minmax.h"

static const struct hp3x_page *page_of(const struct hp3xc_chunk *chunk, uint32_t page)
{
	return &chunk->page[page % HP3XC_CHUNK_PAGES];
}

static uint64_t slices_count(const struct hp3xc_op *op, uint32_t bytes)
{
	const struct hp3xc_chunk *chunk = op->chunks;
	uint64_t n = 0;

	if (chunk == NULL)
		return (op->length + bytes - 1) / bytes;
	for (uint32_t i = 0; i < op->n_pages; i++) {
		if (i != 0 && i % HP3XC_CHUNK_PAGES == 0)
			chunk = chunk->next;
		n += ((uint64_t)page_of(chunk, i)->length + bytes - 1) / bytes;
	}
	return n;
}

/* Goes on to the next page that has bytes left. */
static void page_skip(struct hp3xc_op *op)
{
	while (op->chunk != NULL && op->page < op->n_pages &&
		op->at == page_of(op->chunk, op->page)->length) {
		op->at = 0;
		if (++op->page % HP3XC_CHUNK_PAGES == 0)
			op->chunk = op->chunk->next;
	}
}

bool hp3xc_slices_plan(struct hp3x_core *c, struct hp3xc_op *op)
{
	uint64_t bytes = c->cfg.slice_bytes, n = slices_count(op, (uint32_t)bytes);

	while (n > HP3X_MOST_PAGES) {
		bytes *= 2;
		if (bytes > UINT32_MAX / 2)
			return false;
		n = slices_count(op, (uint32_t)bytes);
	}
	op->slice_bytes = (uint32_t)bytes;
	op->n_slices = (uint32_t)n;
	op->chunk = op->chunks;
	op->page = op->cut = 0;
	op->at = 0;
	page_skip(op);
	return true;
}

uint32_t hp3xc_slice_length(const struct hp3xc_op *op)
{
	uint64_t all = op->chunk != NULL ? page_of(op->chunk, op->page)->length : op->length;

	return (uint32_t)hp3_min_u64(all - op->at, op->slice_bytes);
}

void hp3xc_slice_cut(struct hp3xc_op *op, struct hp3xc_flight *f)
{
	const struct hp3x_page *page =
		op->chunk != NULL ? page_of(op->chunk, op->page) : &op->whole;

	f->length = hp3xc_slice_length(op);
	f->local = page->from_offset + op->at;
	f->remote = op->remote + page->to_offset + op->at;
	f->slice = (uint16_t)op->cut++;
	op->at += f->length;
	page_skip(op);
}
