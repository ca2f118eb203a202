/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptors from an application: each is verified before its use. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include "app/hp3d/verbs/internal.h"
#include "app/one_line.h"
#include "base/plain.h"

enum { HANDED_MEMORY, HANDED_BELL, HANDED_FDS };

/* One message with its descriptors; the kernel closes surplus ones. */
static int receive_hello(int from, struct hp3_verbs_hello *hello, int fds[HANDED_FDS])
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(HANDED_FDS * sizeof(int))];
	} control = {0};
	struct iovec iov = {hello, sizeof(*hello)};
	struct msghdr m = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control)};
	ssize_t n = recvmsg(from, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	struct cmsghdr *c = n >= 0 ? CMSG_FIRSTHDR(&m) : NULL;
	size_t got = 0;

	fds[HANDED_MEMORY] = fds[HANDED_BELL] = -1;
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? -EAGAIN : -errno;
	if (c != NULL && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
		got = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(fds, CMSG_DATA(c), got * sizeof(int));
	}
	return n == sizeof(*hello) && got == HANDED_FDS &&
			       (m.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0
		       ? 0
		       : -EBADMSG;
}

static bool is_hello(const struct hp3_verbs_hello *h)
{
	return h->magic == HP3_VERBS_MAGIC && h->version == HP3_VERBS_VERSION &&
	       h->cells == HP3_VERBS_CELLS && h->cell_size == sizeof(struct hp3_verbs_cell);
}

/*
 * Only memory of memfd_create() has these seals: no file of a disk, a network or FUSE. Memory that
 * cannot shrink stays valid while mapped. Huge pages, whose first access may fail, do not have this
 * size.
 */
static struct hp3_verbs_cell *map_cells(int memory)
{
	int seals = fcntl(memory, F_GET_SEALS);
	struct stat st;
	void *at;

	if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || fstat(memory, &st) < 0 ||
		!S_ISREG(st.st_mode) || st.st_size != (off_t)HP3D_VERBS_BYTES)
		return NULL;
	at = mmap(NULL, HP3D_VERBS_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, memory,
		0);
	return at == MAP_FAILED ? NULL : at;
}

/* Reporting only; the name is untrusted text. */
static void name_shim(struct hp3d_verbs_shim *s)
{
	char path[32], comm[sizeof(s->comm)] = "";

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)s->pid);
	hp3_read_line(path, comm, sizeof(comm));
	memcpy(s->comm, hp3_plain(comm), sizeof(s->comm));
}

static int take_over(struct hp3d_verbs_shim *s, int memory)
{
	s->cells = map_cells(memory);
	if (s->cells == NULL)
		return -EPROTO;
	s->known = calloc(HP3_VERBS_CELLS, sizeof(*s->known));
	if (s->known == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < HP3_VERBS_CELLS; i++)
		s->known[i].flow = HP3_NO_FLOW;
	return 0;
}

int hp3d_verbs_take_hello(struct hp3d_verbs_shim *s, const struct hp3_verbs_welcome *welcome)
{
	struct hp3_verbs_hello hello;
	int fds[HANDED_FDS], rc = receive_hello(s->fd, &hello, fds);

	if (rc == 0 && (!is_hello(&hello) || !hp3d_verbs_is_eventfd(fds[HANDED_BELL])))
		rc = -EPROTO;
	if (rc == 0)
		rc = take_over(s, fds[HANDED_MEMORY]);
	hp3d_verbs_close_fd(fds[HANDED_MEMORY]);
	if (rc == 0) {
		s->bell = fds[HANDED_BELL];
		name_shim(s);
		if (send(s->fd, welcome, sizeof(*welcome), MSG_DONTWAIT | MSG_NOSIGNAL) !=
			sizeof(*welcome))
			rc = -EPIPE;
	} else
		hp3d_verbs_close_fd(fds[HANDED_BELL]);
	return rc;
}

void hp3d_verbs_release(struct hp3d_verbs_shim *s)
{
	if (s->cells != NULL)
		munmap(s->cells, HP3D_VERBS_BYTES);
	free(s->known);
	if (s->bell >= 0)
		close(s->bell);
	close(s->fd);
	*s = (struct hp3d_verbs_shim){.fd = -1, .bell = -1};
}
