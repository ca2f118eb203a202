/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded into hp3d: a driver's next request to send what it has put into its ring stops the
 * process before the kernel sees it, as soon as the file named by HP3_STOP_BEFORE_SEND is there. As
 * long as there is one named by HP3_REFUSE_TO_SEND the kernel has no room.
 */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

ssize_t sendto(
	int fd, const void *buf, size_t n, int flags, const struct sockaddr *to, socklen_t len)
{
	static ssize_t (*real)(int, const void *, size_t, int, const struct sockaddr *, socklen_t);
	const char *path = getenv("HP3_STOP_BEFORE_SEND");

	if (real == NULL)
		*(void **)&real = dlsym(RTLD_NEXT, "sendto");
	if (buf == NULL && n == 0 && path != NULL && unlink(path) == 0)
		raise(SIGSTOP);
	path = getenv("HP3_REFUSE_TO_SEND");
	if (buf == NULL && n == 0 && path != NULL && access(path, F_OK) == 0) {
		errno = ENOBUFS;
		return -1;
	}
	return real(fd, buf, n, flags, to, len);
}
