/* SPDX-License-Identifier: BSD-3-Clause */
/* The parsers of every level of the instruction set read no byte after a frame. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>
#include <sys/mman.h>
#include <unistd.h>
#include "isa_traffic.h"

#define GROUP 8u /* as many as a loop may take at a time */

static uint8_t frame[FRAME];

/* Frames that end where memory does, whole ones and such as are cut near their ICRC. */
static void no_byte_behind_a_frame_is_read(void **state)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct hp3_engine *e = make_engine(HP3_CC_NATIVE, false);
	struct hp3_pkt pkts[2 * GROUP];
	uint8_t *ends[2 * GROUP], *mem;

	mem = mmap(
		NULL, 4 * GROUP * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(mem, MAP_FAILED);
	for (unsigned i = 0; i < 2 * GROUP; i++) {
		ends[i] = mem + (2 * i + 1) * page;
		assert_int_equal(mprotect(ends[i], page, PROT_NONE), 0);
	}
	traffic_begin(ISA_SEED);
	for (unsigned isa = 0; hp3_isa_name(isa) != NULL; isa++) {
		if (hp3_isa_use(e, isa) != 0)
			continue;
		for (unsigned r = 0; r < 200; r++) {
			for (unsigned i = 0; i < 2 * GROUP; i++) {
				uint32_t len = r & 1 ? draw_reply(frame, draw(QPS))
						     : draw_request(frame, draw(QPS));

				if (draw(8) == 0)
					len = draw(8) == 0 ? draw(len) : 50 + draw(12);
				memcpy(ends[i] - len, frame, len);
				pkts[i] = (struct hp3_pkt){.frame = ends[i] - len, .len = len};
			}
			hp3_see_burst(
				e, pkts, 1 + draw(2 * GROUP), r & 1 ? HP3_DIR_RX : HP3_DIR_TX);
		}
	}
	assert_int_equal(munmap(mem, 4 * GROUP * page), 0);
	free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_byte_behind_a_frame_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
