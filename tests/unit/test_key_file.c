/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of keys: valid files, refused files with the reason, and the peers of a file. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "config/key_file.h"

#define K1 "00112233445566778899aabbccddeeff"
#define K2 "FFEEDDCCBBAA99887766554433221100"

static char path[] = "/tmp/hp3-key-file-XXXXXX";
static char said[512];

static void write_file(const char *text)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(path, 0600), 0);
}

static int read_file(struct hp3_probe_key *key)
{
	FILE *err = fmemopen(said, sizeof(said), "w");
	int ret;

	memset(said, 0, sizeof(said));
	ret = hp3_key_file_read(path, key, err);
	fclose(err);
	return ret;
}

static void refused(const char *text, const char *why)
{
	struct hp3_probe_key key;

	write_file(text);
	assert_int_equal(read_file(&key), -EINVAL);
	assert_non_null(strstr(said, path));
	if (strstr(said, why) == NULL)
		fail_msg("\"%s\" says nothing of \"%s\"", said, why);
}

static uint64_t tag(
	const struct hp3_probe_key *key, enum hp3_tag_kind kind, uint8_t src, uint8_t dst)
{
	struct hp3_addressing a = {.src_ip = {10, 0, 0, src}, .dst_ip = {10, 0, 0, dst}};

	return hp3_tag(key, &(struct hp3_tag_input){kind, &a, 4791, "x", 1});
}

static void lines_that_are_none(void **state)
{
	refused("", "there is no key in it");
	refused("# nothing\n\n", "there is no key in it");
	refused("10.0.0.1 10.0.0.2\n", ":1: a line is SENDER RECEIVER KEY");
	refused("\n10.0.0.1 10.0.0.2 " K1 " more\n", ":2: a line is SENDER RECEIVER KEY");
	refused("ten 10.0.0.2 " K1 "\n", ":1: the sender is no address");
	refused("10.0.0.1 fd00::1 " K1 "\n",
		":1: the receiver is no address of the sender's family");
	refused("10.0.0.1 10.0.0.2 " K1 "0\n", ":1: the key has to have 32");
	refused("10.0.0.1 10.0.0.2 " K1 "\n10.0.0.2 10.0.0.1 " K1 "\n10.0.0.1 10.0.0.2 " K2 "\n",
		"two keys for one sender and receiver");
}

static void others_must_not_read_it(void **state)
{
	struct hp3_probe_key key;

	write_file("10.0.0.1 10.0.0.2 " K1 "\n");
	assert_int_equal(chmod(path, 0640), 0);
	assert_int_equal(read_file(&key), -EPERM);
	assert_non_null(strstr(said, "chmod 600"));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(read_file(&key), -ENOENT);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(read_file(&key), -EINVAL);
	assert_non_null(strstr(said, "no file of keys"));
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(read_file(&key), -EINVAL); /* and it did not wait */
	assert_int_equal(unlink(path), 0);
}

/* Who owns a file can make it readable again, and change it. */
static void it_belongs_to_us_or_to_root(void **state)
{
	struct hp3_probe_key key;

	write_file("10.0.0.1 10.0.0.2 " K1 "\n");
	if (geteuid() != 0) {
		unlink(path);
		skip();
	}
	assert_int_equal(chown(path, 65534, 65534), 0);
	assert_int_equal(read_file(&key), -EPERM);
	assert_non_null(strstr(said, "chown root"));
	assert_int_equal(chown(path, 0, 65534), 0); /* its mode gives a group nothing */
	assert_int_equal(read_file(&key), 0);
	free((void *)(uintptr_t)key.pairs);
	assert_int_equal(unlink(path), 0);
}

/* Each pair has its key, in any order of lines, in both families; the shortest lines fit, too. */
static void each_pair_has_its_key(void **state)
{
	struct hp3_pair_ends ends = {0};
	struct hp3_probe_key key;
	uint8_t want[HP3_KEY_LEN];

	write_file("10.0.0.9 10.0.0.1 " K2 " # back\n:: ::1 " K1 "\r\n::1 :: " K2
		   "\n10.0.0.1 10.0.0.9 " K1);
	assert_int_equal(read_file(&key), 0);
	assert_true(hp3_probe_keyed(&key));
	assert_int_equal(key.pairs->n, 4);
	ends = hp3_pair_ends_of(false, "\x0a\0\0\x01", "\x0a\0\0\x09");
	memcpy(want, hp3_key_of_text(K1).bytes, sizeof(want));
	assert_memory_equal(hp3_pair_keys_find(key.pairs, &ends), want, sizeof(want));
	ends = hp3_pair_ends_of(false, "\x0a\0\0\x09", "\x0a\0\0\x01");
	memcpy(want, hp3_key_of_text(K2).bytes, sizeof(want));
	assert_memory_equal(hp3_pair_keys_find(key.pairs, &ends), want, sizeof(want));
	free((void *)(uintptr_t)key.pairs);
}

/*
 * The file of host 1 speaks as the secret does between 1 and the others, both ways, and for nobody
 * else: not between 2 and 3, and two readers of one file do not agree on pairs that it does not
 * have.
 */
static void it_speaks_for_its_host(void **state)
{
	struct hp3_probe_key key, again, secret = hp3_key_of_text(K1);
	FILE *f = fopen(path, "we");

	for (uint8_t i = 2; i < 200; i++) {
		struct hp3_pair_ends to = {0}, from = {0};
		uint8_t one[4] = {10, 0, 0, 1}, other[4] = {10, 0, 0, i};

		to = hp3_pair_ends_of(false, one, other);
		from = hp3_pair_ends_of(false, other, one);
		hp3_key_file_line(f, secret.bytes, &from);
		hp3_key_file_line(f, secret.bytes, &to);
	}
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(path, 0600), 0);
	assert_int_equal(read_file(&key), 0);
	assert_int_equal(read_file(&again), 0);
	assert_memory_equal(key.bytes, again.bytes, sizeof(key.bytes));
	for (uint8_t i = 2; i < 200; i++) {
		assert_int_equal(tag(&key, HP3_TAG_PROBE, 1, i), tag(&secret, HP3_TAG_PROBE, 1, i));
		assert_int_equal(tag(&key, HP3_TAG_AGREE, i, 1), tag(&secret, HP3_TAG_AGREE, i, 1));
	}
	assert_int_not_equal(tag(&key, HP3_TAG_PROBE, 2, 3), tag(&secret, HP3_TAG_PROBE, 2, 3));
	assert_int_not_equal(tag(&key, HP3_TAG_PROBE, 2, 3), tag(&again, HP3_TAG_PROBE, 2, 3));
	free((void *)(uintptr_t)key.pairs);
	free((void *)(uintptr_t)again.pairs);
}

static int begin(void **state)
{
	int fd = mkstemp(path);

	close(fd);
	return fd < 0;
}

static int end(void **state)
{
	unlink(path);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_that_are_none),
		cmocka_unit_test(each_pair_has_its_key),
		cmocka_unit_test(it_speaks_for_its_host),
		cmocka_unit_test(others_must_not_read_it),
		cmocka_unit_test(it_belongs_to_us_or_to_root),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
