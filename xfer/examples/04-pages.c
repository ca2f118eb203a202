/* SPDX-License-Identifier: BSD-3-Clause */
/* Pages anywhere in two regions, with one op: here in the opposite order. */
#include "both.h"

#define PAGES 64u
#define PAGE  (LENGTH / PAGES)

int main(void)
{
	struct hp3x_page page[PAGES];
	struct end a, b;
	int64_t op;

	both_open(&a, &b);
	for (uint32_t i = 0; i < PAGES; i++) {
		memset(a.memory + (size_t)i * PAGE, (int)i, PAGE);
		page[i] = (struct hp3x_page){i * PAGE, (PAGES - 1 - i) * PAGE, PAGE};
	}
	op = hp3x_write_pages(
		a.peer, &(struct hp3x_pages){
				.from = a.region, .to = &a.remote, .page = page, .n_pages = PAGES});
	must_work(op);
	end_wait(&a);
	for (uint32_t i = 0; i < PAGES; i++)
		must_be(b.memory[(size_t)i * PAGE] == PAGES - 1 - i, "the page is in its place");
	both_close(&a, &b);
	return 0;
}
