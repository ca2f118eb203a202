/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/lab/collective/meet.h"
#include "tests/lab/collective/verbs.h"

#include <unistd.h>
#include <arpa/inet.h>

static int fd;

int meet(uint16_t port, const char *peer)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port)};
	int one = 1, s = socket(AF_INET, SOCK_STREAM, 0);

	fd = s;
	if (peer != NULL) {
		if (inet_pton(AF_INET, peer, &at.sin_addr) != 1 ||
			connect(s, (struct sockaddr *)&at, sizeof(at)) != 0)
			die(peer);
		return fd;
	}
	setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(s, (struct sockaddr *)&at, sizeof(at)) != 0 || listen(s, 1) != 0)
		die("cannot listen");
	fd = accept(s, NULL, NULL);
	if (fd < 0)
		die("nobody came");
	return fd;
}

void say(const void *what, size_t n)
{
	if (write(fd, what, n) != (ssize_t)n)
		die("the other end");
}

void hear(void *what, size_t n)
{
	if (recv(fd, what, n, MSG_WAITALL) != (ssize_t)n)
		die("the other end");
}
