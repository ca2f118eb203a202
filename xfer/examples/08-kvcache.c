/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A KV cache moves from a prefill process to a decode process: one op and one counter per layer.
 * The decode process begins with a layer as soon as the layer is complete.
 */
#include "both.h"

#define LAYERS 8u
#define PAGES  32u
#define LAYER  (LENGTH / LAYERS)
#define PAGE   (LAYER / PAGES)

static void layer_write(struct end *prefill, uint32_t layer)
{
	struct hp3x_page page[PAGES];
	struct hp3x_pages w = {.from = prefill->region,
		.to = &prefill->remote,
		.page = page,
		.n_pages = PAGES,
		.counter = layer,
		.add = 1};

	memset(prefill->memory + (size_t)layer * LAYER, 'A' + (int)layer, LAYER);
	for (uint32_t i = 0; i < PAGES; i++) {
		uint64_t at = layer * LAYER + i * PAGE;

		page[i] = (struct hp3x_page){at, at, PAGE};
	}
	must_work(hp3x_write_pages(prefill->peer, &w));
}

int main(void)
{
	struct end prefill, decode;

	both_open(&prefill, &decode);
	for (uint32_t layer = 0; layer < LAYERS; layer++)
		layer_write(&prefill, layer);
	for (uint32_t layer = 0; layer < LAYERS; layer++) {
		must_work(hp3x_counter_wait(decode.domain, layer, 1, 0));
		must_be(decode.memory[(layer + 1) * LAYER - 1] == 'A' + layer, "the layer is here");
	}
	both_close(&prefill, &decode);
	return 0;
}
