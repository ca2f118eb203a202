/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Input: any text as a distribution of flow sizes. The loader refuses it with a message that
 * names the line. Or it accepts it, and then sizes rise with the share that is drawn, and sizes
 * and their mean are within the allowed range.
 */
#include "config/cdf.h"
#include "input.h"

#define MOST  UINT64_C(4000000000)
#define DRAWS 64u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct hp3_cdf c;
	char err[256] = "";
	uint64_t before = 0;
	FILE *f = size > 0 ? fmemopen((void *)(uintptr_t)data, size, "r") : NULL;
	int ret;

	if (f == NULL)
		return 0;
	ret = hp3_cdf_read(&c, f, "fuzz", MOST, err, sizeof(err));
	fclose(f);
	MUST((ret == 0) == (err[0] == '\0'));
	if (ret != 0)
		return 0;
	MUST(c.n >= 2 && c.n <= HP3_CDF_POINTS);
	for (uint32_t i = 0; i < DRAWS; i++) {
		uint64_t bytes = hp3_cdf_size(&c, i * (UINT32_MAX / (DRAWS - 1)));

		MUST(bytes >= 1 && bytes <= MOST && bytes >= before);
		before = bytes;
	}
	MUST(hp3_cdf_mean(&c) <= c.size[c.n - 1]);
	return 0;
}
