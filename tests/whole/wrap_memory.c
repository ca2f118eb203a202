/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory and descriptors of a process, so that a kill can free them, as a kernel would. */
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>
#include <rte_malloc.h>
#include <rte_mempool.h>
#include <rte_ring.h>
#include "tests/whole/host.h"

#define THINGS (1u << 14)
#define FDS    512

whole_alloc_fn whole_alloc;
whole_free_fn whole_free;
whole_reap_fn whole_reap;
void *__real_malloc(size_t n);
void *__wrap_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__real_realloc(void *mem, size_t n);
void *__wrap_realloc(void *mem, size_t n);
void *__real_aligned_alloc(size_t align, size_t n);
void *__wrap_aligned_alloc(size_t align, size_t n);
int __real_posix_memalign(void **mem, size_t align, size_t n);
int __wrap_posix_memalign(void **mem, size_t align, size_t n);
char *__real_strdup(const char *s);
char *__wrap_strdup(const char *s);
void __real_free(void *mem);
void __wrap_free(void *mem);
int __real_socket(int domain, int type, int protocol);
int __wrap_socket(int domain, int type, int protocol);
int __real_accept4(int fd, struct sockaddr *a, socklen_t *len, int flags);
int __wrap_accept4(int fd, struct sockaddr *a, socklen_t *len, int flags);
int __real_eventfd(unsigned n, int flags);
int __wrap_eventfd(unsigned n, int flags);
int __real_epoll_create1(int flags);
int __wrap_epoll_create1(int flags);
int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __real_close(int fd);
int __wrap_close(int fd);

static struct thing {
	void *at;
	enum whole_thing kind;
} things[THINGS]; /* by address; open addressing */
static bool fds[FDS];

static unsigned slot_of(const void *at)
{
	return (unsigned)(((uintptr_t)at >> 4) * 2654435761u >> 7) % THINGS;
}

void *whole_got(void *at, enum whole_thing kind)
{
	unsigned i = slot_of(at);

	if (at == NULL)
		return NULL;
	for (unsigned n = 0; things[i].at != NULL; n++) {
		if (n == THINGS)
			abort(); /* test bug: more than a process ever has */
		i = (i + 1) % THINGS;
	}
	things[i] = (struct thing){at, kind};
	return at;
}

/* Those behind it move up, so that a search ends at the first free place. */
bool whole_gave(void *at)
{
	unsigned i = slot_of(at), k;

	if (at == NULL)
		return false;
	while (things[i].at != NULL && things[i].at != at)
		i = (i + 1) % THINGS;
	if (things[i].at == NULL)
		return false;
	for (k = (i + 1) % THINGS; things[k].at != NULL; k = (k + 1) % THINGS) {
		unsigned home = slot_of(things[k].at);

		if ((k + THINGS - home) % THINGS >= (k + THINGS - i) % THINGS) {
			things[i] = things[k];
			i = k;
		}
	}
	things[i].at = NULL;
	return true;
}

int whole_opened(int fd)
{
	if (fd >= 0 && fd < FDS)
		fds[fd] = true;
	return fd;
}

static void give_back(const struct thing *t)
{
	switch (t->kind) {
	case WHOLE_MEMORY:
		__real_free(t->at);
		break;
	case WHOLE_RTE:
		rte_free(t->at);
		break;
	case WHOLE_RING:
		rte_ring_free(t->at);
		break;
	case WHOLE_POOL:
		rte_mempool_free(t->at);
		break;
	}
}

/* Pools first: their memory may be the process's own, and they give it back themselves. */
unsigned whole_reap(void)
{
	unsigned left = 0;

	for (unsigned i = 0; i < THINGS; i++) {
		while (things[i].at != NULL && things[i].kind == WHOLE_POOL) {
			struct thing t = things[i];

			whole_gave(t.at);
			give_back(&t);
			i = 0;
		}
	}
	/* Another thing may take the place of one that is given back. */
	for (unsigned i = 0; i < THINGS; i++) {
		while (things[i].at != NULL) {
			struct thing t = things[i];

			whole_gave(t.at);
			give_back(&t);
			left++;
		}
	}
	for (int fd = 0; fd < FDS; fd++) {
		if (fds[fd])
			__real_close(fd);
	}
	memset(fds, 0, sizeof(fds));
	return left;
}

void *whole_alloc(size_t n)
{
	return __wrap_malloc(n);
}

void whole_free(void *mem)
{
	__wrap_free(mem);
}

void *__wrap_malloc(size_t n)
{
	return whole_got(__real_malloc(n), WHOLE_MEMORY);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return whole_got(__real_calloc(n, size), WHOLE_MEMORY);
}

void *__wrap_realloc(void *mem, size_t n)
{
	bool ours = whole_gave(mem) || mem == NULL;
	void *grown = __real_realloc(mem, n);

	return ours ? whole_got(grown, WHOLE_MEMORY) : grown;
}

void *__wrap_aligned_alloc(size_t align, size_t n)
{
	return whole_got(__real_aligned_alloc(align, n), WHOLE_MEMORY);
}

int __wrap_posix_memalign(void **mem, size_t align, size_t n)
{
	int rc = __real_posix_memalign(mem, align, n);

	if (rc == 0)
		whole_got(*mem, WHOLE_MEMORY);
	return rc;
}

char *__wrap_strdup(const char *s)
{
	return whole_got(__real_strdup(s), WHOLE_MEMORY);
}

void __wrap_free(void *mem)
{
	whole_gave(mem);
	__real_free(mem);
}

int __wrap_socket(int domain, int type, int protocol)
{
	return whole_opened(__real_socket(domain, type, protocol));
}

int __wrap_accept4(int fd, struct sockaddr *a, socklen_t *len, int flags)
{
	return whole_opened(__real_accept4(fd, a, len, flags));
}

int __wrap_eventfd(unsigned n, int flags)
{
	return whole_opened(__real_eventfd(n, flags));
}

int __wrap_epoll_create1(int flags)
{
	return whole_opened(__real_epoll_create1(flags));
}

int __wrap_open64(const char *path, int flags, ...)
{
	va_list ap;
	mode_t mode = 0;

	va_start(ap, flags);
	if (flags & O_CREAT)
		mode = va_arg(ap, mode_t);
	va_end(ap);
	return whole_opened(__real_open64(path, flags, mode));
}

int __wrap_close(int fd)
{
	if (fd >= 0 && fd < FDS)
		fds[fd] = false;
	return __real_close(fd);
}
