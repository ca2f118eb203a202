/* SPDX-License-Identifier: BSD-3-Clause */
/* The identity file: made once, read again, refused if others can read it or it is damaged. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "config/identity_file.h"

static char base[] = "/tmp/hp3-identity-XXXXXX";
static char folder[64], file[80], said[1024];

static int call(int (*fn)(const char *, struct hp3_identity *, FILE *), const char *where,
	struct hp3_identity *id)
{
	FILE *err = fmemopen(said, sizeof(said), "w");
	int ret;

	memset(said, 0, sizeof(said));
	ret = fn(where, id, err);
	fclose(err);
	return ret;
}

static int open_it(struct hp3_identity *id)
{
	return call(hp3_identity_file_open, folder, id);
}

static void says(const char *what)
{
	if (strstr(said, what) == NULL)
		fail_msg("\"%s\" says nothing of \"%s\"", said, what);
}

static void write_file(const char *text)
{
	FILE *f = fopen(file, "we");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(file, 0600), 0);
}

static size_t read_file(char text[1024])
{
	FILE *f = fopen(file, "re");
	size_t n;

	assert_non_null(f);
	n = fread(text, 1, 1023, f);
	text[n] = '\0';
	fclose(f);
	return n;
}

static int setup(void **state)
{
	strcpy(base, "/tmp/hp3-identity-XXXXXX");
	assert_non_null(mkdtemp(base));
	snprintf(folder, sizeof(folder), "%s/state", base);
	snprintf(file, sizeof(file), "%s/identity", folder);
	return 0;
}

static int teardown(void **state)
{
	chmod(folder, 0700);
	unlink(file);
	rmdir(folder);
	unlink(folder);
	assert_int_equal(rmdir(base), 0); /* nothing else was left there */
	return 0;
}

static void it_is_made_once(void **state)
{
	struct hp3_identity first, again;
	struct stat st;

	assert_int_equal(open_it(&first), HP3_IDENTITY_MADE);
	assert_string_equal(said, "");
	assert_int_equal(stat(file, &st), 0);
	assert_int_equal(st.st_mode, S_IFREG | 0600);
	assert_int_equal(st.st_nlink, 1);
	assert_int_equal(stat(folder, &st), 0);
	assert_int_equal(st.st_mode, S_IFDIR | 0700);
	assert_int_equal(open_it(&again), HP3_IDENTITY_READ);
	assert_memory_equal(&first, &again, sizeof(first));
}

static void a_new_one_takes_its_place(void **state)
{
	struct hp3_identity first, next, again;

	open_it(&first);
	next = first;
	assert_int_equal(call(hp3_identity_file_renew, folder, &next), HP3_IDENTITY_MADE);
	assert_memory_not_equal(first.public, next.public, sizeof(first.public));
	assert_int_equal(open_it(&again), HP3_IDENTITY_READ);
	assert_memory_equal(&next, &again, sizeof(next));
	/* Another hp3d of this host has the first one, too. */
	assert_int_equal(call(hp3_identity_file_renew, folder, &first), HP3_IDENTITY_READ);
	assert_memory_equal(&next, &first, sizeof(next));
}

#define ROUNDS 300u

/* Two hp3ds at once. Threads have one PID, as each first process of a PID namespace does. */
struct two {
	int (*fn)(const char *, struct hp3_identity *, FILE *);
	struct hp3_identity before, id[2];
	int ret[2];
	pthread_barrier_t both;
};

static struct two two;

static void *one_of_two(void *number)
{
	const size_t i = (size_t)(uintptr_t)number;
	FILE *err = fopen("/dev/null", "we");

	two.id[i] = two.before;
	pthread_barrier_wait(&two.both);
	two.ret[i] = two.fn(folder, &two.id[i], err);
	fclose(err);
	return NULL;
}

static void both_have_that_of_the_file(void)
{
	struct hp3_identity is;
	pthread_t thread[2];

	assert_int_equal(pthread_barrier_init(&two.both, NULL, 2), 0);
	for (uintptr_t i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, one_of_two, (void *)i), 0);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(pthread_join(thread[i], NULL), 0);
	pthread_barrier_destroy(&two.both);
	assert_int_equal(open_it(&is), HP3_IDENTITY_READ);
	for (unsigned i = 0; i < 2; i++) {
		assert_in_range(two.ret[i], HP3_IDENTITY_READ, HP3_IDENTITY_MADE);
		assert_memory_equal(&two.id[i], &is, sizeof(is));
	}
	assert_int_equal(two.ret[0] + two.ret[1], HP3_IDENTITY_READ + HP3_IDENTITY_MADE);
}

