/* SPDX-License-Identifier: BSD-3-Clause */
/* The control socket in the file system: whose it is, and what becomes of others there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "app/control/socket.h"

/* A path in a directory of our own below /tmp. */
static void in_directory(char *path, size_t cap, const char *name)
{
	static unsigned n;
	int len = snprintf(path, cap, "/tmp/hp3-control-%d-%u", getpid(), ++n);

	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path + len, cap - (size_t)len, "/%s", name);
}

static void remove_directory(const char *path)
{
	char dir[108];

	unlink(path);
	snprintf(dir, sizeof(dir), "%s", path);
	for (char *end; (end = strrchr(dir, '/')) && end - dir > 4;) {
		*end = '\0';
		assert_int_equal(rmdir(dir), 0); /* nothing was left behind */
	}
}

static void the_socket_is_ours_alone(void **state)
{
	struct hp3d_control_socket s, second;
	char path[108];
	struct stat st;

	in_directory(path, sizeof(path), "a/b/hp3.sock");
	assert_int_equal(hp3d_control_listen(&s, path, "control"), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	/* A second one is refused and leaves the first alone. */
	assert_int_equal(hp3d_control_listen(&second, path, "control"), -EADDRINUSE);
	hp3d_control_unlisten(&second);
	assert_int_equal(stat(path, &st), 0);
	hp3d_control_unlisten(&s);
	assert_int_equal(stat(path, &st), -1);
	hp3d_control_unlisten(&s);
	remove_directory(path);
}

static void a_stale_socket_is_replaced_another_file_is_not(void **state)
{
	struct hp3d_control_socket s, old;
	char path[108];
	struct stat st;

	in_directory(path, sizeof(path), "hp3.sock");
	assert_int_equal(hp3d_control_listen(&old, path, "control"), 0);
	close(old.fd); /* as a killed process leaves it */
	assert_int_equal(hp3d_control_listen(&s, path, "control"), 0);
	/* The old one's clean-up, were it to come late, must not take the new socket away. */
	old.fd = dup(s.fd);
	hp3d_control_unlisten(&old);
	assert_int_equal(stat(path, &st), 0);
	hp3d_control_unlisten(&s);

	int fd = open(path, O_CREAT | O_WRONLY, 0600);
	close(fd);
	assert_int_equal(hp3d_control_listen(&s, path, "control"), -EEXIST);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(hp3d_control_listen(&s, "/proc/hp3/hp3.sock", "control"), -ENOENT);
	remove_directory(path);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_socket_is_ours_alone),
		cmocka_unit_test(a_stale_socket_is_replaced_another_file_is_not),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
