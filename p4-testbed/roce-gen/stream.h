/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Stream sockets by name: a name with a '/' is the path of a Unix socket, ADDRESS:PORT is TCP.
 * Sockets do not block. All functions return a descriptor or 0, else a negative errno.
 */
#include <stdbool.h>
#include <stddef.h>

/* If the connection is not complete yet, sets *pending (and does not return -EINPROGRESS). */
int gen_stream_connect(const char *where, bool *pending);
/* Replaces the file of a Unix socket on which no process listens. Sets `path` (108 bytes) to the
 * file to remove at the end, or "". */
int gen_stream_listen(const char *where, char *path);
/* The result of a pending connect(). */
int gen_stream_connected(int fd);
/* Sends `len` bytes; waits at most a second each time that the socket has no room. */
int gen_stream_send(int fd, const char *text, size_t len);
