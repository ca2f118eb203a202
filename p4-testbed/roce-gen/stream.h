/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_GEN_STREAM_H
#define ROCE_GEN_STREAM_H
/*
 * Stream sockets by one kind of name: a path with a '/' in it is a Unix socket, ADDRESS:PORT is
 * TCP. Sockets do not block. All functions return a descriptor or 0, else a negative errno.
 */
#include <stdbool.h>
#include <stddef.h>

/* -EINPROGRESS never comes back: *pending tells instead. */
int gen_stream_connect(const char *where, bool *pending);
/* A Unix socket that nobody serves any more is replaced; `path` (108 bytes) is what to remove at
 * the end, or "". */
int gen_stream_listen(const char *where, char *path);
/* How a pending connect() ended. */
int gen_stream_connected(int fd);
/* All of it, waiting at most a second. */
int gen_stream_send(int fd, const char *text, size_t len);

#endif
