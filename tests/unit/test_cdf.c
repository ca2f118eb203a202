/* SPDX-License-Identifier: BSD-3-Clause */
/* Distributions of sizes (config/cdf.h): samples, and refused files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>
#include "config/cdf.h"

#define MOST 1073741824u

static char err[256];

static int load(const char *text, struct hp3_cdf *c)
{
	char copy[256];
	FILE *f;
	int ret;

	strcpy(copy, text[0] != '\0' ? text : "\n");
	f = fmemopen(copy, strlen(copy), "r");
	assert_non_null(f);
	ret = hp3_cdf_read(c, f, "sizes", MOST, err, sizeof(err));
	fclose(f);
	return ret;
}

static uint64_t size(const struct hp3_cdf *c, double u)
{
	return hp3_cdf_size(c, (uint32_t)(u * 4294967296.0));
}

static void sizes_follow_the_distribution(void **state)
{
	struct hp3_cdf c;
	double sum = 0;

	assert_int_equal(
		load("# bytes percent\n0 0\n1000 50\n1000 75 # a step\n5000 100\n", &c), 0);
	/* 50 % average 500, 25 % are 1000, 25 % average 3000 */
	assert_int_equal(hp3_cdf_mean(&c), 1250);
	assert_int_equal(size(&c, 0), 1);
	assert_int_equal(size(&c, 0.25), 500);
	assert_int_equal(size(&c, 0.6), 1000);
	assert_int_equal(size(&c, 0.875), 3000);
	for (int i = 0; i < 100000; i++)
		sum += (double)size(&c, (i + 0.5) / 100000);
	assert_in_range((uint64_t)(sum / 100000), 1249, 1251);
}

/* A first line above 0: so many are just that large. */
static void fractions_and_a_first_step(void **state)
{
	struct hp3_cdf c;

	assert_int_equal(load("10 0.2\n20 1\n", &c), 0);
	assert_int_equal(size(&c, 0.1), 10);
	assert_int_equal(size(&c, 0.61), 15);
	assert_int_equal(hp3_cdf_mean(&c), 14);
	/* Nothing is smaller than a byte, and so is no average. */
	assert_int_equal(load("0 0\n1 100\n", &c), 0);
	assert_int_equal(hp3_cdf_mean(&c), 1);
}

static void bad_distributions_are_refused(void **state)
{
	static const struct {
		const char *text, *says;
	} bad[] = {{"", "must end at 100"}, {"0 0\n10 99\n", "sizes:2: must end at 100"},
		{"0 0\n10 50\n5 100\n", "sizes:3: sizes and shares must not"},
		{"0 0\n10 60\n20 50\n30 100\n", "sizes:3: sizes and shares must not"},
		{"0 0\nten 100\n", "sizes:2: write"}, {"0 0\n10 100 3\n", "sizes:2: write"},
		{"0 0\n2147483648 100\n", "out of range (sizes up to 1073741824 bytes)"},
		{"0 -1\n10 100\n", "0 to 100 percent"}, {"100 100\n", "two lines"},
		{"0 0\n0 100\n", "sizes:2: all sizes are 0: the last line must have the largest"},
		{"0 0\nnan 50\n10 100\n", "sizes:2: the size is out of range"},
		{"0 0\n10 nan\n10 100\n", "sizes:2: shares are 0 to 100"},
		{"0 0\ninf 100\n", "sizes:2: the size is out of range"},
		{"0 0\n10 100\n20 1\n", "sizes:3: sizes and shares must not"}};
	struct hp3_cdf c;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_true(load(bad[i].text, &c) < 0);
		if (strstr(err, bad[i].says) == NULL)
			assert_string_equal(err, bad[i].says);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_follow_the_distribution),
		cmocka_unit_test(fractions_and_a_first_step),
		cmocka_unit_test(bad_distributions_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
