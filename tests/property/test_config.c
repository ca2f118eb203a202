/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All keys of hp3.ini with random damage: either errors are reported, or every value lies within
 * its range and both dumps load back to the same values. Seed: HP3_SEED, 1 by default.
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

typedef void dump_fn(FILE *out, const struct hp3_config *cfg);

static char *text_of(dump_fn *dump, const struct hp3_config *cfg)
{
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	dump(out, cfg);
	fclose(out);
	return text;
}

static void dump_loads_back(dump_fn *dump, const struct hp3_config *cfg)
{
	struct hp3_config again;
	struct hp3_config_errors errs = {0};
	char *text = text_of(dump, cfg), *all = text_of(hp3_config_dump, cfg), *all_again;

	assert_int_equal(hp3_config_parse("dump", text, strlen(text), 0, &again, &errs), 0);
	all_again = text_of(hp3_config_dump, &again);
	assert_string_equal(all, all_again);
	free(text);
	free(all);
	free(all_again);
}

/* Returns its size. */
static size_t make_sample(char *sample, size_t cap)
{
	static const char rail[] = "[rail.rail0]\nrnic = net_ring0\nnet = net_ring1\n"
				   "[policy]\nstudy = on\n";
	struct hp3_config_errors errs = {0};
	struct hp3_config cfg;
	char *text;

	assert_int_equal(hp3_config_parse("rail", rail, strlen(rail), 0, &cfg, &errs), 0);
	text = text_of(hp3_config_dump, &cfg);
	assert_true(strlen(text) > 1000 && strlen(text) < cap);
	strcpy(sample, text);
	free(text);
	return strlen(sample);
}

static void damaged_files(void **state)
{
	static char sample[1 << 15], text[1 << 15];
	unsigned accepted = 0, refused = 0;
	size_t size = make_sample(sample, sizeof(sample));

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
			hp3_ini_each(&hp3_config_schema, &cfg, true, in_range, NULL);
			dump_loads_back(hp3_config_dump, &cfg);
			dump_loads_back(hp3_config_dump_short, &cfg);
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
