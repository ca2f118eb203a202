/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hp3.ini with random damage: either errors are reported, or every value lies within its range and
 * the dump loads back to the same values. Seed: HP3_SEED, 1 by default.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "config/config.h"
#include "config/keys.h"

#define ROUNDS (4000 / HP3_FEWER)

static uint64_t rng;

/* xorshift64 (Marsaglia 2003). */
static uint32_t below(uint32_t n)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	rng ^= rng << 17;
	return (uint32_t)(rng >> 32) % n;
}

/* Overwrites, removes or doubles a stretch, or puts in what the syntax lives on. */
static size_t damage(char *text, size_t len, size_t cap)
{
	static const char pieces[] = "=;#[]\"'\\\n\t .0129aeuz\r\x01\xc3";
	size_t at = below((uint32_t)len), n = 1 + below(12);

	n = n < len - at ? n : len - at;
	switch (below(4)) {
	case 0:
		text[at] = pieces[below(sizeof(pieces))]; /* NUL among them */
		return len;
	case 1:
		memmove(text + at, text + at + n, len - at - n);
		return len - n;
	case 2:
		if (len + n > cap)
			return len;
		memmove(text + at + n, text + at, len - at);
		return len + n;
	default:
		if (len == cap)
			return len;
		memmove(text + at + 1, text + at, len - at);
		text[at] = pieces[below(sizeof(pieces))];
		return len + 1;
	}
}

static int in_range(void *arg, const struct hp3_ini_item *item)
{
	const struct hp3_ini_key *k = item->key;
	char value[HP3_INI_VALUE_MAX];
	uint64_t n;

	hp3_ini_format(k, item->field, value, sizeof(value));
	n = k->type == HP3_INI_STRING ? strlen(value) : strtoull(value, NULL, 10);
	if (k->type != HP3_INI_ENUM)
		assert_true(n >= k->min && n <= k->max);
	if (k->type == HP3_INI_STRING && n > 0 && k->valid != NULL)
		assert_true(k->valid(value));
	return 0;
}

static void dump_loads_back(const struct hp3_config *cfg)
{
	struct hp3_config again;
	struct hp3_config_errors errs = {0};
	char *text, *text2;
	size_t len, len2;
	FILE *out = open_memstream(&text, &len), *out2 = open_memstream(&text2, &len2);

	assert_true(out != NULL && out2 != NULL);
	hp3_config_dump(out, cfg);
	fclose(out);
	assert_int_equal(hp3_config_parse("dump", text, len, 0, &again, &errs), 0);
	hp3_config_dump(out2, &again);
	fclose(out2);
	assert_string_equal(text, text2);
	free(text);
	free(text2);
}

static void damaged_files(void **state)
{
	static char sample[1 << 15], text[1 << 15];
	FILE *f = fopen(HP3_INI_SAMPLE, "r");
	unsigned accepted = 0, refused = 0;
	size_t size;

	assert_non_null(f);
	size = fread(sample, 1, sizeof(sample), f);
	fclose(f);
	assert_true(size > 1000 && size < sizeof(sample));
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct hp3_config cfg;
		struct hp3_config_errors errs = {0};
		size_t len = size;
		int ret;

		memcpy(text, sample, size);
		for (uint32_t n = 1 + below(4); n > 0; n--)
			len = damage(text, len, sizeof(text));
		ret = hp3_config_parse("f.ini", text, len, 0, &cfg, &errs);
		assert_int_equal(errs.lost, 0);
		assert_int_equal(ret, errs.count > 0 ? -EINVAL : 0);
		for (unsigned i = 0; i < errs.count; i++)
			assert_int_equal(strncmp(errs.list[i].text, "f.ini", 5), 0);
		if (ret == 0) {
			hp3_ini_each(&hp3_config_schema, &cfg, in_range, NULL);
			dump_loads_back(&cfg);
		}
		accepted += ret == 0;
		refused += ret != 0;
		hp3_config_errors_free(&errs);
	}
	/* Both ways were taken. */
	assert_true(accepted > ROUNDS / 20 && refused > ROUNDS / 20);
	print_message("%u accepted, %u refused\n", accepted, refused);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(damaged_files)};
	const char *seed = getenv("HP3_SEED");

	rng = seed != NULL ? strtoull(seed, NULL, 10) : 1;
	print_message("seed %llu (HP3_SEED)\n", (unsigned long long)rng);
	rng = (rng + 1) * 0x9e3779b97f4a7c15u | 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
