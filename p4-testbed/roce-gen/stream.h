/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_GEN_STREAM_H
#define ROCE_GEN_STREAM_H
/*
 * Stream sockets by name: a name with a '/' is the path of a Unix socket, ADDRESS:PORT is TCP.
 * Sockets do not block. All functions return a descriptor or 0, else a negative errno.
 */
#include <stdbool.h>
#include <stddef.h>

/* Does not return -EINPROGRESS: it sets *pending instead. */
int gen_stream_connect(const char *where, bool *pending);
/* Replaces a Unix socket without a listener. `path` (108 bytes): the file to remove at the end, or
 * "". */
int gen_stream_listen(const char *where, char *path);
/* The result of a pending connect(). */
int gen_stream_connected(int fd);
/* Sends all of it; waits at most a second. */
int gen_stream_send(int fd, const char *text, size_t len);

#endif
