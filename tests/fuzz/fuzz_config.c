/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Input: any text as hp3.ini. The loader refuses it with errors. Or it accepts it, and then
 * every value is within the range of its key, and loading the dumped configuration gives the
 * same values.
 */
#include "config/config.h"
#include "config/keys.h"
#include "input.h"

static int in_range(void *arg, const struct hp3_ini_item *item)
{
	const struct hp3_ini_key *k = item->key;
	uint64_t v = 0;

	(void)arg;
	if (k->type == HP3_INI_STRING) {
		size_t n = strnlen(item->field, k->size);

		MUST(n < k->size && n <= k->max);
		MUST(n == 0 || k->valid == NULL || k->valid(item->field));
		if (k->secret) /* a dump does not tell it */
			memset((void *)(uintptr_t)item->field, 0, k->size);
		return 0;
	}
	memcpy(&v, item->field, k->size); /* little endian */
	if (k->type == HP3_INI_ENUM) {
		for (uint64_t i = 0; i <= v; i++)
			MUST(k->choices[i] != NULL);
		return 0;
	}
	if (k->scale > 1) {
		MUST(v % k->scale == 0);
		v /= k->scale;
	}
	MUST(v >= k->min && v <= k->max + (k->word != NULL));
	return 0;
}

static size_t dump(const struct hp3_config *cfg, char **text)
{
	size_t len = 0;
	FILE *f = open_memstream(text, &len);

	MUST(f != NULL);
	hp3_config_dump(f, cfg);
	fclose(f);
	return len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct hp3_config cfg, again;
	struct hp3_config_errors errs = {0};
	char *text = NULL, *second = NULL;
	int ret = hp3_config_parse(
		"fuzz", (const char *)data, size, HP3_CONFIG_NO_RAILS, &cfg, &errs);
	size_t len;

	fuzz_check_errors(ret, &errs);
	if (ret != 0)
		return 0;
	hp3_ini_each(&hp3_config_schema, &cfg, true, in_range, NULL);
	if (size % 8 != 0) /* to read 380 keys takes far longer than some */
		return 0;
	len = dump(&cfg, &text);
	ret = hp3_config_parse("dump", text, len, HP3_CONFIG_NO_RAILS, &again, &errs);
	MUST(ret == 0);
	MUST(dump(&again, &second) == len && memcmp(text, second, len) == 0);
	MUST(hp3_config_diff_reload(&cfg, &again, NULL, NULL) == 0);
	free(text);
	free(second);
	return 0;
}