static void two_make_it_at_once(void **state)
{
	two.fn = hp3_identity_file_open;
	for (unsigned round = 0; round < ROUNDS; round++) {
		unlink(file);
		both_have_that_of_the_file();
	}
}

static void two_replace_it_at_once(void **state)
{
	two.fn = hp3_identity_file_renew;
	open_it(&two.before);
	for (unsigned round = 0; round < ROUNDS; round++) {
		both_have_that_of_the_file();
		two.before = two.id[0];
	}
}

static void others_must_not_read_or_replace_it(void **state)
{
	static const mode_t modes[] = {0640, 0604, 0620, 0602, 0644};
	struct hp3_identity id;

	open_it(&id);
	for (unsigned i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		assert_int_equal(chmod(file, modes[i]), 0);
		assert_int_equal(open_it(&id), -EPERM);
		says(file);
		says("remove it");
	}
	assert_int_equal(chmod(file, 0600), 0);
	assert_int_equal(chmod(folder, 0770), 0);
	assert_int_equal(open_it(&id), -EPERM);
	says("chmod 700");
	assert_int_equal(chmod(folder, 0755), 0); /* to see that there is one helps nobody */
	assert_int_equal(open_it(&id), HP3_IDENTITY_READ);
}

static void it_belongs_to_us_or_to_root(void **state)
{
	struct hp3_identity id;

	if (geteuid() != 0)
		skip();
	open_it(&id);
	assert_int_equal(chown(file, 1234, 0), 0);
	assert_int_equal(open_it(&id), -EPERM);
	assert_int_equal(chown(file, 0, 0), 0);
	assert_int_equal(chown(folder, 1234, 0), 0);
	assert_int_equal(open_it(&id), -EPERM);
	assert_int_equal(chown(folder, 0, 0), 0);
}

/* Any byte of its line, and any end of it. */
static void damage_is_noticed(void **state)
{
	char good[1024], bad[1024];
	struct hp3_identity id;
	size_t n, line;

	open_it(&id);
	n = read_file(good);
	line = (size_t)(strstr(good, "x25519 ") - good);
	for (size_t i = line; i < n - 1; i++) {
		memcpy(bad, good, n + 1);
		bad[i] = bad[i] == '0' ? '1' : '0';
		write_file(bad);
		assert_int_equal(open_it(&id), -EINVAL);
		says(file);
		says("remove it");
	}
	for (size_t i = 0; i < n - 1; i++) {
		memcpy(bad, good, i);
		bad[i] = '\0';
		write_file(bad);
		assert_int_equal(open_it(&id), -EINVAL);
	}
	write_file(good);
	assert_int_equal(open_it(&id), HP3_IDENTITY_READ);
}

static void a_link_is_no_identity(void **state)
{
	struct hp3_identity id;

	open_it(&id);
	unlink(file);
	assert_int_equal(symlink("/dev/zero", file), 0);
	assert_true(open_it(&id) < 0);
	says("remove it");
	unlink(file);
	assert_int_equal(mkfifo(file, 0600), 0); /* not waited for */
	assert_int_equal(open_it(&id), -EINVAL);
}

/* What cannot be kept is good for this run, and is told. */
static void in_memory(void **state)
{
	struct hp3_identity a, b;

	assert_int_equal(call(hp3_identity_file_open, "/proc/hp3", &a), HP3_IDENTITY_IN_MEMORY);
	says("/proc/hp3");
	says("in memory only");
	assert_int_equal(call(hp3_identity_file_open, "", &b), HP3_IDENTITY_IN_MEMORY);
	assert_string_equal(said, "");
	assert_memory_not_equal(&a, &b, sizeof(a));
	assert_int_equal(call(hp3_identity_file_renew, "/proc/hp3", &a), HP3_IDENTITY_IN_MEMORY);
	says("in memory only");
}

int main(void)
{
#define FILE_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		FILE_TEST(it_is_made_once),
		FILE_TEST(a_new_one_takes_its_place),
		FILE_TEST(two_make_it_at_once),
		FILE_TEST(two_replace_it_at_once),
		FILE_TEST(others_must_not_read_or_replace_it),
		FILE_TEST(it_belongs_to_us_or_to_root),
		FILE_TEST(damage_is_noticed),
		FILE_TEST(a_link_is_no_identity),
		FILE_TEST(in_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
