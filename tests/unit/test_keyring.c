/* SPDX-License-Identifier: BSD-3-Clause */
/* Reloads replace keys that agents share, while lcores read them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "app/hp3d/pipe/keyring.h"

#define K1 "00112233445566778899aabbccddeeff"
#define K2 "ffeeddccbbaa99887766554433221100"

static char one[] = "/tmp/hp3-keyring-XXXXXX", other[] = "/tmp/hp3-keyring-XXXXXX";

static void write_key(const char *path, const char *key)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	fprintf(f, "10.0.0.1 10.0.0.2 %s\n", key);
	assert_int_equal(fclose(f), 0);
}

static int setup(void **state)
{
	return close(mkstemp(one)) == 0 && close(mkstemp(other)) == 0 ? 0 : -1;
}

static int teardown(void **state)
{
	hp3d_keyring_free();
	return unlink(one) == 0 && unlink(other) == 0 ? 0 : -1;
}

static struct hp3_probe_keys reload(const char *key, const char *old)
{
	static struct hp3_config cfg;

	snprintf(cfg.probes.probe_key, sizeof(cfg.probes.probe_key), "%s", key);
	snprintf(cfg.probes.probe_key_old, sizeof(cfg.probes.probe_key_old), "%s", old);
	assert_int_equal(hp3d_keyring_read(&cfg, stderr), 0);
	hp3d_keyring_take();
	hp3d_keyring_settle();
	return *hp3d_keyring();
}

/* Whoever keeps what it had, because nothing has changed, reads no table that is gone. */
static void what_has_not_changed_stays(const char *key, const char *old)
{
	struct hp3_probe_keys before, after;

	hp3d_keyring_free();
	before = reload(key, old);
	after = reload(key, old);
	for (unsigned i = 0; i < HP3_PROBE_KEYS; i++)
		assert_ptr_equal(before.key[i].pairs, after.key[i].pairs);
}

static void files_that_are_as_they_were_stay(void **state)
{
	write_key(one, K1);
	write_key(other, K2);
	what_has_not_changed_stays(one, "");
	what_has_not_changed_stays(one, other);
	write_key(other, K1);
	what_has_not_changed_stays(one, other);
	what_has_not_changed_stays(one, one);
}

/* New and old change places, as where a change of keys is taken back. */
static void keys_that_change_places(void **state)
{
	struct hp3_probe_keys before, after;

	write_key(one, K1);
	write_key(other, K2);
	before = reload(one, other);
	after = reload(other, one);
	assert_ptr_equal(before.key[0].pairs, after.key[1].pairs);
	assert_ptr_equal(before.key[1].pairs, after.key[0].pairs);
	after = reload(K1, "");
	assert_null(after.key[0].pairs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_that_are_as_they_were_stay),
		cmocka_unit_test(keys_that_change_places),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
