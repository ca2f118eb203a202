/* SPDX-License-Identifier: BSD-3-Clause */
/* The control socket in the file system: its owner, and replacement of other files there. */
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
#include <sys/wait.h>
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

static int begin(struct hp3d_control_socket *s, const char *path)
{
	int rc = hp3d_control_claim(s, path, "control", 0);

	return rc == 0 ? hp3d_control_listen(s) : rc;
}

static void end(struct hp3d_control_socket *s)
{
	hp3d_control_unlisten(s);
	hp3d_control_release(s);
}

/* The process that has the lock is waited for, not longer than asked; its file goes with it. */
static void the_lock_is_waited_for(void **state)
{
	char path[108];
	int holder = 0, lock, second, ready[2];
	pid_t child;
	char c;

	in_directory(path, sizeof(path), "lock");
	assert_int_equal(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		lock = hp3d_lock_take(path, 0, &holder);
		_exit(write(ready[1], "x", 1) != 1 || usleep(200000) < 0 ? 1 : lock < 0);
	}
	assert_int_equal(read(ready[0], &c, 1), 1);
	assert_int_equal(hp3d_lock_take(path, 20, &holder), -EWOULDBLOCK);
	assert_int_equal(holder, child);
	lock = hp3d_lock_take(path, 20000, &holder);
	assert_true(lock >= 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	second = hp3d_lock_take(path, 0, &holder);
	assert_int_equal(second, -EWOULDBLOCK);
	assert_int_equal(holder, getpid());
	hp3d_lock_free(path, lock);
	/* What somebody else made, or may open, is not trusted. */
	lock = open(path, O_CREAT | O_WRONLY, 0644);
	close(lock);
	assert_int_equal(chmod(path, 0644), 0);
	assert_int_equal(hp3d_lock_take(path, 0, &holder), -EPERM);
	unlink(path);
	assert_int_equal(symlink("/dev/null", path), 0);
	assert_int_equal(hp3d_lock_take(path, 0, &holder), -ELOOP);
	remove_directory(path);
}

static void the_socket_is_ours_alone(void **state)
{
	struct hp3d_control_socket s, second;
	char path[108];
	struct stat st;

	in_directory(path, sizeof(path), "a/b/hp3.sock");
	assert_int_equal(begin(&s, path), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	/* A second one is refused and leaves the first alone. */
	assert_int_equal(begin(&second, path), -EWOULDBLOCK);
	end(&second);
	assert_int_equal(stat(path, &st), 0);
	/* So is one that the first did not lock out. */
	hp3d_control_release(&s);
	assert_int_equal(begin(&second, path), -EADDRINUSE);
	end(&second);
	assert_int_equal(stat(path, &st), 0);
	end(&s);
	assert_int_equal(stat(path, &st), -1);
	end(&s);
	remove_directory(path);
}

static void a_group_may_connect(void **state)
{
	struct hp3d_control_socket s;
	char path[108];
	struct stat st;

	in_directory(path, sizeof(path), "hp3.sock");
	assert_int_equal(hp3d_control_claim(&s, path, "control", 0), 0);
	assert_int_equal(hp3d_control_group(&s, "no-such-group"), -ENOENT);
	assert_int_equal(hp3d_control_group(&s, "root"), 0);
	assert_int_equal(hp3d_control_listen(&s), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0660);
	assert_int_equal(st.st_gid, 0);
	end(&s);
	remove_directory(path);
}

static void a_stale_socket_is_replaced_another_file_is_not(void **state)
{
	struct hp3d_control_socket s, old;
	char path[108];
	struct stat st;

	in_directory(path, sizeof(path), "hp3.sock");
	assert_int_equal(begin(&old, path), 0);
	close(old.fd); /* as a killed process leaves it */
	close(old.lock);
	assert_int_equal(begin(&s, path), 0);
	/* The old one's clean-up, were it to come late, must not take the new socket away. */
	old.fd = dup(s.fd);
	hp3d_control_unlisten(&old);
	assert_int_equal(stat(path, &st), 0);
	end(&s);

	int fd = open(path, O_CREAT | O_WRONLY, 0600);
	close(fd);
	assert_int_equal(begin(&s, path), -EEXIST);
	end(&s);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(begin(&s, "/proc/hp3/hp3.sock"), -ENOENT);
	remove_directory(path);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_lock_is_waited_for),
		cmocka_unit_test(the_socket_is_ours_alone),
		cmocka_unit_test(a_group_may_connect),
		cmocka_unit_test(a_stale_socket_is_replaced_another_file_is_not),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
