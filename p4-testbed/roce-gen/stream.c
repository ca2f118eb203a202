/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include "stream.h"

#define BACKLOG 64
#define SEND_MS 1000

struct place {
	struct sockaddr_storage at;
	socklen_t len;
};

static int find_unix(const char *where, struct place *p)
{
	struct sockaddr_un *un = (void *)&p->at;

	if (strlen(where) >= sizeof(un->sun_path))
		return -ENAMETOOLONG;
	un->sun_family = AF_UNIX;
	snprintf(un->sun_path, sizeof(un->sun_path), "%s", where);
	p->len = sizeof(*un);
	return 0;
}

/* "10.0.0.1:7000", "[fd00::1]:7000" */
static int find_inet(const char *where, struct place *p)
{
	struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
				.ai_socktype = SOCK_STREAM},
			*found;
	const char *colon = strrchr(where, ':');
	char host[64];
	size_t len;

	if (colon == NULL || colon == where)
		return -EINVAL;
	len = (size_t)(colon - where);
	if (where[0] == '[' && where[len - 1] == ']') {
		where++;
		len -= 2;
	}
	if (len >= sizeof(host))
		return -EINVAL;
	memcpy(host, where, len);
	host[len] = '\0';
	if (getaddrinfo(host, colon + 1, &hints, &found) != 0)
		return -EINVAL;
	memcpy(&p->at, found->ai_addr, found->ai_addrlen);
	p->len = found->ai_addrlen;
	freeaddrinfo(found);
	return 0;
}

static int find_place(const char *where, struct place *p)
{
	memset(p, 0, sizeof(*p));
	return strchr(where, '/') != NULL ? find_unix(where, p) : find_inet(where, p);
}

static int open_stream_socket(const struct place *p)
{
	int fd = socket(p->at.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	return fd >= 0 ? fd : -errno;
}

int gen_stream_connect(const char *where, bool *pending)
{
	struct place p;
	int ret = find_place(where, &p), fd;

	*pending = false;
	if (ret != 0)
		return ret;
	fd = open_stream_socket(&p);
	if (fd < 0 || connect(fd, (struct sockaddr *)&p.at, p.len) == 0)
		return fd;
	*pending = errno == EINPROGRESS;
	ret = -errno;
	if (*pending)
		return fd;
	close(fd);
	return ret;
}

int gen_stream_connected(int fd)
{
	int err = 0;
	socklen_t len = sizeof(err);

	return getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len) == 0 ? -err : -errno;
}

/* A socket that refuses connections belongs to nobody; a file of another kind refuses them, too. */
static int remove_stale(const char *where)
{
	struct stat st;
	bool pending;
	int fd;

	if (lstat(where, &st) != 0)
		return 0;
	if (!S_ISSOCK(st.st_mode))
		return -EEXIST;
	fd = gen_stream_connect(where, &pending);
	if (fd >= 0)
		close(fd);
	else if (fd == -ECONNREFUSED)
		unlink(where);
	return 0;
}

int gen_stream_listen(const char *where, char *path)
{
	struct place p;
	int ret = find_place(where, &p), fd, one = 1;

	path[0] = '\0';
	if (ret != 0)
		return ret;
	if (p.at.ss_family == AF_UNIX)
		ret = remove_stale(where);
	if (ret != 0)
		return ret;
	fd = open_stream_socket(&p);
	if (fd < 0)
		return fd;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&p.at, p.len) != 0 || listen(fd, BACKLOG) != 0) {
		ret = -errno;
		close(fd);
		return ret;
	}
	if (p.at.ss_family == AF_UNIX)
		strcpy(path, where);
	return fd;
}

int gen_stream_send(int fd, const char *text, size_t len)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};

	while (len > 0) {
		ssize_t n = send(fd, text, len, MSG_NOSIGNAL);

		if (n < 0 && errno == EAGAIN && poll(&p, 1, SEND_MS) > 0)
			continue;
		if (n < 0)
			return -errno;
		text += n;
		len -= (size_t)n;
	}
	return 0;
}
